"""``geodim select``: answers, files, exit codes and terminals."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner, Result

import geodim
from cli.running import called, called_on_terminal
from geodim.cli.app import app

if TYPE_CHECKING:
    from pathlib import Path

X = np.random.default_rng(5).normal(size=(200, 6))


@pytest.fixture
def points(tmp_path: Path) -> Path:
    path = tmp_path / "points.npy"
    np.save(path, X)
    return path


@pytest.fixture
def labelled(tmp_path: Path) -> Path:
    path = tmp_path / "labelled.csv"
    frame = pd.DataFrame(X[:, :3] * [1.0, 5.0, 2.0], columns=["height", "weight", "age"])
    frame.assign(kind=["cat", "dog"] * 100).to_csv(path, index=False)
    return path


def run(*arguments: object) -> Result:
    """Run in this process, which is quicker; stdout is no terminal."""
    return CliRunner().invoke(app, ["select", *map(str, arguments)])


class TestInPipes:
    def test_one_line_of_json_and_nothing_else(self, points: Path) -> None:
        ended = called("select", points, "-m", 3)
        expected = geodim.select_features(X, 3)
        assert (ended.code, ended.err) == (0, "")
        assert ended.json["names"] == expected.names
        assert ended.json["curve"] == expected.curve
        assert ended.json["dimension"] == geodim.intrinsic_dimension(X).dimension
        assert ended.json["format"] == "geodim.select/1"
        assert ended.json["file"] == str(points)

    def test_the_last_bit(self, points: Path) -> None:
        for method in ("greedy", "uniform"):
            found = json.loads(run(points, "--method", method, "-m", 2, "--last-bit").stdout)
            assert found["error"] == 0.0
            assert found["parameters"]["last_bit"] is True
        asked = called_on_terminal("select", points, "--last-bit")
        assert "--last-bit may examine" in asked.err
        assert "relative error" not in asked.out

    def test_options_change_what_they_say(self, points: Path, labelled: Path) -> None:
        default = json.loads(run(points).stdout)
        assert default["fractions"][-1] >= 0.95
        most = json.loads(run(points, "--fraction", 0.9999).stdout)
        assert most["names"] == geodim.select_features(X, fraction=0.9999).names
        raw = json.loads(run(points, "--no-normalize", "-m", 2).stdout)
        assert raw["curve"] == geodim.select_features(X, 2, normalize=False).curve
        assert json.loads(run(points, "--columns", "2-4", "--count", 1).stdout)["n_features"] == 3
        assert json.loads(run(points, "--threads", 1).stdout)["parameters"]["n_threads"] == 1
        assert json.loads(run(labelled, "--exclude", "kind", "-m", 1).stdout)["names"] == ["weight"]

    def test_columns_keep_their_names(self, points: Path) -> None:
        chosen = json.loads(run(points, "--exclude", 0, "-m", 5).stdout)["names"]
        assert sorted(chosen) == ["1", "2", "3", "4", "5"]

    def test_file(self, points: Path, tmp_path: Path) -> None:
        path = tmp_path / "selection.json"
        assert run(points, "-m", 2, "--json", path).exit_code == 0
        assert json.loads(path.read_text())["names"] == geodim.select_features(X, 2).names


class TestOnTerminals:
    def test_table(self, labelled: Path) -> None:
        ended = called_on_terminal("select", labelled, "--exclude", "kind", "--fraction", 1)
        selection = geodim.select_features(pd.read_csv(labelled).drop(columns="kind"), fraction=1.0)
        assert ended.code == 0
        for name in selection.names:
            assert name in ended.err
        assert f"{selection.dimension:.6g}" in ended.err
        assert f"{len(selection.names)} of 3 features" in ended.err

    def test_long_tables_are_cut(self, tmp_path: Path) -> None:
        np.save(tmp_path / "wide.npy", np.random.default_rng(0).normal(size=(30, 40)))
        shown = called_on_terminal("select", tmp_path / "wide.npy", "-m", 40).err
        assert "10 more" in shown
        assert "add nothing" in shown

    def test_quiet(self, points: Path) -> None:
        ended = called_on_terminal("select", points, "-m", 2, "--quiet")
        assert ended.err.split() == geodim.select_features(X, 2).names


class TestErrors:
    @pytest.mark.parametrize(
        ("arguments", "code", "words"),
        [
            (["-m", "2", "--fraction", "0.5"], 2, "not both"),
            (["--fraction", "0"], 2, "above 0"),
            (["-m", "0"], 2, "Invalid value"),
            (["-m", "7"], 3, "-m must be at most 6"),
            (["--columns", "9"], 3, "no column"),
            (["--json", "no/such/folder.json"], 4, "no folder"),
        ],
    )
    def test_options(self, points: Path, arguments: list[str], code: int, words: str) -> None:
        result = run(points, *arguments)
        assert result.exit_code == code
        assert words in result.output
        assert "Traceback" not in result.output

    def test_files(self, tmp_path: Path) -> None:
        assert run(tmp_path / "absent.npy").exit_code == 4
        bad = X.copy()
        bad[3, 2] = np.nan
        np.save(tmp_path / "bad.npy", bad)
        result = run(tmp_path / "bad.npy")
        assert result.exit_code == 3
        assert "row 3, column 2" in result.output

    def test_constant_data_is_a_note(self, tmp_path: Path) -> None:
        np.save(tmp_path / "ones.npy", np.ones((5, 2)))
        ended = called("select", tmp_path / "ones.npy")
        assert ended.code == 0
        assert ended.json["dimension"] == "inf"
        assert "note: no feature" in ended.err


class TestOtherMethods:
    def test_one_line_of_json(self, points: Path, tmp_path: Path) -> None:
        result = run(points, "--method", "resilience", "--drop-correlated", 0.2, "-m", 2)
        values = json.loads(result.stdout)
        top = geodim.top_features(np.load(points), 2, drop_correlated=0.2)
        assert (values["columns"], values["scores"]) == (top.columns, top.scores)
        assert values["dropped_columns"] == top.dropped_columns
        assert run(points, "--method", "uniform", "--json", tmp_path / "top.json").exit_code == 0
        again = geodim.TopFeatures.from_json(tmp_path / "top.json")
        assert (again.weighting, len(again.names)) == ("uniform", 1)
        assert again.parameters["data"] == str(points)

    def test_table(self, points: Path) -> None:
        shown = called_on_terminal("select", points, "--method", "resilience", "--drop-correlated", 0.1)
        assert "1 of 6 features by resilience, 1 dropped by correlation" in " ".join(shown.err.split())

    @pytest.mark.parametrize(
        ("arguments", "words"),
        [
            (["--method", "best"], "not one of greedy, resilience, uniform"),
            (["--drop-correlated", "0.1"], "passes over"),
            (["--method", "resilience", "--drop-correlated", "1"], "below 1"),
            (["--method", "resilience", "--fraction", "0.9"], "--fraction is for --method greedy"),
            (["--method", "uniform", "--time-limit", "9"], "--time-limit is for --method greedy"),
            (["--method", "uniform", "--report", "a.html"], "--report is for --method greedy"),
        ],
    )
    def test_options(self, points: Path, arguments: list[str], words: str) -> None:
        result = run(points, *arguments)
        assert result.exit_code == 2
        assert words in " ".join(result.stderr.replace("│", " ").split())
