"""The family of directions, {<u, .> : u a unit vector}: some of them, and bounds for all.

Linear functions of length 1 are 1-Lipschitz, and the family of all of them does not change if points are
rotated or shifted.  It is infinite: some directions give a lower bound on Delta, and `spread_bound` an upper
one.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from geodim.arguments import whole_number
from geodim.engine.parts import thread_count
from geodim.errors import InputValueError, ShapeError
from geodim.families.bounds import direction_bounds
from geodim.families.points import GROUP, PANEL, Panels, packed, padded_bytes, panels_of
from geodim.families.sizes import Sizes
from geodim.families.sources import MadeColumns, digest_of_parts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from geodim.data.sources import ColumnSource
    from geodim.families.bounds import Part, Whole

PRODUCTS = 5  # as in `geodim.families._kernels`
UNIT = 2.0**-53
SIZES = 48  # sizes whose windows determine an ascent
ROUNDS = 24  # the most steps of an ascent
STARTS = 8  # directions that ascend
MOST_AXES = 256


@dataclass(frozen=True, kw_only=True)
class Directions:
    """Projections onto unit vectors, as features.

    Parameters
    ----------
    axes : int, optional
        How many principal axes, those of the largest variance first; all, up to 256, by default.
    random : int, default 64
        How many random directions to add.
    ascend : bool, default True
        Move the best of them towards a larger discriminability, and add the ones that are reached.
    given : array-like of shape (m, n_coordinates), optional
        Further directions, of any length, such as those found with `geodim.torch.discriminability`.
    rng : None, int or numpy.random.Generator, default 0
        The source of random numbers.

    Examples
    --------
    >>> import numpy as np
    >>> import geodim
    >>> square = np.random.default_rng(0).random((500, 2))
    >>> result = geodim.intrinsic_dimension(square, features=geodim.Directions(random=16))
    >>> bool(result.lower < result.upper)  # bounds that hold for all directions
    True
    """

    axes: int | None = None
    random: int = 64
    ascend: bool = True
    given: Any = None
    rng: Any = 0

    def source(
        self, X: object, *, names: Sequence[str] | None = None, n_threads: int | None = None
    ) -> DirectionSource:
        """Return columns <u, x - mean> of chosen directions u, made when they are read.

        Parameters
        ----------
        X : array-like of shape (n_points, n_coordinates)
            The points.
        names
            Not used: directions have their own names.
        n_threads : int, optional
            Threads to check the data with.
        """
        if names is not None:
            raise InputValueError("directions have names of their own: leave feature_names out")
        panels = centred(panels_of(X, thread_count(n_threads)))
        d = panels.n_coordinates
        most = min(d, MOST_AXES) if self.axes is None else whole_number(self.axes, "axes", 0, d)
        count = whole_number(self.random, "random", 0)
        variances, vectors = np.linalg.eigh(scatter(panels))
        chosen = [vectors.T[::-1][:most], _units(np.random.default_rng(self.rng).standard_normal((count, d)))]
        labels = [f"axis {i}" for i in range(most)] + [f"random {i}" for i in range(count)]
        others = self._given(d)
        chosen.append(others)
        labels += [f"given {i}" for i in range(len(others))]
        found = np.concatenate(chosen) if labels else vectors.T[::-1][:1]
        labels = labels or ["axis 0"]
        if self.ascend and panels.n_points > 1 and variances[-1] > 0.0:
            climbed = _ascend(panels, found)
            found = np.concatenate([found, climbed])
            labels += [f"ascent {i}" for i in range(len(climbed))]
        return DirectionSource(panels, _units(found), labels)

    def _given(self, n_coordinates: int) -> NDArray[np.float64]:
        """Return the directions that were given, of length 1."""
        if self.given is None:
            return np.empty((0, n_coordinates))
        rows = np.array(self.given, np.float64)
        if rows.ndim != 2 or rows.shape[1] != n_coordinates:
            raise ShapeError(f"given directions are rows of {n_coordinates} numbers, not {rows.shape}")
        for at in np.flatnonzero(~(np.isfinite(rows).all(axis=1) & rows.any(axis=1)))[:1]:
            raise InputValueError(f"given direction {at} is 0 or not finite: it points nowhere")
        return _units(rows / np.abs(rows).max(axis=1, keepdims=True))

    def planned(self, n_points: int, n_coordinates: int) -> Sizes:
        """Return the sizes for a plan, for this many points."""
        axes = min(n_coordinates, MOST_AXES) if self.axes is None else self.axes
        begun = max(axes + self.random + (0 if self.given is None else len(self.given)), 1)
        held = padded_bytes(n_points, n_coordinates)
        return Sizes(begun + (min(STARTS, begun) if self.ascend else 0), held, 2 * held, on_device=True)

    def described(self, source: ColumnSource) -> dict[str, Any]:
        """Return what a result says about these features."""
        return {"family": "directions", "directions": source.n_features}


class DirectionSource(MadeColumns):
    """Scalar products of centred points with unit vectors.

    Each is summed over the coordinates in their order with fused products, from values that were rounded when
    the mean was subtracted, and the vectors have length 1 only up to rounding: with R the greatest length of
    a centred point, a product is off by d u R from the sum, u R from the centring and (d/2 + 4) u R from the
    length of the vector, where u = 2^-53; in all less than (1.5 d + 8) u R.
    """

    covers = False
    part_of = "all directions"

    def __init__(self, panels: Panels, vectors: NDArray[np.float64], names: list[str]) -> None:
        super().__init__(panels.n_points, len(vectors), None, "directions", names)
        self.panels, self.vectors = panels, vectors
        squares = max(float(np.einsum("ij,ij->i", some, some).max()) for some in panels.parts())
        self.reach = math.sqrt(squares) * (1.0 + 2.0**-30)

    def fill(
        self, columns: Sequence[int], out: NDArray[np.floating], rows: NDArray[np.intp] | None = None
    ) -> None:
        """Compute all directions together, in one pass over the points."""
        from geodim.families._kernels import fill_distances  # noqa: PLC0415 - imports Numba

        panels = self.panels if rows is None else self.panels.some(rows)
        vectors = packed(self.vectors[np.asarray(columns, np.intp)], GROUP)
        fill_distances(panels.values, vectors, PRODUCTS, 1.0, out)
        if panels.exponent:
            np.ldexp(out, panels.exponent, out=out)

    def extents(self) -> NDArray[np.float64]:
        """Return bounds on the values: no product with a unit vector exceeds the length of a point."""
        reach = float(np.ldexp(self.reach, self.panels.exponent)) + self.error(0.0)
        return np.tile([-reach, reach], (self.n_features, 1))

    def error(self, greatest: float) -> float:  # noqa: ARG002
        """Return the error, see above; it depends on the lengths of the points, not on the values."""
        error = (1.5 * self.panels.n_coordinates + 8.0) * UNIT * self.reach * (1.0 + 2.0**-20)
        return float(np.ldexp(error, self.panels.exponent))

    @property
    def held(self) -> int:
        """Bytes of the points in panels."""
        return self.panels.values.nbytes

    @property
    def held_for_bounds(self) -> int:
        """Bytes of two copies of the points, in rows."""
        return 2 * self.held

    def digest(self) -> bytes:
        """Return a digest of the points and the directions."""
        return digest_of_parts("directions", self.panels.exponent, self.panels.values, self.vectors)

    def whole(self, part: Part) -> Whole:
        """Return bounds for all directions: below, from any of them; above, see `geodim.families.spread`."""
        return direction_bounds(self, part)


def centred(panels: Panels) -> Panels:
    """Return the points minus their mean: widths do not depend on the origin, but sums of squares do."""
    mean = panels.values.sum(axis=(0, 2)) / panels.n_points  # the last panel is filled up with zeros
    values = panels.values - mean[:, np.newaxis]
    values[-1, :, PANEL - (-panels.n_points) % PANEL :] = 0.0
    return Panels(values, panels.n_points, panels.exponent)


def scatter(panels: Panels) -> NDArray[np.float64]:
    """Return sums of products of coordinates over all points, shape (d, d)."""
    products = np.zeros((panels.n_coordinates, panels.n_coordinates))
    for some in panels.parts():
        products += some.T @ some
    return products


def _units(vectors: NDArray[np.float64]) -> NDArray[np.float64]:
    lengths = np.sqrt(np.square(vectors).sum(axis=1, keepdims=True))
    units: NDArray[np.float64] = vectors / np.where(lengths > 0.0, lengths, 1.0)
    return units


def _ascend(panels: Panels, starts: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return directions of a larger discriminability of their own, from the best of some starts.

    For each of some sizes let the narrowest window of a direction end in the points p and q: the width is <u,
    q - p>, and the sum of all q - p is a subgradient (of ties the first window counts).  The sum of widths is
    homogeneous in u, so its subgradient, scaled to length 1, is the next direction; the best one met is kept.
    """
    rows = panels.rows(np.arange(panels.n_points))
    sizes = np.unique(np.linspace(2, panels.n_points, SIZES).astype(int))
    scores = np.array([_pull(rows, u, sizes)[0] for u in starts])
    best = np.argsort(-scores, kind="stable")[:STARTS]
    found = []
    for u in starts[best]:
        at, score, record = u, -1.0, u
        for _ in range(ROUNDS):
            reached, pull = _pull(rows, at, sizes)
            length = float(np.sqrt(np.square(pull).sum()))
            if reached <= score * (1.0 + 1e-6) or length == 0.0:
                break
            score, record, at = reached, at, pull / length
        found.append(record)
    return np.array(found)


def _pull(
    rows: NDArray[np.float64], u: NDArray[np.float64], sizes: NDArray[np.int64]
) -> tuple[float, NDArray[np.float64]]:
    """Return the sum of the narrowest widths at some sizes, and its subgradient."""
    values = rows @ u
    order = np.argsort(values, kind="stable")
    l, total, pull = values[order], 0.0, np.zeros(u.size)
    for size in sizes.tolist():
        widths = l[size - 1 :] - l[: l.size - size + 1]
        at = int(np.argmin(widths))
        total += float(widths[at])
        pull += rows[order[at + size - 1]] - rows[order[at]]
    return total, pull
