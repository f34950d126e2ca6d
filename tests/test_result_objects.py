"""All result objects alike: plain values, JSON and back, a table for notebooks, a plot; a report for most."""

from __future__ import annotations

import inspect
import json
import math

import numpy as np
import pytest

import geodim
from geodim import baselines
from geodim.baselines import BaselineResult
from geodim.display.html.sources import as_result
from geodim.errors import DataFileError, InputValueError

X = np.random.default_rng(0).normal(size=(80, 3))
RING = [(i, (i + 1) % 80) for i in range(80)]
ALL = ("to_dict", "to_json", "from_dict", "from_json", "_repr_html_", "plot")
REPORTED = ("IDResult", "KHopResult", "FeatureSelection", "Comparison")
# What public functions return that is no result: data, plans of work, and plain values.
NO_RESULTS = {
    "Graph", "GraphDataset", "HopPoints", "None", "Plan", "TableData", "Any", "dict[str, float]", "list[str]",
    "list[dict[str, Any]]", "tuple[Mark, ...]",
}  # fmt: skip


@pytest.fixture(scope="module")
def results():
    hops = geodim.khop_dimensions(X, RING, 2)
    return {
        "IDResult": geodim.intrinsic_dimension(X, removal=True),
        "KHopResult": hops,
        "FeatureSelection": geodim.select_features(X, 2),
        "TopFeatures": geodim.top_features(X, 1, drop_correlated=0.3),
        "Explanation": geodim.explain_hops(X, RING, 1),
        "Comparison": geodim.compare({"a": X, "b": X**2}, repeats=3),
        "SampleCurve": geodim.subsampled_dimensions(X, repeats=2),
        "HopAdvice": geodim.advise(hops),
        "SupportCurve": geodim.support_curve(X > 0.5),
        "BinaryCorrelation": geodim.binary_correlation_dimension(X > 0.5),
        "BaselineResult": baselines.two_nn(X),
    }


def test_the_walk_leaves_nothing_out(results):
    """Whatever a public function returns is a result that is walked over here, or known to be none."""
    returned = set()
    for module in (geodim, baselines):
        for name in module.__all__:
            one = getattr(module, name)
            if inspect.isfunction(one):
                returned.add(str(inspect.signature(one).return_annotation).strip("'"))
    returned = {
        kind.removeprefix("list[").removesuffix("]") if "Result" in kind else kind for kind in returned
    }
    assert returned - NO_RESULTS == set(results)


NAMES = (
    "IDResult", "KHopResult", "FeatureSelection", "Explanation", "Comparison", "SampleCurve", "HopAdvice",
    "BaselineResult", "TopFeatures", "SupportCurve", "BinaryCorrelation",
)  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
class TestEveryResult:
    def test_has_all_of_it(self, results, name):
        assert type(results[name]).__name__ == name
        for method in ALL:
            assert callable(getattr(results[name], method)), method

    def test_there_and_back(self, results, name, tmp_path):
        result = results[name]
        kind = type(result)
        text = result.to_json(tmp_path / "result.json")
        values = json.loads(text)
        assert values["format"].startswith(f"geodim.{name}/")
        for again in (kind.from_json(text), kind.from_json(tmp_path / "result.json"), kind.from_dict(values)):
            assert type(again) is kind
            assert again.to_json() == text
            assert repr(again) == repr(result)
            assert again._repr_html_() == result._repr_html_()

    def test_others_are_refused(self, results, name, tmp_path):
        kind = type(results[name])
        values = results[name].to_dict()
        for wrong in (
            {**values, "format": "geodim.Other/1"},
            {**values, "surprise": 1},
            [values],
            "text",
            None,
        ):
            with pytest.raises(DataFileError):
                kind.from_dict(wrong)
        for field in kind.__dataclass_fields__:
            with pytest.raises(DataFileError):
                kind.from_dict({**values, field: object()})
            with pytest.raises(DataFileError):
                kind.from_dict({key: value for key, value in values.items() if key != field})
        (tmp_path / "cut.json").write_text(results[name].to_json()[:-20])
        with pytest.raises(DataFileError, match=r"cut\.json"):
            kind.from_json(tmp_path / "cut.json")

    def test_shown_in_a_notebook(self, results, name):
        assert results[name]._repr_html_().startswith(("<table", "<p"))

    def test_drawn(self, results, name):
        figure = pytest.importorskip("matplotlib.figure").Figure()
        ax = figure.add_subplot()
        assert results[name].plot(ax) is ax
        assert ax.get_xlabel()
        alone = results[name].plot(title="mine")
        assert alone.get_title(loc="left") == "mine"
        alone.figure.canvas.draw()


@pytest.mark.parametrize("name", REPORTED)
def test_reported(results, name, tmp_path):
    pytest.importorskip("plotly")
    pytest.importorskip("jinja2")
    result = results[name]
    result.report(tmp_path / "one.html", title="Mine")
    page = result.to_html(tmp_path / "two.html", title="Mine")
    assert page == result.to_html(title="Mine")
    assert page.startswith("<!DOCTYPE html>")
    geodim.report(result, tmp_path / "three.html", title="Mine")
    for file in ("one", "two", "three"):
        assert (tmp_path / f"{file}.html").read_text(encoding="utf-8") == page
    with pytest.raises(InputValueError, match=r"\.html"):
        result.to_html(tmp_path / "page.pdf")


def test_a_comparison_is_told_in_its_report(results):
    pytest.importorskip("plotly")
    assert (
        "not distinguishable" in results["Comparison"].to_html() or "lower" in results["Comparison"].to_html()
    )


def test_infinite_numbers_come_back():
    estimate = BaselineResult("mle", math.inf, 3, 2, 3)
    assert BaselineResult.from_json(estimate.to_json()) == estimate
    estimate.plot().figure.canvas.draw()
    undefined = BaselineResult("other", math.nan, 3, 2, 3)
    assert math.isnan(BaselineResult.from_json(undefined.to_json()).dimension)


def test_several_estimates_in_one_plot():
    pytest.importorskip("matplotlib")
    ax = baselines.two_nn(X).plot()
    baselines.mle(X).plot(ax)
    assert [label.get_text() for label in ax.get_yticklabels()] == ["twonn", "mle"]


@pytest.mark.parametrize("lists", [["sizes"], ["dimensions"], ["ranges", "windows"]])
def test_curves_whose_lists_do_not_fit(results, lists):
    values = results["SampleCurve"].to_dict()
    for name in lists:
        values[name] = values[name][:-1]
    with pytest.raises(DataFileError, match="different lengths"):
        type(results["SampleCurve"]).from_dict(values)


def test_what_the_commands_write_is_read_by_python(results, tmp_path):
    """`geodim report` knows three kinds, and says so of the others."""
    for name in NAMES[3:]:
        with pytest.raises(DataFileError, match="expected a file written by"):
            as_result(results[name].to_dict())
