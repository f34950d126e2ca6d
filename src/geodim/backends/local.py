"""The cores of this machine: the engine itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from geodim.backends.hop_pass import HopPass
from geodim.backends.meters import ProcessMeter
from geodim.data.checks import scan_ranges
from geodim.data.describe import longest_runs, stored_rows
from geodim.data.measures import MassSource, UnitSource, measured_source
from geodim.data.sources import WeightedSource
from geodim.engine.solve import compute_profile
from geodim.engine.ways import MOST_COLUMNS
from geodim.engine.windows import kernels_pay
from geodim.errors import InputValueError
from geodim.families.protocol import is_made, part_of
from geodim.families.solve import solve_here
from geodim.planning.cpu import plan_cpu
from geodim.planning.problem import Problem

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from geodim.backends.meters import Meter
    from geodim.data.checks import Ranges
    from geodim.data.sources import ColumnSource
    from geodim.engine.driver import Driver
    from geodim.engine.profile import Profile
    from geodim.features.operators import Operator
    from geodim.planning.problem import Plan


class LocalBackend:
    """Threads of this process."""

    name = "cpu"

    def open(self, X: object, *, weights: object, names: Sequence[str] | None) -> ColumnSource:
        """Open anything that holds points by features."""
        return measured_source(X, weights=weights, names=names)

    def scan_ranges(self, source: ColumnSource, threads: int) -> Ranges:
        """Make the first pass over the data."""
        return scan_ranges(source, threads)

    def problem(self, source: ColumnSource, rtol: float) -> Problem:
        """Return the sizes and the place of data on this machine."""
        # Pages of a mapped file are released one by one.
        mapped = isinstance(getattr(source, "array", None), np.memmap)
        plain: ColumnSource = source.source if isinstance(source, WeightedSource) else source
        made = getattr(plain, "held", 0) if is_made(plain) else None
        part = None if part_of(plain) is None else getattr(plain, "held_for_bounds", 0)
        return Problem(
            source.n_points, source.n_features, source.dtype.itemsize, rtol, row_major=source.row_major,
            by_rows=hasattr(source, "read_rows"), held=not mapped, apart=False, n_rows=stored_rows(source),
            runs=longest_runs(source), masses=isinstance(source, MassSource),
            at_once=getattr(source, "at_once", MOST_COLUMNS), made_from=made,
            fresh=getattr(plain, "fresh", False), part=part, kernels=kernels_pay(),
        )  # fmt: skip

    def plan(self, problem: Problem, threads: int, memory: int | None = None) -> Plan:
        """Plan for the cores of this machine."""
        return plan_cpu(problem, threads=threads, budget=memory)

    def solve(
        self,
        source: ColumnSource,
        plan: Plan,
        *,
        step: float,
        ranges: Ranges,
        leaders: Sequence[int],
        driver: Driver,
    ) -> Profile:
        """Solve every column."""
        if isinstance(source, MassSource):
            from geodim.engine.mass_solve import mass_profile  # noqa: PLC0415 - imports Numba

            return mass_profile(
                source, plan.way, step=step, ranges=ranges, leaders=leaders, n_threads=plan.threads,
                driver=driver,
            )  # fmt: skip
        profile = compute_profile(
            source, plan.way, step=step, ranges=ranges, leaders=leaders, n_threads=plan.threads, driver=driver
        )
        if isinstance(source, UnitSource):
            from geodim.engine.mass_units import in_units  # noqa: PLC0415 - imports Numba

            return in_units(profile, source.measure, source.unit)
        return profile

    def solve_made(
        self,
        source: ColumnSource,
        *,
        profile: Profile,
        ends: NDArray[np.float64],
        threads: int,
        driver: Driver,
    ) -> None:
        """Solve computed columns."""
        solve_here(source, profile=profile, ends=ends, threads=threads, driver=driver)

    def meter(self) -> Meter:
        """Return a meter of the memory of this process."""
        return ProcessMeter()

    def operator(
        self,
        graph: object,
        operator: object,
        parameters: Mapping[str, object],
        weights: object,
        n_nodes: int,
        threads: int,
    ) -> tuple[Operator, dict[str, object]]:
        """Return the operator of a graph, or the given one, and what is known about the graph."""
        from geodim.data.graphs import as_graph  # noqa: PLC0415
        from geodim.features import make_operator  # noqa: PLC0415

        if not isinstance(operator, str) and graph is None:
            return make_operator(None, operator), {}
        simple = as_graph(graph, n_nodes, edge_weights=weights, n_threads=threads)
        return make_operator(simple, operator, **parameters), simple.to_dict()

    def hop_pass(
        self, source: ColumnSource, kind: np.dtype[np.floating], operator: Operator, hops: int, plan: Plan
    ) -> HopPass:
        """Return a pass over the hops of a graph."""
        if plan.why_not is not None:
            raise InputValueError(plan.why_not)
        return HopPass(source, kind, operator, hops, plan.way, plan.threads)
