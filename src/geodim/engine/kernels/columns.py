"""Small passes over one sorted column: lattice, majority run, first rejection, merging of results."""

from __future__ import annotations

import math

import numpy as np

from geodim.compiled import njit
from geodim.engine.kernels._bounds import ranges_fit, require
from geodim.engine.kernels.counters import note_range
from geodim.engine.kernels.pyramid import BASE, BASE_SHIFT
from geodim.engine.kernels.tiles import PADDING, evaluate_tile


@njit(nogil=True, cache=True)
def lattice_quantum(l, n, grain, single):
    """Return the largest power of two times ``grain`` that divides every value; 0 if ``grain`` does not.

    The smallest magnitudes have the finest fractions, so they are checked first.  If all values are float32,
    that mostly suffices: the others are multiples of the last place of the least magnitude among them.

    Parameters
    ----------
    l : (n or more,) float64, ascending
    n : int, points
    grain : float64, a power of two in the units of the column
    single : bool, whether all values are float32
    """
    require(l.size >= n, "lattice_quantum: l")
    low, high = 0, n
    while low < high:
        middle = (low + high) >> 1
        if l[middle] < 0.0:
            low = middle + 1
        else:
            high = middle
    sums = np.empty(4096)
    first, stop = max(low - 512, 0), min(low + 512, n)
    misses, bits = multiples(l, first, stop, grain, sums)
    quantum = grain * np.float64(bits & -bits)
    if single and misses == 0 and bits != 0:
        beyond = min(-l[first - 1] if first > 0 else np.inf, l[stop] if stop < n else np.inf)
        if beyond == np.inf or math.ldexp(1.0, math.frexp(beyond)[1] - 24) >= quantum:
            return quantum
    for first in range(0, n, sums.size):
        if misses > 0:
            return 0.0
        misses, some = multiples(l, first, min(first + sums.size, n), grain, sums)
        bits |= some
    return 0.0 if misses > 0 else grain * np.float64(bits & -bits)


@njit(nogil=True, cache=True)
def multiples(l, first, stop, grain, sums):
    """Return how many values are no multiples of ``grain``, and the bits that occur in any quotient.

    A value is added to a number whose last place is the grain.  This rounds it to a multiple, and the last
    bits of the sum are those of the quotient.  Unlike a conversion to integers, this is vectorised on all
    processors.

    ``l`` is (n,) float64, less than 2**51 grains; ``sums`` (stop - first,) scratch; the bits are an int64.
    """
    misses = 0
    bits = np.int64(0)
    count = stop - first
    values, places = l[first:stop], sums.view(np.int64)
    anchor = 1.5 * 2.0**52 * grain
    for i in range(count):
        sums[i] = values[i] + anchor
    for i in range(count):
        misses += 1 if sums[i] - anchor != values[i] else 0
    for i in range(count):
        bits |= places[i]
    return misses, bits & np.int64((1 << 50) - 1)


@njit(nogil=True, cache=True)
def median_run(l, n):
    """Return the half-open range of positions whose values equal the median.

    Only this run can be a majority.

    Parameters
    ----------
    l : (n or more,) float64, ascending
    n : int, points, at least 1
    """
    require(0 < n <= l.size, "median_run: l")
    value = l[n >> 1]
    low, high = 0, n >> 1
    while low < high:
        middle = (low + high) >> 1
        if l[middle] < value:
            low = middle + 1
        else:
            high = middle
    first = low
    low, high = n >> 1, n
    while low < high:
        middle = (low + high) >> 1
        if l[middle] <= value:
            low = middle + 1
        else:
            high = middle
    return first, low


@njit(nogil=True, cache=True)
def one_sided(l, n, first, stop, phi):
    """Write phi of a column whose majority run [first, stop) lies at one end.

    Each window contains the run and grows away from it.

    Parameters
    ----------
    l : (n or more,) float64, ascending
    n : int, points
    first, stop : int, the positions of the run; it begins at 0 or ends at n
    phi : (n,) float64 over d, written
    """
    require(l.size >= n, "one_sided: l")
    require(phi.size >= n, "one_sided: phi")
    require(0 <= first < stop <= n and (first == 0 or stop == n), "one_sided: the run")
    weight = stop - first
    for extra in range(1, n - weight + 1):
        if first == 0:
            phi[weight - 1 + extra] = l[stop - 1 + extra] - l[0]
        else:
            phi[weight - 1 + extra] = l[n - 1] - l[first - extra]


@njit(nogil=True, cache=True)
def beaten_at(l, n, d_first, d_last, step, floor, guess):
    """Return whether some window of the gap's last size is narrower than ``floor``, or 0; and its start.

    A width of 0 attains nothing, even where nothing has been reached yet.  Starts near ``guess`` are tried
    first, then every ``step``-th one.

    ``l`` is (n,) float64, ascending; ``floor`` is a width, ``step`` and ``guess`` are positions.
    """
    if d_last >= n:
        return False, guess
    nearby = max((d_last - d_first) >> 1, 1)
    for shift in range(-32, 33):
        start = guess + shift * nearby
        if 0 <= start < n - d_last:
            width = l[start + d_last] - l[start]
            if width < floor or width == 0.0:
                return True, start
    for start in range(0, n - d_last, step):
        width = l[start + d_last] - l[start]
        if width < floor or width == 0.0:
            return True, start
    return False, guess


@njit(nogil=True, cache=True)
def open_gaps(l, n, shift, known, skip, is_open):
    """Mark the gaps of 2**shift sizes in which this column may still exceed what others reached.

    If some window of a gap's last size is narrower than ``known`` at its first size, phi stays below the
    others in the whole gap (F10).  The first gap is tested in parts that grow by an eighth, without the
    smallest sizes if those are left out.  Returns the number of open gaps.

    Parameters
    ----------
    l : (n + PADDING,) float64, ascending, then infinite
    n : int, points
    shift : int, a gap has 2**shift sizes
    known : (n,) float64 over d, never falling
    skip : bool, whether sizes below BASE are left out
    is_open : (gaps,) bool, written
    """
    size = 1 << shift
    count = (n + size - 1) >> shift
    require(n > 0 and l.size >= n + PADDING, "open_gaps: l")
    require(known.size >= n, "open_gaps: known")
    require(is_open.size >= count, "open_gaps: is_open")
    total = 0
    guess = n >> 1
    for g in range(count - 1, 0, -1):
        first = g << shift
        last = min(first + size, n) - 1
        beaten, guess = beaten_at(l, n, first, last, size, known[first], guess)
        is_open[g] = not beaten
        total += 0 if beaten else 1
    beaten = total == 0  # a column with another open gap is solved anyway
    last = min(size, n) - 1
    while beaten and last >= BASE:
        first = max(last - (last >> 3), BASE)
        beaten, guess = beaten_at(l, n, first, last, max(size >> 3, 1), known[first], guess)
        last = first - 1
    if beaten and not skip:
        beaten = smallest_beaten(l, n, min(last + 1, BASE), known)
    is_open[0] = not beaten
    return total + (0 if beaten else 1)


@njit(cache=True)
def cut_gaps(is_open, most, pieces):
    """Cut the open gaps into pieces of at most ``most`` neighbours; return the number of pieces.

    Parameters
    ----------
    is_open : (gaps,) bool
    most : int
    pieces : (gaps, 2) int64, written: the first gap of each, and the one past its last
    """
    require(pieces.shape[0] >= is_open.size and pieces.shape[1] == 2, "cut_gaps: pieces")
    count = 0
    for gap in range(is_open.size):
        if not is_open[gap]:
            continue
        if count > 0 and pieces[count - 1, 1] == gap and gap - pieces[count - 1, 0] < most:
            pieces[count - 1, 1] = gap + 1
        else:
            pieces[count, 0], pieces[count, 1] = gap, gap + 1
            count += 1
    return count


@njit(nogil=True, cache=True)
def smallest_beaten(l, n, d_stop, known):
    """Return whether every size in [1, d_stop) has a window below ``known``.

    ``l`` is (n,) float64, ascending, padded; ``known`` (n,) float64 over d.
    """
    best = np.full(BASE, np.inf)
    d0 = np.int64(0)
    for start in range(0, n, 1024):
        evaluate_tile(l, start, min(start + 1024, n), d0, best)
        beaten = True
        for d in range(1, d_stop):
            beaten = beaten and (best[d] < known[d] or best[d] == 0.0)  # a phi of 0 adds nothing
        if beaten:
            return True
    return False


@njit(nogil=True, cache=True)
def solve_plainly(l, n, d_first, d_stop, phi, ranges):
    """Evaluate every window, without bounds: for values so large that sums of them would overflow.

    Returns the number of ranges written.

    Parameters
    ----------
    l : (n + PADDING,) float64, ascending, then infinite
    n : int, points
    d_first, d_stop : int, half-open range of sizes d
    phi : (d_stop or more,) float64 over d, written
    ranges : (m, 2) int64, half-open ranges of d, written
    """
    require(l.size >= n + PADDING, "solve_plainly: l")
    require(d_first >= 0 and d_stop <= phi.size, "solve_plainly: phi")
    best = np.empty(BASE)
    for g in range(d_first >> BASE_SHIFT, ((d_stop - 1) >> BASE_SHIFT) + 1):
        d0 = g << BASE_SHIFT
        best[:] = np.inf
        evaluate_tile(l, np.int64(0), max(n - d0, 0), d0, best)
        for d in range(max(d0, d_first), min(d0 + BASE, d_stop)):
            phi[d] = best[d - d0]
    return note_range(ranges, np.int64(0), d_first, d_stop)


@njit(cache=True)
def merge(phi, ranges, n_ranges, column, best, owner):
    """Raise the result to one column's phi elementwise; the lowest column index owns a tie.

    It is called under a lock, so it also keeps the interpreter's lock: threads that wait for both take turns
    slowly.  Where there is much to merge, nobody else could do anything meanwhile; see `merge_strip`.

    Parameters
    ----------
    phi : (n,) float64 over d, of this column
    ranges : (m, 2) int64, half-open ranges of d; the first n_ranges count
    n_ranges : int
    column : int, the index of this column
    best : (n,) float64 over d, raised in place
    owner : (n,) int32 over d, column indices, written where best is raised
    """
    _merge(phi, ranges, n_ranges, column, best, owner, 0, phi.size)


@njit(nogil=True, cache=True)
def merge_strip(phi, ranges, n_ranges, column, best, owner, first, stop):
    """Do the same as `merge` at the sizes d in [first, stop) only, without keeping the interpreter's lock.

    Parameters
    ----------
    phi, ranges, n_ranges, column, best, owner
        As for `merge`.
    first, stop : int
    """
    _merge(phi, ranges, n_ranges, column, best, owner, first, stop)


@njit(nogil=True, cache=True)
def _merge(phi, ranges, n_ranges, column, best, owner, first, stop):
    """Merge what lies in [first, stop), with or without the interpreter's lock."""
    require(ranges_fit(ranges, n_ranges, min(phi.size, best.size, owner.size)), "merge: ranges")
    for r in range(n_ranges):
        for d in range(max(ranges[r, 0], first), min(ranges[r, 1], stop)):
            if phi[d] > best[d]:
                best[d] = phi[d]
                owner[d] = column
            elif phi[d] == best[d] and column < owner[d]:
                owner[d] = column


@njit(nogil=True, cache=True, inline="always")
def add_run(phi, owner, scale, first):
    """Add up phi / scale from ``first`` on, from left to right, as far as the owner stays the same.

    Returns the sum, the largest phi, and where the next run begins; arguments as in `share_sums`.
    """
    total, largest, i = 0.0, 0.0, first
    while i < phi.size and owner[i] == owner[first]:
        total += phi[i] / scale
        largest = max(largest, phi[i])
        i += 1
    return total, largest, i


@njit(nogil=True, cache=True)
def share_sums(phi, owner, scale, first, sums, attains):
    """Add each phi / scale to the sum of the column that owns it, run by run; negative owners own nothing.

    Columns that own a phi above 0 are marked in ``attains``, since phi / scale may underflow.

    Parameters
    ----------
    phi : (m,) float64 over d
    owner : (m,) integers over d, column indices
    scale : float64, what phi is divided by
    first : int, the column of sums[0]
    sums : (columns,) float64, added to
    attains : (columns,) bool, True is written
    """
    require(owner.size >= phi.size, "share_sums: owner")
    require(attains.size >= sums.size, "share_sums: attains")
    i = 0
    while i < phi.size:
        column = owner[i]
        total, largest, i = add_run(phi, owner, scale, i)
        if column >= 0 and largest > 0.0:
            require(first <= column < first + sums.size, "share_sums: sums")
            sums[column - first] += total
            attains[column - first] = True


@njit(nogil=True, cache=True)
def run_sums(phi, owner, scale, first, stop, columns, totals):
    """Add up phi / scale over each run of sizes with one owner that begins in [first, stop).

    A run may end later.  Each is added up from left to right, as by `share_sums`.  Returns the number of
    those that belong to a column and have a phi above 0.

    Parameters
    ----------
    phi : (m,) float64 over d
    owner : (m,) integers over d, column indices
    scale : float64, what phi is divided by
    first, stop : int
    columns : (stop - first,) integers, written: the owner of each run
    totals : (stop - first,) float64, written
    """
    require(phi.size == owner.size and 0 <= first <= stop <= phi.size, "run_sums: phi")
    require(columns.size >= stop - first and totals.size >= stop - first, "run_sums: totals")
    count = 0
    i = first
    while 0 < i < stop and owner[i] == owner[i - 1]:  # part of a run that begins earlier
        i += 1
    while i < stop:
        column = owner[i]
        total, largest, i = add_run(phi, owner, scale, i)
        if column >= 0 and largest > 0.0:
            columns[count] = column
            totals[count] = total
            count += 1
    return count


@njit(cache=True)
def merge_two(phi, ranges, n_ranges, column, best, holder, tied, second, runner):
    """Merge one column's phi into the best and second best; among equal values the lower column comes first.

    Like `merge`, it keeps the interpreter's lock.  Column indices are -1 where there is no column; a phi of 0
    takes no place.  Each size must be merged only once per column, or the column would tie with itself.

    Parameters
    ----------
    phi, ranges, n_ranges, column
        As for `merge`.
    best, second : (n,) float64 over d, raised in place
    holder, runner : (n,) int32 over d, column indices, written
    tied : (n,) int32 over d, how many columns attain ``best``, written
    """
    room = min(phi.size, best.size, holder.size, tied.size, second.size, runner.size)
    require(ranges_fit(ranges, n_ranges, room), "merge_two: ranges")
    for r in range(n_ranges):
        for d in range(ranges[r, 0], ranges[r, 1]):
            value = phi[d]
            if value <= 0.0 or holder[d] == column or runner[d] == column:
                continue
            if value > best[d]:
                tied[d] = 1
            elif value == best[d]:
                tied[d] += 1
            if value > best[d] or (value == best[d] and column < holder[d]):
                second[d], runner[d] = best[d], holder[d]
                best[d], holder[d] = value, column
            elif value > second[d] or (value == second[d] and column < runner[d]):
                second[d], runner[d] = value, column
