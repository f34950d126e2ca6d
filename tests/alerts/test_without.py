"""The dimension without a few points, from the profile alone: compared with computing it anew."""

from __future__ import annotations

import numpy as np
import pytest

import geodim
from geodim.alerts.scale import without_few

MOST = 6


def narrowest(column, size):
    """The points outside of the narrowest window of so many."""
    order = np.argsort(column, kind="stable")
    values = column[order]
    start = int(np.argmin(values[size - 1 :] - values[: values.size - size + 1]))
    return set(order[:start].tolist()) | set(order[start + size :].tolist())


def left_out(X, one):
    """The points that the theorem leaves out, filled up with others."""
    n = len(X)
    widths = np.ptp(X, axis=0)
    gone: set[int] = set()
    for column in np.argsort(-widths, kind="stable")[: one.columns]:
        gone |= narrowest(X[:, column], n - one.points // one.columns)
    assert len(gone) <= one.points
    for other in range(n):
        if len(gone) < one.points:
            gone.add(other)
    return sorted(gone)


@pytest.mark.turns(4)
@pytest.mark.parametrize("rtol", [0.0, 0.05])
@pytest.mark.parametrize("case", range(6))
def test_the_bounds_hold(rng, case, rtol):
    n, d = int(rng.integers(12, 80)), int(rng.integers(1, 6))
    X = rng.standard_t(1.0 + case, size=(n, d))
    if case % 2:
        X[rng.integers(0, n, 3), rng.integers(0, d, 3)] *= 1e4
    if case == 4:
        X = np.rint(X)
    result = geodim.intrinsic_dimension(X, rtol=rtol)
    found = list(without_few(result, np.ptp(X, axis=0), MOST))
    assert found
    for one in found:
        rest = np.delete(X, left_out(X, one), axis=0)
        again = geodim.intrinsic_dimension(rest)
        assert again.d_max <= one.d_max
        assert one.lower <= again.dimension <= one.upper, one


def test_one_column_is_known_well(rng):
    """With one outlier in one column, to a part of one in n."""
    X = rng.random((500, 1))
    X[77] = 1e3
    result = geodim.intrinsic_dimension(X)
    first = next(iter(without_few(result, np.ptp(X, axis=0), 1)))
    again = geodim.intrinsic_dimension(np.delete(X, 77, axis=0))
    assert first.d_max == again.d_max
    assert first.upper / first.lower < 1.01
    assert first.lower <= again.dimension <= first.upper


def test_a_share_of_the_mass_is_no_handful_of_points(rng):
    """Where weights are not whole, sizes are masses: 990 of 1,500 are two thirds of these 1,000 points."""
    X = np.append(1e-3 * rng.random(600), rng.random(400))[:, np.newaxis]
    for weights in (None, np.full(1000, 1.5)):
        result = geodim.intrinsic_dimension(X, weights=weights)
        assert "outliers" not in [alert.code for alert in result.alerts]
