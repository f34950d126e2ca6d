"""Scratch memory of leaves; what is computed in it is compared in `test_exact` and `test_narrow`."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from geodim.engine.blocks import LINE
from geodim.engine.kernels.lanes import LANES
from geodim.engine.kernels.pyramid import BLOCK, GROUP
from geodim.engine.kernels.tiles import leaf_scratch


@pytest.mark.parametrize("blocks", [1, 1000, 1001])
def test_scratch_arrays_lie_apart_and_begin_with_a_line(blocks):
    """Vectors are as long as a line of the cache, and those that lie on two take twice as long to read."""
    every = leaf_scratch(blocks)
    assert [one.size for one in every] == [BLOCK, 2 * BLOCK, 2 * LANES, 4 * BLOCK, 2 * (blocks + GROUP)]
    assert [one.dtype for one in every] == [np.float64, np.float64, np.float64, np.float32, np.int64]
    for one, other in combinations(every, 2):
        assert not np.shares_memory(one, other)
    for one in every[:-1]:
        assert one.ctypes.data % LINE == 0
