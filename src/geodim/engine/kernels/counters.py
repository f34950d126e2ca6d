"""What the window kernels report: counters of the work done, and the ranges of sizes they filled."""

from __future__ import annotations

from geodim.compiled import njit
from geodim.engine.kernels._bounds import require

TESTS, WINDOWS, LEAVES, REJECTED, CLOSED = 0, 1, 2, 3, 4
N_COUNTERS = 5
TEST_LOOKS = 32  # windows, of 0.1 to 0.2 ns, in the time in which most methods test a block


@njit(nogil=True, cache=True)
def note_range(ranges, count, first, stop):
    """Append [first, stop) to ``ranges``, or extend the last range if they touch.

    Returns the number of ranges.  ``ranges`` is (m, 2) int64, half-open ranges of d, of which the first
    ``count`` are filled.
    """
    if count > 0 and ranges[count - 1, 1] == first:
        ranges[count - 1, 1] = stop
        return count
    require(0 <= count < ranges.shape[0], "note_range: more intervals than there is room for")
    ranges[count, 0] = first
    ranges[count, 1] = stop
    return count + 1
