"""The profile: bounds on Phi(k) for all k over all columns."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from geodim.engine.parts import filled, in_parts, mean, whole_numbers
from geodim.engine.state import read_profile
from geodim.engine.strips import StripLock
from geodim.memory import check_points

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.lib.npyio import NpzFile
    from numpy.typing import NDArray

    from geodim.data.checks import Ranges
    from geodim.engine.target import Piece, Sizes, Solved

    # Sizes k, or masses where points have masses; then two arrays of widths, or columns and widths.
    Support = NDArray[Any] | range
    Bounds = tuple[NDArray[Any], NDArray[np.float64], NDArray[np.float64]]
    Shown = tuple[Support, NDArray[np.float64], NDArray[np.float64]]
    Steps = tuple[NDArray[Any], NDArray[np.int64], NDArray[np.float64]]

MUCH = 1 << 16  # sizes of a whole column from which on it takes long enough to merge strip by strip
LOOSE = "loose"  # name of the note on how far each column's widths may be off, see `geodim.engine.hard`


@dataclass
class Profile:
    """Phi for every d = k - 1, the column that owns each, and the work it took.

    With a positive ``step`` this is Phi of the values rounded down to multiples of the step: every width is
    then off by less than one step, and so is Phi.  Index 0 (k = 1) is always 0.  If ``counted``, the array
    holds -N(w) instead, where N(w) is the least over all columns of the largest number of points in w
    neighbouring steps (see `geodim.engine.counting`).
    """

    ties_matter: ClassVar[bool] = False  # whether all columns count that attain Phi, not only the lowest
    goes_on: ClassVar[bool] = False  # whether the next pass starts from what this one found
    raised_by_each: ClassVar[bool] = True  # whether what any column attains is a bar for all others

    phi: NDArray[np.float64]
    owner: NDArray[np.int32]
    step: float
    done: NDArray[np.bool_]
    n_points: int
    counted: bool = False
    skipped: int = 0  # this many of the smallest d, or w if counted, were left out
    work: NDArray[np.int64] = field(default_factory=lambda: np.zeros(5, np.int64))
    bytes_read: int = 0
    stopped: str | None = None
    unsolved: dict[int, dict[Piece, Sizes]] = field(default_factory=dict, repr=False)
    notes: dict[str, NDArray[np.float64]] = field(default_factory=dict, repr=False)  # kept in checkpoints
    lock: StripLock = field(default_factory=StripLock, repr=False)

    @classmethod
    def empty(
        cls,
        n_points: int,
        n_features: int,
        step: float = 0.0,
        n_steps: int | None = None,
        skipped: int = 0,
        n_threads: int = 1,
        *,
        blank: bool = False,
    ) -> Profile:
        """Return a profile to which no column has contributed yet; a counted one if ``n_steps`` is given.

        A ``blank`` one takes no memory, and is read-only in part, until `make_room` or `take_over`.
        """
        size = n_points if n_steps is None else n_steps + 1
        check_points(size)
        if blank:
            phi, owner = np.zeros(size), np.broadcast_to(np.int32(-1), size)
        else:
            phi = filled(size, 0.0 if n_steps is None else -float(n_points), np.float64, n_threads)
            owner = filled(size, -1, np.int32, n_threads)
        return cls(
            phi=phi,
            owner=owner,
            step=step,
            done=np.zeros(n_features, np.bool_),
            n_points=n_points,
            counted=n_steps is not None,
            skipped=skipped,
        )

    def begin(self, column: int, pieces: dict[Piece, Sizes]) -> None:
        """Record the pieces in which a column is about to be solved, each with its range of d."""
        self.unsolved[column] = pieces

    def make_room(self) -> None:
        """Make a blank profile like any other."""
        if not self.owner.flags.writeable:
            self.owner = filled(self.owner.size, -1, np.int32)

    def take_over(self, every: Sequence[Solved]) -> bool:
        """Make the widths of the only column those of a blank profile, without copying them.

        Returns False if something is missing or may be off, or if they do not lie side by side.
        """
        if not every or any(one.cut or one.loose or one.phi is not every[0].phi for one in every):
            return False
        starts, stops = np.sort(np.concatenate([one.ranges for one in every]), axis=0).T
        if starts[0] > 1 or stops[-1] < self.phi.size or np.any(starts[1:] > stops[:-1]):
            return False
        self.phi = every[0].phi
        self.phi[0] = 0.0
        zeros = int(np.searchsorted(self.phi, 0.0, "right"))  # widths never fall
        self.phi[:zeros] = 0.0  # not minus zero
        self.owner = np.zeros(self.phi.size, np.int32)
        self.owner[:zeros] = -1
        for one in every:
            self._note(one)
        return True

    def merge(self, solved: Solved) -> None:
        """Take the elementwise maximum with one column's phi."""
        from geodim.engine.kernels import columns  # noqa: PLC0415 - Numba is imported when first needed

        cut, column = solved.cut, solved.column
        found = solved.phi, solved.ranges, len(solved.ranges), column, self.phi[cut:], self.owner[cut:]
        if solved.pieces or self.phi.size < MUCH:
            with self.lock:
                columns.merge(*found)
                self._note(solved)
            return
        for lock, first, stop in self.lock.one_by_one(self.phi.size, column):
            with lock:
                columns.merge_strip(*found, max(first - cut, 0), max(stop - cut, 0))
        with self.lock.strips[0]:
            self._note(solved)

    def _note(self, solved: Solved) -> None:
        self.work += solved.work
        if solved.loose > 0.0:
            self.notes[LOOSE][solved.column] = solved.loose
        for piece in solved.pieces:
            del self.unsolved[solved.column][piece]

    def relax(self, relaxed: bool) -> None:
        """If ``relaxed``, allow widths of columns to be off from now on, by an amount noted for each."""
        if relaxed and self.step == 0.0:
            self.notes.setdefault(LOOSE, np.zeros(self.done.size))

    @property
    def may_fall(self) -> bool:
        """Whether widths of some column may be off: then one may exceed that of a larger size."""
        noted = self.notes.get(LOOSE)
        return noted is not None and bool(noted.any())

    @property
    def loose(self) -> float:
        """The most by which the true Phi may lie below what is held here; 0 is exact."""
        if not self.may_fall:
            return 0.0
        loose = self.notes[LOOSE]
        owners = np.unique(self.owner[:-1])  # there is one window of all points, which every column knows
        return float(loose[owners[owners >= 0]].max(initial=0.0))

    def never_fall(self) -> None:
        """Raise Phi to what is held at smaller sizes, once all columns are solved, if widths may be off.

        True Phi never falls, so this keeps it within what widths may be off by; and what is then held does
        not depend on where columns were left out because they lie below a width at a smaller size (F34).
        """
        if self.may_fall:
            bar, by = np.empty_like(self.phi), np.empty_like(self.owner)
            self.reached(bar, by)
            self.phi[:], self.owner[:] = bar, by

    def merge_whole(self, phi: NDArray[np.float64], column: int) -> None:
        """Merge a whole column's phi with NumPy alone, as `merge` does with compiled code."""
        with self.lock:
            better = (phi > self.phi) | ((phi == self.phi) & (column < self.owner))
            self.phi[better] = phi[better]
            self.owner[better] = column

    def reached(self, bar: NDArray[np.float64], by: NDArray[np.int32]) -> None:
        """Write the running maximum of phi and the lowest column that reached it, both (n_points,)."""
        from geodim.engine.kernels.dominated import running_best  # noqa: PLC0415 - as above

        with self.lock:
            running_best(self.phi, self.owner, bar, by)

    def finish(self, column: int) -> None:
        """Record that a column has contributed all it can."""
        self.unsolved.pop(column, None)
        self.done[column] = True

    @property
    def mass(self) -> float:
        """The total mass of the points; here each weighs 1."""
        return float(self.n_points)

    @property
    def end(self) -> float:
        """Where the last step of `steps` ends."""
        return self.n_points + 1

    def lengths(self, starts: NDArray[Any]) -> NDArray[Any]:
        """Return the lengths of the steps that begin at ``starts``."""
        lengths: NDArray[Any] = np.diff(starts, append=self.end)
        return lengths

    def everywhere(self) -> tuple[Support, NDArray[np.float64]]:
        """Return all k from 2 on and Phi there, once every column was solved without a step."""
        return range(2, self.n_points + 1), self.phi[1:]

    def mean(self, support: Support, widths: NDArray[np.float64], scale: float, n_threads: int = 1) -> float:
        """Return the mean over all k of the widths at ``support``.

        If counted, all k of a step share its width.
        """
        if self.counted:
            widths = widths * np.diff(support, prepend=1)
        return mean(widths, self.n_points, scale, n_threads)

    def off_by_mass(self, widest: float) -> float:  # noqa: ARG002
        """Return how far Delta, unscaled, may be off because masses were rounded, given the widest range."""
        return 0.0

    def shown(
        self,
        support: Support,
        lower: NDArray[np.float64],
        upper: NDArray[np.float64],
        widest: float,  # noqa: ARG002
    ) -> Shown:
        """Return the part of the bounds that a result holds, after they were added up."""
        return support, lower, upper

    def state(self, key: str) -> dict[str, Any]:
        """Return the arrays that a checkpoint saves; ``key`` is the suffix of their names."""
        return {f"phi{key}": self.phi, f"owner{key}": self.owner, f"work{key}": self.work}

    def restore(self, saved: NpzFile, key: str) -> None:
        """Restore from the arrays of a checkpoint."""
        self.make_room()
        read_profile(saved, self, key)

    def bounds(self, ranges: Ranges, n_threads: int = 1) -> Bounds:
        """Return some k, ascending to n, and valid bounds on Phi there, given the range of each column.

        A column that was not solved at some k is bounded there by its range and by Chebyshev's inequality.
        Monotonicity does the rest: Phi is at least its value at any smaller k, and at most its value at any
        larger k.
        """
        unfinished = np.flatnonzero(~self.done)
        widths = ranges.widths
        if self.counted:
            reach = self.points_by_width()  # the least w for a number of points is where the number changes
            first = np.flatnonzero(np.append(True, reach[1:] > reach[:-1]) & (reach > 1))
            support = reach[first]
            upper = (first + self.skipped) * self.step
            lower = np.where(first == 0, 0.0, upper)  # what was left out lies below the first width solved
            if unfinished.size:
                upper = np.maximum(upper, widths[unfinished].max())
        elif not unfinished.size and not self.skipped:
            support = whole_numbers(2, self.n_points + 1, n_threads)
            lower = upper = self.phi[1:]
        else:
            support = np.arange(2, self.n_points + 1)
            lower = np.maximum.accumulate(self.phi)
            upper = lower.copy()
            upper[1 : 1 + self.skipped] = np.inf
            begun = [column for column in unfinished.tolist() if column in self.unsolved]
            pieces = [(column, *ends) for column in begun for ends in self.unsolved[column].values()]
            foremost = ranges.foremost(np.setdiff1d(unfinished, begun))
            pieces += [(column, 1, lower.size) for column in foremost]
            for column, first_d, stop in pieces:
                _raise(upper[first_d:stop], ranges, column, first_d + 1, n_threads)
            lower, upper = lower[1:], np.minimum.accumulate(upper[:0:-1])[::-1]
        most = float(widths.max())
        if self.step > 0.0:
            return support, *_apart(lower, upper, self.step, most, n_threads)
        return support, lower, np.minimum(upper, most)

    def points_by_width(self) -> NDArray[np.int64]:
        """Return, if counted, how many points w steps hold at best, ascending, and n at the end.

        There is one entry for every w that was not left out.
        """
        reach = np.empty(self.phi.size - self.skipped, np.int64)
        reach[:-1] = -self.phi[1 + self.skipped :]
        reach[-1] = self.n_points
        if np.any(reach[1:] < reach[:-1]):  # because some columns are missing
            np.maximum.accumulate(reach, out=reach)
        return reach

    def steps(self) -> Steps:
        """Return, if counted, the first k of each step, the column that attains Phi there, and its width.

        If w steps hold N(w) points at best and w + 1 hold more, then Phi is w steps wide at all k in between,
        and it is attained by the column that has at most N(w) points in any w steps.
        """
        reach = self.points_by_width()
        wider = np.flatnonzero(reach[1:] > reach[:-1])
        wider = wider[reach[wider + 1] > 1]
        sizes = np.maximum(reach[wider] + 1, 2)
        owners = self.owner[1 + self.skipped + wider].astype(np.int64)
        widths = ((1 + self.skipped + wider) * self.step).astype(np.float64, copy=False)
        if sizes.size == 0 or sizes[0] > 2:  # the sizes that the narrowest width holds
            sizes, owners, widths = np.append(2, sizes), np.append(-1, owners), np.append(0.0, widths)
        return sizes, owners, widths

    def rounded_mean(self, n_threads: int = 1) -> tuple[float, float]:
        """Return Delta of the (rounded) values, unscaled, and how far it may be off.

        Every column must have been solved.
        """
        if not self.counted:
            half = 0.5 * self.skipped * float(self.phi[1 + self.skipped]) / self.n_points
            return mean(self.phi, self.n_points, 1.0, n_threads) + half, self.step + half
        solved = self.n_points + self.phi[1 + self.skipped :]  # Delta is h / n times the sum of n - N(w)
        half = 0.5 * self.skipped * self.step * (1.0 - float(solved[0]) / self.n_points)
        return self.step * (float(solved.sum()) / self.n_points + self.skipped) - half, self.step + half


def _raise(upper: NDArray[np.floating], ranges: Ranges, column: int, first: int, n_threads: int) -> None:
    """Raise upper bounds from k = ``first`` on, so that they also hold for a column not solved there."""

    def work(part: slice) -> None:
        k = np.arange(first + part.start, first + part.stop)
        np.maximum(upper[part], ranges.at_most(column, k), out=upper[part])

    in_parts(work, upper.size, n_threads)


def _apart(
    lower: NDArray[np.floating], upper: NDArray[np.floating], step: float, most: float, n_threads: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return bounds on Phi, at most ``most``, from bounds on Phi of the values rounded down."""
    below, above = np.empty_like(lower), np.empty_like(upper)

    def move(part: slice) -> None:
        np.maximum(np.subtract(lower[part], step, out=below[part]), 0.0, out=below[part])
        np.minimum(np.add(upper[part], step, out=above[part]), most, out=above[part])

    in_parts(move, lower.size, n_threads)
    return below, above
