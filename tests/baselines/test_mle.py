"""MLE: against loops over all pairs, closed forms, the paper's printed values, and what each option says."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings, strategies as st

from baselines.oracles import naive_mle
from costs import slow
from geodim import baselines, errors
from geodim.baselines import mle
from geodim.data.datasets import load_dataset
from published import published, root_of

PRINTED = {"cora": 30.6049, "citeseer": 58.9593, "pubmed": 24.4623}  # paper.tex, table tab:k_hop_ids, k = 0
HALF_A_DIGIT = 0.5e-4


def cube(n, d, seed=0):
    return np.random.default_rng(seed).uniform(size=(n, d))


@settings(max_examples=40)
@given(
    seed=st.integers(0, 10**6),
    n=st.integers(8, 40),
    d=st.sampled_from([1, 2, 15, 16, 40]),
    l=st.integers(2, 7),
    levels=st.sampled_from([2, 3, 1000]),
    offset=st.sampled_from([0.0, 1e6]),
)
def test_equals_the_definition(seed, n, d, l, levels, offset):
    """Few levels make ties and equal rows; an offset makes the quick search lose its digits."""
    X = np.random.default_rng(seed).integers(0, levels, size=(n, d)) + offset
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", errors.DegenerateDataWarning)
            found = mle(X, l)
    except errors.InputValueError:
        with pytest.raises(ZeroDivisionError):  # the mean of nothing
            naive_mle(X, l)
        return
    value, zeros = naive_mle(X, l)
    assert found.n_zero == zeros
    if math.isinf(value) or value > 1e12:
        assert found.dimension > 1e12
    else:
        assert found.dimension == pytest.approx(value, rel=1e-8)


@pytest.mark.parametrize("d", [1, 2])
def test_dimension_of_a_torus(d):
    """Uniform on a flat torus, embedded by cosines and sines: locally flat, without a boundary.

    For a uniform density the mean of log(r_l / r_j) over j < l is 1 / d exactly, at every point.
    """
    angles = np.random.default_rng(2).uniform(0, 2 * np.pi, size=(3000, d))
    X = np.hstack([np.cos(angles), np.sin(angles)])
    assert mle(X, 10).dimension == pytest.approx(d, rel=0.06)  # several standard deviations of d / sqrt(3000)


def test_four_points_in_closed_form():
    X = np.array([[0.0], [1.0], [3.0], [7.0]])
    logs = [
        math.log(7 / 1) + math.log(7 / 3),
        math.log(6 / 1) + math.log(6 / 2),
        math.log(4 / 2) + math.log(4 / 3),
        math.log(7 / 4) + math.log(7 / 6),
    ]
    assert mle(X, 3).dimension == pytest.approx(8 / math.fsum(logs), rel=1e-14)


def test_scale_and_offset_do_not_matter():
    X = cube(120, 20)
    expected = mle(X).dimension
    for factor in (2.0**-900, 2.0**-300, 2.0**300, 2.0**900):
        assert mle(X * factor).dimension == pytest.approx(expected, rel=1e-9)
    assert mle(np.round(X * 2**20) + 2.0**40).dimension == pytest.approx(
        mle(np.round(X * 2**20)).dimension, rel=1e-9
    )


def test_tiny_differences_are_no_zeros():
    """Squares of 1e-170 vanish in float64; the distances do not."""
    X = np.array([[0.0, 1.0], [1e-170, 1.0], [3e-170, 1.0], [1.0, 0.0], [0.5, 0.0]])
    found = mle(X, 2)
    assert found.n_zero == 0
    assert mle(np.hstack([X, np.zeros((5, 20))]), 2).dimension == pytest.approx(found.dimension, rel=1e-12)


def test_a_tight_cluster_far_from_the_origin_is_compared_directly():
    """30 points within 1e-7 of each other at norm 1e4.

    The search sees one point, so every pair is looked at.
    """
    rng = np.random.default_rng(3)
    spread = rng.normal(size=(60, 20)) * 1e4
    X = np.vstack([spread, spread[0] + rng.integers(1, 1000, size=(30, 20)) * 2.0**-33])
    found = mle(X)
    assert found.parameters["n_direct"] >= 30
    assert found.dimension == pytest.approx(naive_mle(X, 5)[0], rel=1e-8)


class TestInputs:
    def test_all_forms_agree(self):
        pandas = pytest.importorskip("pandas", reason="the extra frames is not installed")
        X = np.where(cube(90, 20) < 0.7, 0.0, cube(90, 20, 1)).astype(np.float32)
        expected = mle(X.astype(np.float64)).dimension
        for same in (
            X,
            np.asfortranarray(X),
            X.tolist(),
            sp.csr_array(X),
            sp.coo_matrix(X),
            pandas.DataFrame(X),
        ):
            assert mle(same).dimension == pytest.approx(expected, rel=1e-12)

    def test_large_sparse_data_stays_sparse(self, monkeypatch):
        X = np.where(cube(90, 40) < 0.7, 0.0, np.round(cube(90, 40, 1), 1))
        X[:5] = X[10]
        expected = mle(X)
        monkeypatch.setattr("geodim.baselines.points.DENSE_VALUES", 100)
        points = baselines.points.as_points(sp.csr_array(X))
        assert points.sparse
        found = mle(sp.csr_array(X))
        assert found.dimension == pytest.approx(expected.dimension, rel=1e-12)
        assert found.n_zero == expected.n_zero > 0

    def test_the_data_is_not_changed(self):
        X = sp.csr_array(cube(30, 20) * 1e200)
        before = X.copy()
        mle(X)
        assert (before != X).nnz == 0


class TestOptions:
    def test_neighbours(self):
        X = cube(60, 3)
        for l in (2, 5, 59):
            assert mle(X, l).dimension == pytest.approx(naive_mle(X, l)[0], rel=1e-9)

    def test_samples_are_seeded_and_see_all_points(self):
        X = cube(80, 18)
        found = mle(X, n_samples=20, seed=4)
        rows = sorted(np.random.default_rng(4).choice(80, 20, replace=False).tolist())
        assert found.dimension == pytest.approx(naive_mle(X, 5, rows)[0], rel=1e-9)
        assert (found.n_used, found.seed, found.n_points) == (20, 4, 80)
        assert mle(X, n_samples=20, seed=5).dimension != found.dimension
        assert mle(X, n_samples=None).seed is None
        assert mle(X, n_samples=80, seed=7).dimension == mle(X).dimension

    def test_default_sample_is_the_papers(self):
        assert baselines.PAPER_SAMPLE == 169_343

    def test_resolution(self):
        X = np.vstack([cube(40, 20), cube(40, 20)[:6] + 1e-9])
        assert mle(X).n_zero == 0
        found = mle(X, resolution=1e-6)
        assert found.n_zero == 12
        assert found.dimension == pytest.approx(mle(np.vstack([X[:40], X[:6]])).dimension, rel=1e-6)

    def test_threads_do_not_matter(self):
        X = cube(300, 30)
        assert mle(X, n_threads=1).dimension == mle(X, n_threads=2).dimension

    def test_the_papers_variant_has_noise_where_rows_are_equal(self):
        rng = np.random.default_rng(0)
        X = np.vstack([rng.uniform(size=(400, 64))] * 2).astype(np.float32)
        exact, noisy = mle(X), mle(X, variant="paper")
        assert exact.n_zero == 800
        assert noisy.n_zero < 800
        assert noisy.dimension < 0.9 * exact.dimension
        cut = mle(X, variant="paper", resolution=1e-6)
        assert cut.n_zero == 800
        assert cut.dimension == pytest.approx(exact.dimension, rel=1e-5)

    def test_the_variants_agree_without_equal_rows(self):
        X = cube(200, 30)
        assert mle(X, variant="paper").dimension == pytest.approx(mle(X).dimension, rel=1e-9)


class TestDegenerate:
    def test_equal_rows_are_counted(self):
        X = cube(50, 4)
        found = mle(np.vstack([X, X[:3], X[:3]]))
        assert found.n_zero == 3 * 3 * 2

    def test_all_rows_equal(self):
        with pytest.raises(errors.InputValueError, match="all 36 distances between neighbours are 0"):
            mle(np.ones((9, 3)))

    def test_all_equally_far(self):
        with pytest.warns(errors.DegenerateDataWarning, match="equally far"):
            found = mle(np.eye(30))
        assert found.dimension == math.inf
        assert found.to_dict()["dimension"] == "inf"

    def test_a_constant_column_changes_nothing(self):
        X = cube(50, 3)
        assert mle(np.hstack([X, np.full((50, 1), 7.0)])).dimension == pytest.approx(
            mle(X).dimension, rel=1e-12
        )


class TestBadInput:
    @pytest.mark.parametrize(
        ("options", "kind", "text"),
        [
            ({"n_neighbors": 1}, errors.InputValueError, "n_neighbors must be at least 2"),
            ({"n_neighbors": 2.5}, errors.InputTypeError, "n_neighbors must be a whole number"),
            ({"n_neighbors": True}, errors.InputTypeError, "n_neighbors must be a whole number"),
            ({"n_neighbors": 12}, errors.InputValueError, "need at least 13 points, got 12"),
            ({"variant": "best"}, errors.InputValueError, "variant must be one of exact, paper"),
            ({"resolution": -1.0}, errors.InputValueError, "resolution must be at least 0 and finite"),
            ({"resolution": math.nan}, errors.InputValueError, "resolution must be at least 0 and finite"),
            ({"resolution": "fine"}, errors.InputTypeError, "resolution must be a number"),
            ({"n_samples": 0}, errors.InputValueError, "n_samples must be at least 1"),
            ({"seed": -1}, errors.InputValueError, "seed must be at least 0"),
            ({"n_threads": 0}, errors.InputValueError, "n_threads must be at least 1"),
        ],
    )
    def test_options(self, options, kind, text):
        with pytest.raises(kind, match=text):
            mle(cube(12, 3), **options)

    @pytest.mark.parametrize("wrong", [math.nan, math.inf])
    @pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
    def test_values(self, wrong, form):
        X = cube(12, 3)
        X[4, 2] = wrong
        with pytest.raises(errors.NonFiniteError, match="row 4, column 2"):
            mle(form(X))

    def test_shapes_and_types(self):
        with pytest.raises(errors.ShapeError):
            mle(np.ones(5))
        with pytest.raises(errors.InputTypeError):
            mle(np.ones((9, 2), complex))
        with pytest.raises(errors.InputValueError, match="ask for fewer"):
            mle(np.ones((1, 2)))


@pytest.mark.parametrize("name", ["cora", slow("citeseer"), published("pubmed")])
def test_printed_values(name):
    x = load_dataset(name, root=root_of(name), offline=True).x
    assert mle(x).dimension == pytest.approx(PRINTED[name], abs=HALF_A_DIGIT, rel=0)
    assert baselines.PRINTED_MLE[name][0] == PRINTED[name]


def test_result_says_what_was_done():
    found = mle(np.vstack([cube(50, 4)] * 2))
    assert repr(found).startswith("BaselineResult('mle', dimension=")
    assert "n_zero=100" in repr(found)
    values = found.to_dict()
    assert values["format"] == "geodim.BaselineResult/1"
    assert (values["n_points"], values["n_features"], values["n_used"]) == (100, 4, 100)
    assert values["versions"]["scikit-learn"]
    assert found.seconds > 0.0
