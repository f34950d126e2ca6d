"""Where solvers take their bar from and deliver what they found.

This is the one interface between a column's solver and whatever its phi is used for.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    Piece = tuple[int, int]
    Sizes = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Solved:
    """What a solver found out about one column, or about a piece of it.

    The arrays are valid until the solver goes on: merge or copy them before.

    Attributes
    ----------
    phi : array of float64, shape (n_points - cut,)
        phi at d = k - 1 - cut; meaningful only on ``ranges``.  Elsewhere the column lies
        strictly below the target's bar.
    ranges : array of int64, shape (m, 2)
        Half-open ranges of indices of ``phi`` that were solved.
    column : int
        The column's number.
    cut : int
        How many points of a majority run were left out; at these sizes phi is 0.
    work : array of int64
        Counters of the work done, see `geodim.engine.kernels.counters`.
    pieces : sequence of pairs of int
        Which of the announced pieces these are; none for a whole column.
    loose : float
        By how much ``phi`` may exceed the true value, see `geodim.engine.hard`; 0 is exact.
    """

    phi: NDArray[np.float64]
    ranges: NDArray[np.int64]
    column: int
    cut: int
    work: NDArray[np.int64]
    pieces: Sequence[Piece] = ()
    loose: float = 0.0


class Target(Protocol):
    """Takes the phi of columns, in any order and from several threads at once."""

    @property
    def phi(self) -> NDArray[np.float64]:
        """The bar that a column must reach to matter, by d = k - 1.

        It may grow while a solver reads it, and must never shrink: any value read is a valid bar.
        """

    def begin(self, column: int, pieces: dict[Piece, Sizes]) -> None:
        """Announce that a column is solved in these pieces, each with its half-open range of d."""

    def merge(self, solved: Solved) -> None:
        """Take what was found; called for one or some pieces, or once per column."""
