"""Batches of sorted columns on the device: pyramids, waves of nodes, leaves; see `wave_kernels`.

Besides the gaps of the top level, the first wave holds the second gap of every level, with all its blocks.
Windows of a level's first gap lie within one block, where bounds are of no use.  So that gap is halved: its
upper half is the second gap of the next finer level, and its lower half is halved again, down to the base
gap, which is evaluated.  In this way all nodes of all levels are reached in as many waves as there are
levels.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from geodim.backends.cuda import pyramid_kernels, wave_kernels, window_kernels
from geodim.backends.cuda.pyramid_kernels import SCALARS
from geodim.backends.cuda.wave_kernels import NODE
from geodim.engine.rounding import LATTICE_BITS, SLACK_BITS
from geodim.optional import require
from geodim.planning.device import BASE, solver_bytes

if TYPE_CHECKING:
    import torch
    from numpy.typing import NDArray
else:
    torch = require("torch", "gpu", "the CUDA backend")

TOP_BLOCKS = 64
HUGE = 2.0**1000  # beyond this the trend arithmetic could overflow
LATTICE_PER = 1 << 16  # values that one program examines for a common grain
LEVELS = 4  # of the pyramid that are built together
PIECE = 128  # list entries per program
SAMPLES = 4096  # blocks from which the first trend is chosen
NARROW = 128  # all windows of fewer steps are evaluated: blocks of 32 rarely separate them
PER = 128  # starts per program for that,
SAMPLED = 512  # and programs whose starts are evaluated first
RAISED = 1024  # sizes of a column that are raised together, if any of them was evaluated
MOST_ENTRIES = 1 << 28  # list entries of a wave; beyond that it is cut in two
COMMON: dict[str, Any] = {"N_SCALARS": SCALARS, "BASE": BASE}
NODES: dict[str, Any] = {"N_NODE": NODE}


@dataclass
class Wave:
    """The nodes in work, see `wave_kernels`: numbers, trends and caps, and the blocks of their lists."""

    nodes: torch.Tensor
    lines: torch.Tensor
    blocks: torch.Tensor
    pieces: torch.Tensor
    entries: int  # number of blocks in all lists
    first: bool = False  # trends are still to be chosen

    @classmethod
    def cut(
        cls,
        nodes: torch.Tensor,
        lines: torch.Tensor,
        blocks: torch.Tensor,
        *,
        first: bool,
        totals: tuple[int, int] | None = None,
    ) -> Wave:
        """Return a wave of these nodes, cut into pieces; ``totals`` counts the pieces and the entries."""
        lengths = nodes[:, 4] - nodes[:, 3]
        counts = torch.div(lengths + (PIECE - 1), PIECE, rounding_mode="floor")
        ends, flags = torch.cumsum(counts, 0), torch.cumsum(lengths, 0)
        total, entries = totals or torch.stack([ends[-1], flags[-1]]).tolist()
        nodes = torch.cat([nodes[:, :5], (ends - counts)[:, None], ends[:, None]], dim=1)
        which = torch.repeat_interleave(
            torch.arange(len(nodes), device=nodes.device), counts, output_size=total
        )
        into = PIECE * (torch.arange(total, device=nodes.device) - nodes[which, 5])
        pieces = torch.stack([which, nodes[which, 3] + into, (flags - lengths)[which] + into], dim=1)
        return cls(nodes, lines, blocks, pieces, entries, first)

    def halves(self) -> list[Wave]:
        """Return two waves with about equally many entries; one if there is a single node."""
        if len(self.nodes) < 2:
            return [self]
        ends = torch.cumsum(self.nodes[:, 4] - self.nodes[:, 3], 0)
        at = int(torch.searchsorted(ends, ends[-1] // 2).clamp(1, len(self.nodes) - 1))
        return [
            Wave.cut(self.nodes[part], self.lines[part].clone(), self.blocks, first=self.first)
            for part in (slice(None, at), slice(at, None))
        ]


class Layout:
    """What depends on the number of points alone: levels of the pyramid and nodes of the first wave."""

    def __init__(self, n: int, device: torch.device) -> None:
        counts = [-(-n // BASE)]
        while counts[-1] > TOP_BLOCKS:
            counts.append(-(-counts[-1] // 2))
        self.n, self.counts, self.device = n, counts, device
        places = [0]
        for count in counts:
            places.append(places[-1] + count + 2)
        self.places = places
        self.total = places[-1]
        self.offsets = torch.tensor(places, dtype=torch.int64, device=device)
        top = len(counts) - 1
        nodes = [(top, gap, counts[top] - gap) for gap in range(1, counts[top])]
        nodes += [(level, 1, counts[level] - 1) for level in range(top)]
        # All narrow windows are evaluated instead.
        self.nodes = [node for node in nodes if (node[1] + 1) * (BASE << node[0]) > NARROW]
        self.blocks = torch.arange(counts[0], dtype=torch.int32, device=device)
        self._first: tuple[list[int], Wave] | None = None

    def new_records(self, columns: int) -> tuple[torch.Tensor, torch.Tensor]:
        """Return records and peaks for this many columns, with two empty blocks after every level."""
        records = torch.empty((columns, self.total, 4), dtype=torch.float64, device=self.device)
        peaks = torch.zeros((columns, self.total), dtype=torch.int64, device=self.device)
        ends = torch.tensor([-math.inf, math.inf, -math.inf, 0.0], dtype=torch.float64, device=self.device)
        for count, place in zip(self.counts, self.places, strict=False):
            records[:, place + count : place + count + 2] = ends
        return records, peaks

    def fill(
        self, l: torch.Tensor, scalars: torch.Tensor, records: torch.Tensor, peaks: torch.Tensor
    ) -> None:
        """Compute the records of ascending rows."""
        rows, n, counts = l.shape[0], self.n, self.counts
        pyramid_kernels.base_records[(-(-counts[0] // 64), rows)](
            l, n, counts[0], self.total, records, peaks, scalars, **COMMON, BLOCKS=64, num_warps=2
        )
        for level in range(1, len(counts), LEVELS):
            pyramid_kernels.parent_records[(-(-counts[level] // 128), rows)](
                l, n, self.total, self.offsets, records, peaks, scalars, level, len(counts), **COMMON,
                BLOCKS=128, AT_ONCE=LEVELS, num_warps=4,
            )  # fmt: skip

    def first_wave(self, columns: list[int]) -> Wave | None:
        """Return the first wave of these columns; all lists begin at block 0 and share one array."""
        if not self.nodes or not columns:
            return None
        known = self._first  # kept, because batches have few different sizes
        if known is None or known[0] != columns:
            seeds = [(column, *node[:2], 0, node[2]) for column in columns for node in self.nodes]
            nodes = torch.tensor(seeds, dtype=torch.int64, device=self.device)
            lines = torch.empty((len(seeds), 2), dtype=torch.float64, device=self.device)
            lengths = [node[2] for node in self.nodes]
            totals = (
                len(columns) * sum(-(-length // PIECE) for length in lengths),
                len(columns) * sum(lengths),
            )
            self._first = known = (columns, Wave.cut(nodes, lines, self.blocks, first=True, totals=totals))
        return known[1]


class DeviceSolver:
    """Solves batches of sorted columns of one length and raises phi, which stays on the device.

    Parameters
    ----------
    n_points : int
        Length of the columns.
    device : torch.device
        Where the columns are; the CPU if Triton interprets the kernels.
    layers : int
        Number of nested feature sets, see `geodim.engine.layers`: a column raises its
        own layer and all layers above it.
    batch : int
        Largest number of columns passed in at a time.
    most_entries : int
        A wave with more list entries is cut in two.
    """

    def __init__(
        self,
        n_points: int,
        device: torch.device | str,
        *,
        layers: int = 1,
        batch: int = 1,
        most_entries: int = MOST_ENTRIES,
    ) -> None:
        self.device = torch.device(device)
        self.layout = Layout(n_points, self.device)
        self.n, self.layers = n_points, layers
        self.most_entries = most_entries
        self.phi = torch.zeros((layers, n_points), dtype=torch.float64, device=device)
        self.owner = torch.full((layers, n_points), -1, dtype=torch.int32, device=device)
        self.phi_records, self.phi_peaks = self.layout.new_records(1)
        self.tests = self.windows = 0
        self.shrink(batch)

    def shrink(self, batch: int) -> None:
        """Take this many columns at a time from here on; what was reached is kept."""
        self.batch = batch
        self.own = self.records = self.peaks = torch.empty(0)  # released first
        self.own = torch.full((batch, self.n), math.inf, dtype=torch.float64, device=self.device)
        self.raised = torch.zeros((batch, -(-self.n // RAISED)), dtype=torch.int8, device=self.device)
        self.records, self.peaks = self.layout.new_records(batch)

    @staticmethod
    def bytes_needed(n_points: int, layers: int, batch: int) -> int:
        """Return the memory of a solver, without columns and waves."""
        return solver_bytes(n_points, layers, batch)

    def solve(
        self,
        l: torch.Tensor,
        columns: list[int],
        layer: int = 0,
        ends: NDArray[np.float64] | None = None,
    ) -> None:
        """Raise phi by columns, given as rows of ascending float32 or float64 values.

        If their first and last values are known already, shape (columns, 2), the host need not wait for the
        sort.
        """
        ends = l[:, [0, self.n - 1]].double().cpu().numpy() if ends is None else ends.copy()
        varying = np.flatnonzero(ends[:, 0] < ends[:, 1])
        if varying.size == 0:
            return
        if varying.size < len(columns):
            l, ends = l[torch.as_tensor(varying, device=l.device)], ends[varying]
            columns = [columns[at] for at in varying]
        magnitudes = np.abs(ends).max(axis=1)
        huge = np.flatnonzero(magnitudes > HUGE)
        if huge.size:
            self._on_the_host(l, huge.tolist())
            magnitudes[huge] = ends[huge, 1] = 1.0
            ends[huge, 0] = 0.0
        scalars = self._scalars(l, ends[:, 1] - ends[:, 0], magnitudes, layer)
        if huge.size < len(columns):
            self._search(l, scalars, layer, huge.tolist())
        ids = torch.tensor(columns, dtype=torch.int32, device=l.device)
        pyramid_kernels.raise_phi[(self.raised.shape[1],)](
            self.own, self.n, len(columns), ids, self.raised, self.phi, self.owner, layer, self.layers,
            TILE=RAISED,
        )  # fmt: skip
        self.raised.zero_()

    def _search(self, l: torch.Tensor, scalars: torch.Tensor, layer: int, left_out: list[int]) -> None:
        """Fill ``own`` with the widths of these columns wherever they may reach phi."""
        rows, layout = l.shape[0], self.layout
        layout.fill(l, scalars, self.records, self.peaks)
        phi = self.phi[layer : layer + 1]
        known = scalars.new_zeros((1, SCALARS))
        known[0, 3] = phi[0, -1]
        layout.fill(phi, known, self.phi_records, self.phi_peaks)
        searched = [row for row in range(rows) if row not in left_out]
        self._narrow(l, searched)
        first = layout.first_wave(searched)
        waves = [] if first is None else [first]
        while waves:
            wave = waves.pop()
            if wave.entries > self.most_entries and len(wave.nodes) > 1:
                waves += wave.halves()
                continue
            after = self._advance(wave, l, scalars, layer)
            if after is not None:
                waves.append(after)

    def _narrow(self, l: torch.Tensor, searched: list[int]) -> None:
        """Evaluate all windows of fewer than NARROW steps; a first sample makes most others unnecessary."""
        rows, n = l.shape
        least = torch.full((rows, NARROW), math.inf, dtype=torch.float64, device=l.device)
        parts = -(-n // PER)
        for stride in {max(parts // SAMPLED, 1): None, 1: None}:
            window_kernels.narrow_windows[(-(-parts // stride), rows)](
                l, n, least, stride, NARROW=NARROW, PER=PER, num_warps=1
            )
        few = min(NARROW, n)
        which = slice(rows) if len(searched) == rows else searched
        self.raised[which, 0] = 1
        self.own[which, 1:few] = least[which, 1:few]

    def _advance(self, wave: Wave, l: torch.Tensor, scalars: torch.Tensor, layer: int) -> Wave | None:
        """Filter all nodes of a wave, evaluate the remaining leaves, and return the children of the rest."""
        nodes, pieces, device, n = len(wave.nodes), len(wave.pieces), l.device, self.n
        layout, records, total = self.layout, self.records, self.layout.total
        if wave.first:
            wave_kernels.starting_trends[(nodes,)](
                wave.nodes, wave.lines, wave.blocks, l, n, records, total, layout.offsets, scalars, SAMPLES,
                **NODES, **COMMON, TILE=256, num_warps=2,
            )  # fmt: skip
        values = torch.empty((pieces, 3), dtype=torch.float64, device=device)
        places = torch.empty((pieces, 2), dtype=torch.int64, device=device)
        wave_kernels.bound_pieces[(pieces,)](
            wave.pieces, wave.nodes, wave.lines, wave.blocks, l, n, records, self.peaks, total,
            layout.offsets, values, places, **NODES, PIECE=PIECE, BASE=BASE, TILE=32, num_warps=1,
        )  # fmt: skip
        bounds = torch.empty((nodes, 4), dtype=torch.float64, device=device)
        where = torch.empty((nodes, 3), dtype=torch.int64, device=device)
        wave_kernels.settle_bounds[(nodes,)](
            wave.nodes, wave.lines, values, places, n, records, total, layout.offsets, self.phi[layer],
            self.phi_records, scalars, bounds, where, **NODES, **COMMON, TILE=32, num_warps=1,
        )  # fmt: skip
        kept = torch.empty(wave.entries, dtype=torch.int32, device=device)
        wave_kernels.keep_blocks[(pieces,)](
            wave.pieces, wave.nodes, wave.lines, wave.blocks, l, n, records, total, layout.offsets, bounds,
            where, scalars, values, places, kept, **NODES, **COMMON, PIECE=PIECE, TILE=32, num_warps=1,
        )  # fmt: skip
        stays = torch.empty(nodes, dtype=torch.int64, device=device)
        room = torch.empty(4 * nodes, dtype=torch.int64, device=device)
        parts = self.raised.shape[1]
        wave_kernels.settle_nodes[(nodes,)](
            wave.nodes, wave.lines, values, places, n, bounds, where, scalars, self.own, self.raised, parts,
            stays, room, **NODES, **COMMON, PIECE=PIECE, TILE=32, FILL=128, RAISED=RAISED, num_warps=1,
        )  # fmt: skip
        self.tests += wave.entries
        ends = torch.cumsum(room, 0)
        totals = ends[nodes - 1 :: nodes].tolist()  # the only time that the host waits for the device
        children, entries, cut, leaves = (after - before for before, after in pairwise([0, *totals]))
        self.windows += leaves
        if leaves:
            window_kernels.evaluate[(pieces,)](
                wave.pieces, wave.nodes, places, stays, kept, l, n, self.own, self.raised, parts, **NODES,
                BASE=BASE, RAISED=RAISED, SINGLE=l.dtype == torch.float32, num_warps=1,
            )  # fmt: skip
        if not children:
            return None
        following = Wave(
            nodes=torch.empty((children, NODE), dtype=torch.int64, device=device),
            lines=torch.empty((children, 2), dtype=torch.float64, device=device),
            blocks=torch.empty(entries, dtype=torch.int32, device=device),
            pieces=torch.empty((cut, 3), dtype=torch.int64, device=device),
            entries=entries,
        )
        wave_kernels.descend[(pieces,)](
            wave.pieces, wave.nodes, wave.lines, bounds, places, stays, room, ends, nodes, kept,
            following.nodes, following.lines, following.pieces, following.blocks, **NODES, PIECE=PIECE,
            TILE=32, num_warps=1,
        )  # fmt: skip
        return following

    def _scalars(
        self, l: torch.Tensor, spans: np.ndarray[Any, Any], magnitudes: np.ndarray[Any, Any], layer: int
    ) -> torch.Tensor:
        """Return grain, slack, bar, span and margin of every column, see `geodim.engine.column.lattice`."""
        exponents = [max(math.frexp(magnitude)[1] - LATTICE_BITS, -1074) for magnitude in magnitudes]
        numbers = [
            (math.ldexp(1.0, exponent), math.ldexp(magnitude, -SLACK_BITS), span)
            for exponent, magnitude, span in zip(exponents, magnitudes, spans, strict=True)
        ]
        grains, slacks, widths = torch.tensor(numbers, dtype=torch.float64, device=l.device).T.contiguous()
        off = torch.zeros(len(l), dtype=torch.int32, device=l.device)
        lowest = torch.full((len(l),), torch.iinfo(torch.int64).max, dtype=torch.int64, device=l.device)
        parts = -(-self.n // LATTICE_PER)
        middle = max(parts // 2 - 8, 0)
        for first, stop in ((middle, min(middle + 16, parts)), (0, parts)):
            pyramid_kernels.lattice_bits[(stop - first, len(l))](
                l, self.n, first, grains, off, lowest, PER=LATTICE_PER, TILE=4096
            )
        rough = off > 0
        nothing = torch.zeros_like(grains)
        margins = torch.maximum(slacks, self.phi[layer, -1] * 2.0**-SLACK_BITS)
        return torch.stack(
            [
                torch.where(rough, nothing, grains),
                torch.where(rough, slacks, nothing),
                torch.where(rough, -slacks, grains * lowest),
                widths,
                margins,
            ],
            dim=1,
        ).contiguous()

    def _on_the_host(self, l: torch.Tensor, rows: list[int]) -> None:
        """Solve columns with values too large for trends on the host, which evaluates all their windows."""
        from geodim.engine.column import ColumnSolver  # noqa: PLC0415 - imports Numba
        from geodim.engine.profile import Profile  # noqa: PLC0415

        for row in rows:
            profile = Profile.empty(self.n, 1)
            values = l[row].cpu().numpy()
            ColumnSolver(self.n, values.dtype).solve(values, 0, profile, lambda: False)
            self.own[row, 1:] = torch.as_tensor(profile.phi[1:])
            self.raised[row] = 1
