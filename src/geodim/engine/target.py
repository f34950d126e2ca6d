"""Where solvers take their bar from and leave what they found.

It is the one interface between a column and what it counts for.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Piece = tuple[int, int]
    Sizes = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Solved:
    """What a solver found of one column, all of it or a piece.

    It holds until the solver goes on: merge it, or copy.

    Attributes
    ----------
    phi : array of float64, shape (n_points - cut,)
        phi at d = k - 1 - cut; meaningful on ``ranges`` alone.  Elsewhere the column lies
        strictly below the target's bar.
    ranges : array of int64, shape (m, 2)
        First and one past the last index of ``phi`` that was solved.
    column : int
        Whose phi it is.
    cut : int
        This many points of a majority run were left out: below that phi is 0.
    work : array of int64
        What it took, see `geodim.engine.kernels.counters`.
    piece : pair of int, optional
        Which of the announced pieces this is; None for a whole column.
    loose : float
        By how much ``phi`` may exceed what it stands for, see `geodim.engine.hard`; 0 is exact.
    """

    phi: NDArray[np.float64]
    ranges: NDArray[np.int64]
    column: int
    cut: int
    work: NDArray[np.int64]
    piece: Piece | None = None
    loose: float = 0.0


class Target(Protocol):
    """Takes the phi of columns, in any order and from several threads at once."""

    @property
    def phi(self) -> NDArray[np.float64]:
        """What a column must reach to matter, by d = k - 1.

        It may grow while a solver reads it, and must never shrink: any value read is a valid bar.
        """

    def begin(self, column: int, pieces: dict[Piece, Sizes]) -> None:
        """Hear that a column is solved in these pieces, each with its first d and one past its last."""

    def merge(self, solved: Solved) -> None:
        """Take what was found; called once per piece, or once per column."""
