"""The certificate of a result: finds its data again, and refuses what cannot be certified."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

from geodim.arguments import real_number
from geodim.certificate.columns import Columns
from geodim.certificate.document import Certificate, edges_of
from geodim.certificate.remembered import is_weighted, recall
from geodim.checker import MOST_POINTS
from geodim.engine.parts import available_threads
from geodim.errors import CertificateError, ShapeError
from geodim.khop_result import KHopResult

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from geodim.result import IDResult

SMALLEST_RTOL = 1e-9


def certify(
    result: IDResult | KHopResult, data: object = None, graph: object = None, rtol: float = 1e-3
) -> Certificate:
    """Make the certificate of a result; see `IDResult.certificate` and `KHopResult.certificate`."""
    from geodim.certificate.make import Task, make  # noqa: PLC0415 - imports Numba

    rtol = real_number(rtol, "rtol", least=SMALLEST_RTOL, most=1.0)
    layers = result.results if isinstance(result, KHopResult) else [result]
    if layers[0].parameters.get("features") == "concepts":
        raise CertificateError("only columns and hops can be certified, not the concepts of binary data")
    if "features" in layers[0].parameters:
        raise CertificateError(
            "certificates are about columns and hops: of few points, make a matrix of the features, measure "
            "its columns, and certify that result"
        )
    if layers[0].own_scale:
        raise CertificateError(
            "certificates are about columns as they are: divide the columns by their units, measure what "
            "that gives with scale='global' or 'none', and certify that result"
        )
    operator = None
    if isinstance(result, KHopResult) and result.hops:
        operator = _known_operator(result.operator)
        graph = _input(result, "graph", graph, "result.certificate(X, graph)")
    data = _input(result, "data", data, "result.certificate(X)")
    columns = Columns(data)
    _check_sizes(columns, layers[0])
    task = Task(
        columns=columns,
        order=_leaders_first(layers, columns),
        normalized=layers[0].normalized,
        rtol=rtol,
        hops=len(layers) - 1,
        operator=operator,
        edges=None if operator is None else edges_of(graph, columns.shape[0]),
        threads=available_threads(),
    )
    made = Certificate.from_dict(make(task, [_curve(layer) for layer in layers]))
    _check_agreement(made, layers)
    return made


def _known_operator(operator: dict[str, object]) -> str:
    name = operator.get("operator")
    if name not in ("sym", "rw") or operator.get("weighted"):
        what = f"the operator {name!r}" + (" with edge weights" if operator.get("weighted") else "")
        msg = f"{what} cannot be certified yet: certificates are for 'sym' and 'rw' without weights"
        raise CertificateError(msg)
    return str(name)


def _input(result: IDResult | KHopResult, name: str, given: object, call: str) -> object:
    """Return what was given, or what the result was computed from, if that is still there."""
    if is_weighted(result) or getattr(result, "measured", False):
        msg = (
            "the certificate of weighted points cannot be made: repeat them, np.repeat(X, weights, axis=0), "
            "which gives the same result, and certify that (weights that are not whole numbers would have to "
            "be rounded to some first)"
        )
        raise CertificateError(msg)
    found = recall(result, name) if given is None else given
    if found is None:
        msg = f"the {name} that this result was computed from is no longer available: call {call}"
        raise CertificateError(msg)
    return found


def _check_sizes(columns: Columns, first: IDResult) -> None:
    n, d = columns.shape
    if (n, d) != (first.n_points, first.n_features):
        msg = (
            f"this is the result of {first.n_points:,} points and {first.n_features:,} features, the data "
            f"has {n:,} and {d:,}: pass the same data (if points were weighted, the repeated ones; if "
            "this is one of several numbers of hops, ask the KHopResult)"
        )
        raise ShapeError(msg)
    if n > MOST_POINTS:
        msg = f"certificates are for at most 2^31 points, the data has {n:,}"
        raise CertificateError(msg)


def _check_agreement(made: Certificate, layers: list[IDResult]) -> None:
    """Raise unless certificate and result have a value in common, up to the rounding of hops."""
    if made.d_max != layers[0].d_max:
        msg = (
            f"the data has d_max {made.d_max!r}, the result {layers[0].d_max!r}: pass the data that it was "
            "computed from"
        )
        raise CertificateError(msg)
    for h, (layer, (low, high)) in enumerate(zip(layers, made.discriminabilities, strict=True)):
        error = getattr(layer, "feature_error", None if h else 0.0)
        off = np.inf if error is None else 2.0 * float(error) / layer.scale
        if layer.discriminability_lower - off > high or layer.discriminability_upper + off < low:
            msg = (
                f"after {h} hops the result has Delta {layer.discriminability!r}, but the data proves that "
                f"it lies between {low!r} and {high!r}: pass the data that the result was computed from"
            )
            raise CertificateError(msg)


def _curve(result: IDResult) -> NDArray[np.float64]:
    """Return an approximation of Phi(k) at k = 1, ..., n: a guess is enough."""
    n = result.n_points
    phi = np.where(np.isfinite(result.phi_upper), result.phi, result.phi_lower)
    sizes = result.support
    if sizes.size != n - 1:
        phi = np.interp(np.arange(2, n + 1), sizes, phi) if sizes.size else np.zeros(n - 1)
    return np.maximum.accumulate(np.append(0.0, phi))


def _leaders_first(layers: list[IDResult], columns: Columns) -> Sequence[int]:
    """Return all columns, those with the largest shares first; names that are not found do no harm."""
    d = columns.shape[1]
    places = {name: j for j, name in enumerate(columns.names or map(str, range(d)))}
    weights = np.zeros(d)
    for layer in layers:
        for label, share in layer.shares.items():
            name = re.sub(r"^hop \d+: ", "", label)
            column = re.search(r" \(column (\d+)\)$", label)
            j = int(column[1]) % d if column else places.get(name, -1)
            if j >= 0:
                weights[j] = max(weights[j], share)
    return np.argsort(-weights, kind="stable").tolist()  # type: ignore[no-any-return]
