"""Scales: the dimension of columns that are divided when they are read is that of the divided matrix."""

import numpy as np
import pytest
from scipy import sparse, stats
from sklearn.datasets import load_breast_cancer

import geodim
from geodim import paper
from geodim.data.scales import Scale
from geodim.errors import CertificateError, DataFileError, InputTypeError, InputValueError, ShapeError

CANCER = load_breast_cancer()


def divided(X, scale):
    """The matrix that a scale stands for, made in one piece."""
    X = np.asarray(X, np.float64)
    if scale == "rank":
        return stats.rankdata(X, axis=0)
    if scale == "range":
        units = np.ptp(X, axis=0)
    elif scale == "std":
        units = X.std(axis=0)
    elif scale == "iqr":
        units = np.quantile(X, 0.75, axis=0) - np.quantile(X, 0.25, axis=0)
    else:
        units = np.broadcast_to(scale, X.shape[1]).astype(float)
    return X / np.where(np.ptp(X, axis=0) == 0.0, 1.0, units)


def of_paper(X, *, normalize=True):
    return paper.intrinsic_dimension(paper.algorithm_1(X, np.ptp(X, axis=0).max() if normalize else 1.0))


@pytest.mark.parametrize("scale", ["range", "iqr", "std", "rank"])
@pytest.mark.parametrize("kind", [np.float64, np.float32, np.int16])
def test_is_the_dimension_of_the_divided_matrix(scale, kind):
    rng = np.random.default_rng(5)
    X = (rng.normal(size=(60, 5)) * [1.0, 30.0, 400.0, 5.0, 0.0] + 7.0).astype(kind)
    if kind == np.int16:
        X[:, 0] = np.arange(60) % 13
    result = geodim.intrinsic_dimension(X, scale=scale)
    expected = of_paper(divided(X, scale))
    assert result.dimension == pytest.approx(expected, rel=1e-12)
    assert result.lower <= expected * (1 + 1e-14)
    assert result.upper >= expected * (1 - 1e-14)
    assert result.parameters["scale"] == scale
    assert result.normalized
    assert result.exact == (scale == "rank")


def test_values_of_the_issue_on_the_cancer_table():
    found = {
        scale: geodim.intrinsic_dimension(CANCER.data, scale=scale).dimension
        for scale in ("global", "range", "std", "rank")
    }
    assert found == pytest.approx({"global": 47.4, "range": 9.1, "std": 66.3, "rank": 4.01}, abs=0.05)


def test_range_has_d_max_one():
    assert geodim.intrinsic_dimension(CANCER.data, scale="range").d_max == pytest.approx(1.0, rel=1e-15)


def test_given_units_are_units_and_nothing_else_is_divided():
    X = np.random.default_rng(0).normal(size=(40, 3))
    units = [0.5, 3.0, 7.0]
    one = geodim.intrinsic_dimension(X, scale=units)
    assert one.dimension == pytest.approx(of_paper(divided(X, units), normalize=False), rel=1e-12)
    assert not one.normalized
    assert one.parameters["scale"] == units
    number = geodim.intrinsic_dimension(X, scale=4)
    assert number.dimension == geodim.intrinsic_dimension(X / 4.0, scale="none").dimension
    assert number.parameters["scale"] == 4.0
    assert geodim.IDResult.from_json(one.to_json()).parameters["scale"] == units
    many = geodim.intrinsic_dimension(np.ones((2, 200)) * [[0.0], [1.0]], scale=np.full(200, 2.0))
    assert many.parameters["scale"] == "given"


@pytest.mark.parametrize("scale", ["range", "std", "rank", 3.0])
def test_sparse_columns_stay_sparse_and_weights_repeat_points(scale):
    rng = np.random.default_rng(1)
    X = np.where(rng.random((80, 6)) < 0.4, rng.normal(size=(80, 6)) * 5, 0.0)
    dense = geodim.intrinsic_dimension(X, scale=scale)
    lean = geodim.intrinsic_dimension(sparse.csc_array(X), scale=scale)
    assert lean.dimension == pytest.approx(dense.dimension, rel=1e-12)
    weights = rng.integers(0, 4, 80)
    weighted = geodim.intrinsic_dimension(X, scale=scale, weights=weights)
    repeated = geodim.intrinsic_dimension(np.repeat(X, weights, axis=0), scale=scale)
    assert weighted.dimension == pytest.approx(repeated.dimension, rel=1e-12)


def test_iqr_with_weights_is_that_of_repeated_points():
    rng = np.random.default_rng(2)
    X, weights = rng.normal(size=(50, 3)), rng.integers(0, 5, 50)
    weighted = geodim.intrinsic_dimension(X, scale="iqr", weights=weights)
    repeated = geodim.intrinsic_dimension(np.repeat(X, weights, axis=0), scale="iqr")
    assert weighted.dimension == pytest.approx(repeated.dimension, rel=1e-12)


def test_long_integers_lose_nothing_before_they_are_divided():
    X = np.stack([np.arange(50), np.arange(50) ** 2], axis=1) + 2**60
    near = X - 2**60
    assert geodim.intrinsic_dimension(X, scale="range").dimension == pytest.approx(
        geodim.intrinsic_dimension(near, scale="range").dimension, rel=1e-12
    )
    assert (
        geodim.intrinsic_dimension(X, scale="rank").dimension
        == geodim.intrinsic_dimension(near, scale="rank").dimension
    )


def test_tolerance_names_and_frames():
    pandas = pytest.importorskip("pandas")
    exact = geodim.intrinsic_dimension(CANCER.data, scale="std")
    frame = pandas.DataFrame(CANCER.data, columns=CANCER.feature_names)
    named = geodim.intrinsic_dimension(frame, scale="std")
    assert named.dimension == exact.dimension
    assert next(iter(named.shares)) == CANCER.feature_names[int(next(iter(exact.shares)))]
    about = geodim.intrinsic_dimension(CANCER.data, scale="std", rtol=0.01)
    assert about.lower <= exact.dimension <= about.upper


def test_an_iqr_of_zero_names_the_columns():
    X = np.zeros((20, 3))
    X[:, 0], X[0, 1] = np.arange(20), 1.0
    with pytest.raises(InputValueError, match=r"iqr of column 'b' is 0.*scale='range'"):
        geodim.intrinsic_dimension(X, scale="iqr", feature_names=["a", "b", "c"])


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"normalize": "columns"}, InputTypeError, "normalize must be True"),
        ({"normalize": 1}, InputTypeError, "normalize must be True"),
        ({"normalize": True, "scale": "range"}, InputValueError, "not both"),
        ({"scale": "columns"}, InputValueError, "one of global, range, iqr"),
        ({"scale": 0.0}, InputValueError, "scale must be above 0"),
        ({"scale": True}, InputTypeError, "scale must be"),
        ({"scale": [1.0, -1.0]}, InputValueError, "unit of column 1"),
        ({"scale": [1.0, 2.0, 3.0]}, ShapeError, "2 features but 3 units"),
        ({"scale": [[1.0, 2.0]]}, InputTypeError, "one for each column"),
        ({"scale": {}}, InputTypeError, "one for each column"),
    ],
)
def test_refusals(options, error, words):
    X = np.arange(10.0).reshape(5, 2)
    for measure in (geodim.intrinsic_dimension, geodim.explain_dimension, geodim.select_features,
                    geodim.feature_ranking):  # fmt: skip
        with pytest.raises(error, match=words):
            measure(X, **options)


def test_normalize_is_an_alias():
    X = np.random.default_rng(0).normal(size=(30, 3))
    for normalize, scale in ((True, "global"), (False, "none"), (np.True_, "global")):
        one = geodim.intrinsic_dimension(X, normalize=normalize)
        assert one.dimension == geodim.intrinsic_dimension(X, scale=scale).dimension
        assert one.parameters["scale"] == scale
    assert Scale.of() == Scale("global")


def test_every_public_function_takes_it():
    X = CANCER.data
    explained = geodim.explain_dimension(X, scale="std")
    again = divided(X, "std")
    for column, dimension in enumerate(explained.without.values()):
        if column < 3 or str(column) in explained.shares:
            rest = geodim.intrinsic_dimension(np.delete(X, column, 1), scale="std")
            assert dimension == rest.dimension  # the same quotients, to the bit
    assert explained.result.dimension == pytest.approx(geodim.intrinsic_dimension(again).dimension, rel=1e-12)
    chosen = geodim.select_features(X, 3, scale="std")
    assert chosen.columns == geodim.select_features(again, 3).columns
    assert chosen.parameters["scale"] == "std"
    assert list(geodim.feature_ranking(X, scale="std")) == list(geodim.feature_ranking(again))
    assert geodim.IntrinsicDimension(scale="std").fit(X).dimension_ == explained.result.dimension
    assert geodim.DiscriminabilitySelector(3, scale="std").fit(X).selection_.columns == chosen.columns


@pytest.mark.turns(4)
@pytest.mark.parametrize("scale", ["range", "iqr", "std", "rank", 3.0, [0.3, 2.0, 7.0]])
@pytest.mark.parametrize("kind", ["float32", "float64"])
def test_attributes_are_divided_before_the_first_hop(scale, kind):
    """The hops of the divided matrix, within bounds that know of the division."""
    rng = np.random.default_rng(3)
    X = np.abs(rng.normal(size=(40, 3))) * [1.0, 30.0, 1e4] + 0.1
    edges = rng.integers(0, 40, size=(2, 120))
    result = geodim.khop_dimensions(X, edges, 2, scale=scale, dtype=kind)
    exact = geodim.khop_dimensions(
        divided(X, scale) - (scale == "rank"), edges, 2, normalize=isinstance(scale, str), dtype="float64"
    )  # ranks are counted from 0 on
    for ours, theirs in zip(result, exact, strict=True):
        assert ours.lower <= theirs.upper
        assert theirs.lower <= ours.upper
        assert ours.dimension == pytest.approx(theirs.dimension, rel=1e-5 if kind == "float32" else 1e-12)
        assert ours.parameters["scale"] == scale
        assert (ours.feature_error == 0.0) == (scale == "rank" and ours is result[0] and kind == "float64")
    lean = geodim.khop_dimensions(sparse.csr_array(X), edges, 2, scale=scale, dtype=kind)
    assert [one.dimension for one in lean] == [one.dimension for one in result]
    assert [one.error for one in lean] == pytest.approx([one.error for one in result], rel=1e-3)
    fitted = geodim.KHopIntrinsicDimension(edges, hops=2, scale=scale, dtype=kind).fit(X)
    assert list(fitted.dimensions_) == list(result.dimensions)


def test_a_checkpoint_of_hops_knows_the_units(tmp_path):
    X, edges = np.random.default_rng(3).random((30, 2)), [(0, 1), (1, 2)]
    geodim.khop_dimensions(X, edges, 1, scale=[1.0, 2.0], checkpoint=tmp_path / "c")
    with pytest.raises(DataFileError):
        geodim.khop_dimensions(X, edges, 1, scale=[1.0, 3.0], checkpoint=tmp_path / "c")


def test_where_units_of_columns_make_no_sense_there_is_a_way_out():
    X = np.random.default_rng(0).normal(size=(6, 2))
    with pytest.raises(InputValueError, match="by='diameter'"):
        geodim.intrinsic_dimension(X, features="distances", scale="range")
    with pytest.raises(InputValueError, match="explain the quotients"):
        geodim.explain_hops(X, [(0, 1)], 1, scale="range")
    with pytest.raises(InputValueError, match="convert the attributes to float64"):
        geodim.khop_dimensions(np.array([[0], [1], [2**60 + 1]]), [(0, 1)], 1, scale="range")
    with pytest.raises(InputValueError, match="scale the data first"):
        geodim.WhatIf(X, scale="range")
    with pytest.raises(CertificateError, match="columns as they are"):
        geodim.intrinsic_dimension(X, scale="range").certificate(X)
    with pytest.raises(InputValueError, match="'none' or 'global'"):
        geodim.binary_dimension(X > 0, scale="range")


@pytest.mark.parametrize("backend", ["cuda", "dask"])
def test_other_backends_refuse(backend):
    with pytest.raises(InputValueError, match="data is copied here only on request"):
        geodim.intrinsic_dimension(np.eye(3), scale="range", backend=backend)
    with pytest.raises(InputValueError, match="data is copied here only on request"):
        geodim.khop_dimensions(np.eye(3), [(0, 1)], 1, scale="range", backend=backend)


def test_data_elsewhere_is_not_brought_here():
    array = pytest.importorskip("dask.array")
    X = array.from_array(np.random.default_rng(0).normal(size=(6, 2)))
    with pytest.raises(InputValueError, match="data is copied here only on request"):
        geodim.intrinsic_dimension(X, scale="range")


def test_one_large_unit_is_told_before_a_choice_is_certified():
    names = list(CANCER.feature_names)
    for told in (
        geodim.select_features(CANCER.data, 1, feature_names=names),
        geodim.explain_dimension(CANCER.data, feature_names=names).result,
    ):
        assert [alert.code for alert in told.alerts] == ["units"]
        assert "worst area" in told.alerts[0].message
        assert "scale=" in told.alerts[0].way_out
    assert geodim.select_features(CANCER.data, 1, scale="iqr").alerts == ()


def test_scale_is_shown():
    result = geodim.intrinsic_dimension(CANCER.data, scale="iqr")
    assert ("scale", "each column by its interquartile range") in result.summary()
