"""``geodim datasets``: what is known, what is here, and what to do where it is not."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np
import pytest
from typer.testing import CliRunner, Result

from cli.running import called, called_on_terminal
from data.datasets.layouts import write_ogb_csv
from geodim.cli.app import app
from geodim.data.datasets import list_datasets, load_dataset

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(autouse=True)
def isolated(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Keep the user's folders and the network out of it."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("GEODIM_DATA", raising=False)
    monkeypatch.setenv("GEODIM_OFFLINE", "1")


def run(*arguments: object) -> Result:
    return CliRunner().invoke(app, ["datasets", *map(str, arguments)])


def test_list_in_a_pipe(tmp_path: Path) -> None:
    ended = called("datasets", "list", "--root", tmp_path)
    assert (ended.code, ended.err) == (0, "")
    assert ended.json["root"] == str(tmp_path)
    assert ended.json["datasets"] == [info.as_dict() for info in list_datasets(tmp_path)]
    here = {entry["name"]: entry["present"] for entry in ended.json["datasets"]}
    assert not here["cora"]
    assert here["digits"]


def test_list_on_a_terminal(tmp_path: Path) -> None:
    ended = called_on_terminal("datasets", "list", "--root", tmp_path)
    assert ended.code == 0
    for word in ("cora", "ogbn-papers100M", "111,059,956", "1,433", "digits", f"looked for in {tmp_path}"):
        assert word in ended.err
    assert called_on_terminal("datasets", "list", "--json", "-").err.startswith("{")


def test_info_names_the_exact_folder(tmp_path: Path) -> None:
    found = json.loads(run("info", "PubMed", "--root", tmp_path).stdout)
    assert found["name"] == "pubmed"
    assert (found["nodes"], found["edges"], found["attributes"]) == (19717, 44324, 500)
    assert found["listed_edges"] == 88648  # the paper's table lists both directions
    assert found["folder"] == str(tmp_path / "PubMed")
    assert "raw/ind.pubmed.graph" in found["missing"]
    shown = called_on_terminal("datasets", "info", "ogbn-arxiv", "--root", tmp_path).err.replace("\n", "")
    for word in ("169,343", "ODC-BY", "raw/edge.csv.gz", "ogbn_arxiv"):
        assert word in shown


def test_root_from_the_environment(tmp_path: Path) -> None:
    ended = called("datasets", "info", "cora", GEODIM_DATA=str(tmp_path / "elsewhere"))
    assert ended.json["folder"] == str(tmp_path / "elsewhere" / "Cora")


@pytest.mark.parametrize("command", ["info", "fetch", "convert"])
def test_unknown_names_are_usage_errors(command: str) -> None:
    result = run(command, "coar")
    assert result.exit_code == 2
    assert "cora" in result.stderr


@pytest.mark.parametrize("arguments", [["fetch", "ogbn-arxiv", "--offline"], ["convert", "ogbn-arxiv"]])
def test_missing_files(tmp_path: Path, arguments: list[str]) -> None:
    root = tmp_path / "my data"
    ended = called("datasets", *arguments, "--root", root)
    assert ended.code == 4
    assert ended.out == ""
    assert ended.err.startswith(
        f"error: ogbn-arxiv is not in {root / 'ogbn_arxiv'} (missing: raw/edge.csv.gz"
    )
    assert f"geodim datasets fetch ogbn-arxiv --root '{root}'" in ended.err
    assert ended.err.count("\n") == 1
    assert not root.exists()


def test_fetch_of_what_is_here(tmp_path: Path) -> None:
    write_ogb_csv(tmp_path)
    assert json.loads(run("fetch", "ogbn-arxiv", "--root", tmp_path).stdout) == {
        "format": "geodim.datasets/1",
        "name": "ogbn-arxiv",
        "folder": str(tmp_path / "ogbn_arxiv"),
    }
    assert json.loads(run("fetch", "digits").stdout)["folder"] is None
    assert "nothing to fetch" in called_on_terminal("datasets", "fetch", "digits").err


@pytest.mark.parametrize("name", ["cora", "citeseer"])
def test_fetch_of_what_comes_with_geodim(name: str) -> None:
    """Nothing is missing, as `info` says, although there is no folder."""
    assert json.loads(run("info", name).stdout)["present"]
    assert json.loads(run("fetch", name, "--offline").stdout)["folder"] is None
    assert f"{name}: comes with geodim" in called_on_terminal("datasets", "fetch", name, "--offline").err


def test_convert(tmp_path: Path) -> None:
    truth = write_ogb_csv(tmp_path)
    folder = json.loads(run("convert", "ogbn-arxiv", "--root", tmp_path).stdout)["converted"]
    assert json.loads(run("info", "ogbn-arxiv", "--root", tmp_path).stdout)["converted"] == folder
    assert np.array_equal(load_dataset("ogbn-arxiv", tmp_path, offline=True).x, truth.x)


def test_only_ogb_is_converted() -> None:
    result = run("convert", "digits")
    assert result.exit_code == 3
    assert "read as it is" in result.stderr
