"""The choice of how points with weights are measured.

Whole weights are multiplicities.  If they are small, points are repeated within the column that is being
solved, which is fastest for the engine.  The same is done if weights are small multiples of a common unit, as
equal weights are.  All others, whole or not, are masses of points that are not repeated; their cost depends
only on the number of points (see `geodim.engine.mass_solve`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from geodim.data.shapes import check_masses, is_whole
from geodim.data.sources import WeightedSource, as_source
from geodim.errors import InternalError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from geodim.data.sources import ColumnSource
    from geodim.engine.masses import Measure

# Up to this many repetitions on average the engine is several times as fast as with masses, and takes about
# twice the memory; from some 64 on it would be slower.  And this few points are repeated in no time.
TIMES = 16
FEW_POINTS = 1 << 12


class UnitSource(WeightedSource):
    """Another source whose points have masses that are small multiples of a unit: they count that often.

    ``n_points`` is the number of all units; ``unit`` is the size of one, in the units of ``measure``.
    """

    def __init__(self, source: ColumnSource, counts: NDArray[np.int64], measure: Measure, unit: int) -> None:
        super().__init__(source, counts)
        self.measure, self.unit = measure, unit


class MassSource(WeightedSource):
    """Another source whose points have masses.

    ``n_points`` is the number of points whose mass is not 0; ``measure`` holds the masses.
    """

    def __init__(self, source: ColumnSource, weights: NDArray[Any], measure: Measure) -> None:
        super().__init__(source, weights)
        self.n_points = self.present.size
        self.measure = measure

    def read_masses(self, column: int) -> tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.int64]]:
        """Return ascending values, and the mass of each in two parts."""
        values = self._column(column).astype(np.float64)
        order = np.argsort(values, kind="stable")
        return values[order], self.measure.high[order], self.measure.low[order]

    def read_values(self, column: int) -> NDArray[np.float64]:
        """Return the values of the points in the order of their masses."""
        return self._column(column).astype(np.float64)

    def read(self, columns: Sequence[int], out: NDArray[np.floating]) -> None:  # noqa: ARG002
        """Refuse: points with masses are never repeated."""
        raise InternalError("points with masses were to be repeated")

    def read_runs(self, column: int) -> tuple[NDArray[np.float64], NDArray[np.int64]]:  # noqa: ARG002
        """Refuse: points with masses are never counted."""
        raise InternalError("points with masses were to be counted")

    def sample(self, columns: NDArray[np.intp], rows: NDArray[np.intp]) -> NDArray[np.float64]:
        """Return a few rows of a few columns, drawn by their masses."""
        masses = np.cumsum(self.weights / self.weights.max())
        at = np.searchsorted(masses, (rows + 0.5) / self.n_points * masses[-1])
        return self.source.sample(columns, self.present[np.minimum(at, self.n_points - 1)])


def weighted_source(source: ColumnSource, weights: object) -> ColumnSource:
    """Return a source with weights, `WeightedSource`, `UnitSource` or `MassSource`: the fastest that fits."""
    from geodim.engine.masses import Measure  # noqa: PLC0415 - imports Numba

    masses = check_masses(weights, source.n_points)
    present = np.flatnonzero(masses)
    few = max(TIMES * present.size, FEW_POINTS)
    if is_whole(masses) and float(masses.sum(dtype=np.float64)) <= few:
        return WeightedSource(source, masses.astype(np.int64))
    measure = Measure.of(masses[present])
    found = measure.counts(few)
    if found is None:
        return MassSource(source, masses, measure)
    counts = np.zeros(masses.size, np.int64)
    counts[present] = found[0]
    return UnitSource(source, counts, measure.bare(), found[1])


def measured_source(
    data: object, *, weights: object = None, names: Sequence[str] | None = None
) -> ColumnSource:
    """Do the same as `geodim.data.sources.as_source`, for weights of any kind."""
    source = as_source(data, names=names)
    return source if weights is None else weighted_source(source, weights)
