"""From a family of features to its profile, exactly: every column is made once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from geodim.data.checks import Ranges
from geodim.engine.leaders import leaders
from geodim.engine.parts import thread_count
from geodim.engine.solve import compute_profile
from geodim.families.sources import MadeColumns

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from geodim.engine.driver import Driver
    from geodim.engine.profile import Profile

LEADERS_FROM = 64  # columns and points: fewer are solved in any order


@dataclass(frozen=True)
class SolvedFamily:
    """A profile of a family of features, and what `geodim.summary.summarise` wants to know besides.

    Attributes
    ----------
    profile : Profile
        Phi for every d = k - 1, exact for the values of the source.
    ranges : Ranges
        Extremes of every column; of columns that were not made, for want of time, bounds.
    feature_error : float
        How far any value may lie from that of its definition.
    d_max, d_max_error : float
        The largest range of a column, and how far it may be off.
    radius : float
        How far, at most, a point lies from the nearest centre of distances; 0 if all points are centres.
    """

    profile: Profile
    ranges: Ranges
    feature_error: float
    d_max: float
    d_max_error: float
    radius: float


def family_profile(
    source: MadeColumns,
    *,
    n_threads: int | None = None,
    driver: Driver | None = None,
) -> SolvedFamily:
    """Phi over all columns of a family, exactly; each column is made once.

    A sample of the points tells which columns lead; they are solved first, and nearly all others are dropped
    by counts as soon as they are made.

    Parameters
    ----------
    source : MadeColumns
        Where the columns come from: `geodim.families.Distances.source`, `geodim.families.Directions.source`.
    n_threads : int, optional
        Threads; all cores by default.  The result does not depend on it.
    driver : Driver, optional
        Says when to stop, and hears (columns done, columns in all).  A profile that was stopped has bounds.
    """
    threads = thread_count(n_threads)
    n, m = source.n_points, source.n_features
    first = leaders(source, threads) if min(n, m) >= LEADERS_FROM and source.at_once > 1 else []
    ends = np.full((m, 2), np.nan)
    covering = _Covering(source) if source.covers and (source.points is None or m < n) else None
    profile = compute_profile(covering or source, leaders=first, n_threads=threads, driver=driver, ends=ends)
    made = ~np.isnan(ends[:, 0])
    d_max, off = float(np.ptp(ends[made], axis=1).max(initial=0.0)), 0.0
    if not made.all():
        ends[~made] = source.extents()[~made]
        off = 0.5 * max(float(np.ptp(ends, axis=1).max()) - d_max, 0.0)
        d_max += off
    error = source.error(float(np.abs(ends).max()))
    with np.errstate(over="ignore"):
        energies = n * np.square(ends).max(axis=1) * (1.0 + 2.0**-50)
    ranges = Ranges(ends[:, 0].copy(), ends[:, 1].copy(), np.zeros(m), energies, n)
    radius = 0.0 if covering is None else covering.radius()
    return SolvedFamily(profile, ranges, error, d_max, off + 2.0 * error, radius)


class _Covering(MadeColumns):
    """The same columns; while they are made it notes how far every point is from the nearest centre."""

    def __init__(self, source: MadeColumns) -> None:
        super().__init__(source.n_points, source.n_features, source.points, source.metric, source.names)
        self.at_once = source.at_once
        self._source = source
        self._nearest = np.full(source.n_points, np.inf)

    def fill(
        self, columns: Sequence[int], out: NDArray[np.floating], rows: NDArray[np.intp] | None = None
    ) -> None:
        self._source.fill(columns, out, rows)
        if rows is None:
            nearest = out.min(axis=0)
            with self.lock:
                np.minimum(self._nearest, nearest, out=self._nearest)

    def error(self, greatest: float) -> float:
        return self._source.error(greatest)

    def radius(self) -> float:
        """The greatest distance to the nearest of the centres whose columns were made."""
        return float(self._nearest.max())
