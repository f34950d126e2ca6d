"""What the removal of a feature costs: the dimension without it, and whether others tie with it.

A share says at which sizes a feature is the widest; where several are, the first of them counts.  So a
feature may have a large share and be of no use: others take its place.  What its removal does cannot mislead
that way.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from geodim.text import visible

if TYPE_CHECKING:
    from numpy.typing import NDArray

TIE_RULE = "where several features are the widest, the first of them has the share"


@dataclass(frozen=True, eq=False)
class Removal:
    """The dimension without each feature that has a share; removing any other feature changes nothing.

    Attributes
    ----------
    dimension : float
        With all features.
    without : dict
        For every feature with a share, in that order: the dimension of all others together, as it would be
        computed from them, to the bit.  If features are divided by the largest range, that is the largest
        range of the others.
    alone : dict
        For the same features, the part of the discriminability that each attains with no other.
    tied : float
        The part of the discriminability that several features attain at once.
    ties : array of int
        How many features attain Phi(k), for k = 2, ..., n; 0 where Phi is 0.  Not kept in JSON.
    """

    dimension: float
    without: dict[str, float]
    alone: dict[str, float]
    tied: float
    ties: NDArray[np.int32] = field(default_factory=lambda: np.empty(0, np.int32), repr=False)

    @property
    def costs(self) -> dict[str, float]:
        """By how much the dimension rises without a feature, largest changes first.

        Features whose removal changes nothing are left out.  A cost is negative where the feature set the
        unit for all: what is left is wider, in units of its own.
        """
        changed = {
            name: value - self.dimension if value != self.dimension else 0.0
            for name, value in self.without.items()
        }
        order = sorted(
            (name for name in changed if changed[name] != 0.0), key=lambda name: -abs(changed[name])
        )
        return {name: changed[name] for name in order}

    @property
    def spare(self) -> set[str]:
        """The features with a share without which the dimension stays the same: others tie with them."""
        return {name for name, value in self.without.items() if value == self.dimension}

    def ranked(self) -> list[str]:
        """Return the features with a share: those whose removal changes most first, then by their shares."""
        costs = self.costs
        return [*costs, *(name for name in self.without if name not in costs)]

    def sentence(self, most: int = 3) -> str:
        """Describe in words what removals cost."""
        if not self.without:
            return "no feature tells points apart"
        costs = self.costs
        if not costs:
            return "without any one feature it stays the same: others tie with it"
        listed = [f"without {visible(name)} {self.without[name]:.6g}" for name in list(costs)[:most]]
        more = len(costs) - len(listed)
        return ", ".join(listed) + (f" and {more:,} more" if more else "")

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON, without the ties of every size."""
        return {
            "dimension": _for_json(self.dimension),
            "without": {name: _for_json(value) for name, value in self.without.items()},
            "alone": self.alone,
            "tied": self.tied,
        }


def _for_json(value: float) -> float | str:
    """Return a number, or infinity as text, since JSON has no number for it."""
    return "inf" if value == math.inf else value
