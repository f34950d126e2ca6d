"""The discriminability by its definition, without any rounding: the oracle of certificates.

Values are rationals, and after "sym" hops decimals of 60 digits, for which an error of 1e-50 is granted.
"""

from __future__ import annotations

from decimal import Decimal, localcontext
from fractions import Fraction
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

DIGITS = 60
GRANTED = Fraction(1, 10**50)


def _delta(features: list[list[Any]], n: int) -> Any:
    ordered = [sorted(feature) for feature in features]
    total = sum(
        max(min(x[a + k - 1] - x[a] for a in range(n - k + 1)) for x in ordered) for k in range(2, n + 1)
    )
    return Fraction(total) / n


def exact_hops(X: Any, edges: Sequence[tuple[int, int]], hops: int, operator: str) -> list[list[list[Any]]]:
    """The columns of X, AX, ..., A^hops X: rationals, or decimals if square roots are needed."""
    kind: Any = Decimal if operator == "sym" and hops else Fraction
    n = len(X)
    around = [{i} for i in range(n)]
    for a, b in edges:
        around[a].add(b)
        around[b].add(a)

    def entry(i: int, j: int) -> Any:
        if operator == "rw":
            return Fraction(1, len(around[i]))
        return 1 / Decimal(len(around[i]) * len(around[j])).sqrt()

    with localcontext() as context:
        context.prec = DIGITS
        columns = [[kind(value) for value in column] for column in X.T.tolist()]
        layers = [columns]
        for _ in range(hops):
            rows = [[(j, entry(i, j)) for j in around[i]] for i in range(n)]
            columns = [[sum((a * column[j] for j, a in row), kind(0)) for row in rows] for column in columns]
            layers.append(columns)
    return layers


def exact_deltas(
    X: Any,
    edges: Sequence[tuple[int, int]] = (),
    hops: int = 0,
    operator: str = "sym",
    *,
    normalize: bool = True,
) -> list[Fraction]:
    """Delta for 0, ..., hops."""
    layers = exact_hops(X, edges, hops, operator)
    with localcontext() as context:
        context.prec = DIGITS
        d_max = Fraction(max(max(column) - min(column) for column in layers[0]))
        scale = d_max if normalize and d_max else Fraction(1)
        features = [column for columns in layers for column in columns]
        d = len(layers[0])
        return [_delta(features[: d * (h + 1)], len(X)) / scale for h in range(hops + 1)]


def holds(delta: Fraction, interval: tuple[float, float], granted: Fraction = Fraction(0)) -> bool:
    """Whether an interval holds a value."""
    return Fraction(interval[0]) - granted <= delta and (
        interval[1] == float("inf") or delta <= Fraction(interval[1]) + granted
    )
