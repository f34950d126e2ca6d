"""Points whose masses are whole numbers of some unit, solved as that many points, and shown as masses.

The unit may divide all masses, as it does for equal weights: then points are repeated that often.  Or it is
so small that rounding masses to it loses little: then they are counted in steps of width.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from geodim.engine.mass_profile import EVERY_SIZE
from geodim.engine.masses import PART, nearest, products
from geodim.engine.profile import Profile
from geodim.support_field import written_out

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from geodim.data.checks import Ranges
    from geodim.engine.masses import Measure
    from geodim.engine.profile import Bounds, Steps, Support

    Widths = NDArray[np.float64]


def in_units(units: Profile, measure: Measure, unit: int, *, rounded: bool = False) -> Profile:
    """Return the profile of points with masses, given the profile of as many points as there are units.

    Parameters
    ----------
    units : Profile
        The profile of ``units.n_points`` points, one per unit.
    measure : Measure
        The masses of the points.
    unit : int
        What each of these units is worth, in units of the measure.
    rounded : bool
        Whether masses were rounded to units; every window is then off by less than one unit.
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
    """Phi of points whose masses are whole numbers of a unit, or were rounded to whole numbers.

    Attributes
    ----------
    measure : Measure
        The masses of the points.
    units : Profile
        The profile of as many points as there are units.
    unit : int
        What each of these units is worth, in units of the measure.
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
        """The total mass."""
        return self.measure.mass

    @property
    def end(self) -> float:
        """Where the last step ends: at k = n + 1, exclusively, or at the mass of all points."""
        return self.n_points + 1 if self.measure.whole else self.mass

    def everywhere(self) -> tuple[Support, Widths]:
        """Return all numbers of units from 2 on, and Phi there."""
        return self.units.everywhere()

    def bounds(self, ranges: Ranges, n_threads: int = 1) -> Bounds:
        """Return ascending numbers of units, and bounds on Phi at each and since the one before."""
        return self.units.bounds(ranges, n_threads)

    def mean(self, support: Support, widths: Widths, scale: float, n_threads: int = 1) -> float:
        """Return the mean over all units."""
        return self.units.mean(support, widths, scale, n_threads)

    def off_by_mass(self, widest: float) -> float:
        """Return how far Delta, unscaled, may be off because masses were rounded.

        Phi lies between its values at one unit less and one unit more, which moves the integral by one unit
        times the widest range; and all points together weigh up to one unit more than was counted.
        """
        if not self.rounded:
            return 0.0
        return math.nextafter(2.0 * widest / self.units.n_points * (1.0 + 2.0**-20), math.inf)

    def rounded_mean(self, n_threads: int = 1) -> tuple[float, float]:
        """Return Delta of the rounded values, unscaled, and how far it may be off."""
        delta, off = self.units.rounded_mean(n_threads)
        return delta, off + self.off_by_mass(self.step * self.phi.size)

    def _ends(self, units: NDArray[np.int64]) -> NDArray[Any]:
        """Convert units to sizes if weights are whole, else to masses; all units become all points."""
        whole = self.measure.whole
        ends = units * self.measure.of_whole(self.unit) if whole else self._masses(units)
        everything = self.n_points if whole else self.mass
        return np.where(units == self.units.n_points, everything, ends)

    def _masses(self, units: NDArray[np.int64]) -> NDArray[np.float64]:
        zeros = (self.unit & -self.unit).bit_length() - 1
        masses = np.empty(units.size)
        for at in range(0, units.size, PART):  # in parts, since temporaries are longer than the masses
            part = slice(at, at + PART)
            masses[part] = nearest(*products(units[part], self.unit >> zeros), self.measure.exponent + zeros)
        return masses

    def shown(self, support: Support, lower: Widths, upper: Widths, widest: float) -> Bounds:
        """Return sizes or masses, with bounds that hold at each and since the one before.

        If windows may be off by a unit, Phi is at least what was counted for one unit less, and at most what
        was counted for one unit more.
        """
        units = written_out(support)
        if self.rounded:
            total = self.units.n_points
            ends = np.unique(np.concatenate([units - 1, units + 1, [total]]))
            ends = ends[(ends > 0) & (ends <= total)]
            before = np.append(0, ends[:-1])
            lower = np.where(before == 0, 0.0, lower[np.searchsorted(units, before - 1, side="right")])
            upper = np.append(upper, widest)[np.searchsorted(units, ends + 1, side="left")]
            return self._ends(ends), lower, upper
        # A single unit has no width; neighbours that agree, as they may if not counted, form one step.
        exact = lower is upper
        units, lower, upper = np.append(1, units), np.append(0.0, lower), np.append(0.0, upper)
        last = np.append((lower[1:] > lower[:-1]) | (upper[1:] > upper[:-1]), True)
        lower = lower[last]
        return self._ends(units[last]), lower, lower if exact else upper[last]

    def steps(self) -> Steps:
        """Return where each step begins, its column and its width."""
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
