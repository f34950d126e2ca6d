"""`KHopResult`: what it says, and that JSON brings it back."""

from __future__ import annotations

import json

import numpy as np
import pytest

import geodim
from engine.oracle import assert_same_bits
from geodim import KHopResult
from geodim.errors import DataFileError, DegenerateDataWarning, InterruptedWarning

RNG = np.random.default_rng(21)
X = np.where(RNG.random((120, 6)) < 0.2, RNG.random((120, 6)), 0.0)
EDGES = RNG.integers(0, 120, (2, 300))


@pytest.fixture(scope="module")
def exact():
    return geodim.khop_dimensions(X, EDGES, hops=3)


@pytest.fixture(scope="module", params=["exact", "rtol", "stopped", "infinite"])
def result(request, exact):
    """Results of every kind."""
    if request.param == "exact":
        return exact
    if request.param == "rtol":
        return geodim.khop_dimensions(X, EDGES, hops=3, rtol=0.05, operator="ppr")
    if request.param == "stopped":
        with pytest.warns(InterruptedWarning):
            return geodim.khop_dimensions(X, EDGES, hops=3, time_limit=0)
    with pytest.warns(DegenerateDataWarning):
        return geodim.khop_dimensions(np.ones((4, 1)), [(0, 1), (1, 2), (2, 3), (3, 0)], hops=2)


def assert_equal_results(one, other):
    assert one.dimensions == other.dimensions
    assert one.drops == other.drops
    assert one.rows() == other.rows()
    assert (one.operator, one.graph) == (other.operator, other.graph)
    assert repr(one) == repr(other)
    for left, right in zip(one, other, strict=True):
        assert_same_bits(left.phi_lower, right.phi_lower)
        assert_same_bits(left.phi_upper, right.phi_upper)
        np.testing.assert_array_equal(left.support, right.support)
        assert left.shares == right.shares
        assert (left.stopped, left.exact, left.error) == (right.stopped, right.exact, right.error)
        assert left.parameters == right.parameters


def test_json_and_back(result, tmp_path):
    text = result.to_json(tmp_path / "result.json")
    assert (tmp_path / "result.json").read_text() == text
    for source in (text, tmp_path / "result.json", str(tmp_path / "result.json")):
        assert_equal_results(KHopResult.from_json(source), result)
    assert KHopResult.from_json(text).to_json() == text
    assert [path.name for path in tmp_path.iterdir()] == ["result.json"]


def test_json_is_plain(result):
    values = json.loads(result.to_json(), parse_constant=lambda name: pytest.fail(f"{name} is not JSON"))
    assert values["format"] == "geodim.KHopResult/2"
    assert len(values["results"]) == len(result)
    assert [float(value) for value in values["dimensions"]] == result.dimensions
    assert [float(value) for value in values["drops"]] == result.drops


def test_json_of_a_stopped_pass_under_another_operator():
    with pytest.warns(InterruptedWarning):
        result = geodim.khop_dimensions(X, EDGES, hops=1, operator="rw", time_limit=0)
    assert_equal_results(KHopResult.from_json(result.to_json()), result)


def test_json_of_numpy_parameters():
    options = {"operator": "ppr", "operator_parameters": {"alpha": np.float32(0.25)}}
    result = geodim.khop_dimensions(X, EDGES, hops=1, **options)
    assert KHopResult.from_json(result.to_json()).operator["alpha"] == 0.25


def test_json_can_be_thinned(exact):
    thin = KHopResult.from_json(exact.to_json(max_support=20))
    assert all(one.support.size <= 20 for one in thin)
    assert thin.dimensions == exact.dimensions
    whole = KHopResult.from_json(exact.to_json(max_support=None))
    assert [one.support.size for one in whole] == [119] * 4


def test_sequence_of_results(exact):
    assert exact.hops == 3
    assert len(exact) == 4
    assert exact[2] is exact.results[2]
    assert exact[-1] is exact.results[3]
    assert list(exact) == exact.results
    assert exact.dimensions == [one.dimension for one in exact]
    with pytest.raises(IndexError):
        exact[4]


def test_drops(exact):
    before = exact.dimensions
    assert exact.drops == [1.0 - before[k] / before[k - 1] for k in (1, 2, 3)]
    assert all(0.0 <= drop < 1.0 for drop in exact.drops)
    assert exact.drops[0] > 0.01


def test_drops_from_infinity():
    with pytest.warns(DegenerateDataWarning):
        path = geodim.khop_dimensions(np.ones((3, 1)), [(0, 1), (1, 2)], hops=2)
    assert path.dimensions[0] == np.inf
    assert np.isfinite(path.dimensions[1])
    assert path.drops[0] == 1.0
    assert not np.isnan(path.drops).any()


def test_no_hops_no_drops():
    assert geodim.khop_dimensions(X, EDGES, hops=0).drops == []


def test_rows(result):
    rows = result.rows()
    assert [row["k"] for row in rows] == list(range(len(result)))
    assert [row["drop"] for row in rows] == [None, *result.drops]
    for row, one in zip(rows, result, strict=True):
        for name in ("dimension", "lower", "upper", "error", "discriminability", "exact"):
            assert row[name] == getattr(one, name)
        assert row["lower"] <= row["dimension"] <= row["upper"]


def test_repr(exact):
    inner = ", ".join(f"{value:.6g}" for value in exact.dimensions)
    assert repr(exact) == f"KHopResult(dimensions=[{inner}], operator='sym')"


def test_html(result):
    html = result._repr_html_()
    assert html.startswith("<table>")
    assert html.endswith("</ul>" if result.alerts else "</table>")
    assert html.count("<tr>") == html.count("</tr>") == len(result) + 1
    assert f"{result[1].dimension:.6g}" in html


def test_what_was_found_in_the_graph(exact):
    assert exact.graph["n_nodes"] == 120
    assert exact.operator["operator"] == "sym"
    json.dumps([exact.graph, exact.operator], allow_nan=False)


def test_plot(exact):
    pytest.importorskip("matplotlib")
    ax = exact.plot(title="mine")
    assert ax.get_title(loc="left") == "mine"


# ---------------------------------------------------------------- what is not a result


@pytest.mark.parametrize("text", ["{", "{]", '{"format": NaN'])
def test_not_json(text):
    with pytest.raises(DataFileError, match="not valid JSON"):
        KHopResult.from_json(text)


def test_no_file(tmp_path):
    with pytest.raises(DataFileError, match="absent"):
        KHopResult.from_json(tmp_path / "absent.json")


def test_other_results_are_refused(exact):
    with pytest.raises(DataFileError, match="not a geodim k-hop result"):
        KHopResult.from_json(exact[0].to_json())
    with pytest.raises(DataFileError, match="not a geodim k-hop result"):
        KHopResult.from_json("{}")


@pytest.mark.parametrize("name", ["results", "operator", "graph"])
def test_a_field_is_missing(exact, name):
    values = exact.to_dict()
    del values[name]
    with pytest.raises(DataFileError, match=name):
        KHopResult.from_dict(values)


def test_a_field_of_one_result_is_missing(exact):
    values = exact.to_dict()
    del values["results"][1]["phi_lower"]
    with pytest.raises(DataFileError, match="phi_lower"):
        KHopResult.from_dict(values)


@pytest.mark.parametrize("results", [3, [3], None, [None], "text"])
def test_results_of_another_type(exact, results):
    with pytest.raises(DataFileError):
        KHopResult.from_dict(exact.to_dict() | {"results": results})


def test_a_list_is_not_a_result():
    with pytest.raises(DataFileError):
        KHopResult.from_json("[1, 2]")
