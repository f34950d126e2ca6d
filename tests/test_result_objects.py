"""All result objects alike: plain values, JSON and back, a table for notebooks, a plot; a report for most."""

from __future__ import annotations

import inspect
import json
import math
import re
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

import geodim
from geodim import baselines, gnn, plans
from geodim.baselines import BaselineResult
from geodim.display.html.sources import as_result
from geodim.errors import CertificateError, DataFileError, InputValueError

ROOT = Path(__file__).parents[1]
X = np.random.default_rng(0).normal(size=(80, 3))
RING = [(i, (i + 1) % 80) for i in range(80)]
ALL = ("to_dict", "to_json", "from_dict", "from_json", "_repr_html_", "plot")
REPORTED = ("IDResult", "KHopResult", "FeatureSelection", "Comparison")
# Classes of ours that public functions, methods and properties return, and that are no results.
NO_RESULTS = {
    "Graph", "GraphDataset", "TableData", "HopPoints",  # data, to compute with
    "Alert", "Mark", "PlanRecord", "Removal", "Verdict", "Way",  # parts of results, saved and shown with them
    "StreamingDimension",  # its state; what it found is an IDResult
    "ColumnSource", "DirectionSource", "Family", "MadeColumns", "Points", "Sizes",  # of families
    "CoreRates", "HopInputs", "SIGN",  # rates of a machine, hop features in files, a network with its weights
    "Arithmetic", "Steps",  # how an operator computes
    "Ranking",  # a dictionary
    "Algorithm2Result", "DeltaBounds",  # tuples of the numbers that the paper's algorithms return
}  # fmt: skip
# Public classes that hold data or settings: they compute results, docs/objects.md says what they have.
NO_RESULT_CLASSES = {
    "Directions", "Distances", "Patches", "Pixels", "Terms", "Union", "Values",  # families of features
    "DiscriminabilitySelector", "IntrinsicDimension", "KHopIntrinsicDimension", "StreamingDimension",
    "WhatIf", "Problem", "Alert", "HopPoints",
    "CoreRates", "DeviceRates", "Way",  # of plans
    "EarlyStopping", "HopInputs", "SIGN", "SignSettings",  # of trainings
    "DimensionCallback", "DimensionMetric", "LayerDimension",  # of PyTorch: they are fed
    "MatrixOperator", "Operator", "SeriesOperator",  # of graphs
    "Algorithm2Result", "DeltaBounds",
}  # fmt: skip


@pytest.fixture(scope="module")
def results():
    hops = geodim.khop_dimensions(X, RING, 2)
    one = geodim.intrinsic_dimension(X, removal=True)
    splits = {"train": np.arange(40), "valid": np.arange(40, 60), "test": np.arange(60, 80)}
    settings = gnn.SignSettings(hidden=4, max_epochs=3)
    fit = gnn.fit_sign(gnn.hop_inputs(X, RING, 1), np.arange(80) % 2, splits, settings=settings)
    return {
        "IDResult": one,
        "Gauge": one.gauge,
        "Certificate": one.certificate(),
        "Plan": geodim.plan(geodim.Problem(10**6, 32, 4), "cpu", n_threads=2, memory=10**9),
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
        "SignCost": gnn.estimate_cost(["cora", "pubmed"]),
        "SignFit": fit,
        "SignRun": gnn.SignRun("<b>", 1, 0, 7, 0.5, 0.75, 20, 5, 9, 1.0, "cpu", 2, "2.13"),
    }


def annotated(one):
    """What public functions, and public methods and properties of classes, are annotated to return."""
    if inspect.isfunction(one):
        yield str(inspect.signature(one).return_annotation)
    elif inspect.isclass(one):
        for name, held in inspect.getmembers_static(one):
            function = getattr(held, "fget", None) or getattr(held, "__func__", held)
            if not name.startswith("_") and inspect.isfunction(function):
                yield str(inspect.signature(function).return_annotation)
        yield from map(str, getattr(one, "__annotations__", {}).values())


def public():
    """Everything that a page of the reference names, and plans; `geodim.pyg` has a transform alone."""
    names = {page.stem for page in (ROOT / "docs" / "reference" / "modules").glob("*.rst")}
    modules = {import_module(f"geodim.{name}") for name in names - {"errors", "pyg"}}
    assert {baselines, gnn} < modules
    for module in (geodim, plans, *modules):
        for name in module.__all__:
            yield name, getattr(module, name)


def ours():
    """The names of all classes in the package."""
    texts = [path.read_text(encoding="utf-8") for path in Path(geodim.__file__).parent.rglob("*.py")]
    return {name for text in texts for name in re.findall(r"^class (\w+)", text, re.MULTILINE)}


def test_the_walk_leaves_nothing_out(results):
    """What public functions and methods return is a result that is walked over here, or known to be none."""
    words = {word for _, one in public() for kind in annotated(one) for word in re.findall(r"\w+", kind)}
    returned = (words & ours()) - NO_RESULTS - NO_RESULT_CLASSES
    assert returned == set(results)


def test_every_public_class_is_a_result_or_makes_some(results):
    classes = {name for name, one in public() if inspect.isclass(one)}
    assert classes - NO_RESULT_CLASSES <= set(results)
    assert not classes & NO_RESULT_CLASSES & set(results)


NAMES = (
    "IDResult", "KHopResult", "FeatureSelection", "Explanation", "Comparison", "SampleCurve", "HopAdvice",
    "BaselineResult", "TopFeatures", "SupportCurve", "BinaryCorrelation", "Plan", "Gauge", "Certificate",
    "SignCost", "SignFit", "SignRun",
)  # fmt: skip


def test_every_result_is_walked_over(results):
    assert set(NAMES) == set(results)


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
        error = CertificateError if name == "Certificate" else DataFileError
        for wrong in (
            {**values, "format": "geodim.Other/1"},
            {**values, "surprise": 1},
            [values],
            "text",
            None,
        ):
            with pytest.raises(error):
                kind.from_dict(wrong)
        for field in set(getattr(kind, "__dataclass_fields__", values)) - {"model"}:  # has a file of its own
            with pytest.raises(error):
                kind.from_dict({**values, field: object()})
            with pytest.raises(error):
                kind.from_dict({key: value for key, value in values.items() if key != field})
        (tmp_path / "cut.json").write_text(results[name].to_json()[:-20])
        with pytest.raises(error, match=r"cut\.json"):
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


@pytest.mark.parametrize(
    "wrong", [{"hops": 3}, {"memory_added": 10**12}, {"itemsize": 2}, {"backend": "abacus"}, {"notes": [1]}]
)
def test_plans_that_contradict_themselves(results, wrong):
    with pytest.raises(DataFileError):
        geodim.Plan.from_dict(results["Plan"].to_dict() | wrong)


def test_what_follows_is_computed_again(results):
    plan, gauge = results["Plan"], results["Gauge"]
    assert geodim.Plan.from_dict(plan.to_dict() | {"fits": False}).fits is True
    assert geodim.Gauge.from_dict(gauge.to_dict() | {"level": "highest"}).level == gauge.level


@pytest.mark.parametrize("place", ["cpu", "cuda"])
def test_plans_of_every_kind(place):
    pytest.importorskip("matplotlib")
    for problem in (
        geodim.Problem(10**9, 64, 8, rtol=1e-3),
        geodim.Problem(10**14, 10**4),
        geodim.Problem(10**5, 8, hops=3, stored_entries=10**6),
    ):
        plan = geodim.plan(problem, place, memory=10**10)
        again = geodim.Plan.from_json(plan.to_json())
        assert again == plan
        assert again._repr_html_() == plan._repr_html_()
        plan.plot().figure.canvas.draw()


@pytest.mark.parametrize(
    "wrong", [{"lower": 1e9}, {"upper": 1e-9}, {"dimension": 0.0}, {"marks": {}}, {"marks": {"even": -1.0}}]
)
def test_gauges_that_contradict_themselves(results, wrong):
    with pytest.raises(DataFileError):
        geodim.Gauge.from_dict(results["Gauge"].to_dict() | wrong)


def test_names_of_marks_and_notes_are_no_html(results):
    gauge = geodim.Gauge.from_dict(results["Gauge"].to_dict() | {"marks": {"<b>": 4.0}})
    plan = geodim.Plan.from_dict(results["Plan"].to_dict() | {"notes": ["<b>"]})
    for one in (gauge, plan):
        assert "&lt;b&gt;" in one._repr_html_()
        assert "<b>" not in one._repr_html_()
        one.plot().figure.canvas.draw()


def test_a_certificate_of_hops(tmp_path):
    hops = geodim.khop_dimensions(X, RING, 2)
    certificate = hops.certificate(X, RING)
    assert certificate.to_json(tmp_path / "c.json") == (tmp_path / "c.json").read_text()
    assert certificate._repr_html_().count("<tr>") == 4
    rows = [label.get_text() for label in certificate.plot().get_yticklabels()]
    assert rows == ["0 hops", "1 hop", "2 hops"]


def test_what_if_is_shown(results):
    """It asks the data, and is not saved; what it shows are the answers for single features."""
    pytest.importorskip("matplotlib")
    what_if = geodim.WhatIf(X, feature_names=["a", "a", "<b>"])
    removals = what_if.removals()
    assert len(removals) == len(what_if.result.shares)
    known = results["IDResult"].removal.without
    assert sorted(removals.values()) == sorted(known.values())
    assert what_if.removals(1) == dict([next(iter(removals.items()))])
    assert "&lt;b&gt;" in what_if._repr_html_()
    assert "<b>" not in what_if._repr_html_()
    assert repr(what_if).startswith("WhatIf(dimension")
    ax = what_if.plot(title="mine")
    assert ax.get_yticklabels()[0].get_text() == "as it is"
    assert len(ax.get_yticklabels()) == 1 + len(removals)
    assert geodim.WhatIf(X[:, :1]).removals() == {}


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


@pytest.mark.parametrize(
    "wrong",
    [
        {"best_epoch": 9},
        {"losses": [0.5]},
        {"valid_accuracies": [0.5]},
        {"valid_accuracy": 0.123},
        {"epochs": 0},
    ],
    ids=str,
)
def test_trainings_that_contradict_themselves(results, wrong):
    with pytest.raises(DataFileError):
        gnn.SignFit.from_dict(results["SignFit"].to_dict() | wrong)


def test_a_training_that_diverged_comes_back(results):
    values = results["SignFit"].to_dict()
    values["losses"] = ["inf", "nan", *values["losses"][2:]]
    again = gnn.SignFit.from_dict(values)
    assert again.model is None
    assert again.losses[0] == math.inf
    assert math.isnan(again.losses[1])
    assert again.to_dict() == values


def test_runs_in_one_plot_and_names_that_are_no_html(results):
    run = results["SignRun"]
    assert "&lt;b&gt;, k = 1" in run._repr_html_()
    pytest.importorskip("matplotlib")
    ax = run.plot()
    run.plot(ax)
    assert len(ax.get_yticklabels()) == 2
    assert ax.get_xlabel() == "test accuracy"
