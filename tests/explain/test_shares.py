"""Shares, the core and the plain ranking: the definitions, on synthetic data and on the real graphs."""

from __future__ import annotations

import json
import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given, settings, strategies as st
from hypothesis.extra import numpy as hnp

import geodim
from costs import slow
from distributions import COLUMNS, column, random_matrix
from explain.brute import delta, measure, profiles
from geodim.data.datasets import load_dataset
from geodim.errors import DegenerateDataWarning, ShapeError
from geodim.explain.hop_source import HopSource
from geodim.features import hop_features, make_operator
from geodim.lookup import inverse_square
from golden import pubmed_core
from published import published, root_of

GRAPHS = ("cora", slow("citeseer"), published("pubmed"))
PRINTED = {"cora": 3.6689, "citeseer": 10.2347, "pubmed": 2077.5821}  # paper.tex, tab:k_hop_ids, two hops

# Random columns of all kinds have ranges far apart.


def explain(X: Any, **options: Any) -> geodim.Explanation:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DegenerateDataWarning)
        return geodim.explain_dimension(X, **options)


def assert_core(X: Any, explanation: geodim.Explanation, **options: Any) -> None:
    """The core has the same dimension to the bit, and without any one of its features another."""
    core = explanation.core_columns
    whole = measure(X, **options).dimension
    assert explanation.result.dimension == whole
    assert core == sorted(set(core))
    if not core:  # no feature tells anything apart
        assert whole == np.inf
        return
    assert measure(X[:, core], **options).dimension == whole
    for one in core:
        rest = [other for other in core if other != one]
        assert not rest or measure(X[:, rest], **options).dimension != whole, f"{one} could be dropped"


@pytest.mark.parametrize("unit", [2.0**-700, 2.0**700])
def test_core_where_the_dimension_is_beyond_floats(unit: float) -> None:
    """1 / Delta^2 is infinite or 0 whatever the features.

    The core is still that of the same data in other units.
    """
    x = np.arange(10.0)
    X = np.stack([x / 2, x, x**2 / 5, x**2 / 5], axis=1)
    explanation, usual = explain(X * unit, normalize=False), explain(X, normalize=False)
    assert explanation.result.dimension in (0.0, np.inf)
    assert explanation.core == usual.core == ["1", "2"]
    assert explanation.core_shares == pytest.approx(usual.core_shares, rel=1e-12)


class TestShares:
    def test_definition(self) -> None:
        X = random_matrix(np.random.default_rng(3), 60, 7)
        phi = profiles(X)
        owner = phi.argmax(axis=1)  # the first of equals
        largest = phi.max(axis=1)
        expected = {f: largest[owner == f].sum() / largest.sum() for f in set(owner.tolist())}
        shares = explain(X).shares
        assert set(shares) == {str(f) for f, share in expected.items() if share > 0}
        for name, share in shares.items():
            assert share == pytest.approx(expected[int(name)], rel=1e-12)

    @settings(max_examples=40)
    @given(
        hnp.arrays(np.int8, st.tuples(st.integers(2, 25), st.integers(1, 6)), elements=st.integers(0, 6)),
        st.booleans(),
    )
    def test_sum_to_one(self, X: np.ndarray, normalize: bool) -> None:
        explanation = explain(X, normalize=normalize)
        if explanation.result.discriminability > 0:
            assert sum(explanation.shares.values()) == pytest.approx(1.0, abs=1e-12)
            assert sum(explanation.core_shares.values()) == pytest.approx(1.0, abs=1e-12)
            assert sum(explanation.hop_shares.values()) == pytest.approx(1.0, abs=1e-12)
        assert_core(X, explanation, normalize=normalize)

    def test_names(self) -> None:
        X = np.random.default_rng(0).normal(size=(50, 3)) * [3.0, 1.0, 0.1]
        frame = pd.DataFrame(X, columns=["wide", "middle", "narrow"])
        explanation = geodim.explain_dimension(frame)
        assert explanation.core[0] == "wide"
        assert set(explanation.shares) <= {"wide", "middle", "narrow"}
        twice = geodim.explain_dimension(X, feature_names=["a", "a", "b"])
        assert twice.core[0] == "a (column 0)"
        with pytest.raises(ShapeError, match="2 feature names"):
            geodim.explain_dimension(X, feature_names=["a", "b"])

    def test_json(self) -> None:
        explanation = geodim.explain_dimension(np.eye(5))
        values = json.loads(explanation.to_json())
        assert values["core"] == explanation.core
        assert values["dimension"] == 25.0
        assert "core of 1" in repr(explanation)


class TestCore:
    @pytest.mark.turns(4)
    @pytest.mark.parametrize("seed", range(25))
    def test_minimal_on_columns_of_all_kinds(self, seed: int) -> None:
        rng = np.random.default_rng(seed)
        X = random_matrix(rng, int(rng.choice([2, 3, 17, 200, 5000])), int(rng.integers(1, 9)))
        normalize = bool(seed % 2)
        assert_core(X, explain(X, normalize=normalize), normalize=normalize)

    def test_one_of_identical_features(self) -> None:
        X = np.random.default_rng(1).normal(size=(400, 5)) * [1, 1.1, 1.2, 1.3, 1.4]
        once, twice = explain(X), explain(np.hstack([X, X]))
        assert once.core_columns == twice.core_columns, "the higher column of two equal ones is never needed"

    def test_constant_features_are_no_part_of_it(self) -> None:
        assert explain(np.ones((10, 3))).core == []
        assert explain(np.ones((1, 3))).core == []
        X = np.column_stack([np.ones(10), np.arange(10.0), np.ones(10)])
        assert explain(X).core_columns == [1]

    def test_an_invisible_feature_is_dropped(self) -> None:
        """It attains Phi(2) alone, but adds less than the last bit of Delta."""
        wide = np.arange(100.0)
        wide[1] = 1e-20
        X = np.column_stack([wide, np.arange(100.0) * 1e-19])
        phi = profiles(X)
        assert phi[0, 1] > phi[0, 0]
        assert delta(phi, [0]) == delta(phi, [0, 1])
        explanation = explain(X)
        assert set(explanation.shares) == {"0", "1"}
        assert explanation.core == ["0"]
        assert explanation.core_shares == {"0": 1.0}

    @pytest.mark.parametrize("seed", range(12))
    def test_order_of_removal(self, seed: int) -> None:
        """The smallest share goes first, of equal ones the highest column.

        By trying, on whole numbers, where sums are exact.
        """
        rng = np.random.default_rng(seed)
        X = rng.integers(0, 12, (30, 14))
        X[:, rng.integers(0, 14, 4)] //= 3
        explanation = explain(X, normalize=False)
        phi = profiles(X)
        owners = {int(name): share for name, share in explanation.shares.items()}
        core = sorted(owners)
        for one in sorted(owners, key=lambda f: (owners[f], -f)):
            rest = [f for f in core if f != one]
            if delta(phi, rest) == delta(phi, range(14)):
                core = rest
        assert explanation.core_columns == core

    def test_threads_and_weights(self) -> None:
        rng = np.random.default_rng(2)
        X = rng.integers(0, 30, (500, 40)).astype(float)
        weights = rng.integers(0, 4, 500)
        one, many = explain(X, weights=weights, n_threads=1), explain(X, weights=weights, n_threads=3)
        assert one.core == many.core
        assert one.core == explain(np.repeat(X, weights, axis=0)).core

    def test_sparse(self) -> None:
        X = sp.random_array((300, 60), density=0.1, rng=np.random.default_rng(0), format="csr")
        dense = explain(X.toarray())
        assert explain(X).core == dense.core
        assert_core(X.toarray(), dense)


class TestRealGraphs:
    @pytest.mark.parametrize("name", GRAPHS)
    def test_attributes(self, name: str) -> None:
        X = load_dataset(name, root=root_of(name), offline=True).x
        explanation = geodim.explain_dimension(X)
        assert sum(explanation.shares.values()) == pytest.approx(1.0, abs=1e-12)
        assert_core(X.tocsc(), explanation)

    @pytest.mark.parametrize("name", [*GRAPHS, "core of pubmed"])
    def test_hops(self, name: str) -> None:
        hops = 2
        if name.startswith("core"):
            data = pubmed_core.read()
        else:
            data = load_dataset(name, root=root_of(name), offline=True)
        explanation = geodim.explain_hops(data.x, data.edge_index, hops)
        reference = explanation.result
        assert reference.dimension == pytest.approx(
            PRINTED[name.removeprefix("core of ")], abs=0.5e-4, rel=1e-6
        )
        assert sum(explanation.shares.values()) == pytest.approx(1.0, abs=1e-12)
        assert sum(explanation.hop_shares.values()) == pytest.approx(1.0, abs=1e-12)
        attributes = sorted({f % data.x.shape[1] for f in explanation.core_columns})
        features = hop_features(data.x[:, attributes], make_operator(data.edge_index, "sym"), hops)
        core = np.stack(
            [
                features[f // data.x.shape[1]][:, attributes.index(f % data.x.shape[1])]
                for f in explanation.core_columns
            ],
            axis=1,
        )

        def dimension(X: np.ndarray) -> float:
            return inverse_square(measure(X, normalize=False).discriminability / reference.d_max)

        assert dimension(core) == reference.dimension
        for at in range(core.shape[1]):
            assert dimension(np.delete(core, at, axis=1)) != reference.dimension


class TestHops:
    def test_source_has_the_bits_of_the_pass(self) -> None:
        rng = np.random.default_rng(5)
        X = rng.normal(size=(200, 9)).astype(np.float32)
        edges = rng.integers(0, 200, (2, 500))
        operator = make_operator(edges, "sym")
        source = HopSource(X, operator, 3)
        expected = np.concatenate(hop_features(X, operator, 3), axis=1).T
        out = np.empty((36, 200), np.float32)
        source.read(range(36), out)
        np.testing.assert_array_equal(out, expected)
        np.testing.assert_array_equal(source.chunk(slice(5, 9), slice(10, 12)), expected[10:12, 5:9].T)
        np.testing.assert_array_equal(
            source.sample(np.array([30, 2]), np.array([7, 3])), expected[[30, 2]][:, [7, 3]].T
        )
        np.testing.assert_array_equal(source.read_runs(20)[0], np.sort(expected[20]))
        assert source.names[-1] == "hop 3: 8"

    def test_other_operators(self) -> None:
        rng = np.random.default_rng(6)
        X, edges = rng.normal(size=(100, 4)), rng.integers(0, 100, (2, 300))
        explanation = geodim.explain_hops(
            X, edges, 2, operator="ppr", operator_parameters={"alpha": 0.3}, feature_names="abcd"
        )
        reference = geodim.khop_dimensions(X, edges, 2, operator="ppr", operator_parameters={"alpha": 0.3})
        assert explanation.result.dimension == reference.dimensions[2]
        assert set(explanation.core) <= {
            f"{hop}{name}" for hop in ("", "hop 1: ", "hop 2: ") for name in "abcd"
        }


class TestRanking:
    def test_definition(self) -> None:
        X = random_matrix(np.random.default_rng(9), 40, 6)
        phi = profiles(X)
        ranking = geodim.feature_ranking(X, normalize=False)
        for name, own in ranking.items():
            assert own == pytest.approx(delta(phi, [int(name)]), rel=1e-14)
        values = list(ranking.values())
        assert values == sorted(values, reverse=True)

    def test_ties_and_scale(self) -> None:
        X = np.column_stack([np.arange(10.0)] * 3 + [2 * np.arange(10.0)])
        assert list(geodim.feature_ranking(X)) == ["3", "0", "1", "2"]
        assert geodim.feature_ranking(X)["3"] == geodim.intrinsic_dimension(X[:, 3:]).discriminability
        assert geodim.feature_ranking(X, normalize=False)["0"] == 4.5

    @pytest.mark.turns(5)
    @pytest.mark.parametrize("name", COLUMNS)
    def test_every_kind_of_column(self, name: str) -> None:
        X = column(name, 300)[:, np.newaxis]
        if X.dtype.kind == "f" and X.dtype.itemsize == 2:
            X = X.astype(np.float32)
        own = geodim.feature_ranking(X, normalize=False)["0"]
        assert own == measure(X, normalize=False).discriminability


@pytest.mark.parametrize("tables", [6, slow(30)])
def test_the_core_where_delta_has_few_digits(tables):
    """A loss of several per cent may leave no trace: such features may go.

    So it is of denormals, or of a dimension that is one.
    """
    rng = np.random.default_rng(12)
    for scale in (5e-322, 3e-320, 1e155, 1e159):
        for _ in range(tables):
            X = rng.uniform(-1.0, 1.0, (12, 5)) * scale
            explanation = geodim.explain_dimension(X, normalize=False)
            whole = explanation.result
            what = "dimension" if 0.0 < whole.dimension < np.inf else "discriminability"
            core = explanation.core_columns
            for gone in [None, *core] if len(core) > 1 else [None]:
                rest = [column for column in core if column != gone]
                value = getattr(geodim.intrinsic_dimension(X[:, rest], normalize=False), what)
                assert (value == getattr(whole, what)) == (gone is None)
