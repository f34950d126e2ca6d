"""Cases of hops, with every operator, against extended precision and rationals."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

import geodim
from oracles import brute, drawing, rational
from oracles.brute import DELTA_ULPS, within
from oracles.comparing import (
    ask,
    compare_delta_bounds,
    compare_hops,
    quietly,
)
from oracles.drawing import RTOLS, InterruptAt

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from oracles.cases import Draw

    Generator = np.random.Generator
    Values = NDArray[Any]


def hops(draw: Draw) -> None:
    """Hops with every operator, exactly, with a tolerance, or stopped, against extended precision."""
    rng = draw.rng
    n = int(rng.integers(1, 21))
    X, edges, count = drawing.attributes(rng, n), drawing.edges(rng, n), int(rng.integers(0, 4))
    name = ("sym", "sym", "rw", "ppr", "heat", "matrix")[int(rng.integers(6))]
    hop, more = operator(rng, name, n, edges)
    options: dict[str, Any] = {"normalize": bool(rng.random() < 0.5), "n_threads": 1, **more}
    how: dict[str, Any] = {}
    kind = rng.random()
    if kind < 0.2:
        how = {"rtol": float(rng.choice(RTOLS))}
    elif kind < 0.35:
        how = (
            {"time_limit": 0.0} if rng.random() < 0.5 else {"progress": InterruptAt(int(rng.integers(1, 5)))}
        )
    given = drawing.sparse(rng, X) if rng.random() < 0.2 else drawing.layout(rng, X)
    results = quietly(geodim.khop_dimensions, given, edges.T, count, **options, **how)
    ask(len(results) == count + 1, "one result per hop", results)
    compare_layers(draw, results, X, hop, count, options["normalize"], name, how.get("rtol", 0.0))
    if name in ("rw", "matrix") and n <= 8 and X.dtype.kind != "i" and rng.random() < 0.2:
        in_rationals(draw, results, X, edges, more, count, options["normalize"])


def operator(rng: Generator, name: str, n: int, edges: Values) -> tuple[brute.Hop, dict[str, Any]]:
    """One hop by its definition, and the options that ask for it."""
    pairs = edges.tolist()
    if name == "matrix":
        matrix = np.round(rng.normal(size=(n, n)), 2) * (rng.random((n, n)) < 0.4)
        return brute.Hop(matrix.astype(brute.LONG), 0.0), {"operator": sp.csr_array(matrix)}
    weights = None
    if name in ("sym", "rw") and rng.random() < 0.2:
        weights = np.where(edges[:, 0] == edges[:, 1], 1.0, np.round(rng.exponential(size=len(edges)), 2))
    matrix = brute.adjacency(n, pairs, None if weights is None else weights.tolist())
    more = {} if weights is None else {"edge_weights": weights}
    if name in ("sym", "rw"):
        return brute.transition(name, matrix), {"operator": name, **more}
    step = str(rng.choice(["sym", "rw"]))
    order = int(rng.integers(0, 7))
    number = (
        float(np.round(rng.uniform(0.05, 0.95), 2))
        if name == "ppr"
        else float(np.round(rng.uniform(0, 5), 2))
    )
    coefficients = brute.ppr(number, order) if name == "ppr" else brute.heat(number, order)
    parameters = {"alpha" if name == "ppr" else "t": number, "order": order, "transition": step}
    hop = brute.series(coefficients, brute.transition(step, matrix))
    return hop, {"operator": name, "operator_parameters": parameters}


def compare_layers(
    draw: Draw, results: Any, X: Values, hop: brute.Hop, count: int, normalize: bool, name: str, rtol: float
) -> None:
    """Every number of hops."""
    n = len(X)
    d_max = float(np.ptp(X.astype(np.float64), axis=0).max())
    scale = d_max if normalize and d_max > 0.0 else 1.0
    layers = brute.hop_layers(X, hop, count)
    kind = np.float64 if X.dtype == np.float64 else np.float32
    largest = 0.0
    for k, (low, high) in enumerate(brute.hop_phi(layers)):
        largest = max(largest, float(np.abs(layers[k][0]).max()))
        slack = 0.0
        if k > 0 and "feature-error" in draw.without:  # features are rounded to their type after every hop
            slack = 32.0 * (k + 1) * n * float(np.finfo(kind).eps) * largest / scale
        result = results[k]
        ask(result.d_max == d_max, "d_max", result.d_max, d_max)
        if rtol > 0.0 and not result.stopped and getattr(result, "feature_error", 0.0) == 0.0:
            ask(result.error <= rtol, "closer than rtol", result.error, rtol)
        stop = ", stopped early" if result.stopped else ""
        draw.tally.add(f"hops {name}{stop}", compare_hops(result, low, high, scale, n, slack))


def in_rationals(
    draw: Draw, results: Any, X: Values, edges: Values, more: dict[str, Any], count: int, normalize: bool
) -> None:
    """Hops whose operator is rational, without any rounding on the oracle's side."""
    if "edge_weights" in more:
        return
    columns = rational.fractions_of(X)
    if isinstance(more["operator"], str):
        layers = rational.hop_columns(
            columns, count, rational.means, rational.neighbourhoods(len(X), edges.tolist())
        )
    else:
        rows = rational.fractions_of(more["operator"].toarray().T)
        layers = rational.hop_columns(columns, count, rational.multiplied, rows)
    scale = (rational.diameter(columns) or 1) if normalize else 1
    for k, layer in enumerate(layers):
        if k > 0 and "feature-error" in draw.without:
            return
        delta = rational.discriminability(layer, scale)
        if results[k].exact:
            ask(within(results[k].discriminability, delta, DELTA_ULPS), "Delta of a hop in rationals", k)
        else:
            compare_delta_bounds(results[k], delta, delta)
        draw.tally.add("hops against rationals", 4)


def explained_hops(draw: Draw) -> None:
    """Explanations of hops report the same result."""
    rng = draw.rng
    n = int(rng.integers(2, 16))
    X, edges, count = drawing.attributes(rng, n), drawing.edges(rng, n), int(rng.integers(0, 3))
    name = str(rng.choice(["sym", "rw"]))
    hop, more = operator(rng, name, n, edges)
    explanation = quietly(geodim.explain_hops, X, edges.T, count, n_threads=1, **more)
    results = quietly(geodim.khop_dimensions, X, edges.T, count, n_threads=1, **more)
    compare_layers(
        draw, [*results.results[:-1], explanation.result], X, hop, count, True, f"{name}, explained", 0.0
    )
    total = math.fsum(explanation.hop_shares.values())
    ask(
        not explanation.shares or math.isclose(total, 1.0, rel_tol=1e-12),
        "shares of hops",
        explanation.hop_shares,
    )
