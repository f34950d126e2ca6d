"""Buffers in one block: as many bytes as asked for, apart from each other, beginning with a large page."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from geodim.engine.blocks import LARGE_PAGE, LINE, WORTH, in_one_block
from geodim.engine.column import ColumnSolver


@pytest.mark.parametrize("sizes", [(0,), (10, 0, 7), (WORTH, 3, 100_001), (WORTH // 2 - 64, WORTH // 2, 8)])
def test_buffers_have_the_bytes_asked_for_and_share_none(sizes):
    buffers = in_one_block(*sizes)
    assert [buffer.size for buffer in buffers] == list(sizes)
    assert all(buffer.dtype == np.uint8 for buffer in buffers)
    for one, other in combinations(buffers, 2):
        assert not np.shares_memory(one, other)
    for value, buffer in enumerate(buffers):
        buffer[:] = value
    assert all(np.all(buffer == value) for value, buffer in enumerate(buffers))


def test_large_buffers_begin_with_a_large_page_and_all_with_a_line():
    buffers = in_one_block(WORTH + 5, 17, WORTH)
    assert buffers[0].ctypes.data % LARGE_PAGE == 0
    assert all(buffer.ctypes.data % LINE == 0 for buffer in buffers)
    block = buffers[0].base
    assert block is not None
    last = buffers[-1].ctypes.data + buffers[-1].size
    assert block.ctypes.data + block.size >= -(-last // LARGE_PAGE) * LARGE_PAGE


@pytest.mark.parametrize("n", [1, 300, 1_000_001])
@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_a_solver_has_room_for_its_column(n, kind):
    solver = ColumnSolver(n, np.dtype(kind))
    assert solver.phi.shape == (n,)
    assert solver.values.size > n
    assert solver.records.shape[1] == solver.layout.total
    assert not np.shares_memory(solver.phi, solver.values)
    assert not np.shares_memory(solver.records, solver.values)
    assert not np.shares_memory(solver.records, solver.sorter.spare)
