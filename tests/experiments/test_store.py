"""Rows on disk and the runner.

Whole or not at all, continued where a run was killed, going on past what cannot be done.
"""

from __future__ import annotations

import csv
import json
import subprocess
import sys
import time
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

import geodim.experiments.store as store_module
from geodim.errors import DataFileError, InputValueError, MissingExtraError
from geodim.experiments import NAMES, get_experiment
from geodim.experiments.experiment import Context, Cost, Experiment, Options, StoppedError, Unit
from geodim.experiments.runner import Outcome, Schedule, make_plan, merge_results, run_plan
from geodim.experiments.store import Store

if TYPE_CHECKING:
    from pathlib import Path


def squares(*numbers: int, calls: list[int] | None = None) -> list[Unit]:
    """Units that square a number, and note that they did."""

    def work(number: int) -> list[dict]:
        if calls is not None:
            calls.append(number)
        if number == 13:
            raise InputValueError("13 brings bad luck")
        if number == 14:
            raise MissingExtraError("torch", "gnn", "squaring 14")
        if number == 15:
            raise StoppedError("enough")
        if number == 16:
            raise KeyboardInterrupt
        return [{"square": number * number}]

    return [
        Unit(
            {"number": number},
            Cost(1.0, 100),
            lambda _context, number=number: work(number),
            missing="get 12 elsewhere" if number == 12 else None,
        )
        for number in numbers
    ]


def experiment(units: list[Unit], name: str = "squares", recipe: int = 1) -> Experiment:
    return Experiment(name, "Squares", "nowhere", recipe, lambda _options: units, lambda _rows: [])


def run(folder: Path, units: list[Unit], **options: object) -> Outcome:
    made = experiment(units)
    store = Store(folder, made)
    plan = Schedule(made, store, [], [], [])
    for unit in units:
        (plan.done if store.is_done(unit) else plan.missing if unit.missing else plan.todo).append(unit)
    return run_plan([plan], Options(), folder, **options)


def rows(folder: Path) -> list[dict]:
    return [
        {name: row[name] for name in ("number", "square")} for row in Store(folder, experiment([])).rows()
    ]


def test_rows_come_back(tmp_path):
    outcome = run(tmp_path, squares(2, 3))
    assert (outcome.computed, outcome.kept, outcome.stopped) == (2, 0, None)
    assert rows(tmp_path) == [{"number": 2, "square": 4}, {"number": 3, "square": 9}]
    with (tmp_path / "squares.csv").open() as stream:
        table = list(csv.DictReader(stream))
    assert [(row["number"], row["square"], row["status"]) for row in table] == [
        ("2", "4", "done"),
        ("3", "9", "done"),
    ]
    document = json.loads((tmp_path / "squares.json").read_text())
    assert document["units"][0]["machine"]["cores"] >= 1
    assert document["units"][0]["rows"] == {"columns": ["square"], "values": [[4]]}
    assert not list(tmp_path.glob(".squares*"))


@pytest.mark.parametrize("end", [15, 16])
def test_only_what_is_missing_is_computed(tmp_path, end):
    calls: list[int] = []
    first = run(tmp_path, squares(2, 3, end, 4, calls=calls))
    assert first.stopped == "interrupted"
    assert calls == [2, 3, end]
    second = run(tmp_path, squares(2, 3, 4, calls=calls))
    assert calls == [2, 3, end, 4]
    assert (second.computed, second.kept) == (1, 2)
    assert rows(tmp_path) == [{"number": n, "square": n * n} for n in (2, 3, 4)]


def test_the_rest_goes_on(tmp_path):
    outcome = run(tmp_path, squares(12, 13, 14, 2))
    assert outcome.computed == 1
    assert outcome.failed == [("squares", "number 13", "13 brings bad luck")]
    assert [one[1] for one in outcome.missing] == ["number 12", "number 14"]
    with (tmp_path / "squares.csv").open() as stream:
        notes = {row["number"]: (row["status"], row["note"]) for row in csv.DictReader(stream)}
    assert notes["12"] == ("not at hand", "get 12 elsewhere")
    assert notes["13"] == ("failed", "13 brings bad luck")
    assert notes["14"][0] == "not at hand"
    assert "geodim[gnn]" in notes["14"][1]
    assert notes["2"][0] == "done"
    calls: list[int] = []
    run(tmp_path, squares(12, 13, 14, 2, calls=calls))
    assert calls == [13, 14]  # tried again: what was missing may be there now


def test_time_limit(tmp_path):
    outcome = run(tmp_path, squares(2, 3), deadline=time.monotonic() - 1.0)
    assert (outcome.computed, outcome.stopped) == (0, "time limit")


def test_another_version_or_recipe_computes_afresh(tmp_path, monkeypatch):
    run(tmp_path, squares(2))
    (unit,) = squares(2)
    assert Store(tmp_path, experiment([])).is_done(unit)
    assert not Store(tmp_path, experiment([], recipe=2)).is_done(unit)
    monkeypatch.setattr(store_module, "__version__", "0.0.0")
    other = Store(tmp_path, experiment([]))
    assert not other.is_done(unit)
    assert other.rows() == []
    other.put(unit, [], status="not at hand", note="elsewhere")
    monkeypatch.undo()
    assert rows(tmp_path) == [{"number": 2, "square": 4}]  # a reason does not take the place of rows


def test_a_failed_write_leaves_the_old_file(tmp_path):
    run(tmp_path, squares(2))
    before = (tmp_path / "squares.json").read_bytes()
    store = Store(tmp_path, experiment([]))
    with pytest.raises(ValueError, match="JSON"):
        store.put(squares(3)[0], [{"square": float("nan")}])
    assert (tmp_path / "squares.json").read_bytes() == before


@pytest.mark.parametrize(
    "text",
    ["", "{", '{"format": "other"}', "[]", '{"format": "geodim.experiment/1", "units": [{"rows": 1}]}'],
)
def test_foreign_files_are_refused(tmp_path, text):
    (tmp_path / "squares.json").write_text(text)
    with pytest.raises(DataFileError, match=r"squares\.json"):
        Store(tmp_path, experiment([]))
    assert (tmp_path / "squares.json").read_text() == text


def test_results_of_two_machines(tmp_path):
    run(tmp_path / "here", squares(2, 12))
    run(tmp_path / "there", squares(2, 3, 13))
    here = Store(tmp_path / "here", experiment([]))
    # Neither what is here nor what failed there.
    assert here.merge(Store(tmp_path / "there", experiment([]))) == 1
    assert rows(tmp_path / "here") == [{"number": 2, "square": 4}, {"number": 3, "square": 9}]
    assert here.merge(Store(tmp_path / "there", experiment([]))) == 0
    # Squares are no experiment of the paper.
    assert merge_results([tmp_path / "there"], tmp_path / "here") == 0


FOREIGN = [
    {"rows": [{"square": "=cmd"}]},
    {"rows": [{}]},
    {"rows": ["square"]},
    {"rows": None},
    {"key": "number 3"},
    {"status": "finished"},
    {"seconds": "long"},
    {"seconds": -1.0},
    {"machine": 3},
    {"version": None},
    {"note": ["x"]},
]


@pytest.mark.parametrize("change", FOREIGN, ids=str)
def test_foreign_rows_are_tried_before_any_is_written(tmp_path, change):
    def compare(found):
        assert all(row["number"] ** 2 == row["square"] for row in found)
        return []

    strict = replace(experiment([]), compare=compare)
    run(tmp_path / "here", squares(2))
    run(tmp_path / "there", squares(3, 4))
    before = {path: path.read_bytes() for path in (tmp_path / "here").iterdir()}
    path = tmp_path / "there" / "squares.json"
    document = json.loads(path.read_text())
    document["units"][-1] |= change
    path.write_text(json.dumps(document))
    with pytest.raises(DataFileError, match=r"there/squares\.json"):
        Store(tmp_path / "here", strict).merge(Store(tmp_path / "there", strict))
    assert {path: path.read_bytes() for path in (tmp_path / "here").iterdir()} == before


def test_all_folders_are_tried_before_any_is_written(tmp_path, monkeypatch):
    made = {name: replace(experiment([]), name=name) for name in ("first", "second")}
    monkeypatch.setattr("geodim.experiments.runner.NAMES", tuple(made))
    monkeypatch.setattr("geodim.experiments.runner.get_experiment", made.__getitem__)
    for folder in ("one", "two"):
        for name, one in made.items():
            Store(tmp_path / folder, one).put(squares(len(folder + name))[0], [{"square": 1}])
    (tmp_path / "two" / "second.json").write_text('{"format": "geodim.experiment/1", "units": [{}]}')
    with pytest.raises(DataFileError, match=r"two/second\.json"):
        merge_results([tmp_path / "one", tmp_path / "two"], tmp_path / "here")
    assert not (tmp_path / "here").exists()
    assert merge_results([tmp_path / "one"], tmp_path / "here") == 2


def test_watch_sees_every_unit(tmp_path):
    seen = []
    run(tmp_path, squares(2, 3), watch=lambda _experiment, unit, share: seen.append((unit.label, share)))
    assert seen == [("number 2", 0.0), ("number 2", 1.0), ("number 3", 0.0), ("number 3", 1.0)]


def test_every_experiment_knows_its_cost_and_what_it_lacks(tmp_path):
    for quick in (False, True):
        plans = make_plan(NAMES, Options(quick=quick, root=tmp_path), tmp_path / "results")
        assert [plan.experiment.name for plan in plans] == list(NAMES)
        for plan in plans:
            units = [*plan.todo, *plan.missing]
            assert units
            assert all(unit.cost.seconds > 0.0 and unit.cost.memory > 0 for unit in units)
            assert len({json.dumps(unit.key) for unit in units}) == len(units)
            assert all("ogbn" in str(unit.key) or "geodim" in str(unit.missing) for unit in plan.missing)
            json.dumps(plan.to_dict())
    with pytest.raises(InputValueError, match="there are statistics"):
        get_experiment("nothing")


def test_killed_between_units(tmp_path):
    """The real program, killed without a chance to clean up.

    The second run computes only the rest, to the same rows.
    """
    command = [
        sys.executable,
        "-m",
        "geodim",
        "reproduce",
        "random",
        "--points",
        "20000,30000",
        "--features",
        "2,3",
    ]
    process = subprocess.Popen([*command, "--output", str(tmp_path)], stdout=subprocess.DEVNULL)
    path = tmp_path / "random.json"
    deadline = time.monotonic() + 50
    while not path.exists() and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.001)
    process.kill()
    process.wait()
    made = get_experiment("random")
    kept = len(Store(tmp_path, made).rows())
    assert kept >= 1
    options = Options(points=(20000, 30000), features=(2, 3))
    (plan,) = make_plan(["random"], options, tmp_path)
    assert len(plan.done) == kept
    outcome = run_plan([plan], options, tmp_path)
    assert (outcome.computed, outcome.kept) == (12 - kept, kept)

    def numbers(rows):
        ignored = ("seconds", "threads")
        return sorted(
            str({name: value for name, value in row.items() if name not in ignored}) for row in rows
        )

    alone = [
        {**unit.key, **row, "status": "done", "note": ""}
        for unit in made.units(options)
        for row in unit.work(Context(options, tmp_path / "state"))
    ]
    assert numbers(Store(tmp_path, made).rows()) == numbers(alone)
