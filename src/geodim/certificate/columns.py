"""Columns of any data, a few at a time: what certificates are made from and checked against."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from geodim.data.checks import raise_not_finite
from geodim.data.shapes import check_shape, check_type
from geodim.data.sources import FrameSource, as_source
from geodim.errors import InputValueError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    import dask.array
    import torch
    from numpy.typing import NDArray

    from geodim.data.sources import ColumnSource

AT_A_TIME = 8
BLOCK_BYTES = 1 << 28
LARGEST_WHOLE = 2.0**53


class Columns:
    """Points by features in any form `geodim.intrinsic_dimension` takes; remote data is fetched by columns.

    Attributes
    ----------
    shape : tuple of int
        Points and features.
    names : list of str or None
        Names of the features, where the data has them.
    """

    def __init__(self, data: object) -> None:
        self._far = _elsewhere(data)
        self._source: ColumnSource | None = None
        held: ColumnSource | dask.array.Array | torch.Tensor
        if self._far is None:
            held = self._source = as_source(data)
            self.shape = self._source.n_points, self._source.n_features
            self.names = self._source.names
        else:
            held = self._far
            check_shape(held.shape)
            self.shape = int(held.shape[0]), int(held.shape[1])
            self.names = None
        self._long = _long_integers(held, self.shape[1])
        self.at_a_time = max(1, min(AT_A_TIME, BLOCK_BYTES // (8 * self.shape[0])))

    def read(self, which: Sequence[int]) -> NDArray[np.floating]:
        """Return some columns, one per row; raise if a value is not finite or an integer beyond float64."""
        if self._source is not None:
            block = np.empty((len(which), self.shape[0]), self._source.dtype)
            self._source.read(which, block)
        else:
            assert self._far is not None
            block = _brought(self._far, list(which))
        for at, j in enumerate(which):
            if not np.isfinite(block[at]).all():
                row = int(np.flatnonzero(~np.isfinite(block[at]))[0])
                source = self._source or as_source(block.T)
                raise_not_finite(source, row, slice(j, j + 1), block[at : at + 1, row : row + 1].T)
            if j in self._long and float(np.abs(block[at]).max()) >= LARGEST_WHOLE:
                msg = (
                    f"column {j} holds whole numbers of 2^53 and more, which float64 does not tell apart: "
                    "such data cannot be certified; subtract a constant or divide first"
                )
                raise InputValueError(msg)
        return block

    def __iter__(self) -> Iterator[NDArray[np.floating]]:
        """Yield all columns in order."""
        for first in range(0, self.shape[1], self.at_a_time):
            yield from self.read(range(first, min(first + self.at_a_time, self.shape[1])))


def _elsewhere(data: object) -> dask.array.Array | torch.Tensor | None:
    """Return a Dask array or a tensor on a device, to be fetched by columns; None for data in memory here."""
    module = type(data).__module__.partition(".")[0]
    far: Any = data  # what its module says
    if module in ("dask", "dask_expr"):
        if hasattr(far, "to_dask_array"):
            far = (far.to_frame() if far.ndim == 1 else far).to_dask_array(lengths=True)
        array: dask.array.Array = far.compute_chunk_sizes() if np.isnan(far.shape).any() else far
        check_type(array.dtype)
        return array
    if module == "torch" and getattr(getattr(far, "device", None), "type", "cpu") != "cpu":
        tensor: torch.Tensor = far.detach()
        return tensor
    return None


def _brought(data: dask.array.Array | torch.Tensor, which: list[int]) -> NDArray[np.floating]:
    some = data[:, which]
    array = some.compute() if hasattr(some, "compute") else as_source(some).chunk(slice(None), slice(None))
    columns = np.ascontiguousarray(np.asarray(array).T)
    return columns if columns.dtype.kind == "f" else columns.astype(np.float64)


def _long_integers(
    source: ColumnSource | dask.array.Array | torch.Tensor, n_features: int
) -> Collection[int]:
    """Return the columns of 64-bit integers, some of which float64 does not hold."""
    if isinstance(source, FrameSource):
        types = source.frame.schema.dtypes()
        return {j for j, dtype in enumerate(types) if str(dtype) in ("Int64", "UInt64", "Int128", "UInt128")}
    held = getattr(source, "array", getattr(source, "csc", source))
    return range(n_features) if str(held.dtype).rpartition(".")[2] in ("int64", "uint64") else ()
