"""The gap recursion over the pieces of one column: piece by piece, or all of them in one call."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from geodim.engine.kernels import gaps, sweep
from geodim.engine.kernels.counters import N_COUNTERS, TEST_LOOKS, TESTS, WINDOWS
from geodim.engine.kernels.pyramid import BASE
from geodim.engine.parts import copied

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from geodim.engine.column import ColumnSolver
    from geodim.engine.layout import PyramidLayout
    from geodim.engine.patterns import InPieces

GAPS_TRIED = 4  # of 33 to 64, to see whether windows are nearly equally wide


@dataclass(frozen=True)
class Sweep:
    """What threads that solve columns side by side share, besides the profile.

    Attributes
    ----------
    bar : array of float64, shape (n_points,)
        What was reached at each d = k - 1.  Every thread raises it, without a lock.
    halted : array of uint8, shape (1,)
        Not 0 if all of them should stop.
    """

    bar: NDArray[np.float64]
    halted: NDArray[np.uint8]

    @classmethod
    def from_phi(cls, phi: NDArray[np.float64], n_threads: int = 1) -> Sweep:
        """Begin with what a profile holds."""
        return cls(copied(phi, n_threads), np.zeros(1, np.uint8))

    def raise_to(self, phi: NDArray[np.float64], ranges: NDArray[np.int64], cut: int) -> None:
        """Let the others know what was found."""
        sweep.raise_bar(phi, ranges, len(ranges), 1, self.bar[cut:])


@dataclass(frozen=True)
class Recursion:
    """A column prepared for the recursion.

    ``solver`` owns the buffers, and ``alike`` takes over if windows turn out to be nearly equally wide; all
    else is as in `geodim.engine.kernels.gaps.solve_gaps`.
    """

    solver: ColumnSolver
    alike: InPieces
    l: NDArray[np.float64]
    n: int
    layout: PyramidLayout
    grain: float
    slack: float
    bar: float
    unit: float
    least: float
    span: float
    known: NDArray[np.float64]
    skip: bool
    most_looks: int

    def solve(self, piece: tuple[int, int], work: NDArray[np.int64]) -> tuple[NDArray[np.int64], int]:
        """Solve one piece; return the ranges of d that were filled, and their number."""
        if self.alike.used:
            return self.alike.solve(piece, work)
        sizes = (piece[1] - piece[0]) << self.layout.top_shift
        ranges = np.empty((sizes // BASE + BASE, 2), np.int64)
        count = gaps.solve_gaps(
            *self._column, *piece, self.known, self.solver.slope, self.skip, 0, self.most_looks * sizes,
            self.solver.phi, ranges, *self.solver.candidate_lists(), work,
        )  # fmt: skip
        return (ranges, count) if count >= 0 else self.alike.solve(piece, work)

    def looks_too_often(self, share: float) -> bool:
        """Return whether a gap takes this share of the looks that make it give up, whatever others reached.

        Some are tried, all over the column.
        """
        nothing, most = np.zeros(self.n), int(share * self.most_looks) << self.layout.top_shift
        ranges = np.empty(((1 << self.layout.top_shift) // BASE + BASE, 2), np.int64)
        every = int(self.layout.counts[-1])
        for gap in np.unique(np.linspace(0, every, GAPS_TRIED + 1).astype(int)[:-1]).tolist():
            work = np.zeros(N_COUNTERS, np.int64)
            count = gaps.solve_gaps(
                *self._column, gap, gap + 1, nothing, self.solver.slope, self.skip, 0, most, self.solver.phi,
                ranges, *self.solver.candidate_lists(), work,
            )  # fmt: skip
            # A gap with a single leaf may not have noticed, and the smallest sizes always take many looks.
            if count < 0 or (gap > 0 and work[WINDOWS] + TEST_LOOKS * work[TESTS] > most):
                return True
        return False

    def sweep(
        self, pieces: NDArray[np.int64], halted: NDArray[np.uint8], work: NDArray[np.int64]
    ) -> tuple[int, NDArray[np.int64]]:
        """Solve pieces, of shape (m, 2), in one call; return how many it finished, and the ranges it filled.

        It ends early if it is halted, or if the next piece is one for `solve`.
        """
        ranges = np.empty((self.n // BASE + (len(pieces) + 2) * BASE, 2), np.int64)
        done, count = sweep.solve_swept(
            *self._column, pieces, self.known, self.skip, self.most_looks, halted,
            self.solver.phi, ranges, *self.solver.candidate_lists(), work,
        )  # fmt: skip
        return done, ranges[:count]

    @property
    def _column(self) -> tuple[object, ...]:
        return (
            self.l, self.n, self.solver.records, self.layout.offsets, self.layout.counts, self.grain,
            self.slack, self.bar, self.unit, self.least, self.span,
        )  # fmt: skip
