"""The sizes of a family that a plan needs before there is any data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from geodim.errors import InputValueError
from geodim.planning.problem import Problem

if TYPE_CHECKING:
    from geodim.families.protocol import Family

AT_ONCE = 32  # as in `geodim.families.sources`


@dataclass(frozen=True)
class Sizes:
    """The sizes of a family on a given number of points.

    Attributes
    ----------
    n_features : int
        How many columns there are.
    made_from : int or None
        Bytes that are kept to compute them; None if they are the columns of the data.
    part : int or None
        If they are a part of a larger family, the bytes needed to find bounds for that.
    on_device : bool
        Whether a GPU computes them itself; else they come from its host.
    """

    n_features: int
    made_from: int | None
    part: int | None = None
    on_device: bool = False


def sizes_of(family: Family, n_points: int, n_coordinates: int) -> Sizes:
    """Return the sizes of a family that knows them."""
    planned = getattr(family, "planned", None)
    if planned is None:
        raise InputValueError(
            f"there is no telling what {type(family).__name__} takes before there is data: it has no "
            "method planned"
        )
    found: Sizes = planned(n_points, n_coordinates)
    return found


def family_problem(
    family: Family,
    n_points: int,
    n_coordinates: int,
    *,
    itemsize: int = 8,
    rtol: float = 0.0,
    held: bool = True,
) -> Problem:
    """Return the problem by sizes alone: the same one that a computation plans for.

    Parameters
    ----------
    family : Family
        Which features.
    n_points, n_coordinates : int
        The shape of the points.
    itemsize : int
        Bytes of a coordinate as it is given.
    rtol : float
        0 is exact.
    held : bool
        Whether the points lie in the memory of this process.
    """
    sizes = sizes_of(family, n_points, n_coordinates)
    points = n_points * n_coordinates * itemsize
    return Problem(
        n_points, sizes.n_features, 8, rtol, made_from=sizes.made_from, part=sizes.part, points=points,
        on_device=sizes.on_device, row_major=False, by_rows=False, at_once=AT_ONCE, apart=False, held=held,
    )  # fmt: skip
