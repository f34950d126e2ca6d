"""The two best columns at every size: what Phi is without any one feature, known at once.

A target of the engine's solvers: a column is rejected only where two others exceed it.
*No place is lost by rejecting concurrently:* a column f is rejected at d only if two other columns reached
more at some a <= d, hence (phi never falls) both exceed f at d, and f is not among the two best there.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import numpy as np

from geodim.memory import PROFILE_BYTES, check_points

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from geodim.engine.target import Piece, Sizes, Solved
    from geodim.explain.passes import ColumnPass


class TopTwo:
    """Best and second best phi at every d = k - 1, and the columns they belong to.

    Of equal values the lower column comes first.

    Parameters
    ----------
    n_points : int
        Number of points.

    Attributes
    ----------
    best, second : array of float
        The two largest phi.
    owner, runner : array of int
        Their columns; -1 where phi is 0.
    """

    def __init__(self, n_points: int) -> None:
        check_points(n_points, 2 * PROFILE_BYTES)
        self.best, self.second = np.zeros(n_points), np.zeros(n_points)
        self.owner, self.runner = np.full(n_points, -1, np.int32), np.full(n_points, -1, np.int32)
        self._lock = threading.Lock()

    @property
    def phi(self) -> NDArray[np.float64]:
        """What a column must reach to matter."""
        return self.second

    def begin(self, column: int, pieces: dict[Piece, Sizes]) -> None:
        """Pieces of a column are not told apart here."""

    def merge(self, solved: Solved) -> None:
        """Merge one column's phi."""
        from geodim.explain._kernels import merge_two  # noqa: PLC0415 - imports Numba

        held = (held[solved.cut :] for held in (self.best, self.owner, self.second, self.runner))
        with self._lock:
            merge_two(solved.phi, solved.ranges, len(solved.ranges), solved.column, *held)

    def solve(self, columns: ColumnPass, which: Iterable[int]) -> None:
        """Merge these columns."""
        columns.run(which, lambda slot, column: slot.solve(column, self))

    def without(self, column: int) -> tuple[NDArray[np.float64], NDArray[np.int32]]:
        """Phi and its owners if one column were not there."""
        own = self.owner == column
        return np.where(own, self.second, self.best), np.where(own, self.runner, self.owner)

    def losses(self, n_features: int) -> NDArray[np.float64]:
        """By which part the sum of Phi falls without each column."""
        largest = float(self.best[-1]) or 1.0  # sums of the widths themselves could overflow
        owned = self.owner >= 0
        gaps = (self.best - self.second)[owned] / largest
        sums = np.bincount(self.owner[owned], gaps, n_features).astype(np.float64)
        losses: NDArray[np.float64] = sums / (float((self.best / largest).sum()) or 1.0)
        return losses
