"""Waves of nodes on the device, and the memory for them; see `wave_kernels`.

The host does not wait between waves: their memory is reserved in advance.  If a wave does not fit it, the
device takes note, and later the host searches these columns again, wave by wave.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from geodim.backends.cuda import wave_kernels, window_kernels
from geodim.backends.cuda.device import resident
from geodim.backends.cuda.pyramid_kernels import SCALARS
from geodim.backends.cuda.wave_kernels import COUNTS, NODE
from geodim.optional import require
from geodim.planning.device import BASE

if TYPE_CHECKING:
    import torch

    from geodim.backends.cuda.layout import Layout
else:
    torch = require("torch", "gpu", "the CUDA backend")

PIECE = 128  # list entries per program
SAMPLES = 4096  # blocks from which the first trend is chosen
RAISED = 1024  # sizes of a column that are raised together, if any of them was evaluated
PROGRAMS = 32  # of one warp, per multiprocessor, which holds no more
FEWEST = 4096  # list entries that there is room for, however few points there are
MOST_ENTRIES = 1 << 28  # list entries of a wave; beyond that it is cut in two
COMMON: dict[str, Any] = {"N_SCALARS": SCALARS, "BASE": BASE}
NODES: dict[str, Any] = {"N_NODE": NODE}


@dataclass(frozen=True)
class Size:
    """How many nodes, pieces and list entries a wave has, or has room for."""

    nodes: int
    pieces: int
    entries: int

    @classmethod
    def of(cls, entries: int, least: Size) -> Size:
        """Return room for this many entries, in lists of 16 on average, and at least for another wave."""
        entries = max(entries, FEWEST)
        nodes = max(entries // 16, least.nodes)
        return cls(nodes, max(entries // PIECE + nodes, least.pieces), max(entries, least.entries))

    def holds(self, other: Size) -> bool:
        """Return whether another wave fits."""
        return self.nodes >= other.nodes and self.pieces >= other.pieces and self.entries >= other.entries


@dataclass
class Wave:
    """The nodes in work: numbers, trends and caps, the blocks of their lists, and the pieces of these."""

    nodes: torch.Tensor
    lines: torch.Tensor
    blocks: torch.Tensor
    pieces: torch.Tensor
    size: Size  # of the memory; only the device knows how much of it is used
    first: bool = False  # trends are still to be chosen

    @classmethod
    def empty(cls, size: Size, device: torch.device) -> Wave:
        """Return memory for a wave."""
        return cls(
            nodes=torch.empty((size.nodes, NODE), dtype=torch.int32, device=device),
            lines=torch.empty((size.nodes, 2), dtype=torch.float64, device=device),
            blocks=torch.empty(size.entries, dtype=torch.int32, device=device),
            pieces=torch.empty((size.pieces, 3), dtype=torch.int32, device=device),
            size=size,
        )

    @classmethod
    def cut(
        cls,
        nodes: torch.Tensor,
        lines: torch.Tensor,
        blocks: torch.Tensor,
        *,
        first: bool,
        size: Size | None = None,
    ) -> Wave:
        """Return a wave of these nodes, cut into pieces; ``size`` counts them, if it is known."""
        lengths = nodes[:, 4].long() - nodes[:, 3]
        counts = torch.div(lengths + (PIECE - 1), PIECE, rounding_mode="floor")
        ends, flags = torch.cumsum(counts, 0), torch.cumsum(lengths, 0)
        if size is None:
            size = Size(len(nodes), *torch.stack([ends[-1], flags[-1]]).tolist())
        nodes = torch.cat([nodes[:, :5], (ends - counts)[:, None], ends[:, None]], dim=1).int()
        numbers = torch.arange(len(nodes), device=nodes.device)
        which = torch.repeat_interleave(numbers, counts, output_size=size.pieces)
        into = PIECE * (torch.arange(size.pieces, device=nodes.device) - nodes[which, 5])
        pieces = torch.stack([which, nodes[which, 3] + into, (flags - lengths)[which] + into], dim=1).int()
        return cls(nodes, lines, blocks, pieces, size, first)

    def halves(self) -> list[Wave]:
        """Return two waves with about equally many entries; one if there is a single node."""
        if len(self.nodes) < 2:
            return [self]
        ends = torch.cumsum(self.nodes[:, 4].long() - self.nodes[:, 3], 0)
        at = int(torch.searchsorted(ends, ends[-1] // 2).clamp(1, len(self.nodes) - 1))
        return [
            Wave.cut(self.nodes[part], self.lines[part].clone(), self.blocks, first=self.first)
            for part in (slice(None, at), slice(at, None))
        ]


@dataclass
class Notes:
    """What the kernels write about the nodes and pieces of a wave; see `wave_kernels`."""

    values: torch.Tensor
    places: torch.Tensor
    bounds: torch.Tensor
    where: torch.Tensor
    stays: torch.Tensor
    room: torch.Tensor
    kept: torch.Tensor

    @classmethod
    def empty(cls, size: Size, device: torch.device) -> Notes:
        """Return memory for a wave of this size."""
        return cls(
            values=torch.empty((size.pieces, 3), dtype=torch.float64, device=device),
            places=torch.empty((size.pieces, 2), dtype=torch.int32, device=device),
            bounds=torch.empty((size.nodes, 4), dtype=torch.float64, device=device),
            where=torch.empty((size.nodes, 3), dtype=torch.int32, device=device),
            stays=torch.empty(size.nodes, dtype=torch.int32, device=device),
            room=torch.empty((size.nodes, 3), dtype=torch.int32, device=device),
            kept=torch.empty(size.entries, dtype=torch.int32, device=device),
        )


@dataclass
class Columns:
    """A batch of ascending rows, and what the search reads and writes of them; see `solver`."""

    l: torch.Tensor
    scalars: torch.Tensor
    records: torch.Tensor
    peaks: torch.Tensor
    own: torch.Tensor
    raised: torch.Tensor
    phi: torch.Tensor
    phi_records: torch.Tensor


class Search:
    """Filters waves and evaluates their leaves, until none are left.

    Parameters
    ----------
    layout : Layout
        The levels of the pyramids.
    room : Size
        Of waves that are searched without waiting.
    """

    def __init__(self, layout: Layout, room: Size) -> None:
        self.layout, self.device, self.room = layout, layout.device, room
        self.waves = [Wave.empty(room, self.device) for _ in range(2)]
        self.notes = Notes.empty(room, self.device)
        self.rivals = torch.empty(layout.total, dtype=torch.int64, device=self.device)
        # Of every wave, and in the last row whether there was an overflow.
        self.counts = torch.zeros((len(layout.counts) + 2, COUNTS), dtype=torch.int64, device=self.device)
        self._beginning: tuple[Size, torch.Tensor] | None = None
        self.programs = resident(self.device, PROGRAMS)

    def all_waves(self, first: Wave, columns: Columns) -> None:
        """Search without waiting; ``counts`` says afterwards whether there was room for everything."""
        self._begin(first)
        if not self.room.holds(first.size):
            self.counts[-1].fill_(1)
            return
        wave = first
        for level in range(len(self.layout.counts)):
            following = self.waves[level % 2]
            self._look(wave, self.notes, columns, level)
            self._descend(wave, self.notes, following, level)
            wave = following

    def one_by_one(self, first: Wave, columns: Columns, most_entries: int) -> tuple[int, int]:
        """Search with as much memory as each wave needs; return how many blocks were filtered and evaluated.

        Waves with more entries than ``most_entries`` are cut in two.
        """
        waves, tests, windows = [first], 0, 0
        while waves:
            wave = waves.pop()
            if wave.size.entries > most_entries and len(wave.nodes) > 1:
                waves += wave.halves()
                continue
            self._begin(wave)
            notes = Notes.empty(wave.size, self.device)
            self._look(wave, notes, columns, 0)
            nodes, pieces, entries, evaluated = self.counts[1].tolist()
            tests, windows = tests + wave.size.entries, windows + evaluated
            if nodes:
                following = Wave.empty(Size(nodes, pieces, entries), self.device)
                self._descend(wave, notes, following, 0)
                waves.append(following)
        return tests, windows

    def _begin(self, wave: Wave) -> None:
        self.rivals.fill_(-1)
        if self._beginning is None or self._beginning[0] != wave.size:  # batches have few different sizes
            counts = torch.zeros(self.counts.shape, dtype=torch.int64)
            counts[0, :3] = torch.tensor([wave.size.nodes, wave.size.pieces, wave.size.entries])
            self._beginning = wave.size, counts.to(self.device)
        self.counts.copy_(self._beginning[1])

    def _look(self, wave: Wave, notes: Notes, columns: Columns, level: int) -> None:
        """Filter all nodes of a wave, evaluate the remaining leaves, and count the children of the rest."""
        l, n, total, offsets = columns.l, self.layout.n, self.layout.total, self.layout.offsets
        counts, overflow, parts = self.counts[level], self.counts[-1], columns.raised.shape[1]
        programs = (self.programs,)
        if wave.first:
            wave_kernels.starting_trends[(wave.size.nodes,)](
            wave.nodes, wave.lines, wave.blocks, l, n, columns.records, total, offsets, columns.scalars,
            SAMPLES, **NODES, **COMMON, TILE=256, num_warps=2,
            )  # fmt: skip
        wave_kernels.bound_pieces[programs](
            counts, overflow, wave.pieces, wave.nodes, wave.lines, wave.blocks, l, n, columns.records,
            columns.peaks, total, offsets, notes.values, notes.places, **NODES, PIECE=PIECE, BASE=BASE,
            TILE=32, num_warps=1,
        )  # fmt: skip
        wave_kernels.settle_bounds[programs](
            counts, overflow, wave.nodes, wave.lines, notes.values, notes.places, n, columns.records, total,
            offsets, columns.phi, columns.phi_records, self.rivals, columns.scalars, notes.bounds,
            notes.where, **NODES, **COMMON, TILE=32, num_warps=1,
        )  # fmt: skip
        wave_kernels.keep_blocks[programs](
            counts, overflow, wave.pieces, wave.nodes, wave.lines, wave.blocks, l, n, columns.records,
            total, offsets, self.rivals, notes.bounds, notes.where, columns.scalars, notes.values,
            notes.places, notes.kept, **NODES, **COMMON, PIECE=PIECE, TILE=32, num_warps=1,
        )  # fmt: skip
        wave_kernels.settle_nodes[programs](
            counts, overflow, wave.nodes, wave.lines, notes.values, notes.places, n, notes.bounds,
            notes.where, columns.scalars, columns.own, columns.raised, parts, notes.stays, **NODES,
            **COMMON, TILE=32, FILL=128, RAISED=RAISED, num_warps=1,
        )  # fmt: skip
        window_kernels.evaluate[programs](
            counts, overflow, wave.pieces, wave.nodes, notes.places, notes.stays, notes.kept, l, n,
            columns.own, columns.raised, parts, **NODES, BASE=BASE, RAISED=RAISED,
            SINGLE=l.dtype == torch.float32, num_warps=1,
        )  # fmt: skip
        wave_kernels.make_room[programs](
            counts, overflow, self.counts[level + 1], wave.nodes, notes.stays, notes.room, **NODES,
            PIECE=PIECE, TILE=256, num_warps=2,
        )  # fmt: skip

    def _descend(self, wave: Wave, notes: Notes, following: Wave, level: int) -> None:
        """Write the children into the next wave."""
        room = following.size
        wave_kernels.descend[(self.programs,)](
            self.counts[level], self.counts[-1], self.counts[level + 1], room.nodes, room.pieces,
            room.entries, wave.pieces, wave.nodes, wave.lines, notes.bounds, notes.places, notes.stays,
            notes.room, notes.kept, following.nodes, following.lines, following.pieces, following.blocks,
            **NODES, PIECE=PIECE, TILE=32, num_warps=1,
        )  # fmt: skip
