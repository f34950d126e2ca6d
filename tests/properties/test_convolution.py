"""Whoever knows Phi convolves: F35 of docs/mathematics.md, by which no method is fast for every column."""

from __future__ import annotations

import numpy as np
import pytest

import geodim


def half_by_phi(p: np.ndarray, q: np.ndarray) -> np.ndarray:
    """Return min p_a + q_b over a + b = s, for s from m - 1 on, from Phi of one column of 2 m points."""
    m, largest = p.size, int(max(p.max(), q.max()))
    apart = (largest + 1) * np.arange(2 * m)
    column = apart + np.concatenate([largest - p[::-1], q])
    result = geodim.intrinsic_dimension(column[:, np.newaxis].astype(float), last_bit=True)
    assert result.exact
    width = dict(zip(result.support.tolist(), result.phi.tolist(), strict=True))
    return np.array([width[d + 1] - apart[d] for d in range(m, 2 * m)]) + largest


@pytest.mark.parametrize("m", [1, 2, 150, 9000])
@pytest.mark.parametrize("bits", [1, 18])
def test_min_plus_convolution(m, bits):
    rng = np.random.default_rng([m, bits])
    p, q = rng.integers(0, 2**bits, (2, m))
    expected = np.array([(p[s - m + 1 :] + q[s - m + 1 :][::-1]).min() for s in range(m - 1, 2 * m - 1)])
    assert np.array_equal(half_by_phi(p, q), expected)
    lower = np.array([(p[: s + 1] + q[: s + 1][::-1]).min() for s in range(m)])
    assert np.array_equal(half_by_phi(p[::-1], q[::-1])[::-1], lower)
