"""Hard columns: lines and patterns but for roundings, at which every window would have to be looked at.

That all narrowest windows of a column be found in near-linear time is too much to ask for: they contain
(min, +) convolutions.  Where a column is a line, or repeats, but for roundings that follow no rule (lines
that were rounded twice), which of its windows is narrowest is a matter of such roundings.  But then all
windows of a phase are alike, and any of them tells phi to within these roundings (F24 in
docs/mathematics.md).

Whether a column is hard depends on the column alone: it stays close to a line (`margin`), the exact way is
dear at sizes that are tried (`is_dear`), and roundings are no larger than that margin (`Relaxed.of`).  So
do the widths, which never fall and exceed phi by at most ``loose``.  A column is rejected only if it lies
below others by the margin.  So the same bits come out whatever the order, the threads and the blocks.
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

HARD_FROM = 1 << 14  # points; fewer are looked at soon enough
NEAR_BITS = 46  # widths are off by 2^-46 of the largest value at most, or not at all
LARGEST, SMALLEST = 2.0**900, 2.0**-900  # where no sum overflows, and roundings are those of normal numbers
GRID_SPREAD = 24.0  # spacings: closer to a line than this
MOST_POINTS = 1 << 26  # positions times half a float are exact
PROBES = 8  # gaps at which the exact way is tried
TEST_LOOKS = 200  # windows that are evaluated in the time in which it tests a block and looks into it
DEAR = 3072  # windows for each size: about ten times what normal data takes
TRIED = 64  # starts, and ends, of the windows that are looked at, besides one start for each phase


def margin(l: NDArray[np.float64], n: int) -> float:
    """By how much widths may be off if this column is hard; 0 if it is not, whatever others reached."""
    magnitude = max(abs(float(l[0])), abs(float(l[n - 1])))
    if not (HARD_FROM <= n < MOST_POINTS and SMALLEST < magnitude < LARGEST):
        return 0.0
    if not 0.0 < lines.spread_around_line(l, n) < GRID_SPREAD:
        return 0.0
    return math.ldexp(magnitude, -NEAR_BITS)


def is_dear(l: NDArray[np.float64], n: int, line: Straight) -> bool:
    """Whether the exact way looks at too many windows, at some sizes all over the column."""
    nothing, phi, work = np.zeros(n), np.empty(n), np.zeros(N_COUNTERS, np.int64)
    gaps = np.unique(np.linspace(1, (n - 1) // BASE, PROBES + 1)[:-1].astype(int))
    for gap in gaps.tolist():
        line.solve(l, n, gap * BASE, gap * BASE + BASE, nothing, False, phi, work)
    return int(work[WINDOWS] + TEST_LOOKS * work[TESTS]) > DEAR * BASE * gaps.size


@dataclass(frozen=True)
class Relaxed:
    """A hard column, solved: widths of windows that are as narrow as any but for roundings."""

    widths: NDArray[np.float64]
    loose: float
    period: int

    @classmethod
    def of(cls, l: NDArray[np.float64], n: int, line: Straight) -> Relaxed | None:
        """Of n ascending values and their line; None if more than roundings tells its windows apart."""
        period, u = line.pattern.size, line.u
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
        # Phi never falls, so that what bounds it further on bounds it here.
        np.minimum.accumulate(widths[::-1], out=widths[::-1])
        return cls(widths, loose, period)

    def solve(
        self, l: NDArray[np.float64], n: int, first: int, stop: int,  # noqa: ARG002 - all is known
        known: NDArray[np.float64], skip: bool,  # noqa: ARG002
        phi: NDArray[np.float64], work: NDArray[np.int64],
    ) -> tuple[NDArray[np.int64], int]:  # fmt: skip
        """Solve the sizes d in [first, stop): the ranges of them that were filled, and how many ranges."""
        phi[first:stop] = self.widths[first:stop]
        work[WINDOWS] += 2 * TRIED * (stop - first)
        return np.array([[first, stop]], np.int64), 1


def _places(u: NDArray[np.float64], edges: NDArray[np.int64]) -> NDArray[np.int64]:
    """Where the greatest departure of every part is, the first one if there are several."""
    return np.array([a + int(np.argmax(part)) for a, part in zip(edges, np.split(u, edges[1:]), strict=True)])
