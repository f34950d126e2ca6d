"""Columns that consist of a few stretches, each of which repeats: lines or patterns one after the other.

Take a start in one segment and an end in another, and move both on by a multiple of both periods: the width
of the window changes by the same amount each time, but for what values depart from repeating exactly.  So the
narrowest windows are those that start or end within a period of where a segment begins or ends, to within
twice what departures of one phase spread by (F26 in docs/mathematics.md); exactly, if nothing departs.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from geodim.engine.kernels import lines, patterns
from geodim.engine.kernels.counters import WINDOWS
from geodim.engine.kernels.glances import different_gaps
from geodim.engine.skeleton import phase_slope

if TYPE_CHECKING:
    from numpy.typing import NDArray

LONGEST = 64  # the longest period
AHEAD = (4 * LONGEST, LONGEST)  # values in which a period is looked for: many, or fewer in a short segment
MOST_PLACES = 384  # starts, and as many ends, whose windows are tried
MOST_STRAYS = 16  # values that belong to no segment
SAMPLES = 3  # stretches that are checked first, to see whether a column may consist of segments


@dataclass(frozen=True)
class Segmented:
    """A column of segments, solved: widths of windows that exceed the narrowest by ``loose`` at most."""

    widths: NDArray[np.float64]
    loose: float
    segments: list[tuple[int, int, int]]  # first place, place past the last, period

    @classmethod
    def of(cls, l: NDArray[np.float64], n: int, within: float) -> Segmented | None:
        """Solve n ascending values that repeat to ``within`` this much; None if they do not, or not for long.

        If ``within`` is 0, their differences must be exact, and so is the result.
        """
        segments = segments_of(l[:n], within)
        if segments is None:
            return None
        period = math.lcm(*(period for _, _, period in segments))
        inner = [(first, stop, p) for first, stop, p in segments if stop - first > 2 * period]
        places = np.ones(n, np.bool_)
        for first, stop, _ in inner:
            places[first + period : stop - period] = False
        tried = np.flatnonzero(places)
        if tried.size > MOST_PLACES or not inner:
            return None
        loose = 0.0
        if within > 0.0:
            spread = 2.0 * max(phase_spread(l[first:stop], p) for first, stop, p in inner)
            loose = (spread + math.ulp(float(l[n - 1] - l[0]))) * (1.0 + 2.0**-40)
        widths = np.empty(n)
        patterns.narrowest_of_some(l, -l[n - 1 :: -1], n, tried, (n - 1 - tried)[::-1].copy(), widths)
        # Phi never falls, so that what bounds it further on bounds it here.
        np.minimum.accumulate(widths[::-1], out=widths[::-1])
        return cls(widths, loose, segments)

    def solve(
        self, l: NDArray[np.float64], n: int, first: int, stop: int,  # noqa: ARG002 - all is known
        known: NDArray[np.float64], skip: bool,  # noqa: ARG002
        phi: NDArray[np.float64], work: NDArray[np.int64],
    ) -> tuple[NDArray[np.int64], int]:  # fmt: skip
        """Solve the sizes d in [first, stop); return the ranges that were filled, and their number."""
        phi[first:stop] = self.widths[first:stop]
        work[WINDOWS] += stop - first
        return np.array([[first, stop]], np.int64), 1


def may_be_segments(l: NDArray[np.float64], n: int, within: float) -> bool:
    """Return whether most of some stretches have few different gaps, as any stretch that repeats has."""
    if n < AHEAD[0]:
        return False
    few = 0
    for at in range(SAMPLES):
        first = at * (n - AHEAD[0]) // (SAMPLES - 1)
        few += different_gaps(l, first, AHEAD[0], 2.0 * within) < LONGEST
        if 2 * (at + 1 - few) > SAMPLES:
            return False
    return True


def segments_of(values: NDArray[np.float64], within: float) -> list[tuple[int, int, int]] | None:
    """Return the first place, the place after the last, and the period of each segment; None if too many."""
    segments: list[tuple[int, int, int]] = []
    at = places = strays = 0
    while at < values.size:
        period = period_at(values[at : at + AHEAD[0]], within) or period_at(
            values[at : at + AHEAD[1]], within
        )
        stop = repeats_until(values, at, period, within) if period else at + 1
        segments.append((at, stop, max(period, 1)))
        places += min(2 * period, stop - at)
        strays += 0 if period else 1
        if places > MOST_PLACES or strays > MOST_STRAYS:
            return None
        at = stop
    return segments


def period_at(values: NDArray[np.float64], within: float) -> int:
    """Return the least period of some values, or 0 if there is none."""
    return int(patterns.nearly_exact_period(values, min(LONGEST, values.size // 4), within))


def repeats_until(values: NDArray[np.float64], first: int, period: int, within: float) -> int:
    """Return where the values stop repeating with this period."""
    low, high = math.inf, -math.inf
    at, count = first + period, AHEAD[0]
    while at < values.size:
        steps = values[at : at + count] - values[at - period : at - period + min(count, values.size - at)]
        lowest = np.minimum(np.minimum.accumulate(steps), low)
        highest = np.maximum(np.maximum.accumulate(steps), high)
        beyond = np.flatnonzero(highest - lowest > within)
        if beyond.size:
            return at + int(beyond[0])
        low, high = float(lowest[-1]), float(highest[-1])
        at += steps.size
        count *= 2
    return values.size


def phase_spread(values: NDArray[np.float64], period: int) -> float:
    """Return how far departures from a line differ within a phase at most, including their own error."""
    size = values.size
    one_phase = np.ascontiguousarray(values[::period])
    slope = float(lines.fitted_slope(one_phase, 0, one_phase.size)) / period
    u = np.empty(size)
    lines.departures(values, size, 0, np.array([slope]), u)
    u -= phase_slope(u, period) * np.arange(size)
    widest, span = float(np.abs(u).max()), float(values[-1] - values[0])
    spread = max(float(np.ptp(u[phase::period])) for phase in range(period))
    return spread + 2.0**-48 * (widest + 2.0**-25 * (span + slope * size))
