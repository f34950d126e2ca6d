"""What results say about one size is true of the definition, also where widths may be off.

`tests/features/test_rounding.py` has features that may be off.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

import geodim
from geodim import paper
from geodim.errors import InputValueError

ALPHAS = (0.001, 0.2, 0.5, 0.9, 0.9999)


def phi(values, k):
    l = np.sort(values)
    return float((l[k - 1 :] - l[: l.size - k + 1]).min())


@pytest.mark.parametrize("normalize", [True, False])
@pytest.mark.parametrize("name", ["two clocks", "a wave", "tenths by three"])
def test_widths_of_hard_columns(name, normalize):
    """They are held within a tolerance, and what is said of one size is certain all the same."""
    n = 90_000
    at = np.arange(n)
    values = {
        "two clocks": np.concatenate([0.1 * at[: n // 2], 0.1 * 1.6180339887 * at[: n // 2]]),
        "a wave": at + 50.0 * np.sin(at / 50.0),
        "tenths by three": 0.1 * at / 3.0 + 17.0,
    }[name]
    result = geodim.intrinsic_dimension(values[:, np.newaxis], normalize=normalize, n_threads=1)
    assert result.feature_error > 0.0
    differ = 0
    for k in (2, 3, 65, 66, 1000, n // 3, n // 2, n - 7, n):
        low, high = result.phi_bounds(k)
        exact = phi(values, k)
        assert low <= exact <= high
        assert high - low <= 4.0 * result.feature_error * (1.0 + 1e-9) + 1e-12 * result.d_max
        differ += exact != result.phi_lower[k - 2]
    assert differ  # otherwise this says nothing
    for alpha in ALPHAS:
        low, high = result.observable_diameter_bounds(alpha)
        exact = phi(values, paper.c_alpha(n, alpha)) / (np.ptp(values) if normalize else 1.0)
        assert low <= exact <= high
        assert low <= result.observable_diameter(alpha) <= high
    support = [2, 100, 1000, 30_000, n]
    expected = paper.support_bounds(
        [phi(values, k) for k in support], support, n, np.ptp(values) if normalize else 1.0
    )
    low, high = result.support_bounds(support)
    assert low <= expected.delta_upper**-2 <= expected.delta_lower**-2 <= high
    assert high / low <= (expected.delta_upper / expected.delta_lower) ** 2 * (
        1.0 + 4.0 * result.error + 1e-9
    )


def test_exact_columns_are_as_before(rng):
    X = rng.normal(size=(500, 3))
    result = geodim.intrinsic_dimension(X)
    assert result.feature_error == 0.0
    every = [max(phi(X[:, j], k) for j in range(3)) for k in range(2, 501)]
    assert [result.phi_bounds(k) for k in range(2, 501)] == [(one, one) for one in every]
    assert result.phi_bounds(1) == (0.0, 0.0)
    for alpha in ALPHAS:
        width = every[paper.c_alpha(500, alpha) - 2] / result.scale if paper.c_alpha(500, alpha) > 1 else 0.0
        assert result.observable_diameter_bounds(alpha) == (width, width)


@pytest.mark.parametrize("k", [-1, 501, math.nan, math.inf])
def test_no_such_size(k, rng):
    result = geodim.intrinsic_dimension(rng.normal(size=(500, 3)))
    with pytest.raises(InputValueError, match="a number from 0 to 500"):
        result.phi_bounds(k)
