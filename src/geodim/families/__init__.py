"""Families of features that are not columns of a table: functions of points, made block by block.

`Distances` gives {d(x, .)}, `Directions` {<u, .>}: sources of columns for the engine, with a stated rounding
error. `geodim.families.solve.family_profile` solves them, and `geodim.families.bounds` tells what landmarks
say of all points, and some directions of all directions.
"""

from __future__ import annotations

from geodim.families.directions import Directions
from geodim.families.distances import Distances

__all__ = ["Directions", "Distances"]
