"""How a pass is made: a plain value, decided once from sizes alone, and followed by all executors."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from geodim.engine.steps import SMALLEST, may_leave_out, short_counters, worth_counting
from geodim.engine.windows import columns_together

BLOCK_BYTES = 64 << 20  # columns are read in blocks of about this size per thread
MOST_COLUMNS = 16  # a cache line of float32 in a row-major array: every line is fetched once
LONG_FROM = 1 << 17  # a column of this length is worth a task of its own, or several
# With at least this many columns and points, most columns are dropped without being sorted; columns of more
# than DROPPED_UP_TO points would need too much scratch memory.
MANY_COLUMNS, MANY_POINTS, DROPPED_UP_TO = 64, 256, 1 << 21
COARSE_FROM = 1 << 16  # points; of shorter columns, that are no line, all windows are looked at if need be
MOST_STRAIGHT = 1 << 26  # points of a straight column: positions times half a float are exact
# Up to this many values, and points squared times features, NumPy is done before compiled code is loaded.
FEW_VALUES, FEW_WINDOWS = 1 << 18, 1 << 28
EVERY_WINDOW = "every window"
CACHE_LINE = 64  # bytes; threads that read together take a whole line of each row, if memory allows
# Where columns are counted some rows at a time, these fit the cache, and so do most counters.
ROWS_BYTES, COUNTERS_BYTES = 4 << 20, 16 << 20


@dataclass(frozen=True)
class Way:
    """How columns are solved, on any backend.

    Attributes
    ----------
    method : {"sorted", "counted", "in cells", "every window"}
        "sorted": columns are sorted; "counted": points are counted in steps of one size; "in cells":
        in cells of different sizes; "every window": NumPy sorts and then examines every window,
        without any compiled code.
    steps : int or None
        If counted, the steps of the widest column; in cells, about how many cells a column needs.
    left_out : int
        How many of the smallest windows are bounded instead of solved.
    width : int
        Columns that are read together: in a block, in flight through hops, in a task.
    solvers : int
        Columns that are solved at the same time: one per solving thread, the batch of a GPU, or one
        per running task on each worker of a cluster.
    buffers : int
        Blocks held in memory at the same time; 0 if columns are read to where they are sorted.
    together : bool
        Whether all threads read one block together, each some rows, and then solve a column each.
    blocks : int
        Blocks that are read before the data is read again.
    passes : int
        How often the data is read.
    by_chunk : bool
        Whether a cluster counts chunks where they are stored, so that no column is ever assembled.
    resident : bool
        Whether workers hold all columns; for hops on a GPU, whether the graph stays there.
    drops : bool
        Whether columns are tested by counts before they are sorted: of many columns, nearly all attain
        Phi nowhere.
    relaxed : bool
        Whether widths of hard columns may be off by a few roundings, see `geodim.engine.hard`.
    rows : int
        How many rows each thread reads at a time, to count all columns of a block in them; 0 where
        whole columns are read.
    """

    method: str = "sorted"
    steps: int | None = None
    left_out: int = 0
    width: int = 1
    solvers: int = 1
    buffers: int = 1
    together: bool = False
    blocks: int = 1
    passes: int = 1
    by_chunk: bool = False
    resident: bool = False
    drops: bool = False
    relaxed: bool = False
    rows: int = 0

    @property
    def counted(self) -> bool:
        """Whether points are counted in steps of one size."""
        return self.method == "counted"

    @property
    def shares(self) -> bool:
        """Whether threads that solve a column each tell each other at once what they found."""
        return self.method == "sorted" and self.solvers > 1

    @property
    def compiled(self) -> bool:
        """Whether columns are solved by compiled code."""
        return self.method != EVERY_WINDOW


def counted_in(steps: float, n_points: int, *, leave_out: int) -> tuple[str, int | None, int]:
    """Return method, steps and sizes left out, for columns of this many steps (infinity is exact).

    ``leave_out`` is as in `local_way`.
    """
    if worth_counting(steps, n_points):
        return "counted", int(steps), may_leave_out(int(steps), leave_out)
    return "sorted", None, may_leave_out(n_points, min(leave_out, SMALLEST))


def local_way(
    n_points: int,
    n_features: int,
    itemsize: int,
    threads: int,
    *,
    row_major: bool,
    by_rows: bool = True,
    runs: bool = False,
    at_once: int = MOST_COLUMNS,
    steps: float = math.inf,
    leave_out: int = 0,
) -> Way:
    """Return the way to solve columns of this shape on the cores of one machine.

    Parameters
    ----------
    n_points, n_features, itemsize, threads : int
        Shape of the data, bytes per value, and number of threads.
    row_major : bool
        Whether points are stored one after the other, so that several columns are read for the price
        of one.
    by_rows : bool
        Whether some rows of a block can be read without the others.
    runs : bool
        Whether columns are read as values with multiplicities.
    at_once : int
        The best number of columns to read together.
    steps : float
        Steps of the widest column; infinity is exact.
    leave_out : int
        How many of the smallest windows may be left out because they hardly matter; with steps only.
    """
    method, counted, left_out = counted_in(steps, n_points, leave_out=leave_out)
    width = _block_width(n_points, itemsize, at_once, row_major=row_major)
    together = False
    if threads == 1 or (n_features < 2 * threads and n_points >= LONG_FROM):
        width, buffers, solvers = min(width, n_features), 1, 1
    elif row_major and by_rows and n_points >= LONG_FROM:
        together = True
        width = _group_width(width, threads, itemsize)
        width = n_features if n_features <= 2 * width else width  # one group as large as two buffers
        buffers, solvers = 1 if width == n_features else 2, min(threads, n_features)
    else:
        width = max(1, min(width, -(-n_features // threads)))
        buffers = solvers = min(threads, -(-n_features // width))
    passes = -(-n_features // width) if row_major else 1
    dropped = math.isinf(steps) and not runs and drops(n_points, n_features)
    if width == 1 and not (together or runs or dropped) and method == "sorted":
        buffers = 0
    way = Way(method, counted, left_out, width, solvers, buffers, together, passes=passes, drops=dropped)
    if way.counted and row_major and by_rows and not runs and n_points >= LONG_FROM:
        return _by_rows(way, n_points, n_features, itemsize, threads)
    return way


def _by_rows(way: Way, n_points: int, n_features: int, itemsize: int, threads: int) -> Way:
    """Return the way for counted columns of which memory holds less than a line of every row at a time.

    Then they are counted some rows after the others, as long as the cache holds the counters.
    """
    assert way.steps is not None
    line = min(CACHE_LINE // itemsize, n_features)
    counters = line * way.steps * short_counters(n_points, way.steps).itemsize
    if way.width >= line or counters > COUNTERS_BYTES:
        return way
    width = min(max(COUNTERS_BYTES // 2 // counters, 1) * line, n_features)
    return replace(
        way, width=width, solvers=min(threads, n_features), buffers=threads, together=False,
        passes=-(-n_features // width), rows=ROWS_BYTES // (width * itemsize),
    )  # fmt: skip


def drops(n_points: int, n_features: int) -> bool:
    """Return whether most columns of this shape are dropped without being sorted."""
    return n_features >= MANY_COLUMNS and MANY_POINTS <= n_points <= DROPPED_UP_TO


def few_windows(n_points: int, n_features: int) -> bool:
    """Return whether columns of this shape have so few windows that NumPy examines all of them quickly."""
    values = n_points * n_features
    return values <= FEW_VALUES and values * n_points <= FEW_WINDOWS


def every_window(n_points: int, n_features: int, *, row_major: bool) -> Way:
    """Return the way for columns that NumPy solves, as in `geodim.engine.windows`.

    Parameters are those of `local_way`.
    """
    width = columns_together(n_points, n_features)
    return Way(EVERY_WINDOW, width=width, passes=-(-n_features // width) if row_major else 1)


def mass_way(n_points: int, n_features: int, threads: int, *, steps: float, leave_out: int) -> Way:
    """Return the way for points with masses (`geodim.engine.mass_solve`); parameters as in `local_way`.

    Each thread takes one column after the other.
    """
    method, counted, left_out = counted_in(steps, n_points, leave_out=leave_out)
    solvers = min(threads, n_features)
    return Way(method, counted, left_out if method == "counted" else 0, 1, solvers, solvers)


def _block_width(n_points: int, itemsize: int, at_once: int, *, row_major: bool) -> int:
    """Return how many columns a thread reads together: they fit the memory and share cache lines.

    A source that reads several columns at once for less says how many (``at_once``).
    """
    width = max(1, min(BLOCK_BYTES // max(n_points * itemsize, 1), at_once))
    return max(width, 2) if row_major else width  # reading two columns costs hardly more than one


def padded_rows(rows: int, itemsize: int) -> int:
    """Return how many values each column of a block of rows has room for.

    Columns that begin at the same place in their pages would push each other out of the cache.
    """
    return rows + 5 * CACHE_LINE // itemsize


def _group_width(width: int, threads: int, itemsize: int) -> int:
    """Return how many columns all threads read together: the sum of their blocks, or a cache line."""
    return min(max(width * threads // 2, 1), max(CACHE_LINE // itemsize, threads))
