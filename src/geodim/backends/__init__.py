"""Where the engine runs: on this machine's cores, on a GPU, on a Dask cluster.  Same data in, same bits out.

`choose_backend` alone decides where; the backend that it returns opens the data, plans, and follows plans.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from geodim.errors import InputTypeError, InputValueError
from geodim.lists import is_dask

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from geodim.backends.hop_pass import HopPass
    from geodim.backends.meters import Meter
    from geodim.data.checks import Ranges
    from geodim.data.sources import ColumnSource
    from geodim.engine.driver import Driver
    from geodim.engine.profile import Profile
    from geodim.features.operators import Operator
    from geodim.planning.problem import Plan, Problem

__all__ = ["BACKENDS", "Executor", "choose_backend", "where_it_lies"]

BACKENDS = ("auto", "cpu", "cuda", "dask")


class Executor(Protocol):
    """A place to run: it opens data, plans, and follows plans.

    Only `plan` decides how a pass runs, and it is a pure function of the problem and of the free memory or
    workers of the place.
    """

    name: str

    def open(self, X: object, *, weights: object, names: Sequence[str] | None) -> ColumnSource:
        """Return the data as a source of columns, left where it lies; see `geodim.data.sources.as_source`."""

    def scan_ranges(self, source: ColumnSource, threads: int) -> Ranges:
        """Make the first pass: check that all values are finite, and return the ranges."""

    def problem(self, source: ColumnSource, rtol: float) -> Problem:
        """Return what is to be computed: sizes, types, the tolerance, and where the data lies."""

    def plan(self, problem: Problem, threads: int, memory: int | None = None) -> Plan:
        """Plan the problem here, within this many bytes if given; ``why_not`` is set if it is impossible."""

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
        """Solve every column as planned, see `geodim.engine.solve.compute_profile`."""

    def solve_made(
        self,
        source: ColumnSource,
        *,
        profile: Profile,
        ends: NDArray[np.float64],
        threads: int,
        driver: Driver,
    ) -> None:
        """Solve computed columns, each once and exactly, into an empty profile.

        There is no first pass: ``ends``, of shape (n_features, 2), receives the extremes of the columns
        that were computed in time.
        """

    def operator(
        self,
        graph: object,
        operator: object,
        parameters: Mapping[str, object],
        weights: object,
        n_nodes: int,
        threads: int,
    ) -> tuple[Operator, dict[str, object]]:
        """Return the operator of a graph, and what is known about the graph, as plain values.

        See `geodim.data.graphs.as_graph` for graphs and their weights, `geodim.features.make_operator` for
        operators and their parameters.
        """

    def hop_pass(
        self, source: ColumnSource, kind: np.dtype[np.floating], operator: Operator, hops: int, plan: Plan
    ) -> HopPass:
        """Run a pass over the hops of a graph as planned, see `geodim.backends.hop_pass`."""

    def meter(self) -> Meter:
        """Begin to measure the memory that plans predict."""


def choose_backend(backend: object, X: object) -> Executor:
    """Return the backend of the given name.

    "auto" goes where the data is: to the cluster, to the GPU, or it stays on this machine.
    """
    if not isinstance(backend, str):
        msg = f"backend must be a name, one of {', '.join(BACKENDS)}, got {backend!r}"
        raise InputTypeError(msg)
    if backend not in BACKENDS:
        msg = f"unknown backend {backend!r}: choose one of {', '.join(BACKENDS)}"
        raise InputValueError(msg)
    if backend == "auto":
        backend = where_it_lies(X)
    if backend == "cuda":
        from geodim.backends.cuda.backend import CudaBackend  # noqa: PLC0415 - imports PyTorch

        return CudaBackend.of(X)
    if backend == "dask":
        from geodim.backends.dask.backend import DaskBackend  # noqa: PLC0415 - imports Dask

        return DaskBackend.of(X)
    from geodim.backends.local import LocalBackend  # noqa: PLC0415

    return LocalBackend()


def where_it_lies(X: object) -> str:
    """Return the backend where the data is.

    Nothing is imported: for data on a device or a cluster, its package has been imported already.
    """
    if is_dask(X):
        return "dask"
    module = type(X).__module__.partition(".")[0]
    return (
        "cuda"
        if module == "torch" and getattr(getattr(X, "device", None), "type", "cpu") == "cuda"
        else "cpu"
    )
