"""Which windows of a straight column are tried, and what is known of all others.

Values fall into classes: by zone, a stretch of the sorted column without jumps in which all values are
multiples of one quantum, and by phase if a pattern repeats.  In every class the starts have thresholds, from
the greatest departures down, and the ends likewise from the least up.  All windows from a start above one
threshold to an end below the opposite one are tried.  For any other window, the two classes give a lower
bound on its width, and the two zones a quantum of which it is a multiple (F20, F22 and F25 in
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
from geodim.engine.skeleton import least_rise

if TYPE_CHECKING:
    from numpy.typing import NDArray

# The rungs of a ladder: few starts are tried with many ends, as many with as many, and many with few.  These
# are their numbers over the root of n, so that about 64 windows of every size are tried for each rung.
RUNGS = (2.0, 8.0, 32.0)
PARTS = 8  # the longest zone is this part of the column
LEAST_PART = 64  # and the shortest this one
BINADES = 8  # that are told apart; values much smaller than the largest are few
MOST_PHASES = 64  # that are told apart,
MOST_PAIRS = 48  # unless more pairs of them matter,
MATTER = 0.75  # or most
UNLIKELY = 0.2  # at most five times as many windows are tried then


@dataclass(frozen=True)
class Zones:
    """What `geodim.engine.kernels.straight.solve_straight` needs of them."""

    edges: NDArray[np.int64]
    outside: NDArray[np.float64]
    kinds: NDArray[np.int64]
    powers: NDArray[np.float64]
    fewer: NDArray[np.int64]
    more: NDArray[np.int64]
    rectangles: NDArray[np.int64]

    @classmethod
    def of(
        cls, n: int, edges: NDArray[np.int64], u: NDArray[np.float64], means: NDArray[np.float64],
        quanta: NDArray[Any], finest: int, starts: NDArray[np.int64], ends: NDArray[np.int64], margin: float,
    ) -> Zones:  # fmt: skip
        """Prepare n departures from a line, in zones, and the means of a pattern that was taken out of them.

        ``quanta`` are exponents, by base block; those that are no larger than ``finest`` count as none.
        Windows at ``starts`` and ``ends`` are tried anyway.  Departures are off by a quarter of ``margin``.
        """
        exponents = [
            quanta[first // BASE : -(-stop // BASE)].min() for first, stop in pairwise(edges.tolist())
        ]
        found, kinds = np.unique(exponents, return_inverse=True)
        powers = np.where(found > finest, np.ldexp(1.0, np.clip(found, -1074, 1023)), 0.0)
        tops, floors = u.copy(), -u
        tops[starts] = floors[ends] = -math.inf

        def ladders(phases: int, likely: float) -> tuple[Ladder, Ladder]:
            shares = np.diff(edges) / math.sqrt(n * phases * likely)
            return ladder(u, tops, edges, phases, shares), ladder(-u, floors, edges, phases, shares)

        phases, relevant = means[:1], np.ones((1, 1), np.bool_)
        likely = 1.0 if means.size == 1 else UNLIKELY
        if 1 < means.size <= MOST_PHASES:
            found_all = may_matter(*ladders(means.size, 1.0), means)
            number = int(found_all.sum())
            # At some sizes few windows lead from and to phases that matter, so that more are to be tried;
            likely = UNLIKELY if number < MATTER * means.size**2 else 1.0
            if number <= MOST_PAIRS and likely < 1.0:
                # but the more pairs of phases matter at some size, the fewer windows are needed of each.
                phases, relevant, likely = means, found_all, max(number / (2.0 * means.size), 1.0)
        highs, lows = ladders(phases.size, likely)
        rise = phases - phases[:, np.newaxis]
        outside = left_out(highs.thresholds, lows.thresholds, rise, relevant) - margin
        if phases.size < means.size:
            outside = outside + least_rise(means)[:, np.newaxis, np.newaxis]
        return cls(edges, outside, kinds.astype(np.int64), powers, *rectangles(highs, lows, relevant, n))


@dataclass(frozen=True)
class Ladder:
    """The greatest departures of every class, more of them on every rung."""

    thresholds: NDArray[np.float64]  # by zone, phase and rung, falling; the first is what no other exceeds
    places: list[list[NDArray[Any]]]  # by rung and phase, ascending


def ladder(
    u: NDArray[np.float64], left: NDArray[np.float64], edges: NDArray[np.int64], phases: int,
    shares: NDArray[np.float64],
) -> Ladder:  # fmt: skip
    """Return the ladder of departures, given those that are left when some are tried anyway."""
    thresholds = np.empty((shares.size, phases, 1 + len(RUNGS)))
    places: list[list[NDArray[Any]]] = [[] for _ in RUNGS]
    for phase in range(phases):
        chosen: list[list[NDArray[Any]]] = [[] for _ in RUNGS]
        for zone, (start, stop) in enumerate(pairwise(edges.tolist())):
            first = start + (phase - start) % phases
            part = np.ascontiguousarray(u[first:stop:phases])
            thresholds[zone, phase, 0] = left[first:stop:phases].max(initial=-math.inf)
            numbers = [min(max(int(times * float(shares[zone])), 1), part.size // 2) for times in RUNGS]
            found = greatest(part, numbers)
            for rung, (high, at) in enumerate(found):
                thresholds[zone, phase, 1 + rung] = high
                chosen[rung].append(first + phases * at)
        for so_far, parts in zip(places, chosen, strict=True):
            so_far.append(np.concatenate(parts))
    return Ladder(thresholds, places)


def greatest(u: NDArray[np.float64], numbers: list[int]) -> list[tuple[float, NDArray[Any]]]:
    """Return thresholds, and where about as many values as asked for reach them; no other value exceeds them.

    The numbers rise.
    """
    if numbers[-1] == 0:
        return [(float(u.max(initial=-math.inf)), np.empty(0, np.intp)) for _ in numbers]
    kth = u.size - np.maximum(numbers, 1)
    highs = np.partition(u, kth)[kth].tolist()
    some = np.flatnonzero(u >= highs[-1])
    values = u[some]
    found = []
    for high, number in zip(highs, numbers, strict=True):
        at = some[values >= high]
        # If too many are equal, leave those out.
        found.append((high, at if at.size <= 2 * max(number, 1) else some[values > high]))
    return found


def may_matter(highs: Ladder, lows: Ladder, means: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return from which phase to which phase the narrowest window of some size may lead.

    At any size some window from the phase at which the pattern rises least is about as narrow as the middle
    rungs say.
    """
    rise = means - means[:, np.newaxis]
    starts, ends = highs.thresholds, lows.thresholds
    narrowest = rise - starts[:, :, 0].max(axis=0)[:, np.newaxis] - ends[:, :, 0].max(axis=0)
    likely = rise - np.median(starts[:, :, 2], axis=0)[:, np.newaxis] - np.median(ends[:, :, 2], axis=0)
    size = (np.arange(rise.shape[0]) - np.arange(rise.shape[0])[:, np.newaxis]) % rise.shape[0]
    least = np.full(rise.shape[0], math.inf)
    np.minimum.at(least, size, likely)
    matters: NDArray[np.bool_] = narrowest < least[size]
    return matters


def left_out(
    highs: NDArray[np.float64], lows: NDArray[np.float64], rise: NDArray[np.float64],
    relevant: NDArray[np.bool_],
) -> NDArray[np.float64]:  # fmt: skip
    """Return how much wider than the line all untried windows are, by size modulo period and two zones."""
    phases, zones = rise.shape[0], highs.shape[0]
    at = np.arange(phases)
    least = np.empty((phases, zones, zones))
    for size in range(phases):
        to = (at + size) % phases
        ends = lows[:, to, :]
        corners = highs[:, np.newaxis] + ends[np.newaxis, :, :, ::-1]
        most = np.where(
            relevant[at, to], corners.max(axis=3), highs[:, np.newaxis, :, 0] + ends[np.newaxis, :, :, 0]
        )
        least[size] = (rise[at, to] - most).min(axis=2)
    return least


def rectangles(
    highs: Ladder, lows: Ladder, relevant: NDArray[np.bool_], n: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Return the starts of every rung and phase with the ends of the opposite rung and of relevant phases.

    If there are fewer ends than starts, the windows are those of the mirrored column.
    """
    fewer: list[NDArray[Any]] = []
    more: list[NDArray[Any]] = []
    rows = []
    for rung in range(len(RUNGS)):
        mirrored = 2 * rung >= len(RUNGS)
        some, others = highs.places[rung], lows.places[len(RUNGS) - 1 - rung]
        if mirrored:
            some, others = ([n - 1 - part[::-1] for part in parts] for parts in (others, some))
        first, second = (sum(part.size for part in parts) for parts in (fewer, more))
        bounds = [
            np.cumsum([base, *(part.size for part in parts)])
            for base, parts in ((first, some), (second, others))
        ]
        for phase, to in np.argwhere(relevant.T if mirrored else relevant).tolist():
            rows.append([*bounds[0][phase : phase + 2], *bounds[1][to : to + 2], mirrored])
        fewer += some
        more += others
    return (
        np.concatenate(fewer).astype(np.int64),
        np.concatenate(more).astype(np.int64),
        np.array(rows, np.int64).reshape(-1, straight.RECTANGLE),
    )


def zone_edges(
    l: NDArray[np.float64], n: int, jumps: NDArray[np.int64], by_binade: bool
) -> NDArray[np.int64]:
    """Return where zones begin and end: at jumps, at binades if these matter, and in between if too long.

    Zones of binades begin at base blocks; a block with values of two binades belongs to the smaller values.
    """
    edges = {0, n, *jumps.tolist()}
    if by_binade:
        magnitude = max(abs(float(l[0])), abs(float(l[n - 1])))
        powers = np.ldexp(1.0, math.frexp(magnitude)[1] - 1 - np.arange(BINADES))
        below = np.searchsorted(l[:n], -powers, side="right") // BASE * BASE
        above = -(-np.searchsorted(l[:n], powers) // BASE) * BASE
        for at in np.unique(np.concatenate([below, above])).tolist():
            if at < n and all(abs(at - other) >= n // LEAST_PART for other in edges):
                edges.add(at)
    for first, stop in pairwise(sorted(edges)):
        parts = -(-(stop - first) * PARTS // n)
        edges.update(first + (stop - first) * part // parts // BASE * BASE for part in range(1, parts))
    return np.array(sorted(edges), np.int64)
