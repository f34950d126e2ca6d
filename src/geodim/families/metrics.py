"""The metrics, and how far computed distances may lie from them.

Rounding, with u = 2^-53, d coordinates, and M the greatest distance computed:

* **euclidean**, sqrt(sum (x - y)^2) with fused products: a difference is off by a factor within 1 +- u, its
  square by two of them, and each square takes part in at most d roundings of the sum; the root halves their
  number and rounds once.  So a distance is off by a factor within (1 +- u)^(d/2 + 2), which is less than (d +
  5) u / 2 off 1 while d < 2^26.  Squares below the normal numbers lose less than 2^-1074 each, which moves
  the root by less than sqrt(d) 2^-537.
* **manhattan**: differences, each off by u, and d - 1 roundings of the sum: (d + 1) u.
* **chebyshev**: the greatest of differences: u.
* **minkowski**: differences divided by the greatest, powers, sum, root, product: (d / p + 40) u, provided
  that the C library's ``pow`` is accurate to 2^-50, as all in use are.
* **hamming** and **jaccard**: counts are exact, one quotient of at most 1 rounds: 2^-54.
* **chord**, |x/|x| - y/|y||: lengths are off by a factor within (1 +- u)^(d/2 + 2), as above, so that a unit
  vector lies within (d/2 + 4) u of the true one and the chord is off by twice that, and by 2 (d + 5) u / 2
  from its own sum, in all less than (2 d + 14) u.
* **angle**, 2 arcsin(chord / 2): up to a chord of 1.9 its derivative is less than 3.25; beyond, pi less the
  angle with the opposite vector is taken, where it is less.  NumPy's arcsin is good to 4 units in the last
  place: 2^-47 in all.

Where all coordinates are whole numbers, and sums stay below 2^53, nothing rounds but the root.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from geodim.arguments import real_number
from geodim.errors import InputTypeError, InputValueError

if TYPE_CHECKING:
    from geodim.families.points import Panels

# As in `geodim.families._kernels`.
SQUARES, MAGNITUDES, LARGEST, DIFFERING, POWERS = range(5)
UNIT = 2.0**-53
WHOLE = 2.0**53

NAMES = (
    "euclidean",
    "manhattan",
    "chebyshev",
    "minkowski",
    "cosine",
    "angle",
    "chord",
    "hamming",
    "jaccard",
    "edit",
    "shortest_path",
    "precomputed",
)
SYNONYMS = {"l2": "euclidean", "l1": "manhattan", "cityblock": "manhattan", "cosine": "angle"}
NO_METRICS = {
    "sqeuclidean": "the square of the Euclidean distance breaks the triangle inequality: use 'euclidean'",
    "cosine_distance": "1 - cos breaks the triangle inequality: use 'angle' or 'chord'",
}


@dataclass(frozen=True)
class Metric:
    """A metric on coordinates.

    Attributes
    ----------
    name : str
        Its name.
    kind : int
        Which sum, see `geodim.families._kernels.fill_distances`.
    power : float
        p of Minkowski's.
    unit : bool
        Whether points are divided by their lengths first.
    angle : bool
        Whether chords are turned into angles.
    """

    name: str
    kind: int
    power: float = 2.0
    unit: bool = False
    angle: bool = False

    def error(self, panels: Panels, greatest: float) -> float:
        """Return how far a computed distance may be off, if none is greater than ``greatest``.

        Proofs are at the top of this module.
        """
        d = panels.n_coordinates
        if self.unit:
            chord = (2.0 * d + 14.0) * UNIT
            return 3.25 * chord + 2.0**-47 if self.angle else chord
        if self.kind == DIFFERING:
            return 0.5 * UNIT if greatest > 0.0 else 0.0
        per_unit = {
            SQUARES: 0.5 * (d + 5.0),
            MAGNITUDES: d + 1.0,
            LARGEST: 1.0,
            POWERS: d / self.power + 40.0,
        }[self.kind]
        lost = math.ldexp(math.sqrt(d), panels.exponent - 537) if self.kind == SQUARES else 0.0
        if self._exact_sums(panels):
            per_unit, lost = (1.0 if self.kind == SQUARES else 0.0), 0.0
        return (per_unit * UNIT * greatest + lost) * (1.0 + 2.0**-20)

    def _exact_sums(self, panels: Panels) -> bool:
        """Return whether coordinates are whole numbers small enough for exact differences and sums."""
        reach = 2.0 * panels.whole
        most = {SQUARES: panels.n_coordinates * reach * reach, MAGNITUDES: panels.n_coordinates * reach}
        return most.get(self.kind, reach if self.kind == LARGEST else math.inf) <= WHOLE


def metric_of(name: object, p: object = None) -> Metric:
    """Return the metric of this name, if it is one between coordinates.

    >>> metric_of("cosine").name
    'angle'
    >>> metric_of("minkowski", p=1).name
    'manhattan'
    """
    if not isinstance(name, str):
        msg = f"metric must be a name or a function of two points, got a {type(name).__name__}"
        raise InputTypeError(msg)
    if name in NO_METRICS:
        msg = f"{name!r} is not a metric: {NO_METRICS[name]}, or give a function to use it anyway"
        raise InputValueError(msg)
    known = SYNONYMS.get(name, name)
    if p is not None and known != "minkowski":
        msg = f"p belongs to metric='minkowski', not to {name!r}"
        raise InputValueError(msg)
    if known == "minkowski":
        return _minkowski(p)
    metrics = {
        "euclidean": Metric("euclidean", SQUARES),
        "manhattan": Metric("manhattan", MAGNITUDES),
        "chebyshev": Metric("chebyshev", LARGEST),
        "hamming": Metric("hamming", DIFFERING),
        "chord": Metric("chord", SQUARES, unit=True),
        "angle": Metric("angle", SQUARES, unit=True, angle=True),
    }
    if known not in metrics:
        msg = f"unknown metric {name!r}: choose one of {', '.join(NAMES)}, or give a function of two points"
        raise InputValueError(msg)
    return metrics[known]


def _minkowski(p: object) -> Metric:
    if p is None:
        msg = "metric='minkowski' needs p, a number of at least 1"
        raise InputValueError(msg)
    power = real_number(p, "p", least=1.0, hint="below 1 there is no triangle inequality")
    if power in (1.0, 2.0, math.inf):
        return metric_of({1.0: "manhattan", 2.0: "euclidean"}.get(power, "chebyshev"))
    return Metric("minkowski", POWERS, power)
