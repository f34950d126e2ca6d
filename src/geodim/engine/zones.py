"""Which windows of a straight column are tried, zone by zone, and what is known of all others.

Zones are stretches of a sorted column, at most an eighth of it long, in which all values are multiples of one
quantum: floats of one binade.  In each of them the starts with the greatest departures and the ends with the
least are found, and all windows from one of these starts to one of these ends are tried.  For any other
window the two zones tell how narrow it may be, and of what it is a multiple (F20 and F22 in
docs/mathematics.md).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from geodim.engine.kernels import straight
from geodim.engine.kernels.pyramid import BASE

if TYPE_CHECKING:
    from numpy.typing import NDArray

# Starts and ends between which all windows are tried, for each rung of a ladder: many starts with few ends, as
# many of both, and few with many.  That is times the root of n, so that about 64 windows of every size are tried
# for each rung.
RUNGS = (2.0, 8.0, 32.0)
PARTS = 8  # the longest zone is this part of the column
LEAST_PART = 64  # and the shortest this one
BINADES = 8  # that are told apart; values much smaller than the largest are few


@dataclass(frozen=True)
class Zones:
    """What `geodim.engine.kernels.straight.left_out` needs, and the pairs of starts and ends."""

    edges: NDArray[np.int64]
    bounds: NDArray[np.float64]
    kinds: NDArray[np.int64]
    powers: NDArray[np.float64]
    fewer: NDArray[np.int64]
    more: NDArray[np.int64]
    rectangles: NDArray[np.int64]

    @classmethod
    def of(
        cls, l: NDArray[np.float64], n: int, u: NDArray[np.float64], quanta: NDArray[Any], finest: int,
        starts: NDArray[np.int64], ends: NDArray[np.int64], margin: float,
    ) -> Zones:  # fmt: skip
        """Of n ascending values, their departures, and the quanta of their base blocks, as exponents.

        Those that are no larger than ``finest`` count as none.

        Windows at ``starts`` and ``ends`` are tried anyway.  Departures are off by a quarter of ``margin``.
        """
        edges = zone_edges(l, n, np.unique(quanta).size > 1)
        # Edges are those of base blocks.
        exponents = np.minimum.reduceat(quanta, edges[:-1] // BASE)
        found, kinds = np.unique(exponents, return_inverse=True)
        lengths = np.diff(edges)
        shares = lengths / np.sqrt(np.bincount(kinds, lengths))[kinds]
        tops, floors = u.copy(), -u
        tops[starts] = floors[ends] = -math.inf
        bounds = np.empty((edges.size - 1, 2 * straight.RUNGS))
        firsts: list[list[NDArray[Any]]] = [[] for _ in RUNGS]
        lasts: list[list[NDArray[Any]]] = [[] for _ in RUNGS]
        for row, (first, stop), share in zip(bounds, pairwise(edges.tolist()), shares.tolist(), strict=True):
            row[0] = float(tops[first:stop].max()) + margin
            row[straight.RUNGS] = -float(floors[first:stop].max())
            for rung, times in enumerate(RUNGS):
                number = min(max(int(times * share), 1), (stop - first) // 2)
                high, chosen = greatest(u[first:stop], number)
                firsts[rung].append(first + chosen)
                row[1 + rung] = high + margin
                low, chosen = greatest(-u[first:stop], number)
                lasts[rung].append(first + chosen)
                row[straight.RUNGS + 1 + rung] = -low
        powers = np.where(found > finest, np.ldexp(1.0, np.clip(found, -1074, 1023)), 0.0)
        return cls(
            edges, bounds, kinds.astype(np.int64), powers,
            *rectangles([np.concatenate(rung) for rung in firsts], [np.concatenate(rung) for rung in lasts], n),
        )  # fmt: skip


def rectangles(
    firsts: list[NDArray[Any]], lasts: list[NDArray[Any]], n: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """The starts of every rung with the ends of the opposite one, as `solve_straight` takes them.

    Where ends are fewer, the windows are those of the mirrored column.
    """
    forth = (len(RUNGS) + 1) // 2
    fewer, more = [], []
    for rung, (some, others) in enumerate(zip(firsts, lasts[::-1], strict=True)):
        fewer.append(some if rung < forth else n - 1 - others[::-1])
        more.append(others if rung < forth else n - 1 - some[::-1])
    cuts = [np.cumsum([0, *(part.size for part in parts)]) for parts in (fewer, more)]
    rows = np.stack([cuts[0][:-1], cuts[0][1:], cuts[1][:-1], cuts[1][1:]], axis=1)
    return np.concatenate(fewer).astype(np.int64), np.concatenate(more).astype(np.int64), rows.astype(np.int64)


def zone_edges(l: NDArray[np.float64], n: int, by_binade: bool) -> NDArray[np.int64]:
    """Where zones begin and end: at binades if these matter, and wherever else they would be too long.

    They begin at base blocks; one that holds values of two binades belongs to the smaller values.
    """
    magnitude = max(abs(float(l[0])), abs(float(l[n - 1])))
    powers = np.ldexp(1.0, math.frexp(magnitude)[1] - 1 - np.arange(BINADES))
    values = l[:n]
    below = np.searchsorted(values, -powers, side="right") // BASE * BASE
    above = -(-np.searchsorted(values, powers) // BASE) * BASE
    edges = [0]
    for at in [*np.unique(np.concatenate([below, above])).tolist(), n] if by_binade else [n]:
        if at - edges[-1] >= n // LEAST_PART and (n - at >= n // LEAST_PART or at == n):
            parts = -(-(at - edges[-1]) * PARTS // n)
            cuts = np.linspace(edges[-1], at, parts + 1)[1:-1].astype(int) // BASE * BASE
            edges += [*cuts.tolist(), at]
    edges[-1] = n
    return np.unique(edges).astype(np.int64)


def greatest(u: NDArray[np.float64], number: int) -> tuple[float, NDArray[Any]]:
    """A threshold and where values reach it, about as many as asked for; all others are at most as great."""
    high = float(np.partition(u, u.size - number)[u.size - number])
    chosen = np.flatnonzero(u >= high)
    # If too many are equal, leave those out.
    return high, chosen if chosen.size <= 2 * number else np.flatnonzero(u > high)
