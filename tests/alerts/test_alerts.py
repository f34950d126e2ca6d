"""Every alert: data that must give it, and data that must not."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, settings, strategies as st
from sklearn import datasets

import geodim
from geodim.alerts import CODES, NOTE, WARNING, Alert
from published import published, root_of

RNG = np.random.default_rng(16)
NORMAL = RNG.normal(size=(400, 5))
RING = np.stack([np.arange(400), np.roll(np.arange(400), 1)])


def codes(X, **options):
    return [alert.code for alert in geodim.intrinsic_dimension(X, **options).alerts]


def alert_of(X, code, **options):
    found = [alert for alert in geodim.intrinsic_dimension(X, **options).alerts if alert.code == code]
    assert len(found) == 1, (code, codes(X, **options))
    return found[0]


def with_column(column, X=NORMAL):
    return np.column_stack([column, X])


class TestTheSituations:
    """What new users ran into."""

    def test_breast_cancer_as_it_is(self):
        data = datasets.load_breast_cancer()
        result = geodim.intrinsic_dimension(data.data, feature_names=list(data.feature_names))
        assert [alert.code for alert in result.alerts] == ["units"]
        alert = result.alerts[0]
        assert (alert.severity, alert.evidence["column"]) == (WARNING, "worst area")
        assert alert.evidence["columns_below_a_tenth"] == 27
        assert 'scale="range"' in alert.way_out

    def test_iris_with_one_typo(self):
        X = datasets.load_iris().data.copy()
        clean = geodim.intrinsic_dimension(np.delete(X, 0, axis=0)).dimension
        assert codes(X) == []
        X[0, 0] = 510.0  # 5.1
        result = geodim.intrinsic_dimension(X)
        assert result.dimension > 8000
        (alert,) = result.alerts
        assert (alert.code, alert.severity) == ("outliers", WARNING)
        evidence = alert.evidence
        assert (evidence["points"], evidence["column"], evidence["greatest"]) == (1, "0", 510.0)
        assert evidence["dimension_without_lower"] <= clean <= evidence["dimension_without_upper"]
        assert evidence["dimension_without_upper"] < 1.15 * evidence["dimension_without_lower"]
        assert "8,24" in alert.message
        assert "510" in alert.way_out

    def test_iris_with_a_row_number(self):
        iris = datasets.load_iris()
        X = np.column_stack([np.arange(150), iris.data])
        result = geodim.intrinsic_dimension(X, feature_names=["row_id", *iris.feature_names])
        assert result.dimension == 4.0
        (alert,) = result.alerts
        assert (alert.code, alert.severity, alert.evidence["column"]) == ("row-number", WARNING, "row_id")
        assert "--exclude" in alert.way_out

    def test_the_tie_of_pixels(self):
        data = datasets.load_digits()
        result = geodim.intrinsic_dimension(data.data, feature_names=list(data.feature_names))
        assert [alert.code for alert in result.alerts] == ["ties", "constant-columns"]
        tie, constant = result.alerts
        assert tie.severity == NOTE
        assert tie.evidence["certain"]
        assert tie.evidence["part"] > 0.5
        assert "pixel_1_5" in tie.evidence["columns"]
        assert constant.evidence == {"count": 3, "columns": ["pixel_0_0", "pixel_4_0", "pixel_4_7"]}
        # They do tie: without the leading pixel the dimension is the same to the bit.
        less = np.delete(data.data, list(data.feature_names).index("pixel_1_5"), axis=1)
        assert geodim.intrinsic_dimension(less).dimension == result.dimension


class TestBundledDataSets:
    """Each was looked at: what is said is so, and nothing else is said."""

    @pytest.mark.parametrize(
        ("name", "options", "expected"),
        [
            ("iris", {}, []),
            ("diabetes", {}, []),
            ("diabetes", {"scaled": False}, []),  # s1 has 99.7 %, but s2 would do nearly as well
            ("wine", {}, ["units"]),  # proline reaches 1,402, the others 3.8 in the median
            ("linnerud", {}, ["few-points"]),  # 20 of them
        ],
    )
    def test_bundled(self, name, options, expected):
        assert codes(getattr(datasets, f"load_{name}")(**options).data) == expected

    @pytest.mark.turns(2)
    @pytest.mark.parametrize(
        ("name", "expected"),
        [
            ("cora", ["ties", "constant-columns"]),  # words, 0 or 1; one is in no document
            ("citeseer", ["ties"]),
            published("pubmed", []),
        ],
    )
    def test_the_papers(self, name, expected):
        X = geodim.load_dataset(name, root=root_of(name)).x
        assert codes(X) == expected

    def test_wells_of_randomness(self):
        for X in (
            NORMAL,
            RNG.uniform(size=(400, 5)),
            RNG.laplace(size=(400, 5)),
            RNG.exponential(size=(400, 5)),
        ):
            assert codes(X) == []
            assert codes(X, rtol=0.01) == []
            assert codes(X, normalize=False) == []


class TestOutliers:
    def test_several(self):
        X = NORMAL.copy()
        X[[3, 50, 51], 2] = [1e3, 1.001e3, -1e5]
        alert = alert_of(X, "outliers")
        assert alert.evidence["points"] == 3
        clean = geodim.intrinsic_dimension(np.delete(X, [3, 50, 51], axis=0)).dimension
        assert alert.evidence["dimension_without_lower"] <= clean <= alert.evidence["dimension_without_upper"]
        assert "3 points of 400 set" in alert.message

    def test_within_a_tolerance(self):
        X = NORMAL.copy()
        X[7, 1] = 1e4
        exact = alert_of(X, "outliers").evidence
        near = alert_of(X, "outliers", rtol=0.01).evidence
        assert near["dimension_without_lower"] <= exact["dimension_without_upper"]
        assert exact["dimension_without_lower"] <= near["dimension_without_upper"]

    def test_not_of_many_points(self):
        X = NORMAL.copy()
        X[:40, 1] += 1e4
        assert "outliers" not in codes(X)

    def test_not_where_nothing_is_divided(self):
        X = NORMAL.copy()
        X[7, 1] = 1e4
        assert "outliers" not in codes(X, normalize=False)


class TestCounting:
    def test_ids_in_any_order(self):
        alert = alert_of(with_column(RNG.permutation(400) + 77), "row-number")
        assert "as ids do" in alert.message

    def test_ids_that_ascend(self):
        assert "one way" in alert_of(with_column(np.cumsum(RNG.integers(1, 9, 400))), "row-number").message

    def test_ids_by_name(self):
        X = with_column(RNG.choice(10**6, 400, replace=False))
        names = ["customer_id", *"abcde"]
        assert alert_of(X, "row-number", feature_names=names).evidence["column"] == "customer_id"
        names[0] = "grid"  # ends like it, and means something else
        assert "row-number" not in codes(X, feature_names=names)

    def test_not_of_measurements(self):
        assert "row-number" not in codes(with_column(1000.0 * RNG.random(400)))
        assert "row-number" not in codes(with_column(RNG.integers(0, 1000, 400)))
        assert "row-number" not in codes(with_column(np.sort(1000.0 * RNG.random(400))))

    def test_not_where_it_does_not_matter(self):
        assert "row-number" not in codes(with_column(np.arange(400) / 1e6))

    @pytest.mark.parametrize("unit", [1, 10**3, 10**6, 10**9])
    def test_times(self, unit):
        times = (1_700_000_000 + RNG.integers(0, 10**7, 400)) * unit
        alert = alert_of(with_column(times, np.zeros((400, 1), np.int64)), "timestamp")
        assert alert.severity == WARNING
        assert alert.evidence["least"] == float(times.min())

    def test_dates(self):
        dates = (
            10_000 * RNG.integers(1999, 2024, 400) + 100 * RNG.integers(1, 13, 400) + RNG.integers(1, 29, 400)
        )
        assert "looks like dates" in alert_of(with_column(dates), "timestamp").message

    def test_not_of_large_numbers(self):
        assert "timestamp" not in codes(with_column(RNG.integers(10**6, 10**9, 400)))
        assert "timestamp" not in codes(with_column(RNG.integers(20_000_000, 20_300_000, 400)))

    def test_not_with_weights(self):
        assert "row-number" not in codes(with_column(np.arange(400)), weights=np.full(400, 2))


class TestColumnsAndRows:
    def test_units(self):
        assert codes(NORMAL * [1000, 1, 1, 1, 1]) == ["units"]
        assert codes(NORMAL * [1000, 1000, 1, 1, 1]) == ["units"]
        assert codes(NORMAL * [3, 1, 1, 1, 1])[:1] != ["units"]

    def test_one_column(self):
        X = np.column_stack([10.0 * RNG.random(400), RNG.normal(size=400)])
        alert = alert_of(X, "one-column")
        alone = geodim.intrinsic_dimension(np.column_stack([X[:, 0], np.zeros(400)])).dimension
        assert alone <= alert.evidence["dimension_alone_at_most"]
        assert "one-column" not in codes(X[:, :1])

    def test_constant(self):
        assert alert_of(with_column(np.full(400, 7.0)), "constant-columns").evidence["columns"] == ["0"]
        with pytest.warns(geodim.errors.DegenerateDataWarning):
            assert codes(np.ones((40, 2))) == ["all-equal"]

    def test_equal_columns(self):
        X = np.column_stack([NORMAL, NORMAL[:, [1, 1]]])
        evidence = alert_of(X, "equal-columns").evidence
        assert (evidence["columns"], evidence["equal_to"], evidence["certain"]) == (["5", "6"], ["1"], True)
        X[0, 5:] += 1e-9
        assert "equal-columns" in codes(X)
        X[0, 6] += 1e-9
        assert "equal-columns" not in codes(X)

    def test_columns_that_look_equal(self):
        X = RNG.normal(size=(3000, 3))
        X = np.column_stack([X, X[:, 0]])
        alert = alert_of(X, "equal-columns")
        assert "look like copies" in alert.message
        assert not alert.evidence["certain"]
        rare = (RNG.random((3000, 3)) < 0.001).astype(float)  # alike in a sample, by chance
        assert "equal-columns" not in codes(rare)

    def test_equal_rows(self):
        X = np.repeat(NORMAL[:100], 4, axis=0)
        assert alert_of(X, "equal-rows").evidence == {"looked_at": 400, "equal": 400, "certain": True}
        X[30:] = NORMAL[30:]
        assert "equal-rows" not in codes(X)
        assert "equal-rows" not in codes(NORMAL, weights=np.full(400, 4))

    def test_ties(self):
        X = RNG.integers(0, 9, (400, 6)).astype(float)
        assert "ties" in codes(X)
        assert "ties" not in codes(X + 1e-3 * RNG.random(X.shape))
        wide = np.column_stack([RNG.integers(0, 2, 400), RNG.integers(0, 2, 400) / 2])
        assert "ties" not in codes(wide)

    def test_rows_that_add_up_to_one(self):
        counts = RNG.poisson(1.0, (400, 30)).astype(float) + (np.arange(30) == 3)
        shares = counts / counts.sum(axis=1, keepdims=True)
        for X in (shares, scipy.sparse.csr_array(shares)):
            result = geodim.khop_dimensions(X, RING, 1)
            assert [alert.code for alert in result.alerts][:1] == ["row-normalised"]
            assert result.alerts == result[0].alerts
        assert "row-normalised" not in [a.code for a in geodim.khop_dimensions(counts, RING, 1).alerts]
        signed = NORMAL / NORMAL.sum(axis=1, keepdims=True)
        assert "row-normalised" not in [a.code for a in geodim.khop_dimensions(signed, RING, 1).alerts]


class TestTrust:
    def test_few_points(self):
        assert codes(NORMAL[:29]) == ["few-points"]
        assert codes(NORMAL[:30]) == []

    def test_wide_bounds(self):
        with pytest.warns(geodim.errors.InterruptedWarning):
            result = geodim.intrinsic_dimension(NORMAL, time_limit=0.0)
        assert [alert.code for alert in result.alerts] == ["wide-bounds"]
        assert "wide-bounds" not in codes(NORMAL, rtol=0.2)

    def test_features_that_are_no_columns(self):
        assert codes(NORMAL, features="distances") == []
        assert codes(NORMAL, features="distances", landmarks=3) == ["wide-bounds"]


NUMBERS = (0.0, -0.0, 1.0, 2.0, 1e-320, 1e-300, 1e300, -8e307, 510.0, 20240131.0, 1.7e9)


@given(
    shape=st.tuples(st.integers(1, 40), st.integers(1, 5)),
    seed=st.integers(0, 2**32),
    kinds=st.integers(1, len(NUMBERS)),
    options=st.sampled_from([{}, {"rtol": 0.1}, {"normalize": False}, {"time_limit": 0.0}]),
)
@settings(max_examples=60)
@pytest.mark.filterwarnings("ignore::geodim.errors.GeodimWarning")
def test_any_data_is_looked_at_without_an_error(shape, seed, kinds, options):
    """And what is said can be written and read again, whatever the values."""
    rng = np.random.default_rng(seed)
    X = rng.choice(rng.permutation(NUMBERS)[:kinds], shape)
    for data in (X, scipy.sparse.csc_array(X), np.clip(X, -(2.0**62), 2.0**62).astype(np.int64)):
        result = geodim.intrinsic_dimension(data, **options)
        assert geodim.IDResult.from_json(result.to_json()).alerts == result.alerts
        assert {alert.code for alert in result.alerts} <= set(CODES)


def test_columns_whose_widths_have_no_finite_sum():
    """Two that are equally wide: neither decides alone."""
    X = np.array([[1e300, -8e307], [-8e307, 1e300]])
    result = geodim.intrinsic_dimension(X)
    assert [alert.code for alert in result.alerts] == ["few-points"]


def test_codes_are_known_and_sentences_are_whole():
    found: list[Alert] = []
    for X in (
        NORMAL[:20],
        NORMAL * [1000, 1, 1, 1, 1],
        with_column(np.arange(400)),
        with_column(np.ones(400)),
    ):
        found += geodim.intrinsic_dimension(X).alerts
    assert len({alert.code for alert in found}) == 4
    for alert in found:
        assert alert.code in CODES
        assert alert.message.endswith(".")
        assert alert.way_out.endswith(".") or alert.code == "constant-columns"
        assert str(alert).startswith(f"{alert.severity}: {alert.message}")


def test_ranks_are_no_row_numbers():
    """They were asked for."""
    X = np.random.default_rng(0).normal(size=(200, 3))
    assert geodim.intrinsic_dimension(X, scale="rank").alerts == ()
