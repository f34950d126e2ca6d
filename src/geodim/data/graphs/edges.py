"""Edges as streams of chunks that can be read repeatedly.

Memory-mapped and columnar files are never copied whole. The builder reads every source twice (count, then
fill). A source only has to know how many edges it lists and how to hand them out a chunk at a time; checking
ids and weights is done once, here, for all of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from geodim.errors import DataChangedError, InputTypeError, InputValueError, NonFiniteError, ShapeError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

__all__ = [
    "CHUNK",
    "CompressedEdges",
    "EdgeChunk",
    "EdgeSource",
    "JoinedEdges",
    "PairEdges",
    "WeightedEdges",
    "checked_chunks",
]

CHUNK = 1 << 21  # edges per chunk: 32 MB of int64 pairs, small beside any graph that needs chunks


class EdgeChunk(NamedTuple):
    """Consecutive listed edges: the position of the first, both ends, and weights or None."""

    start: int
    sources: NDArray[Any]
    targets: NDArray[Any]
    weights: NDArray[Any] | None


class EdgeSource(Protocol):
    """Anything that lists edges, repeatedly and in a fixed order."""

    @property
    def n_edges(self) -> int:
        """Number of listed edges."""
        ...

    def chunks(self) -> Iterator[EdgeChunk]:
        """Yield the edges in order, in chunks of bounded size."""
        ...


@dataclass(frozen=True)
class PairEdges:
    """Two aligned one-dimensional arrays, shifted by constant offsets.

    Strided and memory-mapped arrays are accepted.
    """

    sources: NDArray[Any]
    targets: NDArray[Any]
    weights: NDArray[Any] | None = None
    offsets: tuple[int, int] = (0, 0)

    @property
    def n_edges(self) -> int:
        """Number of listed edges."""
        return len(self.sources)

    def chunks(self) -> Iterator[EdgeChunk]:
        """Yield slices; only the current slice is ever read from a memory map."""
        for start in range(0, self.n_edges, CHUNK):
            part = slice(start, start + CHUNK)
            u, v = self.sources[part], self.targets[part]
            if self.offsets != (0, 0):
                u, v = (_shifted(ids, by) for ids, by in zip((u, v), self.offsets, strict=True))
            yield EdgeChunk(start, u, v, None if self.weights is None else self.weights[part])


@dataclass(frozen=True)
class CompressedEdges:
    """A square matrix in compressed rows (or columns): entry k of row i is the edge (i, ``indices[k]``)."""

    indptr: NDArray[Any]
    indices: NDArray[Any]
    weights: NDArray[Any] | None = None
    by_column: bool = False

    @property
    def n_edges(self) -> int:
        """Number of stored entries."""
        return int(self.indptr[-1])

    def chunks(self) -> Iterator[EdgeChunk]:
        """Expand the row pointers a chunk at a time."""
        for start in range(0, self.n_edges, CHUNK):
            stop = min(start + CHUNK, self.n_edges)
            # The rows that meet [start, stop), each repeated as often as it has entries there.
            first = int(np.searchsorted(self.indptr, start, side="right")) - 1
            last = int(np.searchsorted(self.indptr, stop, side="left"))
            bounds = np.clip(self.indptr[first : last + 1].astype(np.int64), start, stop)
            major = np.repeat(np.arange(first, last, dtype=np.int64), np.diff(bounds))
            minor = self.indices[start:stop]
            u, v = (minor, major) if self.by_column else (major, minor)
            yield EdgeChunk(start, u, v, None if self.weights is None else self.weights[start:stop])


@dataclass(frozen=True)
class JoinedEdges:
    """Several sources one after the other (the edge types of a heterogeneous graph)."""

    parts: Sequence[EdgeSource]

    @property
    def n_edges(self) -> int:
        """Number of listed edges in all parts."""
        return sum(part.n_edges for part in self.parts)

    def chunks(self) -> Iterator[EdgeChunk]:
        """Yield the parts' chunks, with positions counted across all parts."""
        before = 0
        for part in self.parts:
            for chunk in part.chunks():
                yield chunk._replace(start=before + chunk.start)
            before += part.n_edges


@dataclass(frozen=True)
class WeightedEdges:
    """A source with weights given separately, one for each listed edge in order."""

    edges: EdgeSource
    weights: NDArray[Any]

    def __post_init__(self) -> None:
        if len(self.weights) != self.edges.n_edges:
            raise ShapeError(
                f"{len(self.weights)} weights for {self.edges.n_edges} listed edges: "
                "give one weight for each edge"
            )

    @property
    def n_edges(self) -> int:
        """Number of listed edges."""
        return self.edges.n_edges

    def chunks(self) -> Iterator[EdgeChunk]:
        """Yield the chunks with their slice of the weights."""
        for chunk in self.edges.chunks():
            stop = chunk.start + len(chunk.sources)
            yield chunk._replace(weights=self.weights[chunk.start : stop])


def checked_chunks(source: EdgeSource, n_nodes: int | None, *, weighted: bool) -> Iterator[EdgeChunk]:
    """Yield the chunks as contiguous int64 ids in [0, n_nodes) and float64 weights, or raise a typed error.

    Every pass of the builder goes through these checks: they cost next to nothing, and the kernels
    write wherever the ids say.
    """
    listed = 0
    for chunk in source.chunks():
        u = _whole(chunk, chunk.sources)
        v = _whole(chunk, chunk.targets)
        listed += len(u)
        if len(u) != len(v) or (weighted and chunk.weights is not None and len(chunk.weights) != len(u)):
            raise ShapeError(
                f"from edge {chunk.start} on: {len(u)} sources, {len(v)} targets, "
                "or another number of weights"
            )
        if len(u):
            low = min(int(u.min()), int(v.min()))
            high = max(int(u.max()), int(v.max()))
            if low < 0 or (n_nodes is not None and high >= n_nodes):
                _raise_out_of_range(chunk, u, v, n_nodes)
        weights = None
        if weighted:
            if chunk.weights is None:
                raise InputValueError(
                    "weights were asked for, but these edges carry none: pass an array as weights="
                )
            weights = _checked_weights(chunk)
        yield EdgeChunk(chunk.start, u, v, weights)
    if listed != source.n_edges:
        raise DataChangedError(
            f"a pass over the edges listed {listed:,} of them, and there were {source.n_edges:,}: the edges "
            "changed while they were read; read them again when nothing writes to them"
        )


def _shifted(ids: NDArray[Any], by: int) -> NDArray[Any]:
    """Shift ids, with short types widened so as not to wrap around; fractions are refused later."""
    return ids.astype(np.int64) + by if ids.dtype.kind in "iu" and ids.dtype.itemsize < 8 else ids + by


def edge_name(chunk: EdgeChunk, k: int) -> str:
    """Name edge k of a chunk: its position in the input and its two ids."""
    return f"edge {chunk.start + k} ({chunk.sources[k]}, {chunk.targets[k]})"


def _whole(chunk: EdgeChunk, ids: NDArray[Any]) -> NDArray[np.int64]:
    """Return one end of the edges as writeable int64, fresh or contiguous.

    Refuses what is not a whole number.
    """
    kind = ids.dtype.kind
    if kind not in "iuf":
        if len(ids) == 0:
            return np.empty(0, np.int64)
        raise InputTypeError(
            f"node ids must be whole numbers, not {ids.dtype}: {edge_name(chunk, 0)}; "
            "number the nodes 0..n-1 first"
        )
    if kind == "f":
        bad = ~(np.isfinite(ids) & (ids == np.floor(ids)) & (np.abs(ids) < 2.0**53))
        if bad.any():
            k = int(np.argmax(bad))
            raise InputValueError(f"node ids must be whole numbers: {edge_name(chunk, k)} has {ids[k]}")
    elif ids.dtype == np.uint64 and len(ids) and int(ids.max()) >= 2**63:
        k = int(np.argmax(ids))
        raise InputValueError(f"node id too large: {edge_name(chunk, k)}")
    # Memory maps opened for reading give read-only slices; numba would compile every kernel
    # a second time for those.
    return np.require(ids, np.int64, ["C", "W"])


def _raise_out_of_range(
    chunk: EdgeChunk, u: NDArray[np.int64], v: NDArray[np.int64], n_nodes: int | None
) -> None:
    """Name the first edge with an id outside [0, n_nodes)."""
    bad = (u < 0) | (v < 0)
    if n_nodes is not None:
        bad |= (u >= n_nodes) | (v >= n_nodes)
    k = int(np.argmax(bad))
    allowed = "0 or more" if n_nodes is None else f"0..{n_nodes - 1} for {n_nodes} nodes"
    raise InputValueError(f"node ids must be {allowed}: {edge_name(chunk, k)} is out of range")


def _checked_weights(chunk: EdgeChunk) -> NDArray[np.float64]:
    """Return the chunk's weights as float64, refusing negative and non-finite ones."""
    raw = np.asarray(chunk.weights)
    if raw.dtype.kind not in "biuf":
        raise InputTypeError(f"edge weights must be real numbers, not {raw.dtype}")
    weights = np.require(raw, np.float64, ["C", "W"])
    for bad, error, what in (
        (~np.isfinite(weights), NonFiniteError, "finite"),
        (weights < 0, InputValueError, "non-negative"),
    ):
        if bad.any():
            k = int(np.argmax(bad))
            raise error(f"edge weights must be {what}: {edge_name(chunk, k)} has weight {weights[k]}")
    return weights
