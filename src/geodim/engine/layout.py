"""How the records of a pyramid are laid out, see `geodim.engine.kernels.pyramid`."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from geodim.engine.kernels import pyramid
from geodim.engine.pieces import TOP_BLOCKS


class PyramidLayout:
    """The layout of a pyramid over n points: number of blocks and first record of each level."""

    def __init__(self, n: int) -> None:
        counts = [-(-n // pyramid.BLOCK)]
        while counts[-1] > TOP_BLOCKS:
            counts.append(-(-counts[-1] // 2))
        self.counts = np.array(counts, np.int64)
        groups = -(-(self.counts + pyramid.SPARE) // pyramid.GROUP)
        self.offsets = pyramid.GROUP * (np.cumsum(groups) - groups)
        self.total = pyramid.GROUP * int(groups.sum())
        self.top_shift = pyramid.BLOCK_SHIFT + len(counts) - 1

    @classmethod
    @lru_cache(16)
    def of(cls, n: int) -> PyramidLayout:
        """Return the layout over n points, the same for all columns of this length."""
        return cls(n)
