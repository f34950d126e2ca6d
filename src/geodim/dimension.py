"""`intrinsic_dimension`: from data to an `IDResult`, exactly or to a certified tolerance."""

from __future__ import annotations

import math
import time
import warnings
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from geodim.alerts import find_alerts
from geodim.arguments import real_number
from geodim.backends import choose_backend, where_it_lies
from geodim.certificate.remembered import remember
from geodim.data.describe import digest_of
from geodim.data.integers import measured_exactly
from geodim.data.measures import MassSource, UnitSource
from geodim.data.scales import Scale
from geodim.engine.checkpoint import SAVE_EVERY, checkpoint_for
from geodim.engine.driver import Driver, deadline_of
from geodim.engine.parts import thread_count
from geodim.engine.pilot import Pilot, look_ahead, widest_columns
from geodim.engine.refine import Attempt, refine
from geodim.engine.solve import compute_profile
from geodim.engine.steps import negligible, resolution, steps_needed, tolerance
from geodim.engine.threads import keeping_threads
from geodim.engine.toptwo import TopTwo
from geodim.errors import DegenerateDataWarning, InputValueError, InterruptedWarning
from geodim.families.bounds import Part, family_bounds
from geodim.families.choose import family_of
from geodim.families.opening import Opened, open_family, scaled
from geodim.families.protocol import error_of, is_made, part_of
from geodim.families.solve import family_profile, leading, solver_of_others
from geodim.lists import is_dask
from geodim.planning.record import PlanRecord
from geodim.progress import showing
from geodim.summary import removal_of, summarise
from geodim.support_field import altered
from geodim.waiting import waiting

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from geodim.alerts import Alert
    from geodim.backends import Executor
    from geodim.data.checks import Ranges
    from geodim.data.sources import ColumnSource
    from geodim.engine.profile import Profile
    from geodim.planning.problem import Plan
    from geodim.progress import Progress
    from geodim.result import IDResult

PILOT_FROM = 1 << 15  # solving fewer points is faster than a pilot,
FEW_COLUMNS = 8  # and among this few columns the widest are soon found
FIRST_GUESS = 1 / 64  # Delta as a part of the range, if all points of a sample are equal


def intrinsic_dimension(
    X: object,
    *,
    features: object = "coordinates",
    metric: object = None,
    landmarks: object = None,
    rtol: float = 0.0,
    scale: object = None,
    normalize: bool | None = None,
    weights: object = None,
    feature_names: Sequence[str] | None = None,
    n_threads: int | None = None,
    time_limit: float | None = None,
    last_bit: bool = False,
    count_indistinguishable: bool = False,
    removal: bool = False,
    backend: str = "auto",
    checkpoint: str | Path | None = None,
    save_every: float = SAVE_EVERY,
    progress: Progress = None,
) -> IDResult:
    r"""Compute the intrinsic dimension of a finite geometric data set, exactly or within certified bounds.

    With the values of each feature f sorted, :math:`\phi_{k,f}` is the width of the narrowest window of
    k consecutive values, and

    .. math:: \Delta = \frac1n \sum_{k=2}^n \max_f \phi_{k,f}, \qquad \mathrm{ID} = \frac{1}{\Delta^2}.

    Parameters
    ----------
    X : array-like of shape (n_points, n_features)
        Numbers in any form: numpy arrays of any real type and layout, memory maps (never copied
        whole), scipy.sparse (never densified), torch tensors, pandas, polars or pyarrow frames
        (column names are kept), lists.  For other features also texts, images and graphs.
    features : {"coordinates", "distances", "directions", "pixels", "patches", "terms"}, family, or list
        Which functions on the points: the columns, the distances from every point, or projections; for
        images, the pixels or means over patches; for texts, the terms; any family, such as `Distances`,
        `Directions`, `Pixels`, `Values` or one of your own; a list of several is a `Union`. With landmarks or
        directions, the bounds hold for all points or all directions.
    metric, landmarks : optional
        For distances, see `Distances`: "euclidean" by default, and from all points.
    rtol : float, default 0.0
        0 gives the exact value.  A positive value stops as soon as (upper - lower) / lower <= rtol; one that
        floats cannot express (below 1e-13) gives the exact value too.
    scale : str, number or sequence, default "global"
        What features are divided by, so that they can be compared.  "global": all by d_max, the largest
        range of a column (the paper's choice for graph data); "none": by nothing.  "range", "iqr" (from
        the first quartile to the third), "std" (over n) and "rank" (values become ranks, equal ones
        their mean rank) give each column a unit of its own first; constant columns stay constant.  A positive
        number, or one for each column, is a unit that is known: nothing else is divided.
    normalize : bool, optional
        Older alias: True is scale="global", False is scale="none".
    weights : array-like of numbers, optional
        The weight of each point, 0 or more.  Whole numbers are multiplicities: the same result as repeating
        the points, without the cost of doing so.  Others are masses, and Delta is the mean of Phi over all
        mass; on this machine's cores only.
    feature_names : sequence of str, optional
        Names of the features for the result and for messages, where the data has none; for distances, names
        of the points.
    n_threads : int, optional
        Threads to use; all available cores by default.  The result does not depend on it.
    time_limit : float, optional
        Seconds after which the bounds known by then are returned, with a warning; if there are none yet,
        because not all values have been read, a `TimeLimitError` is raised.
    last_bit : bool, default False
        Except on a GPU, columns of 16,384 points or more that are lines or repeat but for roundings,
        and of which every window would have to be looked at, are solved to within a few units in the last
        place of their largest value; then ``exact`` is False, and ``error`` about 1e-14, at most 1e-12.
        Lines that float32 rounded twice, or merged times of two clocks, may have an ``error`` of 1e-6 to 1e-4
        if it would take long to look at every window.  True does so, which may take quadratic time.
    count_indistinguishable : bool, default False
        Also count the points that no feature tells apart from another point; not for Dask collections.
    removal : bool, default False
        Also find the dimension without each feature, and how many features tie (``result.removal``), which
        takes up to half as long again. Only for exact values on this machine's cores.
    backend : {"auto", "cpu", "cuda", "dask"}
        Where to compute: on this machine's cores, on a GPU, or on the active Dask client.  "auto" goes where
        the data is: CUDA tensors are solved on their device, Dask arrays on their cluster, everything else
        here.  The results are the same, bit for bit.
    checkpoint : path, optional
        Folder to keep the state in; a later call with the same arguments continues, with the same final
        bits.  On this machine's cores only.
    save_every : float
        Seconds between two checkpoints.
    progress : bool or callable, optional
        True shows a bar; a function is called as ``progress(columns_done, columns)``, in the calling thread.

    Returns
    -------
    IDResult

    Warns
    -----
    DegenerateDataWarning
        No feature tells any two points apart: Delta is 0 and the dimension infinite.
    InterruptedWarning
        Ctrl-C or the time limit ended the computation; the bounds are valid but wider than asked for.

    Examples
    --------
    >>> import numpy as np
    >>> import geodim
    >>> geodim.intrinsic_dimension(np.eye(10)).dimension
    100.0
    """
    started = time.monotonic()
    rtol, threads, time_limit = check_arguments(rtol, n_threads, time_limit)
    chosen = Scale.of(scale, normalize)
    chosen.refuse_elsewhere(where_it_lies(X) if backend == "auto" else backend)
    place = choose_backend(backend, X)
    if count_indistinguishable and is_dask(X):
        raise InputValueError(
            "equal rows are counted on this machine, and data is copied here only on request: leave out "
            "count_indistinguishable, or give X.compute()"
        )
    meter = place.meter()
    family = family_of(features, metric, landmarks)
    with keeping_threads(threads):
        with waiting(time_limit, started=started):
            if family is None:
                source = place.open(X, weights=weights, names=feature_names)
                opened = Opened(source, source)
            else:
                _refuse(place, X, weights, rtol, count_indistinguishable)
                opened = open_family(
                    family, X, weights=weights, names=feature_names, n_threads=threads,
                    masses=place.name == "cpu",
                )  # fmt: skip
            opened = scaled(opened, chosen, threads)
            if checkpoint is not None and place.name != "cpu":
                raise InputValueError(f"checkpoints of columns need backend='cpu', not {place.name!r}")
            if removal:
                _refuse_removal(place, rtol, checkpoint, opened)
            run = _Run(
                place, opened, rtol, threads, chosen, started, removal=removal, last_bit=bool(last_bit)
            )
        with checkpoint_for(checkpoint, run.job) as store, showing(progress, "features") as told:
            deadline = deadline_of(started, time_limit, run.source.n_points)
            driver = Driver(deadline, told, store, save_every)
            result = run.result(driver)
        seconds = time.monotonic() - started
        record = PlanRecord.of(run.plan, memory=meter.taken(), seconds=seconds, attempts=run.attempts)
        result = altered(result, plan=record, alerts=run.alerts(result))
    if count_indistinguishable:
        result = altered(result, n_indistinguishable=_count_equal_rows(X, weights))
    if family is None and not chosen.own:
        remember(result, data=X, weighted=weights is not None)
    _warn(run.profile, result, run.off)
    return result


def _refuse(place: Executor, X: object, weights: object, rtol: float, equal_rows: bool) -> None:
    """Raise for options that families of features do not support."""
    there = place.name == "dask"
    for given, why in (
        (
            there and where_it_lies(X) == "dask",
            "made of all points, which every worker needs: give X.compute(), with backend='dask'",
        ),
        (
            there and (rtol > 0.0 or weights is not None),
            "made on the workers exactly and without weights: leave out rtol and weights, or backend='dask'",
        ),
        (equal_rows, "not checked for equal rows: count them with features='coordinates'"),
    ):
        if given:
            raise InputValueError(f"features that are not columns are {why}")


def _refuse_removal(place: Executor, rtol: float, checkpoint: object, opened: Opened) -> None:
    """Raise for options with which the costs of removals cannot be found."""
    for given, what in (
        (place.name != "cpu", f"backend={place.name!r}"),
        (tolerance(rtol) > 0.0, "rtol"),
        (checkpoint is not None, "checkpoint"),
        (isinstance(opened.source, MassSource | UnitSource), "weights that are not small whole numbers"),
    ):
        if given:
            raise InputValueError(
                f"what removals cost is computed exactly, on this machine's cores and without a checkpoint: "
                f"leave out removal=True, or {what}"
            )


def _warn(profile: Profile, result: IDResult, off: float) -> None:
    if profile.stopped:
        warnings.warn(
            f"stopped early ({profile.stopped}) after {int(profile.done.sum())} of {result.n_features} "
            f"features: the dimension lies between {result.lower:.6g} and {result.upper:.6g}",
            InterruptedWarning,
            stacklevel=3,
        )
    elif result.d_max == 0.0 and off == 0.0:
        warnings.warn(
            "no feature tells any two points apart: the discriminability is 0 and the "
            "intrinsic dimension infinite",
            DegenerateDataWarning,
            stacklevel=3,
        )


def check_arguments(rtol: object, n_threads: object, time_limit: object) -> tuple[float, int, float | None]:
    """Return the tolerance, the number of threads and the time limit, or raise where they make no sense."""
    return (
        real_number(rtol, "rtol", least=0.0, below=math.inf, hint="0 means exact"),
        thread_count(n_threads),
        None if time_limit is None else real_number(time_limit, "time_limit", least=0.0, hint="seconds"),
    )


class _Run:
    """Computes a result from columns.

    Columns that have to be computed are computed only once if they are solved exactly; others are examined
    in a first pass.
    """

    def __init__(
        self, place: Executor, opened: Opened, rtol: float, threads: int, scale: Scale, started: float,
        *, removal: bool = False, last_bit: bool = False,
    ) -> None:  # fmt: skip
        self.place, self.opened, self.rtol, self.threads = place, opened, rtol, threads
        self.chosen, self.normalize, self.started = scale, scale.normalize, started
        self.two = TopTwo.of(opened.source.n_points, opened.source.n_features) if removal else None
        self.source, self.off, self.attempts = opened.source, 0.0, 1
        self.last_bit = last_bit
        self.once = is_made(self.source) and tolerance(rtol) == 0.0
        self.plan: Plan
        self.profile: Profile
        if not self.once:
            self.given = ranges = place.scan_ranges(self.source, threads)
            self.source, self.ranges, off = measured_exactly(
                self.source, ranges, lambda other: place.scan_ranges(other, threads)
            )
            self.off = off + error_of(opened.plain, self.ranges)

    def job(self) -> dict[str, Any]:
        """Describe the job that a checkpoint belongs to."""
        return {"rtol": self.rtol, **self.said(), **digest_of(self.source)}

    def said(self) -> dict[str, Any]:
        """Return what the caller asked for besides the tolerance."""
        said = {} if self.opened.said is None else {"features": self.opened.said}
        return said | {"last_bit": True} if self.last_bit else said

    def result(self, driver: Driver) -> IDResult:
        """Compute the result; plan and profile are kept."""
        if self.once:
            solved = family_profile(
                self.source, n_threads=self.threads, driver=driver, solve=self.place.solve_made
            )
            self.profile, self.off, part = solved.profile, solved.feature_error, solved.part
            self.plan = self.place.plan(self.place.problem(self.source, 0.0), self.threads)
            result = self.summary(solved.profile, solved.ranges, solved.d_max_error)
            if self.two is not None and solved.profile.stopped is None:  # columns are computed a second time
                compute_profile(
                    solved.source, leaders=leading(solved.source, self.threads), n_threads=self.threads,
                    driver=driver, profile=self.two,
                )  # fmt: skip
        else:
            solver = _Solver(
                self.place, self.source, self.ranges, tolerance(self.rtol), self.threads, driver,
                self.summary, self.two,
                last_bit=self.last_bit or self.rtol > 0.0,  # a tolerance that was asked for is kept
            )  # fmt: skip
            result = solver.run()
            self.profile, self.plan, self.attempts = solver.profile, solver.plan, solver.attempts
            part = None
        if self.two is not None and self.profile.stopped is None and self.two.stopped is None:
            removal = removal_of(
                self.two, self.source.names, normalize=self.normalize, n_threads=self.threads
            )
            result = altered(result, removal=removal)
        if part_of(self.opened.plain) is None:
            return result
        if part is None:
            weights = self.opened.weights
            others = solver_of_others(driver, self.threads, weights)
            part = Part.of(
                self.profile, self.ranges, self.off, n_threads=self.threads, weights=weights, solve=others
            )
        bounds = family_bounds(self.opened.plain, part, normalize=self.normalize)
        lower, upper = bounds.discriminability_lower, bounds.discriminability_upper
        return replace(
            result, discriminability=min(max(result.discriminability, lower), upper),
            discriminability_lower=lower, discriminability_upper=upper, exact=False,
        )  # fmt: skip

    def alerts(self, result: IDResult) -> tuple[Alert, ...]:
        """Return the alerts; for features that are not columns, only those that the result itself gives."""
        if self.once or self.opened.said is not None or self.chosen.name == "rank":  # each is a row number
            return find_alerts(result)
        return find_alerts(result, self.source, self.ranges, given=self.given)

    def summary(
        self, profile: Profile, ranges: Ranges | None = None, d_max_error: float | None = None
    ) -> IDResult:
        """Turn a profile into a result about the features as computed."""
        found = summarise(
            profile, ranges or self.ranges, normalize=self.normalize, names=self.source.names, rtol=self.rtol,
            seconds=time.monotonic() - self.started, n_threads=self.threads,
            feature_error=self.off + 0.5 * profile.loose,  # each width is the difference of two values
            d_max_error=2.0 * self.off if d_max_error is None else d_max_error,
        )  # fmt: skip
        return altered(found, parameters=found.parameters | {"scale": self.chosen.told(), **self.said()})


class _Solver:
    """Solves columns exactly, or at a resolution that reaches rtol.

    If the pilot's guess was too coarse, a finer pass follows.
    """

    def __init__(
        self, place: Executor, source: ColumnSource, ranges: Ranges, rtol: float, threads: int,
        driver: Driver, summary: Callable[[Profile], IDResult], two: TopTwo | None = None,
        *, last_bit: bool = False,
    ) -> None:  # fmt: skip
        self.place, self.source, self.ranges, self.rtol = place, source, ranges, rtol
        self.threads, self.driver, self.summary = threads, driver, summary
        self.two = two
        self.problem = replace(place.problem(source, rtol), removal=two is not None, last_bit=last_bit)
        self.attempts = 0
        self._plans: dict[tuple[float, int, bool], Plan] = {}
        self.plan: Plan
        self.profile: Profile

    def run(self) -> IDResult:
        """Return the first result that is close enough, was stopped, or is exact."""
        source, ranges, rtol = self.source, self.ranges, self.rtol
        # On a device columns of a batch drop each other, and a pilot takes longer than it saves.
        long = source.n_points >= PILOT_FROM and not self.problem.on_device
        if rtol > 0.0 or (long and source.n_features > FEW_COLUMNS):
            self.pilot = look_ahead(source, ranges)
        else:
            self.pilot = Pilot(widest_columns(ranges), 0.0, 0.0)
        exactly = self.plan_at(0.0).why_not is None  # else there is no room for a whole column
        guess = self.pilot.delta
        if guess == 0.0 and not exactly:
            guess = FIRST_GUESS * ranges.d_max
        self.first = resolution(rtol, guess, ranges.magnitude)
        step = self.driver.saved_step(self.first)
        made = refine(self.attempt, step, rtol, ranges.magnitude, exactly=exactly)
        return made.results[0]

    def plan_at(self, step: float, *, leave_out: int = 0) -> Plan:
        """Return the plan of a pass with this step."""
        known = self._plans.get((step, leave_out, self.attempts > 0))
        if known is not None:
            return known
        needed = steps_needed(self.ranges.least, self.ranges.greatest, step)
        problem = replace(
            self.problem, rtol=self.rtol if step > 0.0 else 0.0, known_steps=needed.number, far=needed.far,
            again=self.attempts > 0, negligible=leave_out,
        )  # fmt: skip
        plan = self.place.plan(problem, self.threads)
        self._plans[step, leave_out, self.attempts > 0] = plan
        return plan

    def negligible(self, step: float) -> int:
        """Return how many of the smallest windows may be left out.

        They must be small at the first step; and before a finer one points must have been counted,
        otherwise what is left out does not shrink with the step.
        """
        if step == 0.0 or not (step == self.first or self.plan_at(2.0 * step).way.counted):
            return 0
        return negligible(self.first, self.rtol, self.pilot.delta, self.pilot.smallest)

    def attempt(self, step: float) -> Attempt:
        """Make one pass over the columns."""
        self.plan = self.plan_at(step, leave_out=self.negligible(step))
        if self.two is not None:  # on this machine's cores only
            compute_profile(
                self.source, self.plan.way, ranges=self.ranges, leaders=self.pilot.leaders,
                n_threads=self.plan.threads, driver=self.driver, profile=self.two,
            )  # fmt: skip
            self.profile = self.two.winner()
        else:
            self.profile = self.place.solve(
                self.source, self.plan, step=step, ranges=self.ranges, leaders=self.pilot.leaders,
                driver=self.driver,
            )  # fmt: skip
        self.attempts += 1
        return Attempt.of(self.profile, [self.summary(self.profile)], self.threads)


def _count_equal_rows(X: object, weights: object) -> int:
    from geodim.data.duplicates import count_indistinguishable_points  # noqa: PLC0415

    return count_indistinguishable_points(X, weights=weights)
