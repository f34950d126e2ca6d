"""`intrinsic_dimension`: every option does what it says, and nothing else changes."""

from __future__ import annotations

import math
import subprocess
import sys
import warnings

import numpy as np
import pytest

import geodim
from distributions import matrix, random_matrix
from engine.oracle import assert_same_bits, solve
from geodim import paper
from geodim.errors import DegenerateDataWarning

KINDS = ["normal", "exponential", "hundred_integers", "sparse_positive"]


@pytest.fixture(scope="module")
def X():
    table = matrix(KINDS, 800)
    table.setflags(write=False)
    return table


def test_the_default_is_exact_and_normalised(X):
    """ID = (d_max / Delta)^2, with Delta by Algorithm 1 of the paper."""
    result = geodim.intrinsic_dimension(X)
    d_max = np.ptp(X, axis=0).max()
    assert result.exact
    assert result.normalized
    assert result.d_max == d_max
    assert result.discriminability == paper.algorithm_1(X, d_max)
    assert result.dimension == paper.intrinsic_dimension(paper.algorithm_1(X, d_max))
    assert (result.n_points, result.n_features) == X.shape


def test_normalize(X):
    """Without it the dimension is 1 / Delta^2 in the data's own units; phi is in those units either way."""
    plain, scaled = geodim.intrinsic_dimension(X, normalize=False), geodim.intrinsic_dimension(X)
    assert not plain.normalized
    assert plain.dimension == paper.intrinsic_dimension(paper.algorithm_1(X))
    assert plain.dimension == pytest.approx(scaled.dimension / scaled.d_max**2, rel=1e-15)
    assert_same_bits(plain.phi_lower, scaled.phi_lower)
    assert plain.d_max == scaled.d_max
    assert plain.scale == 1.0
    assert scaled.scale == scaled.d_max


def test_dividing_once_at_the_end_is_the_paper_normalisation(X):
    d_max = np.ptp(X, axis=0).max()
    assert geodim.intrinsic_dimension(X).dimension == pytest.approx(
        paper.intrinsic_dimension(paper.algorithm_1(X / d_max)), rel=1e-12
    )


def test_rtol(X):
    exact = geodim.intrinsic_dimension(X)
    widths = []
    for rtol in (1e-6, 1e-4, 1e-2, 0.5):
        result = geodim.intrinsic_dimension(X, rtol=rtol)
        assert 0.0 < result.error <= rtol
        assert result.lower < exact.dimension < result.upper
        assert result.parameters["rtol"] == rtol
        assert not result.exact
        widths.append(result.upper - result.lower)
    assert widths == sorted(widths)


@pytest.mark.parametrize("rtol", [1, np.float32(0.25), np.float64(0.1), 0])
def test_rtol_of_other_number_types(X, rtol):
    result = geodim.intrinsic_dimension(X, rtol=rtol)
    assert result.error <= rtol
    assert result.lower <= geodim.intrinsic_dimension(X).dimension <= result.upper
    assert geodim.IDResult.from_json(result.to_json()).parameters["rtol"] == rtol


def test_weights_change_the_result(X):
    weights = np.arange(len(X)) % 3
    weighted = geodim.intrinsic_dimension(X, weights=weights)
    assert weighted.dimension == geodim.intrinsic_dimension(np.repeat(X, weights, axis=0)).dimension
    assert weighted.dimension != geodim.intrinsic_dimension(X).dimension


def test_n_threads_is_recorded_and_changes_no_bit(X):
    one, two = geodim.intrinsic_dimension(X, n_threads=1), geodim.intrinsic_dimension(X, n_threads=2)
    assert one.parameters["n_threads"] == 1
    assert two.parameters["n_threads"] == 2
    assert geodim.intrinsic_dimension(X).parameters["n_threads"] >= 1
    assert_same_bits(one.phi_lower, two.phi_lower)


def test_one_thread_starts_no_helpers(X):
    """Asking for one thread means one: no columns are solved beside it."""
    import threading

    most = []
    geodim.intrinsic_dimension(
        np.hstack([X] * 20), n_threads=1, progress=lambda *_: most.append(threading.active_count())
    )
    assert max(most) <= threading.active_count() + 1


def test_count_indistinguishable():
    """Points 0, 2 and 3 are equal, and so are 1 and 5: five that no feature tells apart from another."""
    rows = [[0, 1.5], [2, 3], [0, 1.5], [0, 1.5], [7, 8], [2, 3]]
    assert geodim.intrinsic_dimension(rows).n_indistinguishable is None
    assert geodim.intrinsic_dimension(rows, count_indistinguishable=True).n_indistinguishable == 5
    assert geodim.intrinsic_dimension(np.eye(4), count_indistinguishable=True).n_indistinguishable == 0
    weighted = geodim.intrinsic_dimension(np.eye(4), weights=[1, 3, 1, 0], count_indistinguishable=True)
    assert weighted.n_indistinguishable == 3


def test_progress_is_called(X):
    seen = []
    geodim.intrinsic_dimension(X, progress=lambda done, total: seen.append((done, total)))
    assert seen[0] == (0, 4)
    assert seen[-1] == (4, 4)


@pytest.mark.parametrize("rtol", [1e-3, 0.2])
def test_progress_with_a_tolerance(rtol):
    seen = []
    table = np.random.default_rng(0).normal(size=(40_000, 6))
    geodim.intrinsic_dimension(table, rtol=rtol, progress=lambda done, total: seen.append((done, total)))
    assert seen[-1] == (6, 6)
    assert all(0 <= done <= total == 6 for done, total in seen)


def test_warning_points_at_the_caller():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        geodim.intrinsic_dimension(np.zeros((3, 1)))
    assert [w.category for w in caught] == [DegenerateDataWarning]
    assert caught[0].filename == __file__


def test_ordinary_data_gives_no_warning(X):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        geodim.intrinsic_dimension(X)
        geodim.intrinsic_dimension(X.astype(np.float16), rtol=0.1, weights=np.ones(len(X), int))


def test_work_and_provenance(X):
    result = geodim.intrinsic_dimension(X)
    assert result.bytes_read >= X.nbytes
    assert result.evaluations > 0
    assert 0.0 < result.seconds < 60.0
    assert result.parameters["normalize"] is True
    assert set(result.versions) >= {"geodim", "python", "numpy", "numba"}
    assert result.versions["numpy"] == np.__version__
    assert result.versions["geodim"] == geodim.__version__


def test_far_less_work_than_all_windows():
    """All windows of one column of 100,000 points are 5 * 10^9."""
    n = 100_000
    rng = np.random.default_rng(0)
    for values in (
        rng.normal(size=n),
        rng.random(n),
        np.arange(n),
        rng.exponential(size=n),
        rng.integers(0, n, n),
    ):
        result = geodim.intrinsic_dimension(np.asarray(values)[:, np.newaxis])
        assert result.evaluations < n * n / 2 / 20


def test_a_feature_that_tells_nothing_costs_little():
    """With one thread: others might begin with such a feature while the leader is still being solved."""
    rng = np.random.default_rng(0)
    leader = rng.normal(size=(20_000, 1)) * 100
    alone = geodim.intrinsic_dimension(leader)
    with_others = geodim.intrinsic_dimension(np.hstack([leader, rng.normal(size=(20_000, 20))]), n_threads=1)
    assert_same_bits(with_others.phi_lower, alone.phi_lower)
    assert with_others.evaluations < 3 * alone.evaluations + 1_000_000
    assert with_others.shares == {"0": 1.0}


@pytest.mark.parametrize("seed", range(6))
def test_values_of_any_size_with_any_option(seed):
    """Nothing overflows into infinity or NaN, however large or small the values are."""
    rng = np.random.default_rng(seed)
    table = random_matrix(rng, 200, 5)
    for factor in (1e-300, 1e-150, 1.0, 1e150, 1e300):
        scaled = np.clip(table, -1.0, 1.0) * factor
        for rtol in (0.0, 1e-3):
            result = solve(scaled, rtol=rtol)
            assert math.isfinite(result.discriminability)
            assert not math.isnan(result.dimension)
            assert result.lower <= result.dimension <= result.upper
            assert np.all(np.isfinite(result.phi))


def test_import_is_quick_and_lazy():
    """`import geodim` brings no Numba, no scikit-learn, no frames (STYLE: no side effects at import)."""
    script = (
        "import sys, geodim; "
        "print([m for m in ('numba', 'sklearn', 'pandas', 'polars', 'scipy', 'matplotlib', "
        "'torch') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_public_names():
    assert set(geodim.__all__) >= {"IDResult", "intrinsic_dimension", "errors", "paper", "__version__"}
    assert set(dir(geodim)) >= {"intrinsic_dimension", "IDResult"}
    with pytest.raises(AttributeError, match="no_such_name"):
        _ = geodim.no_such_name
