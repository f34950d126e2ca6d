"""From a family of features to its exact profile: every column is computed once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from geodim.data.checks import Ranges
from geodim.engine.driver import Driver
from geodim.engine.leaders import leaders
from geodim.engine.parts import thread_count
from geodim.engine.profile import Profile
from geodim.engine.solve import compute_profile
from geodim.errors import DataFileError, NonFiniteError
from geodim.families.bounds import Part
from geodim.families.covering import Covering, covering
from geodim.families.protocol import error_of
from geodim.families.sources import MadeColumns

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from geodim.data.sources import ColumnSource

    Made = MadeColumns | Any  # with all that `geodim.families.protocol.Family` says of made columns

LEADERS_FROM = 64  # columns and points: with fewer, the order does not matter


@dataclass(frozen=True)
class SolvedFamily:
    """A profile of a family of features, and what else `geodim.summary.summarise` needs.

    Attributes
    ----------
    source : ColumnSource
        The columns; those of landmarks know their radius by now.
    profile : Profile
        Phi for every d = k - 1, exact for the values of the source.
    ranges : Ranges
        Extremes of every column; bounds for columns that were not computed because time ran out.
    feature_error : float
        How far any value may lie from that of its definition.
    d_max, d_max_error : float
        The largest range of a column, and how far it may be off.
    part : Part
        The same as a part of a larger family.
    """

    source: Made
    profile: Profile
    ranges: Ranges
    feature_error: float
    d_max: float
    d_max_error: float
    part: Part

    @property
    def radius(self) -> float:
        """How far, at most, a point lies from the nearest centre of distances; 0 if all are centres."""
        return self.source.radius() if isinstance(self.source, Covering) else 0.0


def family_profile(
    columns: Made,
    *,
    n_threads: int | None = None,
    driver: Driver | None = None,
    solve: Callable[..., None] | None = None,
) -> SolvedFamily:
    """Compute Phi over all columns of a family exactly; each column is computed once.

    A sample of the points shows which columns lead; they are solved first, and nearly all others are dropped
    by counts as soon as they are computed.

    Parameters
    ----------
    columns : ColumnSource
        The source, such as `geodim.families.Distances.source`, or any other whose columns are computed.
    n_threads : int, optional
        Threads; all cores by default.  The result does not depend on it.
    driver : Driver, optional
        Says when to stop, is given (columns done, columns in all), and keeps the state.  A profile that was
        stopped has bounds.
    solve : callable, optional
        What solves them: `solve_here` by default, or ``solve_made`` of a `geodim.backends.Executor`.
    """
    threads, driver = thread_count(n_threads), driver or Driver()
    source: Any = covering(columns) if isinstance(columns, MadeColumns) else _Finite(columns)
    n, m = source.n_points, source.n_features
    ends = np.full((m, 2), np.nan)
    profile = Profile.empty(n, m, n_threads=threads)
    profile.notes = {"ends": ends, **getattr(source, "notes", {})}
    driver.resume([profile])
    _check_resumed(profile, ends)
    (solve or solve_here)(source, profile=profile, ends=ends, threads=threads, driver=driver)
    made = ~np.isnan(ends[:, 0])
    d_max, off = float(np.ptp(ends[made], axis=1).max(initial=0.0)), 0.0
    if not made.all():
        ends[~made] = source.extents()[~made]
        off = 0.5 * max(float(np.ptp(ends, axis=1).max()) - d_max, 0.0)
        d_max += off
    with np.errstate(over="ignore"):
        energies = n * np.square(ends).max(axis=1) * (1.0 + 2.0**-50)
    ranges = Ranges(ends[:, 0].copy(), ends[:, 1].copy(), np.zeros(m), energies, n)
    error = error_of(source, ranges)
    part = Part.of(
        profile, ranges, error, n_threads=threads, made=made, solve=solver_of_others(driver, threads)
    )
    return SolvedFamily(source, profile, ranges, error, d_max, off + 2.0 * error, part)


def leading(source: Made, threads: int) -> list[int]:
    """Return columns to solve first, where there are enough to make a difference."""
    if min(source.n_points, source.n_features) < LEADERS_FROM or source.at_once == 1:
        return []
    return leaders(source, threads)


def solve_here(
    source: Made, *, profile: Profile, ends: NDArray[np.float64], threads: int, driver: Driver
) -> None:
    """Solve computed columns on the cores of this machine; see `geodim.backends.Executor.solve_made`."""
    first = leading(source, threads)
    compute_profile(source, leaders=first, n_threads=threads, driver=driver, profile=profile, ends=ends)


class _Finite:
    """Columns from user code, checked for values that are not finite before the engine sees them."""

    def __init__(self, source: ColumnSource) -> None:
        self._source = source

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - whatever the source has
        if name == "_source":  # while it is unpickled
            raise AttributeError(name)
        return getattr(self._source, name)

    def read(self, columns: Sequence[int], out: NDArray[np.floating]) -> None:
        """Compute some columns."""
        self._source.read(columns, out)
        if not np.isfinite(out).all():
            at, row = np.argwhere(~np.isfinite(out))[0].tolist()
            raise NonFiniteError(f"feature {columns[at]} is {out[at, row]} for point {row}: make it finite")


def _check_resumed(profile: Profile, ends: NDArray[np.float64]) -> None:
    """Raise unless the extremes of every finished column are known and the largest range is Phi(n)."""
    done = ends[profile.done]
    widths = done[:, 1] - done[:, 0]
    fits = np.all(np.isfinite(done)) and np.all(widths >= 0.0)
    if not fits or widths.max(initial=0.0) > profile.phi[-1]:
        raise DataFileError(
            "the checkpoint was edited or damaged (ranges of columns do not fit the widths): delete it to "
            "start over"
        )


def solver_of_others(
    driver: Driver, threads: int, weights: NDArray[np.int64] | None = None
) -> Callable[[ColumnSource], NDArray[np.float64] | None]:
    """Solves other columns of the same points exactly, as long as there is time; see `Part.solve`."""
    from geodim.data.sources import WeightedSource  # noqa: PLC0415

    def solve(source: ColumnSource) -> NDArray[np.float64] | None:
        if driver.late():
            return None
        counted: ColumnSource = source if weights is None else WeightedSource(source, weights)
        found = compute_profile(counted, n_threads=threads, driver=Driver(driver.deadline))
        return None if found.stopped else found.phi[1:]

    return solve
