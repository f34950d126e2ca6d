"""What a few values of a column tell about it, before anything looks at all of them.

Python asks these questions about every column.  In NumPy each takes a dozen calls under the interpreter's
lock, for which many threads would wait at the same time.
"""

from __future__ import annotations

import numpy as np

from geodim.compiled import njit
from geodim.engine.kernels._bounds import require


@njit(nogil=True, cache=True)
def sampled_values(column, stride, found):
    """Collect the distinct values among every ``stride``-th one of ``column`` into ``found``.

    Returns their number, or -1 if there is no room for all of them.

    Parameters
    ----------
    column : (n,) floats, in any order
    stride : int, at least 1
    found : (m,) of the same type, written
    """
    require(stride > 0, "sampled_values: stride")
    count = 0
    for i in range(0, column.size, stride):
        value = column[i]
        at = 0
        while at < count and found[at] != value:
            at += 1
        if at == count:
            if count == found.size:
                return -1
            found[count] = value
            count += 1
    return count


@njit(nogil=True, cache=True)
def equal_neighbours(l, places):
    """Return at how many of some places the next value is the same.

    Parameters
    ----------
    l : (n,) float64, ascending
    places : (m,) integers, ascending, each at most n - 2
    """
    require(places.size == 0 or (places[0] >= 0 and places[-1] < l.size - 1), "equal_neighbours: places")
    equal = 0
    for at in places:
        equal += 1 if l[at] == l[at + 1] else 0
    return equal


@njit(nogil=True, cache=True)
def has_even_part(l, places, parts, few, share):
    """Return whether values of some part stay close to the line through its ends.

    Parameters
    ----------
    l : (n,) float64, ascending
    places : (m parts + 1,) integers, ascending: m steps in each part
    parts : int
    few : float64, spacings; closer to the line than this
    share : float64, what the width of a part is multiplied by for the spacing of its values
    """
    require(places.size > 1 and parts > 0 and (places.size - 1) % parts == 0, "has_even_part: parts")
    require(places[0] >= 0 and places[-1] < l.size, "has_even_part: places")
    steps = (places.size - 1) // parts
    for part in range(parts):
        begin, end = l[places[part * steps]], l[places[(part + 1) * steps]]
        low, high = np.inf, -np.inf
        for step in range(steps):
            departure = l[places[part * steps + step]] - (begin + (end - begin) * (step / steps))
            low, high = min(low, departure), max(high, departure)
        if high - low < few * ((end - begin) * share):
            return True
    return False


@njit(nogil=True, cache=True)
def even_windows(l, places, size, few):
    """Return at how many of some places the next ``size`` steps stay close to the line through their ends.

    Parameters
    ----------
    l : (n,) float64, ascending
    places : (m,) integers, ascending, each less than n - size
    size : int
    few : float64, spacings; closer to the line than this
    """
    require(size > 0, "even_windows: size")
    require(places.size == 0 or (places[0] >= 0 and places[-1] < l.size - size), "even_windows: places")
    even = 0
    for at in places:
        begin, spacing = l[at], (l[at + size] - l[at]) / size
        low, high = 0.0, 0.0
        for step in range(1, size):
            departure = l[at + step] - (begin + spacing * step)
            low, high = min(low, departure), max(high, departure)
        even += 1 if high - low < few * spacing else 0
    return even


@njit(nogil=True, cache=True)
def different_gaps(l, first, count, within):
    """Return how many different gaps there are between ``count`` neighbours, besides the smallest.

    Gaps are different if they lie more than ``within`` apart, in their order.

    Parameters
    ----------
    l : (n,) float64, ascending
    first, count : int, the first of the neighbours, and how many there are
    within : float64
    """
    require(first >= 0 and 0 < count <= l.size - first, "different_gaps: l")
    gaps = np.empty(count)
    for i in range(count - 1):
        gap, at = l[first + i + 1] - l[first + i], i
        while at > 0 and gaps[at - 1] > gap:
            gaps[at] = gaps[at - 1]
            at -= 1
        gaps[at] = gap
    different = 0
    for i in range(count - 2):
        different += 1 if gaps[i + 1] - gaps[i] > within else 0
    return different
