"""What commands say before the number is believed: on a terminal, in pipes and in files."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import pytest
from sklearn import datasets
from typer.testing import CliRunner, Result

from cli.running import called_on_terminal
from geodim.cli.app import app

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="module")
def cancer(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The table as it is."""
    data = datasets.load_breast_cancer()
    path: Path = tmp_path_factory.mktemp("cancer") / "cancer.csv"
    pd.DataFrame(data.data, columns=data.feature_names).to_csv(path, index=False)
    return path


@pytest.fixture
def typo(tmp_path: Path) -> Path:
    X = datasets.load_iris().data.copy()
    X[0, 0] = 510.0
    np.save(tmp_path / "typo.npy", X)
    return tmp_path / "typo.npy"


def run(*arguments: object) -> Result:
    return CliRunner().invoke(app, list(map(str, arguments)))


def one_line(text: str) -> str:
    return " ".join(text.split())


def test_compute_on_a_terminal(cancer: Path) -> None:
    shown = one_line(called_on_terminal("compute", cancer).err)
    assert (
        "warning: 27 of 30 columns have ranges below a tenth of the largest, 4,069 of 'worst area'" in shown
    )
    assert "its own range: --scale range." in shown
    assert "scale=" not in shown
    assert "warning" not in called_on_terminal("compute", cancer, "-q").err


def test_compute_in_a_pipe_and_in_a_file(typo: Path, tmp_path: Path) -> None:
    ended = run("compute", typo, "--json", tmp_path / "out.json")
    line = json.loads(ended.stdout)
    assert [alert["code"] for alert in line["alerts"]] == ["outliers"]
    assert line["alerts"][0]["evidence"]["points"] == 1
    assert json.loads((tmp_path / "out.json").read_text())["alerts"] == line["alerts"]


def test_the_gauge(cancer: Path) -> None:
    shown = one_line(called_on_terminal("compute", cancer).err)
    assert "among columns of this size evenly spaced 4 < uniform 4.1 < normal 19 < [47.38] < Laplace" in shown
    gauge = json.loads(run("compute", cancer).stdout)["gauge"]
    assert (gauge["level"], gauge["marks"]["evenly spaced"]) == ("Laplace", 4.0)
    assert json.loads(run("compute", cancer, "--no-normalize").stdout)["gauge"] is None


def test_select_warns_before_it_certifies(cancer: Path) -> None:
    shown = one_line(called_on_terminal("select", cancer).err)
    assert shown.index("warning: 27 of 30 columns") < shown.index("worst area 99")
    assert shown.index("warning: 27 of 30 columns") < shown.index("certified:")
    line = json.loads(run("select", cancer).stdout)
    assert [alert["code"] for alert in line["alerts"]] == ["units"]


def test_hops(tmp_path: Path) -> None:
    counts = np.random.default_rng(3).poisson(1.0, (100, 8)) + (np.arange(8) == 3)
    np.save(tmp_path / "x.npy", counts / counts.sum(axis=1, keepdims=True))
    np.save(tmp_path / "edges.npy", np.stack([np.arange(99), np.arange(1, 100)]))
    files = ("--features", tmp_path / "x.npy", "--edges", tmp_path / "edges.npy", "--hops", 1)
    shown = one_line(called_on_terminal("hops", *files).err)
    assert "warning: The attributes of every node looked at add up to 1" in shown
    assert "row-normalised" in [alert["code"] for alert in json.loads(run("hops", *files).stdout)["alerts"]]
    np.save(tmp_path / "x.npy", counts)
    assert "add up to 1" not in one_line(called_on_terminal("hops", *files).err)


def test_ties_name_the_command() -> None:
    shown = one_line(called_on_terminal("hops", "cora", "--hops", 0).err)
    assert "geodim compute shows it for a table, in the column 'without it'." in shown
    assert "explain_dimension" not in shown


def test_names_that_a_terminal_would_obey(tmp_path: Path) -> None:
    X = np.random.default_rng(3).normal(size=(100, 3))
    X[5, 1] = 1e5
    pd.DataFrame(X, columns=["a", "b\x1b[2J", "c"]).to_csv(tmp_path / "odd.csv", index=False)
    shown = called_on_terminal("compute", tmp_path / "odd.csv", raw=True).err
    assert "1 point of 100" in shown
    assert "\x1b[2J" not in shown
