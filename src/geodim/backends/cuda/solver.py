"""One sorted column on the device: pyramid, waves of nodes, leaves; see `geodim.backends.cuda.kernels`.

Besides the top-level gaps, the first wave holds the second gap of every level, with all its blocks: windows of the
first gap lie within a block, where bounds say nothing, so what is left of it is the same at every level, down to the base
gap, which is evaluated.  With that every node of every level is reached in as many waves as there are levels.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from geodim.backends.cuda import kernels
from geodim.optional import require

if TYPE_CHECKING:
    import torch
else:
    torch = require("torch", "gpu", "the CUDA backend")

BASE = 32
TOP_BLOCKS = 64
LATTICE_BITS = 48
SHORT = 256  # nodes with longer lists get more threads
PIECE = 64  # list entries that one program evaluates
PER = 512  # starts per program for the smallest windows
MOST_ENTRIES = 1 << 28  # list entries of a wave; beyond that it is cut in two


@dataclass
class Wave:
    """Nodes in hand: level, gap, list of blocks, trend (not a number: none yet) and a width that phi does not exceed."""

    levels: torch.Tensor
    gaps: torch.Tensor
    starts: torch.Tensor
    stops: torch.Tensor
    blocks: torch.Tensor
    trends: torch.Tensor
    caps: torch.Tensor

    @property
    def entries(self) -> int:
        """Length of all lists together."""
        return int((self.stops - self.starts).sum())

    def halves(self) -> list[Wave]:
        """Two waves with about as many entries each; one if there is one node."""
        if self.gaps.numel() < 2:
            return [self]
        ends = torch.cumsum(self.stops - self.starts, 0)
        at = int(torch.searchsorted(ends, ends[-1] // 2).clamp(1, self.gaps.numel() - 1))
        names = ("levels", "gaps", "starts", "stops", "trends", "caps")
        return [
            Wave(**{name: getattr(self, name)[part] for name in names}, blocks=self.blocks)
            for part in (slice(None, at), slice(at, None))
        ]


class Layout:
    """What depends on the number of points alone: levels of the pyramid, and the first wave."""

    def __init__(self, n: int, device: torch.device) -> None:
        counts = [-(-n // BASE)]
        while counts[-1] > TOP_BLOCKS:
            counts.append(-(-counts[-1] // 2))
        self.n, self.counts, self.device = n, counts, device
        places = [0]
        for count in counts:
            places.append(places[-1] + count + 2)
        self.places = places
        self.offsets = torch.tensor(places, dtype=torch.int64, device=device)
        self.first_wave = self._first_wave()
        self.pieces = torch.empty((-(-n // PER), BASE), dtype=torch.float64, device=device)
        self.records = torch.empty((places[-1], 4), dtype=torch.float64, device=device)
        self.peaks = torch.zeros(places[-1], dtype=torch.int64, device=device)
        for count, place in zip(counts, places, strict=False):  # two empty blocks past the end of every level
            ends = torch.tensor([-math.inf, math.inf, -math.inf, 0.0], dtype=torch.float64, device=device)
            self.records[place + count : place + count + 2] = ends

    def _first_wave(self) -> Wave | None:
        device, top = self.device, len(self.counts) - 1
        nodes = [(top, gap, self.counts[top] - gap) for gap in range(1, self.counts[top])]
        nodes += [(level, 1, self.counts[level] - 1) for level in range(top)]
        if not nodes:
            return None
        levels, gaps, lengths = (torch.tensor(list(part), device=device) for part in zip(*nodes, strict=True))
        stops = torch.cumsum(lengths, 0)
        return Wave(
            levels=levels.to(torch.int32),
            gaps=gaps.to(torch.int32),
            starts=stops - lengths,
            stops=stops,
            blocks=torch.cat([torch.arange(m, dtype=torch.int32, device=device) for m in lengths.tolist()]),
            trends=torch.full((len(nodes),), math.nan, dtype=torch.float64, device=device),
            caps=torch.full((len(nodes),), math.inf, dtype=torch.float64, device=device),
        )


class DeviceSolver:
    """Solves sorted columns of one length and raises phi, which stays on the device.

    Parameters
    ----------
    n_points : int
        Length of the columns.
    device : torch.device
        Where the columns are; the CPU if Triton interprets the kernels.
    most_entries : int
        A wave with more list entries is cut in two.
    """

    def __init__(self, n_points: int, device: Any, *, most_entries: int = MOST_ENTRIES) -> None:
        self.layout = Layout(n_points, torch.device(device))
        self.n = n_points
        self.most_entries = most_entries
        self.phi = torch.zeros(n_points, dtype=torch.float64, device=device)
        self.owner = torch.full((n_points,), -1, dtype=torch.int32, device=device)
        self.tests = self.windows = 0

    def solve(self, l: torch.Tensor, column: int) -> None:
        """Raise phi by one column, given as ascending float32 or float64 values."""
        n, layout = self.n, self.layout
        least, greatest = (float(value) for value in l[[0, n - 1]].double())
        if least == greatest:
            return
        grain, slack, bar = lattice(l, max(abs(least), abs(greatest)))
        scalars = torch.tensor([grain, slack, bar, greatest - least], dtype=torch.float64, device=l.device)
        self._pyramid(l, scalars)
        kernels.smallest[(layout.pieces.shape[0],)](l, n, layout.pieces, PER=PER, BASE=BASE, num_warps=1)
        few = min(BASE, n)
        self._raise(slice(1, few), layout.pieces.amin(0)[1:few], column)
        waves = [layout.first_wave] if layout.first_wave is not None else []
        while waves:
            wave = waves.pop()
            if wave.entries > self.most_entries and wave.gaps.numel() > 1:
                waves += wave.halves()
                continue
            after = self._advance(wave, l, scalars, column)
            if after is not None:
                waves.append(after)

    def _pyramid(self, l: torch.Tensor, scalars: torch.Tensor) -> None:
        layout, n = self.layout, self.n
        records, peaks, counts = layout.records, layout.peaks, layout.counts
        kernels.base_records[(-(-counts[0] // 16),)](
            l, n, counts[0], records, peaks, scalars, BASE=BASE, BLOCKS=16, num_warps=4
        )
        for level in range(1, len(counts)):
            kernels.parent_records[(-(-counts[level] // 128),)](
                l, n, counts[level], layout.places[level - 1], layout.places[level], records, peaks,
                BASE << level, scalars, BLOCKS=128, num_warps=4,
            )  # fmt: skip

    def _advance(self, wave: Wave, l: torch.Tensor, scalars: torch.Tensor, column: int) -> Wave | None:
        """Filter all nodes of a wave, evaluate the leaves among what stays, and return the children of the rest."""
        nodes, device = wave.gaps.numel(), l.device
        flags = torch.empty(wave.blocks.numel(), dtype=torch.int8, device=device)
        kept = torch.empty(nodes, dtype=torch.int32, device=device)
        trends, caps = torch.empty_like(wave.trends), torch.empty_like(wave.caps)
        lengths = wave.stops - wave.starts
        long = lengths > SHORT
        for which, tile, warps in ((~long, 32, 1), (long, 1024, 8)):
            some = torch.nonzero(which)[:, 0]
            if some.numel():
                kernels.filter_nodes[(some.numel(),)](
                    some, l, self.n, self.layout.records, self.layout.peaks, self.layout.offsets, wave.levels, wave.gaps,
                    wave.starts, wave.stops, wave.blocks, wave.trends, wave.caps, self.phi, self.owner, column, scalars,
                    flags, kept, trends, caps, BASE=BASE, TILE=tile, FILL=128, num_warps=warps,
                )  # fmt: skip
        self.tests += wave.blocks.numel()
        leaf = wave.levels == 0
        self._leaves(torch.nonzero((kept > 0) & leaf)[:, 0], wave, lengths, flags, l, column)
        inner = torch.nonzero((kept > 0) & ~leaf)[:, 0]
        if inner.numel() == 0:
            return None
        ends = torch.cumsum(kept[inner].long(), 0)
        places = ends - kept[inner]
        children = 2 * inner.numel()
        after = Wave(
            levels=wave.levels.new_empty(children),
            gaps=wave.gaps.new_empty(children),
            starts=wave.starts.new_empty(children),
            stops=wave.stops.new_empty(children),
            blocks=wave.blocks.new_empty(4 * int(ends[-1])),
            trends=trends.new_empty(children),
            caps=caps.new_empty(children),
        )
        kernels.descend[(inner.numel(),)](
            inner, wave.levels, wave.gaps, wave.starts, wave.stops, wave.blocks, flags, places, kept, trends, caps,
            after.levels, after.gaps, after.starts, after.stops, after.trends, after.caps, after.blocks, TILE=32, num_warps=1,
        )  # fmt: skip
        return after

    def _leaves(
        self,
        which: torch.Tensor,
        wave: Wave,
        lengths: torch.Tensor,
        flags: torch.Tensor,
        l: torch.Tensor,
        column: int,
    ) -> None:
        """Evaluate base gaps, long lists in pieces, so that no program works long after all others are done."""
        if which.numel() == 0:
            return
        pieces = (lengths[which] + (PIECE - 1)) // PIECE
        starts = torch.cat([pieces.new_zeros(1), torch.cumsum(pieces, 0)])
        total = int(starts[-1])
        of = torch.repeat_interleave(torch.arange(which.numel(), device=l.device), pieces, output_size=total)
        nodes = which[of]
        firsts = wave.starts[nodes] + PIECE * (torch.arange(total, device=l.device) - starts[of])
        best = torch.empty((total, BASE), dtype=torch.float64, device=l.device)
        kernels.evaluate_pieces[(total,)](
            l,
            self.n,
            nodes,
            firsts,
            wave.gaps,
            wave.stops,
            wave.blocks,
            flags,
            best,
            PIECE=PIECE,
            BASE=BASE,
            num_warps=1,
        )
        kernels.merge_pieces[(which.numel(),)](
            self.n, which, starts, wave.gaps, best, self.phi, self.owner, column, BASE=BASE, num_warps=1
        )
        self.windows += total

    def _raise(self, where: slice, values: torch.Tensor, column: int) -> None:
        phi, owner = self.phi[where], self.owner[where]
        better = (values > phi) | ((values == phi) & (owner > column))
        phi.copy_(torch.maximum(phi, values))
        owner.masked_fill_(better, column)


def lattice(l: torch.Tensor, magnitude: float) -> tuple[float, float, float]:
    """Grain, slack and bar of a column, see `geodim.engine.column.lattice`."""
    exponent = math.frexp(magnitude)[1]
    grain = math.ldexp(1.0, max(exponent - LATTICE_BITS, -1074))
    scaled = l.double() / grain
    whole = scaled.long()
    if bool((scaled != whole).any()):
        slack = math.ldexp(magnitude, -44)
        return 0.0, slack, -slack
    lowest = torch.where(whole == 0, torch.iinfo(torch.int64).max, whole & -whole).min()
    return grain, 0.0, grain * float(lowest)
