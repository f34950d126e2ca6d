"""What a computation needs before it is begun: memory, passes, bytes moved and time, on each backend.

`Problem` says what is to be computed, by its sizes; `plan` says what that takes on one machine, on a
GPU or on a cluster.  Memory is a stated formula, the backend's own wherever it has one; time is a few
rates, measured here or stated.  Nothing is read and nothing is allocated, so that a plan for 10^10
points costs as much as one for ten.

Examples
--------
>>> from geodim import Problem, plan
>>> plan(Problem(10**8, 128), "cuda", memory=139 << 30).fits
True
>>> plan(Problem(10**10, 64), "cuda", memory=139 << 30).fits
False
"""

from __future__ import annotations

import time
import warnings
from dataclasses import replace
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from geodim.data.checks import scan_ranges
from geodim.data.sources import as_source
from geodim.dimension import intrinsic_dimension
from geodim.engine.ways import Way
from geodim.engine.windows import narrowest
from geodim.errors import GeodimWarning
from geodim.families.sizes import family_problem
from geodim.memory import machine_memory
from geodim.planning.choose import plan
from geodim.planning.hops import (
    NARROWEST,
    columns_for,
    columns_in_flight,
    default_columns,
    peak_memory,
)
from geodim.planning.problem import Plan, Problem, normal_spread, reachable_rtol
from geodim.planning.rates import CORE, H200, CoreRates, DeviceRates

if TYPE_CHECKING:
    from collections.abc import Callable, Sized

    from numpy.typing import NDArray

    from geodim.families.protocol import Family

__all__ = [
    "CORE",
    "H200",
    "NARROWEST",
    "CoreRates",
    "DeviceRates",
    "Plan",
    "Problem",
    "Way",
    "calibrate",
    "calibrate_family",
    "columns_for",
    "columns_in_flight",
    "default_columns",
    "family_problem",
    "machine_memory",
    "normal_spread",
    "peak_memory",
    "plan",
    "reachable_rtol",
]

SAMPLE = 200_000  # points of a sample that is solved to learn how long a column takes
TRIED = 16  # columns of it
COARSE = 0.05  # a tolerance at which points are only counted


def normal_sample(n_points: int, n_features: int, itemsize: int) -> NDArray[Any]:
    """Return normal columns for a trial without data: all of one law, so that none is dropped for free."""
    kind = np.float32 if itemsize == 4 else np.float64
    shape = min(n_points, SAMPLE), min(n_features, TRIED)
    return np.random.default_rng(0).standard_normal(shape, kind)


def calibrate(sample: NDArray[Any], basis: str, rates: CoreRates = CORE) -> CoreRates:
    """Measure rates of this machine with one thread.

    A sample of the data, or of data like it, is solved exactly and by counting.  What is not tried (storage,
    network, tasks, products) stays as it is in ``rates``.
    """
    import_module("geodim.engine.column")  # else a small sample would be solved without compiled code
    n, d = sample.shape
    few = np.sort(sample[:1000, :4].T.astype(np.float64), axis=1)
    window = best_of(lambda: narrowest(few)) / (0.5 * few.size * few.shape[1])
    one = np.ascontiguousarray(sample[:, :1])
    tiny = np.ascontiguousarray(sample[: min(n, 64)])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GeodimWarning)  # about a sample, which says nothing about the data
        call = best_of(lambda: intrinsic_dimension(tiny, n_threads=1))
        scan = best_of(lambda: scan_ranges(as_source(sample))) / (n * d)
        alone = best_of(lambda: intrinsic_dimension(one, n_threads=1)) - call
        # On a busy machine the difference may vanish, but a column is read twice.
        first = max(alone / n, 2 * scan)
        later = first
        if d > 1:
            every = max(best_of(lambda: intrinsic_dimension(sample, n_threads=1)) - call, 0.0) / n
            later = max((every - first) / (d - 1), 2 * scan)
        count = max(best_of(lambda: intrinsic_dimension(sample, rtol=COARSE, n_threads=1)) - call, 0.0)
    count = min(max(count / (n * d), 2 * scan), later)
    return replace(
        rates, basis=basis, call=call, scan=scan, first=first, later=later, count=count, window=window
    )


def calibrate_family(sample: Sized, family: Family, basis: str, rates: CoreRates = CORE) -> CoreRates:
    """Measure with one thread how long it takes to make features of a family, and to solve them.

    ``sample`` holds some of the points, or points like them.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GeodimWarning)

        def solve() -> float:
            return intrinsic_dimension(sample, features=family, n_threads=1).n_features

        seconds, m = best_of(solve, 2), solve()
    return replace(rates, basis=basis, made=seconds / (len(sample) * m), making=0.0)


def best_of(work: Callable[[], object], times: int = 3) -> float:
    """Return the shortest of some times; the first may include compiling."""
    seconds = []
    for _ in range(times):
        started = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - started)
    return min(seconds)
