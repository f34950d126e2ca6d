"""Hard columns: lines and patterns up to roundings, for which every window would have to be examined.

Finding all narrowest windows of any column in near-linear time is too much to ask for, since it includes
(min, +) convolutions.  If a column is a line, or repeats, up to roundings that follow no rule (such as lines
that were rounded twice), these roundings alone decide which window is narrowest.  But then all windows of a
phase are nearly equally wide, and any of them gives phi to within the roundings (F24 in docs/mathematics.md).

Whether a column is hard depends on the column alone: it stays close to a line (`margin`), the exact method is
expensive at the sizes where it is tried (`is_dear`), and the roundings are no larger than the margin
(`Relaxed.of`).  The same is true of its widths, which never fall and exceed phi by at most ``loose``.  A
column is rejected only if it lies below others by at least the margin.  So the bits of the result depend
neither on the order nor on threads and blocks.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from geodim.engine.kernels import lines, patterns
from geodim.engine.kernels.counters import N_COUNTERS, TESTS, WINDOWS
from geodim.engine.kernels.pyramid import BASE

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from geodim.engine.alike import Straight

HARD_FROM = 1 << 14  # points; the windows of fewer are examined quickly enough
NEAR_BITS = 46  # widths are off by at most 2^-46 of the largest value, or not at all
LARGEST, SMALLEST = 2.0**900, 2.0**-900  # so that no sum overflows, and all numbers are normal
GRID_SPREAD = 24.0  # spacings: hard columns are closer to a line than this
MOST_POINTS = 1 << 26  # positions times half a float are exact
PROBES = 8  # gaps at which the exact method is tried
TEST_LOOKS = 200  # windows that can be evaluated in the time of testing a block and examining its starts
DEAR = 3072  # windows per size: about ten times what normal data takes
MOST_PHASES = 64
RUNS, RUN = 8, 4096  # stretches in which periods are sought, and the number of values in each
ENOUGH = 64  # at least this many values of each phase there
LIKE = 2.0  # a period whose phases spread at most twice as much as the best is as good
TRIED = 64  # starts, and as many ends, of the windows examined, besides one start per phase


def margin(l: NDArray[np.float64], n: int) -> float:
    """Return how far widths may be off if this column is hard; 0 if it is not, whatever others reached."""
    magnitude = max(abs(float(l[0])), abs(float(l[n - 1])))
    if not (HARD_FROM <= n < MOST_POINTS and SMALLEST < magnitude < LARGEST):
        return 0.0
    if not 0.0 < lines.spread_around_line(l, n) < GRID_SPREAD:
        return 0.0
    return math.ldexp(magnitude, -NEAR_BITS)


def is_dear(l: NDArray[np.float64], n: int, line: Straight) -> bool:
    """Return whether the exact method examines too many windows, at sizes spread over the whole column."""
    nothing, phi, work = np.zeros(n), np.empty(n), np.zeros(N_COUNTERS, np.int64)
    gaps = np.unique(np.linspace(1, (n - 1) // BASE, PROBES + 1)[:-1].astype(int))
    for gap in gaps.tolist():
        line.solve(l, n, gap * BASE, gap * BASE + BASE, nothing, False, phi, work)
    return int(work[WINDOWS] + TEST_LOOKS * work[TESTS]) > DEAR * BASE * gaps.size


@dataclass(frozen=True)
class Relaxed:
    """A solved hard column: widths of windows that are narrowest up to roundings."""

    widths: NDArray[np.float64]
    loose: float
    period: int

    @classmethod
    def of(cls, l: NDArray[np.float64], n: int, line: Straight) -> Relaxed | None:
        """Solve n ascending values, given their line; None if their windows differ by more than roundings."""
        period = nearly_a_period(line.u)
        u = line.u if period == 1 else _level(line.u, period)
        noise = max(float(np.ptp(u[phase::period])) for phase in range(period))
        span, magnitude = float(l[n - 1] - l[0]), max(abs(float(l[0])), abs(float(l[n - 1])))
        loose = (2.0 * noise + line.margin + math.ulp(span)) * (1.0 + 2.0**-40)
        if loose > math.ldexp(magnitude, -NEAR_BITS):
            return None
        edges = np.linspace(0, n, TRIED + 1).astype(int)[:-1]
        starts = np.unique(np.concatenate([np.arange(period), _places(u, edges)]))
        ends = np.unique(n - 1 - _places(-u, edges))
        widths = np.empty(n)
        patterns.narrowest_of_some(l, line.mirrored, n, starts, ends, widths)
        # Phi never falls, so an upper bound at a larger size is one here, too.
        np.minimum.accumulate(widths[::-1], out=widths[::-1])
        return cls(widths, loose, period)

    def solve(
        self, l: NDArray[np.float64], n: int, first: int, stop: int,  # noqa: ARG002 - all widths are known
        known: NDArray[np.float64], skip: bool,  # noqa: ARG002
        phi: NDArray[np.float64], work: NDArray[np.int64],
    ) -> tuple[NDArray[np.int64], int]:  # fmt: skip
        """Solve the sizes d in [first, stop); return the ranges that were filled, and their number."""
        phi[first:stop] = self.widths[first:stop]
        work[WINDOWS] += 2 * TRIED * (stop - first)
        return np.array([[first, stop]], np.int64), 1


def _level(u: NDArray[np.float64], period: int) -> NDArray[np.float64]:
    """Return the departures minus the slope of one phase.

    The line closest to all values is not quite that of the pattern, which begins in one phase and ends in
    another.  The rounding errors made here are smaller than the errors that departures have anyway.
    """
    at = np.arange(0, u.size, period, dtype=np.float64)
    at -= at.mean()
    slope = float(at @ u[::period]) / float(at @ at)
    return u - slope * np.arange(u.size)


def _places(u: NDArray[np.float64], edges: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the position of the greatest departure in every part; the first one if there are several."""
    return np.array([a + int(np.argmax(part)) for a, part in zip(edges, np.split(u, edges[1:]), strict=True)])


def nearly_a_period(u: NDArray[np.float64]) -> int:
    """Return the least p for which the departures of a phase spread hardly more than for the best p."""
    length = min(RUN, u.size)
    most = min(MOST_PHASES, max(length // ENOUGH, 1))
    some = np.empty((RUNS, most + 1))
    for row, first in zip(some, np.linspace(0, u.size - length, RUNS).astype(int).tolist(), strict=True):
        patterns.spread_by_period(u, first, first + length, most, row)
    spreads = np.median(some, axis=0)[1:]
    return 1 + int(np.argmax(spreads <= LIKE * float(spreads.min())))
