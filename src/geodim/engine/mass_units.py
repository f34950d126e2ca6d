"""Points whose masses are whole numbers of some unit, solved as that many points, and shown as masses.

The unit may divide all masses, as that of equal weights does: then points are repeated that often. Or it
is so small that nothing much is lost where masses are rounded to it: then they are counted in steps of width.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from geodim.engine.mass_profile import EVERY_SIZE
from geodim.engine.masses import PART, nearest, products
from geodim.engine.profile import Profile

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from geodim.data.checks import Ranges
    from geodim.engine.masses import Measure
    from geodim.engine.profile import Bounds, Steps

    Widths = NDArray[np.float64]


def in_units(units: Profile, measure: Measure, unit: int, *, rounded: bool = False) -> Profile:
    """The profile of points with masses, from that of as many points as there are units.

    Parameters
    ----------
    units : Profile
        Of ``units.n_points`` points.
    measure : Measure
        What the points weigh.
    unit : int
        What each of them stands for, in units of the measure.
    rounded : bool
        Whether masses were rounded to units, so that no window is off by one of them or more.
    """
    found = UnitProfile.of(units, measure, unit, rounded=rounded)
    if not measure.whole:
        return found
    times = measure.of_whole(unit)
    if times == 1:
        return units
    if units.counted or units.step > 0.0 or units.stopped or measure.n_points > EVERY_SIZE:
        return found
    phi, owner = np.repeat(units.phi, times), np.repeat(units.owner, times)
    return Profile(
        phi=phi, owner=owner, step=0.0, done=units.done, n_points=phi.size, work=units.work,
        bytes_read=units.bytes_read,
    )  # fmt: skip


@dataclass(kw_only=True)
class UnitProfile(Profile):
    """Phi of points whose masses are whole numbers of a unit, or were rounded to such.

    Attributes
    ----------
    measure : Measure
        What the points weigh.
    units : Profile
        Of as many points as there are units.
    unit : int
        What each of these stands for, in units of the measure.
    rounded : bool
        Whether masses were rounded.
    """

    measure: Measure
    units: Profile
    unit: int
    rounded: bool

    @classmethod
    def of(cls, units: Profile, measure: Measure, unit: int, *, rounded: bool) -> UnitProfile:
        """Convert the profile of the units."""
        return cls(
            phi=units.phi, owner=units.owner, step=units.step, done=units.done, n_points=measure.n_points,
            counted=True, skipped=units.skipped, work=units.work, bytes_read=units.bytes_read,
            stopped=units.stopped, measure=measure, units=units, unit=unit, rounded=rounded,
        )  # fmt: skip

    @property
    def mass(self) -> float:
        """Return the total mass."""
        return self.measure.mass

    @property
    def end(self) -> float:
        """Where the last step ends: before k = n + 1, or at the mass of all points."""
        return self.n_points + 1 if self.measure.whole else self.mass

    def everywhere(self, n_threads: int = 1) -> tuple[NDArray[Any], Widths]:
        """All numbers of units from 2 on, and Phi there."""
        return self.units.everywhere(n_threads)

    def bounds(self, ranges: Ranges, n_threads: int = 1) -> Bounds:
        """Units, ascending to those of all points, and bounds from after the one before to each of them."""
        return self.units.bounds(ranges, n_threads)

    def mean(self, support: NDArray[Any], widths: Widths, scale: float, n_threads: int = 1) -> float:
        """The mean over all units."""
        return self.units.mean(support, widths, scale, n_threads)

    def off_by_mass(self, widest: float) -> float:
        """How far Delta, unscaled, may be off because masses were rounded.

        Phi lies between that of a unit less and that of a unit more, which moves the integral by one unit
        times the widest range; and all points together weigh up to one unit more than was counted.
        """
        if not self.rounded:
            return 0.0
        return math.nextafter(2.0 * widest / self.units.n_points * (1.0 + 2.0**-20), math.inf)

    def rounded_mean(self, n_threads: int = 1) -> tuple[float, float]:
        """Delta of the rounded values, unscaled, and how far it may be off."""
        delta, off = self.units.rounded_mean(n_threads)
        return delta, off + self.off_by_mass(self.step * self.phi.size)

    def _ends(self, units: NDArray[np.int64]) -> NDArray[Any]:
        """Units as sizes, if weights are whole, or as masses; all of them as those of all points."""
        whole = self.measure.whole
        ends = units * self.measure.of_whole(self.unit) if whole else self._masses(units)
        everything = self.n_points if whole else self.mass
        return np.where(units == self.units.n_points, everything, ends)

    def _masses(self, units: NDArray[np.int64]) -> NDArray[np.float64]:
        zeros = (self.unit & -self.unit).bit_length() - 1
        masses = np.empty(units.size)
        for at in range(0, units.size, PART):  # what is made on the way is longer than the masses
            part = slice(at, at + PART)
            masses[part] = nearest(*products(units[part], self.unit >> zeros), self.measure.exponent + zeros)
        return masses

    def shown(self, support: NDArray[Any], lower: Widths, upper: Widths, widest: float) -> Bounds:
        """Sizes or masses, and bounds that hold from after the one before to each.

        Where windows may be off by a unit, Phi is at least what was counted for a unit less, and at most what
        was counted for a unit more.
        """
        if self.rounded:
            total = self.units.n_points
            ends = np.unique(np.concatenate([support - 1, support + 1, [total]]))
            ends = ends[(ends > 0) & (ends <= total)]
            before = np.append(0, ends[:-1])
            lower = np.where(before == 0, 0.0, lower[np.searchsorted(support, before - 1, side="right")])
            upper = np.append(upper, widest)[np.searchsorted(support, ends + 1, side="left")]
            return self._ends(ends), lower, upper
        # A single unit has no width; and where neighbours agree, as they may if not counted, it is one step.
        exact = lower is upper
        support, lower, upper = np.append(1, support), np.append(0.0, lower), np.append(0.0, upper)
        last = np.append((lower[1:] > lower[:-1]) | (upper[1:] > upper[:-1]), True)
        lower = lower[last]
        return self._ends(support[last]), lower, lower if exact else upper[last]

    def steps(self) -> Steps:
        """Where each step begins, its column and its width."""
        if self.units.counted:
            sizes, owners, widths = self.units.steps()
        else:
            phi, owner = self.phi[1:], self.owner[1:]
            new = np.append(True, (phi[1:] != phi[:-1]) | (owner[1:] != owner[:-1]))[: phi.size]
            sizes, owners, widths = np.flatnonzero(new) + 2, owner[new].astype(np.int64), phi[new]
            if sizes.size == 0 or widths[0] > 0.0:
                sizes, owners, widths = np.append(1, sizes), np.append(-1, owners), np.append(0.0, widths)
        starts = self._ends(sizes - 1)
        if self.measure.whole:
            starts += 1
        starts[:1] = 2 if self.measure.whole else 0.0
        return starts, owners, widths
