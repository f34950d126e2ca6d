"""The cores of this machine: the engine itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from geodim.backends.hop_pass import HopPass
from geodim.data.checks import scan_ranges
from geodim.data.sources import as_source
from geodim.engine.solve import compute_profile

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy as np

    from geodim.data.checks import Ranges
    from geodim.data.sources import ColumnSource
    from geodim.engine.profile import Profile
    from geodim.features.operators import Operator


class LocalBackend:
    """Threads of this process."""

    name = "cpu"

    def open(self, X: Any, *, weights: Any, names: Sequence[str] | None) -> ColumnSource:
        """Anything that holds points by features."""
        return as_source(X, weights=weights, names=names)

    def scan_ranges(self, source: ColumnSource, threads: int) -> Ranges:
        """First pass over the data."""
        return scan_ranges(source, threads)

    def holds_columns(self, source: ColumnSource) -> bool:  # noqa: ARG002
        """It does: there is nowhere else."""
        return True

    def compute_profile(
        self,
        source: ColumnSource,
        *,
        step: float,
        ranges: Ranges,
        skip_smallest: bool,
        leaders: Sequence[int],
        n_threads: int,
        deadline: float | None,
        progress: Callable[[int, int], None] | None,
    ) -> Profile:
        """Solve every column."""
        return compute_profile(
            source, step=step, ranges=ranges, skip_smallest=skip_smallest, leaders=leaders,
            n_threads=n_threads, deadline=deadline, progress=progress,
        )  # fmt: skip

    def operator(
        self, graph: Any, operator: Any, parameters: dict[str, Any], weights: Any, n_nodes: int, threads: int
    ) -> tuple[Operator, dict[str, Any]]:
        """The operator of a graph, or the given one, and what is known of the graph."""
        from geodim.data.graphs import as_graph  # noqa: PLC0415
        from geodim.features import make_operator  # noqa: PLC0415

        if not isinstance(operator, str) and graph is None:
            return make_operator(None, operator), {}
        simple = as_graph(graph, n_nodes, weights=weights, threads=threads)
        return make_operator(simple, operator, **parameters), simple.to_dict()

    def hop_pass(
        self, source: ColumnSource, kind: np.dtype[np.floating], operator: Operator, hops: int, threads: int
    ) -> HopPass:
        """A pass over the hops of a graph."""
        return HopPass(source, kind, operator, hops, threads)
