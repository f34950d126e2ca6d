"""The two best columns at every size, from which Phi without any one feature follows at once.

The bar of this profile is the second best phi: a column is rejected only where two others exceed it. *No
column is lost by concurrent rejection:* a column f is rejected at d only if two other columns reached more at
some a <= d.  Since phi never falls, both exceed f at d, so f is not among the two best there.  Nor does it
attain the best, so ties for the best are counted completely.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from geodim.engine.parts import divisor, exact_sum, mean_of
from geodim.engine.profile import LOOSE, Profile
from geodim.memory import PROFILE_BYTES, check_points

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from geodim.engine.target import Solved

TWO_BYTES = 16  # per point, in addition to a profile: the best, who holds it, and how many do


@dataclass
class TopTwo(Profile):
    """Best and second best phi at every d = k - 1, and the columns they belong to.

    Among equal values, the lower column comes first.  ``phi`` and ``owner`` hold the second best.

    Attributes
    ----------
    best : array of float
        The largest phi.
    holder : array of int
        The lowest column that attains it; -1 where it is 0.
    tied : array of int
        How many columns attain it.
    """

    raised_by_each: ClassVar[bool] = False  # two columns must attain it
    ties_matter: ClassVar[bool] = True

    best: NDArray[np.float64] = field(default_factory=lambda: np.empty(0))
    holder: NDArray[np.int32] = field(default_factory=lambda: np.empty(0, np.int32))
    tied: NDArray[np.int32] = field(default_factory=lambda: np.empty(0, np.int32))

    @classmethod
    def of(cls, n_points: int, n_features: int) -> TopTwo:
        """Return a profile to which no column has contributed yet."""
        check_points(n_points, PROFILE_BYTES + TWO_BYTES)
        return cls(
            phi=np.zeros(n_points),
            owner=np.full(n_points, -1, np.int32),
            step=0.0,
            done=np.zeros(n_features, np.bool_),
            n_points=n_points,
            best=np.zeros(n_points),
            holder=np.full(n_points, -1, np.int32),
            tied=np.zeros(n_points, np.int32),
        )

    @property
    def second(self) -> NDArray[np.float64]:
        """The second largest phi; it may equal the largest."""
        return self.phi

    @property
    def runner(self) -> NDArray[np.int32]:
        """The column that holds the second largest phi."""
        return self.owner

    def merge(self, solved: Solved) -> None:
        """Merge one column's phi."""
        from geodim.engine.kernels.columns import merge_two  # noqa: PLC0415 - imports Numba

        held = (held[solved.cut :] for held in (self.best, self.holder, self.tied, self.second, self.runner))
        with self.lock:
            merge_two(solved.phi, solved.ranges, len(solved.ranges), solved.column, *held)
            self.work += solved.work
            if solved.loose > 0.0:
                self.notes[LOOSE][solved.column] = solved.loose
            for piece in solved.pieces:
                del self.unsolved[solved.column][piece]

    def merge_whole(self, phi: NDArray[np.float64], column: int) -> None:
        """Merge a whole column's phi with NumPy alone."""
        with self.lock:
            there = (phi > 0.0) & (self.holder != column) & (self.runner != column)
            above, equal = there & (phi > self.best), there & (phi == self.best)
            first = above | (equal & (column < self.holder))
            other = there & ~first
            other &= (phi > self.second) | ((phi == self.second) & (column < self.runner))
            self.tied[above] = 1
            self.tied[equal] += 1
            self.second[first], self.runner[first] = self.best[first], self.holder[first]
            self.best[first], self.holder[first] = phi[first], column
            self.second[other], self.runner[other] = phi[other], column

    def reached(self, bar: NDArray[np.float64], by: NDArray[np.int32]) -> None:
        """Write the bar as any profile does, but name no column: columns that tie count here."""
        super().reached(bar, by)
        by[:] = -1

    def winner(self) -> Profile:
        """Return the profile of the best phi, as if nothing else had been computed."""
        loose = LOOSE in self.notes  # then the best may still be raised, but not beside the second best
        best, holder = (self.best.copy(), self.holder.copy()) if loose else (self.best, self.holder)
        found = Profile(
            phi=best, owner=holder, step=0.0, done=self.done, n_points=self.n_points,
            work=self.work, bytes_read=self.bytes_read, stopped=self.stopped, unsolved=self.unsolved,
            notes=self.notes,
        )  # fmt: skip
        if found.stopped is None:
            found.never_fall()
        return found

    def never_fall(self) -> None:
        """Do nothing: `winner` does it, and which column is second is known size by size only."""

    def without(self, column: int) -> tuple[NDArray[np.float64], NDArray[np.int32]]:
        """Return Phi and its owners as they would be without one column."""
        own = self.holder == column
        return np.where(own, self.second, self.best), np.where(own, self.runner, self.holder)

    def phi_without(self, column: int) -> NDArray[np.float64]:
        """Return Phi without one column, raised to what is held at smaller sizes if widths may be off.

        A column was left out only where two others reached more at smaller sizes, so one of these is there.
        """
        phi, _ = self.without(column)
        return np.maximum.accumulate(phi, out=phi) if self.may_fall else phi

    def deltas(self, *, normalize: bool, scale: float | None = None) -> dict[int, float]:
        """Return Delta without each of the columns that hold the best phi somewhere.

        Removing any other column does not change Delta.  Sums are exact, so what a column held is subtracted
        from the total without rounding, and the bits are those of a sum over the remaining columns.

        Parameters
        ----------
        normalize : bool
            Whether widths are divided by the largest range; the column removed may be the one that has it.
        scale : float, optional
            What widths are divided by instead, whichever columns remain.
        """
        total = exact_sum(self.best[1:])
        assert total is not None
        found: dict[int, float] = {}
        for column, places in self.held().items():
            if self.may_fall:  # what is raised then depends on which column is gone
                rest = exact_sum(self.phi_without(column)[1:]) or 0
            else:
                rest = total - (exact_sum(self.best[places]) or 0) + (exact_sum(self.second[places]) or 0)
            last = (
                self.second[-1] if self.holder[-1] == column else self.best[-1]
            )  # Phi(n), the largest range
            by = divisor(float(last), normalize) if scale is None else scale
            found[column] = mean_of(rest, self.n_points, by)
        return found

    def alone(self) -> dict[int, float]:
        """Return, for each column that holds the best, the part of the sum of Phi that it alone attains."""
        total = exact_sum(self.best)
        return {
            column: _part(self.best[places[self.tied[places] == 1]], total)
            for column, places in self.held().items()
        }

    def tied_part(self) -> float:
        """Return the part of the sum of Phi that several columns attain."""
        return _part(self.best[self.tied > 1], exact_sum(self.best))

    def held(self) -> dict[int, NDArray[np.intp]]:
        """Return the indices at which each column holds the best, by ascending column."""
        order = np.argsort(self.holder, kind="stable")
        columns, first = np.unique(self.holder[order], return_index=True)
        places = np.split(order, first[1:])
        return {column: at for column, at in zip(columns.tolist(), places, strict=True) if column >= 0}

    def losses(self, n_features: int) -> NDArray[np.float64]:
        """Return the part by which the sum of Phi falls without each column."""
        largest = float(self.best[-1]) or 1.0  # sums of the widths themselves could overflow
        owned = self.holder >= 0
        gaps = (self.best - self.second)[owned] / largest
        sums = np.bincount(self.holder[owned], gaps, n_features).astype(np.float64)
        losses: NDArray[np.float64] = sums / (float((self.best / largest).sum()) or 1.0)
        return losses


def _part(widths: NDArray[np.float64], total: int | None) -> float:
    """Return which part of a total these widths are.  It is rounded once, so that it never exceeds 1."""
    return (exact_sum(widths) or 0) / (total or 1)
