"""What `geodim.engine.kernels.alike` needs to know of a column before its windows are looked at."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from geodim.engine.kernels import alike, lines
from geodim.engine.kernels.pyramid import BASE, BASE_SHIFT

if TYPE_CHECKING:
    from typing import Any

    from numpy.typing import NDArray

EXTREMES = 512  # starts, and ends, that are tried first,
LEAST = 16  # at least so many for each quantum that values have
FINE = 6  # quanta of less than 2^-6 of the residuals are as good as none
PAIRS = 8.0  # times the root of n: the starts, and the ends, between which all windows are tried
MOST = 1 << 26  # points, for products with the halves of a slope to be exact
PARTS = 8  # of the column, each of which has its share: large windows leave little choice
STRAIGHT = 0.9  # of the blocks have the slope of the whole: a straight column
AROUND = 3  # the level whose lines departures are measured from, elsewhere,
ASTRAY = 4.0  # unless residuals are so many times what they are in most blocks


@dataclass(frozen=True)
class Alike:
    """Lines, quanta and the most promising ends of windows of one sorted column.

    See `geodim.engine.kernels.alike.solve_alike` for what they are.
    """

    mirrored: NDArray[np.float64]
    offsets: NDArray[np.int64]
    counts: NDArray[np.int64]
    records: NDArray[np.float64]
    quanta: NDArray[np.int32]
    starts: NDArray[np.int64]
    ends: NDArray[np.int64]
    firsts: NDArray[np.int64]
    lasts: NDArray[np.int64]
    outside: float

    @classmethod
    def of(cls, l: NDArray[np.float64], n: int) -> Alike:
        """Of n ascending values."""
        sizes = [-(-n // BASE)]
        while sizes[-1] > 1:
            sizes.append(-(-sizes[-1] // (1 << lines.FAN_SHIFT)))
        counts = np.array(sizes, np.int64)
        offsets = np.concatenate([[0], np.cumsum(counts)[:-1]]).astype(np.int64)
        records, quanta = np.empty((int(counts.sum()), lines.LINE)), np.empty(int(counts.sum()), np.int32)
        lines.lowest_bits(l.view(np.int64), n, quanta)
        lines.build_lines(l, n, offsets, counts, records, quanta)
        level = min(AROUND, counts.size - 1)
        lined = records[offsets[level] : offsets[level] + counts[level]]
        straight = bool(np.mean(lined[:, lines.SLOPE] == records[-1, lines.SLOPE]) >= STRAIGHT)
        u = np.empty(n)
        shift = BASE_SHIFT + lines.FAN_SHIFT * level
        lines.departures(l, n, shift, records[-1:, lines.SLOPE] if straight else lined[:, lines.SLOPE], u)
        spreads = lined[:, lines.HIGH] - lined[:, lines.LOW]
        if not straight:  # leave out where there is no line to depart from
            for block in np.flatnonzero(spreads > ASTRAY * np.median(spreads)).tolist():
                u[block << shift : (block + 1) << shift] = 0.0
        spread = float(np.median(spreads))
        finest = math.frexp(spread)[1] - FINE if spread > 0.0 else -1074
        kinds = np.maximum(quanta[: counts[0]], finest)
        firsts = lasts = np.empty(0, np.int64)
        outside = -math.inf
        most = EXTREMES
        if straight and np.all(kinds == finest) and n < MOST:
            most = EXTREMES // 2
        starts, ends = extremes(u, kinds, most), extremes(-u, kinds, most)
        if most < EXTREMES:
            number = min(int(PAIRS * math.sqrt(n)), n // 4)
            firsts, lasts, outside = pairs(u, starts, ends, number)
            span = float(l[n - 1] - l[0])
            outside -= 2.0**-48 * (float(np.abs(u).max()) + 2.0**-25 * span)
        return cls(
            -l[n - 1 :: -1], offsets, counts, records, quanta, starts, n - 1 - ends, firsts, lasts, outside
        )

    def solve(
        self, l: NDArray[np.float64], n: int, first: int, stop: int, known: NDArray[np.float64], skip: bool,
        phi: NDArray[np.float64], work: NDArray[np.int64],
    ) -> tuple[NDArray[np.int64], int]:  # fmt: skip
        """Solve the sizes d in [first, stop): the ranges of them that were filled, and how many ranges."""
        ranges = np.empty(((stop - first) // BASE + BASE + 2, 2), np.int64)
        count = alike.solve_alike(
            l, self.mirrored, n, self.offsets, self.counts, self.records, self.quanta, self.starts, self.ends,
            self.firsts, self.lasts, self.outside, first, stop, known, skip, phi, ranges, work,
        )  # fmt: skip
        return ranges, count


def extremes(u: NDArray[np.float64], kinds: NDArray[Any], most: int) -> NDArray[np.int64]:
    """Where the largest values are, at most one in a base block, some for each kind of blocks."""
    blocks = u.size // BASE
    folded = u[: blocks * BASE].reshape(blocks, BASE)
    places = folded.argmax(axis=1)
    heights = folded[np.arange(blocks), places]
    kinds = kinds[:blocks]
    found = np.unique(kinds)
    each = max(most // max(found.size, 1), LEAST)
    chosen: list[NDArray[Any]] = []
    for kind in found.tolist():
        for part in np.array_split(np.flatnonzero(kinds == kind), PARTS):
            chosen.append(part[np.argsort(-heights[part], kind="stable")[: each // PARTS]])
    at = np.concatenate(chosen) if chosen else np.empty(0, np.intp)
    return np.sort(at * BASE + places[at]).astype(np.int64)


def pairs(
    u: NDArray[np.float64], starts: NDArray[np.int64], ends: NDArray[np.int64], number: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], float]:
    """The largest and the least of some departures, and a bound on the differences that they leave out.

    Windows at ``starts`` and ``ends`` are tried anyway.  Any other has either a start that is none of the first
    or an end that is none of the second of the two sets.
    """
    high = np.partition(u, u.size - number)[u.size - number]
    low = np.partition(u, number - 1)[number - 1]
    firsts, lasts = np.flatnonzero(u >= high), np.flatnonzero(u <= low)
    at_starts, at_ends = u[starts], u[ends]
    u[starts] = -math.inf
    highest = float(u.max())
    u[starts] = at_starts
    u[ends] = math.inf
    lowest = float(u.min())
    u[ends] = at_ends
    return firsts, lasts, min(lowest - float(high), float(low) - highest)
