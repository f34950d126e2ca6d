"""Families of features that are not columns of a table: functions of points, made block by block.

`Distances` gives {d(x, .)}: a source of columns for the engine, with a stated rounding error and, from
landmarks, bounds for all points.
"""

from __future__ import annotations

from geodim.families.distances import Distances

__all__ = ["Distances"]
