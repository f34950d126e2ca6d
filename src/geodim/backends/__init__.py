"""Where the engine runs: on this machine's cores, on a GPU, on a Dask cluster.  Same data in, same bits out.

`choose_backend` is the one place that decides; what it returns opens the data, scans
it, and solves its columns.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from geodim.errors import InputTypeError, InputValueError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy as np

    from geodim.backends.hop_pass import HopPass
    from geodim.data.checks import Ranges
    from geodim.data.sources import ColumnSource
    from geodim.engine.profile import Profile
    from geodim.features.operators import Operator

__all__ = ["BACKENDS", "Backend", "choose_backend"]

BACKENDS = ("auto", "cpu", "cuda", "dask")


class Backend(Protocol):
    """What `intrinsic_dimension` and `khop_dimensions` ask of a place to run."""

    name: str

    def open(self, X: Any, *, weights: Any, names: Sequence[str] | None) -> ColumnSource:
        """The data as a source of columns, left where it lies."""

    def scan_ranges(self, source: ColumnSource, threads: int) -> Ranges:
        """First pass: all values are finite, and these are the ranges."""

    def holds_columns(self, source: ColumnSource) -> bool:
        """Whether whole columns can be solved; if not, there are bounds to a tolerance only."""

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
        """Solve every column; all arguments mean what they do in `geodim.engine.solve.compute_profile`."""

    def operator(
        self, graph: Any, operator: Any, parameters: dict[str, Any], weights: Any, n_nodes: int, threads: int
    ) -> tuple[Operator, dict[str, Any]]:
        """The operator of a graph, and what is known of the graph."""

    def hop_pass(
        self, source: ColumnSource, kind: np.dtype[np.floating], operator: Operator, hops: int, threads: int
    ) -> HopPass:
        """A pass over the hops of a graph, see `geodim.backends.hop_pass`."""


def choose_backend(backend: Any, X: Any) -> Backend:
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
        backend = _where_it_lies(X)
    if backend == "cuda":
        from geodim.backends.cuda.backend import CudaBackend  # noqa: PLC0415 - imports PyTorch

        return CudaBackend.of(X)
    if backend == "dask":
        from geodim.backends.dask.backend import DaskBackend  # noqa: PLC0415 - imports Dask

        return DaskBackend.of(X)
    from geodim.backends.local import LocalBackend  # noqa: PLC0415

    return LocalBackend()


def _where_it_lies(X: Any) -> str:
    """Without importing anything: data on a device or a cluster has brought its package along."""
    module = type(X).__module__.partition(".")[0]
    if module == "dask":
        return "dask"
    return (
        "cuda"
        if module == "torch" and getattr(getattr(X, "device", None), "type", "cpu") == "cuda"
        else "cpu"
    )
