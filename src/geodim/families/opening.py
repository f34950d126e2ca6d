"""From a caller's arguments to columns: the family, its source, and points that count several times."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from geodim.data.measures import MassSource, UnitSource, weighted_source
from geodim.data.shapes import check_masses, check_weights, is_whole
from geodim.data.sources import WeightedSource, as_source
from geodim.errors import InputTypeError, InputValueError
from geodim.families.choose import family_of
from geodim.families.covering import covering
from geodim.families.protocol import described, is_made, opened, part_of
from geodim.families.union import is_divided

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from geodim.data.scales import Scale
    from geodim.data.sources import ColumnSource
    from geodim.families.protocol import Family


@dataclass(frozen=True)
class Opened:
    """Columns that are ready to be read.

    Attributes
    ----------
    source : ColumnSource
        The columns, with points repeated as often as they count.
    plain : ColumnSource
        The same, each point once.
    said : dict or None
        What a result says about the features; None for the columns themselves.
    """

    source: ColumnSource
    plain: ColumnSource
    said: dict[str, Any] | None = None

    @property
    def weights(self) -> NDArray[np.int64] | None:
        """How often each point counts; None if each does once."""
        if self.source is self.plain:
            return None
        assert isinstance(self.source, WeightedSource)
        weights = np.zeros(self.plain.n_points, self.source.weights.dtype)
        weights[self.source.present] = self.source.weights
        return weights


def open_family(
    family: Family,
    X: object,
    *,
    weights: object = None,
    names: Sequence[str] | None = None,
    n_threads: int = 1,
    masses: bool = False,
) -> Opened:
    """Return the columns of a family on these points.

    Parameters
    ----------
    family : Family
        The family that computes them.
    X, weights, names
        As for `geodim.intrinsic_dimension`.
    n_threads : int
        Threads to use.
    masses : bool
        Whether weights may be any numbers; else they are multiplicities.
    """
    plain = covering(opened(family, X, names, n_threads))
    said = described(family, plain)
    if weights is None:
        return Opened(plain, plain, said)
    given = check_masses(weights, plain.n_points)
    if is_divided(plain) and not np.all(given):
        raise InputValueError(
            "points of weight 0 would take part in the diameters that members are divided by: leave them out"
        )
    if masses and part_of(plain) is None:
        return Opened(weighted_source(plain, given), plain, said)
    if masses and not is_whole(given):
        raise InputTypeError(
            "bounds for all points from landmarks, or for all directions from some, are for weights that are "
            "whole numbers: round them, or take distances from all points"
        )
    return Opened(WeightedSource(plain, check_weights(given, plain.n_points)), plain, said)


def scaled(opened: Opened, scale: Scale, n_threads: int) -> Opened:
    """Return the columns divided by units of their own, if the scale says so."""
    if not scale.own:
        return opened
    if is_made(opened.plain):
        raise InputValueError(
            f"scale={scale.name!r} divides columns of a table; features that are made from points, "
            "as distances are, have one unit: leave out scale, scale the points first, or give several "
            "families to Union(..., by='diameter')"
        )
    if isinstance(opened.source, MassSource | UnitSource):
        raise InputTypeError(
            f"scale={scale.name!r} is for points without weights, or with small whole numbers as such: "
            "divide the columns yourself, and give scale='global' or 'none'"
        )
    source = scale.applied(opened.source, n_threads)
    plain = source.source if isinstance(source, WeightedSource) else source
    return Opened(source, plain, opened.said)


def open_features(
    X: object,
    features: object = "coordinates",
    metric: object = None,
    landmarks: object = None,
    *,
    weights: object = None,
    names: Sequence[str] | None = None,
    n_threads: int = 1,
    scale: Scale | None = None,
) -> Opened:
    """Return the columns that a caller asks for, of data on this machine."""
    family = family_of(features, metric, landmarks)
    if family is not None:
        found = open_family(family, X, weights=weights, names=names, n_threads=n_threads)
    else:
        source = as_source(X, weights=weights, names=names)
        found = Opened(source, source.source if isinstance(source, WeightedSource) else source)
    return found if scale is None else scaled(found, scale, n_threads)
