"""`khop_dimensions`: the intrinsic dimension of a graph's k-hop data sets, for all k in one pass."""

from __future__ import annotations

import hashlib
import math
import time
import warnings
from dataclasses import replace
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from geodim.alerts import find_alerts
from geodim.arguments import MOST_HOPS, check_hops, whole_number
from geodim.backends import choose_backend, where_it_lies
from geodim.certificate.remembered import remember
from geodim.data.describe import digest_of
from geodim.data.graphs.attributes import attributes_and_graph
from geodim.data.integers import conversion_error
from geodim.data.scales import Scale
from geodim.dimension import check_arguments
from geodim.engine.checkpoint import SAVE_EVERY, checkpoint_for
from geodim.engine.driver import Driver, deadline_of
from geodim.engine.layers import Layers
from geodim.engine.parts import divisor
from geodim.engine.pilot import look_ahead
from geodim.engine.refine import Attempt, refine
from geodim.engine.steps import resolution
from geodim.errors import (
    DegenerateDataWarning,
    InputValueError,
    InterruptedWarning,
    RangeOverflowError,
    ShapeError,
)
from geodim.features.hops import feature_type
from geodim.features.ranges import hop_ranges
from geodim.features.rounding import feature_errors, growth
from geodim.features.twins import Twins
from geodim.khop_result import KHopResult
from geodim.memory import PROFILE_BYTES
from geodim.planning.hops import graph_of
from geodim.planning.record import PlanRecord
from geodim.progress import showing
from geodim.summary import summarise
from geodim.support_field import altered
from geodim.waiting import waiting

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from numpy.typing import DTypeLike

    from geodim.backends import Executor
    from geodim.data.checks import Ranges
    from geodim.data.sources import ColumnSource
    from geodim.features.operators import Operator
    from geodim.features.rounding import FeatureError
    from geodim.progress import Progress
    from geodim.result import IDResult

CAUTION = 0.7  # the pilot may guess Delta too large, and a second pass costs more than a finer step


def khop_dimensions(
    X: object,
    graph: object = None,
    hops: int = 5,
    *,
    operator: object = "sym",
    operator_parameters: dict[str, Any] | None = None,
    rtol: float = 0.0,
    scale: object = None,
    normalize: bool | None = None,
    edge_weights: object = None,
    feature_names: Sequence[str] | None = None,
    n_threads: int | None = None,
    memory: int | None = None,
    time_limit: float | None = None,
    checkpoint: str | Path | None = None,
    save_every: float = SAVE_EVERY,
    count_indistinguishable: bool = False,
    backend: str = "auto",
    dtype: DTypeLike | None = None,
    last_bit: bool = False,
    progress: Progress = None,
    so_far: Callable[[Sequence[float]], None] | None = None,
) -> KHopResult:
    r"""Compute the intrinsic dimension of the k-hop geometric data sets of a graph, k = 0, ..., hops.

    The features of the k-hop data set are all columns of :math:`X, \hat A X, \dots, \hat A^k X`, divided by
    :math:`d_{\max}` of the raw attributes X, where
    :math:`\hat A_{ij} = 1/\sqrt{\deg_i \deg_j}` for neighbours and i = j.  One pass over the
    attributes gives all k, since Phi is a running maximum over the hops.

    Parameters
    ----------
    X : array-like of shape (n_nodes, n_attributes), or attributes and graph in one
        Attributes, in any form that `geodim.intrinsic_dimension` takes.  Without ``graph``, an object that
        holds both: a PyTorch Geometric ``Data``, a ``HeteroData`` whose node types have the same attributes,
        a data set from `geodim.load_dataset`, or a pair (x, edge_index).
    graph
        Anything that `geodim.as_graph` takes: edge arrays, sparse matrices, PyG, networkx, files.
    hops : int, default 5
        Largest k.
    operator : {"sym", "rw", "ppr", "heat"} or sparse matrix
        What one hop does; "sym" is the paper's.
    operator_parameters : dict, optional
        Parameters of the operator, see `geodim.features.make_operator`.
    rtol, scale, normalize, feature_names, n_threads, time_limit
        As for `geodim.intrinsic_dimension`; attributes are divided before the first hop.  The tolerance
        applies to Phi: once that is as fine as the rounding of the features, the bounds are those that were
        reached; see ``error``.
    edge_weights : array, True or str, optional
        Use edge weights, see `as_graph`; unweighted by default, as in the paper.
    memory : int, optional
        Bytes that may be used, on the device if that is where it is computed; determines how many columns are
        processed at once. By default 16 columns, and on a device as many as fit.
    checkpoint : path, optional
        Folder to keep the state in; a later call with the same arguments continues, with the same final bits.
    save_every : float
        Seconds between two checkpoints.
    count_indistinguishable : bool, default False
        Also count, for every k, the nodes that no feature tells apart from another node; 0 means
        that this is a geometric data set in the paper's sense.  Not together with a checkpoint,
        which does not hold the classes.
    backend : {"auto", "cpu", "cuda", "dask"}
        Where to compute, as for `geodim.intrinsic_dimension`.
    dtype : {"float32", "float64"}, optional
        Type that features are rounded to after every hop; by default float32 if that holds every value
        of X exactly, by its type, else float64.  float64 takes twice the memory, and the bounds are
        some 1e8 times as narrow.
    last_bit : bool, default False
        On this machine's cores, features of which every window would have to be looked at (see
        `geodim.intrinsic_dimension`) are solved to within a small proved error, which ``feature_error`` and
        the bounds include.  True looks at every window, which may take quadratic time.
    progress : bool or callable, optional
        True shows a bar; a function is called as ``progress(attributes_done, attributes)`` after every hop of
        a block of attributes, in the calling thread.
    so_far : callable, optional
        Called before that as ``so_far(discriminabilities)``, with Delta of what was seen so far for every k.

    Returns
    -------
    KHopResult
        Phi is exact for the features as computed, without a tolerance; these are rounded sums from hop 1 on.
        The bounds on the dimension include this rounding, ``feature_error`` is its size
        (`geodim.features.rounding` proves it), and ``exact`` is true of hop 0 only, if at all; see
        ``last_bit``.

    Examples
    --------
    >>> import numpy as np
    >>> import geodim
    >>> result = geodim.khop_dimensions(np.eye(4), [(0, 1), (1, 2), (2, 3), (3, 0)], hops=1)
    >>> result.dimensions[0]
    16.0
    """
    started = time.monotonic()
    X, graph = attributes_and_graph(X, graph, operator)
    rtol, threads, time_limit = check_arguments(rtol, n_threads, time_limit)
    memory = None if memory is None else whole_number(memory, "memory (bytes)", 0)
    chosen = Scale.of(scale, normalize)
    chosen.refuse_elsewhere(where_it_lies(X) if backend == "auto" else backend)
    place = choose_backend(backend, X)
    meter = place.meter()
    given = place.open(X, weights=None, names=feature_names)
    source = _divided(given, chosen, threads)
    import_module("geodim.engine.column")  # Numba, before an interrupt could leave it half imported
    with waiting(time_limit, started=started):
        hop_operator, notes = _operator(
            place, graph, operator, operator_parameters, edge_weights, source.n_points, threads
        )
        hops = whole_number(hops, "hops", 0, MOST_HOPS)
        check_hops(hops, source.n_points, source.n_features, PROFILE_BYTES)
        ranges = place.scan_ranges(source, threads)
    kind = feature_type(None if chosen.own else X, source, dtype)
    _check_size(ranges, kind)
    problem = replace(
        place.problem(source, rtol), itemsize=kind.itemsize, hops=hops,
        last_bit=bool(last_bit) or rtol > 0.0,  # a tolerance that was asked for is kept
        **graph_of(hop_operator),
    )  # fmt: skip
    plan = place.plan(problem, threads, memory)
    job = place.hop_pass(source, kind, hop_operator, hops, plan)
    job.ranges = ranges.read_as(kind)
    pilot = look_ahead(source, ranges) if rtol > 0.0 else None
    step = resolution(rtol, CAUTION * pilot.delta, ranges.magnitude) if pilot else 0.0
    sums = growth(job.operator, hops, kind, threads)
    converted = _conversion_error(source, ranges)
    held = converted == 0.0 and kind.itemsize >= feature_type(None if chosen.own else X, source).itemsize
    errors = feature_errors(
        job.operator, sums, ranges.magnitude, kind, exact_attributes=held, divided=chosen.own
    )
    bounds = hop_ranges(ranges, job.operator, sums, errors)
    rms = _root_mean_square(source, ranges, job.operator)
    by = divisor(ranges.d_max, chosen.normalize)

    def report(layers: Layers) -> None:
        if so_far is not None:
            so_far([mean / by for mean in layers.means()])
        if told is not None:
            told(int(layers.profiles[0].done.sum()), source.n_features)

    if count_indistinguishable and checkpoint is not None:
        msg = (
            "indistinguishable nodes cannot be counted in a pass with a checkpoint: "
            "count them in a separate run"
        )
        raise InputValueError(msg)
    layers: Layers
    attempts = 0
    said = {"dtype": kind.name, "scale": chosen.told(), **({"last_bit": True} if last_bit else {})}

    def attempt(step: float) -> Attempt:
        nonlocal layers, attempts
        layers = Layers(source.n_points, source.n_features, hops, step, threads)
        layers.relax(plan.way.relaxed)
        driver.resume(layers.profiles)
        job.twins = Twins(source.n_points, hops) if count_indistinguishable else None
        job.run(layers, driver)
        attempts += 1
        first = layers.profiles[0]
        whole = job.twins is not None and first.stopped is None
        twins = job.twins.counts() if job.twins is not None and whole else [None] * (hops + 1)
        summaries = _summaries(
            layers, ranges, bounds, errors, rms, source.names, chosen.normalize, rtol, started, threads,
            d_max_error=2.0 * converted,
        )  # fmt: skip
        results = [
            altered(one, n_indistinguishable=count, parameters={**one.parameters, **said})
            for one, count in zip(summaries, twins, strict=True)
        ]
        return Attempt.of(first, results, threads)

    same = {"hops": hops, "rtol": rtol, **chosen.identity(), **({"last_bit": True} if last_bit else {})}
    with (
        checkpoint_for(checkpoint, lambda: same | fingerprint(given, kind, hop_operator)) as store,
        showing(progress, "attributes") as told,
    ):
        deadline = deadline_of(started, time_limit, source.n_points * (hops + 1))
        driver = Driver(deadline, report, store, save_every)
        step = driver.saved_step(step)
        results = list(refine(attempt, step, rtol, ranges.magnitude).results)
    _warn(layers, results)
    record = PlanRecord.of(plan, memory=meter.taken(), seconds=time.monotonic() - started, attempts=attempts)
    results[0] = altered(results[0], alerts=find_alerts(results[0], source, ranges, graph=True))
    results[1:] = [altered(one, alerts=find_alerts(one)) for one in results[1:]]
    result = KHopResult(results=results, operator=hop_operator.to_dict(), graph=notes, plan=record)
    remember(result, data=X, graph=graph)
    return result


def fingerprint(source: ColumnSource, kind: np.dtype[np.floating], operator: Operator) -> dict[str, Any]:
    """Return what distinguishes this job from others.

    It covers sizes and type, all values of the attributes, and one product of the operator.
    """
    probe = np.zeros((source.n_points, 8), np.float32)
    probe[:, 0] = np.sin(np.arange(source.n_points))
    out = np.empty_like(probe)
    operator.apply(probe, out)
    data = digest_of(source)
    digest = hashlib.blake2b(bytes.fromhex(data["digest"]), digest_size=16)
    digest.update(np.ascontiguousarray(out[:, 0]).tobytes())
    return data | {"type": kind.str, "operator": operator.to_dict(), "digest": digest.hexdigest()}


def _operator(
    place: Executor,
    graph: object,
    operator: object,
    parameters: dict[str, Any] | None,
    weights: object,
    n_nodes: int,
    threads: int,
) -> tuple[Operator, dict[str, Any]]:
    plain = {
        name: getattr(value, "item", lambda value=value: value)()
        for name, value in (parameters or {}).items()
    }
    made, notes = place.operator(graph, operator, plain, weights, n_nodes, threads)
    if made.n_nodes != n_nodes:
        msg = f"X has {n_nodes} rows, but the graph has {made.n_nodes} nodes"
        raise ShapeError(msg)
    return made, notes


def _summaries(
    layers: Layers,
    ranges: Ranges,
    bounds: list[Ranges],
    errors: list[FeatureError],
    rms: float,
    names: list[str] | None,
    normalize: bool,
    rtol: float,
    started: float,
    threads: int,
    d_max_error: float,
) -> list[IDResult]:
    base = names or [str(j) for j in range(layers.n_features)]
    labels = [name if m == 0 else f"hop {m}: {name}" for m in range(len(layers.profiles)) for name in base]
    return [
        summarise(
            profile,
            known,
            d_max=ranges.d_max,
            normalize=normalize,
            names=labels,
            rtol=rtol,
            seconds=time.monotonic() - started,
            n_threads=threads,
            # Each width is the difference of two values.
            feature_error=error.largest + 0.5 * profile.loose,
            delta_error=partial(_delta_error, error, rms, profile.loose),
            d_max_error=d_max_error,
        )
        for profile, known, error in zip(layers.profiles, bounds, errors, strict=True)
    ]


def _delta_error(error: FeatureError, rms: float, loose: float, delta: float) -> float:
    """Return how far Delta may be off: by the rounding of the features, and by what widths may exceed phi."""
    return error.of_delta(rms, delta) + loose


def _divided(given: ColumnSource, scale: Scale, threads: int) -> ColumnSource:
    """Divide the attributes by their units before the first hop: hops mix rows, never columns."""
    source = scale.applied(given, threads)
    if scale.own and getattr(source, "unscaled", None) is not given:
        raise InputValueError(
            f"scale={scale.told()!r:.60} measures integers beyond 2^53 from the least of their column, and "
            "hops would mix these differences: convert the attributes to float64, or divide them yourself"
        )
    return source


def _conversion_error(source: ColumnSource, ranges: Ranges) -> float:
    """Return how far attributes may be from what they stand for, before hops round them."""
    stated = getattr(source, "error", None)  # sources of quotients have one
    return conversion_error(source, ranges) if stated is None else float(stated(ranges.magnitude))


def _check_size(ranges: Ranges, kind: np.dtype[np.floating]) -> None:
    """Raise unless the type of the features can hold the largest attributes."""
    if ranges.magnitude > float(np.finfo(kind).max):
        msg = (
            f"attributes reach up to {ranges.magnitude:.6g}, too large for {kind}: use "
            "dtype='float64', or rescale them"
        )
        raise RangeOverflowError(msg)


def _root_mean_square(source: ColumnSource, ranges: Ranges, operator: Operator) -> float:
    """Return a bound for every column of every hop, if no value is negative; infinite where there is none."""
    arithmetic = operator.arithmetic()
    if arithmetic is None or not arithmetic.contracts or ranges.least.min() < 0.0:
        return math.inf
    largest = float(ranges.energies.max())
    if source.runs:  # the first pass knows only the extremes of these
        largest = 0.0
        for rows, columns in source.chunks():
            part = source.chunk(rows, columns).astype(np.float64)
            with np.errstate(over="ignore", under="ignore"):
                largest = max(largest, float(np.einsum("ij,ij->j", part, part).max()) * 1.001)
        largest = largest if 1e-280 < largest < 1e280 else math.inf  # squares neither vanish nor overflow
    return math.sqrt(largest / ranges.n_points)


def _warn(layers: Layers, results: list[IDResult]) -> None:
    first = layers.profiles[0]
    if first.stopped:
        warnings.warn(
            f"stopped early ({first.stopped}) after {int(first.done.sum())} of {first.done.size} attributes: "
            "the results hold valid but wide bounds",
            InterruptedWarning,
            stacklevel=3,
        )
    elif results[0].d_max == 0.0:
        warnings.warn(
            "no attribute tells any two nodes apart: the discriminability of hop 0 is "
            "0 and its dimension infinite",
            DegenerateDataWarning,
            stacklevel=3,
        )
