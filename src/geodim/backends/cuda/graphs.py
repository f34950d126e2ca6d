"""Graphs built on the device, from edges that are already there.

The compressed rows are those of `geodim.data.graphs.as_graph`.  The rows are cut into ranges of about BUCKET
entries.  For each range in turn, the entries of both directions are collected from all edges as one number
each (row, column, direction), sorted, deduplicated and written.  Besides the edges and the result, this needs
only a few times the memory of the numbers of one range, however large the graph.  And nothing is sorted or
selected in pieces of more than 2**31 elements, which PyTorch could not do.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from geodim.arguments import whole_number
from geodim.data.graphs import Graph, GraphNotes
from geodim.errors import InputTypeError, InputValueError, ShapeError
from geodim.optional import require

if TYPE_CHECKING:
    import torch
else:
    torch = require("torch", "gpu", "the CUDA backend")

__all__ = ["DeviceGraph", "build_device_graph"]

# Entries of a range of rows: 2 GiB of numbers, and three times as much again while they are sorted.
BUCKET = 1 << 28
CHUNK = 1 << 27  # edges that are examined together
BINS = 20  # bits of the coarse histogram by which the ranges are cut
MOST_NODES = 2**31 - 1


@dataclass(frozen=True, eq=False)
class DeviceGraph:
    """A simple undirected graph in compressed sparse rows on a device; see `geodim.data.graphs.Graph`.

    Attributes
    ----------
    n_nodes : int
        Number of nodes.
    indptr : Tensor of int64, shape (n + 1,)
        Where each row starts.
    indices : Tensor of int32, shape (2 * n_edges,)
        The neighbours of each node other than itself, in increasing order.
    n_isolated : int
        Nodes with no neighbour but themselves.
    notes : GraphNotes
        What the input looked like.
    """

    n_nodes: int
    indptr: torch.Tensor
    indices: torch.Tensor
    n_isolated: int
    notes: GraphNotes

    @property
    def n_edges(self) -> int:
        """Number of undirected edges."""
        return self.indices.numel() // 2

    @property
    def nbytes(self) -> int:
        """Bytes held on the device."""
        return 8 * self.indptr.numel() + 4 * self.indices.numel()

    def degrees(self) -> torch.Tensor:
        """Return deg(v) = ``|N(v)|`` of every node, the node itself counted, as float64."""
        degrees = self.indptr[1:].double()  # exact: positions stay below 2**53
        return degrees.sub_(self.indptr[:-1]).add_(1.0)

    def to_host(self) -> Graph:
        """Return a copy in host memory."""
        return Graph(
            n_nodes=self.n_nodes,
            indptr=self.indptr.cpu().numpy(),
            indices=self.indices.cpu().numpy(),
            n_isolated=self.n_isolated,
            notes=self.notes,
        )

    def to_dict(self) -> dict[str, Any]:
        """Return sizes and notes as plain values, as `Graph.to_dict` does."""
        return {
            "n_nodes": self.n_nodes,
            "n_edges": self.n_edges,
            "n_isolated": self.n_isolated,
            "weighted": False,
            **asdict(self.notes),
            "symmetrised": self.notes.symmetrised,
        }


def build_device_graph(
    edges: torch.Tensor | tuple[torch.Tensor, torch.Tensor],
    n_nodes: int | None = None,
    *,
    directed: bool | None = None,
    bucket: int = BUCKET,
    chunk: int = CHUNK,
) -> DeviceGraph:
    """Build the symmetric, coalesced graph of edges on a device, as `as_graph` does on the host.

    Parameters
    ----------
    edges : Tensor of shape (2, E), or a pair of tensors of length E
        Sources and targets, int32 or int64. Duplicates, both directions and self-loops may occur.
    n_nodes : int, optional
        Number of nodes, less than 2**31; the largest id plus one by default.
    directed : bool, optional
        Whether the input is directed, as recorded in the notes; inferred from the edges if None.
    bucket : int
        Entries that are sorted at once. They need about 40 bytes each, in addition to the edges and the
        result, which takes 4 bytes for each entry before coalescing.
    chunk : int
        Edges that are examined together.

    Returns
    -------
    DeviceGraph
    """
    source, target = _ends(edges)
    n_nodes, loops = _check_ids(source, target, n_nodes, chunk)
    cuts, entries = _ranges(source, target, n_nodes, bucket, chunk)
    device = source.device
    indices = torch.empty(entries, dtype=torch.int32, device=device)
    indptr = torch.zeros(n_nodes + 1, dtype=torch.int64, device=device)
    written = distinct = one_way = isolated = 0
    for first, last in pairwise(cuts):
        keys = _keys_of_rows(source, target, first, last, chunk)
        keys = torch.unique(keys, sorted=True)
        forward = int((keys & 1 == 0).sum())  # edges that are listed as (row, column)
        keys >>= 1
        total = keys.numel()
        keys = torch.unique_consecutive(keys)
        distinct += forward
        one_way += forward - (total - keys.numel())  # what was merged just now was listed in both directions
        # The high half of a number is its row within the range, the low half its column.
        lengths = torch.bincount(keys >> 31, minlength=last - first)
        isolated += int((lengths == 0).sum())
        torch.cumsum(lengths, 0, out=indptr[first + 1 : last + 1])
        indptr[first + 1 : last + 1] += written
        indices[written : written + keys.numel()] = keys & MOST_NODES
        written += keys.numel()
        del keys, lengths
    if written < entries // 2:  # mostly repetitions: release their memory
        indices = indices[:written].clone()
    notes = GraphNotes(
        listed_edges=source.numel(),
        self_loops=loops,
        duplicates=source.numel() - loops - distinct,
        one_way=one_way,
        directed=one_way > 0 if directed is None else directed,
    )
    return DeviceGraph(n_nodes, indptr, indices[:written], isolated, notes)


def _ends(edges: torch.Tensor | tuple[torch.Tensor, torch.Tensor]) -> tuple[torch.Tensor, torch.Tensor]:
    """Return sources and targets, after checking their types and shapes."""
    if isinstance(edges, torch.Tensor) and (edges.ndim != 2 or edges.shape[0] != 2):
        raise ShapeError(f"edges have the shape (2, E), not {tuple(edges.shape)}")
    if len(edges) != 2 or not all(isinstance(ends, torch.Tensor) for ends in edges):
        raise InputTypeError("edges are a tensor of shape (2, E) or a pair of tensors")
    source, target = edges
    if source.ndim != 1 or source.shape != target.shape or source.device != target.device:
        raise ShapeError(
            f"sources and targets must have the same length and be on one device, not {tuple(source.shape)} "
            f"on {source.device} and {tuple(target.shape)} on {target.device}"
        )
    for ends in (source, target):
        if ends.dtype not in (torch.int32, torch.int64):
            raise InputTypeError(f"the ids of nodes are int32 or int64, not {ends.dtype}")
    return source, target


def _check_ids(
    source: torch.Tensor, target: torch.Tensor, n_nodes: int | None, chunk: int
) -> tuple[int, int]:
    """Return the numbers of nodes and of self-loops; raise if an id is no node."""
    least, most, loops = 0, -1, 0
    for at in range(0, source.numel(), chunk):
        a, b = source[at : at + chunk], target[at : at + chunk]
        least = min(least, int(a.min()), int(b.min()))
        most = max(most, int(a.max()), int(b.max()))
        loops += int((a == b).sum())
    if n_nodes is None:
        if most < 0:
            raise InputValueError("there are no edges to infer the number of nodes from: pass n_nodes=")
        n_nodes = most + 1
    n_nodes = whole_number(n_nodes, "n_nodes", 1)
    if n_nodes > MOST_NODES:
        raise InputValueError(
            f"the device takes graphs of fewer than 2**31 nodes, not {n_nodes}: use the CPU"
        )
    if least < 0 or most >= n_nodes:
        wrong = least if least < 0 else most
        raise InputValueError(f"an edge names node {wrong}, but the nodes are 0 to {n_nodes - 1}")
    return n_nodes, loops


def _ranges(
    source: torch.Tensor, target: torch.Tensor, n_nodes: int, bucket: int, chunk: int
) -> tuple[list[int], int]:
    """Cut the rows into ranges of about `bucket` entries; return the cuts and the number of all entries."""
    shift = max((n_nodes - 1).bit_length() - BINS, 0)
    bins = ((n_nodes - 1) >> shift) + 1
    counts = torch.zeros(bins, dtype=torch.int64, device=source.device)
    for at in range(0, source.numel(), chunk):
        a, b = source[at : at + chunk], target[at : at + chunk]
        for ends in (a, b):
            counts += torch.bincount(ends >> shift, minlength=bins)
        counts -= 2 * torch.bincount(a[a == b] >> shift, minlength=bins)
    ends_at = torch.cumsum(counts, 0).cpu().numpy()
    cuts, done = [0], 0
    while cuts[-1] < bins:
        there = int(ends_at.searchsorted(done + bucket, side="right"))
        cuts.append(max(there, cuts[-1] + 1))
        done = int(ends_at[cuts[-1] - 1])
    return [min(cut << shift, n_nodes) for cut in cuts], int(ends_at[-1])


def _keys_of_rows(
    source: torch.Tensor, target: torch.Tensor, first: int, last: int, chunk: int
) -> torch.Tensor:
    """Return the keys of all entries in a range of rows.

    A key is row << 32 | column << 1 | direction, with the row counted from `first`.
    """
    parts = []
    for at in range(0, source.numel(), chunk):
        a, b = source[at : at + chunk], target[at : at + chunk]
        for direction, row, column in ((0, a, b), (1, b, a)):
            chosen = torch.nonzero((row >= first) & (row < last) & (row != column))[:, 0]
            keys = row[chosen].long().sub_(first)
            keys <<= 32
            keys |= column[chosen].long() << 1
            if direction:
                keys |= 1
            parts.append(keys)
    return torch.cat(parts) if parts else torch.empty(0, dtype=torch.int64, device=source.device)
