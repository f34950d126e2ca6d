"""Batches of sorted columns on the device: pyramids, waves of nodes, leaves; see `wave_kernels`.

Besides the top-level gaps, the first wave holds the second gap of every level, with all its blocks: windows
of the first gap lie within a block, where bounds say nothing, so what is left of it is the same at every
level, down to the base gap, which is evaluated.  With that every node of every level is reached in as many
waves as there are levels.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from geodim.backends.cuda import pyramid_kernels, wave_kernels
from geodim.backends.cuda.pyramid_kernels import SCALARS
from geodim.engine.rounding import LATTICE_BITS, SLACK_BITS
from geodim.optional import require
from geodim.planning.device import BASE, PER, solver_bytes

if TYPE_CHECKING:
    import torch
else:
    torch = require("torch", "gpu", "the CUDA backend")

TOP_BLOCKS = 64
HUGE = 2.0**1000  # past this the trend arithmetic could overflow
PIECE = 128  # list entries that one program looks at
SAMPLES = 4096  # blocks that choose the first trend
MOST_ENTRIES = 1 << 28  # list entries of a wave; beyond that it is cut in two
COMMON: dict[str, Any] = {"N_SCALARS": SCALARS, "BASE": BASE}


@dataclass
class Wave:
    """Nodes in hand: column, level, gap, list of blocks, trend, and a width that phi does not exceed."""

    columns: torch.Tensor
    levels: torch.Tensor
    gaps: torch.Tensor
    starts: torch.Tensor
    stops: torch.Tensor
    trends: torch.Tensor
    caps: torch.Tensor
    blocks: torch.Tensor
    first: bool = False  # trends are still to be chosen

    def halves(self) -> list[Wave]:
        """Two waves with about as many entries each; one if there is one node."""
        if self.gaps.numel() < 2:
            return [self]
        ends = torch.cumsum(self.stops - self.starts, 0)
        at = int(torch.searchsorted(ends, ends[-1] // 2).clamp(1, self.gaps.numel() - 1))
        names = ("columns", "levels", "gaps", "starts", "stops", "trends", "caps")
        return [
            Wave(**{name: getattr(self, name)[part] for name in names}, blocks=self.blocks, first=self.first)
            for part in (slice(None, at), slice(at, None))
        ]


class Layout:
    """What the number of points alone decides: the pyramid's levels and the nodes of the first wave."""

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
        self.nodes = torch.tensor(nodes, device=device).reshape(-1, 3)
        self.blocks = torch.arange(counts[0], dtype=torch.int32, device=device)

    def new_records(self, columns: int) -> tuple[torch.Tensor, torch.Tensor]:
        """Records and peaks of this many columns, with two empty blocks past the end of every level."""
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
        pyramid_kernels.base_records[(-(-counts[0] // 16), rows)](
            l, n, counts[0], self.total, records, peaks, scalars, **COMMON, BLOCKS=16, num_warps=4
        )
        for level in range(1, len(counts)):
            pyramid_kernels.parent_records[(-(-counts[level] // 128), rows)](
                l, n, counts[level], self.total, self.places[level - 1], self.places[level], records, peaks,
                BASE << level, scalars, N_SCALARS=SCALARS, BLOCKS=128, num_warps=4,
            )  # fmt: skip

    def first_wave(self, columns: int) -> Wave:
        """The seeds of every column; all lists begin at block 0 and share one array."""
        nodes = self.nodes.repeat(columns, 1)
        which = torch.arange(columns, dtype=torch.int32, device=self.device)
        return Wave(
            columns=which.repeat_interleave(self.nodes.shape[0]),
            levels=nodes[:, 0].int(),
            gaps=nodes[:, 1].int(),
            starts=torch.zeros_like(nodes[:, 2]),
            stops=nodes[:, 2].contiguous(),
            trends=torch.empty(len(nodes), dtype=torch.float64, device=self.device),
            caps=torch.full((len(nodes),), math.inf, dtype=torch.float64, device=self.device),
            blocks=self.blocks,
            first=True,
        )


class Pieces:
    """The lists of a wave, cut into pieces: whose each one is, where it begins, and where its flags are."""

    def __init__(self, wave: Wave) -> None:
        lengths = wave.stops - wave.starts
        counts = torch.div(lengths + (PIECE - 1), PIECE, rounding_mode="floor")
        self.stops = torch.cumsum(counts, 0)
        flag_stops = torch.cumsum(lengths, 0)
        self.total, self.entries = torch.stack([self.stops[-1], flag_stops[-1]]).tolist()
        device = lengths.device
        every = torch.arange(lengths.numel(), device=device)
        self.nodes = torch.repeat_interleave(every, counts, output_size=self.total)
        into = PIECE * (torch.arange(self.total, device=device) - (self.stops - counts)[self.nodes])
        self.firsts = wave.starts[self.nodes] + into
        self.flag_firsts = (flag_stops - lengths)[self.nodes] + into


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
        own layer and all above.
    batch : int
        Most columns that are handed in at a time.
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
        """From here on, this many columns at a time; what was reached stays."""
        self.batch = batch
        self.own = self.records = self.peaks = self.small = torch.empty(0)  # let go first
        self.own = torch.full((batch, self.n), math.inf, dtype=torch.float64, device=self.device)
        self.records, self.peaks = self.layout.new_records(batch)
        self.small = torch.empty((batch, -(-self.n // PER), BASE), dtype=torch.float64, device=self.device)

    @staticmethod
    def bytes_needed(n_points: int, layers: int, batch: int) -> int:
        """Memory of a solver, without columns and waves."""
        return solver_bytes(n_points, layers, batch)

    def solve(self, l: torch.Tensor, columns: list[int], layer: int = 0) -> None:
        """Raise phi by columns, given as rows of ascending float32 or float64 values."""
        ends = l[:, [0, self.n - 1]].double().cpu().numpy()
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
        pyramid_kernels.raise_phi[(-(-self.n // 1024),)](
            self.own, self.n, len(columns), ids, self.phi, self.owner, layer, self.layers, TILE=1024
        )

    def _search(self, l: torch.Tensor, scalars: torch.Tensor, layer: int, left_out: list[int]) -> None:
        """Fill ``own`` with the widths of these columns wherever they may reach phi."""
        n, rows, layout = self.n, l.shape[0], self.layout
        layout.fill(l, scalars, self.records, self.peaks)
        phi = self.phi[layer : layer + 1]
        known = scalars.new_zeros((1, SCALARS))
        known[0, 3] = phi[0, -1]
        layout.fill(phi, known, self.phi_records, self.phi_peaks)
        small = self.small[:rows]
        pyramid_kernels.smallest[(small.shape[1], rows)](l, n, small, PER=PER, BASE=BASE, num_warps=1)
        few = min(BASE, n)
        searched = torch.ones(rows, dtype=torch.bool, device=l.device)
        searched[left_out] = False
        self.own[:rows, 1:few] = torch.where(
            searched[:, None], small.amin(1)[:, 1:few], self.own[:rows, 1:few]
        )
        waves = [layout.first_wave(rows)] if layout.nodes.shape[0] else []
        if left_out and waves:
            waves = [part for part in [_without(waves[0], searched)] if part.gaps.numel()]
        while waves:
            wave = waves.pop()
            pieces = Pieces(wave)
            if pieces.entries > self.most_entries and wave.gaps.numel() > 1:
                waves += wave.halves()
                continue
            after = self._advance(wave, pieces, l, scalars, layer)
            if after is not None:
                waves.append(after)

    def _advance(
        self, wave: Wave, pieces: Pieces, l: torch.Tensor, scalars: torch.Tensor, layer: int
    ) -> Wave | None:
        """Filter all nodes of a wave, evaluate the leaves that stay, and return the children of the rest."""
        nodes, device, n = wave.gaps.numel(), l.device, self.n
        layout, records, total = self.layout, self.records, self.layout.total
        if wave.first:
            wave_kernels.starting_trends[(nodes,)](
                l, n, records, total, layout.offsets, wave.columns, wave.levels, wave.gaps, wave.starts,
                wave.stops, wave.blocks, scalars, wave.trends, SAMPLES, **COMMON, TILE=256, num_warps=2,
            )  # fmt: skip
        values = torch.empty((pieces.total, 3), dtype=torch.float64, device=device)
        places = torch.empty((pieces.total, 2), dtype=torch.int64, device=device)
        wave_kernels.bound_pieces[(pieces.total,)](
            pieces.nodes, pieces.firsts, l, n, records, self.peaks, total, layout.offsets, wave.columns,
            wave.levels, wave.gaps, wave.stops, wave.blocks, wave.trends, values, places, PIECE=PIECE,
            BASE=BASE, TILE=32, num_warps=1,
        )  # fmt: skip
        node_values = torch.empty((nodes, 3), dtype=torch.float64, device=device)
        node_places = torch.empty((nodes, 2), dtype=torch.int64, device=device)
        child_trends = torch.empty_like(wave.trends)
        is_open = torch.empty(nodes, dtype=torch.int8, device=device)
        wave_kernels.settle_bounds[(nodes,)](
            pieces.stops, values, places, n, records, total, layout.offsets, wave.columns, wave.levels,
            wave.gaps, wave.trends, wave.caps, self.phi[layer], self.phi_records, scalars, node_values,
            node_places, child_trends, is_open, **COMMON, TILE=32, num_warps=1,
        )  # fmt: skip
        flags = torch.empty(pieces.entries, dtype=torch.int8, device=device)
        piece_kept = torch.empty(pieces.total, dtype=torch.int32, device=device)
        piece_flat = torch.empty(pieces.total, dtype=torch.float64, device=device)
        wave_kernels.flag_pieces[(pieces.total,)](
            pieces.nodes, pieces.firsts, pieces.flag_firsts, is_open, l, n, records, total, layout.offsets,
            wave.columns, wave.levels, wave.gaps, wave.stops, wave.blocks, wave.trends, node_values,
            node_places, scalars, flags, piece_kept, piece_flat, **COMMON, PIECE=PIECE, TILE=32, num_warps=1,
        )  # fmt: skip
        kept = torch.empty(nodes, dtype=torch.int32, device=device)
        wave_kernels.settle_nodes[(nodes,)](
            pieces.stops, piece_kept, piece_flat, is_open, n, wave.columns, wave.levels, wave.gaps,
            wave.trends, node_values, scalars, self.own, kept, **COMMON, TILE=32, FILL=128, num_warps=1,
        )  # fmt: skip
        self.tests += pieces.entries
        leaf = wave.levels == 0
        alive = (piece_kept > 0) & (kept > 0)[pieces.nodes]
        leaf_pieces = torch.nonzero(alive & leaf[pieces.nodes])[:, 0]
        self.windows += leaf_pieces.numel()
        if leaf_pieces.numel():
            wave_kernels.evaluate_pieces[(leaf_pieces.numel(),)](
                leaf_pieces, pieces.nodes, pieces.firsts, pieces.flag_firsts, l, n, wave.columns, wave.gaps,
                wave.stops, wave.blocks, flags, self.own, PIECE=PIECE, BASE=BASE, num_warps=1,
            )  # fmt: skip
        inner = torch.nonzero(alive & ~leaf[pieces.nodes])[:, 0]
        if inner.numel() == 0:
            return None
        goes_on = (kept > 0) & ~leaf
        piece_kept.masked_fill_(~goes_on[pieces.nodes], 0)
        piece_ends = torch.cumsum(piece_kept, 0, dtype=torch.int64)
        kept.masked_fill_(~goes_on, 0)
        ranks = torch.cumsum(goes_on, 0) - 1
        ends = torch.cumsum(kept, 0, dtype=torch.int64)
        children, entries = (torch.stack([ranks[-1] + 1, ends[-1]])).tolist()
        after = Wave(
            columns=wave.columns.new_empty(2 * children),
            levels=wave.levels.new_empty(2 * children),
            gaps=wave.gaps.new_empty(2 * children),
            starts=wave.starts.new_empty(2 * children),
            stops=wave.stops.new_empty(2 * children),
            trends=wave.trends.new_empty(2 * children),
            caps=wave.caps.new_empty(2 * children),
            blocks=wave.blocks.new_empty(4 * entries),
        )
        wave_kernels.descend[(inner.numel(),)](
            inner, pieces.nodes, pieces.firsts, pieces.flag_firsts, piece_ends, piece_kept, ranks,
            ends - kept, wave.columns, wave.levels, wave.gaps, wave.stops, wave.blocks, flags, kept,
            child_trends, wave.caps, after.columns, after.levels, after.gaps, after.starts, after.stops,
            after.trends, after.caps, after.blocks, PIECE=PIECE, TILE=32, num_warps=1,
        )  # fmt: skip
        return after

    def _scalars(
        self, l: torch.Tensor, spans: np.ndarray[Any, Any], magnitudes: np.ndarray[Any, Any], layer: int
    ) -> torch.Tensor:
        """Grain, slack, bar, span and margin of every column, see `geodim.engine.column.lattice`."""
        exponents = [max(math.frexp(magnitude)[1] - LATTICE_BITS, -1074) for magnitude in magnitudes]
        numbers = [
            (math.ldexp(1.0, exponent), math.ldexp(magnitude, -SLACK_BITS), span)
            for exponent, magnitude, span in zip(exponents, magnitudes, spans, strict=True)
        ]
        grains, slacks, widths = torch.tensor(numbers, dtype=torch.float64, device=l.device).T.contiguous()
        off = torch.zeros(len(l), dtype=torch.int32, device=l.device)
        lowest = torch.full((len(l),), torch.iinfo(torch.int64).max, dtype=torch.int64, device=l.device)
        pyramid_kernels.lattice_bits[(-(-self.n // 4096), len(l))](l, self.n, grains, off, lowest, PER=4096)
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
        """Columns whose values are too large for trends; the engine has a plain way for them."""
        from geodim.engine.column import ColumnSolver  # noqa: PLC0415 - imports Numba
        from geodim.engine.profile import Profile  # noqa: PLC0415

        for row in rows:
            profile = Profile.empty(self.n, 1)
            values = l[row].cpu().numpy()
            ColumnSolver(self.n, values.dtype).solve(values, 0, profile, lambda: False)
            self.own[row, 1:] = torch.as_tensor(profile.phi[1:])


def _without(wave: Wave, searched: torch.Tensor) -> Wave:
    """The nodes of the columns that are searched."""
    stays = searched[wave.columns.long()]
    names = ("columns", "levels", "gaps", "starts", "stops", "trends", "caps")
    return Wave(**{name: getattr(wave, name)[stays] for name in names}, blocks=wave.blocks, first=True)
