"""Alike columns that stay close to one line: jittered or rounded grids, ranks.

With one slope c for the whole column, windows differ only in how far their ends depart from the line through
the first value, u_i = l_i - l_0 - c i: a window is wider than c d by u_right - u_left.  So blocks need no
lines of their own, only their greatest and least departure, and a block of starts is bounded by one
subtraction.  If departures are noise, and quanta distinguish nothing, all windows between the most extreme
starts and ends are tried: every other window is wider than c d plus some number, and usually that settles a
size (F22).  Otherwise everything is as in `geodim.engine.kernels.alike`.
"""

from __future__ import annotations

import math

import numpy as np

from geodim.compiled import njit
from geodim.engine.kernels._bounds import require
from geodim.engine.kernels.alike import (
    CLASSES,
    FEW,
    FINER,
    LOOK_AGAIN,
    ROUNDINGS,
    lowered,
    mark_settled,
    narrower,
    seed,
)
from geodim.engine.kernels.counters import (
    CLOSED,
    LEAVES,
    N_COUNTERS,
    REJECTED,
    TEST_LOOKS,
    TESTS,
    WINDOWS,
    note_range,
)
from geodim.engine.kernels.joins import (
    MOST_WANTED,
    WANTED,
    first_guess,
    scratch_for,
    try_extremes,
)
from geodim.engine.kernels.ladders import require_ladder
from geodim.engine.kernels.lanes import (
    LANES,
    element,
    load,
    load_row,
    ones,
    reaching,
    smaller,
    splat,
    splat_row,
    store,
    trailing_zeros,
)
from geodim.engine.kernels.lines import FAN_SHIFT, NO_BIT, halves, require_lines
from geodim.engine.kernels.pyramid import BASE, BASE_SHIFT
from geodim.engine.kernels.smallest import solve_smallest
from geodim.engine.kernels.tiles import PADDING, evaluate_row, evaluate_tile

BATCH = 256  # gaps whose windows between extremes are tried together, more if there is a pattern
OFTEN, SELDOM = 5.0, 0.25  # looks of descents for each window that was tried: then more or fewer are tried,
FAMILY = 1 << 2 * FAN_SHIFT  # blocks that are descended from one two levels above
LOOK_TESTS = 8  # to look into a block of starts, which takes 50 to 150 ns, counts as so many tests,
HELPED = 0.8  # unless they are so many all the same


@njit(nogil=True, cache=True, counts_references=False)
def take_slope_out(u, n):
    """Remove the least-squares slope that is left in the departures, and return it.

    The slope of a line is a float, and over a long column its rounding error amounts to as much as that of
    the values.

    Parameters
    ----------
    u : (n,) float64, departures, changed in place
    n : int, points
    """
    require(u.size >= n, "take_slope_out: u")
    middle = 0.5 * (n - 1)
    products = 0.0
    squares = 0.0
    for i in range(n):
        x = i - middle
        products += x * u[i]
        squares += x * x
    rest = products / squares if squares > 0.0 else 0.0
    for i in range(n):
        u[i] -= rest * i
    return rest


@njit(nogil=True, cache=True, counts_references=False, fastmath={"nnan", "nsz"})
def block_departures(u, n, offsets, counts, tops, floors, quanta, beyond):
    """Write each block's greatest departure, the least of it and the next block, and the quanta likewise.

    Parameters
    ----------
    u : (n,) float64, departures
    n : int, points
    offsets, counts : (levels,) int64, first place and number of blocks of each level, the finest first
    tops, floors : (blocks of all levels + FAMILY,) float64, written; what is beyond is not looked at
    quanta : (blocks of all levels,) int32, exponents; given for the finest level, written for the others
    beyond : (blocks of all levels,) int32, the exponents of a block and the next together, written
    """
    require(u.size >= n, "block_departures: u")
    require_blocks(n, offsets, counts, tops, floors, quanta, beyond)
    for block in range(counts[0]):
        first = block << BASE_SHIFT
        high = u[first]
        low = u[first]
        for i in range(first, min(first + BASE, n)):
            high = max(high, u[i])
            low = min(low, u[i])
        tops[block], floors[block] = high, low
    for level in range(1, counts.size):
        below, here = offsets[level - 1], offsets[level]
        for block in range(counts[level]):
            high, low, least = -np.inf, np.inf, np.int64(NO_BIT)
            for child in range(block << FAN_SHIFT, min((block + 1) << FAN_SHIFT, counts[level - 1])):
                high = max(high, tops[below + child])
                low = min(low, floors[below + child])
                least = min(least, np.int64(quanta[below + child]))
            tops[here + block], floors[here + block], quanta[here + block] = high, low, least
    for level in range(counts.size):
        here = offsets[level]
        for at in range(here, here + counts[level]):
            beyond[at] = quanta[at]
            if at + 1 < here + counts[level]:
                floors[at] = min(floors[at], floors[at + 1])
                beyond[at] = min(quanta[at], quanta[at + 1])


@njit(nogil=True, cache=True, counts_references=False)
def require_blocks(n, offsets, counts, tops, floors, quanta, beyond):
    """Raise unless blocks are as `block_departures` needs them."""
    require_lines(n, offsets, counts, min(min(tops.size, floors.size) - FAMILY, quanta.size, beyond.size))


@njit(nogil=True, cache=True, counts_references=False)
def highest_level(counts):
    """Return the level at which a descent begins: by twos it leads to the finest, and it has few blocks."""
    level = 0
    while counts[level] > FAMILY:
        level += 2
    return level


@njit(nogil=True, cache=True, counts_references=False)
def descend_line(
    l, u, ahead, n, offsets, counts, tops, floors, quanta, beyond, d0, sizes, c, pattern, above, margin,
    stack, bounds, before, settled, best, work,
):  # fmt: skip
    """Lower ``best`` to the narrowest widths of sizes d0 .. d0 + sizes - 1, see `alike.descend`.

    ``above`` is by how much best[0] exceeds c d0; ``margin`` is how far the departures may be off.  Two
    levels are taken in one step, so that a block has FAMILY descendants, which are compared together with the
    bound of its own quantum: theirs may be coarser, and their bounds lower, but hardly ever are.
    """
    around = best[0]
    finest = -1075
    if around > 0.0:
        finest = math.frexp(around - np.nextafter(around, 0.0))[1] - 1 - FINER
    bounds[:] = np.nan
    off = abs(above) + 2.0**-25 * c * d0
    evaluated = 0
    tested = 0
    for e in range(sizes):  # to assign slices, Numba compiles a second of error messages
        before[e] = best[e]
    level = highest_level(counts)
    depth = np.int64(0)
    for block in range(min(counts[level], ((n - d0 - 1) >> (BASE_SHIFT + FAN_SHIFT * level)) + 1)):
        stack[depth] = (block << 5) | level
        depth += 1
    while depth > 0:
        depth -= 1
        level, block = stack[depth] & 31, stack[depth] >> 5
        shift = BASE_SHIFT + FAN_SHIFT * level
        left = offsets[level] + block
        kind = min(max(min(quanta[left], beyond[left + (d0 >> shift)]) - finest, 0), CLASSES - 1)
        if np.isnan(bounds[kind]):
            quantum = math.ldexp(1.0, int(finest + kind)) if kind > 0 else 0.0
            bound = narrower(best, settled, d0, sizes, around, c, pattern, quantum)
            if abs(bound) < np.inf:
                bound = (bound + above) + ROUNDINGS * (abs(bound) + off) + margin
            bounds[kind] = bound
        bound = bounds[kind]
        if floors[left + (d0 >> shift)] - tops[left] > bound:
            continue
        if level > 0:
            shift -= 2 * FAN_SHIFT
            first = block * FAMILY
            members = min(FAMILY, ((n - d0 - 1) >> shift) + 1 - first)
            left = offsets[level - 2] + first
            right = left + (d0 >> shift)
            limit = splat(bound)
            bits = reaching(limit, load(floors, right) - load(tops, left))
            bits |= reaching(limit, load(floors, right + LANES) - load(tops, left + LANES)) << LANES
            bits &= (1 << members) - 1
            tested += members >> 1  # together they take about half as long
            while bits:
                stack[depth] = ((first + trailing_zeros(bits)) << 5) | (level - 2)
                depth += 1
                bits &= bits - 1
            continue
        start = block << BASE_SHIFT
        tested += LOOK_TESTS
        bits = reaching(splat_row(bound), load_row(ahead, start + d0) - load_row(u, start))
        promising = ones(bits)
        work[WINDOWS] += promising * BASE
        if promising > FEW:
            evaluate_tile(l, start, min(start + BASE, n - d0), d0, best)
        elif bits:
            row = load_row(best, 0)
            while bits:
                i = start + trailing_zeros(bits)
                row = smaller(load_row(l, i + d0) - splat_row(element(l, i)), row)
                bits &= bits - 1
            store(best, 0, row)
        evaluated += 1
        if evaluated % LOOK_AGAIN == 0 and lowered(best, before, sizes):
            bounds[:] = np.nan
    work[TESTS] += tested


@njit(nogil=True, cache=True, counts_references=False, inline="always")
def gaps_together(period):
    """Return for how many gaps the windows between extremes are tried together."""
    return BATCH * min(max(period >> 2, 1), 10)


@njit(nogil=True, cache=True)
def solve_straight(
    l, mirrored, u, ahead, n, slope, rest, pattern, margin, offsets, counts, tops, floors, quanta, beyond,
    starts, ends, edges, kinds, trends, spreads, powers, means, firsts, out, levels, places, heights,
    end_firsts, end_out, end_levels, end_places, end_heights, state, d_first, d_stop, known, skip_smallest,
    phi, ranges, work,
):  # fmt: skip
    """Solve the sizes [d_first, d_stop) of one sorted column, d_first being a multiple of BASE (or 1).

    Returns the number of ranges; results are as in `gaps.solve_gaps`.

    Parameters
    ----------
    l : (n + PADDING,) float64, ascending, then infinite
    mirrored : (n,) float64, the negated values in reverse order
    u : (n,) float64, departures from the line through the first value, or what is left of them without a
        pattern, each off by less than a quarter of ``margin``
    ahead : (n + BASE,) float64, the least departure of every value and the BASE - 1 values after it, then
        infinite
    n : int, points
    slope, rest : float64, whose sum is the slope of the line
    pattern : (p,) float64, by d mod p: windows are at least this much wider than the slope and ``u`` imply
    margin : float64, in units of the column
    offsets, counts, tops, floors, quanta, beyond
        As `block_departures` fills them.
    starts, ends : (m,) int64, positions: windows of all sizes that start or end there are tried; ends are
        counted from the last value
    edges : (zones + 1,) int64, positions where zones begin and end, from 0 to n
    kinds : (zones,) int64, the quantum of each zone, the finest first
    trends, spreads : (zones,) float64, the slope of departures in a zone, and how far they spread around it
    powers : (quanta,) float64, the quanta, rising; 0 is none
    means : (p,) float64, the pattern that was taken out of ``u``, by phase
    firsts, out, levels, places, heights
        The greatest departures, see `ladders.build_ladder`; with ``end_``, the least, cumulative.
    state : (3,) float64, how many windows of a size are tried at first, and at most, and how many looks
        descents took with fewer; updated by experience, which affects nothing but the time
    d_first, d_stop : int, half-open range of sizes d
    known : (n,) float64 over d, never falling
    skip_smallest : bool, whether sizes below BASE are left out
    phi : (n,) float64 over d, written on ``ranges``
    ranges : (m, 2) int64, half-open ranges of d, written
    work : (N_COUNTERS,) int64, added to
    """
    require(l.size >= n + PADDING, "solve_straight: l")
    require(mirrored.size >= n, "solve_straight: mirrored")
    require(u.size >= n and ahead.size >= n + BASE, "solve_straight: departures")
    require_blocks(n, offsets, counts, tops, floors, quanta, beyond)
    require(d_first > 0 and d_stop <= n, "solve_straight: the sizes")
    require(known.size >= n, "solve_straight: known")
    require(phi.size >= n, "solve_straight: phi")
    require(work.size >= N_COUNTERS, "solve_straight: work")
    require(pattern.size > 0, "solve_straight: pattern")
    require(edges.size == kinds.size + 1 and powers.size > 0, "solve_straight: edges")
    require(edges[0] == 0 and edges[kinds.size] == n, "solve_straight: edges")
    require(state.size >= 3, "solve_straight: state")
    require(min(trends.size, spreads.size) >= kinds.size, "solve_straight: trends")
    for zone in range(kinds.size):
        require(0 <= kinds[zone] < powers.size, "solve_straight: kinds")
        require(edges[zone] < edges[zone + 1], "solve_straight: edges")
    classes = kinds.size * means.size
    require(means.size == pattern.size, "solve_straight: means")
    require_ladder(n, classes, firsts, out, levels, places, heights)
    require_ladder(n, classes, end_firsts, end_out, end_levels, end_places, end_heights)
    for positions in (starts, ends):
        for at in range(positions.size):
            require(0 <= positions[at] < n, "solve_straight: a position")
    stack = np.empty(FAMILY * (counts.size + 2), np.int64)
    bounds, before, settled = np.empty(CLASSES), np.empty(BASE), np.zeros(BASE, np.bool_)
    gaps = gaps_together(means.size)
    best, outside = np.empty(gaps * BASE), np.empty((BASE, powers.size))
    n_ranges = np.int64(0)
    first_gap, last_gap = d_first >> BASE_SHIFT, ((d_stop - 1) >> BASE_SHIFT) + 1
    if first_gap == 0:
        if not skip_smallest:
            stop = min(BASE, d_stop)
            n_ranges, looked_at = solve_smallest(
                l, n, np.int64(1), stop, 0.0, np.inf, known, phi, ranges, n_ranges
            )
            work[WINDOWS] += looked_at * (stop - 1)
        first_gap = 1
    period = means.size
    below = np.full(period, first_guess(classes, out, levels))
    beside, unsure = np.zeros((period, powers.size)), np.empty(gaps * BASE, np.bool_)
    scratch = scratch_for(kinds.size, period)
    ladder, end_ladder = (
        (firsts, out, levels, places, heights), (end_firsts, end_out, end_levels, end_places, end_heights),
    )  # fmt: skip
    wanted, most_wanted, looks_before = max(state[0], WANTED), min(state[1], MOST_WANTED), state[2]
    head, tail = halves(slope)
    for batch in range(first_gap, last_gap, gaps):
        d_batch = batch << BASE_SHIFT
        sizes = min(gaps << BASE_SHIFT, d_stop - d_batch)
        best[:] = np.inf
        seed(l, n, d_batch, sizes, starts, best)
        seed(mirrored, n, d_batch, sizes, ends, best)
        work[WINDOWS] += (starts.size + ends.size) * sizes
        work[WINDOWS] += try_extremes(
            l, mirrored, n, d_batch, sizes, period, edges, kinds, trends, spreads, ladder, end_ladder, wanted,
            below, scratch, beside, unsure, best,
        )  # fmt: skip
        looked = 0
        before_descents = TEST_LOOKS * work[TESTS] + work[WINDOWS]
        for g in range(batch, min(batch + gaps, last_gap)):
            d0 = g << BASE_SHIFT
            stop = min(d0 + BASE, d_stop)
            found = best[d0 - d_batch : d0 - d_batch + BASE]
            if found[stop - 1 - d0] < known[d0]:  # phi is monotone: the last size bounds them all
                work[REJECTED] += 1
                continue
            if found[0] == np.inf:  # no extreme is that far from the ends of the column
                evaluate_row(l, np.int64(0), d0, found)
            phase = d0 % period
            for e in range(stop - d0):
                for kind in range(powers.size):
                    outside[e, kind] = beside[phase, kind] - margin
                    if unsure[d0 - d_batch + e]:
                        outside[e, kind] = -np.inf
                phase = phase + 1 if phase + 1 < period else 0
            left = mark_settled(found, d0, stop - d0, head, tail, rest, powers, outside, settled)
            if not unsure[d0 - d_batch]:
                looked += stop - d0
            if left == 0:
                work[CLOSED] += 1
            else:
                work[LEAVES] += 1
                above = ((found[0] - head * d0) - tail * d0) - rest * d0
                descend_line(
                    l, u, ahead, n, offsets, counts, tops, floors, quanta, beyond, d0, stop - d0,
                    slope + rest, pattern, above, margin, stack, bounds, before, settled, found, work,
                )  # fmt: skip
            for d in range(d0, stop):
                phi[d] = found[d - d0]
            n_ranges = note_range(ranges, n_ranges, d0, stop)
        if looked > 0:
            share = (TEST_LOOKS * work[TESTS] + work[WINDOWS] - before_descents) / looked
            if share > HELPED * looks_before:  # more windows did not help: ties are not told apart by them
                wanted, most_wanted = WANTED, WANTED
            looks_before = np.inf
            if share > OFTEN * wanted and wanted < most_wanted:
                wanted *= 2.0
                looks_before = share
            elif share < SELDOM * wanted:
                wanted = max(0.75 * wanted, WANTED)
    state[0], state[1], state[2] = wanted, most_wanted, looks_before
    return n_ranges
