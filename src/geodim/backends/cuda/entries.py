"""The entries of compressed rows as the device sees them, and the order in which rows are worked on.

The entries are on the device all at once, or arrive block by block from the host.  Both kinds are traversed
with ``blocks()``, which yields, for every range of rows in ``cuts``, the neighbours listed in it and their
weights.  These are tensors on the device, valid until the next ones are requested.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from geodim.data.graphs.parallel import equal_ranges, run_tasks
from geodim.engine.parts import thread_count
from geodim.optional import require
from geodim.planning.device import BLOCK_ENTRIES

if TYPE_CHECKING:
    from collections.abc import Iterator

    import torch
    from numpy.typing import NDArray
else:
    torch = require("torch", "gpu", "the CUDA backend")

__all__ = [
    "AbsoluteEntries",
    "Entries",
    "ResidentEntries",
    "StreamedEntries",
    "Work",
    "row_cuts",
    "to_tensor",
]

WINDOW = 1 << 20  # rows that are ordered by length among themselves
CHUNK = 1 << 24  # elements that are copied at once
WORTH_THREADS = 1 << 20  # from this many elements on, several threads copy
MOST_COPIERS = 8  # more threads do not speed up copying within the host


def to_tensor(array: NDArray[Any], device: torch.device, dtype: torch.dtype) -> torch.Tensor:
    """Copy an array of any length and type to the device.

    It goes through two small page-locked buffers, which is the fastest way.
    """
    result = torch.empty(len(array), dtype=dtype, device=device)
    cuda = device.type == "cuda"
    stages = [torch.empty(min(len(array), CHUNK), dtype=dtype, pin_memory=cuda) for _ in range(2)]
    done = [_event() for _ in stages] if cuda else []
    for turn, first in enumerate(range(0, len(array), CHUNK)):
        part = array[first : first + CHUNK]
        stage = stages[turn % 2]
        if cuda:
            done[turn % 2].synchronize()
        _fill(stage, part)
        result[first : first + len(part)].copy_(stage[: len(part)], non_blocking=True)
        if cuda:
            done[turn % 2].record(torch.cuda.current_stream(device))
    for event in done:
        event.synchronize()
    return result


def _event() -> torch.cuda.Event:
    event: torch.cuda.Event = torch.cuda.Event()  # type: ignore[no-untyped-call] # PyTorch's own has no types
    return event


def _fill(target: torch.Tensor, source: NDArray[Any]) -> None:
    """Copy an array into the beginning of a buffer on the host, with several threads."""
    out = target.numpy()

    def copy(piece: tuple[int, int]) -> None:
        np.copyto(out[piece[0] : piece[1]], source[piece[0] : piece[1]], casting="same_kind")

    threads = min(thread_count(None), MOST_COPIERS) if len(source) >= WORTH_THREADS else 1
    run_tasks(copy, equal_ranges(len(source), threads), threads)


class Entries(ABC):
    """Neighbours and weights by blocks of rows.

    Attributes
    ----------
    cuts : list of int
        The first row of every block, and the number of rows.
    nbytes : int
        Bytes that the entries take on the device.
    """

    cuts: list[int]
    nbytes: int

    @abstractmethod
    def blocks(self) -> Iterator[tuple[torch.Tensor, torch.Tensor | None]]:
        """Yield neighbours and weights of every block."""


def row_cuts(indptr: NDArray[np.int64], block_entries: int) -> tuple[list[int], list[int]]:
    """Cut the rows into blocks; return the first row of each and its first entry, both lists with the end.

    A block has at most ``block_entries`` entries, or is a single longer row.
    """
    cuts = [0]
    while cuts[-1] < len(indptr) - 1:
        here = cuts[-1]
        there = int(np.searchsorted(indptr, indptr[here] + block_entries, side="right")) - 1
        cuts.append(max(there, here + 1))
    return cuts, [int(indptr[row]) for row in cuts]


class ResidentEntries(Entries):
    """Entries that stay on the device, as one block or several."""

    def __init__(
        self,
        n_nodes: int,
        indices: torch.Tensor,
        weights: torch.Tensor | None = None,
        cuts: tuple[list[int], list[int]] | None = None,
    ) -> None:
        self.indices, self.weights = indices, weights
        self.cuts, self._starts = cuts or ([0, n_nodes], [0, indices.numel()])
        self.nbytes = sum(t.numel() * t.element_size() for t in (indices, weights) if t is not None)

    def blocks(self) -> Iterator[tuple[torch.Tensor, torch.Tensor | None]]:
        """Yield all blocks of entries."""
        for start, stop in pairwise(self._starts):
            yield self.indices[start:stop], None if self.weights is None else self.weights[start:stop]


class AbsoluteEntries(Entries):
    """The absolute values of other entries, block by block."""

    def __init__(self, entries: Entries) -> None:
        self.entries = entries
        self.cuts, self.nbytes = entries.cuts, entries.nbytes

    def blocks(self) -> Iterator[tuple[torch.Tensor, torch.Tensor | None]]:
        """Yield the blocks with absolute weights."""
        for indices, weights in self.entries.blocks():
            yield indices, None if weights is None else weights.abs()


class StreamedEntries(Entries):
    """Entries that stay in host memory and are copied block by block, while the previous block is in use.

    There are two buffers on the device and two page-locked ones on the host; only from page-locked memory do
    copies run in the background.
    """

    def __init__(
        self,
        indptr: NDArray[np.int64],
        indices: NDArray[Any],
        weights: NDArray[np.floating] | None,
        device: torch.device,
        block_entries: int = BLOCK_ENTRIES,
    ) -> None:
        self.indptr, self.indices, self.weights = indptr, indices, weights
        self.device = device
        self.cuts, starts = row_cuts(indptr, block_entries)
        self._most = max(b - a for a, b in pairwise(starts))
        self._slots = [_Slot(self._most, weights, device) for _ in range(2)]
        self.nbytes = sum(slot.nbytes for slot in self._slots)

    def blocks(self) -> Iterator[tuple[torch.Tensor, torch.Tensor | None]]:
        """Yield the blocks in order."""
        cuda = self.device.type == "cuda"
        make_stream: Any = torch.cuda.Stream  # PyTorch's own has no types
        aside: Any = make_stream(self.device) if cuda else None
        for at, (first, last) in enumerate(pairwise(self.cuts)):
            slot = self._slots[at % 2]
            part = slice(int(self.indptr[first]), int(self.indptr[last]))
            size = part.stop - part.start
            if cuda:
                slot.copied.synchronize()  # until the buffer on the host is free again
            _fill(slot.host_indices, self.indices[part])
            if self.weights is not None and slot.host_weights is not None:
                _fill(slot.host_weights, self.weights[part])
            if cuda:
                here = torch.cuda.current_stream(self.device)
                with torch.cuda.stream(aside):
                    aside.wait_event(slot.used)  # until the one on the device is free, too
                    slot.copy(size)
                    slot.copied.record(aside)
                here.wait_event(slot.copied)
            else:
                slot.copy(size)
            yield slot.indices, slot.weights
            if cuda:
                slot.used.record(torch.cuda.current_stream(self.device))


class _Slot:
    """One of the two pairs of buffers, on the host and on the device."""

    def __init__(self, size: int, weights: NDArray[np.floating] | None, device: torch.device) -> None:
        cuda = device.type == "cuda"
        self.host_indices = torch.empty(size, dtype=torch.int32, pin_memory=cuda)
        self.indices = torch.empty(size, dtype=torch.int32, device=device)
        self.host_weights: torch.Tensor | None = None
        self.weights: torch.Tensor | None = None
        if weights is not None:
            kind = torch.float32 if weights.dtype == np.float32 else torch.float64
            self.host_weights = torch.empty(size, dtype=kind, pin_memory=cuda)
            self.weights = torch.empty(size, dtype=kind, device=device)
        if cuda:
            self.copied, self.used = _event(), _event()

    @property
    def nbytes(self) -> int:
        both = (self.indices, self.weights)
        return sum(t.numel() * t.element_size() for t in both if t is not None)

    def copy(self, size: int) -> None:
        self.indices[:size].copy_(self.host_indices[:size], non_blocking=True)
        if self.weights is not None and self.host_weights is not None:
            self.weights[:size].copy_(self.host_weights[:size], non_blocking=True)


class Work:
    """What the programs work on in every block: whole rows by length, pieces of long rows, and hubs.

    Attributes
    ----------
    order : Tensor of int32
        The rows that are not cut, longest first within windows of neighbouring rows, so that those of
        one program have about the same length.
    hubs, places : Tensor of int32, int64
        The rows that are cut (hubs), and the position of the first piece of each.
    pieces, cuts : Tensor of int32, int64
        The row and the first entry of every piece.
    counts : list of (int, int, int)
        The numbers of rows, pieces and hubs in each block of rows.
    meta : Tensor of int64, shape (blocks, 3, 4)
        For rows, pieces and hubs of every block: the first one, their number, and the block's first entry.
    """

    def __init__(self, indptr: torch.Tensor, row_cuts: list[int], split: int) -> None:
        device = indptr.device
        order, hubs, self.counts = [], [], []
        meta = []
        rows = pieces = tall = 0
        for first, last in pairwise(row_cuts):
            here = [0, 0, 0]
            for at in range(first, last, WINDOW):
                end = min(at + WINDOW, last)
                lengths = indptr[at + 1 : end + 1] - indptr[at:end]
                lengths, places = torch.sort(lengths, descending=True, stable=True)
                long = int((lengths > split).sum())
                places = (places + at).to(torch.int32)
                hubs.append(places[:long])
                order.append(places[long:])
                here[0] += places.numel() - long
                here[1] += int(((lengths[:long] + (split - 1)) // split).sum()) if long else 0
                here[2] += long
            base = int(indptr[first])
            firsts = (rows, pieces, tall)
            meta.append([[place, count, base, 0] for place, count in zip(firsts, here, strict=True)])
            self.counts.append((here[0], here[1], here[2]))
            rows, pieces, tall = rows + here[0], pieces + here[1], tall + here[2]
        self.order, self.hubs = torch.cat(order), torch.cat(hubs)
        del order
        begins = indptr[self.hubs.long()]
        number = (indptr[self.hubs.long() + 1] - begins + (split - 1)) // split
        self.places = torch.cat([number.new_zeros(1), torch.cumsum(number, 0)])
        of = torch.repeat_interleave(torch.arange(tall, device=device), number, output_size=pieces)
        self.pieces = self.hubs[of]
        self.cuts = begins[of] + split * (torch.arange(pieces, device=device) - self.places[of])
        self.most_pieces = pieces
        self.meta = torch.tensor(meta, dtype=torch.int64, device=device)

    @property
    def nbytes(self) -> int:
        """Bytes held on the device."""
        arrays = (self.order, self.hubs, self.places, self.pieces, self.cuts)
        return sum(t.numel() * t.element_size() for t in arrays)
