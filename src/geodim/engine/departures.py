"""How far the values of a column depart from a line, with or without a pattern that repeats.

This is what the solvers of straight columns begin with: `geodim.engine.alike.Straight` and
`geodim.engine.long_patterns.LongPattern`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from geodim.engine.kernels import lines, straight
from geodim.engine.kernels.pyramid import BASE
from geodim.engine.skeleton import (
    jumps_of,
    nearly_a_period,
    phase_means,
    phase_slope,
    repeated,
    widest_between,
)
from geodim.engine.zones import in_parts, zone_edges

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from numpy.typing import NDArray

FINE = 6  # quanta below 2^-6 of the residuals are ignored


@dataclass(frozen=True)
class Departures:
    """A column around a line; fields are as in `geodim.engine.kernels.straight.solve_straight`."""

    u: NDArray[np.float64]
    slope: float
    rest: float
    margin: float
    offsets: NDArray[np.int64]
    counts: NDArray[np.int64]
    tops: NDArray[np.float64]
    floors: NDArray[np.float64]
    quanta: NDArray[np.int32]
    beyond: NDArray[np.int32]
    means: NDArray[np.float64]
    edges: NDArray[np.int64]
    kinds: NDArray[Any]  # the quanta of base blocks, as exponents,
    finest: int  # and which of them are too fine to matter
    by_binade: bool  # whether any are not

    @classmethod
    def of(cls, l: NDArray[np.float64], n: int, stretches: Sequence[int] = (), at: int = 0) -> Departures:
        """Find the line of n ascending values, and take it out, with a pattern if there is one.

        The line is the one around the values between jumps; or, if there are ``stretches`` that have lines of
        their own, which begin and end at these places, the one around the stretch number ``at``.
        """
        offsets, counts = levels(n)
        total = int(counts.sum())
        jumps = jumps_of(l, n)
        first, stop = stretches[at : at + 2] if stretches else widest_between(jumps, n)
        slope = lines.fitted_slope(l, first, stop - first)
        u, (tops, floors) = np.empty(n), np.zeros((2, total + straight.FAMILY))
        quanta, beyond = np.empty(total, np.int32), np.empty(total, np.int32)
        lines.departures(l, n, 0, np.array([slope]), u)
        rest = straight.take_slope_out(u[first:stop].copy(), stop - first)
        u -= rest * np.arange(n)
        lines.lowest_bits(l.view(np.int64), n, quanta)
        quantum = math.ldexp(1.0, min(int(np.median(quanta[: counts[0]])), 1000))
        period = nearly_a_period(u[first:stop], quantum)
        if period > 1:
            more = phase_slope(u[first:stop], period)
            u -= more * np.arange(n)
            rest += more
        means = np.roll(phase_means(u[first:stop], period), first)
        if period > 1:
            u -= repeated(means, n)
        straight.block_departures(u, n, offsets, counts, tops, floors, quanta, beyond)
        span, widest = float(l[n - 1] - l[0]), max(float(tops[total - 1]), -float(floors[total - 1]))
        margin = 2.0**-48 * (widest + float(np.abs(means).max()) + 2.0**-25 * (span + slope * n))
        inside = slice(first // BASE, max(stop // BASE, first // BASE + 1))
        kinds, finest = kinds_of(quanta[: counts[0]], tops[inside] - floors[inside])
        by_binade = bool(np.any(kinds > finest))
        edges = zone_edges(l, n, [*jumps.tolist(), *stretches[1:-1]], by_binade)
        if not stretches:
            edges = in_parts(edges, u)
        return cls(
            u, slope, rest, margin, offsets, counts, tops, floors, quanta, beyond, means, edges, kinds,
            finest, by_binade,
        )  # fmt: skip


def levels(n: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return first position and number of blocks per level, from base blocks to one block of all n values."""
    sizes = [-(-n // BASE)]
    while sizes[-1] > 1:
        sizes.append(-(-sizes[-1] // (1 << lines.FAN_SHIFT)))
    counts = np.array(sizes, np.int64)
    return np.concatenate([[0], np.cumsum(counts)[:-1]]).astype(np.int64), counts


def kinds_of(quanta: NDArray[np.int32], spreads: NDArray[np.float64]) -> tuple[NDArray[Any], int]:
    """Return the quanta of blocks, raised to the finest one that matters, and that one.

    ``spreads`` says how far the residuals of blocks spread: much finer quanta do not matter.
    """
    spread = float(np.median(spreads))
    finest = math.frexp(spread)[1] - FINE if spread > 0.0 else -1074
    return np.maximum(quanta, finest), finest
