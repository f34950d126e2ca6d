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


def exact_deltas(
    X: Any,
    edges: Sequence[tuple[int, int]] = (),
    hops: int = 0,
    operator: str = "sym",
    *,
    normalize: bool = True,
) -> list[Fraction]:
    """Delta for 0, ..., hops."""
    kind: Any = Decimal if operator == "sym" and hops else Fraction
    n = len(X)
    around = [{i} for i in range(n)]
    for a, b in edges:
        around[a].add(b)
        around[b].add(a)
    with localcontext() as context:
        context.prec = DIGITS
        columns = [[kind(value) for value in column] for column in X.T.tolist()]
        d_max = Fraction(max(max(column) - min(column) for column in columns))
        scale = d_max if normalize and d_max else Fraction(1)
        features, deltas = list(columns), [_delta(columns, n) / scale]
        for _ in range(hops):

            def entry(i: int, j: int) -> Any:
                if operator == "rw":
                    return Fraction(1, len(around[i]))
                return 1 / Decimal(len(around[i]) * len(around[j])).sqrt()

            columns = [
                [sum((entry(i, j) * column[j] for j in sorted(around[i])), kind(0)) for i in range(n)]
                for column in columns
            ]
            features += columns
            deltas.append(_delta(features, n) / scale)
    return deltas


def holds(delta: Fraction, interval: tuple[float, float], granted: Fraction = Fraction(0)) -> bool:
    """Whether an interval holds a value."""
    return Fraction(interval[0]) - granted <= delta and (
        interval[1] == float("inf") or delta <= Fraction(interval[1]) + granted
    )
