"""``geodim binary``: answers in pipes and on terminals, files, and what is wrong with options."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import pytest

import geodim
from cli.running import called, called_on_terminal

if TYPE_CHECKING:
    from pathlib import Path

X = np.random.default_rng(5).random((120, 12)) < 0.4
NAMES = [f"item {i}" for i in range(12)]


@pytest.fixture
def transactions(tmp_path: Path) -> Path:
    path = tmp_path / "baskets.dat"
    path.write_text("".join(" ".join(map(str, np.flatnonzero(row))) + "\n" for row in X))
    return path


def test_one_line_of_json_and_nothing_else(transactions: Path) -> None:
    ended = called("binary", transactions)
    expected = geodim.binary_dimension(X)
    assert (ended.code, ended.err) == (0, "")
    assert ended.json["dimension"] == ended.json["lower"] == ended.json["upper"] == expected.dimension
    assert ended.json["shares"] == expected.shares
    assert ended.json["format"] == "geodim.binary/1"
    assert ended.json["file"] == str(transactions)
    assert not {"support", "phi_lower", "phi_upper"} & set(ended.json)


def test_the_curve_of_minimum_supports(transactions: Path, tmp_path: Path) -> None:
    expected = geodim.support_curve(X, supports=[0.25, 10, 1])
    ended = called("binary", transactions, "--supports", "0.25,10,1")
    assert (ended.code, ended.err) == (0, "")
    assert (ended.json["supports"], ended.json["lower"]) == ([30, 10, 1], expected.lower)
    path = tmp_path / "curve.json"
    shown = called_on_terminal("binary", transactions, "--curve", "--json", path).err
    assert "by frequent concepts alone" in shown
    whole = geodim.SupportCurve.from_json(path)
    assert whole.lower[-1] == geodim.binary_dimension(X).dimension
    assert whole.parameters["data"] == str(transactions)
    quiet = called_on_terminal("binary", transactions, "--curve", "--quiet")
    assert f"{whole.lower[-1]:.10g} {whole.upper[-1]:.10g}" in quiet.out + quiet.err


def test_a_curve_that_is_stopped(tmp_path: Path) -> None:
    np.save(tmp_path / "dense.npy", np.random.default_rng(0).random((500, 40)) < 0.9)
    ended = called("binary", tmp_path / "dense.npy", "--curve", "--time-limit", "1")
    assert ended.code == 5
    assert ended.json["stopped"] == "time limit"
    assert "stopped early" in ended.err


def test_the_correlation_dimension(transactions: Path, tmp_path: Path) -> None:
    expected = geodim.binary_correlation_dimension(X)
    ended = called("binary", transactions, "--correlation")
    assert (ended.code, ended.err) == (0, "")
    assert ended.json["dimension"] == expected.dimension
    path = tmp_path / "found.json"
    shown = called_on_terminal("binary", transactions, "--correlation", "--pairs", "5000", "--json", path).err
    assert "5,000 at random" in shown
    assert geodim.BinaryCorrelation.from_json(path).n_pairs == 5_000


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--curve", "--correlation"], "not both"),
        (["--pairs", "5000"], "only --correlation"),
        (["--curve", "--min-support", "0.1"], "--min-support"),
        (["--curve", "--report", "r.html"], "--report"),
        (["--correlation", "--scale", "global"], "--scale"),
        (["--supports", "0.1,much"], "is not a number"),
        (["--correlation", "--pairs", "some"], "pairs"),
    ],
)
def test_options_that_do_not_go_together(transactions: Path, options: list[str], said: str) -> None:
    ended = called("binary", transactions, *options)
    assert ended.code == 2
    assert said in " ".join(ended.err.split())


def test_tables_of_any_kind(tmp_path: Path) -> None:
    frame = pd.DataFrame(X.astype(int), columns=NAMES)
    frame.assign(who=[f"customer {i}" for i in range(120)]).to_csv(tmp_path / "a.csv", index=False)
    frame.astype(bool).to_parquet(tmp_path / "a.parquet")
    np.save(tmp_path / "a.npy", X)
    expected = geodim.binary_dimension(X, attribute_names=NAMES)
    table = called("binary", tmp_path / "a.csv", "--exclude", "who").json
    assert table["dimension"] == expected.dimension
    assert table["shares"] == called("binary", tmp_path / "a.parquet").json["shares"] == expected.shares
    assert called("binary", tmp_path / "a.npy").json["dimension"] == expected.dimension
    some = called("binary", tmp_path / "a.npy", "--columns", "2,5-9").json
    assert some["dimension"] == geodim.binary_dimension(X[:, [2, 5, 6, 7, 8, 9]]).dimension
    assert all(set(name.split("}")[0][1:].split(", ")) <= set("256789") for name in some["shares"])


def test_terminal(transactions: Path, tmp_path: Path) -> None:
    shown = called_on_terminal("binary", transactions, "--json", tmp_path / "r.json").err
    expected = geodim.binary_dimension(X)
    assert f"{expected.dimension:.6g} (exact)" in shown
    assert next(iter(expected.shares)) in shown
    assert "wrote" in shown
    assert geodim.IDResult.from_json(tmp_path / "r.json").dimension == expected.dimension
    quiet = called_on_terminal("binary", transactions, "-q").err
    assert quiet.split()[-1] == f"{expected.dimension:.10g}"


def test_support_normalisation_and_report(transactions: Path, tmp_path: Path) -> None:
    count = called("binary", transactions, "--min-support", "30").json
    share = called("binary", transactions, "--min-support", "0.25").json
    assert count["parameters"]["min_support"] == share["parameters"]["min_support"] == 30
    exact = geodim.binary_dimension(X).dimension
    assert count["lower"] == share["lower"] <= exact <= count["upper"]
    normalised = called("binary", transactions, "--normalize").json
    assert normalised["dimension"] == geodim.binary_dimension(X, normalize=True).dimension
    assert called("binary", transactions, "--report", tmp_path / "r.html").code == 0
    assert "{" in (tmp_path / "r.html").read_text(encoding="utf-8")


def test_stopped_by_the_clock(tmp_path: Path) -> None:
    np.save(tmp_path / "hard.npy", np.random.default_rng(0).random((400, 60)) < 0.8)
    ended = called("binary", tmp_path / "hard.npy", "--time-limit", "0")
    assert ended.code == 5
    assert ended.json["stopped"] == "time limit"
    assert "stopped early" in ended.err


@pytest.mark.parametrize(
    ("options", "code", "words"),
    [
        (["--min-support", "1.5"], 2, "at most 1"),
        (["--min-support", "many"], 2, "not a number"),
        (["--min-support", "nan"], 2, "--min-support"),
        (["--columns", "1"], 2, "no columns to choose from"),
        (["--json", "{file}"], 4, "which is an input"),
    ],
)
def test_wrong_options(transactions: Path, options: list[str], code: int, words: str) -> None:
    ended = called("binary", transactions, *(option.format(file=transactions) for option in options))
    assert ended.code == code
    assert words in " ".join(ended.err.replace("│", " ").split())


def test_wrong_files(tmp_path: Path) -> None:
    (tmp_path / "a.dat").write_text("1 2\nx\n")
    ended = called("binary", tmp_path / "a.dat")
    assert (ended.code, ended.out) == (4, "")
    assert "a.dat, line 2: expected item numbers, found 'x'" in ended.err
    np.save(tmp_path / "a.npy", [[0, 2]])
    ended = called("binary", tmp_path / "a.npy")
    assert ended.code == 3
    assert "a.npy: the value at row 0, column 1 is 2" in ended.err
    assert called("binary", tmp_path / "none.dat").code == 4


def test_whole_result_in_a_file(transactions: Path, tmp_path: Path) -> None:
    assert called("binary", transactions, "--json", tmp_path / "r.json").code == 0
    values = json.loads((tmp_path / "r.json").read_text())
    assert len(values["support"]) == 11
    assert values["parameters"]["data"] == str(transactions)


def test_numbers_that_are_not_binary(tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", np.array([[0.0, 2.5], [1.0, 0.0]]))
    ended = called("binary", tmp_path / "x.npy")
    assert ended.code == 3
    assert "neither 0 nor 1: decide what counts as having an attribute" in ended.err
    assert "X > 0" not in ended.err
