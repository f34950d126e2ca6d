"""Distances from landmarks that record, while computed, how far every point is from the nearest one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from geodim.families.bounds import net_bounds
from geodim.families.sources import MadeColumns

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from geodim.data.sources import ColumnSource
    from geodim.families.bounds import Part, Whole


class Covering(MadeColumns):
    """The same columns, and the radius of the landmarks.

    Parameters
    ----------
    source : MadeColumns
        Distances from some points of the data, or from other points.

    Attributes
    ----------
    notes : dict of array
        What was recorded; a checkpoint keeps it.
    """

    def __init__(self, source: MadeColumns) -> None:
        super().__init__(source.n_points, source.n_features, source.points, source.metric, source.names)
        self.at_once, self.details = source.at_once, source.details
        self.source = source
        self.notes = {"nearest": np.full(source.n_points, np.inf)}

    def fill(
        self, columns: Sequence[int], out: NDArray[np.floating], rows: NDArray[np.intp] | None = None
    ) -> None:
        """Compute columns, and record the distance of every point from the nearest centre."""
        self.source.fill(columns, out, rows)
        if rows is None:
            nearest = out.min(axis=0)
            with self.lock:
                np.minimum(self.notes["nearest"], nearest, out=self.notes["nearest"])

    def sample(self, columns: NDArray[np.intp], rows: NDArray[np.intp]) -> NDArray[np.float64]:
        """Return the sample of the distances, which may compute it in their own way."""
        return self.source.sample(columns, rows)

    def error(self, greatest: float) -> float:
        """Return the error of the distances."""
        return self.source.error(greatest)

    def extents(self) -> NDArray[np.float64]:
        """Return the extents of the distances."""
        return self.source.extents()

    @property
    def held(self) -> int:
        """Bytes that the distances are computed from, and a number per point."""
        return self.source.held + 8 * self.n_points

    def digest(self) -> bytes:
        """Return the digest of the distances."""
        return self.source.digest()

    def radius(self) -> float:
        """Return the greatest distance of a point to its nearest computed centre, or to the first centre."""
        if self.notes["nearest"][0] == np.inf:  # time ran out before any column
            self.fill([0], np.empty((1, self.n_points)))
        return float(self.notes["nearest"].max())

    def whole(self, part: Part) -> Whole:
        """Return bounds for the distances from all points."""
        return net_bounds(part, self.radius(), among_points=self.points is not None)


def covering(source: ColumnSource) -> ColumnSource:
    """Return a source that records the radius of its landmarks, if it has any."""
    some = isinstance(source, MadeColumns) and source.covers and source.part_of is not None
    return Covering(source) if some and not isinstance(source, Covering) else source  # type: ignore[arg-type]
