"""The loop over columns of points with masses: exact, by the steps of each column, or by counters of mass.

Columns are handed to threads one by one and merged by the greatest width at every mass, so nothing depends on
their order.  Solving a column takes some 500 bytes per point; no array is as long as the number of points
that weights stand for.
"""

from __future__ import annotations

import threading
from collections import deque
from typing import TYPE_CHECKING, Any

import numpy as np

from geodim.engine.changed import changed
from geodim.engine.mass_profile import EVERY_SIZE, MassProfile
from geodim.engine.mass_units import in_units
from geodim.engine.masses import BITS
from geodim.engine.profile import Profile
from geodim.engine.steps import steps_needed
from geodim.engine.threads import threads_for
from geodim.errors import DataChangedError
from geodim.memory import check_points

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from geodim.data.checks import Ranges
    from geodim.data.measures import MassSource
    from geodim.engine.counting import CountingSolver
    from geodim.engine.driver import Driver
    from geodim.engine.masses import Measure
    from geodim.engine.ways import Way

MASS_BYTES = 500  # per point: a column, its starts, and its steps
PATIENCE = 1 << 22  # starts examined between two checks of the clock
GAPS = 256  # initial size of the stack; halving needs a few tens
EXACT_BITS = 52  # of counts times steps, so that K j - C[j] is exact in float64


def mass_profile(
    source: MassSource,
    way: Way,
    *,
    step: float,
    ranges: Ranges,
    leaders: Sequence[int],
    n_threads: int,
    driver: Driver,
) -> Profile:
    """Solve every column: by counters of mass if the way says so, otherwise exactly, whatever the step.

    Parameters
    ----------
    source
        Points with masses.
    way
        How columns are solved.
    step
        The resolution if columns are counted; a power of two.
    ranges
        Ranges of the columns.
    leaders
        Columns to solve first, because they probably bound the others.
    n_threads
        Number of threads.
    driver
        Decides when to stop, receives progress as (columns done, all columns), and saves the state.
    """
    if way.counted:
        return _counted(source, way, step, ranges, leaders, n_threads, driver)
    check_points(source.n_points, MASS_BYTES)
    profile = MassProfile.nothing(source.measure, source.n_features)

    def solve(column: int) -> bool:
        values, high, low = source.read_masses(column)
        profile.bytes_read += values.nbytes
        _check_ends(column, ranges, values[0], values[-1])
        return ColumnSteps(values, high, low).merge(column, profile, driver.late)

    _run(profile, solve, leaders, n_threads, driver)
    if source.measure.whole and profile.n_points <= EVERY_SIZE and profile.stopped is None:
        return profile.spread_out()
    return profile


def _run(
    profile: Profile,
    solve: Callable[[int], bool],
    leaders: Sequence[int],
    n_threads: int,
    driver: Driver,
) -> None:
    """Solve all columns that are not done yet, leaders first; each thread takes the next one."""
    driver.resume([profile])
    columns = deque(
        column for column in dict.fromkeys([*leaders, *range(profile.done.size)]) if not profile.done[column]
    )
    solved = threading.Event()  # set when a column is solved or a thread ends

    def work() -> None:
        while not driver.late():
            try:
                column = columns.popleft()
            except IndexError:  # another thread took the last one
                return
            if solve(column):
                profile.done[column] = True
                solved.set()

    def report() -> None:
        driver.report(int(profile.done.sum()), profile.done.size)
        if driver.due():
            with profile.lock:
                driver.keep([profile])

    report()
    threads = max(1, min(n_threads, len(columns)))
    with driver.heeding(), threads_for(threads) as pool:
        working = [pool.submit(work) for _ in range(threads)]
        for one in working:
            one.add_done_callback(lambda _: solved.set())
        try:
            while working:
                solved.wait(timeout=0.2)
                solved.clear()
                for one in [one for one in working if one.done()]:
                    working.remove(one)
                    one.result()
                report()
        except BaseException:
            driver.halt("interrupted")  # threads return before their next column
            raise
    profile.stopped = driver.stopped
    driver.keep([profile])


def _check_ends(column: int, ranges: Ranges, least: float, greatest: float) -> None:
    """Raise unless a column has the same range as in the first pass."""
    before = float(ranges.least[column]), float(ranges.greatest[column])
    if (float(least), float(greatest)) != before:
        raise changed(column, before, (float(least), float(greatest)))


class ColumnSteps:
    """The steps of one column, see `geodim.engine.kernels.mass_steps`.

    Parameters
    ----------
    values : array of float64
        The values, ascending.
    high, low : array of int64
        High and low parts of the mass of each value.
    """

    def __init__(self, values: NDArray[np.float64], high: NDArray[np.int64], low: NDArray[np.int64]) -> None:
        from geodim.engine.kernels.masses import cumulate_masses  # noqa: PLC0415 - imports Numba

        distinct = np.empty(values.size)
        sums = np.empty(values.size + 1, np.int64), np.empty(values.size + 1, np.int64)
        r = cumulate_masses(values, high, low, distinct, *sums)
        self.column = distinct[:r], sums[0][: r + 1], sums[1][: r + 1]
        self.widths = np.empty((GAPS, 2))
        self.masses, self.lists = np.empty((GAPS, 4), np.int64), np.empty((GAPS, 3), np.int64)
        self.places = np.empty((2 * r + 64, 4), np.int32)
        room = r + 64
        self.found = np.empty(room), np.empty(room, np.int64), np.empty(room, np.int64)
        self.state = np.zeros(3, np.int64)

    def merge(self, index: int, profile: MassProfile, stop: Callable[[], bool]) -> bool:
        """Find the steps where the column may exceed what others reached, and merge them.

        Returns False if ``stop`` ended it early: then nothing is merged.
        """
        from geodim.engine.kernels import mass_steps as kernels  # noqa: PLC0415 - imports Numba

        if self.column[0].size < 2:  # a constant column has phi 0 everywhere
            return True
        known = profile.known()
        kernels.begin_steps(
            *self.column, self.widths, self.masses, self.lists, self.places, *self.found, self.state
        )
        parts = []
        while True:
            outcome = kernels.find_steps(
                *self.column, *known, self.widths, self.masses, self.lists, self.places, *self.found,
                self.state, PATIENCE,
            )  # fmt: skip
            parts.append([array[: self.state[1]].copy() for array in self.found])
            self.state[1] = 0
            if outcome == kernels.DONE:
                break
            if stop():
                return False
            if outcome == kernels.CROWDED:
                self.places = _longer(self.places)
            elif outcome == kernels.DEEP:
                self.widths, self.masses, self.lists = map(_longer, (self.widths, self.masses, self.lists))
        width, high, low = map(np.concatenate, zip(*parts, strict=True))
        profile.take(index, high, low, width, int(self.state[2]))
        return True


def _longer(array: NDArray[Any]) -> NDArray[Any]:
    """Return a copy of the array with room for as many rows again."""
    return np.concatenate([array, np.empty_like(array)])


# ------------------------------------------------------------ counters of mass


def counting_unit(measure: Measure, n_steps: int) -> tuple[int, bool]:
    """Return the unit of counters for this many steps, and whether masses are rounded to it.

    The unit is 2^shift units of mass, and ``shift`` is returned.  K j - C[j] must be exact in float64, where
    K is at most the mass of all points.  Multiplicities are counted without rounding where possible.
    """
    needed = BITS - EXACT_BITS + (n_steps + 2).bit_length()
    shift = max(needed, -measure.exponent) if measure.whole else needed
    return shift, shift > measure.grain


def _counted(
    source: MassSource,
    way: Way,
    step: float,
    ranges: Ranges,
    leaders: Sequence[int],
    n_threads: int,
    driver: Driver,
) -> Profile:
    """Count the mass in every step of width, and solve these counts as the engine does."""
    from geodim.engine.counting import CountingSolver  # noqa: PLC0415 - imports Numba
    from geodim.engine.kernels.masses import add_masses, rounded_counts  # noqa: PLC0415

    measure, n_steps = source.measure, way.steps
    assert n_steps is not None
    first = steps_needed(ranges.least, ranges.greatest, step).first
    shift, rounded = counting_unit(measure, n_steps)
    total = measure.total >> shift
    profile = Profile.empty(total, source.n_features, step, n_steps, way.left_out, n_threads)
    local = threading.local()

    def solver() -> CountingSolver:
        found: CountingSolver | None = getattr(local, "solver", None)
        if found is None:
            found = CountingSolver(total, step, n_steps, first, left_out=way.left_out)
            local.solver = found
        return found

    def solve(column: int) -> bool:
        values = source.read_values(column)
        profile.bytes_read += values.nbytes
        _check_ends(column, ranges, values.min() + 0.0, values.max() + 0.0)
        at = (np.floor(values / step) - first[column]).astype(np.int64)
        if at.min() < 0 or at.max() >= n_steps:
            raise DataChangedError(f"column {column} changed while it was read; compute again")
        high, low = np.zeros((2, n_steps), np.int64)
        add_masses(at, measure.high, measure.low, high, low)
        counts = np.empty(n_steps, np.int64)
        rounded_counts(high, low, shift, counts)
        return solver().solve_counts(counts, column, profile, driver.late)

    _run(profile, solve, leaders, n_threads, driver)
    return in_units(profile, measure, 1 << shift, rounded=rounded)
