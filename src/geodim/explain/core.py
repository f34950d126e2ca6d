"""The core: a minimal set of features that leaves the intrinsic dimension unchanged to the bit.

The features that own Phi(k) somewhere (the lowest column of those that attain it) suffice, since the maximum
over them is Phi.  Of these, features without which the dimension would change are kept; the others are tried
for removal one after the other, the smallest share first and of equal shares the highest column first, and
removed where the dimension stays the same.  A dimension beyond the range of floats would always stay the
same: there the discriminability takes its place.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from geodim.engine.parts import mean
from geodim.engine.profile import Profile
from geodim.engine.toptwo import TopTwo
from geodim.lookup import inverse_square

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from geodim.explain.passes import ColumnPass

VISIBLE = 1e-12  # a change of Delta by this part of it certainly changes its bits,
NORMAL = (1e-290, 1e150)  # if it lies here, and so does 1 / Delta^2 where floats have all their digits


class CoreFinder:
    """Finds the core among features whose maximum is Phi.

    Parameters
    ----------
    columns : ColumnPass
        The features, and how they are solved: as in the result that is explained, since a core has the same
        dimension as that, to the bit.
    normalize : bool
        Whether the dimension is that of features divided by the largest range among them.
    scale : float, optional
        What features are divided by instead, whatever features remain (for the hops of a graph:
        d_max of the attributes).
    """

    def __init__(self, columns: ColumnPass, *, normalize: bool, scale: float | None = None) -> None:
        self.source = columns.source
        self.columns = columns
        self.normalize = normalize
        self.scale = scale
        self.target = 0.0

    def measure(self, phi: NDArray[np.float64]) -> float:
        """Return the dimension of features with this Phi, to the bit as `intrinsic_dimension` computes it.

        If that is too large or too small for a float, Delta is returned instead; negative,
        so that no dimension equals it.
        """
        delta = self._delta(phi)
        dimension = inverse_square(delta)
        return dimension if 0.0 < dimension < np.inf else -delta

    def _delta(self, phi: NDArray[np.float64]) -> float:
        scale = self.scale
        if scale is None:
            scale = float(phi[-1]) if self.normalize and phi[-1] > 0.0 else 1.0  # Phi(n) is the largest range
        return mean(phi[1:], self.source.n_points, scale)

    def find(self, owners: dict[int, float]) -> dict[int, float]:
        """Return the core, ascending, and its shares, given the owners of Phi and their shares.

        The core's shares are those among the core alone.
        """
        core = sorted(owners)
        if not core:
            return {}
        while True:
            two = TopTwo.of(self.source.n_points, self.source.n_features)
            two.relax(self.columns.relaxed)
            self.columns.merge_into(two, core)
            self.target = self.measure(two.winner().phi)
            spare = self._spare(two, core)
            if not spare:
                return _shares(two, core)
            spare.sort(key=lambda column: (owners[column], -column))
            fixed = [column for column in core if column not in spare]
            kept = self._reduce(spare, self._raised(np.zeros(self.source.n_points), fixed))
            if len(kept) == len(spare):  # only the rounding of a sum kept each: take the first
                kept = spare[1:]
            core = sorted(fixed + kept)

    def _spare(self, two: TopTwo, core: list[int]) -> list[int]:
        """Return the features that could each be removed alone without a change of the dimension."""
        losses = two.losses(self.source.n_features)
        usual = NORMAL[0] < self._delta(two.best) < NORMAL[1] and not two.may_fall
        visible = VISIBLE if usual else np.inf
        doubtful = [column for column in core if losses[column] <= visible or column == two.holder[-1]]
        return [column for column in doubtful if self.measure(two.phi_without(column)) == self.target]

    def _raised(self, phi: NDArray[np.float64], which: Iterable[int]) -> NDArray[np.float64]:
        """Return Phi with some more features."""
        profile = Profile.empty(self.source.n_points, self.source.n_features)
        profile.phi[:] = phi
        profile.relax(self.columns.relaxed)
        self.columns.run(which, lambda slot, column: slot.solve(column, profile))
        profile.never_fall()
        return profile.phi

    def _reduce(self, spare: list[int], phi: NDArray[np.float64]) -> list[int]:
        """Return what must stay of ``spare`` beside features with this Phi: each in turn is removed on trial.

        It works by halves: the first half is tried beside the second, then the second beside what stays
        of the first; so each feature is solved about log2(len(spare)) times, and never more than
        that many profiles are held.
        """
        if self.measure(phi) == self.target:
            return []
        if len(spare) == 1:
            return spare
        half = len(spare) // 2
        first = self._reduce(spare[:half], self._raised(phi, spare[half:]))
        return first + self._reduce(spare[half:], self._raised(phi, first))


def _shares(two: TopTwo, core: list[int]) -> dict[int, float]:
    """Return each one's share of the discriminability, the lowest column owning what several attain."""
    owned = two.holder >= 0
    weights = two.best[owned] / two.best[-1]
    sums = np.bincount(two.holder[owned], weights=weights, minlength=core[-1] + 1)
    return {column: float(sums[column] / sums.sum()) for column in core}
