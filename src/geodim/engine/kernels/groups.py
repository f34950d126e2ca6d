"""Blocks of starts that may still contain a narrowest window, tested by groups of eight neighbours.

A group is listed as its number times 2^GROUP, plus a bit for each of its blocks that was kept.  Only those
halves of it are tested at the next level in which a block was kept; all eight blocks of a group are tested,
whether they were kept or not, since that costs nothing.
"""

from __future__ import annotations

import numpy as np

from geodim.compiled import njit
from geodim.engine.kernels.lanes import (
    any_less,
    chosen,
    element,
    larger,
    least,
    load,
    ones,
    put,
    reaching,
    smaller,
    splat,
    steps,
    store,
    trailing_zeros,
)
from geodim.engine.kernels.pyramid import (
    FIRST,
    GROUP,
    GROUP_SHIFT,
    HEIGHT,
    PEAK,
    S0,
    SLOPE,
    U0,
    U1,
    W0,
    W1,
)
from geodim.engine.kernels.tiles import EVERY, LARGEST

FIRST_HALF, SECOND_HALF = 15, 240  # bits of a group's blocks whose halves make the next two groups


@njit(nogil=True, cache=True, counts_references=False, forceinline=True)
def reach_of_ends(records, at, last):
    """Return the least and the greatest u in each block of a group; arguments as in `bound_starts`."""
    row = np.int64(records.shape[1])
    lowest = smaller(load(records, W1 * row + at) - last, load(records, W0 * row + at))
    lowest = larger(load(records, FIRST * row + at) - last, lowest)
    return lowest, larger(load(records, U1 * row + at) - last, load(records, U0 * row + at))


@njit(nogil=True, cache=True, counts_references=False, forceinline=True)
def bound_starts(records, at, slope, size, last, first, latest, lowest, highest):
    """Return a lower bound on all windows that start in a block, and an upper bound by its peak window.

    This is done for a group of blocks, one in every lane.  Both bounds have c e subtracted.  Right ends have
    a u from ``lowest`` to ``highest``, the first block starts at ``first``, and windows that start before
    ``latest`` exist for the whole gap.

    ``records`` is (RECORD, blocks) float64, and ``at`` the place of the first block; ``slope`` has c, in
    units of the column per index, in every lane, and ``last`` c times size - 1.
    """
    row = np.int64(records.shape[1])
    top = load(records, S0 * row + at)
    top = larger(top + load(records, SLOPE * row + at) * splat(np.float64(size - 1)) - last, top)
    top = smaller(load(records, FIRST * row + at + 1), top)
    peak = load(records, PEAK * row + at)
    starts = splat(np.float64(first)) + steps() * splat(np.float64(size))
    upper = highest - (load(records, HEIGHT * row + at) - slope * (peak - starts))
    none = splat(np.inf)
    upper = chosen(splat(-np.inf), top, chosen(peak, splat(latest), upper, none), none)
    return lowest - top, upper


@njit(nogil=True, cache=True, counts_references=False, forceinline=True)
def list_groups(groups, here, parents, n_parents, promising, blocks):
    """List the groups that may still contain a narrowest window, in a gap with so many ``blocks`` of starts.

    These are the halves of the parents in which a block was kept or, if ``parents`` is negative, all groups,
    the ``promising`` one first, since a good V allows early rejection.  Returns their number.

    ``groups`` is int64, see `filter_groups`, written from ``here`` on; the parents are those from ``parents``
    on.
    """
    every = (blocks + GROUP - 1) >> GROUP_SHIFT
    if parents < 0:
        put(groups, here, promising)
        for group in range(every - 1):
            put(groups, here + 1 + group, group + np.int64(group >= promising))
        return every
    place = here
    for p in range(parents, parents + n_parents):
        parent = element(groups, p)
        group = (parent >> GROUP) << 1
        put(groups, place, group)
        place += np.int64((parent & FIRST_HALF) != 0) & np.int64(group < every)
        put(groups, place, group + 1)
        place += np.int64((parent & SECOND_HALF) != 0) & np.int64(group + 1 < every)
    return place - here


@njit(nogil=True, cache=True, counts_references=False, forceinline=True)
def filter_groups(
    n, records, start, shift, g, c, parents, n_parents, promising, groups, lows, bar, enough
):  # fmt: skip
    """Keep the blocks that may contain a narrowest window of gap g; they are tested by groups.

    Returns how many groups and blocks were kept, V, the block of V, the least lower bound, and the number of
    tests.  Stops early (with -1 kept) as soon as V falls below ``enough``: the feature does not matter in
    this gap.

    ``groups`` is int64, in which the list of a level begins at ``start`` / GROUP; ``lows`` float64 widths
    minus c e, of the blocks of all listed groups, from ``start`` on.  ``records`` is (RECORD, blocks)
    float64, of which the level begins at ``start``; ``parents``, ``n_parents`` and ``promising`` are as in
    `list_groups`.
    """
    size = 1 << shift
    here = start >> GROUP_SHIFT
    blocks = ((n + size - 1) >> shift) - g
    count = list_groups(groups, here, parents, n_parents, promising, blocks)
    slope, last, drop = splat(c), splat(c * (size - 1)), splat(c * size)
    latest = np.float64(n + 1 - (g + 1) * size)
    best, owners, below = splat(np.inf), splat(-1.0), splat(enough)
    for t in range(count):
        j = element(groups, here + t) << GROUP_SHIFT
        ends = start + j + g
        low, high = reach_of_ends(records, ends, last)
        next_low, next_high = reach_of_ends(records, ends + 1, last)
        lowest, highest = smaller(next_low - drop, low), larger(next_high - drop, high)
        lower, upper = bound_starts(records, start + j, slope, size, last, j * size, latest, lowest, highest)
        store(lows, start + (t << GROUP_SHIFT), lower)
        owners = chosen(upper, best, splat(np.float64(j)) + steps(), owners)
        best = smaller(upper, best)
        if any_less(best, below):
            return -1, 0, least(best), np.int64(-1), 0.0, (t + 1) << GROUP_SHIFT
    v = least(best)
    owner = np.int64(least(chosen(splat(v), best, splat(np.inf), owners))) if v < np.inf else np.int64(-1)
    bound = min(v - bar, LARGEST)
    # Which groups stay is hard to predict, so each is written, and the next one overwrites what is dropped.
    within, lowest = splat(bound), splat(np.inf)
    own = np.inf
    kept, kept_blocks = np.int64(0), np.int64(0)
    for t in range(count):
        group, low = element(groups, here + t), load(lows, start + (t << GROUP_SHIFT))
        bits = reaching(within, low)
        if group == owner >> GROUP_SHIFT:
            bits |= np.int64(1) << (owner & (GROUP - 1))
            own = element(lows, start + (t << GROUP_SHIFT) + (owner & (GROUP - 1)))
        lowest = smaller(low, lowest)
        put(groups, here + kept, group << GROUP | bits)
        store(lows, start + (kept << GROUP_SHIFT), low)
        kept += np.int64(bits != 0)
        kept_blocks += ones(bits)
    lowest_kept = least(lowest)
    return kept, kept_blocks, v, owner, lowest_kept if lowest_kept <= bound else own, count << GROUP_SHIFT


@njit(nogil=True, cache=True, counts_references=False)
def filter_plainly(l, n, shift, g, owner, groups, lows, start, count):
    """Filter blocks a second time, with bounds that use no trend (F9): for ties and heavy tails.

    A window that starts in block j and has d >= gB is at least l[(j+g)B] - l[last of block j] wide.  At every
    size of the gap, the window at the block's last value is at most as wide as at the gap's last size.
    Rounding is monotone, so no slack is needed.  Returns how many groups stay, V and the least lower bound;
    if these two agree, phi is constant over the gap.

    ``groups`` and ``lows`` are as in `filter_groups`, of which the first ``count`` groups from ``start`` on
    count.
    """
    size = 1 << shift
    here = start >> GROUP_SHIFT
    d_last = min((g + 1) * size, n) - 1
    v = np.inf
    best = owner
    for t in range(here, here + count):
        bits = groups[t] & EVERY
        while bits:
            j = ((groups[t] >> GROUP) << GROUP_SHIFT) + trailing_zeros(bits)
            bits &= bits - 1
            at = min((j + 1) * size, n) - 1
            if at + d_last >= n:
                at = n - 1 - d_last
            # If the value also occurs in the block before, it stands for a window of that block, not of this.
            own = at >= j * size and (j == 0 or l[at] != l[j * size - 1])
            if own and l[at + d_last] - l[at] < v:
                v = l[at + d_last] - l[at]
                best = j
    kept = np.int64(0)
    lowest = np.inf
    for t in range(count):
        group, bits = groups[here + t] >> GROUP, groups[here + t] & EVERY
        stay = np.int64(0)
        while bits:
            lane = trailing_zeros(bits)
            bits &= bits - 1
            j = (group << GROUP_SHIFT) + lane
            lower = l[(j + g) * size] - l[min((j + 1) * size, n) - 1]
            if lower < v or j == owner or j == best:
                stay |= np.int64(1) << lane
                lowest = min(lowest, lower)
        groups[here + kept] = group << GROUP | stay
        store(lows, start + (kept << GROUP_SHIFT), load(lows, start + (t << GROUP_SHIFT)))
        kept += np.int64(stay != 0)
    return kept, v, lowest
