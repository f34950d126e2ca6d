"""Which windows of a straight column are tried, and what is known of all others.

Values fall into classes: by zone, a stretch of the sorted column without jumps in which all values are
multiples of one quantum, and by phase if a pattern repeats.  Every class has a ladder of its greatest
departures, and one of its least (F20, F25 and F28 in docs/mathematics.md).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from geodim.engine.kernels import ladders
from geodim.engine.kernels.pyramid import BASE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

PARTS = 8  # the longest zone is this part of the column, if departures wander:
WANDERS = 1.5  # if they spread by this many times as much as in a part
LEAST_PART = 64  # the shortest zone is this part of the column
ROUNDED = 2.0**-46  # of the greatest departure: more than the roundings of a slope and what is left of it
BENT = 4.0  # times the least spread of a zone: others may have a slope of their own
BINADES = 8  # that are told apart; values much smaller than the largest are few


@dataclass(frozen=True)
class Zones:
    """What `geodim.engine.kernels.straight.solve_straight` needs of them."""

    edges: NDArray[np.int64]
    kinds: NDArray[np.int64]
    trends: NDArray[np.float64]
    spreads: NDArray[np.float64]
    powers: NDArray[np.float64]
    starts: Ladder
    ends: Ladder

    @classmethod
    def of(
        cls, l: NDArray[np.float64], n: int, edges: NDArray[np.int64], u: NDArray[np.float64],
        means: NDArray[np.float64], quanta: NDArray[Any], finest: int,
    ) -> Zones:  # fmt: skip
        """Prepare n departures from a line, in zones, and the means of a pattern that was taken out of them.

        ``quanta`` are exponents, by base block; those that are no larger than ``finest`` count as none.
        """
        exponents = [
            quanta[first // BASE : -(-stop // BASE)].min() for first, stop in pairwise(edges.tolist())
        ]
        found, kinds = np.unique(exponents, return_inverse=True)
        powers = np.where(found > finest, np.ldexp(1.0, np.clip(found, -1074, 1023)), 0.0)
        starts, ends = Ladder.of(l, n, edges, u, means, True), Ladder.of(l, n, edges, u, means, False)
        trends, spreads = np.zeros(kinds.size), np.empty(kinds.size)
        usual = min(float(np.ptp(u[first:stop])) for first, stop in pairwise(edges.tolist()))
        for zone, (first, stop) in enumerate(pairwise(edges.tolist())):
            part = u[first:stop]
            around = float(np.ptp(part))
            if around > BENT * usual and part.size > 1:
                trends[zone] = float(part[-1] - part[0]) / (part.size - 1)
                around = float(np.ptp(part - trends[zone] * np.arange(part.size)))
                around += ROUNDED * float(np.abs(part).max())
            spreads[zone] = around + float(np.ptp(means))
        return cls(edges, kinds.astype(np.int64), trends, spreads, powers, starts, ends)


@dataclass(frozen=True)
class Ladder:
    """The greatest or least departures of every class, see `geodim.engine.kernels.ladders.build_ladder`."""

    firsts: NDArray[np.int64]
    out: NDArray[np.float64]
    levels: NDArray[np.int64]
    places: NDArray[np.int32]
    heights: NDArray[np.float64]

    @classmethod
    def of(
        cls, l: NDArray[np.float64], n: int, edges: NDArray[np.int64], u: NDArray[np.float64],
        means: NDArray[np.float64], of_starts: bool,
    ) -> Ladder:  # fmt: skip
        """Return the ladders of starts, or the cumulative ones of ends."""
        classes = (edges.size - 1) * means.size
        room = min((n >> ladders.DEEP_SHIFT) + classes * ladders.deep_of(n, means.size), n)
        begins, below = np.empty(classes + 1, np.int64), np.empty(classes)
        at, some = np.empty(room, np.int32), np.empty(room)
        ladders.gather_extremes(u, n, means, edges, 1.0 if of_starts else -1.0, begins, below, at, some)
        ordered = some.copy()
        for first, stop in pairwise(begins.tolist()):
            ordered[first:stop].sort()  # by NumPy, which takes a fraction of the time that compiled code does
        firsts, out = (
            np.empty((classes, ladders.LEVELS + 1), np.int64),
            np.empty((classes, ladders.LEVELS + 1)),
        )
        room = room if of_starts else 5 * room
        levels, places, heights = np.empty(classes, np.int64), np.empty(room, np.int32), np.empty(room)
        used = ladders.build_ladder(
            begins, below, at, some, ordered, not of_starts, l, firsts, out, levels, places, heights
        )
        return cls(firsts, out, levels, places[:used], heights[:used])

    @property
    def arrays(self) -> tuple[NDArray[Any], ...]:
        """All of it, in the order in which kernels take it."""
        return self.firsts, self.out, self.levels, self.places, self.heights


def zone_edges(l: NDArray[np.float64], n: int, jumps: Sequence[int], by_binade: bool) -> NDArray[np.int64]:
    """Return where zones begin and end: at jumps, and at binades if these matter.

    Zones of binades begin at base blocks; a block with values of two binades belongs to the smaller values.
    """
    edges = {0, n, *jumps}
    if by_binade:
        magnitude = max(abs(float(l[0])), abs(float(l[n - 1])))
        powers = np.ldexp(1.0, math.frexp(magnitude)[1] - 1 - np.arange(BINADES))
        below = np.searchsorted(l[:n], -powers, side="right") // BASE * BASE
        above = -(-np.searchsorted(l[:n], powers) // BASE) * BASE
        for at in np.unique(np.concatenate([below, above])).tolist():
            if at < n and all(abs(at - other) >= n // LEAST_PART for other in edges):
                edges.add(at)
    return np.array(sorted(edges), np.int64)


def in_parts(edges: NDArray[np.int64], u: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return edges of shorter zones, if departures wander: then those far away say little of a window."""
    n = u.size
    shorter = set(edges.tolist())
    for first, stop in pairwise(edges.tolist()):
        parts = -(-(stop - first) * PARTS // n)
        shorter.update(first + (stop - first) * part // parts // BASE * BASE for part in range(1, parts))
    parted = np.array(sorted(shorter), np.int64)
    spreads = [float(np.ptp(u[first:stop])) for first, stop in pairwise(edges.tolist())]
    part_spreads = [float(np.ptp(u[first:stop])) for first, stop in pairwise(parted.tolist())]
    return parted if max(spreads) > WANDERS * float(np.median(part_spreads)) else edges
