"""Columns of a line, a pattern with a long period and noise, see `geodim.engine.kernels.phases`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from geodim.engine.alike import least_ahead
from geodim.engine.kernels import phases, straight
from geodim.engine.kernels.counters import N_COUNTERS
from geodim.engine.kernels.pyramid import BASE
from geodim.engine.skeleton import long_period, phase_means, phase_slope, repeated

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from geodim.engine.departures import Departures

MOST = 1 << 21  # points: all sizes are solved at once, which cannot be interrupted
ROUNDED = 2.0**-46  # of all that a slope amounts to: more than its roundings
SHORTEST = 9  # a shorter period is no part of a longer one that matters
PARTS = 4  # the longest quarter of all windows have few starts and ends: the quarters at both ends,
LEAST = 1  # and so on, as long as this many values of each phase are there,
FEW = 1 << 13  # or this many in all: then every window is evaluated


@dataclass(frozen=True)
class LongPattern:
    """A column with a long period, solved."""

    widths: NDArray[np.float64]
    work: NDArray[np.int64]
    loose: float = 0.0

    @classmethod
    def of(cls, l: NDArray[np.float64], n: int, line: Departures) -> LongPattern | None:
        """Solve n ascending values; None if their departures from a line are no long period and noise.

        Roundings of values must not matter.
        """
        if (
            n > MOST
            or 1 < line.means.size < SHORTEST
            or line.edges.size > 2
            or line.kinds.min() > line.finest
        ):
            return None
        departures = line.u + repeated(line.means, n)
        period = long_period(departures)
        if period == 0 or period >= line.u.size // PARTS:
            return None
        more = phase_slope(departures, period)
        departures -= more * np.arange(n)
        work = np.zeros(N_COUNTERS, np.int64)
        best, limits = np.empty(n + BASE), np.empty(n)
        first, inside = 1, n
        while True:
            least = PARTS * max(LEAST * period, FEW)
            if inside < least:
                break
            stop = n - inside // PARTS
            starts = of_phases(l, departures, 0, inside, period)
            ends = starts if inside == n else of_phases(l, departures, n - inside, n, period)
            ascending = starts[0]
            typical = float(np.median(ascending[:, -1] - ascending[:, ascending.shape[1] // 2]))
            if not phases.try_long_period(
                l, departures, n, *starts, *ends, line.slope + line.rest + more, first, stop, typical, best,
                limits, work,
            ):  # fmt: skip
                return None
            first = stop
            inside //= PARTS
        if first == 1:
            return None
        means = phase_means(departures, period)
        noise = departures - repeated(means, n)
        (tops, floors), quanta = np.zeros((2, line.tops.size)), line.quanta.copy()
        straight.block_departures(
            noise, n, line.offsets, line.counts, tops, floors, quanta, np.empty(quanta.size, np.int32)
        )
        rise = np.empty(period)
        phases.least_rises(means, rise)
        if not phases.finish_long_period(
            l, noise, least_ahead(noise), n, line.slope, line.rest + more, rise,
            2.0 * line.margin + ROUNDED * abs(more) * n, line.offsets, line.counts, tops, floors,
            line.quanta, line.beyond, first, limits, best, work,
        ):  # fmt: skip
            return None
        return cls(best[:n], work)

    def solve(
        self, l: NDArray[np.float64], n: int, first: int, stop: int,  # noqa: ARG002 - all is known
        known: NDArray[np.float64], skip: bool,  # noqa: ARG002
        phi: NDArray[np.float64], work: NDArray[np.int64],
    ) -> tuple[NDArray[np.int64], int]:  # fmt: skip
        """Solve the sizes d in [first, stop); return the ranges that were filled, and their number."""
        phi[first:stop] = self.widths[first:stop]
        work += self.work * (stop - first) // n
        return np.array([[first, stop]], np.int64), 1


def of_phases(
    l: NDArray[np.float64], u: NDArray[np.float64], start: int, stop: int, period: int
) -> tuple[NDArray[np.float64], NDArray[np.int32], NDArray[np.float64]]:
    """Return departures from ``start`` to ``stop`` by phase, ascending, with their turns and values.

    The phase of a position is itself modulo the period, and its turn the number of periods before it.  Where
    a phase has fewer than others, a value is repeated.
    """
    rows = -(-(stop - start) // period)
    first = (start + (np.arange(period) - start) % period)[:, np.newaxis]
    places = first + period * np.arange(rows)
    places -= period * (places >= stop)
    places = first + period * np.argsort(u[places], axis=1)
    places -= period * (places >= stop)
    return u[places], (places // period).astype(np.int32), l[places]
