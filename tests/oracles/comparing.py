"""A result of geodim against the truth, number by number: what must hold whatever the data is.

If a result says that it is exact, its bounds are equal and Phi has the true bits; if not, its
bounds hold the true value.
"""

from __future__ import annotations

import math
import warnings
from collections import Counter
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from oracles import brute
from oracles.brute import DELTA_ULPS, DIMENSION_ULPS, delta_of, inverse_square, nearest, within

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    import geodim

    Values = NDArray[Any]

# The true Delta is known here up to the rounding of each width and of their sum, an ulp; rationals are
# used where less is asked.
KNOWN = Fraction(1, 2**52)


class Mismatch(AssertionError):
    """Something that geodim returned is not true."""


def ask(holds: Any, what: str, *numbers: Any) -> None:
    """Raise unless it holds."""
    if not holds:
        shown = ", ".join(repr(number) for number in numbers)
        raise Mismatch(f"{what}: {shown}" if shown else what)


class Tally(Counter[str]):
    """How many results were compared with an oracle, by kind, and how many numbers that were."""

    numbers: int = 0

    def add(self, kind: str, numbers: int = 1) -> None:
        """One result, compared in so many numbers."""
        self[kind] += 1
        self.numbers += numbers


@dataclass
class Truth:
    """What is true of some data: all widths, and by which number features are divided."""

    phi: Values  # (n - 1, d), as float64 holds it
    n: int
    d_max: float
    scale: float

    @classmethod
    def of(cls, X: Values, *, normalize: bool, d_max: float | None = None) -> Truth:
        """Of an array of numbers that float64 holds."""
        values = X.astype(np.float64)
        phi = brute.widths(values)
        found = float(np.ptp(values, axis=0).max()) + 0.0 if d_max is None else d_max
        return cls(phi, len(X), found, found if normalize and found > 0.0 else 1.0)

    @property
    def largest(self) -> Values:
        """Phi."""
        found: Values = self.phi.max(axis=1)
        return found

    @property
    def delta(self) -> Fraction:
        """Delta, up to the rounding of each width and of their sum."""
        return delta_of(self.largest, self.n, self.scale)


@dataclass
class Call:
    """The last question that was asked, for the report of a mismatch."""

    function: Callable[..., Any] | None = None
    arguments: tuple[Any, ...] = ()
    options: dict[str, Any] = field(default_factory=dict)


LAST = Call()


def quietly(function: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
    """A call whose warnings (constant data, stopped early) are expected."""
    LAST.function, LAST.arguments, LAST.options = function, arguments, options
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return function(*arguments, **options)


def compare(result: geodim.IDResult, truth: Truth, rtol: float = 0.0) -> int:
    """Everything that a result says; returns how many numbers were compared."""
    ask(result.n_points == truth.n, "n_points", result.n_points, truth.n)
    ask(result.d_max == truth.d_max, "d_max", result.d_max, truth.d_max)
    ask(result.lower <= result.dimension <= result.upper, "the dimension between its bounds", result)
    delta = result.discriminability
    ask(result.discriminability_lower <= delta <= result.discriminability_upper, "Delta between its bounds")
    if result.exact:
        return compare_exact(result, truth)
    if rtol > 0.0 and result.stopped is None:
        ask(result.error <= rtol, "closer than rtol", result.error, rtol)
    ask(rtol > 0.0 or result.stopped, "exact unless a tolerance was given or it was stopped")
    return compare_bounds(result, truth)


def compare_exact(result: geodim.IDResult, truth: Truth) -> int:
    """Phi to the bit, sums to a few ulp, the owners of Phi."""
    phi, delta = truth.largest, truth.delta
    ask(result.stopped is None, "stopped, and yet exact")
    ask(
        result.lower == result.upper == result.dimension,
        "the bounds of an exact result",
        result.lower,
        result.upper,
    )
    ask(np.array_equal(result.support, np.arange(2, truth.n + 1)), "the support of an exact result")
    ask(result.phi_lower.tobytes() == phi.tobytes(), "Phi to the bit", result.phi_lower, phi)
    ask(result.phi_upper.tobytes() == phi.tobytes(), "the upper Phi to the bit", result.phi_upper, phi)
    ask(within(result.discriminability, delta, DELTA_ULPS), "Delta", result.discriminability, nearest(delta))
    dimension = inverse_square(delta)
    if dimension is None:
        ask(result.dimension == math.inf, "the dimension of constant data", result.dimension)
        ask(not result.shares, "shares of constant data", result.shares)
    else:
        ask(
            within(result.dimension, dimension, DIMENSION_ULPS),
            "the dimension",
            result.dimension,
            nearest(dimension),
        )
        compare_shares(result, truth)
    return 2 * len(phi) + 4 + len(result.shares)


def compare_shares(result: geodim.IDResult, truth: Truth) -> None:
    """Phi(k) belongs to the lowest column that attains it; a share is what a column has of the sum."""
    phi = truth.largest
    owner = brute.owners(truth.phi)
    unit = phi.max()
    sums = np.bincount(owner, phi / unit, minlength=truth.phi.shape[1])
    names = {str(column) for column in np.flatnonzero(sums)}
    # Some of it too little for a share above 0.
    attain = {str(column) for column in np.unique(owner[phi > 0.0])}
    ask(names <= set(result.shares) <= attain, "who has a share", result.shares, names)
    for name, share in result.shares.items():
        expected = sums[int(name)] / sums.sum()
        ask(math.isclose(share, expected, rel_tol=1e-12, abs_tol=1e-300), "a share", name, share, expected)
    if np.count_nonzero(np.diff(owner)) < 2048:  # else runs were taken together, which may leave fewer
        order = [int(name) for name in result.shares]
        by = [order[at] if at >= 0 else -1 for at in result.attained_by.tolist()]
        spans = np.diff(np.append(result.attained_from, truth.n + 1))
        attained = np.repeat(by, spans)
        ask(attained.size == phi.size, "attained_from", result.attained_from)
        wrong = (attained != owner) & (phi / unit > 0.0)  # nobody owns what vanishes beside the largest
        ask(not wrong.any(), "who attains Phi", attained, owner)


def compare_bounds(result: geodim.IDResult, truth: Truth) -> int:
    """Bounds on Phi at every k, on Delta and on the dimension hold what is true."""
    phi, delta, k = truth.largest, truth.delta, np.arange(2, truth.n + 1)
    below = np.searchsorted(result.support, k, side="right") - 1
    above = np.searchsorted(result.support, k, side="left")
    ask(result.support.size == 0 or result.support[-1] == truth.n, "the support ends with n", result.support)
    lower = np.where(below >= 0, result.phi_lower[below], 0.0) if k.size else phi
    upper = result.phi_upper[above] if k.size else phi
    ask(np.all(lower <= phi), "lower bounds on Phi", lower, phi)
    ask(np.all(phi <= upper), "upper bounds on Phi", upper, phi)
    compare_delta_bounds(result, delta * (1 - KNOWN), delta * (1 + KNOWN))
    return 2 * len(phi) + 4


def compare_delta_bounds(result: geodim.IDResult, least: Fraction, most: Fraction) -> None:
    """Bounds on Delta and on the dimension, where the true Delta lies between two numbers."""
    low, high = result.discriminability_lower, result.discriminability_upper
    ask(Fraction(low) <= most, "the lower bound on Delta", low, nearest(most))
    ask(high == math.inf or least <= Fraction(high), "the upper bound on Delta", high, nearest(least))
    most_dimension, least_dimension = inverse_square(least), inverse_square(most)
    if most_dimension is not None and result.lower < math.inf:
        ask(Fraction(result.lower) <= most_dimension, "the lower bound on the dimension", result.lower)
    if least_dimension is None:
        ask(result.upper == math.inf, "the upper bound on the dimension", result.upper)
    elif result.upper < math.inf and nearest(least_dimension) > 2.3e-308:
        ask(Fraction(result.upper) >= least_dimension, "the upper bound on the dimension", result.upper)


def compare_hops(
    result: geodim.IDResult, low: Values, high: Values, scale: float, n: int, slack: float
) -> int:
    """Compare a hop with bounds on the true Phi in extended precision.

    ``slack`` widens those where results are known to be off.
    """
    least = max(brute.long_delta(low, n, scale) - Fraction(slack), Fraction(0))
    most = brute.long_delta(high, n, scale) + Fraction(slack)
    ask(result.lower <= result.dimension <= result.upper, "the dimension between its bounds", result)
    if result.exact:
        ask(result.lower == result.upper, "the bounds of an exact result", result.lower, result.upper)
        room = DELTA_ULPS * Fraction(math.ulp(result.discriminability))
        delta = Fraction(result.discriminability)
        ask(least - room <= delta <= most + room, "Delta", float(delta), nearest(least), nearest(most))
        half = np.spacing(result.phi_lower) / 2 + slack * scale * n
        ask(
            np.all((low - half <= result.phi_lower) & (result.phi_lower <= high + half)),
            "Phi",
            result.phi_lower,
            low,
        )
    else:
        compare_delta_bounds(result, least, most)
    return 4 + len(low)
