"""Every kernel that Python calls, with arguments that just fit."""

from __future__ import annotations

import importlib
from copy import copy
from functools import cache

import numpy as np

MODULES = [
    *(
        f"geodim.engine.kernels.{name}"
        for name in (
            "alike",
            "cells",
            "columns",
            "counted",
            "counters",
            "dealing",
            "dense_values",
            "dominated",
            "ends",
            "even_parts",
            "gaps",
            "groups",
            "glances",
            "in_steps",
            "joins",
            "ladders",
            "lines",
            "loose_gaps",
            "mass_steps",
            "masses",
            "patterns",
            "phases",
            "pyramid",
            "reading",
            "runs",
            "sorting",
            "straight",
            "summing",
            "smallest",
            "sweep",
            "tiles",
            "witnesses",
        )
    ),
    "geodim.engine.kernels._bounds",
    "geodim.concepts._kernels",
    "geodim.concepts._lists",
    "geodim.data.graphs._kernels",
    "geodim.explain._kernels",
    "geodim.families._kernels",
    "geodim.features._kernels",
]


N = 200  # points: seven runs of 32 values, and a pyramid of four blocks on one level
RUNS = 7
BLOCKS = 4
PADDING = 136


def sorted_column():
    """Ascending values with the padding behind them."""
    values = np.full(N + PADDING, np.inf)
    values[:N] = np.sort(np.random.default_rng(0).standard_normal(N))
    return values


def grid_column():
    values = np.full(N + PADDING, np.inf)
    values[:N] = np.arange(N) + 0.1 * np.sin(np.arange(N))
    return values


def counts_in_steps():
    """How many of 200 values lie before each of 99 steps, and beyond the last one."""
    from geodim.engine.kernels.in_steps import SPARE

    return np.minimum(np.arange(99 + SPARE) * (N / 99.0), N).astype(np.float32).round()


def layout():
    """Offsets and counts of a pyramid of one level."""
    return np.array([0]), np.array([BLOCKS])


def pyramid():
    from geodim.engine.kernels.pyramid import build_base

    records = np.empty((9, BLOCKS + 9))
    build_base(sorted_column(), N, records, BLOCKS, 0.0, 5.0)
    return records


@cache
def bent():
    from geodim.engine.alike import Bent

    return Bent.of(grid_column(), N)


@cache
def straight():
    from geodim.engine.alike import Straight

    return Straight.of(grid_column(), N)


def fine_lines():
    """Offsets, counts, lines and quanta of a column of three levels, which a kernel may change."""
    made = bent()
    return tuple(map(copy, (made.offsets, made.counts, made.records, made.quanta)))


def blocks_of_departures():
    """Offsets, counts, and the rest of what is known of the blocks of a straight column; copies, too."""
    made = straight()
    known = made.offsets, made.counts, made.tops, made.floors, made.quanta, made.beyond
    return tuple(map(copy, known))


def keys(kind, n=N):
    return np.random.default_rng(1).integers(0, 1 << 30, n).astype(kind)


def counted_keys():
    """Keys and the counts of their digits, as `keys_and_counts_32` makes them."""
    from geodim.engine.kernels.sorting import keys_and_counts_32

    made, counts = np.empty(N, np.uint32), np.empty((3, 2048), np.int64)
    keys_and_counts_32(keys(np.uint32), made, counts)
    return made, counts


def dealt(kind):
    """Keys in shares, and where these end."""
    from geodim.engine.kernels.dealing import deal_out, deal_out_64

    made, stops = np.empty(N, kind), np.empty(1 << 14, np.int64)
    if kind is np.uint32:
        deal_out(keys(kind), made, stops)
    else:
        deal_out_64(np.linspace(-9.9, 9.9, N), np.linspace(-9.9, 9.9, N).view(kind), made, stops)
    return made, stops


def given(array):
    """An array that nobody may write to, as those of callers are; for others, kernels are compiled anew."""
    array.flags.writeable = False
    return array


def graph():
    """A ring: compressed rows, with weights, loops and degrees."""
    indptr = given(2 * np.arange(11))
    indices = np.ravel([[(i + 1) % 10, (i + 9) % 10] for i in range(10)])
    weights, loops, degrees = (given(np.ones(count)) for count in (20, 10, 10))
    return indptr, given(indices.astype(np.int32)), weights, True, loops, degrees, True


def begun_search():
    """Four rows of three columns, two of which no row has both: stacks that just hold the first node."""
    from geodim.concepts._kernels import FIELDS, enter_root

    bits, ints = np.array([3, 6, 12, 0], np.uint64), np.arange(26)
    nodes, state, found = np.zeros((1, FIELDS), np.int64), np.zeros(4, np.int64), np.zeros(3, np.int64)
    enter_root.py_func(bits, ints, nodes, state, found, 4, 3, 2, 0)
    assert state[0] == 0
    return bits[: nodes[0, 14]], ints[: nodes[0, 15]], nodes, state, found


def begun_steps():
    """Five values of mass 1 and their first gap, on a stack and in lists that just hold it."""
    from geodim.engine.kernels.mass_steps import begin_steps

    sums = np.arange(6), np.arange(6) << 40
    stack = np.zeros((1, 2)), np.zeros((1, 4), np.int64), np.zeros((1, 3), np.int64)
    places, out = np.zeros((5, 4), np.int32), (np.zeros(1), np.zeros(1, np.int64), np.zeros(1, np.int64))
    state = np.zeros(3, np.int64)
    begin_steps.py_func(np.arange(5.0), *sums, *stack, places, *out, state)
    assert state.tolist() == [1, 1, 0]
    assert stack[2].tolist() == [[0, 4, 10]]
    known = np.array([5]), np.array([5 << 40]), np.zeros(1)
    return np.arange(5.0), *sums, *known, *stack, places[:4], *out, state, 100


def ladder_of_two():
    """Two values on one level."""
    return (
        np.array([[0, 2]]), np.array([[1.0, 0.0]]), np.array([1]), np.array([3, 9], np.int32), np.ones(2),
    )  # fmt: skip


def long_rows(phases):
    """Departures, turns and values of three values of each phase."""
    return np.zeros((phases, 3)), np.tile(np.array([[3, 7, 9]], np.int32), (phases, 1)), np.zeros((phases, 3))


def calls():
    """Name, arguments that fit, and which of the arrays may be shorter.

    The length of those is what is looped over.
    """
    u, v = np.arange(9), np.arange(1, 10)
    offsets, counts = layout()
    found = np.array([0.0, 1.0, 2.0]), np.array([100, 60, 40])
    ranges = np.empty((40, 2), np.int64)
    one_range = np.array([[3, N]])
    made, digit_counts = counted_keys()
    (shares, stops), (long_shares, long_stops) = dealt(np.uint32), dealt(np.uint64)
    records = pyramid()
    x, out = np.ones((10, 8)), np.ones((10, 8))
    cells = np.arange(4.0), np.arange(4.0) + 0.5, np.array([0, 50, 100, 150, 200])
    ladder, lines = np.array([1, 2, 4]), (np.array([0, 1], np.int32), np.ones(2), np.ones(2))
    work = np.zeros(5, np.int64)
    step_counts = np.full(100, 2, np.int32)
    tables = np.zeros((2, 2048), np.int64)
    fits = [
        ("count_cells", (np.linspace(0, 3.5, N), np.arange(5.0), np.array([0, 1, 2, 3, 3]), 1.0,
                         np.ones(N, np.int64), np.zeros(4, np.int64)), "values guide counts"),
        ("bound_windows", (*cells, np.array([2, 200]), np.empty(2), np.empty(2)), "least sizes"),
        ("mark_open", (*cells, np.array([2, 200]), np.ones(2), np.zeros(4, np.bool_)), "least sizes"),
        ("lattice_quantum", (np.arange(float(N)), N, 1.0, False), ""),
        ("median_run", (np.arange(float(N)), N), ""),
        ("one_sided", (np.zeros(N), N, 0, 150, np.empty(N)), ""),
        ("open_gaps", (sorted_column(), N, 5, np.zeros(N), False, np.zeros(RUNS, np.bool_)), ""),
        ("open_gaps_by_counts", (np.arange(float(N)), N, 5, 2.0, np.full(N, -5.0),
                                 np.zeros(RUNS, np.bool_)), ""),
        ("cumulate", (np.ones(10, np.int32), 1.0, np.empty(11)), "counts"),
        ("tally", (np.ones(10, np.int32),), "counts"),
        ("along_slope", (np.zeros(N), 1.0, 0, N, np.empty(N)), ""),
        ("tilt", (np.zeros(N), one_range, 1, 1.0), ""),
        ("solve_plainly", (sorted_column(), N, 1, N, np.empty(N), np.empty((1, 2), np.int64)), "ranges"),
        ("merge_strip", (np.zeros(N), one_range, 1, 0, np.zeros(N), np.zeros(N, np.int32), 0, N), ""),
        ("merge", (np.zeros(N), one_range, 1, 0, np.zeros(N), np.zeros(N, np.int32)), ""),
        ("add_by_exponent", (np.ones(5).view(np.int64), *np.zeros((2, 2048), np.int64)), "bits"),
        ("cut_gaps", (np.ones(9, np.bool_), 2, np.empty((9, 2), np.int64)), "is_open"),
        ("run_sums", (np.ones(N), np.ones(N, np.int32), 1.0, 3, 4, np.empty(1, np.int64), np.empty(1)), ""),
        ("share_sums", (np.ones(N), np.full(N, 4, np.int32), 1.0, 3, np.zeros(2), np.zeros(2, np.bool_)),
         "phi"),
        ("narrow_windows", (np.arange(9.0), np.array([2, 9]), np.zeros(2), 0.5, 99, np.empty(2, np.int64),
                            np.empty(2)), "sizes"),
        ("straighten", (np.arange(9.0), np.array([2, 9]), np.zeros(2, np.int64), np.full(2, 9.0),
                        np.empty((1, 2), np.int64)), "sizes"),
        ("choose_sizes", (np.arange(9.0), 1.0, np.empty(9, np.int64)), "curve sizes"),
        ("solve_gaps", (sorted_column(), N, records, offsets, counts, 0.0, 1e-12, -1e-12, 0.0, np.inf, 5.0,
                        0, BLOCKS, np.zeros(N), 0.0, False, 0, 1 << 40, np.empty(N), ranges,
                        np.empty(2, np.int64),
                        np.empty(BLOCKS + 9), work), "ranges"),
        ("solve_loosely", (sorted_column(), N, records, offsets, counts, 1e-12, 0.5, 5.0, 0, BLOCKS,
                           np.zeros(N), False, 1 << 40, np.empty(N), ranges, np.empty(2, np.int64),
                           np.empty(BLOCKS + 9), work), "ranges"),
        ("count_below", (np.arange(float(N)), N, 1.5, counts_in_steps()), "counts"),
        ("solve_in_steps", (grid_column(), N, counts_in_steps(), 99, N / 99.0, 0.0, N - 1.0, 1, N,
                            np.zeros(N), False, np.empty(N), ranges, work), "ranges"),
        ("raise_bar", (np.ones(N), np.array([[1, N]]), 1, 1, np.zeros(N)), "ranges"),
        ("solve_swept", (sorted_column(), N, records, offsets, counts, 0.0, 1e-12, -1e-12, 0.0, np.inf, 5.0,
                         np.array([[0, BLOCKS]]), np.zeros(N), False, 1 << 40, np.zeros(1, np.uint8),
                         np.empty(N), ranges, np.empty(2, np.int64), np.empty(BLOCKS + 9), work),
         "pieces ranges"),
        ("find_starts", (sorted_column(), N, records, offsets, counts, 1e-12, 0.0, np.arange(float(N)),
                         np.ones(N, np.bool_), np.empty(N, np.int64)), ""),
        ("rank_equal_ones", (np.zeros(5), np.arange(5), *np.empty((2, 5), np.int64)), "values"),
        ("spread_around_line", (np.arange(float(N)), N), ""),
        ("lowest_bits", (np.arange(float(N)).view(np.int64), N, np.empty(RUNS, np.int32)), ""),
        ("build_lines", (np.arange(float(N)), N, *fine_lines()), ""),
        ("departures", (np.arange(float(N)), N, 5, np.ones(RUNS), np.empty(N)), ""),
        ("solve_alike", (grid_column(), -grid_column()[N - 1 :: -1], N, *fine_lines(),
                         *np.array([[3, 9]] * 2), 1, N, np.zeros(N), False, np.empty(N), ranges, work),
         "starts ends ranges"),
        ("exact_period", (np.arange(float(N)), N, 9, 9), ""),
        ("nearly_exact_period", (np.arange(float(N)), 9, 0.5), "values"),
        ("least_like", (np.arange(float(N)), 0.5), "squares"),
        ("least_rises", (np.arange(5.0), np.empty(5)), "means"),
        ("narrowest_of_period", (grid_column(), N, 5, *np.empty((2, 37))), ""),
        ("fill_by_period", (grid_column(), N, 5, *np.ones((2, 5)), 1, N, np.empty(N)), "l"),
        ("narrowest_of_some", (grid_column(), -grid_column()[N - 1 :: -1], N, *np.array([[3, 9]] * 2),
                               np.empty(N)), "l starts ends"),
        ("take_slope_out", (np.ones(N), N), ""),
        ("block_departures", (np.ones(N), N, *blocks_of_departures()), ""),
        ("solve_straight", (grid_column(), -grid_column()[N - 1 :: -1], np.zeros(N), np.zeros(N + 32), N, 1.0,
                            0.0, np.zeros(1), 1.0, *blocks_of_departures(), *np.array([[3, 9]] * 2),
                            np.array([0, N]), np.array([0]), *np.ones((3, 1)), np.zeros(1), *ladder_of_two(),
                            *ladder_of_two(), np.full(3, 99.0), 1, N, np.zeros(N), False, np.empty(N),
                            ranges, work),
         "pattern starts ends edges kinds powers means ranges"),
        ("gather_extremes", (np.arange(float(N)), N, np.zeros(2), np.array([0, N]), 1.0,
                             np.empty(3, np.int64), np.empty(2), np.empty(N, np.int32), np.empty(N)),
         "means edges at some"),
        ("build_ladder", (np.array([0, 5, 9]), np.full(2, -1.0), np.arange(9, dtype=np.int32),
                          *np.arange(18.0).reshape(2, 9) % 9, False, np.arange(9.0),
                          np.empty((2, 65), np.int64), np.empty((2, 65)), np.empty(2, np.int64),
                          np.empty(9, np.int32), np.empty(9)),
         "below"),
        ("try_long_period", (np.arange(float(N)), np.zeros(N), N, *long_rows(2), *long_rows(2), 1.0, 1, N,
                             0.5, *np.empty((2, N)), work),
         ""),
        ("finish_long_period", (grid_column(), np.zeros(N), np.zeros(N + 32), N, 1.0, 0.0, np.zeros(1), 1.0,
                                *blocks_of_departures(), N, np.ones(N), np.arange(N + 32.0), work),
         "pattern"),
        ("build_base", (np.arange(float(N)), N, records, BLOCKS, 0.0, 200.0), ""),
        ("build_parents", (np.arange(float(N)), N, records, offsets, counts, 0.0, 200.0), ""),
        ("gather_columns", (given(np.ones((N, 3))), np.array([0, 2]), np.empty((2, N)), 0),
         "array.0 columns"),
        ("moments", (np.ones((N, 3)), *np.zeros((4, 3))), "array"),
        ("cumulate_masses", (np.arange(5.0), *np.ones((2, 5), np.int64), np.empty(5),
                             *np.empty((2, 6), np.int64)), "values"),
        ("begin_steps", (np.arange(5.0), *np.arange(12).reshape(2, 6), np.zeros((1, 2)),
                         np.zeros((1, 4), np.int64), np.zeros((1, 3), np.int64), np.zeros((5, 4), np.int32),
                         np.zeros(1), *np.zeros((2, 1), np.int64), np.zeros(3, np.int64)), "v"),
        ("find_steps", begun_steps(), "known_width"),
        ("merge_steps", (*np.full((2, 1), 9), np.zeros(1), np.zeros(1, np.int32), *np.array([[4, 9], [4, 9]]),
                         np.arange(2.0), 0, *np.empty((2, 3), np.int64), np.empty(3), np.empty(3, np.int32)),
         "width new_width"),
        ("add_masses", (np.array([0, 1, 1]), *np.ones((2, 3), np.int64), *np.zeros((2, 2), np.int64)), "at"),
        ("rounded_counts", (*np.ones((2, 3), np.int64), 70, np.empty(3, np.int64)), "high"),
        ("sampled_values", (np.arange(3.0), 1, np.empty(2)), "column found"),
        ("equal_neighbours", (np.arange(3.0), np.array([0, 1])), "places"),
        ("has_even_part", (np.arange(9.0), np.arange(0, 9, 2), 2, 0.5, 0.1), ""),
        ("different_gaps", (np.arange(9.0), 4, 5, 0.5), ""),
        ("even_windows", (np.arange(9.0), np.array([0, 4]), 4, 1.0), "places"),
        ("count_value", (np.arange(3.0), 1.0), "column"),
        ("joint_counts", (made, tables, np.array([1, 1]), np.empty(1, np.int64)), "keys widths"),
        ("solve_pairs", (*found, N, np.empty(N + 1), np.empty(N), np.zeros(N), ranges), "ranges"),
        ("solve_few_pairs", (*found, N, np.empty(N), np.zeros(N), ranges), "ranges"),
        ("keys_and_counts_32", (keys(np.uint32), np.empty(N, np.uint32), np.empty((3, 2048), np.int64)),
         "bits"),
        ("keys_and_counts_64", (keys(np.uint64), np.empty(N, np.uint64), np.empty((6, 2048), np.int64)),
         "bits"),
        ("radix_passes", (made, np.empty(N, np.uint32), digit_counts), "counts.0"),
        ("keys_to_bits_32", (keys(np.uint32),), "keys"),
        ("keys_to_values_32", (keys(np.uint32), np.empty(N)), "keys"),
        ("keys_to_bits_64", (keys(np.uint64), np.empty(N, np.uint64)), "keys"),
        ("deal_out", (keys(np.uint32), np.empty(N, np.uint32), np.empty(1 << 14, np.int64)), "bits"),
        ("sort_shares", (shares, np.empty(N, np.uint32), stops, shares.view(np.float32), np.empty(N)), ""),
        ("deal_out_64", (np.ones(N), np.ones(N).view(np.uint64), np.empty(N, np.uint64),
                         np.empty(1 << 14, np.int64)), "column"),
        ("sort_shares_64", (long_shares, np.empty(N, np.uint64), long_stops, np.empty(N, np.uint64)), ""),
        ("count_steps", (np.linspace(0, 9.9, N), 1.0, 0.0, np.empty(10, np.int32)), "column"),
        ("expand_steps", (step_counts, 1.0, 0.0, np.empty(N + 2)), "counts"),
        ("step_keys", (np.linspace(0, 9.9, N), 1.0, 0.0, np.empty(N, np.uint32),
                       np.empty((2, 2048), np.int64)), "column"),
        ("steps_to_values", (keys(np.uint32), 1.0, 0.0, np.empty(N)), "keys"),
        ("count_entries", (u, v, 0, 10, np.zeros(10, np.int64)), "u"),
        ("fill_entries", (u, v, 0, 10, np.zeros(10, np.int64), np.empty(18, np.uint32)), "u keys"),
        ("fill_weighted", (u, v, np.ones(9), 0, 10, np.zeros(10, np.int64), np.empty(18, np.uint32),
                           np.empty(18), np.empty(10)), "u keys weights"),
        ("coalesce_rows", (np.array([0, 60, 120]), keys(np.uint32, 120), np.ones(120), 0, 2, 4,
                           np.zeros(5, np.int64)), ""),
        ("move_down", (np.arange(10), 5, 2, 5), ""),
        ("count_values", (np.linspace(0, 1, N), np.ones(N, np.int64), 0.0, 10.0, np.empty(11, np.int32)),
         "values cumulative"),
        ("reach_of", (np.arange(5), ladder, np.empty(3, np.int32)), "ladder"),
        ("raise_to", (np.zeros(N), one_range, 1, np.zeros(N)), ""),
        ("coarse_sum", (np.array([5, 9, 20]), ladder, 0.1, 1.0, 20), "ladder"),
        ("reaches", (np.array([5, 9, 20]), ladder, 0.1, 1.0, np.ones(20), np.arange(20)), "ladder phi"),
        ("draw_lines", (np.ones(N), np.zeros(N), 100, np.empty(2, np.int32), np.empty(2), np.empty(2)),
         "phi"),
        ("gain_over", (np.zeros(101), 100, *lines, 2), ""),
        ("list_excess", (np.ones(N), np.zeros(N), np.empty(300, np.int32), np.empty(300)), "phi sizes"),
        ("excess_over", (np.zeros(6), np.array([2, 5], np.int32), np.ones(2), 2), ""),
        ("merge_two", (np.zeros(N), one_range, 1, 0, np.zeros(N), np.zeros(N, np.int32),
                       np.zeros(N, np.int32), np.zeros(N), np.zeros(N, np.int32)), ""),
        ("aggregate_rows", (*graph(), given(np.ones((10, 8))), out, 0, 10), ""),
        ("row_sums", (2 * np.arange(11), np.ones(20), 0, 10, np.ones(10)), ""),
        ("enter_root", (np.array([3, 6, 12, 0], np.uint64), np.arange(3), np.zeros((1, 18), np.int64),
                        np.zeros(4, np.int64), np.zeros(3, np.int64), 4, 3, 2, 0), "nodes.0"),
        ("cut_down", (np.array([0, 2, 4]), np.array([0, 1, 0, 2], np.int32), np.ones(2, bool),
                      np.ones(3, bool), 1, 0, 2), ""),
        ("enter_branch", (np.zeros(4, np.uint64), np.zeros(9, np.int64), np.zeros((1, 18), np.int64),
                          np.zeros(4, np.int64), np.zeros(3, np.int64), np.zeros(4, np.int32),
                          np.array([0, 2, 4]),
                          np.array([0, 1, 0, 2], np.int32), np.array([0, 2, 3, 4]),
                          np.array([0, 1, 0, 1], np.int32), 0, 2, 0), "bits ints nodes.0 pairs"),
        ("search", (*begun_search(), np.zeros(0, np.int32), 2, 3, 0, 10**6), "pairs"),
        ("parse_transactions", (np.frombuffer(b"1 2\n3\n", np.uint8), np.zeros(3, np.int64),
                                np.zeros(3, np.int64), np.zeros(2, np.int64)), "text"),
        ("blend", (out, 0.5, x, 0.5, 0, 10), "y.1"),
        ("even_in_counts", (np.arange(65, dtype=np.int32), 64, 64), ""),
        ("even_in_values", (np.arange(float(N)), N, 64), ""),
        ("running_best", (np.zeros(N), np.zeros(N, np.int32), np.empty(N), np.empty(N, np.int32)), "phi"),
        ("dominated_columns", (np.ones((2, N)), np.arange(2), np.ones(N), np.zeros(N, np.int32), True, 0.0,
                               0.0, 64,
                               np.empty(67, np.int32), np.empty(N), np.empty(N + PADDING),
                               np.empty(2 * N + 3, np.int32), False, np.empty((2, 2)), np.zeros(2, np.bool_)),
         "values"),
        ("fill_distances", (np.ones((2, 3, 16)), np.ones((2, 3, 4)), 0, 2.0, np.empty((8, 32))), "out"),
        ("fill_jaccard", (np.array([0, 2, 3]), np.array([0, 1, 1], np.int32), np.array([2, 1]), np.arange(2),
                          np.zeros(2, np.uint8), np.empty((2, 2))), "out"),
        ("first_fault", (np.zeros((4, 4)), 0, 4, 9.0), ""),
    ]  # fmt: skip
    return {name: (arguments, loose.split()) for name, arguments, loose in fits}


def kernels():
    """Every compiled function of the project, by name."""
    from numba.core.dispatcher import Dispatcher

    found = {}
    for module in map(importlib.import_module, MODULES):
        for name, thing in vars(module).items():
            if isinstance(thing, Dispatcher) and thing.py_func.__module__ == module.__name__:
                assert name not in found
                found[name] = thing
    return found


MADE_OF_VECTORS = (
    "aggregate_rows",
    "build_base",
    "count_steps",
    "cumulate",
    "deal_out_64",
    "fill_distances",
    "gather_columns",
)


def entry_point(name):
    """The kernel as Python runs it, and its arguments.

    That compiles nothing anew and crashes nowhere; kernels made of vectors stay compiled.
    """
    kernel = kernels()[name]
    return kernel if name in MADE_OF_VECTORS else kernel.py_func, calls()[name]
