"""Families of features that are not columns of a table: functions of points, computed block by block.

`Distances` gives {d(x, .)}, `Directions` {<u, .>}, `Values` the user's own functions, `Union` several of them
together: sources of columns for the engine, with a stated rounding error.  `Pixels` and `Patches` are values
of images, `Terms` of texts.  `Family` defines the interface.  `geodim.families.solve.family_profile` solves
them, and `geodim.families.bounds` derives bounds for all points from landmarks, and for all directions from
some.
"""

from __future__ import annotations

from geodim.families.directions import Directions
from geodim.families.distances import Distances
from geodim.families.images import Patches, Pixels, patches, pixels
from geodim.families.protocol import Family
from geodim.families.terms import Terms, terms
from geodim.families.union import Union
from geodim.families.values import Coordinates, Values

__all__ = [
    "Coordinates",
    "Directions",
    "Distances",
    "Family",
    "Patches",
    "Pixels",
    "Terms",
    "Union",
    "Values",
    "patches",
    "pixels",
    "terms",
]
