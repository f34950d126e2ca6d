"""The correlation dimension of binary data against its definition, taken literally, and closed forms."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.stats import binom

import geodim
from concepts import oracles
from geodim.concepts import as_context, hamming, slopes
from geodim.errors import DataFileError, DegenerateDataWarning, InputTypeError, InputValueError

RNG = np.random.default_rng(5)


def distances_by_definition(X) -> list[int]:
    """Of every ordered pair of objects, one after the other."""
    return [int(sum(a != b for a, b in zip(x, y, strict=True))) for x in X for y in X]


def slope_by_definition(distances) -> float:
    """f(r) = P(Z < r) for whole r, linear in between, and a line through 50 points of its logarithm."""

    def f(r):
        below, part = math.floor(r), r - math.floor(r)
        low, high = (sum(d < whole for d in distances) / len(distances) for whole in (below, below + 1))
        return low + part * (high - low)

    def where(share):
        low, high = 0.0, max(distances) + 1.0
        for _ in range(200):
            middle = 0.5 * (low + high)
            low, high = (middle, high) if f(middle) < share else (low, middle)
        return high

    radii = np.linspace(where(0.25), where(0.75), 50)
    return float(np.polyfit(np.log(radii), [math.log(f(r)) for r in radii], 1)[0])


class TestPairs:
    @pytest.mark.parametrize("seed", range(3))
    def test_all_pairs_of_small_contexts(self, seed):
        for X in oracles.contexts(15, 60 + seed):
            some = X[:40]
            found = hamming.all_pairs(as_context(some))
            assert found.tolist() == np.bincount(
                distances_by_definition(some), minlength=some.shape[1] + 1
            ).tolist()  # fmt: skip

    @pytest.mark.parametrize("density", [0.02, 0.6])
    def test_both_ways_of_counting_in_blocks(self, density, monkeypatch):
        X = RNG.random((70, 33)) < density
        context = as_context(X)
        expected = np.bincount((X[:, np.newaxis] != X).sum(axis=2).ravel(), minlength=34)
        monkeypatch.setattr(hamming, "BLOCK_ENTRIES", 700)  # ten objects at a time
        for speed in (0, 10**9):
            monkeypatch.setattr(hamming, "DENSE_SPEED", speed)
            assert hamming.all_pairs(context).tolist() == expected.tolist()

    def test_attributes_that_nobody_has_cost_nothing(self):
        """A vocabulary of a quarter of a million words, of which each text has a few."""
        few = csr_array(RNG.random((40, 30)) < 0.1)
        many = csr_array((few.data, few.indices * 8192, few.indptr), shape=(40, 30 * 8192))
        expected = hamming.all_pairs(as_context(few))
        found = hamming.all_pairs(as_context(many))
        assert found[: expected.size].tolist() == expected.tolist()
        assert not found[expected.size :].any()

    def test_a_sample_is_within_its_error(self):
        context = as_context(RNG.random((200, 30)) < 0.3)
        exact = np.cumsum(hamming.all_pairs(context)) / 200**2
        parts = hamming.drawn_pairs(context, 50_001, 4, seed=1)
        assert parts.sum(axis=1).tolist() == [12_501, 12_500, 12_500, 12_500]
        drawn = np.cumsum(parts.sum(axis=0)) / 50_001
        assert np.abs(drawn - exact).max() <= hamming.probability_error(50_001)


class TestDefinition:
    @pytest.mark.parametrize("seed", range(2))
    def test_slope_of_small_contexts(self, seed):
        for X in oracles.contexts(12, 80 + seed):
            some = X[:30]
            if len(np.unique(some, axis=0)) == 1:
                continue
            distances = distances_by_definition(some)
            if np.mean(np.array(distances) == 0) >= 0.75:
                continue
            found = geodim.binary_correlation_dimension(some)
            assert found.exact
            assert found.dimension == pytest.approx(slope_by_definition(distances), rel=1e-9)

    def test_independent_columns_are_a_sum_of_trials(self):
        """All 2^6 outcomes of six columns, one after the other."""
        q = np.array([0.5, 0.1, 0.0, 0.32, 0.48, 0.02])
        law = np.zeros(7)
        for outcome in range(64):
            bits = np.array([outcome >> at & 1 for at in range(6)])
            law[bits.sum()] += np.prod(np.where(bits, q, 1 - q))
        found = slopes.of_columns(q)
        expected = np.concatenate([[0.0], np.cumsum(law)])[: found.size]
        assert found == pytest.approx(expected, abs=1e-15)
        assert found[-1] >= 0.75
        whole = slopes.of_columns(q, 99)
        assert whole == pytest.approx(np.concatenate([[0.0], np.cumsum(law)])[: whole.size], abs=1e-15)
        assert whole[-1] == pytest.approx(1.0)

    @pytest.mark.parametrize(("columns", "q"), [(1, 0.5), (7, 0.3), (400, 0.5), (5000, 0.01), (10**9, 1e-3)])
    def test_equal_columns_are_binomial(self, columns, q):
        start = max(int(binom.ppf(0.25, columns, q)) - 3, 0)
        radii = np.arange(start, int(binom.ppf(0.75, columns, q)) + 4)
        expected = slopes.slope(binom.cdf(radii - 1, columns, q), start)[0]
        assert slopes.slope_of_equal_columns(columns, q) == pytest.approx(expected, rel=1e-7)

    @pytest.mark.parametrize("q", [0.5, 0.3, 0.1, 0.01, 0.0007])
    def test_columns_that_are_alike_are_found_again(self, q):
        for columns in (round(1.2 / q), round(5 / q), round(70 / q)):
            wanted = slopes.slope_of_equal_columns(columns, q)
            again = slopes.equal_columns(q, wanted)
            assert slopes.slope_of_equal_columns(round(again), q) == pytest.approx(wanted, rel=1e-9)
            assert slopes.equal_mismatch(columns, wanted) == pytest.approx(q, rel=1e-6)


class TestClosedForms:
    def test_one_column_of_fair_coins(self):
        """f is the line r/2: the slope is 1, and the column is one column."""
        found = geodim.binary_correlation_dimension([[0], [1]] * 10)
        assert found.dimension == pytest.approx(1.0, rel=1e-12)
        assert found.normalized_dimension == 1.0
        assert found.radii == [0.5, 1.5]

    def test_independent_fair_coins(self):
        """All 2^m rows: Z is binomial, exactly, and the normalised dimension is m."""
        for m in (2, 5, 8):
            X = np.array([[row >> at & 1 for at in range(m)] for row in range(2**m)])
            found = geodim.binary_correlation_dimension(X)
            assert found.dimension == pytest.approx(slopes.slope_of_equal_columns(m, 0.5), rel=1e-12)
            assert found.independent == pytest.approx(found.dimension, rel=1e-12)
            assert found.mismatch == 0.5
            expected = slopes.slope_of_equal_columns(round(found.normalized_dimension), 0.5)
            assert expected == pytest.approx(found.dimension, rel=1e-9)
            if m > 2:  # two and three coins have the same slope
                assert found.normalized_dimension == pytest.approx(m, abs=1e-6)

    @pytest.mark.parametrize("n", [5, 50])
    def test_nominal_and_contranominal(self, n):
        """Two different objects differ in two attributes: f(1) = f(2) = 1/n, f(3) = 1."""
        found = geodim.binary_correlation_dimension(np.eye(n, dtype=bool))
        first, last = (2 + (share - 1 / n) / (1 - 1 / n) for share in (0.25, 0.75))
        assert found.radii == pytest.approx([first, last], rel=1e-12)
        expected = slopes.slope(np.array([0.0, 1 / n, 1 / n, 1.0]))[0]
        assert found.dimension == pytest.approx(expected, rel=1e-12)
        assert geodim.binary_correlation_dimension(~np.eye(n, dtype=bool)).dimension == found.dimension
        assert found.normalized_dimension > n  # distances are more alike than those of independent columns

    def test_columns_without_information_do_not_matter_to_the_slope(self):
        X = RNG.random((60, 12)) < 0.4
        more = np.hstack([X, np.zeros((60, 5), bool), np.ones((60, 3), bool)])
        one, other = map(geodim.binary_correlation_dimension, (X, more))
        assert other.dimension == one.dimension
        assert other.independent == pytest.approx(one.independent, rel=1e-12)

    def test_the_law_of_the_root(self):
        """cd of many fair coins is 0.810 times the root of their number."""
        for columns in (10**4, 10**6):
            assert slopes.slope_of_equal_columns(columns, 0.5) / columns**0.5 == pytest.approx(0.81, abs=2e-3)

    def test_independent_columns_count_once_and_dependent_ones_less(self):
        X = RNG.random((1500, 40)) < RNG.uniform(0.1, 0.6, 40)
        found = geodim.binary_correlation_dimension(X)
        assert found.normalized_dimension == pytest.approx(40, rel=0.05)
        assert found.approximate == pytest.approx(40, rel=0.05)
        both = geodim.binary_correlation_dimension(np.hstack([X, X]))
        assert both.normalized_dimension == pytest.approx(40, rel=0.1)


class TestArguments:
    X = RNG.random((300, 20)) < 0.3

    def test_all_or_some_pairs(self):
        whole = geodim.binary_correlation_dimension(self.X)
        some = geodim.binary_correlation_dimension(self.X, pairs=40_000, seed=2)
        assert (whole.exact, some.exact) == (True, False)
        assert (whole.n_pairs, some.n_pairs) == (300**2, 40_000)
        assert (whole.standard_error, whole.probability_error) == (0.0, 0.0)
        assert 0.0 < some.standard_error < 0.1
        assert abs(some.dimension - whole.dimension) < 5 * some.standard_error
        assert "random pairs" in some.text
        assert repr(some).endswith("40,000 random pairs)")
        assert geodim.binary_correlation_dimension(csr_array(self.X)).dimension == whole.dimension

    def test_many_objects_are_sampled(self, monkeypatch):
        from geodim.concepts import correlation

        monkeypatch.setattr(correlation, "MOST_OBJECTS", 299)
        monkeypatch.setattr(correlation, "DRAWN", 3_000)
        assert geodim.binary_correlation_dimension(self.X).n_pairs == 3_000
        assert geodim.binary_correlation_dimension(self.X, pairs="all").exact

    @pytest.mark.parametrize("X", [[[1, 0, 1]] * 4, [[0]], [[1, 1]]])
    def test_all_objects_alike(self, X):
        with pytest.raises(InputValueError, match="same attributes"):
            geodim.binary_correlation_dimension(X)

    def test_most_objects_alike(self):
        X = np.zeros((20, 4), bool)
        X[0, 1] = True
        with pytest.warns(DegenerateDataWarning, match="90% of all pairs"):
            assert geodim.binary_correlation_dimension(X).dimension == pytest.approx(1.0, rel=1e-12)

    @pytest.mark.parametrize(
        ("options", "error"),
        [({"pairs": "some"}, InputValueError), ({"pairs": 10}, InputValueError),
         ({"pairs": 1e6}, InputTypeError), ({"seed": -1}, InputValueError)],
    )  # fmt: skip
    def test_wrong_arguments(self, options, error):
        with pytest.raises(error):
            geodim.binary_correlation_dimension(self.X, **options)

    def test_lists_that_do_not_fit(self):
        values = geodim.binary_correlation_dimension(self.X).to_dict()
        for name in ("distances", "radii"):
            with pytest.raises(DataFileError, match="different lengths"):
                geodim.BinaryCorrelation.from_dict({**values, name: values[name][1:]})
