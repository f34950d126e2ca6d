"""``geodim compare`` and ``geodim subsample``: verdicts on a terminal, in pipes, in files and in reports."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner, Result

import geodim
from cli.running import called_on_terminal
from geodim.cli.app import app

if TYPE_CHECKING:
    from pathlib import Path

RNG = np.random.default_rng(5)
EVEN, BELL = RNG.random((200, 3)), RNG.normal(size=(300, 3))


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    np.save(tmp_path / "even.npy", EVEN)
    pd.DataFrame(BELL, columns=["a", "b", "c"]).assign(kind="x").to_csv(tmp_path / "bell.csv", index=False)
    return tmp_path / "even.npy", tmp_path / "bell.csv"


def run(*arguments: object) -> Result:
    return CliRunner().invoke(app, list(map(str, arguments)))


def one_line(text: str) -> str:
    return " ".join(text.split())


class TestCompare:
    def test_in_a_pipe_and_a_file(self, files: tuple[Path, Path], tmp_path: Path) -> None:
        even, bell = files
        ended = run("compare", even, bell, "--exclude", "kind", "--repeats", 5, "--json", tmp_path / "c.json")
        assert ended.exit_code == 3  # even.npy has no column of that name
        ended = run("compare", even, bell, "--columns", "0-2", "--repeats", 5, "--json", tmp_path / "c.json")
        values = json.loads(ended.stdout)
        expected = geodim.compare({str(even): EVEN, str(bell): BELL}, repeats=5)
        assert [one["verdict"] for one in values["verdicts"]] == ["lower"]
        assert values["samples"] == json.loads(expected.to_json())["samples"]
        assert values["format"] == "geodim.compare/2"
        written = json.loads((tmp_path / "c.json").read_text())
        assert {**written, "format": values["format"]}.items() >= values.items()
        assert geodim.Comparison.from_json(tmp_path / "c.json").points == values["points"]

    def test_on_a_terminal(self, files: tuple[Path, Path]) -> None:
        even, bell = files
        shown = one_line(called_on_terminal("compare", even, bell, "--columns", "0-2", "--repeats", 3).err)
        assert "at 100 points" in shown
        assert "what differs" in shown
        assert "is lower than" in shown
        assert "and so in 3 of 3 draws" in shown
        quiet = called_on_terminal("compare", even, bell, "--columns", "0-2", "--repeats", 3, "-q").err
        assert quiet.strip().count("\n") == 0

    def test_not_comparable(self, files: tuple[Path, Path], tmp_path: Path) -> None:
        typo = EVEN.copy()
        typo[3, 1] = 1e4
        np.save(tmp_path / "typo.npy", typo)
        shown = one_line(called_on_terminal("compare", files[0], tmp_path / "typo.npy", "--repeats", 2).err)
        assert "are not comparable" in shown
        assert "warning: 1 point of 200 sets the range" in shown

    def test_one_file_twice(self, files: tuple[Path, Path]) -> None:
        values = json.loads(run("compare", files[0], files[0], "--repeats", 2).stdout)
        assert values["verdicts"][0]["verdict"] == "not distinguishable"
        assert [row["name"] for row in values["data"]] == [str(files[0]), f"{files[0]} (2)"]

    def test_a_report(self, files: tuple[Path, Path], tmp_path: Path) -> None:
        pytest.importorskip("plotly", reason="the report needs plotly")
        pytest.importorskip("jinja2", reason="the report needs jinja2")
        page = tmp_path / "both.html"
        ended = run("compare", *files, "--columns", "0-2", "--repeats", 3, "--report", page)
        assert ended.exit_code == 0, ended.output
        text = page.read_text()
        assert "is lower than" in text
        assert "The dimension of samples of 100 points, 3 of each data set" in text

    @pytest.mark.parametrize(
        "arguments",
        [
            ["x.npy"],
            ["x.npy", "--estimators", "mle"],
            ["cora", "--hops", "2"],
            ["x", "y", "--neighbors", "3"],
        ],
    )
    def test_what_it_was_before(self, arguments: list[str]) -> None:
        ended = run("compare", *arguments)
        assert ended.exit_code == 2
        assert f"geodim estimators {arguments[0]}" in one_line(ended.output.replace("│", " "))

    def test_results_are_no_data(self, files: tuple[Path, Path]) -> None:
        ended = run("compare", files[0], "result.json")
        assert ended.exit_code == 2
        assert "geodim report" in ended.output

    def test_errors_name_the_file(self, files: tuple[Path, Path], tmp_path: Path) -> None:
        np.save(tmp_path / "hole.npy", np.where(np.eye(100, 3) > 0, np.nan, 1.0))
        ended = run("compare", tmp_path / "hole.npy", files[0])
        assert ended.exit_code == 3
        assert f"error: {tmp_path / 'hole.npy'}: row 0" in ended.output.replace("\n", "")

    def test_a_file_that_is_not_there(self, files: tuple[Path, Path]) -> None:
        ended = run("compare", files[0], "missing.npy")
        assert ended.exit_code == 4
        assert "missing.npy" in ended.output


class TestSubsample:
    def test_in_a_pipe(self, files: tuple[Path, Path], tmp_path: Path) -> None:
        ended = run("subsample", files[0], "--sizes", "40,80", "--repeats", 3, "--json", tmp_path / "s.json")
        values = json.loads(ended.stdout)
        expected = geodim.subsampled_dimensions(EVEN, sizes=[40, 80], repeats=3)
        assert values["dimensions"] == expected.dimensions
        assert values["verdict"] == expected.verdict
        assert values["file"] == str(files[0])
        assert json.loads((tmp_path / "s.json").read_text()) == values

    def test_on_a_terminal(self, files: tuple[Path, Path]) -> None:
        shown = one_line(called_on_terminal("subsample", files[1], "--exclude", "kind", "--repeats", 4).err)
        assert "least – greatest" in shown
        assert "all points" in shown
        assert called_on_terminal("subsample", files[0], "-q").err.strip() in (
            "settled",
            "grows",
            "falls",
            "unclear",
        )

    def test_errors(self, files: tuple[Path, Path]) -> None:
        assert run("subsample", files[0], "--sizes", "a").exit_code == 2
        assert run("subsample", files[0], "--sizes", "1000").exit_code == 3
