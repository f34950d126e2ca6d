"""`IDResult`: what it holds agrees with the paper, survives JSON, and shows hostile names harmlessly."""

from __future__ import annotations

import contextlib
import json
import math
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, strategies as st

import geodim
from distributions import matrix, random_matrix
from engine.oracle import assert_same_bits, solve
from geodim import paper
from geodim.errors import DataFileError, GeodimError, InputValueError
from geodim.words import at_most

KINDS = ["normal", "exponential", "hundred_integers", "uniform"]


@pytest.fixture(scope="module")
def X():
    return matrix(KINDS, 300)


@pytest.fixture(scope="module", params=["exact", "tolerance", "degenerate", "one point", "stopped"])
def result(request, X):
    """Results of every sort."""
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", geodim.errors.GeodimWarning)
        return {
            "exact": lambda: geodim.intrinsic_dimension(X),
            "tolerance": lambda: geodim.intrinsic_dimension(X, rtol=0.05),
            "degenerate": lambda: geodim.intrinsic_dimension(np.zeros((5, 2)), count_indistinguishable=True),
            "one point": lambda: geodim.intrinsic_dimension([[1.0, 2.0]]),
            "stopped": lambda: geodim.intrinsic_dimension(X, time_limit=0),
        }[request.param]()


# ---------------------------------------------------------------- numbers


def test_exact_results_hold_one_array(X):
    result = solve(X)
    assert result.exact
    assert result.phi_lower is result.phi_upper
    assert result.phi is result.phi_lower
    assert result.error == 0.0
    assert result.lower == result.dimension == result.upper == 1 / result.discriminability**2
    np.testing.assert_array_equal(result.support, np.arange(2, 301))


def test_phi_of_a_result_with_bounds_lies_between_them(X):
    result = solve(X, rtol=0.1)
    assert not result.exact
    assert np.all(result.phi_lower <= result.phi)
    assert np.all(result.phi <= result.phi_upper)
    assert result.error == pytest.approx((result.upper - result.lower) / result.lower)
    assert result.lower == pytest.approx(1 / result.discriminability_upper**2)
    assert result.upper == pytest.approx(1 / result.discriminability_lower**2)


@pytest.mark.parametrize("rtol", [0.0, 0.01])
def test_phi_of_the_largest_values_does_not_overflow(rtol):
    result = solve(np.array([[-8.9e307], [8.9e307], [0.0]]), rtol=rtol)
    assert np.all(np.isfinite(result.phi))


def test_results_cannot_be_changed(X):
    with pytest.raises(AttributeError):
        solve(X).discriminability = 0.0


@given(st.integers(0, 2**32 - 1), st.integers(1, 60), st.data())
def test_observable_diameter_is_the_paper_s(seed, n, data):
    """Also at multiples of 1/n, where the size of the window jumps, and next to them."""
    X = random_matrix(np.random.default_rng(seed), n, 3)
    plain, scaled = solve(X, normalize=False), solve(X)
    inside = st.floats(0.0, 1.0, exclude_min=True, exclude_max=True)
    steps = st.integers(1, max(n - 1, 1)).map(lambda j: j / n).filter(lambda alpha: 0 < alpha < 1)
    fractions = st.fractions(0, 1).filter(lambda alpha: 0 < alpha < 1)
    alpha = data.draw(inside | (steps if n > 1 else inside) | fractions)
    expected = paper.observable_diameter(X, alpha)
    assert plain.observable_diameter(alpha) == expected
    assert plain.observable_diameter_bounds(alpha) == (expected, expected)
    assert scaled.observable_diameter(alpha) == expected / scaled.scale


def test_observable_diameter_for_many_alphas(X):
    result = solve(X, normalize=False)
    for alpha in (*np.linspace(0.001, 0.999, 250).tolist(), *(Fraction(j, 300) for j in range(1, 300, 7))):
        assert result.observable_diameter(alpha) == paper.observable_diameter(X, alpha)


def test_observable_diameter_falls_with_alpha(X):
    diameters = [solve(X).observable_diameter(alpha) for alpha in np.linspace(0.01, 0.99, 30).tolist()]
    assert diameters == sorted(diameters, reverse=True)
    assert diameters[0] <= 1.0


def test_observable_diameter_with_bounds(X):
    result = solve(X, rtol=0.1, normalize=False)
    for alpha in np.linspace(0.01, 0.99, 50).tolist():
        low, high = result.observable_diameter_bounds(alpha)
        assert low <= paper.observable_diameter(X, alpha) <= high
        assert low <= result.observable_diameter(alpha) <= high


@pytest.mark.parametrize("alpha", [0.0, 1.0, -0.5, 2.0, math.nan])
def test_alpha_out_of_range(X, alpha):
    with pytest.raises(InputValueError, match="alpha"):
        solve(X).observable_diameter(alpha)


def test_the_mean_observable_diameter_is_the_discriminability(X):
    """Delta is the integral of the observable diameter: the mean over the n steps of alpha."""
    result = solve(X)
    n = result.n_points
    values = [result.observable_diameter(Fraction(2 * j + 1, 2 * n)) for j in range(n)]
    assert math.fsum(values) / n == pytest.approx(result.discriminability, rel=1e-14)


def test_support_bounds(X):
    result = solve(X, normalize=False)
    support = paper.log_scale_support(300, length=12)
    reference = paper.algorithm_2(X, support)
    assert result.support_bounds(support) == pytest.approx(
        (reference.id_lower, reference.id_upper), rel=1e-15
    )


def test_support_bounds_need_exact_values(X):
    with pytest.raises(InputValueError, match="rtol=0"):
        solve(X, rtol=0.1).support_bounds([2, 300])
    with pytest.raises(InputValueError, match="must end with"):
        solve(X).support_bounds([2, 200])


def test_shares(X):
    shares = solve(X).shares
    assert math.fsum(shares.values()) == pytest.approx(1.0, rel=1e-14)
    assert list(shares.values()) == sorted(shares.values(), reverse=True)
    assert all(share > 0.0 for share in shares.values())
    assert set(shares) <= {"0", "1", "2", "3"}


# ---------------------------------------------------------------- JSON


def assert_equal_results(computed, reference):
    for name in reference.__dataclass_fields__:
        left, right = getattr(computed, name), getattr(reference, name)
        if isinstance(right, np.ndarray):
            assert left.dtype == right.dtype
            np.testing.assert_array_equal(left, right)
        else:
            assert left == right, name
    for name in ("dimension", "lower", "upper", "error", "scale"):
        assert getattr(computed, name) == getattr(reference, name), name
    assert repr(computed) == repr(reference)
    assert computed._repr_html_() == reference._repr_html_()


def test_round_trip(result, tmp_path):
    """Through a dictionary, text and a file: the same numbers to the last bit."""
    text = result.to_json(tmp_path / "result.json")
    assert_equal_results(geodim.IDResult.from_dict(result.to_dict()), result)
    assert_equal_results(geodim.IDResult.from_json(text), result)
    assert_equal_results(geodim.IDResult.from_json(tmp_path / "result.json"), result)
    assert_equal_results(geodim.IDResult.from_json(str(tmp_path / "result.json")), result)
    assert (tmp_path / "result.json").read_text(encoding="utf-8") == text
    assert [path.name for path in tmp_path.iterdir()] == ["result.json"]


def test_json_is_strict(result):
    """No NaN or Infinity, which other readers refuse; infinity is the string "inf"."""

    def refuse(word):
        pytest.fail(f"{word} is not JSON")

    values = json.loads(result.to_json(), parse_constant=refuse)
    assert values["format"].startswith("geodim.IDResult/")
    for name in ("dimension", "lower", "upper", "error"):
        assert float(values[name]) == getattr(result, name)
    if math.isinf(result.dimension):
        assert values["dimension"] == "inf"


def test_plain_values_only(result):
    def check(value):
        if isinstance(value, dict):
            for key, item in value.items():
                assert type(key) is str
                check(item)
        elif isinstance(value, list):
            for item in value:
                check(item)
        else:
            assert value is None or type(value) in (str, int, float, bool), repr(value)

    check(result.to_dict())


def test_round_trip_of_numpy_options():
    """Numbers given as numpy scalars must not break the JSON."""
    options = {"rtol": np.float32(0.5), "n_threads": np.int64(1), "normalize": np.bool_(True)}
    result = solve(np.random.default_rng(0).normal(size=(40, 2)), **options)
    assert_equal_results(geodim.IDResult.from_json(result.to_json()), result)


def test_long_results_keep_their_sums_and_some_of_phi():
    result = solve(np.random.default_rng(0).normal(size=(9000, 1)))
    values = result.to_dict(max_support=100)
    assert 50 <= len(values["support"]) <= 100
    assert len(values["support"]) == len(values["phi_lower"]) == len(values["phi_upper"])
    assert values["support"][0] == 2
    assert values["support"][-1] == 9000
    short = geodim.IDResult.from_dict(values)
    assert short.dimension == result.dimension
    assert short.exact
    np.testing.assert_array_equal(short.phi_lower, result.phi_lower[short.support - 2])
    assert len(result.to_dict()["support"]) <= 2049
    whole = geodim.IDResult.from_json(result.to_json(max_support=None))
    assert_same_bits(whole.phi_lower, np.asarray(result.phi_lower))


def test_a_shortened_result_still_gives_valid_diameters():
    """Between the sizes that were kept the diameter is bounded by its neighbours.

    It is exact where one was kept.
    """
    X = np.random.default_rng(0).normal(size=(900, 2))
    result = solve(X)
    short = geodim.IDResult.from_dict(result.to_dict(max_support=20))
    for alpha in np.linspace(0.001, 0.9985, 40).tolist():
        low, high = short.observable_diameter_bounds(alpha)
        assert low <= result.observable_diameter(alpha) <= high
        assert low <= short.observable_diameter(alpha) <= high
    with pytest.raises(InputValueError, match="every element of the support"):
        short.support_bounds(range(2, 901))


@pytest.mark.parametrize("cut", [0, 1, 2, 10, 100, 500, -2, -10])
def test_truncated_json(X, tmp_path, cut):
    text = solve(X).to_json()[:cut]
    path = tmp_path / "cut.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(DataFileError, match=r"cut\.json"):
        geodim.IDResult.from_json(path)


@pytest.mark.parametrize(
    "text",
    [
        "{}",
        "[]",
        "[1, 2]",
        '{"format": "other/1"}',
        '{"format": 3}',
        '{"dimension": 4.0}',
        '{"format": "geodim.IDResult/1"}',
    ],
)
def test_foreign_json(text, tmp_path):
    with pytest.raises(DataFileError):
        geodim.IDResult.from_json(text)
    path = tmp_path / "foreign.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(DataFileError) as caught:
        geodim.IDResult.from_json(path)
    assert isinstance(caught.value, GeodimError)
    assert isinstance(caught.value, OSError)


@pytest.mark.parametrize("text", ["3", "null", '"text"', "true", "1e5"])
def test_json_files_that_hold_no_object(text, tmp_path):
    path = tmp_path / "value.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(DataFileError):
        geodim.IDResult.from_json(path)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("phi_lower", "text"), ("phi_lower", [[1.0]]), ("phi_lower", [1.0, None]), ("support", {"a": 1}),
        ("support", [2, 3]), ("discriminability", "many"), ("d_max", None), ("shares", 4), ("n_points", "x"),
    ],
)  # fmt: skip
def test_edited_json(X, field, value):
    """A field of a wrong kind is found when the file is read, not when the number is used."""
    values = solve(X).to_dict()
    values[field] = value
    with pytest.raises(DataFileError):
        geodim.IDResult.from_dict(values)


def test_each_field_is_needed(X):
    values = solve(X).to_dict()
    for name in geodim.IDResult.__dataclass_fields__:
        without = {key: value for key, value in values.items() if key != name}
        with pytest.raises(DataFileError, match=name):
            geodim.IDResult.from_dict(without)


def test_missing_and_unreadable_files(tmp_path, X):
    with pytest.raises(DataFileError, match="nowhere"):
        geodim.IDResult.from_json(tmp_path / "nowhere.json")
    with pytest.raises(DataFileError):
        geodim.IDResult.from_json(tmp_path)
    (tmp_path / "binary.json").write_bytes(b"\xff\xfe\x00\x80")
    with pytest.raises(DataFileError, match="binary"):
        geodim.IDResult.from_json(tmp_path / "binary.json")
    with pytest.raises(DataFileError, match="nowhere"):
        solve(X).to_json(tmp_path / "nowhere" / "result.json")


def test_an_older_file_is_replaced_whole(X, tmp_path):
    path = tmp_path / "result.json"
    path.write_text("old" * 100_000, encoding="utf-8")
    text = solve(X).to_json(str(path))
    assert Path(path).read_text(encoding="utf-8") == text


# ---------------------------------------------------------------- what people see


def test_repr(X):
    exact, bounded = repr(solve(X)), repr(solve(X, rtol=0.1))
    assert "(exact)" in exact
    assert f"{solve(X).dimension:.6g}" in exact
    assert "bounds" in bounded
    assert "(exact)" not in bounded
    assert "inf" in repr(solve(np.zeros((3, 1))))


def test_summary_names_the_features_that_matter():
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"quiet": rng.normal(size=50), "loud": rng.normal(size=50) * 100})
    summary = dict(solve(frame).summary())
    assert summary["carried by"].startswith("loud 100.0%")
    assert summary["points x features"] == "50 x 2"


def test_html_escapes_hostile_names():
    pd = pytest.importorskip("pandas")
    name = "<script>alert('x')</script>&\"'"
    result = solve(pd.DataFrame({name: np.arange(20.0)}))
    html = result._repr_html_()
    assert "<script" not in html
    assert "&lt;script&gt;" in html
    assert html.count("<table") == html.count("</table>") == 1
    assert geodim.IDResult.from_json(result.to_json()).shares == {name: 1.0}


@pytest.mark.parametrize("name", ["\x00", "ü, 測", "\U0001f600", "a\nb", "</td>", "inf", "NaN", ""])
def test_unusual_names_survive(name, tmp_path):
    pl = pytest.importorskip("polars")
    result = solve(pl.DataFrame({name: [0.0, 1.0, 5.0]}))
    assert result.shares == {name: 1.0}
    result.to_json(tmp_path / "r.json")
    assert geodim.IDResult.from_json(tmp_path / "r.json").shares == {name: 1.0}
    assert isinstance(result._repr_html_(), str)
    assert "</td></td>" not in result._repr_html_()


def two_features():
    """Each of two features attains Phi at some sizes."""
    rng = np.random.default_rng(0)
    X = np.stack([np.round(rng.normal(size=200)), rng.normal(size=200) * 0.9], axis=1)
    assert len(solve(X).shares) == 2
    return X


def test_names_that_look_the_same_keep_both_shares():
    """The number 1 and the text "1" name two columns in pandas; their shares still add up to 1."""
    pd = pytest.importorskip("pandas")
    shares = solve(pd.DataFrame(two_features(), columns=pd.Index([1, "1"], dtype=object))).shares
    assert len(shares) == 2
    assert math.fsum(shares.values()) == pytest.approx(1.0)


def test_names_that_are_the_same():
    """Refused with a typed error, or both measured."""
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(two_features(), columns=["same", "same"])
    with contextlib.suppress(InputValueError):
        assert math.fsum(solve(frame).shares.values()) == pytest.approx(1.0)


def test_versions_and_parameters(result):
    assert result.versions["geodim"] == geodim.__version__
    assert {"python", "numpy", "scipy", "numba"} <= set(result.versions)
    assert {"rtol", "normalize", "n_threads"} <= set(result.parameters)


@given(st.floats(1e-300, 1e300))
def test_a_bound_is_shown_rounded_upwards(value: float) -> None:
    shown = Fraction(at_most(value))
    assert Fraction(value) <= shown <= 2 * Fraction(value)
