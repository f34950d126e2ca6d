"""Peak memory sees native buffers, and not what was there before."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from geodim.baselines.measure import measure


def test_value_and_time():
    found = measure(lambda: sum(range(1000)))
    assert found.value == 499500
    assert found.seconds > 0.0


@pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="the high-water mark is set back on Linux only"
)
def test_memory_of_a_buffer():
    before = np.ones(40_000_000 // 8)  # held, not counted
    small = measure(lambda: None)
    large = measure(lambda: float(np.ones(80_000_000 // 8).sum()))
    assert large.peak_bytes is not None
    assert small.peak_bytes is not None
    assert small.peak_bytes < 8_000_000
    assert 70_000_000 < large.peak_bytes < 100_000_000
    assert before[0] == 1.0
