"""Families of features that are not columns of a table: functions of points, made block by block.

`Distances` gives {d(x, .)}, `Directions` {<u, .>}: sources of columns for the engine, with a stated rounding
error; `Pixels` and `Patches` values of images, `Terms` those of texts.
`geodim.families.solve.family_profile` solves them, and `geodim.families.bounds` tells what landmarks say of
all points, and some directions of all directions.
"""

from __future__ import annotations

from geodim.families.directions import Directions
from geodim.families.distances import Distances
from geodim.families.images import Patches, Pixels, patches, pixels
from geodim.families.terms import Terms, terms

__all__ = ["Directions", "Distances", "Patches", "Pixels", "Terms", "patches", "pixels", "terms"]
