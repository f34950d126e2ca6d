"""The interface of families of features, also of those written by users.

`Family` is all that `features=` requires.  What its source may state in addition is optional, and read only
here: how far values are off, whether columns are computed on every reading, and which larger family they are
a part of.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from geodim.data.sources import as_source
from geodim.errors import InputTypeError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from geodim.data.checks import Ranges
    from geodim.data.sources import ColumnSource

WANTED = (
    "n_points", "n_features", "dtype", "row_major", "runs", "names",
    "read", "read_runs", "chunks", "chunk", "sample",
)  # fmt: skip


@runtime_checkable
class Family(Protocol):
    """Functions on points, for ``features=``: any object with this method is accepted.

    A family makes a source of columns from points: a column holds the values of one function on all points.
    The source is a `geodim.data.sources.ColumnSource`, which returns columns block by block on request, with
    the same values every time, so that nothing need be stored whole; or it is simply a matrix, points by
    features, in any form that `geodim.intrinsic_dimension` takes.

    A family may also have

    * ``described(source)``: plain values that say in a result which features these were, with its name as
      "family"; by default the name of its class;
    * ``label``: what it is called within a union; by default the name of its class;
    * ``names_points``: True if names that a caller gives are those of points, and not of the functions;
    * ``planned(n_points, n_coordinates)``: `geodim.families.sizes.Sizes`, for plans without data.

    and a source

    * ``names``: of the functions, which shares and explanations use;
    * ``error(greatest)``: how far, at most, a value may lie from that of its definition, given the greatest
      magnitude of all values; 0 by default: the values are exact.  Bounds of results include it;
    * ``made``: True if columns are computed anew at every reading.  Exact results compute each only once;
      the values must be finite, and the source has ``at_once``, how many columns are best computed together,
      and ``extents()``, bounds on the values of every column, shape (n_features, 2), for what was not made
      in time;
    * ``part_of``: what larger family these are a part of, "all points" or "all directions", and
      ``whole(part)``, bounds for all of that (see `geodim.families.bounds`);
    * ``digest()``: bytes that distinguish its values, for checkpoints; else all values are read for that;
    * ``held`` and ``held_for_bounds``: bytes that it keeps to compute columns, and that ``whole`` takes,
      for plans.

    Examples
    --------
    >>> import numpy as np
    >>> import geodim
    >>> class Squares:
    ...     def source(self, X, *, names=None, n_threads=None):
    ...         return np.asarray(X) ** 2
    >>> result = geodim.intrinsic_dimension([[0.0], [1.0], [2.0]], features=Squares())
    >>> result.d_max, result.parameters["features"]
    (4.0, {'family': 'squares'})
    """

    def source(
        self, X: object, *, names: Sequence[str] | None = None, n_threads: int | None = None
    ) -> ColumnSource:
        """Return the functions' values on these points, as columns.

        Parameters
        ----------
        X
            The points, as the caller gave them.
        names : sequence of str, optional
            Names that the caller gave: of points where functions belong to points, else of the functions.
        n_threads : int, optional
            Threads to use.
        """


def opened(
    family: Family, X: object, names: Sequence[str] | None = None, n_threads: int | None = None
) -> ColumnSource:
    """Return the columns of a family on these points; raise if it does not return a source."""
    made: Any = family.source(X, names=names, n_threads=n_threads)
    source: ColumnSource = made if hasattr(made, "read") else as_source(made)
    missing = [name for name in WANTED if not hasattr(source, name)]
    if missing:
        raise InputTypeError(
            f"the source of {type(family).__name__} is a {type(source).__name__} without {missing[0]}: see "
            "geodim.data.sources.ColumnSource for what it must have, or let it be a matrix"
        )
    return source


def described(family: Family, source: ColumnSource) -> dict[str, Any]:
    """Return what a result says about its features: plain values."""
    say = getattr(family, "described", None)
    said: dict[str, Any] = {"family": type(family).__name__.lower()} if say is None else say(source)
    try:
        json.dumps(said, allow_nan=False)
        if not isinstance(said["family"], str):
            raise TypeError("its name is not a string")
    except (TypeError, ValueError, KeyError) as error:
        raise InputTypeError(
            f"what {type(family).__name__}.described gives cannot be written to a result ({error}): a "
            "dict of plain values is needed, with a string as 'family'"
        ) from error
    part = part_of(source)
    return said if part is None else said | {"part_of": part}


def label_of(family: Family) -> str:
    """Return the name of a family, for messages and to distinguish members of a union."""
    label: str = getattr(family, "label", type(family).__name__.lower())
    return label


def is_made(source: ColumnSource) -> bool:
    """Return whether columns are computed anew whenever they are read, so that they should be read once."""
    return bool(getattr(source, "made", False))


def part_of(source: ColumnSource) -> str | None:
    """Return the larger family for which bounds are wanted; None if these are all of it."""
    found: str | None = getattr(source, "part_of", None)
    return found


def error_of(source: ColumnSource, ranges: Ranges) -> float:
    """Return how far any value may be off, given the ranges of the columns."""
    within = getattr(source, "error_within", None)  # such a source knows the error of each column
    if within is not None:
        return float(within(ranges))
    stated = getattr(source, "error", None)
    return 0.0 if stated is None else float(stated(ranges.magnitude))
