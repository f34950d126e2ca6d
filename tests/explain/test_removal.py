"""What the removal of a feature costs: equal to the computation without it, bit for bit."""

from fractions import Fraction

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_digits

import geodim
from geodim.errors import DataFileError, InputValueError

GRAPH = [(0, 1), (1, 2), (2, 3), (3, 4), (4, 0), (1, 3)]


def random_data(seed):
    rng = np.random.default_rng(seed)
    kinds = [
        rng.normal(size=(rng.integers(2, 60), rng.integers(2, 12))),
        rng.integers(0, 3, (rng.integers(2, 60), rng.integers(2, 12))),
        rng.normal(size=(40, 6)).astype(np.float32) * rng.lognormal(size=6).astype(np.float32),
        np.repeat(rng.normal(size=(30, 3)), 2, axis=1),
        rng.random((300, 80)) < 0.2,
    ]
    return kinds[seed % len(kinds)]


def counted_ties(X):
    """How many columns have the widest of the narrowest windows, from the definition."""
    n = len(X)
    ordered = np.sort(np.asarray(X, np.float64), axis=0)
    ties = []
    for k in range(2, n + 1):
        widths = (ordered[k - 1 :] - ordered[: n - k + 1]).min(axis=0)
        ties.append(int((widths == widths.max()).sum()) if widths.max() > 0.0 else 0)
    return ties


@pytest.mark.turns(4)
@pytest.mark.parametrize("normalize", [True, False])
@pytest.mark.parametrize("seed", range(10))
@pytest.mark.filterwarnings("ignore::geodim.errors.DegenerateDataWarning")
def test_equals_the_computation_without_the_feature_and_counts_ties(seed, normalize):
    X = random_data(seed)
    found = geodim.explain_dimension(X, normalize=normalize)
    again = [
        geodim.intrinsic_dimension(np.delete(X, column, axis=1), normalize=normalize).dimension
        for column in range(X.shape[1])
    ]
    assert list(found.without.values()) == again
    assert found.ties.tolist() == counted_ties(X)
    assert found.result.dimension == geodim.intrinsic_dimension(X, normalize=normalize).dimension


def parts_of_the_whole(X):
    """What each column attains alone, and what several attain at once, from the definition."""
    ordered = np.sort(np.asarray(X, np.float64), axis=0)
    total, alone, tied = Fraction(0), [Fraction(0)] * X.shape[1], Fraction(0)
    for k in range(2, len(X) + 1):
        widths = (ordered[k - 1 :] - ordered[: len(X) - k + 1]).min(axis=0)
        (widest,) = np.nonzero(widths == widths.max())
        total += Fraction(widths.max())
        if widest.size == 1:
            alone[widest[0]] += Fraction(widths.max())
        else:
            tied += Fraction(widths.max())
    return [float(part / total) for part in alone], float(tied / total)


@pytest.mark.parametrize("columns", [1, 2, 3])
def test_parts_are_rounded_once_and_never_more_than_all(columns, rng):
    """Sums of parts that were rounded on the way exceeded 1, and results could not be read back."""
    for _ in range(30):
        X = rng.normal(size=(60, columns)) * [1.0, 9.0, 1.5][:columns]
        if columns == 2:
            X[:, 0] = X[:, 1]
        found = geodim.intrinsic_dimension(X, removal=True)
        alone, tied = parts_of_the_whole(X)
        assert found.removal.alone == {name: alone[int(name)] for name in found.shares}
        assert found.removal.tied == tied
        assert geodim.IDResult.from_json(found.to_json()).removal.alone == found.removal.alone


def test_shares_of_hops_are_never_more_than_all(rng):
    """All columns of one hop attain everything, and shares of several columns add up with roundings."""
    for _ in range(30):
        found = geodim.explain_hops(rng.normal(size=(40, 6)), rng.integers(0, 40, (2, 90)), hops=0)
        assert 1.0 - 1e-15 <= found.hop_shares[0] <= 1.0
        assert geodim.Explanation.from_json(found.to_json()).hop_shares == found.hop_shares


@pytest.mark.turns(2)
@pytest.mark.parametrize("load", [load_digits, load_breast_cancer])
def test_real_data(load):
    data = load()
    found = geodim.explain_dimension(data.data, feature_names=list(data.feature_names))
    for column, dimension in enumerate(found.without.values()):
        assert dimension == geodim.intrinsic_dimension(np.delete(data.data, column, axis=1)).dimension
    plain = geodim.intrinsic_dimension(data.data, feature_names=list(data.feature_names))
    assert found.result.shares == plain.shares


def test_a_large_share_may_be_worth_nothing():
    data = load_digits()
    found = geodim.explain_dimension(data.data, feature_names=data.feature_names)
    assert next(iter(found.shares)) == "pixel_1_5"
    assert found.shares["pixel_1_5"] == pytest.approx(0.428, abs=5e-4)
    assert found.without["pixel_1_5"] == found.result.dimension  # to the bit
    assert found.alone["pixel_1_5"] < 0.01
    assert "pixel_1_5" not in found.costs
    assert "the first of them has the share" in repr(found)
    assert "the first of them has the share" in found._repr_html_()


def test_the_feature_that_sets_the_unit_may_be_missed_by_none():
    wide = np.append(np.zeros(19), 100.0)
    X = np.stack([wide, np.arange(20.0)], axis=1)
    found = geodim.explain_dimension(X, feature_names=["outlier", "grid"])
    assert found.costs["outlier"] < 0.0  # in units of its own the other one is wide
    assert found.costs["grid"] > 0.0


def test_without_the_only_feature_nothing_is_told_apart():
    assert geodim.explain_dimension([[0.0], [1.0]]).without == {"0": np.inf}


def test_sparse_weighted_and_made_features():
    sparse = pytest.importorskip("scipy.sparse")
    rng = np.random.default_rng(3)
    X = np.where(rng.random((50, 8)) < 0.3, rng.normal(size=(50, 8)), 0.0)
    dense = geodim.explain_dimension(X).without
    assert geodim.explain_dimension(sparse.csr_array(X)).without == dense
    weights = rng.integers(1, 4, 50)
    weighted = geodim.explain_dimension(X, weights=weights).without
    assert weighted == geodim.explain_dimension(np.repeat(X, weights, axis=0)).without
    points = X[:12]
    made = geodim.explain_dimension(points, features="distances", feature_names=[f"p{i}" for i in range(12)])
    family = geodim.WhatIf(points, features="distances")
    for column, dimension in enumerate(made.without.values()):
        assert dimension == family.remove(column).dimension


def test_hops_keep_what_they_are_divided_by():
    X = np.random.default_rng(0).normal(size=(5, 3))
    found = geodim.explain_hops(X, GRAPH, hops=2)
    assert list(found.without)[3] == "hop 1: 0"
    for name, dimension in found.without.items():
        if name not in found.shares:
            assert dimension == found.result.dimension
    assert set(found.core) >= set(found.costs)


def test_results_hold_it_if_asked(tmp_path):
    X = np.random.default_rng(1).normal(size=(40, 4))
    result = geodim.intrinsic_dimension(X, removal=True)
    assert list(result.removal.without) == list(result.shares)
    path = tmp_path / "result.json"
    result.to_json(path)
    again = geodim.IDResult.from_json(path)
    assert again.removal.to_dict() == result.removal.to_dict()
    values = result.to_dict()
    del values["removal"]["without"]["0"]
    with pytest.raises(DataFileError, match="removals are not those"):
        geodim.IDResult.from_dict(values)
    old = {**result.to_dict(), "format": "geodim.IDResult/4"}
    del old["removal"]
    assert geodim.IDResult.from_dict(old).removal is None


def test_refused_where_it_is_not_found(tmp_path):
    X = np.random.default_rng(1).normal(size=(40, 4))
    with pytest.raises(InputValueError, match="leave out removal=True, or rtol"):
        geodim.intrinsic_dimension(X, removal=True, rtol=0.1)
    with pytest.raises(InputValueError, match="or checkpoint"):
        geodim.intrinsic_dimension(X, removal=True, checkpoint=tmp_path / "state")
    for weights in (np.linspace(0.1, 1.0, 40), [10**12] * 40):
        with pytest.raises(InputValueError, match="weights that are not small whole numbers"):
            geodim.intrinsic_dimension(X, removal=True, weights=weights)


def test_the_alert_on_ties_tells_what_removals_found():
    result = geodim.intrinsic_dimension(load_digits().data, removal=True)
    told = {alert.code: alert for alert in result.alerts}["ties"]
    assert told.evidence["part"] == result.removal.tied == pytest.approx(0.873, abs=5e-4)


def test_under_a_tolerance_shares_come_with_the_range_they_could_have():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 6)) * [100.0, 1.0, 1.0, 99.0, 0.5, 1.0]
    exact = geodim.intrinsic_dimension(X)
    about = geodim.intrinsic_dimension(X, rtol=0.1)
    assert list(about.share_bounds) == list(about.shares)
    for name, (least, most) in about.share_bounds.items():
        assert least <= exact.shares.get(name, 0.0) <= most
    assert exact.share_bounds == {}
    small = geodim.intrinsic_dimension(X[:, [0, 1, 2]], rtol=0.1)
    assert small.share_bounds["0"][0] > 0.9  # no other column is wide enough
    assert geodim.IDResult.from_json(small.to_json()).share_bounds == small.share_bounds
    digits = geodim.intrinsic_dimension(load_digits().data, rtol=0.01)
    true = geodim.intrinsic_dimension(load_digits().data).shares
    for name, (least, most) in digits.share_bounds.items():
        assert least <= true.get(name, 0.0) <= most
