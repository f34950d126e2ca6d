"""Errors on random data: standard normal columns, not normalised.

The support sequence is on a log scale and has 100,000 elements.  The columns are float64, and each has a
random stream of its own, so that a thread makes the column it is about to solve and forgets it afterwards:
10^8 points and 250 columns (200 GB) pass through without ever being held.  Phi is exact at every k; the error
follows from Phi on the support.
"""

from __future__ import annotations

import math
import shutil
from typing import TYPE_CHECKING, Any

import numpy as np

from geodim.data.sources import column_chunks
from geodim.engine.checkpoint import checkpoint_for
from geodim.engine.driver import Driver
from geodim.engine.parts import mean, thread_count
from geodim.engine.solve import compute_profile
from geodim.experiments.experiment import Context, Cost, Experiment, Options, StoppedError, Unit
from geodim.experiments.machine import physical_memory, slowness
from geodim.experiments.printed import printed
from geodim.experiments.support_sums import bounds_on_support
from geodim.experiments.verdicts import Claim, Comparison, absent, judge
from geodim.lookup import inverse_square
from geodim.paper import log_scale_support

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from geodim.experiments.experiment import Rows

__all__ = ["EXPERIMENT", "NormalColumns"]

NAME = "random"
POINTS, FEATURES, REPETITIONS = (10**6, 10**7, 10**8), (10, 50, 250), 3
QUICK_POINTS, QUICK_FEATURES = (10**5, 10**6), (10,)
LENGTH = 100_000  # of the support sequence
SOLVER_BYTES = 38  # per point and thread: the column 8, sorted 8, keys and phi 16, records and lists 6
PROFILE_BYTES = 12  # per point
SECONDS = 1.0e-7  # per value and thread at 10^6 points; sorting makes it grow with the logarithm


class NormalColumns:
    """A column source without data: every column is drawn from its own stream when it is read.

    Parameters
    ----------
    n_points, n_features : int
        Sizes.
    repetition : int
        Which repetition; each has other numbers.

    Examples
    --------
    >>> source = NormalColumns(1000, 3, repetition=0)
    >>> out = np.empty((2, 1000))
    >>> source.read([0, 2], out)
    >>> bool(np.all(out[1] == source.chunk(slice(0, 1000), slice(2, 3))[:, 0]))
    True
    """

    dtype: np.dtype[np.floating] = np.dtype(np.float64)
    row_major = False
    runs = False

    def __init__(self, n_points: int, n_features: int, repetition: int) -> None:
        self.n_points, self.n_features, self.repetition = n_points, n_features, repetition
        self.names: list[str] | None = None

    def _fill(self, column: int, out: NDArray[np.floating]) -> None:
        key = (self.n_points, self.n_features, self.repetition, column)
        rng = np.random.default_rng(np.random.SeedSequence(entropy=0, spawn_key=key))
        rng.standard_normal(out=out)

    def read(self, columns: Sequence[int], out: NDArray[np.floating]) -> None:
        """Draw these columns."""
        for at, column in enumerate(columns):
            self._fill(column, out[at])

    def chunks(self) -> list[tuple[slice, slice]]:
        """Return chunks of one column each."""
        return column_chunks(self)

    def chunk(self, rows: slice, columns: slice) -> NDArray[Any]:
        """Return part of one column."""
        values = np.empty(self.n_points)
        self._fill(columns.start, values)
        return values[rows, np.newaxis]

    def sample(self, columns: NDArray[np.intp], rows: NDArray[np.intp]) -> NDArray[np.float64]:
        """Return a few rows of a few columns."""
        return np.stack(
            [self.chunk(slice(None), slice(int(c), int(c) + 1))[rows, 0] for c in columns], axis=1
        )

    def read_runs(self, column: int) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """Return sorted values, each once per point."""
        values = np.sort(self.chunk(slice(None), slice(column, column + 1))[:, 0])
        return values, np.ones(values.size, np.int64)


def units(options: Options) -> list[Unit]:
    """Return one unit per size and repetition: fewest points first, then one repetition of all d each."""
    points = options.points or (QUICK_POINTS if options.quick else POINTS)
    features = options.features or (QUICK_FEATURES if options.quick else FEATURES)
    repetitions = range(options.repetitions or REPETITIONS)
    return [_unit(n, d, repetition, options) for n in points for repetition in repetitions for d in features]


def _unit(n: int, d: int, repetition: int, options: Options) -> Unit:
    threads = threads_within(n, d, options)
    memory = n * (SOLVER_BYTES * threads + PROFILE_BYTES)
    rounds = -(-d // threads)
    seconds = SECONDS * n * rounds * max(1.0, 1.0 + 0.2 * math.log10(n / 1e6)) * slowness()
    budget = options.memory or physical_memory()
    missing = None
    if memory > budget:
        missing = f"needs {memory / 2**30:.1f} GiB of memory, and {budget / 2**30:.1f} GiB may be used"
    return Unit(
        key={"n": n, "d": d, "repetition": repetition},
        cost=Cost(seconds + 0.2, memory, f"{threads} threads"),
        work=lambda context: _work(n, d, repetition, threads, context),
        missing=missing,
    )


def threads_within(n: int, d: int, options: Options) -> int:
    """Return as many threads as asked for, or as the memory allows, since each of them holds a column.

    At most half as many as columns: then the engine gives every thread columns of its own, which is quicker
    than to share each column among all, since drawing and sorting one cannot be shared.
    """
    wanted = min(thread_count(options.threads), max(d // 2, 1))
    budget = options.memory or int(0.8 * physical_memory())
    return max(1, min(wanted, (budget - n * PROFILE_BYTES) // (n * SOLVER_BYTES)))


def _work(n: int, d: int, repetition: int, threads: int, context: Context) -> Rows:
    source = NormalColumns(n, d, repetition)
    kept = context.state / f"random-{n}-{d}-{repetition}"
    with checkpoint_for(kept, lambda: {"data": [n, d, repetition]}) as store:
        driver = Driver(context.deadline, context.progress, store)
        profile = compute_profile(source, n_threads=threads, driver=driver)
    if profile.stopped:
        msg = f"stopped ({profile.stopped}) after {int(profile.done.sum())} of {d} columns, which are kept"
        raise StoppedError(msg)
    shutil.rmtree(kept)
    support = np.array(log_scale_support(n, length=LENGTH))
    bounds = bounds_on_support(profile.phi[support - 1], support, n)
    delta = mean(profile.phi[1:], n, 1.0)
    return [
        {
            "error": bounds.error,
            "lower": bounds.lower,
            "upper": bounds.upper,
            "dimension": inverse_square(delta),
            "support": support.size,
            "threads": threads,
        }
    ]


def compare(rows: Rows) -> list[Comparison]:
    """Compare the mean error over the repetitions for every size that the paper prints."""
    found: dict[tuple[int, int], list[float]] = {}
    for row in rows:
        found.setdefault((row["n"], row["d"]), []).append(row["error"])
    table = printed()["random_data"]["error"]
    comparisons = []
    for n, by_features in table.items():
        for d, number in by_features.items():
            errors = found.get((int(n), int(d)), [])
            where = (NAME, "error E", f"10^{len(n) - 1} points", f"d = {d}")
            if not errors:
                how = f"run: geodim reproduce random --points {n} --features {d}"
                comparisons.append(absent(*where, number["mean"], how, number["std"]))
                continue
            repeated = f"{len(errors)} of {REPETITIONS} repetitions" if len(errors) < REPETITIONS else ""
            comparisons.append(
                judge(
                    *where,
                    number["mean"],
                    float(np.mean(errors)),
                    because=f"other normal numbers were drawn ({len(errors)} repetitions)",
                    printed_spread=number["std"],
                    our_spread=float(np.std(errors)),
                    note=repeated,
                )
            )
    return comparisons


def claims(rows: Rows) -> list[Claim]:
    """Return the two sentences under the table."""
    large = [row for row in rows if row["n"] >= min(POINTS)]
    errors: dict[int, list[float]] = {}
    for row in large:
        errors.setdefault(row["n"], []).append(row["error"])
    accurate = Claim(
        "Random data: the accuracy is over 99.9 % for all considered data sizes.",
        None if not large else max(row["error"] for row in large) < 1e-3,
        ""
        if not large
        else f"the largest E of {len(large)} runs is {max(row['error'] for row in large):.3e}",
    )
    widths = {n: (max(some) - min(some)) / min(some) for n, some in errors.items() if len(some) > 1}
    several = any(len({row["d"] for row in large if row["n"] == n}) > 1 for n in errors)
    evidence = ", ".join(f"n = {n:,}: {width:.1e}" for n, width in sorted(widths.items()))
    negligible = Claim(
        "Random data: the difference in the error for different values of d is negligible.",
        all(width < 1e-3 for width in widths.values()) if several else None,
        f"largest relative difference between any two runs: {evidence}" if evidence else "",
    )
    return [accurate, negligible]


EXPERIMENT = Experiment(
    name=NAME,
    title="Error on randomly generated data",
    source="Section 6, table of errors on random data",
    recipe=1,
    units=units,
    compare=compare,
    claims=claims,
    notes=lambda rows: ["Columns are float64; spreads are over the repetitions."] if rows else [],
)
