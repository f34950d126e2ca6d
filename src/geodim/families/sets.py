"""Jaccard distances between sets: rows of zeros and ones, sets of anything, tokens of texts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from geodim.data.sources import SparseSource, as_source
from geodim.data.texts import sets_of
from geodim.errors import InputTypeError, InputValueError
from geodim.families.sources import MadeColumns, digest_of_parts
from geodim.families.spaces import Space, no_others

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray
    from scipy.sparse import csr_array


def set_space(data: object) -> Space:
    """Return sets with their Jaccard distances.

    Parameters
    ----------
    data
        An array of zeros and ones, or a sparse matrix, a set in each row; or a list of sets; or a list of
        strings, or the path of a file of lines, each a set of tokens (see `geodim.data.texts`).
    """
    names = None
    if isinstance(data, np.ndarray) and data.dtype.kind in "fiubc":
        from scipy import sparse  # noqa: PLC0415 - takes long to import

        as_source(data)  # raises unless it is a table of numbers
        _check_binary(data)
        sets = _compressed(sparse.csr_array(np.asarray(data) != 0))
    elif hasattr(data, "tocsr"):
        rows = as_source(data)
        assert isinstance(rows, SparseSource)
        matrix = rows.csc.tocsr()
        matrix.eliminate_zeros()
        _check_binary(matrix.data)
        sets = _compressed(matrix)
    elif len(getattr(data, "shape", ())) == 2:
        raise InputTypeError(
            f"metric='jaccard' takes an array of zeros and ones or a sparse matrix, a set in each row, or a "
            f"list of sets or strings, not a {type(data).__name__}: use X.to_numpy()"
        )
    else:
        sets, names = sets_of(data)
    indptr, indices, members = sets
    return Space(
        len(indptr) - 1,
        lambda points: SetDistances(indptr, indices, members, points, None),
        no_others("jaccard"),
        names,
    )


class SetDistances(MadeColumns):
    """Jaccard distances between sets: 1 - |A and B| / |A or B|, and 0 between two empty sets.

    Parameters
    ----------
    indptr, indices : arrays of int64, shape (n + 1,), and int32
        The members of each set, as in a compressed sparse row matrix.
    n_members : int
        Members that exist.
    centres : array of int, shape (m,)
        Which sets to measure from.
    names : list of str, optional
        Their names.
    """

    def __init__(
        self,
        indptr: NDArray[np.int64],
        indices: NDArray[np.int32],
        n_members: int,
        centres: NDArray[np.intp],
        names: list[str] | None,
    ) -> None:
        super().__init__(len(indptr) - 1, len(centres), centres, "jaccard", names)
        self.indptr, self.indices, self.n_members = indptr, indices, n_members
        self.sizes = np.diff(indptr)

    def fill(
        self, columns: Sequence[int], out: NDArray[np.floating], rows: NDArray[np.intp] | None = None
    ) -> None:
        """Mark the members of one set, and count them in all others."""
        from geodim.families._kernels import fill_jaccard  # noqa: PLC0415 - imports Numba

        assert self.points is not None
        values = out if rows is None else np.empty((len(columns), self.n_points))
        centres = self.points[np.asarray(columns, np.intp)].astype(np.int64)
        present = np.zeros(self.n_members, np.uint8)
        fill_jaccard(self.indptr, self.indices, self.sizes, centres, present, values)
        if rows is not None:
            out[:] = values[:, rows]

    def error(self, greatest: float) -> float:
        """Return half a unit of 2^-53: counts are exact, and one quotient of at most 1 is rounded."""
        return 0.0 if greatest == 0.0 else 2.0**-54

    @property
    def held(self) -> int:
        """Bytes of the sets in compressed rows."""
        return self.indptr.nbytes + self.indices.nbytes + self.sizes.nbytes

    def digest(self) -> bytes:
        """Return a digest of the sets and the centres."""
        return digest_of_parts(self.indptr, self.indices, self.points)


def _compressed(rows: csr_array) -> tuple[NDArray[np.int64], NDArray[np.int32], int]:
    rows.sort_indices()
    return rows.indptr.astype(np.int64), rows.indices.astype(np.int32), int(rows.shape[1])


def _check_binary(values: NDArray[Any]) -> None:
    """Raise for values other than 0 and 1, which would be dropped silently."""
    wrong = (values != 0) & (values != 1)
    if wrong.any():
        at = np.argwhere(wrong)[0].tolist()
        where = f"row {at[0]}, column {at[1]}" if values.ndim == 2 else f"stored entry {at[0]}"
        msg = (
            f"metric='jaccard' is for sets, rows of zeros and ones, and {where} is "
            f"{values[tuple(at)]!r}: compare with a threshold first, for example X > 0"
        )
        raise InputValueError(msg)
