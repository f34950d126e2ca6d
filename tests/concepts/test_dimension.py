"""`binary_dimension` against the definition, closed forms, and what stopping and supports leave open."""

from __future__ import annotations

import json
import warnings
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import geodim
from concepts import oracles
from geodim.concepts.dimension import least_support
from geodim.errors import (
    CertificateError,
    DegenerateDataWarning,
    InputTypeError,
    InputValueError,
    InterruptedWarning,
)


def measured(X, **options) -> geodim.IDResult:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DegenerateDataWarning)
        return geodim.binary_dimension(X, **options)


def exact_phi(result: geodim.IDResult) -> list[int]:
    objects = result.parameters["n_objects"]
    return np.rint(result.phi_lower * objects).astype(int).tolist()


class TestDefinition:
    @pytest.mark.turns(2)
    @pytest.mark.parametrize("seed", range(4))
    def test_phi_and_delta_are_those_of_all_concepts(self, seed):
        for X in oracles.contexts(60, seed):
            result = measured(X)
            assert result.exact
            assert exact_phi(result) == oracles.phi_counts(X).tolist()
            assert result.discriminability == float(oracles.delta(X))

    def test_the_paper_says_the_same_of_the_features_as_a_matrix(self):
        for X in oracles.contexts(40, 9, most=9):
            result = measured(X)
            features = oracles.features(X)
            assert result.discriminability == pytest.approx(
                geodim.paper.discriminability_by_definition(features), rel=1e-14
            )
            engine = geodim.intrinsic_dimension if np.ptp(features, axis=0).any() else None
            if engine:
                assert result.dimension == pytest.approx(
                    engine(features, normalize=False).dimension, rel=1e-13
                )
                assert measured(X, normalize=True).dimension == pytest.approx(
                    engine(features, normalize=True).dimension, rel=1e-13
                )

    @settings(max_examples=60, deadline=None)
    @given(st.lists(st.lists(st.booleans(), min_size=5, max_size=5), min_size=1, max_size=9))
    def test_hypothesis_finds_no_other(self, rows):
        assert measured(np.array(rows)).discriminability == float(oracles.delta(rows))

    def test_order_and_names_do_not_matter(self):
        rng = np.random.default_rng(2)
        X = rng.random((80, 12)) < 0.4
        moved = X[rng.permutation(80)][:, rng.permutation(12)]
        assert measured(moved).dimension == measured(X).dimension
        assert measured(np.repeat(X, 3, axis=0)).dimension == measured(X).dimension  # shares of objects


class TestClosedForms:
    @pytest.mark.parametrize("n", [2, 3, 10, 100])
    def test_nominal(self, n):
        assert measured(np.eye(n, dtype=bool)).dimension == pytest.approx(n**4, rel=1e-13)

    @pytest.mark.parametrize("n", [2, 3, 7, 12, 101, 2000])
    def test_contranominal(self, n):
        """The sets of b attributes have n - b objects: Phi(k) = (k - 1)/n for k > (n + 1)/2."""
        exact = Fraction(sum(range((n + 1) // 2, n)), n * n)
        result = measured(~np.eye(n, dtype=bool))
        assert result.exact
        assert result.discriminability == float(exact)
        if n == 2000:
            assert round(result.dimension, 4) == 7.1159

    def test_contranominal_with_objects_of_different_weight(self):
        """Also where the line that bounds all concepts has another slope, and where there are several."""
        n = 60
        assert measured(np.repeat(~np.eye(n, dtype=bool), 3, axis=0)).discriminability == float(
            Fraction(sum(range(n // 2, n)), n * n)
        )
        weights = np.repeat([1, 5], n // 2)
        X = np.repeat(~np.eye(n, dtype=bool), weights, axis=0)
        # The best set of t attributes misses the t lightest objects: 30 light ones, t is 30 at most.
        exact = Fraction(sum(int(weights.sum()) - t for t in range(1, n // 2 + 1)), n * int(weights.sum()))
        assert measured(X).discriminability == float(exact)

    def test_ordinal(self):
        """Object i has the attributes 0, ..., i: the intents are the first b, with n - b + 1 objects."""
        n = 40
        exact = Fraction(sum(n - t + 1 for t in range(1, n // 2 + 1)), n * n)
        assert measured(np.tri(n, dtype=bool)).discriminability == float(exact)

    def test_never_below_four(self):
        """With half of the attributes in every object, and the others in none, and every even m."""
        for m in (2, 6, 50):
            assert measured([[True] * (m // 2) + [False] * (m // 2)] * 3).dimension == 4.0

    @pytest.mark.parametrize("X", [[[1]], [[0, 0]], [[1, 1], [0, 0]], [[1, 1, 1]] * 4])
    def test_nothing_tells_attributes_apart(self, X):
        with pytest.warns(DegenerateDataWarning, match="no concept"):
            result = geodim.binary_dimension(X)
        assert result.dimension == np.inf
        assert result.exact
        assert result.shares == {}


class TestMinimumSupport:
    @pytest.mark.parametrize("seed", range(2))
    def test_bounds_hold_the_value_and_are_as_close_as_stated(self, seed):
        rng = np.random.default_rng(seed)
        for X in oracles.contexts(60, 20 + seed):
            least = int(rng.integers(1, len(X) + 2))
            result = measured(X, min_support=least)
            truth, above = oracles.phi_counts(X), oracles.phi_counts(X, least)
            low, high = exact_phi(result), np.rint(result.phi_upper * len(X)).astype(int)
            assert np.all(above <= low)
            assert np.all(low <= truth)
            assert np.all(truth <= high)
            assert np.all(high <= np.maximum(above, least - 1))
            delta = float(oracles.delta(X))
            assert result.discriminability_lower <= delta <= result.discriminability_upper
            assert result.stopped is None
            assert result.exact == (low == high.tolist())

    def test_never_more_than_attributes_and_objects_allow(self):
        """Two objects have two attributes: beyond, nothing is possible, whatever was left out."""
        X = np.zeros((10, 8), bool)
        X[:, 0] = X[:2, 1] = True
        result = measured(X, min_support=9)
        assert np.all(result.phi_upper[:-2] == 0.0)
        assert result.exact  # the second is found on the way

    def test_a_share_or_a_number(self):
        X = np.random.default_rng(0).random((40, 10)) < 0.5
        assert measured(X, min_support=0.25).parameters["min_support"] == 10
        assert measured(X, min_support=10).parameters["min_support"] == 10
        assert measured(X, min_support=1).parameters["min_support"] == 1
        assert measured(X, min_support=1.0).parameters["min_support"] == 40

    def test_shares_are_rounded_as_supports_are(self):
        for objects in (3, 7, 10, 49, 1000):
            for count in range(1, objects + 1):
                assert least_support(count / objects, objects) == count

    @pytest.mark.parametrize("wrong", [-0.1, 1.5, -1, float("nan"), float("inf")])
    def test_wrong_numbers(self, wrong):
        with pytest.raises(InputValueError, match="min_support"):
            geodim.binary_dimension(np.eye(3), min_support=wrong)

    @pytest.mark.parametrize("wrong", ["0.1", None, True, [1]])
    def test_wrong_types(self, wrong):
        with pytest.raises(InputTypeError, match="min_support"):
            geodim.binary_dimension(np.eye(3), min_support=wrong)


class TestStopped:
    @pytest.mark.parametrize("sparse", [0.0, 2.0])
    def test_bounds_hold_at_any_time(self, monkeypatch, sparse):
        """The clock runs out at one question after the other; in between so little is done as can be."""
        from geodim.concepts import mining
        from geodim.engine.driver import Driver

        monkeypatch.setattr(mining, "BUDGET", 1)
        monkeypatch.setattr(mining, "SPARSE", sparse)
        X = np.random.default_rng(3).random((70, 14)) < 0.5
        truth = float(oracles.delta(X))
        widths = []
        for questions in (0, 1, 2, 5, 30, 200, 10**9):
            asked = []

            def late(self, asked=asked, questions=questions):
                asked.append(1)
                if len(asked) > questions:
                    self.halt("time limit")
                return self.stopped is not None

            monkeypatch.setattr(Driver, "late", late)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", InterruptedWarning)
                result = geodim.binary_dimension(X)
            assert result.discriminability_lower <= truth <= result.discriminability_upper
            assert np.all(result.phi_lower * 70 <= oracles.phi_counts(X) + 1e-9)
            assert np.all(result.phi_upper * 70 >= oracles.phi_counts(X) - 1e-9)
            widths.append(result.discriminability_upper - result.discriminability_lower)
            assert (result.stopped is None) == result.exact
        assert widths == sorted(widths, reverse=True)
        assert widths[-1] == 0.0 < widths[-2]

    def test_a_time_limit(self):
        X = np.random.default_rng(0).random((400, 60)) < 0.8
        with pytest.warns(InterruptedWarning, match="stopped early"):
            result = geodim.binary_dimension(X, time_limit=0.0)
        assert result.stopped == "time limit"
        assert 4.0 <= result.lower < result.upper < np.inf
        assert geodim.IDResult.from_json(result.to_json()).upper == result.upper

    def test_progress(self):
        seen = []
        measured(np.random.default_rng(0).random((50, 21)) < 0.4, progress=lambda *now: seen.append(now))
        assert seen == [(t, 10) for t in range(1, 11)]


class TestResult:
    X = np.array([[1, 1, 0, 0], [1, 1, 0, 0], [1, 0, 1, 0], [1, 0, 0, 0], [0, 0, 0, 1]])
    NAMES = ("flies", "sings", "swims", "barks")

    def test_shares_name_concepts_by_their_attributes(self):
        result = measured(self.X, attribute_names=self.NAMES)
        assert result.shares == {
            "{flies} in 4": pytest.approx(4 / 6),
            "{flies, sings} in 2": pytest.approx(2 / 6),
        }
        assert (result.n_points, result.n_features, result.d_max) == (4, 2, 0.8)
        assert result.attained_from.tolist() == [2, 3, 4]
        assert result.attained_by.tolist() == [-1, 1, 0]

    def test_the_concepts_named_suffice(self):
        for X in oracles.contexts(40, 31):
            result = measured(X)
            assert sum(result.shares.values()) == pytest.approx(1.0 if result.shares else 0.0)
            assert len(result.shares) == len(set(exact_phi(result)) - {0})  # one for every support

    def test_long_intents_are_cut(self):
        X = np.zeros((3, 40), bool)
        X[:, :15] = True
        (name,) = measured(X).shares
        assert name == "{0, 1, 2, 3, 4, 5, 6, 7 and 7 more} in 3"

    def test_names_that_read_the_same(self):
        X = np.array([[1, 1, 0, 0, 0]] * 2 + [[1, 1, 1, 0, 0]] * 0 + [[1, 0, 0, 0, 0]])
        result = measured(X, attribute_names=["a", "b", "a, b", "x", "y"])
        assert list(result.shares) == ["{a} in 3", "{a, b} in 2"]

    def test_json(self, tmp_path):
        result = measured(self.X, attribute_names=self.NAMES)
        result.to_json(tmp_path / "a.json")
        again = geodim.IDResult.from_json(tmp_path / "a.json")
        assert again.to_dict() == result.to_dict()
        assert again.phi_exact
        assert json.loads(result.to_json())["parameters"]["features"] == "concepts"

    def test_no_certificate(self):
        with pytest.raises(CertificateError, match="not the concepts"):
            measured(self.X).certificate(self.X)
