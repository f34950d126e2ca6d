"""The kinds of cases of the campaign: each draws data, asks geodim, and compares with the truth."""

from __future__ import annotations

import functools
import math
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

import geodim
from geodim.errors import GeodimError
from oracles import brute, drawing, rational
from oracles.brute import DELTA_ULPS, delta_of, within
from oracles.comparing import (
    Tally,
    Truth,
    ask,
    compare,
    compare_delta_bounds,
    quietly,
)
from oracles.drawing import RTOLS, InterruptAt
from oracles.hop_cases import compare_layers, explained_hops, hops, operator

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Generator = np.random.Generator
    Values = NDArray[Any]

SMALL = 12  # points up to which some cases are also compared with rationals
SHARE = 0.05  # of them
RESILIENCE_ULPS = DELTA_ULPS + 2  # every quotient by k is rounded, besides


class Draw:
    """One case: its random numbers, where it counts, and what is known not to hold yet."""

    def __init__(self, rng: Generator, tally: Tally, without: frozenset[str] = frozenset()) -> None:
        self.rng = rng
        self.tally = tally
        self.without = without

    def table(self, n: int | None = None) -> Values:
        """A table; without numbers at the lower end of float64, where those are switched off."""
        while True:
            X = drawing.table(self.rng, n)
            if "denormal" not in self.without or X.dtype.kind != "f":
                return X
            widths = np.ptp(X.astype(np.float64), axis=0)
            if not np.any((widths > 0.0) & (widths < 1e-250)):
                return X

    def options(self) -> dict[str, Any]:
        """Options that change no result but by the scale."""
        return {"normalize": bool(self.rng.random() < 0.5), "n_threads": 2 if self.rng.random() < 0.1 else 1}

    def truth(self, X: Values, normalize: bool) -> Truth:
        """By brute force, and that compared with rationals now and then."""
        truth = Truth.of(X, normalize=normalize)
        if len(X) <= SMALL and self.rng.random() < SHARE:
            columns = rational.fractions_of(X)
            phi = rational.largest_phi(columns)
            ask(
                truth.largest.tolist() == [rational.nearest(width) for width in phi],
                "brute force and rationals",
            )
            delta = rational.normalised(columns) if normalize else rational.discriminability(columns)
            ask(within(rational.nearest(truth.delta), delta, 2), "Delta by brute force and in rationals")
            self.tally.add("brute force against rationals", len(phi) + 1)
        return truth

    def strictly(self, result: geodim.IDResult, X: Values, normalize: bool) -> None:
        """Bounds against the true Delta, with no rounding on the oracle's side."""
        if len(X) > SMALL or result.exact:
            return
        columns = rational.fractions_of(X)
        delta = rational.normalised(columns) if normalize else rational.discriminability(columns)
        compare_delta_bounds(result, delta, delta)
        self.tally.add("bounds against rationals", 4)


# ---------------------------------------------------------------- tables


def dense(draw: Draw) -> None:
    """An array, exactly."""
    rng, options = draw.rng, draw.options()
    X = draw.table()
    count = bool(rng.random() < 0.1)
    result = quietly(
        geodim.intrinsic_dimension, drawing.layout(rng, X), count_indistinguishable=count, **options
    )
    ask(not count or result.n_indistinguishable == brute.equal_rows(X, None), "indistinguishable points")
    draw.tally.add("dense", compare(result, draw.truth(X, options["normalize"])))


def sparse(draw: Draw) -> None:
    """A sparse matrix, exactly or with a tolerance."""
    rng, options = draw.rng, draw.options()
    X = drawing.thinned(rng, draw.table())
    rtol = float(rng.choice(RTOLS)) if rng.random() < 0.2 else 0.0
    result = quietly(geodim.intrinsic_dimension, drawing.sparse(rng, X), rtol=rtol, **options)
    draw.tally.add("sparse", compare(result, draw.truth(X, options["normalize"]), rtol))


def weighted(draw: Draw) -> None:
    """Weights are repetitions."""
    rng, options = draw.rng, draw.options()
    X = draw.table(int(rng.integers(1, 31)))
    if rng.random() < 0.3:
        X = drawing.thinned(rng, X)
    weights = drawing.weights(rng, len(X))
    rtol = float(rng.choice(RTOLS)) if rng.random() < 0.2 else 0.0
    given = drawing.sparse(rng, X) if rng.random() < 0.2 else X
    result = quietly(geodim.intrinsic_dimension, given, weights=weights, rtol=rtol, **options)
    truth = draw.truth(np.repeat(X, weights, axis=0), options["normalize"])
    draw.tally.add("weights", compare(result, truth, rtol))


def masses(draw: Draw) -> None:
    """Weights of any kind, against rationals."""
    rng, options = draw.rng, draw.options()
    X = draw.table(int(rng.integers(1, 9)))[:, :3]
    weights = drawing.masses(rng, len(X))
    rtol = float(rng.choice(RTOLS)) if rng.random() < 0.2 else 0.0
    result = quietly(geodim.intrinsic_dimension, X, weights=weights, rtol=rtol, **options)
    there = weights > 0.0
    columns = rational.fractions_of(X[there])
    scale = rational.diameter(columns) if options["normalize"] else 1
    given = [rational.Fraction(weight) for weight in weights[there].tolist()]
    delta = rational.discriminability_of_masses(columns, given, scale or 1)
    if result.exact:
        ask(within(result.discriminability, delta, DELTA_ULPS), "Delta of masses", result.discriminability)
    else:
        compare_delta_bounds(result, delta, delta)
    ask(result.mass == rational.nearest(sum(given, rational.Fraction(0))), "the mass", result.mass)
    draw.tally.add("masses", 2)


def tolerance(draw: Draw) -> None:
    """A tolerance: bounds that hold, and as close as asked for."""
    rng, options = draw.rng, draw.options()
    X = draw.table()
    rtol = float(rng.choice(RTOLS)) if rng.random() < 0.7 else float(10.0 ** -rng.uniform(0, 13))
    result = quietly(geodim.intrinsic_dimension, drawing.layout(rng, X), rtol=rtol, **options)
    draw.tally.add("rtol", compare(result, draw.truth(X, options["normalize"]), rtol))
    draw.strictly(result, X, options["normalize"])


def tiny_tolerance(draw: Draw) -> None:
    """A tolerance below what float64 can tell."""
    rng, options = draw.rng, draw.options()
    X = draw.table()
    rtol = float(10.0 ** -rng.uniform(13, 320))
    result = quietly(geodim.intrinsic_dimension, X, rtol=rtol, **options)
    draw.tally.add("tiny rtol", compare(result, draw.truth(X, options["normalize"]), rtol))
    draw.strictly(result, X, options["normalize"])


def large_integers(draw: Draw) -> None:
    """Integers that float64 does not hold: the truth, bounds on it, or a refusal."""
    rng, normalize = draw.rng, bool(draw.rng.random() < 0.5)
    X = drawing.large_integers(rng, int(rng.integers(1, 13)), int(rng.integers(1, 4)))
    rtol = float(rng.choice(RTOLS)) if rng.random() < 0.2 else 0.0
    given = sp.csr_array(X) if rng.random() < 0.2 else X
    try:
        result = quietly(geodim.intrinsic_dimension, given, normalize=normalize, rtol=rtol, n_threads=1)
    except GeodimError:
        draw.tally.add("large integers: refused")
        return
    columns = rational.fractions_of(X)
    delta = rational.normalised(columns) if normalize else rational.discriminability(columns)
    if result.exact:
        phi = [rational.nearest(width) for width in rational.largest_phi(columns)]
        ask(result.phi_lower.tolist() == phi, "Phi of large integers", result.phi_lower, phi)
        ask(
            within(result.discriminability, delta, DELTA_ULPS),
            "Delta of large integers",
            result.discriminability,
        )
    else:
        compare_delta_bounds(result, delta, delta)
    draw.tally.add("large integers", len(X) + 3)


def frames(draw: Draw) -> None:
    """Frames and tensors."""
    rng, options = draw.rng, draw.options()
    X = draw.table()
    result = quietly(geodim.intrinsic_dimension, drawing.frame(rng, X), **options)
    draw.tally.add("frames and tensors", compare(result, draw.truth(X, options["normalize"])))


def stopped(draw: Draw) -> None:
    """Stopped by the clock or by Ctrl-C: bounds that hold."""
    rng, options = draw.rng, draw.options()
    X = draw.table()
    if rng.random() < 0.3:
        X = drawing.thinned(rng, X)
    given = drawing.sparse(rng, X) if rng.random() < 0.2 else drawing.layout(rng, X)
    weights = drawing.weights(rng, len(X)) if rng.random() < 0.1 else None
    rtol = float(rng.choice(RTOLS)) if rng.random() < 0.3 else 0.0
    how: dict[str, Any] = {"time_limit": float(rng.choice([0.0, 0.0, 1e-4, 5e-4]))}
    if rng.random() < 0.5:
        how = {"progress": InterruptAt(int(rng.integers(1, 5)))}
    result = quietly(geodim.intrinsic_dimension, given, weights=weights, rtol=rtol, **how, **options)
    repeated = X if weights is None else np.repeat(X, weights, axis=0)
    kind = "stopped early" if result.stopped else "not stopped in time"
    draw.tally.add(kind, compare(result, draw.truth(repeated, options["normalize"]), rtol))
    draw.strictly(result, repeated, options["normalize"])


def saved(draw: Draw) -> None:
    """Written as JSON and read again: the same numbers."""
    rng, options = draw.rng, draw.options()
    X = draw.table()
    rtol = float(rng.choice(RTOLS)) if rng.random() < 0.5 else 0.0
    result = quietly(geodim.intrinsic_dimension, X, rtol=rtol, **options)
    again = geodim.IDResult.from_json(result.to_json(max_support=None))
    draw.tally.add("JSON", compare(again, draw.truth(X, options["normalize"]), rtol))


# ---------------------------------------------------------------- explanation


def explained(draw: Draw) -> None:
    """Shares, the core, and the ranking."""
    rng, options = draw.rng, draw.options()
    X = draw.table(int(rng.integers(2, 31)))
    truth = draw.truth(X, options["normalize"])
    explanation = quietly(geodim.explain_dimension, X, **options)
    numbers = compare(explanation.result, truth)
    core, whole = explanation.core_columns, explanation.result
    # Where the dimension is beyond floats, 0 or infinite, Delta takes its place.
    what = "dimension" if 0.0 < whole.dimension < math.inf else "discriminability"
    ask(core == sorted(set(core)), "core", core)
    for gone in [None, *core] if len(core) > 1 else [None] if core else []:
        rest = [column for column in core if column != gone]
        without = quietly(geodim.intrinsic_dimension, X[:, rest], **options)
        same = getattr(without, what) == getattr(whole, what)
        ask(same == (gone is None), "the core is enough, and minimal", core, gone)
    if core:
        own = float(np.ptp(X[:, core].astype(float), axis=0).max())
        delta = delta_of(truth.phi[:, core].max(axis=1), truth.n, own if options["normalize"] else 1.0)
        ask(within(whole.discriminability, delta, DELTA_ULPS), "Delta of the core", core)
    draw.tally.add("explain", numbers + len(core))
    ranking = quietly(geodim.feature_ranking, X, **options)
    alone = {str(f): delta_of(truth.phi[:, f], truth.n, truth.scale) for f in range(X.shape[1])}
    ask(set(ranking) == set(alone), "who is ranked", ranking)
    ask(list(ranking.values()) == sorted(ranking.values(), reverse=True), "the order of the ranking", ranking)
    for name, found in ranking.items():
        ask(within(found, alone[name], DELTA_ULPS), "Delta of one feature", name, found)
    resilient = quietly(geodim.feature_ranking, X, weighting="resilience", **options)
    ask(set(resilient) == set(alone), "who is ranked by resilience", resilient)
    for name, found in resilient.items():
        widths = enumerate(truth.phi[:, int(name)].tolist(), 2)
        score = (
            sum((Fraction(width) / k for k, width in widths), Fraction(0)) / truth.n / Fraction(truth.scale)
        )
        ask(within(found, score, RESILIENCE_ULPS), "the resilience of one feature", name, found)
    draw.tally.add("ranking", 2 * len(alone))


def selected(draw: Draw) -> None:
    """Greedy selection: Delta of each prefix, and no better choice at any step."""
    rng, options = draw.rng, draw.options()
    X = draw.table(int(rng.integers(2, 41)))
    d = X.shape[1]
    truth = draw.truth(X, options["normalize"])
    m = int(rng.integers(1, d + 1))
    chosen = quietly(geodim.select_features, X, m, **options)
    ask(len(chosen.columns) == m == len(set(chosen.columns)), "how many", chosen.columns)
    reached = np.zeros(truth.n - 1)
    total = delta_of(truth.largest, truth.n, truth.scale)
    ask(within(chosen.total, total, DELTA_ULPS), "Delta of all features", chosen.total)
    for at, column in enumerate(chosen.columns):
        rest = [f for f in range(d) if f not in chosen.columns[:at]]
        best = max(delta_of(np.maximum(reached, truth.phi[:, f]), truth.n, truth.scale) for f in rest)
        reached = np.maximum(reached, truth.phi[:, column])
        delta = delta_of(reached, truth.n, truth.scale)
        ask(within(chosen.curve[at], delta, DELTA_ULPS), "Delta of the chosen", at, chosen.curve[at])
        ask(within(brute.nearest(delta), best, DELTA_ULPS), "the best choice", chosen.columns, at)
    draw.tally.add("select", 2 * m + 1)


def what_if(draw: Draw) -> None:
    """Features removed, rescaled, clipped, replaced."""
    rng, options = draw.rng, draw.options()
    X = draw.table(int(rng.integers(1, 31)))
    n, d = X.shape
    asked = quietly(geodim.WhatIf, X, **options)
    draw.tally.add("what if: nothing", compare(asked.result, draw.truth(X, options["normalize"])))
    values = X.astype(np.float64)
    if d > 1:
        gone = sorted(rng.choice(d, int(rng.integers(1, d)), replace=False).tolist())
        rest = [column for column in range(d) if column not in gone]
        truth = renamed(Truth.of(values[:, rest], normalize=options["normalize"]), rest, d)
        draw.tally.add("what if: removed", compare(asked.remove(*gone), truth))
    at = int(rng.integers(d))
    factor = float(rng.choice([0.0, -1.0, 0.5, 2.0, 0.1, 3.7]))
    low, high = sorted(rng.choice(values[:, at], 2).tolist())
    new = rng.normal(size=n)
    questions = {
        "rescaled": (lambda: asked.rescale(at, factor), quietly(np.multiply, values[:, at], factor)),
        "clipped": (lambda: asked.clip(at, low, high), np.clip(values[:, at], low, high)),
        "replaced": (lambda: asked.replace(at, new), new),
    }
    for name, (question, column) in questions.items():
        changed = values.copy()
        changed[:, at] = column
        if np.any(np.abs(changed) > 8e307):  # the range may be beyond float64: refused, and rightly so
            continue
        truth = Truth.of(changed, normalize=options["normalize"])
        draw.tally.add(f"what if: {name}", compare(quietly(question), truth))


def renamed(truth: Truth, columns: list[int], d: int) -> Truth:
    """The same with the numbers that columns had before others were removed."""
    phi = np.full((truth.n - 1, d), -1.0)
    phi[:, columns] = truth.phi
    return Truth(phi, truth.n, truth.d_max, truth.scale)


# ---------------------------------------------------------------- Dask


@functools.cache
def client() -> Any:
    """A cluster of one worker in this process; small chunks stay as they are given."""
    import distributed

    from geodim.backends.dask import source

    source.SMALL_BYTES = 0
    made = distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, processes=False, dashboard_address=":0", silence_logs="CRITICAL"
    )
    return distributed.Client(made)


def dask(draw: Draw) -> None:
    """Arrays in chunks on a cluster."""
    import dask.array as da

    client()
    rng, normalize = draw.rng, bool(draw.rng.random() < 0.5)
    X = draw.table(int(rng.integers(1, 41)))
    rtol = float(rng.choice(RTOLS)) if rng.random() < 0.3 else 0.0
    chunks = int(rng.integers(1, len(X) + 1)), int(rng.integers(1, X.shape[1] + 1))
    given = da.from_array(X, chunks=chunks)
    result = quietly(geodim.intrinsic_dimension, given, normalize=normalize, rtol=rtol, n_threads=1)
    draw.tally.add("dask", compare(result, draw.truth(X, normalize), rtol))


def dask_sparse(draw: Draw) -> None:
    """Sparse chunks on a cluster, of every type."""
    import dask.array as da

    client()
    rng, normalize = draw.rng, bool(draw.rng.random() < 0.5)
    X = drawing.thinned(rng, drawing.integers(rng, int(rng.integers(1, 41)), int(rng.integers(1, 6)), 30))
    chunks = int(rng.integers(1, len(X) + 1)), X.shape[1]
    given = da.from_array(X, chunks=chunks).map_blocks(sp.csr_matrix)
    result = quietly(geodim.intrinsic_dimension, given, normalize=normalize, n_threads=1)
    draw.tally.add("dask, sparse", compare(result, draw.truth(X, normalize)))


def dask_hops(draw: Draw) -> None:
    """Hops on a cluster."""
    import dask.array as da

    client()
    rng = draw.rng
    n = int(rng.integers(2, 16))
    X, edges, count = drawing.attributes(rng, n), drawing.edges(rng, n), int(rng.integers(0, 3))
    name = ("sym", "rw", "ppr", "heat")[int(rng.integers(4))]
    hop, more = operator(rng, name, n, edges)
    given = da.from_array(X, chunks=(int(rng.integers(1, n + 1)), 1))
    results = quietly(geodim.khop_dimensions, given, edges.T, count, n_threads=1, **more)
    compare_layers(draw, results, X, hop, count, True, f"{name}, dask", 0.0)


# Name, how many of a thousand cases, what to do.
KINDS: dict[str, tuple[float, Callable[[Draw], None]]] = {
    "dense": (380.0, dense),
    "sparse": (130.0, sparse),
    "weights": (100.0, weighted),
    "masses": (20.0, masses),
    "rtol": (110.0, tolerance),
    "tiny-rtol": (20.0, tiny_tolerance),
    "large-integers": (20.0, large_integers),
    "frames": (20.0, frames),
    "stopped": (100.0, stopped),
    "json": (15.0, saved),
    "explain": (10.0, explained),
    "select": (15.0, selected),
    "what-if": (15.0, what_if),
    "hops": (40.0, hops),
    "explain-hops": (3.0, explained_hops),
    "dask": (0.5, dask),
    "dask-sparse": (0.25, dask_sparse),
    "dask-hops": (0.25, dask_hops),
}
# The last two: columns narrower than 1e-250, and that bounds of hops hold what rounding does to features.
SWITCHES = (*KINDS, "denormal", "feature-error")


def run_case(
    seed: int, number: int, tally: Tally, without: frozenset[str] = frozenset(), kind: str | None = None
) -> str:
    """Run one case, which follows from seed and number alone, and return its kind.

    Raises where something is not true.
    """
    rng = np.random.default_rng([seed, number])
    names = [name for name in KINDS if name not in without]
    if kind is None:
        shares = np.cumsum([KINDS[name][0] for name in names])
        kind = names[int(np.searchsorted(shares, rng.random() * shares[-1], side="right"))]
    KINDS[kind][1](Draw(rng, tally, without))
    return kind
