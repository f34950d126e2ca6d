"""What a column would be without its noise: a line, with jumps, and a pattern that repeats.

A column that stays close to a line departs from it by a pattern of period p, m[i mod p], and by noise, u_i.
So a window of size d is at least c d + min over r of (m[(r + d) mod p] - m[r]) + u_right - u_left wide (F25
in docs/mathematics.md).  This holds for any m; the less noise m leaves, the sharper the bound.
"""

from __future__ import annotations

import math
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from geodim.engine.kernels import lines, patterns
from geodim.engine.kernels.pyramid import BASE

if TYPE_CHECKING:
    from numpy.typing import NDArray

NOISE_BITS = 40  # anything larger than 2^-40 of the largest value is no rounding of float64
JUMP = 16.0  # times the usual gap, or more
TWICE, FEW = 2.0, 4  # or the fourth largest of some gaps, twice
MOST_JUMPS = 32
SAMPLES = 4096  # gaps from which the usual gap is taken
LONGEST = 512  # the longest period that is sought,
RARE = 2048  # in columns of at least so many values for each of its phases,
SHORT, ENOUGH = 64, 64  # or a short one, in columns of so many
STRETCHES, STRETCH = 5, 8192  # in which a period shows, and how many values they have at most
REPEATS = 16  # in every stretch
STRETCH_PARTS, LEAST_PARTS = 64, 4  # of a column, and those that a stretch with a line of its own has
SAME_SLOPE, SAME_SPACINGS = 0.01, 8.0  # by how much slopes may differ, and parts by so many spacings
MOST_STRETCHES, MOSTLY = 4, 0.75  # and which share of the column they are
PHASES = 64  # the longest period of which all phases are told apart; a long period is longer,
FAR, FAR_REPEATS, FAR_STRETCH = 5000, 10, 1 << 16  # up to this, in so many repeats; this many values show it
SMALLEST = 2.0**-1022  # normal number
CANCELLED = 2.0**-20  # of the squares themselves: what is less is not well known as a difference
LIKE = 1.25  # squares that are larger by less than this are as good as the least


def jumps_of(l: NDArray[np.float64], n: int) -> NDArray[np.int64]:
    """Return the places of values that lie far from the one before, as after a pause; none if too many."""
    gaps = np.diff(l[:n])
    some = np.sort(gaps[:: max(gaps.size // SAMPLES, 1)])
    most = min(JUMP * float(some[some.size // 2]), TWICE * float(some[-min(FEW, some.size)]))
    places = 1 + np.flatnonzero(gaps > most)
    return places if places.size <= MOST_JUMPS else places[:0]


def widest_between(jumps: NDArray[np.int64], n: int) -> tuple[int, int]:
    """Return the longest stretch without jumps, as its first place and the place after its last."""
    edges = np.concatenate([[0], jumps, [n]])
    at = int(np.argmax(np.diff(edges)))
    return int(edges[at]), int(edges[at + 1])


def stretches_of(l: NDArray[np.float64], n: int) -> list[int]:
    """Return where stretches begin and end that have lines of their own; nothing if a column has no such.

    Most of the column is in parts whose neighbours have nearly the same slope.
    """
    if n < STRETCH_PARTS * STRETCH_PARTS:
        return []
    places = np.linspace(0, n - 1, STRETCH_PARTS + 1).astype(np.intp)
    slopes = np.diff(l[places]) / np.diff(places)
    same = SAME_SLOPE + SAME_SPACINGS * STRETCH_PARTS / n
    runs: list[tuple[int, int]] = []  # of parts
    begin = 0
    for at in range(1, STRETCH_PARTS + 1):
        if at == STRETCH_PARTS or abs(slopes[at] - slopes[begin]) > same * slopes[begin]:
            if at - begin >= LEAST_PARTS:
                runs.append((begin, at))
            begin = at
    inside = sum(stop - first for first, stop in runs)
    if not 2 <= len(runs) <= MOST_STRETCHES or inside < MOSTLY * STRETCH_PARTS:
        return []
    ends = [(int(places[first]), int(places[stop])) for first, stop in runs]
    edges = [0]
    for (first, stop), (after, last) in pairwise(ends):
        slope, next_slope = (l[stop] - l[first]) / (stop - first), (l[last] - l[after]) / (last - after)
        least, most = stop - n // STRETCH_PARTS, after + n // STRETCH_PARTS
        meet = 0.0
        if slope != next_slope:
            meet = ((l[after] - next_slope * after) - (l[first] - slope * first)) / (slope - next_slope)
        if not least <= meet <= most:  # there is a jump in between
            meet = least + 1 + int(np.argmax(np.diff(l[least : most + 1])))
        edges.append(int(meet))
    return [*edges, n] if all(one < other for one, other in pairwise([*edges, n])) else []


def is_noise(l: NDArray[np.float64], n: int, first: int, stop: int) -> bool:
    """Return whether values in a stretch depart from a line by more than roundings of float64."""
    magnitude = max(abs(float(l[0])), abs(float(l[n - 1])))
    slope = lines.fitted_slope(l, first, stop - first)
    noise = np.ptp(l[first:stop:BASE] - slope * np.arange(first, stop, BASE))
    return bool(float(noise) > math.ldexp(magnitude, -NOISE_BITS))


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
        step = min(0.5 * quantum / scale, 1.0)
        changes.append(np.maximum(mean_changes(stretch / scale, most), step * step))
        if len(changes) == 1 and _least_period(changes[0]) == 1:
            break  # most columns do not repeat, which one stretch shows
    return _least_period(np.median(changes, axis=0))


def long_period(u: NDArray[np.float64]) -> int:
    """Return the least p that is longer than `PHASES` and a period of the departures, or 0."""
    most, length = min(FAR, u.size // FAR_REPEATS), min(FAR_STRETCH, u.size)
    if most <= PHASES or length < 2 * most:
        return 0
    scale = max(float(np.abs(u).max()), SMALLEST)
    some = u[(u.size - length) // 2 :][:length] / scale
    near = mean_changes(some[:STRETCH], min(STRETCH // REPEATS, some.size // REPEATS))
    if float(near[near.size // 2 :].max()) <= LIKE * float(near[near.size // 2 :].min()):
        return 0  # noise
    squares = mean_changes(some, most)
    period = _least_period(squares)
    return period if period > PHASES else 0


def _least_period(squares: NDArray[np.float64]) -> int:
    """Return the least p after whose multiples departures change hardly more than after any other number.

    Only the larger numbers count, since neighbours may be alike for other reasons.
    """
    far = squares[squares.size // 2 :]
    return int(patterns.least_like(squares, LIKE * float(far.min())))


def mean_changes(u: NDArray[np.float64], most: int) -> NDArray[np.float64]:
    """Return the variance of the change of departures over 1, 2, ..., ``most`` steps.

    Not the mean square: the slope of a pattern is known only roughly before its period is.
    """
    size = 1 << (u.size + most - 1).bit_length()
    shifted = u - u.mean()
    products = np.fft.irfft(np.abs(np.fft.rfft(shifted, size)) ** 2, size)[1 : most + 1]
    squares = np.concatenate([[0.0], np.cumsum(shifted * shifted)])
    steps = np.arange(1, most + 1)
    total = np.concatenate([[0.0], np.cumsum(shifted)])
    drifts = (total[-1] - total[steps]) - total[u.size - steps]
    sums = squares[u.size - steps] + (squares[-1] - squares[steps]) - 2.0 * products
    sums -= drifts * drifts / (u.size - steps)
    for p in (1 + np.flatnonzero(sums < CANCELLED * squares[-1])).tolist():
        change = u[p:] - u[:-p]
        change -= change.mean()
        sums[p - 1] = float((change * change).sum())
    changes: NDArray[np.float64] = sums / (u.size - steps)
    return changes


def phase_slope(u: NDArray[np.float64], period: int) -> float:
    """Return the slope of one phase, by least squares.

    The line that is closest to all values is not quite that of a pattern, which begins in one phase and ends
    in another.
    """
    at = np.arange(0, u.size, period, dtype=np.float64)
    at -= at.mean()
    return float((at * u[::period]).sum()) / float((at * at).sum())


def phase_means(u: NDArray[np.float64], period: int) -> NDArray[np.float64]:
    """Return the mean departure of every phase."""
    if period <= PHASES:
        return np.array([u[phase::period].mean() for phase in range(period)])
    whole: NDArray[np.float64] = u[: u.size // period * period].reshape(-1, period).mean(axis=0)
    return whole


def repeated(means: NDArray[np.float64], n: int) -> NDArray[np.float64]:
    """Return n values of a pattern, as `numpy.resize` does, which is slow for short patterns."""
    return np.tile(means, -(-n // means.size))[:n]


def least_rise(means: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the least rise of the pattern over d steps, by d modulo its period."""
    return np.array([(np.roll(means, -d) - means).min() for d in range(means.size)])
