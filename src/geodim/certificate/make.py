"""Makes certificates: a pass over the columns that finds, at chosen sizes, what proves bounds on Phi.

The allowed width of the interval for Delta is shared out: most of it to the sizes that are left out, some to
how far the lower side may stay below Phi (so that few comparisons confirm it), some to windows that need not
be the narrowest (so that they lie on few straight lines), and the rest to rounding to whole units.  If what
comes out is too wide, the next pass knows Phi better.
"""

from __future__ import annotations

import math
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from geodim import checker
from geodim.engine.kernels.witnesses import choose_sizes, narrow_windows, straighten
from geodim.engine.parts import divisor
from geodim.errors import InputValueError, RangeOverflowError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from geodim.certificate.columns import Columns

    Ints = NDArray[np.int64]
    Floats = NDArray[np.float64]

SIZES, BELOW, ABOVE, UNIT = 0.65, 0.25, 0.1, 0.02  # shares of 0.95 of the width; two units are lost at a size
MOST_SIZES = 1 << 20
ROUNDS = 12
LARGEST = Fraction(checker.LARGEST)
NOISE = 64  # errors of the hops: an interval no wider than these cannot be made narrower


@dataclass(frozen=True)
class Task:
    """The data and options of a certificate.

    Attributes
    ----------
    columns : Columns
        The data.
    order : sequence of int
        All of its columns, those first that may attain Phi; only saves time and space.
    normalized : bool
        Whether widths are divided by d_max.
    rtol : float
        The relative width of the interval for the dimension.
    hops, operator, edges
        The hops, what one does, and two arrays of nodes.
    threads : int
        Threads that sort.
    """

    columns: Columns
    order: Sequence[int]
    normalized: bool
    rtol: float
    hops: int = 0
    operator: str | None = None
    edges: Any = None
    threads: int = 1


@dataclass
class Findings:
    """What a pass found at its sizes, per layer (number of hops) and size."""

    sizes: Ints
    margins: list[float]  # how far the lower side may stay below, per layer
    rooms: list[float]  # how much wider than needed windows may be
    reached: Floats
    least: Floats
    widest: Floats  # of the windows named
    by: Ints
    starts: list[Ints] = field(default_factory=list)  # per feature a table: its number, sizes, ranks
    d_max: float = 0.0
    magnitude: float = 0.0
    work: int = 0  # comparisons; the checker repeats some of them, and makes no others

    @classmethod
    def at(cls, sizes: Ints, margins: list[float], rooms: list[float]) -> Findings:
        """Start with no windows."""
        shape = len(margins), sizes.size
        return cls(
            sizes,
            margins,
            rooms,
            np.zeros(shape),
            np.zeros(shape),
            np.zeros(shape),
            np.zeros(shape, np.int64),
        )

    def add(self, feature: int, hops: int, x: Floats) -> None:
        """Examine a sorted feature after some hops: where it exceeds the others, and a window per size."""
        first, widths = np.empty_like(self.sizes), np.empty(self.sizes.size)
        margin = self.margins[hops]
        allowed = checker.MOST_COMPARISONS - self.work
        self.work += narrow_windows(x, self.sizes, self.reached[hops], margin, allowed, first, widths)
        if self.work > checker.MOST_COMPARISONS:
            msg = "an rtol this small takes too many comparisons, to make and to check: ask for a larger one"
            raise InputValueError(msg)
        for h in range(hops, len(self.margins)):
            more = np.flatnonzero(widths > self.reached[h])
            self.reached[h, more], self.by[h, more] = widths[more], feature
            self.least[h, more] = widths[more] - margin
        knots = np.empty((self.sizes.size, 2), np.int64)
        with np.errstate(over="ignore"):
            limit = self.reached[hops] + self.rooms[hops]
        count = straighten(x, self.sizes, first, limit, knots)
        knots = knots[:count][::-1].T
        self.starts.append(np.vstack([np.full(count, feature), knots]))
        first = checker.starts_at(self.sizes, knots, x.size)
        self.widest[hops] = np.maximum(self.widest[hops], x[first + self.sizes - 1] - x[first])


def make(task: Task, curves: list[Floats]) -> dict[str, Any]:
    """Return the certificate as plain values; ``curves`` approximate Phi(1), ..., Phi(n) for each hop."""
    n, _ = task.columns.shape
    s = math.sqrt(1.0 + task.rtol)
    finer = 1.0
    for _ in range(ROUNDS):
        widths = [0.95 * (s - 1.0) / s * _mean(curve) for curve in curves]
        sizes = _sizes(curves, [finer * SIZES * width for width in widths])
        found, degree = _pass(
            task, Findings.at(sizes, [BELOW * width for width in widths], [ABOVE * width for width in widths])
        )
        errors = [checker.hop_error(h, degree, found.magnitude) for h in range(task.hops + 1)]
        document, reached = _document(task, found, errors, widths)
        if reached:
            return document
        points = np.arange(1, n + 1)
        grown = np.maximum.accumulate(found.reached, axis=1)
        curves = [np.interp(points, np.append(1, sizes), np.append(0.0, curve)) for curve in grown]
        finer *= 0.7
    msg = f"the accuracy rtol={task.rtol:g} was not reached in {ROUNDS} passes: ask for a larger rtol"
    raise InputValueError(msg)


def _mean(curve: Floats) -> float:
    largest = float(curve[-1])
    return float(np.mean(curve / largest)) * largest if 0.0 < largest < math.inf else 0.0


def _sizes(curves: list[Floats], budgets: list[float]) -> Ints:
    """Return sizes that serve all layers; those of many hops are often similar, and one set is enough."""
    chosen = np.array([curves[0].size] if curves[0].size > 1 else [], np.int64)
    for curve, budget in zip(curves[::-1], budgets[::-1], strict=True):
        unit = max(float(curve[-1]), 5e-324)  # sums of widths could overflow
        curve, budget = curve / unit, budget / unit * curve.size  # noqa: PLW2901
        before = np.append(1, chosen[:-1])
        if np.sum((chosen - before - 1) * (curve[chosen - 1] - curve[before - 1])) <= budget:
            continue
        room = np.empty(min(curve.size, MOST_SIZES), np.int64)
        count = choose_sizes(curve, budget, room)
        if count > room.size:
            msg = f"an rtol this small needs more than {MOST_SIZES} sizes: ask for a larger one"
            raise InputValueError(msg)
        chosen = np.union1d(chosen, room[:count])
    return chosen


def _pass(task: Task, found: Findings) -> tuple[Findings, int]:
    """Examine all features once; return what was found, and the largest degree."""
    n, d = task.columns.shape
    one_hop, degree = None, 0
    if task.hops:
        one_hop, degree = checker.hop_function(task.edges, n, str(task.operator))

    def prepare(values: NDArray[Any]) -> tuple[float, list[Floats]]:
        """Return the largest magnitude, and the column sorted after 0, 1, ... hops."""
        magnitude, after = float(np.abs(values).max()), []
        for m in range(task.hops + 1):
            values = values if m == 0 or one_hop is None else one_hop(values)
            after.append(np.sort(values).astype(np.float64))
        return magnitude, after

    with ThreadPoolExecutor(task.threads, thread_name_prefix="geodim") as pool, np.errstate(over="ignore"):
        for which in _blocks(task.order, task.columns.at_a_time):
            block = task.columns.read(which)
            for j, (magnitude, after) in zip(which, pool.map(prepare, block), strict=True):
                found.magnitude = max(found.magnitude, magnitude)
                found.d_max = max(found.d_max, float(after[0][-1] - after[0][0]))
                for m, x in enumerate(after):
                    if not x[-1] - x[0] < math.inf:
                        msg = f"the range of column {j} after {m} hops is too large for a float64: rescale it"
                        raise RangeOverflowError(msg)
                    found.add(m * d + j, m, x)
    return found, degree


def _blocks(order: Sequence[int], at_a_time: int) -> Iterator[Sequence[int]]:
    for first in range(0, len(order), at_a_time):
        yield order[first : first + at_a_time]


def _document(
    task: Task, found: Findings, errors: list[float], widths: list[float]
) -> tuple[dict[str, Any], bool]:
    """Return the certificate, and whether it is as accurate as requested."""
    n, d = task.columns.shape
    widest = np.maximum.accumulate(found.widest, axis=0)
    largest = float(widest.max(initial=0.0))
    unit = _unit(
        [width for width, most in zip(widths, widest[:, -1:], strict=True) if np.any(most > 0.0)], largest
    )
    scale = Fraction(divisor(found.d_max, task.normalized))
    least = np.maximum(found.least, 0.0)
    rounding = 2.0 * np.array(errors)[:, np.newaxis]
    most = np.where(widest > 0.0, widest + rounding, 0.0)  # hops may round differently on other machines
    starts = np.hstack(found.starts)
    document: dict[str, Any] = {
        "format": checker.FORMAT,
        "n_points": n,
        "n_features": d,
        "normalized": task.normalized,
        "d_max": found.d_max,
        "hops": task.hops,
        "operator": task.operator if task.hops else None,
        "unit": unit,
        "sizes": found.sizes,
        "lower": np.floor(np.ldexp(least, -unit)).astype(np.int64),
        "upper": np.maximum(np.ceil(np.ldexp(most, -unit)), most > 0.0).astype(np.int64),
        "by": found.by,
        "starts": starts[:, np.argsort(starts[0], kind="stable")],
    }
    claims, reached = [], True
    for h, error in enumerate(map(Fraction, errors)):
        low, high = checker.proved(document, h, error, scale)
        close = high**2 <= (1 + Fraction(task.rtol)) * low**2
        reached = reached and (close or (high - low) * scale <= NOISE * error)
        claims.append([_down(low), _up(high)])
    tables = {name: value.tolist() for name, value in document.items() if isinstance(value, np.ndarray)}
    return document | tables | {"claims": claims}, reached


def _unit(widths: list[float], largest: float) -> int:
    """Return the exponent of a unit that is small enough for all layers; 2^53 units cover all widths."""
    smallest = UNIT * min(widths, default=1.0)
    exponent = math.frexp(smallest)[1] - 1 if smallest > 0.0 else -1074
    return min(max(exponent, math.frexp(largest)[1] - 52, -1074), 971)


def _down(value: Fraction) -> float:
    """Return the largest float64 that is not greater."""
    near = float(min(value, LARGEST))
    return near if near <= value else math.nextafter(near, -math.inf)


def _up(value: Fraction) -> float:
    """Return the smallest float64 that is not less."""
    if value > LARGEST:
        msg = "the bounds on Delta exceed what a float64 holds: rescale the data"
        raise RangeOverflowError(msg)
    near = float(value)
    return near if near >= value else math.nextafter(near, math.inf)
