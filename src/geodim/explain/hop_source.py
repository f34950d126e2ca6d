"""The columns of X, TX, T^2 X, ... as one source, to read single features of a k-hop data set again.

Column m * d + j is attribute j after m hops, numbered as in `geodim.khop_dimensions` and
equal to it bit for bit.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from geodim.data.sources import as_source, column_chunks
from geodim.features.hops import feature_type

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from geodim.features.operators import Operator


class HopSource:
    """Hops 0..hops of all attributes; each column is aggregated when it is read.

    Parameters
    ----------
    X
        The attributes, in any form that `as_source` takes.
    operator : Operator
        What one hop does.
    hops : int
        The largest hop.
    names : list of str, optional
        Names of the attributes, where X has none.
    """

    runs = False
    row_major = False

    def __init__(self, X: object, operator: Operator, hops: int, names: Sequence[str] | None = None) -> None:
        self.attributes = as_source(X, names=names)
        self.operator = operator
        self.dtype: np.dtype[np.floating] = feature_type(X, self.attributes)
        self.n_points = self.attributes.n_points
        self.n_features = (hops + 1) * self.attributes.n_features
        base = self.attributes.names or [str(j) for j in range(self.attributes.n_features)]
        self.names: list[str] | None = [hop_label(name, hop) for hop in range(hops + 1) for name in base]

    def read(self, columns: Sequence[int], out: NDArray[np.floating]) -> None:
        """Aggregate the columns, all those of one hop together."""
        from geodim.features import iter_hop_blocks  # noqa: PLC0415 - imports Numba

        hop, attribute = np.divmod(np.asarray(columns, np.intp), self.attributes.n_features)
        for m in np.unique(hop).tolist():
            which = np.flatnonzero(hop == m)
            blocks = iter_hop_blocks(
                self.attributes, self.operator, m, attribute[which], dtype=self.dtype, n_threads=1
            )
            for block in blocks:
                last = block
            out[which] = last.T

    def read_runs(self, column: int) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """Return sorted values, each once per point."""
        out = np.empty((1, self.n_points), self.dtype)
        self.read([column], out)
        return np.sort(out[0].astype(np.float64)), np.ones(self.n_points, np.int64)

    def chunks(self) -> list[tuple[slice, slice]]:
        """Return chunks of one column each."""
        return column_chunks(self)

    def chunk(self, rows: slice, columns: slice) -> NDArray[Any]:
        """Return some rows of neighbouring columns."""
        out = np.empty((columns.stop - columns.start, self.n_points), self.dtype)
        self.read(range(columns.start, columns.stop), out)
        return out[:, rows].T

    def sample(self, columns: NDArray[np.intp], rows: NDArray[np.intp]) -> NDArray[np.float64]:
        """Return a few rows of a few columns."""
        out = np.empty((columns.size, self.n_points), self.dtype)
        self.read(columns.tolist(), out)
        return out[:, rows].T.astype(np.float64)


def hop_label(name: str, hop: int) -> str:
    """Return the name that `geodim.khop_dimensions` gives an attribute after some hops."""
    return name if hop == 0 else f"hop {hop}: {name}"
