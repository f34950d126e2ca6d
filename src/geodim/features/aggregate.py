"""One product of a sparse matrix with a block of columns, over threads."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NoReturn

import numpy as np

from geodim.data.graphs.graph import freeze
from geodim.data.graphs.parallel import balanced_ranges, run_tasks
from geodim.errors import InputTypeError, InputValueError, RangeOverflowError, ShapeError

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["MIN_WIDTH", "Rows", "aggregate", "aligned_empty", "raise_overflow", "useful_threads"]

STRANGERS = (
    "a row of the graph or matrix names entries or nodes that are not there: were its "
    "arrays changed after it was made?"
)
MIN_WIDTH = 8  # columns the kernel needs at least: one vector
CACHE_LINE = 64
# Below this many (edge, column) pairs a product takes less time than starting threads for it.
WORTH_THREADS = 1 << 20
NOTHING = np.empty(0)  # in the place of loops or degrees: None would be compiled for itself
NOTHING.flags.writeable = False


@dataclass(frozen=True, eq=False)
class Rows:
    """A square matrix as compressed rows: entry (i, j) is w_ij, w_ij / sqrt(d_i d_j), or w_ij / d_i.

    Attributes
    ----------
    indptr, indices
        Compressed rows.
    weights : ndarray or None
        Weight w of each stored entry; None for 1.
    add_loops : bool
        Whether every row has an entry (i, i) besides the stored ones.
    loops : ndarray or None
        Weights of those entries; None for 1.
    degrees : ndarray or None
        What the weights are divided by, one positive number d for each node; None if nothing is.
    roots : bool
        Divide by the root of the product of both degrees, instead of by that of the row.
    """

    indptr: NDArray[np.int64]
    indices: NDArray[np.int32] | NDArray[np.int64]
    weights: NDArray[np.floating] | None = None
    add_loops: bool = False
    loops: NDArray[np.float64] | None = None
    degrees: NDArray[np.float64] | None = None
    roots: bool = False

    def __post_init__(self) -> None:
        freeze(self, ("indptr", "indices", "weights", "loops", "degrees"))

    @property
    def n_nodes(self) -> int:
        """Number of rows."""
        return len(self.indptr) - 1

    def check(self) -> None:
        """Raise unless all entries exist and are node numbers.

        This is for kernels that read wherever entries point; the one in this module checks by itself.
        """
        starts, entries = self.indptr, self.indices
        ordered = starts[0] == 0 and starts[-1] <= len(entries) and not np.any(starts[1:] < starts[:-1])
        if not ordered or (len(entries) and not 0 <= entries.min() <= entries.max() < self.n_nodes):
            raise InputValueError(STRANGERS)


def aligned_empty(shape: tuple[int, int], dtype: np.dtype[np.floating]) -> NDArray[np.floating]:
    """Return an uninitialised C-contiguous array that starts on a cache line.

    A row of 16 float32 then is one line; from numpy's own allocator it would straddle two, and cost two.
    """
    size = shape[0] * shape[1] * dtype.itemsize
    memory = np.empty(size + CACHE_LINE, np.uint8)
    start = -memory.ctypes.data % CACHE_LINE
    array: NDArray[np.floating] = memory[start : start + size].view(dtype).reshape(shape)
    return array


def aggregate(rows: Rows, block: NDArray[np.floating], out: NDArray[np.floating], threads: int) -> None:
    """Write the product of the matrix and `block` into `out`.

    Every row is computed by one thread in a fixed order.
    """
    _check(rows, block, out)
    width = block.shape[1]
    if width >= MIN_WIDTH:
        finite = _run(rows, block, out, threads)
    else:
        shape, dtype = (rows.n_nodes, MIN_WIDTH), block.dtype
        wide, result = aligned_empty(shape, dtype), aligned_empty(shape, dtype)
        wide[:, :width] = block
        wide[:, width:] = 0
        finite = _run(rows, wide, result, threads)
        out[...] = result[:, :width]
    if not finite:
        raise_overflow(out)


def useful_threads(threads: int, work: int) -> int:
    """Return `threads`, or 1 if there is too little work to start them."""
    return threads if work >= WORTH_THREADS else 1


def _run(rows: Rows, block: NDArray[np.floating], out: NDArray[np.floating], threads: int) -> bool:
    from geodim.features._kernels import aggregate_rows  # noqa: PLC0415

    threads = useful_threads(threads, len(rows.indices) * block.shape[1])
    source = block.view()
    source.flags.writeable = False  # so that it is compiled only once

    def task(part: tuple[int, int]) -> bool:
        return aggregate_rows(
            rows.indptr,
            rows.indices,
            rows.weights,
            rows.add_loops,
            NOTHING if rows.loops is None else rows.loops,
            NOTHING if rows.degrees is None else rows.degrees,
            rows.roots,
            source,
            out,
            part[0],
            part[1],
        )

    # More parts than threads, so that a thread that falls behind holds up little.
    return all(run_tasks(task, balanced_ranges(rows.indptr, 8 * threads if threads > 1 else 1), threads))


def _check(rows: Rows, block: NDArray[np.floating], out: NDArray[np.floating]) -> None:
    if block.ndim != 2 or block.shape[0] != rows.n_nodes or block.shape[1] < 1:
        raise ShapeError(
            f"a block has one row per node and some columns, ({rows.n_nodes}, c), not {block.shape}"
        )
    if out.shape != block.shape:
        raise ShapeError(f"out has the shape {out.shape}, the block {block.shape}: they must agree")
    if block.dtype not in (np.float32, np.float64) or out.dtype != block.dtype:
        raise InputTypeError(
            f"block and out must both be float32 or both float64, not {block.dtype} and {out.dtype}"
        )
    if not (block.flags.c_contiguous and out.flags.c_contiguous):
        raise InputTypeError("block and out must be C-contiguous: use numpy.ascontiguousarray")
    if np.may_share_memory(block, out):
        raise InputTypeError("block and out must not overlap: rows are read after others have been written")


def raise_overflow(out: NDArray[np.floating]) -> NoReturn:
    """Name the first row and column that is not finite."""
    row, column = (int(i) for i in np.argwhere(~np.isfinite(out))[0])
    raise RangeOverflowError(
        f"aggregation at node {row}, column {column} of the block is too large for "
        f"{out.dtype}: rescale the attributes"
    )
