"""The paper's table of errors on random data, and the standard normal distribution's own limit.

Source: paper.tex, table tab:random: standard normal, not normalised, support sequence of length 100,000; for
n = 10^6 and d = 10 the error is 2.55e-4 with a deviation of 1e-8 over three repetitions.
"""

from __future__ import annotations

import numpy as np
import pytest

import geodim
from geodim import paper


@pytest.fixture(scope="module")
def normal():
    X = np.random.default_rng(0).normal(size=(1_000_000, 10))
    return geodim.intrinsic_dimension(X, normalize=False)


def test_printed_error(normal):
    support = paper.log_scale_support(1_000_000, length=100_000)
    lower, upper = normal.support_bounds(support)
    assert lower <= normal.dimension <= upper
    assert paper.approximation_error(lower, upper) == pytest.approx(2.55e-4, abs=0.005e-4)


def test_limit_of_the_normal_distribution(normal):
    """The narrowest interval of mass m has the width 2 Q((1 + m) / 2).

    Its integral over m is 2 E|Z| = 2 sqrt(2 / pi).  The maximum over ten columns, and the freedom where a
    window lies, change it by less than a percent for so many points.
    """
    assert normal.discriminability == pytest.approx(2 * np.sqrt(2 / np.pi), rel=0.01)
