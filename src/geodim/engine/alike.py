"""What the solvers of alike columns need to know about a column before its windows are examined.

The solvers are `geodim.engine.kernels.alike` and `geodim.engine.kernels.straight`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, ClassVar, Protocol

import numpy as np

from geodim.engine.departures import Departures, kinds_of, levels
from geodim.engine.kernels import alike, lines, straight
from geodim.engine.kernels.counters import N_COUNTERS, TEST_LOOKS, TESTS, WINDOWS
from geodim.engine.kernels.pyramid import BASE, BASE_SHIFT
from geodim.engine.skeleton import is_noise, least_rise, stretches_of
from geodim.engine.zones import Zones

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from numpy.typing import NDArray

EXTREMES = 64  # starts, and as many ends, that are tried first,
NOISE_EXTREMES = 16  # or fewer, if noise decides
LEAST = 8  # at least this many extremes for each quantum that occurs
PARTS = 8  # of the column, each with its share of extremes: large windows have few positions
MANY = 4096  # looks for each size
# Measured on waves and roundings of 10^6 values: a window takes 0.1 to 0.2 ns.
BENT_LOOKS = (
    1024  # windows in the time of testing a block with a line and a quantum of its own, 140 to 190 ns,
)
PAIR_LOOKS = 32  # and of looking through a pair of classes, 5 to 16
TRIED = 257  # windows of a size, to find about where the narrowest is
CHUNK = 1 << 13  # sizes for which one line is chosen
ASTRAY = 4.0  # blocks whose residuals exceed the median this many times follow no line


class Alike(Protocol):
    """An alike column (see docs/glossary.md), ready to be solved."""

    @property
    def loose(self) -> float:
        """By how much the widths may exceed phi; 0 is exact."""

    def solve(
        self, l: NDArray[np.float64], n: int, first: int, stop: int, known: NDArray[np.float64], skip: bool,
        phi: NDArray[np.float64], work: NDArray[np.int64],
    ) -> tuple[NDArray[np.int64], int]:  # fmt: skip
        """Solve the sizes d in [first, stop); return the ranges that were filled, and their number."""


@dataclass(frozen=True)
class Straight:
    """An alike column that stays close to a line, see `geodim.engine.kernels.straight.solve_straight`."""

    mirrored: NDArray[np.float64]
    u: NDArray[np.float64]
    ahead: NDArray[np.float64]
    slope: float
    rest: float
    margin: float
    offsets: NDArray[np.int64]
    counts: NDArray[np.int64]
    tops: NDArray[np.float64]
    floors: NDArray[np.float64]
    quanta: NDArray[np.int32]
    beyond: NDArray[np.int32]
    starts: NDArray[np.int64]
    ends: NDArray[np.int64]
    zones: Zones
    means: NDArray[np.float64]
    pattern: NDArray[np.float64]
    state: NDArray[np.float64]  # how many windows were needed so far
    loose: ClassVar = 0.0
    test_looks: ClassVar[int] = TEST_LOOKS

    @classmethod
    def of(cls, l: NDArray[np.float64], n: int, stretches: Sequence[int] = (), at: int = 0) -> Straight:
        """Prepare n ascending values, see `Departures.of`."""
        return cls.around(l, n, Departures.of(l, n, stretches, at))

    @classmethod
    def around(cls, l: NDArray[np.float64], n: int, line: Departures) -> Straight:
        """Prepare n ascending values whose departures from a line are known."""
        u = line.u
        starts, ends = (
            (extremes(u, line.kinds), extremes(-u, line.kinds))
            if line.by_binade
            else (largest(u, line.edges), largest(-u, line.edges))
        )
        zones = Zones.of(l, n, line.edges, u, line.means, line.kinds, line.finest)
        return cls(
            -l[n - 1 :: -1], u, least_ahead(u), line.slope, line.rest, line.margin, line.offsets, line.counts,
            line.tops, line.floors, line.quanta, line.beyond, starts, n - 1 - ends, zones, line.means,
            least_rise(line.means), np.array([0.0, math.inf, math.inf]),
        )  # fmt: skip

    @property
    def looks_for_pairs(self) -> float:
        """In the time of how many looks for each size pairs of classes are looked through, joined or not."""
        classes = self.zones.kinds.size * self.means.size
        sizes: int = BASE * straight.gaps_together(self.means.size)
        return PAIR_LOOKS * classes**2 / sizes

    def solve(
        self, l: NDArray[np.float64], n: int, first: int, stop: int, known: NDArray[np.float64], skip: bool,
        phi: NDArray[np.float64], work: NDArray[np.int64],
    ) -> tuple[NDArray[np.int64], int]:  # fmt: skip
        """Solve the sizes d in [first, stop); return the ranges that were filled, and their number."""
        ranges = np.empty(((stop - first) // BASE + BASE + 2, 2), np.int64)
        zones = self.zones
        count = straight.solve_straight(
            l, self.mirrored, self.u, self.ahead, n, self.slope, self.rest, self.pattern, self.margin,
            self.offsets, self.counts, self.tops, self.floors, self.quanta, self.beyond, self.starts,
            self.ends, zones.edges, zones.kinds, zones.trends, zones.spreads, zones.powers, self.means,
            *zones.starts.arrays, *zones.ends.arrays, self.state, first, stop, known, skip, phi, ranges, work,
        )  # fmt: skip
        return ranges, count


@dataclass(frozen=True)
class Lines:
    """An alike column of a few stretches, each of which stays close to a line of its own.

    Departures from any of these lines will do; which of them bounds most windows depends on the size.
    """

    edges: list[int]
    lines: dict[int, Straight] = field(default_factory=dict)  # as far as they were needed
    loose: ClassVar = 0.0
    test_looks: ClassVar[int] = TEST_LOOKS

    @classmethod
    def of(cls, l: NDArray[np.float64], n: int) -> Lines | None:
        """Prepare n ascending values; None if they are no such column."""
        edges = stretches_of(l, n)
        if not edges or not is_noise(l, n, edges[0], edges[1]):
            return None
        return cls(edges)

    def line(self, l: NDArray[np.float64], n: int, at: int) -> Straight:
        """Return a line; threads that need it at the same time may both prepare it."""
        if at not in self.lines:
            self.lines[at] = Straight.of(l, n, self.edges, at)
        return self.lines[at]

    def solve(
        self, l: NDArray[np.float64], n: int, first: int, stop: int, known: NDArray[np.float64], skip: bool,
        phi: NDArray[np.float64], work: NDArray[np.int64],
    ) -> tuple[NDArray[np.int64], int]:  # fmt: skip
        """Solve the sizes d in [first, stop); return the ranges that were filled, and their number."""
        found: list[list[int]] = []
        usual = 0.0  # looks for each size
        for begin in range(first // BASE * BASE, stop, CHUNK):
            end = min(begin + CHUNK, stop)
            middle = max((begin + end) // 2 // BASE * BASE, BASE)
            best = self.likely(l, n, middle)
            if usual > MANY and middle < end:  # perhaps another line says more
                tried = np.zeros((len(self.edges) - 1, N_COUNTERS), np.int64)
                for at, looks in enumerate(tried):
                    self.line(l, n, at).solve(l, n, middle, min(middle + BASE, end), known, skip, phi, looks)
                best = int(np.argmin(tried[:, WINDOWS] + TEST_LOOKS * tried[:, TESTS]))
                work += tried.sum(axis=0)
            before = int(work[WINDOWS] + TEST_LOOKS * work[TESTS])
            line = self.line(l, n, best)
            ranges, count = line.solve(l, n, max(begin, first), end, known, skip, phi, work)
            usual = (int(work[WINDOWS] + TEST_LOOKS * work[TESTS]) - before) / (end - begin)
            found += ranges[:count].tolist()
        together = found[:1]
        for begin, end in found[1:]:
            if begin == together[-1][1]:
                together[-1][1] = end
            else:
                together.append([begin, end])
        return np.array(together, np.int64).reshape(-1, 2), len(together)

    def likely(self, l: NDArray[np.float64], n: int, d: int) -> int:
        """Return the number of the line that probably bounds most windows of size d.

        It is the line at one end of the narrowest window, or, if the column begins or ends there, at the
        other one, since from there all windows widen.
        """
        starts = np.unique(np.linspace(0, n - 1 - d, TRIED).astype(np.intp))
        start = int(starts[np.argmin(l[starts + d] - l[starts])])
        end = start + d if start == 0 and start + d < n - 1 else start
        return int(np.searchsorted(self.edges, end, side="right")) - 1


@dataclass(frozen=True)
class Bent:
    """Any other alike column, see `geodim.engine.kernels.alike.solve_alike`."""

    mirrored: NDArray[np.float64]
    offsets: NDArray[np.int64]
    counts: NDArray[np.int64]
    records: NDArray[np.float64]
    quanta: NDArray[np.int32]
    starts: NDArray[np.int64]
    ends: NDArray[np.int64]
    loose: ClassVar = 0.0
    test_looks: ClassVar[int] = BENT_LOOKS

    @classmethod
    def of(cls, l: NDArray[np.float64], n: int) -> Bent:
        """Prepare n ascending values."""
        offsets, counts = levels(n)
        records, quanta = np.empty((int(counts.sum()), lines.LINE)), np.empty(int(counts.sum()), np.int32)
        lines.lowest_bits(l.view(np.int64), n, quanta)
        lines.build_lines(l, n, offsets, counts, records, quanta)
        level = min(alike.AROUND, counts.size - 1)
        lined = records[offsets[level] : offsets[level] + counts[level]]
        u = np.empty(n)
        shift = BASE_SHIFT + lines.FAN_SHIFT * level
        lines.departures(l, n, shift, lined[:, lines.SLOPE], u)
        spreads = lined[:, lines.HIGH] - lined[:, lines.LOW]
        # Ignore blocks that have no line to depart from.
        for block in np.flatnonzero(spreads > ASTRAY * np.median(spreads)).tolist():
            u[block << shift : (block + 1) << shift] = 0.0
        kinds, _ = kinds_of(quanta[: counts[0]], spreads)
        starts, ends = extremes(u, kinds), extremes(-u, kinds)
        return cls(-l[n - 1 :: -1], offsets, counts, records, quanta, starts, n - 1 - ends)

    def solve(
        self, l: NDArray[np.float64], n: int, first: int, stop: int, known: NDArray[np.float64], skip: bool,
        phi: NDArray[np.float64], work: NDArray[np.int64],
    ) -> tuple[NDArray[np.int64], int]:  # fmt: skip
        """Solve the sizes d in [first, stop); return the ranges that were filled, and their number."""
        ranges = np.empty(((stop - first) // BASE + BASE + 2, 2), np.int64)
        count = alike.solve_alike(
            l, self.mirrored, n, self.offsets, self.counts, self.records, self.quanta, self.starts, self.ends,
            first, stop, known, skip, phi, ranges, work,
        )  # fmt: skip
        return ranges, count


def least_ahead(u: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the least of every value and the BASE - 1 values after it, as far as there are any."""
    least = np.concatenate([u, np.full(BASE, np.inf)])
    reach = 1
    while reach < BASE:  # doubled each time
        np.minimum(least[:-reach], least[reach:].copy(), out=least[:-reach])
        reach *= 2
    return least


def extremes(u: NDArray[np.float64], kinds: NDArray[Any]) -> NDArray[np.int64]:
    """Return the positions of the largest values, at most one per base block, some for each kind of block.

    Rare kinds get more than their share.
    """
    blocks = u.size // BASE
    folded = u[: blocks * BASE].reshape(blocks, BASE)
    places = folded.argmax(axis=1)
    heights = folded[np.arange(blocks), places]
    found, sizes = np.unique(kinds[:blocks], return_counts=True)
    shares = np.sqrt(sizes / max(blocks, 1))
    chosen: list[NDArray[Any]] = [np.empty(0, np.intp)]
    for kind, share in zip(found.tolist(), (shares / shares.sum()).tolist(), strict=True):
        most = max(int(EXTREMES * share), LEAST)
        chosen += [
            part[np.argsort(-heights[part], kind="stable")[: most // PARTS]]
            for part in np.array_split(np.flatnonzero(kinds[:blocks] == kind), PARTS)
        ]
    at = np.concatenate(chosen)
    return np.sort(at * BASE + places[at]).astype(np.int64)


def largest(u: NDArray[np.float64], edges: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the positions of the largest values, in every zone in proportion to its length."""
    chosen = []
    for first, stop in pairwise(edges.tolist()):
        most = max(min(NOISE_EXTREMES, u.size // 4) * (stop - first) // u.size, 1)
        part = u[first:stop]
        blocks = part.size // BASE
        if blocks > most:  # so many blocks have values that are no less than this one
            peaks = part[: blocks * BASE].reshape(blocks, BASE).max(axis=1)
            high = np.flatnonzero(part >= np.partition(peaks, blocks - most)[blocks - most])
        else:
            high = np.arange(part.size)
        chosen.append(first + high[np.argpartition(part[high], high.size - most)[high.size - most :]])
    return np.sort(np.concatenate(chosen)).astype(np.int64)
