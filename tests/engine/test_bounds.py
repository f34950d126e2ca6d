"""Every kernel that Python calls must refuse arrays that are too short before it touches them.

Compiled code checks no index.  Each entry point is called with arguments that just fit, where it must not
complain, and then with one array after the other cut by one entry (or one row, or one column).  What is
counted by an array's own length cannot be too short, and is named as such.
"""

from __future__ import annotations

import inspect
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from engine.kernel_calls import BLOCKS, MODULES, RUNS, N, calls, entry_point, kernels
from geodim.errors import DataChangedError, InputValueError, InternalError

# Called by other kernels only, which have checked what these rely on; and the checks themselves.
INNER = {
    "ranges_fit", "require_layout", "require_lines", "require_cells", "require_counted",
    "require_neighbours", "multiples", "beaten_at", "smallest_beaten", "note_range", "key_of_bits",
    "bits_of_key", "key_of_bits_64", "bits_of_key_64", "sort_share", "sort_share_64", "sort_two_digits",
    "share_of", "inserted", "local_slope", "close_level", "quantise", "starting_trend",
    "bound_starts", "reach_of_ends", "enough_below", "list_groups", "filter_groups", "filter_plainly",
    "halves", "bound_pieces", "draw_line", "list_blocks", "keep_leaf", "_above", "_highest",
    "difference", "fitted_slope", "residual_ranges", "seed", "below", "mark_settled", "surely_settled",
    "trend_at",
    "narrower", "least_width", "evaluate_block", "lowered", "descend", "descend_line", "evaluate_row",
    "evaluate_tile", "evaluate_leaf", "evaluate_starts", "is_narrow", "widest_departures",
    "lies_below", "promising_starts", "evaluate_peaks", "above_line", "lower_rungs", "lowered_row",
    "_add_run", "_add_runs", "reached",
    "_lowest", "_reaching", "_residuals_of_a_block", "_residuals_one_by_one", "solve_smallest",
    "_insertion_sort", "_radix_sort", "two_sum", "_divided", "sizes_ascend", "_on_line", "_cheap_sizes",
    "_extremes", "_dominated", "_where_ties_are", "_count", "_window_near", "first_at_least",
    "_most_points", "_start_of", "smallest_of", "_is_even", "first_above", "_settle_by_cells", "_widen",
    "gather_between", "put_in_order", "insert_in_order", "narrowest_of", "settle_by_values", "_squares",
    "_magnitudes", "_largest", "_differing", "_powers", "_products", "_keep", "ones", "common",
    "within", "keep_long_rows", "lacking", "drop_unpaired", "settle", "repack", "report", "heavier",
    "between", "outweighs", "_width_above", "_last_within", "_middle_width", "_look_at_all", "_split",
    "narrowest_starts", "all_wider", "deep_of", "rank_of", "require_ladder", "work_of", "join",
    "first_from", "windows_between", "likely_share", "promising", "threshold", "try_row",
    "try_extremes", "scratch_for", "first_guess", "leave_out_few", "greatest_difference", "try_phase",
    "differing", "differing_more", "count_pairs", "predicted", "try_size", "require_blocks",
    "highest_level", "has_steps", "leaf_scratch",
    "beaten_in_parts", "densest_near", "holds_more", "_gather", "_counted", "_some_values", "not_below",
    "most_points", "most_points_of_each", "steps_for",
    "lower_to_lines", "gaps_together", "exceeded_by", "_merge", "add_run",
    "cells_of", "_cell", "_rank", "_spread", "_is_smooth", "_is_line", "lowered_bar", "_followers",
}  # fmt: skip


def test_every_compiled_function_of_the_project_is_looked_at():
    """By name, and in no module that is not listed."""
    import geodim

    root = Path(geodim.__file__).parent
    compiled = {
        ".".join(["geodim", *path.relative_to(root).with_suffix("").parts])
        for path in root.rglob("*.py")
        if "\n@njit" in path.read_text() or "\n@kernel" in path.read_text()
    }
    assert compiled == set(MODULES)
    assert set(kernels()) == set(calls()) | INNER


@pytest.mark.parametrize("name", sorted(calls()))
def test_arrays_that_are_too_short_are_refused(name):
    kernel, (arguments, loose) = entry_point(name)
    names = list(inspect.signature(kernel).parameters)
    with np.errstate(all="ignore"):
        kernel(*calls()[name][0])  # what just fits is taken
    strict = [
        (at, axis)
        for at, argument in enumerate(arguments)
        if isinstance(argument, np.ndarray) and names[at] not in loose
        for axis in range(argument.ndim)
        if f"{names[at]}.{axis}" not in loose
    ]
    for at, axis in strict:
        short = list(calls()[name][0])
        short[at] = short[at].take(range(short[at].shape[axis] - 1), axis)
        short[at].flags.writeable = arguments[at].flags.writeable
        with pytest.raises((InternalError, InputValueError, DataChangedError)):
            kernel(*short)
    assert strict or len(loose) == sum(isinstance(argument, np.ndarray) for argument in arguments)


@pytest.mark.parametrize(
    "name",
    [
        "solve_plainly",
        "solve_pairs",
        "solve_few_pairs",
        "solve_gaps",
        "solve_loosely",
        "solve_alike",
        "solve_straight",
        "solve_in_steps",
    ],
)
def test_more_intervals_than_there_is_room_for_are_refused(name):
    arguments, names = list(calls()[name][0]), list(inspect.signature(kernels()[name].py_func).parameters)
    arguments[names.index("ranges")] = np.empty((0, 2), np.int64)
    with pytest.raises(InternalError, match=r"note_range.*please report"), np.errstate(all="ignore"):
        kernels()[name].py_func(*arguments)


def test_kernels_from_the_cache_say_what_is_wrong_with_them(tmp_path):
    """Each its own message, also in a process that compiles nothing."""
    program = """
import numpy as np
from geodim.engine.kernels.counters import note_range
from geodim.features._kernels import row_sums
for kernel, arguments in [
    (row_sums, (np.zeros(3, np.int64), np.ones(2), 0, 5, np.zeros(2))),
    (note_range, (np.empty((0, 2), np.int64), 0, 1, 2)),
]:
    try:
        kernel(*arguments)
    except Exception as error:
        print(sum(kernel.stats.cache_hits.values()), error)
"""
    for hits in (0, 1):
        done = subprocess.run(
            [sys.executable, "-c", program],
            env=os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)},
            capture_output=True,
            text=True,
            check=True,
        )
        first, second = done.stdout.splitlines()
        assert first.startswith(f"{hits} row_sums: out")
        assert second.startswith(f"{hits} note_range: more")


@pytest.mark.parametrize(
    ("name", "argument", "value"),
    [
        ("gather_columns", "columns", [0, 3]),
        ("gather_columns", "columns", [0, -1]),
        ("merge", "ranges", [[3, N + 1]]),
        ("merge", "ranges", [[-1, N]]),
        ("merge_two", "ranges", [[3, N + 1]]),
        ("raise_to", "ranges", [[3, N + 1]]),
        ("tilt", "ranges", [[3, N + 1]]),
        ("share_sums", "owner", np.full(N, 5, np.int32)),
        ("share_sums", "owner", np.full(N, 2, np.int32)),
        ("solve_pairs", "counts", [100, 60, 41]),
        ("solve_few_pairs", "counts", [100, 160, -60]),
        ("joint_counts", "tables", np.ones((2, 2048), np.int64)),
        ("radix_passes", "counts", np.ones((3, 2048), np.int64)),
        ("expand_steps", "counts", np.full(100, 3, np.int32)),
        ("coalesce_rows", "indptr", [0, 60, 121]),
        ("coalesce_rows", "indptr", [0, 121, 120]),
        ("aggregate_rows", "indices", np.full(20, 10, np.int32)),
        ("aggregate_rows", "indices", np.full(20, -1, np.int32)),
        ("aggregate_rows", "indptr", np.append(2 * np.arange(10), 21)),
        ("aggregate_rows", "indptr", np.append(2 * np.arange(10) - 1, 20)),
        ("row_sums", "indptr", np.append(2 * np.arange(10), 21)),
        ("excess_over", "sizes", np.array([2, 6], np.int32)),
        ("gain_over", "blocks", np.array([0, 2], np.int32)),
        ("reach_of", "ladder", [1, 5]),
        ("fill_jaccard", "indices", [0, 2, 1]),
        ("fill_jaccard", "centres", [0, 2]),
        ("fill_jaccard", "indptr", [0, 4, 3]),
        ("build_parents", "counts", [BLOCKS + 1]),
        ("solve_gaps", "offsets", [1]),
        ("solve_loosely", "offsets", [1]),
        ("find_starts", "counts", [BLOCKS + 1]),
        ("rank_equal_ones", "order", [0, 1, 2, 3, 5]),
        ("rank_equal_ones", "order", [0, 1, 2, 3, -1]),
        ("solve_alike", "starts", [3, N]),
        ("solve_alike", "ends", [-1, 3]),
        ("solve_straight", "starts", [3, N]),
        ("solve_straight", "ends", [-1, 3]),
        ("solve_straight", "places", np.array([-1, 3], np.int32)),
        ("solve_straight", "end_places", np.array([3, N], np.int32)),
        ("solve_straight", "firsts", [[0, 3]]),
        ("solve_straight", "end_firsts", [[1, 0]]),
        ("solve_straight", "levels", [2]),
        ("solve_straight", "kinds", [1]),
        ("gather_extremes", "edges", [0, N + 1]),
        ("gather_extremes", "at", np.empty(9, np.int32)),
        ("build_ladder", "places", np.empty(8, np.int32)),
        ("build_ladder", "begins", [0, 9, 8]),
        ("narrowest_of_some", "starts", [3, N]),
        ("narrowest_of_some", "ends", [-1, 3]),
        ("solve_alike", "counts", [RUNS + 1, 2, 1]),
        ("enter_branch", "column_rows", [0, 2, 0, 1]),
        ("add_masses", "at", [0, 2, 1]),
        ("add_masses", "at", [0, -1, 1]),
        ("find_steps", "places", [[0, 0, 5, 0]] * 4),
        ("find_steps", "places", [[-1, 0, 4, 0]] * 4),
        ("find_steps", "places", [[2, 1, 4, 0]] * 4),
        ("find_steps", "lists", [[0, 5, 10]]),
        ("find_steps", "lists", [[0, 4, 9]]),
        ("find_steps", "state", [2, 1, 0]),
        ("enter_branch", "row_columns", [0, 3, 0, 2]),
        ("enter_branch", "row_columns", [0, -1, 0, 2]),
    ],
)  # fmt: skip
def test_positions_in_the_data_are_checked(name, argument, value):
    arguments, names = list(calls()[name][0]), list(inspect.signature(kernels()[name].py_func).parameters)
    at = names.index(argument)
    fits, arguments[at] = arguments[at], np.array(value, arguments[at].dtype)
    arguments[at].flags.writeable = fits.flags.writeable
    with pytest.raises((InternalError, InputValueError)):
        entry_point(name)[0](*arguments)


@pytest.mark.parametrize("value", [-0.1, 10.0, np.nan, np.inf, -np.inf, 1e300])
@pytest.mark.parametrize("name", ["count_steps", "step_keys", "count_values"])
def test_values_that_the_first_pass_did_not_see_are_not_counted_anywhere(name, value):
    arguments = list(calls()[name][0])
    if name == "step_keys" and value == 10.0:
        pytest.skip("there is room for four million steps")
    arguments[0] = arguments[0].copy()
    arguments[0][7] = value
    with pytest.raises(DataChangedError, match="did the data change"):
        kernels()[name](*arguments)


def test_edges_that_were_not_counted_are_not_written():
    """One edge more than there is room for: the cursors tell, and nothing past the end is touched."""
    memory = np.full(20, 77, np.uint32)
    cursor = np.array([0, 1, 3, 5, 7, 9, 11, 13, 15, 17])
    arguments = (np.arange(9), np.arange(1, 10), 0, 10, cursor, memory[:17])
    kernels()["fill_entries"](*arguments)
    assert np.array_equal(cursor, [1, 3, 5, 7, 9, 11, 13, 15, 17, 18])
    assert np.all(memory[17:] == 77)


PROGRAM = """
import interpreted

interpreted.replace_vectors()

import numpy as np
from distributions import column
from geodim.engine.column import ColumnSolver
from geodim.engine.counting import CountingSolver
from geodim.engine.profile import Profile

def solved(solver, profile, values):
    assert solver.solve(values, 0, profile, lambda: False)
    return profile.phi

for n in (2, 31, 33, 64, 65, 130, 257):
    for name in {names}:
        values = column(name, n).astype(np.float64)
        phi = solved(ColumnSolver(n, values.dtype), Profile.empty(n, 1), values)
        assert phi[-1] == values.max() - values.min(), (name, n)
        found, counts = np.unique(values, return_counts=True)
        if found.size > 1:
            runs = Profile.empty(n, 1)
            ColumnSolver(n, values.dtype)._solve_pairs(found, counts, 0, runs)
            assert np.array_equal(runs.phi, phi), (name, n)
            steps = np.floor(values / 0.125)
            first, n_steps = np.array([steps.min()]), int(steps.max() - steps.min()) + 1
            if n_steps < 2000:
                counting = CountingSolver(n, 0.125, n_steps, first)
                solved(counting, Profile.empty(n, 1, 0.125, n_steps), values)
print("within bounds")
"""


def test_no_index_leaves_its_array():
    """The kernels as Python runs them, inner ones as well, where an index past the end is an error."""
    names = ["normal", "uniform", "few_integers", "grid_jitter_third", "zero_one", "exponential"]
    root = Path(__file__).parents[1]
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", PROGRAM.format(names=names)],
        env={
            **os.environ,
            "NUMBA_DISABLE_JIT": "1",
            "PYTHONPATH": os.pathsep.join([str(root), str(root.parent / "src")]),
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "within bounds" in done.stdout
