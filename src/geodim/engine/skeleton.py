"""What a column would be without its noise: a line, with jumps, and a pattern that repeats.

A column that stays close to a line departs from it by a pattern of period p, m[i mod p], and by noise, u_i.
So a window of size d is at least c d + min over r of (m[(r + d) mod p] - m[r]) + u_right - u_left wide (F25
in docs/mathematics.md).  This holds for any m; the less noise m leaves, the sharper the bound.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

JUMP = 16.0  # times the usual gap, or more
MOST_JUMPS = 32
SAMPLES = 4096  # gaps from which the usual gap is taken
LONGEST = 512  # the longest period that is sought,
RARE = 2048  # in columns of at least so many values for each of its phases,
SHORT, ENOUGH = 64, 64  # or a short one, in columns of so many
STRETCHES, STRETCH = 5, 8192  # in which a period shows, and how many values they have at most
REPEATS = 16  # in every stretch
SMALLEST = 2.0**-1022  # normal number
LIKE = 1.25  # squares that are larger by less than this are as good as the least


def jumps_of(l: NDArray[np.float64], n: int) -> NDArray[np.int64]:
    """Return the places of values that lie far from the one before, as after a pause; none if too many."""
    gaps = np.diff(l[:n])
    most = JUMP * float(np.median(gaps[:: max(gaps.size // SAMPLES, 1)]))
    places = 1 + np.flatnonzero(gaps > most)
    return places if places.size <= MOST_JUMPS else places[:0]


def widest_between(jumps: NDArray[np.int64], n: int) -> tuple[int, int]:
    """Return the longest stretch without jumps, as its first place and the place after its last."""
    edges = np.concatenate([[0], jumps, [n]])
    at = int(np.argmax(np.diff(edges)))
    return int(edges[at]), int(edges[at + 1])


def nearly_a_period(u: NDArray[np.float64], quantum: float = 0.0) -> int:
    """Return the least p after which departures change hardly more than after any other; 1 if they are noise.

    Changes of about half a quantum count as none, since the periods of roundings mean nothing.
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
            break  # most columns do not repeat, which one stretch shows
    squares = np.median(changes, axis=0)
    return 1 + int(np.argmax(squares <= LIKE * float(squares.min())))


def _change(u: NDArray[np.float64], p: int) -> float:
    """Return the mean square of the change of departures over p steps."""
    change = u[p:] - u[:-p]
    return float(change @ change) / change.size


def phase_slope(u: NDArray[np.float64], period: int) -> float:
    """Return the slope of one phase, by least squares.

    The line that is closest to all values is not quite that of a pattern, which begins in one phase and ends
    in another.
    """
    at = np.arange(0, u.size, period, dtype=np.float64)
    at -= at.mean()
    return float(at @ u[::period]) / float(at @ at)


def phase_means(u: NDArray[np.float64], period: int) -> NDArray[np.float64]:
    """Return the mean departure of every phase."""
    return np.array([u[phase::period].mean() for phase in range(period)])


def least_rise(means: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the least rise of the pattern over d steps, by d modulo its period."""
    return np.array([(np.roll(means, -d) - means).min() for d in range(means.size)])
