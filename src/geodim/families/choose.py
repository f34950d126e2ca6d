"""Which features: from what a caller types to a family, and from a part of it to bounds on all of it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from geodim.errors import InputTypeError, InputValueError
from geodim.families.bounds import direction_bounds, net_bounds
from geodim.families.directions import Directions, DirectionSource
from geodim.families.distances import Distances
from geodim.families.images import Patches, Pixels
from geodim.families.terms import Terms

if TYPE_CHECKING:
    from collections.abc import Sequence

    from geodim.families.bounds import FamilyBounds
    from geodim.families.solve import SolvedFamily
    from geodim.families.sources import MadeColumns

    Family = Distances | Directions | Pixels | Patches | Terms

# Values that are computed once: from then on columns like any others.
VALUES: dict[str, type[Pixels | Patches | Terms]] = {"pixels": Pixels, "patches": Patches, "terms": Terms}
FAMILIES = ("coordinates", "distances", "directions", *VALUES)


def family_of(features: Any, metric: Any = None, landmarks: Any = None) -> Family | None:
    """The family that is meant; None for the columns themselves.

    Parameters
    ----------
    features : str, Distances, Directions, Pixels, Patches or Terms
        Its name, or the family with all its options.
    metric, landmarks : optional
        For the name "distances": see `Distances`.
    """
    if isinstance(features, Distances | Directions | Pixels | Patches | Terms):
        if metric is not None or landmarks is not None:
            raise InputValueError("the family has its own options: give metric and landmarks to it")
        return features
    if not isinstance(features, str):
        raise InputTypeError(f"features must be a name or a family such as Distances, not {features!r:.60}")
    if features not in FAMILIES:
        raise InputValueError(f"unknown features {features!r}: choose one of {', '.join(FAMILIES)}")
    if features == "distances":
        family = Distances(landmarks=landmarks)
        return family if metric is None else replace(family, metric=metric)
    for name, value in (("metric", metric), ("landmarks", landmarks)):
        if value is not None:
            raise InputValueError(f"{name} is for features='distances', not {features!r}")
    if features in VALUES:
        return VALUES[features]()
    return Directions() if features == "directions" else None


def source_of(family: Family, X: Any, names: Sequence[str] | None, n_threads: int) -> MadeColumns:
    """The columns of a family on these points."""
    if isinstance(family, Distances):
        return family.source(X, names=names, n_threads=n_threads)
    assert isinstance(family, Directions)
    if names is not None:
        raise InputValueError("directions have names of their own: leave feature_names out")
    return family.source(X, n_threads=n_threads)


def is_part(source: MadeColumns) -> bool:
    """Whether these are some of the features that are meant: landmarks, or directions."""
    landmarks = source.points is None or source.n_features < source.n_points
    return isinstance(source, DirectionSource) or (landmarks and source.covers)


def whole_bounds(source: MadeColumns, solved: SolvedFamily, *, normalize: bool) -> FamilyBounds:
    """Bounds for all points, or all directions, from some of them."""
    if isinstance(source, DirectionSource):
        return direction_bounds(source, solved, normalize=normalize)
    return net_bounds(source, solved, normalize=normalize)


def described(family: Family, source: MadeColumns) -> dict[str, Any]:
    """What a result says about its features."""
    if isinstance(family, Directions):
        return {"family": "directions", "directions": source.n_features}
    assert isinstance(family, Distances)
    metric = family.metric if isinstance(family.metric, str) else "a function"
    found: dict[str, Any] = {"family": "distances", "metric": metric}
    if family.p is not None:
        found["p"] = float(family.p)
    if family.landmarks is not None:
        found["landmarks"] = source.n_features
    return found | source.details
