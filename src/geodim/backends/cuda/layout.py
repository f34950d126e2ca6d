"""What depends on the number of points alone: levels of the pyramid and nodes of the first wave.

Besides the gaps of the top level, the first wave holds the second gap of every level, with all its blocks.
Windows of a level's first gap lie within one block, where bounds are of no use.  So that gap is halved: its
upper half is the second gap of the next finer level, and its lower half is halved again, down to the base
gap, which is evaluated.  In this way all nodes of all levels are reached in as many waves as there are
levels.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from geodim.backends.cuda import pyramid_kernels
from geodim.backends.cuda.waves import COMMON, PIECE, Size, Wave
from geodim.optional import require
from geodim.planning.device import BASE

if TYPE_CHECKING:
    import torch
else:
    torch = require("torch", "gpu", "the CUDA backend")

TOP_BLOCKS = 64
LEVELS = 4  # of the pyramid that are built together
NARROW = 128  # all windows of fewer steps are evaluated: blocks of 32 rarely separate them


class Layout:
    """Levels and first nodes for columns of one length."""

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
        self._first: tuple[int, Wave] | None = None

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

    def first_size(self, columns: int) -> Size:
        """Return the size of the first wave of this many columns."""
        lengths = [node[2] for node in self.nodes]
        pieces = sum(-(-length // PIECE) for length in lengths)
        return Size(columns * len(lengths), columns * pieces, columns * sum(lengths))

    def first_wave(self, columns: int) -> Wave | None:
        """Return the first wave of columns 0, 1, ...; all lists begin at block 0 and share one array."""
        if not self.nodes or not columns:
            return None
        if self._first is None or self._first[0] != columns:  # batches have few different sizes
            seeds = [(column, *node[:2], 0, node[2]) for column in range(columns) for node in self.nodes]
            nodes = torch.tensor(seeds, dtype=torch.int32, device=self.device)
            lines = torch.empty((len(seeds), 2), dtype=torch.float64, device=self.device)
            wave = Wave.cut(nodes, lines, self.blocks, first=True, size=self.first_size(columns))
            self._first = columns, wave
        return self._first[1]
