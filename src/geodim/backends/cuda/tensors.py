"""CUDA tensors as a source of columns, used where they are stored."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import numpy as np

from geodim.data.checks import Moments, raise_not_finite, ranges_of
from geodim.data.shapes import check_shape
from geodim.data.sources import as_slice
from geodim.errors import InputTypeError
from geodim.optional import require

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import torch
    from numpy.typing import NDArray

    from geodim.data.checks import Ranges
else:
    torch = require("torch", "gpu", "the CUDA backend")

CHUNK = 1 << 25  # values that are examined together in the first pass
GATHERED = (128, 16)  # rows and columns that one program copies
SCAN_ROWS, SCAN_TILE, SCAN_COLUMNS = 4096, 16, 128  # of one program, which takes its rows one tile at a time
SHORT = (torch.float32, torch.float16, torch.bfloat16, torch.bool, torch.int8, torch.uint8, torch.int16)
LONG = (torch.int64, torch.uint64)  # not every value is a float64, see `geodim.data.integers`


def tensor_type(tensor: torch.Tensor) -> torch.dtype:
    """Return the working type, as `geodim.data.shapes.working_type` does; NumPy has no name for bfloat16."""
    return torch.float32 if tensor.dtype in SHORT else torch.float64


@runtime_checkable
class DeviceSource(Protocol):
    """Columns that are stored on the device, or computed there."""

    n_points: int
    n_features: int
    dtype: np.dtype[np.floating]

    def rows(self, columns: Sequence[int]) -> torch.Tensor:
        """Return some columns as the rows of a new tensor, float32 or float64."""

    def at_points(self, points: NDArray[np.intp]) -> Iterator[torch.Tensor]:
        """Yield all columns at some points, as rows, in blocks of columns."""


class TensorSource:
    """A two-dimensional tensor of points by features; see `geodim.data.sources.ColumnSource`."""

    runs = False

    def __init__(self, tensor: torch.Tensor) -> None:
        if tensor.is_complex():
            msg = (
                f"the data is complex ({tensor.dtype}): take the real and imaginary parts as separate columns"
            )
            raise InputTypeError(msg)
        check_shape(tuple(tensor.shape))
        self.tensor = tensor.detach()
        self.n_points, self.n_features = (int(size) for size in tensor.shape)
        self.kind = tensor_type(tensor)
        self.dtype: np.dtype[np.floating] = np.dtype(np.float32 if self.kind == torch.float32 else np.float64)
        self.long_integers = tensor.dtype in LONG
        self.row_major = self.n_features > 1 and tensor.stride(1) < tensor.stride(0)
        self.names: list[str] | None = None

    def shifted(self) -> TensorSource | None:
        """Return long integers relative to the least of each column; None if that would overflow.

        See `geodim.data.integers`.
        """
        if self.tensor.dtype != torch.int64:
            return None
        low, high = torch.aminmax(self.tensor, dim=0)
        if not bool((high.double() - low.double() < 2.0**62).all()):
            return None
        other = TensorSource(self.tensor - low)
        other.names = self.names
        return other

    def rows(self, columns: Sequence[int]) -> torch.Tensor:
        """Return columns as the rows of a new tensor on the device."""
        some = as_slice(list(columns))
        if not isinstance(some, slice):
            chosen = torch.as_tensor(columns, device=self.tensor.device)
            return self.tensor.index_select(1, chosen).to(self.kind).T.contiguous()
        if self.tensor.dtype == self.kind:
            return self._gathered(self.tensor[:, some])
        return self.tensor[:, some].T.to(self.kind, memory_format=torch.contiguous_format, copy=True)

    def _gathered(self, some: torch.Tensor) -> torch.Tensor:
        """Return columns as rows, by a kernel of ours: PyTorch copies single values, in ten times as long."""
        from geodim.backends.cuda.scan_kernels import columns_as_rows  # noqa: PLC0415 - imports Triton

        n, width = some.shape
        found = torch.empty((width, n), dtype=self.kind, device=some.device)
        columns_as_rows[(-(-n // GATHERED[0]), -(-width // GATHERED[1]))](
            some, n, *some.stride(), width, found, ROWS=GATHERED[0], COLUMNS=GATHERED[1], num_warps=4
        )
        return found

    def at_points(self, points: NDArray[np.intp]) -> Iterator[torch.Tensor]:
        """Yield all columns at some points, in a single block."""
        some = self.tensor[torch.as_tensor(points, device=self.tensor.device)]
        yield some.T.to(self.kind).contiguous()

    def read(self, columns: Sequence[int], out: NDArray[np.floating]) -> None:
        """Copy some columns to the host, in any thread: PyTorch knows where a tensor is, kernels need not."""
        out[:] = self.tensor[:, as_slice(list(columns))].to(self.kind).T.cpu().numpy()

    def read_runs(self, column: int) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """Return the sorted values of a column, each with multiplicity 1."""
        values = torch.sort(self.rows([column])[0])[0].double().cpu().numpy()
        return values, np.ones(values.size, np.int64)

    def chunks(self) -> list[tuple[slice, slice]]:
        """Return the blocks of rows for the first pass."""
        step, every = max(CHUNK // self.n_features, 1), slice(0, self.n_features)
        return [(slice(row, min(row + step, self.n_points)), every) for row in range(0, self.n_points, step)]

    def chunk(self, rows: slice, columns: slice) -> NDArray[Any]:
        """Return some rows, copied to the host."""
        values: NDArray[Any] = self.tensor[rows, columns].to(self.kind).cpu().numpy()
        return values

    def sample(self, columns: NDArray[np.intp], rows: NDArray[np.intp]) -> NDArray[np.float64]:
        """Return a few rows of a few columns."""
        device = self.tensor.device
        some = self.tensor[torch.as_tensor(rows, device=device)]
        values: NDArray[np.float64] = some[:, torch.as_tensor(columns, device=device)].double().cpu().numpy()
        return values


def scan_tensor(source: TensorSource) -> Ranges:
    """Make the first pass over the data, on the device; raise if a value is not finite."""
    found = Moments.nothing(source.n_features)
    if source.tensor.dtype in (torch.float32, torch.float64):
        host = _moments(source.tensor)
        if np.all(np.isfinite(host)):
            found.add(Moments(slice(0, source.n_features), *host))
            return ranges_of(source, found)
    for rows, columns in source.chunks():  # other types, and sums that overflow or are not finite
        chunk = source.tensor[rows, columns].to(source.kind)
        low, high = torch.aminmax(chunk, dim=0)
        ends = torch.stack([low, high]).double()
        norms = torch.linalg.vector_norm(chunk, dim=0, dtype=torch.float64)
        sums = torch.stack([chunk.sum(0, dtype=torch.float64), norms * norms])
        host = torch.cat([ends, sums]).cpu().numpy()
        if not np.all(np.isfinite(host[:2])):
            raise_not_finite(source, rows.start, columns, chunk.cpu().numpy())
        found.add(Moments(columns, *host))
    return ranges_of(source, found)


def _moments(tensor: torch.Tensor) -> NDArray[np.float64]:
    """Return the extremes, the sum and the sum of squares of every column, in one pass over the memory."""
    from geodim.backends.cuda.scan_kernels import partial_moments  # noqa: PLC0415 - imports Triton

    n, d = tensor.shape
    parts, column_blocks = -(-n // SCAN_ROWS), -(-d // SCAN_COLUMNS)
    found = torch.empty((parts, 4, d), dtype=torch.float64, device=tensor.device)
    partial_moments[(parts * column_blocks,)](
        tensor, n, d, *tensor.stride(), column_blocks, found, ROWS=SCAN_ROWS, TILE=SCAN_TILE,
        COLUMNS=SCAN_COLUMNS, num_warps=8,
    )  # fmt: skip
    ends = torch.stack([found[:, 0].amin(0), found[:, 1].amax(0)])
    host: NDArray[np.float64] = torch.cat([ends, found[:, 2:].sum(0)]).cpu().numpy()
    return host
