"""Simpler columns with the same phi: without values far away, from 0 on, and not the same one twice."""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def leave_out_outliers(l: NDArray[np.float64], n: int, phi: NDArray[np.float64]) -> tuple[int, int]:
    """Find values that lie at least as far from all others as these spread (F29 in docs/mathematics.md).

    Returns where the others begin and how many they are.  Larger windows hold such values; their phi is
    written, from that number on.
    """
    first, stop = 0, n
    while stop - first > 2:
        rest, other_rest = l[stop - 2] - l[first], l[stop - 1] - l[first + 1]
        if l[stop - 1] - l[stop - 2] >= rest:
            left_out = 0, -1
        elif l[first + 1] - l[first] >= other_rest:
            left_out = 1, 0
        else:
            break
        phi[stop - first - 1] = l[stop - 1] - l[first]
        first, stop = first + left_out[0], stop + left_out[1]
    return first, stop - first


def begin_at_zero(l: NDArray[np.float64], n: int) -> bool:
    """Subtract the least of n ascending values from all of them, in place, if no difference rounds.

    That is so if they lie within a factor of 2 (Sterbenz); widths keep their bits (F30 in
    docs/mathematics.md).  Returns whether it was done.
    """
    least, greatest = float(l[0]), float(l[n - 1])
    if not ((least > 0.0 and 0.5 * greatest <= least) or (greatest < 0.0 and 0.5 * least >= greatest)):
        return False
    l[:n] -= least
    return True


class Twins:
    """Remembers the sorted columns that are solved already, by their digests: equal ones are one column."""

    def __init__(self) -> None:
        self._solved: dict[bytes, int] = {}

    def add(self, digest: bytes, column: int) -> None:
        """Remember that a column is solved."""
        self._solved[digest] = min(column, self._solved.get(digest, column))

    def has_lower(self, digest: bytes, column: int) -> bool:
        """Return whether an equal column with a lower number, to which ties belong, is solved."""
        return self._solved.get(digest, column) < column

    @staticmethod
    def digest(l: NDArray[np.float64], n: int, cut: int) -> bytes:
        """Return a digest of a sorted column of which ``cut`` points were left out."""
        found = sha256(f"{n} {cut} ".encode(), usedforsecurity=False)
        found.update(l[:n].data)
        return found.digest()
