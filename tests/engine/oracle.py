"""The engine against the oracle: the same bits, whatever the input looks like."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

import geodim
from geodim.engine.kernels.tiles import PADDING
from geodim.errors import DegenerateDataWarning

if TYPE_CHECKING:
    from numpy.typing import NDArray


OPTIONS: dict[str, Any] = {}  # of every call; tests of other backends name theirs here


def solve(X: Any, **options: Any) -> geodim.IDResult:
    """The public function, without its warning that constant data discriminates nothing."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DegenerateDataWarning)
        return geodim.intrinsic_dimension(X, **OPTIONS, **options)


def engine_phi(X: Any, **options: Any) -> NDArray[np.float64]:
    """(phi_2, ..., phi_n) as the engine finds it, exactly."""
    result = solve(X, normalize=False, **options)
    assert result.exact
    assert result.stopped is None
    np.testing.assert_array_equal(result.phi_upper, result.phi_lower)
    np.testing.assert_array_equal(result.support, np.arange(2, result.n_points + 1))
    return result.phi_lower


def everywhere(
    n: int, support: NDArray[np.int64], lower: NDArray[np.float64], upper: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Bounds at every k from 2 to n, given those at some k: Phi never falls, and is at least 0."""
    assert np.all(np.diff(support) > 0)
    assert support.size == 0 or (support[0] >= 2 and support[-1] == n)
    k = np.arange(2, n + 1)
    below = np.searchsorted(support, k, side="right") - 1
    above = np.searchsorted(support, k, side="left")
    return np.where(below >= 0, lower[below], 0.0), upper[above]


def bounds_of(result: geodim.IDResult) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The result's bounds on phi at every k."""
    return everywhere(result.n_points, result.support, result.phi_lower, result.phi_upper)


def assert_encloses(result: geodim.IDResult, exact: geodim.IDResult) -> None:
    """Bounds of phi, Delta and the dimension around the exact ones, and the estimates inside."""
    assert exact.phi_exact
    lower, upper = bounds_of(result)
    assert np.all(lower <= exact.phi_lower)
    assert np.all(exact.phi_lower <= upper)
    assert np.all(np.isfinite(result.phi_upper))
    assert np.all(result.phi_lower <= result.phi)
    assert np.all(result.phi <= result.phi_upper)
    assert np.all(np.diff(result.phi_lower) >= 0.0)
    assert np.all(np.diff(result.phi_upper) >= 0.0)
    assert result.discriminability_lower <= exact.discriminability <= result.discriminability_upper
    assert result.discriminability_lower <= result.discriminability <= result.discriminability_upper
    assert result.lower <= exact.dimension <= result.upper
    assert result.lower <= result.dimension <= result.upper
    assert result.d_max == exact.d_max


def assert_same_bits(computed: NDArray[np.float64], reference: NDArray[np.float64], what: str = "") -> None:
    """Equal bit for bit, and so no -0.0 on one side only; the oracle never has any."""
    assert computed.dtype == reference.dtype == np.float64
    assert computed.shape == reference.shape, what
    differ = np.flatnonzero(computed.view(np.uint64) != reference.view(np.uint64))
    assert differ.size == 0, (
        f"{what}: {differ.size} of {computed.size} values of phi differ, the first at k = {differ[0] + 2}: "
        f"{computed[differ[0]]!r} instead of {reference[differ[0]]!r}"
    )


def assert_phi_is_exact(X: Any, reference: NDArray[np.float64], what: str = "", **options: Any) -> None:
    """The engine's phi on ``X`` equals ``reference`` bit for bit."""
    assert_same_bits(engine_phi(X, **options), reference, what)


KINDS = (
    "normal",
    "exponential",
    "two_clusters",
    "rounded",
    "half_zero",
    "duplicates",
    "integers_below_n",
    "linspace",
)


def padded(values):
    return np.concatenate([np.sort(values.astype(np.float64)), np.full(PADDING, np.inf)])


def phi(l, n):
    """By definition, with phi[d] for windows of d + 1 points."""
    return np.array([0.0, *((l[d:n] - l[: n - d]).min() for d in range(1, n))])
