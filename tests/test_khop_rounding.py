"""Attributes as hops take them: held exactly or not, at the limits of a type, of known size."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.sparse as sp

import geodim
from geodim.data.checks import scan_ranges
from geodim.data.sources import as_source
from geodim.errors import RangeOverflowError
from geodim.features import make_operator
from geodim.khop import _root_mean_square

EDGES = np.array([[0, 1, 2], [1, 2, 3]])
THIRDS = np.arange(4.0)[:, np.newaxis] / 3.0


@pytest.mark.parametrize(
    ("x", "dtype", "held"),
    [
        (THIRDS, None, True),
        (THIRDS, "float32", False),
        (np.array([[0], [2**62 + 1], [5], [7]]), None, False),  # by any type
        (THIRDS.astype(np.float32), "float64", True),
    ],
    ids=["as they are", "rounded", "long integers", "widened"],
)
def test_hop_0_is_exact_if_the_attributes_are_held(x, dtype, held):
    """By the definition of the attributes that were given."""
    result = geodim.khop_dimensions(x, EDGES, 1, dtype=dtype).results[0]
    assert result.exact is held
    assert (result.feature_error == 0.0) is held
    true = geodim.intrinsic_dimension(x)
    assert result.lower <= true.lower <= true.upper <= result.upper


def test_attributes_as_large_as_their_type():
    most = float(np.finfo(np.float32).max)
    x = np.array([[0.0], [most / 2], [most / 2], [most]])
    result = geodim.khop_dimensions(x, EDGES, 0, dtype="float32")
    assert result.dimensions[0] == geodim.intrinsic_dimension(x).dimension
    with pytest.raises(RangeOverflowError, match="too large for float32"):
        geodim.khop_dimensions(x * 1.01, EDGES, 0, dtype="float32")


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_matrix])
def test_root_mean_squares_of_all_hops(kind):
    """Bounded by those of the attributes where hops contract and nothing is negative; unknown elsewhere."""
    x = np.array([[3.0, 0.0], [0.0, 1.0], [4.0, 0.0], [0.0, 0.0]])

    def bound(x, operator):
        source = as_source(kind(x))
        return _root_mean_square(source, scan_ranges(source), operator)

    contracting = make_operator(geodim.data.graphs.as_graph(EDGES), "sym")
    growing = make_operator(None, sp.csr_matrix(np.full((4, 4), 2.0)))
    true = math.sqrt((3.0**2 + 4.0**2) / 4)
    assert true <= bound(x, contracting) <= 1.001 * true
    assert bound(x, growing) == math.inf
    assert bound(-x, contracting) == math.inf
