"""Saved results from strangers: every field has a kind and a range, and they must belong together."""

from __future__ import annotations

import copy
import json
import math
import os

import numpy as np
import pytest

import geodim
from geodim.data.files import read_json
from geodim.display.html.sources import as_result, read_item
from geodim.errors import DataFileError, GeodimError
from geodim.explain.select import FeatureSelection
from geodim.khop_result import KHopResult
from geodim.result import IDResult

X = np.random.default_rng(0).normal(size=(50, 3))
EDGES = np.random.default_rng(1).integers(0, 50, (2, 90))
ONE = {"n_threads": 1}


@pytest.fixture(scope="module")
def saved():
    return {
        "exact": geodim.intrinsic_dimension(X, **ONE).to_dict(),
        "bounds": geodim.intrinsic_dimension(X, rtol=0.1, **ONE).to_dict(),
        "stopped": _stopped().to_dict(),
        "weighted": geodim.intrinsic_dimension(X, weights=np.full(50, 3), **ONE).to_dict(),
        "equal": _equal().to_dict(),
        "one": _one().to_dict(),
        "hops": geodim.khop_dimensions(X, EDGES, 2, **ONE).to_dict(),
        "selection": geodim.select_features(X, 2, **ONE).to_dict(),
    }


def _stopped():
    with pytest.warns(geodim.errors.InterruptedWarning):
        return geodim.intrinsic_dimension(X, time_limit=0.0, **ONE)


def _equal():
    with pytest.warns(geodim.errors.DegenerateDataWarning):
        return geodim.intrinsic_dimension(np.ones((4, 2)), **ONE)


def _one():
    with pytest.warns(geodim.errors.DegenerateDataWarning):
        return geodim.intrinsic_dimension(np.ones((1, 2)), **ONE)


@pytest.mark.parametrize(
    "kind", ["exact", "bounds", "stopped", "weighted", "equal", "one", "hops", "selection"]
)
def test_every_result_comes_back_as_it_was(saved, kind):
    text = json.dumps(saved[kind])
    assert json.dumps(as_result(json.loads(text)).to_dict()) == text


FALSE = [
    ("exact", {"n_points": 0}, "n_points"),
    ("exact", {"n_points": True}, "n_points"),
    ("exact", {"n_points": 2**63}, "n_points"),
    ("exact", {"n_points": 10}, "beyond the 10 points"),
    ("exact", {"n_features": 2.0}, "n_features"),
    ("exact", {"normalized": 1}, "normalized"),
    ("exact", {"d_max": -1.0}, "d_max"),
    ("exact", {"d_max": "inf"}, "d_max"),
    ("exact", {"d_max": math.inf}, "d_max"),
    ("exact", {"discriminability": "0.5"}, "discriminability"),
    ("exact", {"discriminability": 0.0}, "bounds"),
    ("bounds", {"discriminability_lower": 0.9}, "between its bounds"),
    ("bounds", {"discriminability_upper": "inf"}, "no upper bound"),
    ("bounds", {"exact": True}, "said to be exact"),
    ("exact", {"exact": None}, "exact"),
    ("exact", {"stopped": 3}, "stopped"),
    ("exact", {"n_indistinguishable": 51}, "indistinguishable"),
    ("exact", {"evaluations": -1}, "evaluations"),
    ("exact", {"seconds": "long"}, "seconds"),
    ("exact", {"seconds": 10**400}, "seconds"),
    ("exact", {"shares": {"0": 0.5, "1": 0.1, "2": 0.1}}, "add up"),
    ("exact", {"shares": {"0": "1"}}, "'0'"),
    ("exact", {"shares": {}}, "without a share"),
    ("exact", {"parameters": {"rtol": "x"}}, "rtol"),
    ("exact", {"parameters": {"n_threads": 10**5000}}, "n_threads"),
    ("exact", {"parameters": {"other": 10**5000}}, "other"),
    ("exact", {"parameters": {"a": {"b": {"c": {"d": {"e": {}}}}}}}, "plain"),
    ("exact", {"versions": {"geodim": 3}}, "geodim"),
    ("exact", {"versions": "all"}, "versions"),
    ("exact", {"dimension": 1.0}, "dimension"),
    ("exact", {"error": 0.5}, "error"),
    ("exact", {"surprise": 1}, "surprise"),
    ("exact", {"feature_error": -0.1}, "feature_error"),
    ("exact", {"attained_from": [2, 2, 3]}, "attained"),
    ("hops", {"results": []}, "no hops"),
    ("hops", {"drops": [0.0]}, "drops"),
    ("hops", {"dimensions": [1.0, 1.0, 1.0]}, "dimensions"),
    ("hops", {"operator": {"operator": 4}}, "operator"),
    ("hops", {"graph": {"n_edges": 10**5000}}, "n_edges"),
    ("hops", {"graph": [1]}, "graph"),
    ("selection", {"columns": [0, 0]}, "twice"),
    ("selection", {"columns": [0, 7]}, "not there"),
    ("selection", {"names": ["a", 2]}, "names"),
    ("selection", {"total": 0.0}, "total"),
    ("selection", {"useful": 9}, "useful"),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "changes", "words"), FALSE)
def test_what_cannot_be_is_refused_with_the_field(saved, kind, changes, words):
    with pytest.raises(DataFileError, match=words):
        as_result({**saved[kind], **changes})


def _changed(values, name, at, value):
    changed = copy.deepcopy(values)
    changed[name][at] = value
    return changed


@pytest.mark.parametrize(
    ("name", "at", "value", "words"),
    [
        ("support", 3, 3, "ascend"),
        ("support", 0, 1, "entry 0"),
        ("support", 0, 2.0, "entry 0"),
        ("support", -1, 51, "beyond"),
        ("phi_lower", 5, math.nan, "entry 5"),
        ("phi_lower", 5, 0.0, "ascend"),
        ("phi_lower", 5, "inf", "entry 5"),
        ("phi_upper", 5, -1.0, "entry 5"),
        ("phi_lower", -1, 1e6, "more than phi_upper"),
    ],
)
def test_entries_of_curves(saved, name, at, value, words):
    with pytest.raises(DataFileError, match=words):
        IDResult.from_dict(_changed(saved["bounds" if "phi" in name else "exact"], name, at, value))


def test_hops_must_be_about_the_same_nodes(saved):
    for name, value in (("n_points", 60), ("n_features", 3), ("normalized", False)):
        changed = copy.deepcopy(saved["hops"])
        changed["results"][2][name] = value
        with pytest.raises(DataFileError, match=name):
            KHopResult.from_dict(changed)
    swapped = {**saved["hops"], "results": saved["hops"]["results"][::-1]}
    with pytest.raises(DataFileError):
        KHopResult.from_dict(swapped)


def test_a_choice_of_features_reads_itself_back(saved):
    assert FeatureSelection.from_dict(saved["selection"]).to_dict() == saved["selection"]
    for other in (saved["hops"], [], {**saved["selection"], "format": ["geodim.FeatureSelection/3"]}):
        with pytest.raises(DataFileError, match=r"expected format 'geodim\.FeatureSelection/3'"):
            FeatureSelection.from_dict(other)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"[" * 100_000, "too deeply"),
        (b'{"a":' * 100_000, "too deeply"),
        (b"1" * 5000, "not valid JSON"),
        (b'{"format": "geodim.IDResult/3", "format": "geodim.IDResult/3"}', "twice"),
        (b'{"x": NaN}', "NaN"),
        (b'{"x": -Infinity}', "Infinity"),
        (b'{"x": "\xff"}', "utf-8"),
        (b"", "not valid JSON"),
        (b"\x00\x00", "not valid JSON"),
    ],
    ids=lambda value: str(value)[:20],
)
def test_documents_that_no_json_reader_should_take(tmp_path, content, words):
    path = tmp_path / "odd.json"
    path.write_bytes(content)
    for read in (read_json, IDResult.from_json, KHopResult.from_json, read_item):
        with pytest.raises(DataFileError, match=words) as caught:
            read(path)
        assert "odd.json" in str(caught.value)


def test_errors_of_a_file_name_it(saved, tmp_path):
    path = tmp_path / "edited.json"
    path.write_text(json.dumps({**saved["exact"], "d_max": -1}))
    with pytest.raises(DataFileError, match=r"edited\.json: .*'d_max'"):
        IDResult.from_json(path)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes on this system")
def test_a_named_pipe_does_not_hang(tmp_path):
    os.mkfifo(tmp_path / "pipe.json")
    with pytest.raises(DataFileError, match="pipe"):
        IDResult.from_json(tmp_path / "pipe.json")


@pytest.mark.skipif(not os.path.exists("/dev/fd"), reason="no /dev/fd on this system")  # noqa: PTH110
def test_a_pipe_from_another_program_is_read(saved):
    reading, writing = os.pipe()
    with open(writing, "w", encoding="utf-8") as stream:  # noqa: PTH123
        json.dump(saved["equal"], stream)
    try:
        assert IDResult.from_json(f"/dev/fd/{reading}").n_points == 4
    finally:
        os.close(reading)


@pytest.mark.unix
@pytest.mark.parametrize("name", ["", ".", "/dev/zero", "a\x00b", "x" * 5000])
def test_what_is_no_file(name):
    with pytest.raises(GeodimError):
        IDResult.from_json(name)


def test_a_file_beyond_the_memory_is_refused_by_its_size(tmp_path):
    path = tmp_path / "large.json"
    with path.open("wb") as stream:
        stream.truncate(10**13)  # takes no room on the disk
    with pytest.raises(GeodimError, match=r"large\.json needs .* of memory"):
        IDResult.from_json(path)


TYPO = np.where(np.arange(150)[:, np.newaxis] == 7, 1e4, np.random.default_rng(2).normal(size=(150, 3)))


def test_alerts_come_back(saved):
    result = geodim.intrinsic_dimension(TYPO, feature_names=["a", "<b>", "c\x1b[31m"], **ONE)
    assert [alert.code for alert in result.alerts] == ["outliers"]
    assert IDResult.from_json(result.to_json()).alerts == result.alerts
    chosen = geodim.select_features(TYPO, 2, **ONE)
    assert [alert.code for alert in chosen.alerts] == ["outliers"]
    assert FeatureSelection.from_dict(json.loads(chosen.to_json())).alerts == chosen.alerts
    before = {name: value for name, value in saved["selection"].items() if name != "alerts"}
    assert FeatureSelection.from_dict({**before, "format": "geodim.FeatureSelection/1"}).alerts == ()


def test_selections_written_before_they_had_an_error_are_exact(saved):
    before = {name: value for name, value in saved["selection"].items() if name != "error"}
    with pytest.raises(DataFileError, match="lacks the field 'error'"):
        FeatureSelection.from_dict(before)
    again = FeatureSelection.from_dict({**before, "format": "geodim.FeatureSelection/2"})
    assert again.to_dict() == saved["selection"]
    top = geodim.top_features(TYPO, 2, **ONE).to_dict()
    old = {name: value for name, value in top.items() if name != "error"}
    assert geodim.TopFeatures.from_dict({**old, "format": "geodim.TopFeatures/1"}).to_dict() == top
    for wrong in (-0.1, 1.5, "0", None):
        with pytest.raises(DataFileError, match="error"):
            FeatureSelection.from_dict({**saved["selection"], "error": wrong})
        with pytest.raises(DataFileError, match="error"):
            geodim.TopFeatures.from_dict({**top, "error": wrong})


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"severity": "dire"}, "warning or note"),
        ({"message": 3}, "message"),
        ({"evidence": [1]}, "evidence"),
        ({"evidence": {"x": 10**5000}}, "evidence"),
        ({"surprise": ""}, "surprise"),
    ],
)
def test_alerts_that_are_none(changes, words):
    values = geodim.intrinsic_dimension(TYPO, **ONE).to_dict()
    values["alerts"][0] |= changes
    with pytest.raises(DataFileError, match=words):
        IDResult.from_dict(values)


@pytest.mark.parametrize("version", [1, 2, 3, 4])
def test_files_of_earlier_versions_have_no_alerts(saved, version):
    later = {2: ["attained_from", "attained_by"], 3: ["feature_error"], 4: ["plan"], 5: ["alerts"]}
    values = dict(saved["exact"])
    for since, names in later.items():
        for name in names if since > version else ():
            del values[name]
    assert IDResult.from_dict({**values, "format": f"geodim.IDResult/{version}"}).alerts == ()
