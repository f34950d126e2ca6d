"""The choice of features: from a caller's argument to a family."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from geodim.errors import InputTypeError, InputValueError
from geodim.families.directions import Directions
from geodim.families.distances import Distances
from geodim.families.images import Patches, Pixels
from geodim.families.protocol import Family
from geodim.families.terms import Terms
from geodim.families.union import Union
from geodim.families.values import Coordinates

if TYPE_CHECKING:
    from collections.abc import Callable

# What can be asked for by name.
FAMILIES: dict[str, Callable[[], Family]] = {
    "coordinates": Coordinates,
    "distances": Distances,
    "directions": Directions,
    "pixels": Pixels,
    "patches": Patches,
    "terms": Terms,
}


def family_of(features: object, metric: object = None, landmarks: object = None) -> Family | None:
    """Return the family for a caller's argument; None for the columns themselves.

    Parameters
    ----------
    features : str, Family, or list of these
        Its name, or the family with all its options; several are a union.
    metric, landmarks : optional
        For the name "distances", alone or in a list: see `Distances`.
    """
    options = {
        name: value for name, value in (("metric", metric), ("landmarks", landmarks)) if value is not None
    }
    if isinstance(features, list | tuple):
        if options and "distances" not in features:
            raise InputValueError(
                f"{next(iter(options))} is for 'distances', which is not among the features"
            )
        return Union([_named(one, options) if one == "distances" else one for one in features])
    family = _named(features, options)
    return None if isinstance(family, Coordinates) else family


def member_of(features: object) -> Family:
    """Return a member of a union."""
    return _named(features, {})


def _named(features: object, options: dict[str, Any]) -> Family:
    if isinstance(features, str):
        if features not in FAMILIES:
            raise InputValueError(f"unknown features {features!r}: choose one of {', '.join(FAMILIES)}")
        family = FAMILIES[features]()
        if isinstance(family, Distances):
            return replace(family, **options)
        for name in options:
            raise InputValueError(f"{name} is for features='distances', not {features!r}")
        return family
    if isinstance(features, type) or not isinstance(features, Family):
        hint = ": wrap functions in Values(functions=[...])" if callable(features) else ""
        raise InputTypeError(
            f"features must be a name, a family (Distances, Directions, Values, Union, or anything with a "
            f"method source), or a list of these, not {features!r:.60}{hint}"
        )
    if options:
        raise InputValueError("the family has its own options: give metric and landmarks to it")
    return features


class Ready:
    """A family whose columns already exist, so that random choices are not made twice.

    Parameters
    ----------
    source : ColumnSource
        The columns.
    said : dict
        What a result says about them.
    """

    def __init__(self, source: object, said: dict[str, Any]) -> None:
        self._source, self._said = source, said

    def source(self, X: object, *, names: object = None, n_threads: int | None = None) -> object:  # noqa: ARG002
        """Return the columns as features."""
        return self._source

    def described(self, source: object) -> dict[str, Any]:  # noqa: ARG002
        """Return the description that was given."""
        return self._said
