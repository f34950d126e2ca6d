"""The profile of points with masses: Phi as an exact step function of the mass.

It is never as long as the number of points that whole weights stand for.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from geodim.engine.masses import differences, mean_over_mass, parts_of
from geodim.engine.profile import Profile
from geodim.engine.state import StateError, read_array
from geodim.support_field import written_out

if TYPE_CHECKING:
    from numpy.lib.npyio import NpzFile
    from numpy.typing import NDArray

    from geodim.data.checks import Ranges
    from geodim.engine.masses import Measure
    from geodim.engine.profile import Bounds, Steps, Support

    Widths = NDArray[np.float64]

EVERY_SIZE = 1 << 20  # up to this many points a result holds Phi at every k


@dataclass(kw_only=True)
class MassProfile(Profile):
    """Exact Phi of points with masses: ``phi[i]`` from the end of step i - 1, exclusively, to that of step i.

    Attributes
    ----------
    measure : Measure
        The masses of the points.
    high, low : array of int64
        High and low parts of the mass at the end of every step, in units.
    """

    measure: Measure
    high: NDArray[np.int64]
    low: NDArray[np.int64]

    @classmethod
    def nothing(cls, measure: Measure, n_features: int) -> MassProfile:
        """Return a profile to which no column has contributed yet: one step of width 0."""
        high, low = parts_of(measure.total)
        return cls(
            phi=np.zeros(1), owner=np.full(1, -1, np.int32), step=0.0, done=np.zeros(n_features, np.bool_),
            n_points=measure.n_points, counted=True, measure=measure, high=np.array([high], np.int64),
            low=np.array([low], np.int64),
        )  # fmt: skip

    def known(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
        """Return what has been reached so far; these arrays do not change while others merge."""
        with self.lock:
            return self.high, self.low, self.phi

    def take(
        self,
        column: int,
        high: NDArray[np.int64],
        low: NDArray[np.int64],
        width: NDArray[np.float64],
        looked: int,
    ) -> None:
        """Merge the steps of a column; some of them may lie below what others reached."""
        from geodim.engine.kernels.masses import merge_steps  # noqa: PLC0415 - imports Numba

        with self.lock:
            self.work[0] += looked
            if not np.any(width > 0.0):
                return
            size = self.phi.size + width.size
            ends, wide, owner = np.empty((2, size), np.int64), np.empty(size), np.empty(size, np.int32)
            count = merge_steps(
                self.high, self.low, self.phi, self.owner, high, low, width, column, *ends, wide, owner
            )
            self.high, self.low = ends[0, :count].copy(), ends[1, :count].copy()
            self.phi, self.owner = wide[:count].copy(), owner[:count].copy()

    def spread_out(self) -> Profile:
        """Return the profile at every k, as if points were repeated, for whole weights with a small sum."""
        times = np.diff(self.measure.points(self.high), prepend=0)
        return Profile(
            phi=np.repeat(self.phi, times), owner=np.repeat(self.owner, times), step=0.0, done=self.done,
            n_points=self.n_points, work=self.work, bytes_read=self.bytes_read,
        )  # fmt: skip

    # ------------------------------------------------------------ what a result asks for

    @property
    def mass(self) -> float:
        """The total mass."""
        return self.measure.mass

    @property
    def end(self) -> float:
        """Where the last step ends: at k = n + 1, exclusively, or at the mass of all points."""
        return self.n_points + 1 if self.measure.whole else self.mass

    def _ends(self) -> NDArray[Any]:
        """Return the last k, or the mass, of every step."""
        if self.measure.whole:
            return self.measure.points(self.high)
        ends = self.measure.masses(self.high, self.low)
        ends[-1] = self.mass
        return np.minimum(np.maximum.accumulate(ends), self.mass)

    def everywhere(self) -> tuple[NDArray[Any], NDArray[np.float64]]:
        """Return the end of every step and its width."""
        return self._ends(), self.phi

    def bounds(self, ranges: Ranges, n_threads: int = 1) -> Bounds:  # noqa: ARG002
        """Return bounds while some columns are unfinished, each of which may be as wide as its range."""
        support, lower = self.everywhere()
        return support, lower, np.maximum(lower, ranges.widths[~self.done].max(initial=0.0))

    def mean(
        self,
        support: Support,  # noqa: ARG002 - it is rounded, and the masses are not
        widths: NDArray[np.float64],
        scale: float,
        n_threads: int = 1,  # noqa: ARG002
    ) -> float:
        """Return the mean over all mass of one width per step, rounded once."""
        return mean_over_mass(widths, differences(self.high, self.low), self.measure.total, scale)

    def off_by_mass(self, widest: float) -> float:
        """Return how far Delta, unscaled, may be off because masses were rounded.

        The mass of any window, and of all points together, is off by less than as many units as there are
        points.  Each of the two moves the mean by less than that part of the widest range.
        """
        if not self.measure.rounded:
            return 0.0
        return math.nextafter(4.0 * widest * (self.measure.size / float(self.measure.total)), math.inf)

    def shown(self, support: Support, lower: Widths, upper: Widths, widest: float) -> Bounds:  # noqa: ARG002
        """Return what a result holds: k from 2 on, or masses that float64 can distinguish, with bounds.

        Steps that differ only in the column that attains them are merged.
        """
        exact, ends = lower is upper and not self.measure.rounded, written_out(support)
        last = np.append(lower[1:] > lower[:-1], True)
        if self.measure.whole:
            last &= ends > 1
        ends, lower, upper = ends[last], lower[last], upper[last]
        if not self.measure.whole:
            kept = _told_apart(ends)
            ends, lower, upper = ends[kept], lower[kept], upper[kept]
        return ends, lower, lower if exact else upper

    def steps(self) -> Steps:
        """Return where each step begins, its column and its width."""
        if self.measure.whole:
            starts = np.append(0, self.measure.points(self.high[:-1])) + 1
            starts[0] = 2
            first = int(starts.size > 1 and starts[1] == 2)  # k = 1 is no step
        else:
            starts, first = np.append(0.0, self._ends()[:-1]), 0
        return starts[first:], self.owner[first:].astype(np.int64), self.phi[first:]

    def lengths(self, starts: NDArray[Any]) -> NDArray[Any]:
        """Return the mass of each step, even if float64 cannot distinguish its ends."""
        if self.measure.whole:
            return super().lengths(starts)
        return self.measure.masses(*differences(self.high, self.low))

    # ------------------------------------------------------------ checkpoints

    def state(self, key: str) -> dict[str, Any]:
        """Return the arrays that a checkpoint saves."""
        arrays = {"phi": self.phi, "owner": self.owner, "work": self.work, "high": self.high, "low": self.low}
        return {name + key: array for name, array in arrays.items()} | {f"size{key}": np.int64(self.phi.size)}

    def restore(self, saved: NpzFile, key: str) -> None:
        """Restore from the arrays of a checkpoint."""
        size = int(read_array(saved, f"size{key}", (), np.int64))
        kinds = {"phi": np.float64, "owner": np.int32, "high": np.int64, "low": np.int64}
        read = {name: read_array(saved, name + key, (size,), kind) for name, kind in kinds.items()}
        work = read_array(saved, f"work{key}", self.work.shape, np.int64)
        phi, owner, high, low = read.values()
        apart = differences(high, low) if size else (high, low)
        fine = (
            size > 0
            and (high[-1], low[-1]) == parts_of(self.measure.total)
            and low.min() >= 0
            and np.all((apart[0] > 0) | ((apart[0] == 0) & (apart[1] > 0)))
            and phi.min() >= 0.0
            and phi.max() < math.inf
            and not np.signbit(phi).any()
            and np.all(np.diff(phi) >= 0.0)
        )
        if not fine or owner.min() < -1 or owner.max() >= self.done.size or work.min() < 0:
            raise StateError(f"phi{key} and what belongs to it are not steps of these masses")
        self.phi, self.owner, self.high, self.low, self.work = phi, owner, high, low, work


def _told_apart(masses: NDArray[np.float64]) -> NDArray[np.intp]:
    """Return which of ascending masses to keep: of equal ones the first, whose step is by far the longest.

    The mass of all points is always kept; masses equal to it are made slightly smaller.
    """
    masses[:-1][masses[:-1] == masses[-1]] = np.nextafter(masses[-1], 0.0)
    return np.flatnonzero(np.append(True, masses[1:] > masses[:-1]))
