"""What a column would be without its noise: a line, with jumps, and a pattern that repeats.

A column that stays close to a line departs from it by a pattern of period p, m[i mod p], and by noise, u_i.
So a window of size d is at least c d + min over r of (m[(r + d) mod p] - m[r]) wide, and u_right - u_left
more (F25 in docs/mathematics.md).  Any m makes that true; one that leaves little noise makes it tell much.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

JUMP = 16.0  # times the usual gap, or more
MOST_JUMPS = 32
SAMPLES = 4096  # gaps that tell the usual one
LONGEST = 512  # the longest period that is sought,
RARE = 2048  # in columns of at least so many values for each of its phases,
SHORT, ENOUGH = 64, 64  # or a short one, in columns of so many
STRETCHES, STRETCH = 5, 8192  # in which a period shows, and how many values they have at most
REPEATS = 16  # in every stretch
SMALLEST = 2.0**-1022  # normal number
LIKE = 1.25  # squares that are larger by less than this are as good as the least


def jumps_of(l: NDArray[np.float64], n: int) -> NDArray[np.int64]:
    """The places of values that are far from the one before, as after a pause; none if there are too many."""
    gaps = np.diff(l[:n])
    most = JUMP * float(np.median(gaps[:: max(gaps.size // SAMPLES, 1)]))
    places = 1 + np.flatnonzero(gaps > most)
    return places if places.size <= MOST_JUMPS else places[:0]


def widest_between(jumps: NDArray[np.int64], n: int) -> tuple[int, int]:
    """The longest stretch without jumps."""
    edges = np.concatenate([[0], jumps, [n]])
    at = int(np.argmax(np.diff(edges)))
    return int(edges[at]), int(edges[at + 1])


def nearly_a_period(u: NDArray[np.float64], quantum: float = 0.0) -> int:
    """The least p after which departures change hardly more than after any other; 1 if they are noise.

    Changes of about half a quantum are as good as none: roundings have periods that tell nothing.
    """
    most = min(max(min(LONGEST, u.size // RARE), min(SHORT, u.size // ENOUGH)), STRETCH // REPEATS)
    if most < 2:
        return 1
    length = min(STRETCH, u.size)
    changes = []
    for first in np.linspace(0, u.size - length, STRETCHES).astype(int).tolist():
        stretch = u[first : first + length]
        scale = max(float(np.abs(stretch).max()), SMALLEST)  # squares neither vanish nor overflow
        stretch = stretch / scale
        step = min(0.5 * quantum / scale, 1.0)
        changes.append([max(_change(stretch, p), step * step) for p in range(1, most + 1)])
        if len(changes) == 1 and changes[0][0] <= LIKE * min(changes[0]):
            break  # most columns repeat nothing, as one stretch tells
    squares = np.median(changes, axis=0)
    return 1 + int(np.argmax(squares <= LIKE * float(squares.min())))


def _change(u: NDArray[np.float64], p: int) -> float:
    """The mean square of what departures change by after p steps."""
    change = u[p:] - u[:-p]
    return float(change @ change) / change.size


def phase_slope(u: NDArray[np.float64], period: int) -> float:
    """The slope of one phase, by least squares.

    The line that is closest to all values is not quite that of a pattern, which begins in one phase and ends
    in another.
    """
    at = np.arange(0, u.size, period, dtype=np.float64)
    at -= at.mean()
    return float(at @ u[::period]) / float(at @ at)


def phase_means(u: NDArray[np.float64], period: int) -> NDArray[np.float64]:
    """The mean departure of every phase."""
    return np.array([u[phase::period].mean() for phase in range(period)])


def least_rise(means: NDArray[np.float64]) -> NDArray[np.float64]:
    """How much the pattern rises over d steps, at least, by d modulo its period."""
    return np.array([(np.roll(means, -d) - means).min() for d in range(means.size)])
