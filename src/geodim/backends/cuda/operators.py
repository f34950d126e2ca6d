r"""Diffusion operators on a device: the same hops as `geodim.features.operators`, and the same bits.

A row is summed in its order with the arithmetic of the CPU, so that every bit agrees.  Only rows of more than
`SPLIT` neighbours are cut into pieces, which are summed in parallel and then added up, again with
compensation.  They agree to the bit as long as their terms are not too disparate, which is the condition of
guarantee 2 in :mod:`geodim.features.hops`: the rounded total is then the correctly rounded sum, which does
not depend on the order.  Beyond that, where most of a sum cancels, the two orders may differ by more than the
last bit of the result.  Both lie within the error that :mod:`geodim.features.rounding` states, relative to
the sum of the absolute terms, and the bounds of results include it.

Graphs without weights store none: there is one float64 degree per node, and the coefficients of ``sym`` are
formed in blocks of rows, just before these are summed.  If the entries do not fit into the device's memory,
they stay on the host and are streamed, with the same bits.
"""

from __future__ import annotations

from abc import abstractmethod
from copy import copy
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from geodim.backends.cuda import hop_kernels
from geodim.backends.cuda.entries import (
    WINDOW,
    AbsoluteEntries,
    Entries,
    ResidentEntries,
    StreamedEntries,
    Work,
    row_cuts,
    to_tensor,
)
from geodim.backends.cuda.graphs import MOST_NODES, DeviceGraph
from geodim.data.graphs import Graph, GraphNotes
from geodim.errors import InputTypeError, InputValueError, RangeOverflowError, ShapeError
from geodim.features.operators import MatrixOperator, Operator, SeriesOperator, make_operator
from geodim.features.rounding import Arithmetic
from geodim.optional import require
from geodim.planning.device import COEFFICIENTS

if TYPE_CHECKING:
    from collections.abc import Iterator

    import torch
    from numpy.typing import NDArray
else:
    torch = require("torch", "gpu", "the CUDA backend")

__all__ = ["DeviceMatrix", "DeviceOperator", "DeviceSeries", "device_operator", "to_device"]

SPLIT = 4096  # a row with more neighbours is cut into pieces
MOST_COLUMNS = 64  # columns of one program
TILE = 256  # values that a program holds: 2 per thread, which leaves registers for many programs
WARPS = 4
# Rows of a program that forms coefficients, and how many entries of each row it takes at a time.
ROWS, LANES = (
    32,
    8,
)
CHECKED = 1 << 28  # values that are checked together


class DeviceOperator(Operator):
    """An operator whose arrays are on a device.

    Attributes
    ----------
    device : torch.device
        The device.
    nbytes : int
        Bytes held there.
    """

    device: torch.device
    nbytes: int

    @abstractmethod
    def apply_device(self, block: torch.Tensor, out: torch.Tensor) -> None:
        """Write the operator times `block` into `out`.

        Both are contiguous (n, c) tensors of the same float type on the operator's device, and they must not
        overlap.  The call returns when the result is complete and known to be finite.
        """

    def apply(
        self, block: NDArray[np.floating], out: NDArray[np.floating], *, n_threads: int | None = None
    ) -> None:
        """Write the operator times `block` into `out`, computed on the device; `n_threads` is ignored."""
        del n_threads
        if out.shape != block.shape or out.dtype != block.dtype:
            raise ShapeError(
                f"out has {out.shape} values of {out.dtype}, the block {block.shape} of "
                f"{block.dtype}: they must agree"
            )
        there = torch.from_numpy(np.array(block, order="C")).to(self.device)
        result = torch.empty_like(there)
        self.apply_device(there, result)
        out[...] = result.cpu().numpy()

    def largest_sums(
        self, hops: int, kind: np.dtype[np.floating], n_threads: int | None = None
    ) -> Iterator[float]:
        """Yield the largest row sum of each power of `absolute`, while it is finite."""
        del n_threads
        operator = self.absolute()
        assert isinstance(operator, DeviceOperator)
        single = torch.float32 if kind == np.float32 else torch.float64
        block = torch.ones((self.n_nodes, 1), dtype=single, device=self.device)
        out = torch.empty_like(block)
        for _ in range(hops):
            try:
                operator.apply_device(block, out)
            except RangeOverflowError:
                return
            yield float(out.max())
            block, out = out, block

    def _check(self, block: torch.Tensor, out: torch.Tensor) -> None:
        if block.ndim != 2 or block.shape[0] != self.n_nodes or block.shape[1] < 1:
            raise ShapeError(
                f"a block has one row per node and some columns, ({self.n_nodes}, "
                f"c), not {tuple(block.shape)}"
            )
        if out.shape != block.shape:
            raise ShapeError(
                f"out has the shape {tuple(out.shape)}, the block {tuple(block.shape)}: they must agree"
            )
        if block.dtype not in (torch.float32, torch.float64) or out.dtype != block.dtype:
            raise InputTypeError(
                f"block and out must both be float32 or both float64, not {block.dtype} and {out.dtype}"
            )
        if block.device != self.device or out.device != self.device:
            raise InputTypeError(
                f"block and out must be on {self.device}, not on {block.device} and {out.device}"
            )
        if not (block.is_contiguous() and out.is_contiguous()):
            raise InputTypeError("block and out must be contiguous: use Tensor.contiguous()")
        size = block.numel() * block.element_size()
        if abs(block.data_ptr() - out.data_ptr()) < size:
            raise InputTypeError(
                "block and out must not overlap: rows are read after others have been written"
            )


class DeviceMatrix(DeviceOperator):
    """One sparse matrix on a device, with degrees, as in `geodim.features.aggregate.Rows`.

    Made by :func:`to_device` and :func:`device_operator`.
    """

    def __init__(
        self,
        name: str,
        indptr: torch.Tensor,
        entries: Entries,
        *,
        add_loops: bool = False,
        loops: torch.Tensor | None = None,
        degrees: torch.Tensor | None = None,
        roots: bool = False,
        weighted: bool = False,
        split: int = SPLIT,
    ) -> None:
        self.name, self.device, self.n_nodes = name, indptr.device, indptr.numel() - 1
        self.stored_entries, self.weighted = int(indptr[-1]), weighted
        self.indptr, self.entries, self.split = indptr, entries, split
        self.loops, self.degrees = loops, degrees
        self.add_loops, self.roots = add_loops, roots
        self._work = Work(indptr, entries.cuts, split)
        self._coefficients: torch.Tensor | None = None
        if roots:
            most = max(int(indptr[b] - indptr[a]) for a, b in pairwise(entries.cuts))
            self._coefficients = torch.empty(most, dtype=torch.float64, device=self.device)
        held = sum(
            t.numel() * t.element_size()
            for t in (indptr, loops, degrees, self._coefficients)
            if t is not None
        )
        self.nbytes = held + entries.nbytes + self._work.nbytes

    @property
    def resident(self) -> bool:
        """Whether all entries are on the device."""
        return isinstance(self.entries, ResidentEntries)

    def describe(self) -> dict[str, Any]:
        """Return name and sizes, as `MatrixOperator` does."""
        return {
            "operator": self.name,
            "n_nodes": self.n_nodes,
            "stored_entries": self.stored_entries,
            "weighted": self.weighted,
        }

    def arithmetic(self) -> Arithmetic:
        """Return what the rounding of a product depends on."""
        parts = (self.indptr[at : at + WINDOW + 1] for at in range(0, self.n_nodes, WINDOW))
        longest = max(int((part[1:] - part[:-1]).max()) for part in parts)
        return Arithmetic(
            terms=longest + self.add_loops,
            least_degree=1.0 if self.degrees is None else float(self.degrees.min()),
            means=self.degrees is not None and not self.roots,
            contracts=self.roots,
        )

    def absolute(self) -> DeviceMatrix:
        """Return the matrix of absolute values: itself for a graph, since its weights are not negative."""
        if not self.weighted or self.degrees is not None:
            return self
        other = copy(self)
        other.entries = AbsoluteEntries(self.entries)
        return other

    def apply_device(self, block: torch.Tensor, out: torch.Tensor) -> None:
        """Write the matrix times `block` into `out`."""
        self._check(block, out)
        work, width = self._work, block.shape[1]
        columns = min(1 << (width - 1).bit_length(), MOST_COLUMNS)
        rows, across = TILE // columns, -(-width // columns)
        flag = torch.zeros(4, dtype=torch.int32, device=self.device)
        sums = torch.empty((2, work.most_pieces, width), dtype=torch.float64, device=self.device)
        every = {"WIDTH": width, "COLUMNS": columns, "num_warps": WARPS, "enable_fp_fusion": False}
        divide = self.degrees is not None and not self.roots
        many = {
            **every, "ROWS": rows, "ADD_LOOPS": self.add_loops, "ROOTS": self.roots, "SPLIT": self.split,
        }  # fmt: skip
        for at, (indices, given) in enumerate(self.entries.blocks()):
            whole, pieces, hubs = work.counts[at]
            meta = work.meta[at]
            weights = self._fill(meta, indices, given, whole, pieces) if self.roots else given
            matrix = (self.indptr, indices, weights, self.loops, self.degrees, block)
            if pieces:
                hop_kernels.aggregate_rows[(-(-pieces // rows), across)](
                    meta[1], work.pieces, work.cuts, *matrix, sums[0], sums[1], flag, DIVIDE=False, **many
                )
                hop_kernels.join_pieces[(hubs, across)](
                    meta[2], work.hubs, work.places, sums[0], sums[1], self.degrees, out, flag, DIVIDE=divide,
                    **(every | {"num_warps": 1}),
                )  # fmt: skip
            if whole:
                hop_kernels.aggregate_rows[(-(-whole // rows), across)](
                    meta[0], work.order, None, *matrix, out, None, flag, DIVIDE=divide, **many
                )
        if int(flag[0]):
            _raise_overflow(out)

    def _fill(
        self, meta: torch.Tensor, indices: torch.Tensor, weights: torch.Tensor | None, whole: int, pieces: int
    ) -> torch.Tensor | None:
        """Compute the factors of a block's entries, in the one buffer for that, and return it."""
        work = self._work
        matrix = (self.indptr, indices, weights, self.degrees, self._coefficients)
        options = {"ROWS": ROWS, "LANES": LANES, "SPLIT": self.split, "num_warps": WARPS}
        if pieces:
            hop_kernels.coefficients[(-(-pieces // ROWS),)](
                meta[1], work.pieces, work.cuts, *matrix, **options
            )
        if whole:
            hop_kernels.coefficients[(-(-whole // ROWS),)](meta[0], work.order, None, *matrix, **options)
        return self._coefficients


class DeviceSeries(DeviceOperator):
    """A truncated power series on a device, by Horner's rule in float64; see `SeriesOperator`.

    Parameters
    ----------
    series : SeriesOperator
        The series whose coefficients are used; its own matrix is not.
    transition : DeviceMatrix
        The matrix.
    """

    scratch_itemsize = 16

    def __init__(self, series: SeriesOperator, transition: DeviceMatrix) -> None:
        self.transition, self.device, self.nbytes = transition, transition.device, transition.nbytes
        self.n_nodes, self.products, self.order = transition.n_nodes, series.products, series.order
        self.name, self.truncation_error = series.name, series.truncation_error
        self._described = series.describe() | {"n_nodes": transition.n_nodes}
        self._steps, self._first, self._last = series._steps, series._first, series._last

    def arithmetic(self) -> Arithmetic:
        """Return what the rounding of the series depends on."""
        return replace(self.transition.arithmetic(), order=self.order, first=self._first)

    def describe(self) -> dict[str, Any]:
        """Return name, parameters, truncation and sizes, as `SeriesOperator` does."""
        return dict(self._described)

    def apply_device(self, block: torch.Tensor, out: torch.Tensor) -> None:
        """Write the series applied to `block` into `out`."""
        self._check(block, out)
        y = block.to(torch.float64, copy=True).mul_(self._first)
        z = torch.empty_like(y)
        for step in self._steps:
            self.transition.apply_device(y, z)
            y, z = z, y
            scalars = torch.tensor([step, self._first], dtype=torch.float64, device=self.device)
            hop_kernels.blend[(-(-y.numel() // 1024),)](
                y, block, scalars, y.numel(), SIZE=1024, num_warps=4, enable_fp_fusion=False
            )
        y *= self._last
        out.copy_(y)
        for part in torch.split(out.view(-1), CHECKED):
            if not bool(torch.isfinite(part).all()):
                _raise_overflow(out)


def to_device(
    operator: Operator,
    device: torch.device | str = "cuda",
    *,
    resident: bool | None = None,
    budget: int | None = None,
    split: int = SPLIT,
    block_entries: int | None = None,
) -> DeviceOperator:
    """Copy an operator to a device.

    Parameters
    ----------
    operator : Operator
        From `geodim.features.make_operator`; an operator that is already on a device is returned unchanged.
    device : torch.device or str
        The target; the CPU if Triton interprets the kernels.
    resident : bool, optional
        Whether the entries stay on the device; otherwise they stay on the host and are streamed for
        every product. By default they stay on the device if they fit into the budget.
    budget : int, optional
        Bytes that the entries may take on the device; half of what is free by default.
    split : int
        Rows with more neighbours than this are cut into pieces.
    block_entries : int, optional
        Entries that are streamed at once.
    """
    if isinstance(operator, DeviceOperator):
        return operator
    options: dict[str, Any] = {"resident": resident, "budget": budget, "split": split}
    options["block_entries"] = block_entries
    if isinstance(operator, SeriesOperator):
        matrix = to_device(operator.transition, device, **options)
        assert isinstance(matrix, DeviceMatrix)
        return DeviceSeries(operator, matrix)
    if not isinstance(operator, MatrixOperator):
        raise InputTypeError(f"a {type(operator).__name__} cannot be copied to a device: use backend='cpu'")
    return _copy_matrix(operator, torch.device(device), **options)


def _copy_matrix(
    operator: MatrixOperator,
    device: torch.device,
    *,
    resident: bool | None,
    budget: int | None,
    split: int,
    block_entries: int | None,
) -> DeviceMatrix:
    rows = operator.rows
    rows.check()
    if rows.n_nodes > MOST_NODES:
        raise InputValueError(
            f"the device takes graphs of fewer than 2**31 nodes, not {rows.n_nodes}: use backend='cpu'"
        )
    device = torch.empty(0, device=device).device  # the device that "cuda" stands for
    kind = torch.float32 if rows.weights is not None and rows.weights.dtype == np.float32 else torch.float64
    if resident is None:
        need = len(rows.indices) * (4 + (0 if rows.weights is None else rows.weights.itemsize))
        if budget is None and device.type == "cuda":
            budget = torch.cuda.mem_get_info(device)[0] // 2
        resident = budget is None or need <= budget
    entries: Entries
    if resident:
        weights = None if rows.weights is None else to_tensor(rows.weights, device, kind)
        indices = to_tensor(rows.indices, device, torch.int32)
        cuts = row_cuts(rows.indptr, COEFFICIENTS) if rows.roots else None
        entries = ResidentEntries(rows.n_nodes, indices, weights, cuts)
    else:
        size = {} if block_entries is None else {"block_entries": block_entries}
        entries = StreamedEntries(rows.indptr, rows.indices, rows.weights, device, **size)

    def vector(values: NDArray[np.float64] | None) -> torch.Tensor | None:
        return None if values is None else to_tensor(values, device, torch.float64)

    return DeviceMatrix(
        operator.name,
        to_tensor(rows.indptr, device, torch.int64),
        entries,
        add_loops=rows.add_loops,
        loops=vector(rows.loops),
        degrees=vector(rows.degrees),
        roots=rows.roots,
        weighted=rows.weights is not None,
        split=split,
    )


def device_operator(
    graph: DeviceGraph, operator: object = "sym", *, split: int = SPLIT, **parameters: object
) -> DeviceOperator:
    """Make a diffusion operator on a graph that is on a device.

    Parameters
    ----------
    graph : DeviceGraph
        From `geodim.backends.cuda.graphs.build_device_graph`.
    operator, **parameters
        A name and its parameters, as for `geodim.features.make_operator`.
    split : int
        Rows with more neighbours than this are cut into pieces.
    """
    if not isinstance(operator, str):
        raise InputTypeError(
            "a matrix as operator does not need the graph: use to_device(make_operator(None, matrix))"
        )
    # The operator on a single node checks the parameters and holds the coefficients, which
    # do not depend on the graph.
    nowhere = np.zeros(2, np.int64), np.zeros(0, np.int32)
    plain = make_operator(Graph(1, *nowhere, 1, GraphNotes(0, 0, 0, 0, False)), operator, **parameters)
    name = plain.transition.name if isinstance(plain, SeriesOperator) else operator
    cuts = row_cuts(graph.indptr.cpu().numpy(), COEFFICIENTS) if name == "sym" else None
    matrix = DeviceMatrix(
        name,
        graph.indptr,
        ResidentEntries(graph.n_nodes, graph.indices, cuts=cuts),
        add_loops=True,
        degrees=graph.degrees(),
        roots=name == "sym",
        split=split,
    )
    return DeviceSeries(plain, matrix) if isinstance(plain, SeriesOperator) else matrix


def _raise_overflow(out: torch.Tensor) -> NoReturn:
    """Raise an error that names the first row and column whose value is not finite."""
    rows = max(CHECKED // out.shape[1], 1)
    for first in range(0, out.shape[0], rows):
        wrong = torch.nonzero(~torch.isfinite(out[first : first + rows]))
        if wrong.numel():
            row, column = first + int(wrong[0, 0]), int(wrong[0, 1])
            raise RangeOverflowError(
                f"aggregation at node {row}, column {column} of the block is too large for "
                f"{str(out.dtype).removeprefix('torch.')}: rescale the attributes"
            )
    msg = "a value was not finite, but is now: something else writes to the output"
    raise AssertionError(msg)
