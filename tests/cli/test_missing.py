"""``--drop-missing``: every command that reads a table leaves points out, and says how many."""

from __future__ import annotations

import numpy as np
import pytest

import geodim
from cli.running import called

pytest.importorskip("pyarrow")
TOLD = "2 points of 82 left out, because values are missing (in 2 of 2 columns: 'x' 1, 'y' 1)"


@pytest.fixture
def file(tmp_path):
    rows = np.random.default_rng(0).integers(0, 2, (80, 2))
    text = "x,y\n" + "".join(f"{a},{b}\n" for a, b in rows) + ",1\n0,\n"
    path = tmp_path / "points.csv"
    path.write_text(text)
    np.save(tmp_path / "kept.npy", rows.astype(float))
    return path


@pytest.mark.parametrize(
    "words",
    [
        ("compute",),
        ("compute", "--features", "distances"),
        ("select",),
        ("subsample", "--repeats", 1),
        ("binary",),
    ],
)
def test_commands(file, words):
    command, *options = words
    plain = called(command, file, *options)
    assert plain.code == 3
    assert "--drop-missing" in plain.err
    if command != "binary":
        assert "row 80" in plain.err  # of the file, not of a part of it
        assert "'x' 1, 'y' 1" in plain.err
    told = called(command, file, "--drop-missing", *options)
    assert TOLD in " ".join(told.err.split())
    expected = called(command, file.with_name("kept.npy"), *options)
    key = "medians" if command == "subsample" else "dimension"
    same = {name: told.json.get(name) for name in (key, "dimensions", "n_points")}
    assert same == {name: expected.json.get(name) for name in same}


def test_compare(file):
    ended = called("compare", file, file.with_name("kept.npy"), "--drop-missing", "--repeats", 2)
    assert [row["n_points"] for row in ended.json["data"]] == [80, 80]


def test_certificates_are_of_the_points_that_are_left(file, tmp_path):
    proof = tmp_path / "proof.json"
    assert called("compute", file, "--drop-missing", "--certificate", proof).code == 0
    assert called("verify", proof, file, "--drop-missing").json["verified"] is True
    assert called("verify", proof, file).json["verified"] is False


@pytest.mark.slow
def test_estimators(file):
    ended = called("estimators", file, "--drop-missing", "--estimators", "twonn")
    assert ended.json["n_points"] == 80
    assert ended.json["drop_missing"] is True


def test_nodes_and_texts_cannot_be_left_out(file, tmp_path):
    words = tmp_path / "words.txt"
    words.write_text("one\ntwo\n")
    ended = called("compute", words, "--features", "terms", "--drop-missing")
    assert ended.code == 2
    assert "--drop-missing" in ended.err
    edges = tmp_path / "edges.csv"
    edges.write_text("0,1\n")
    assert "nodes of a graph" in called("estimators", file, "--edges", edges, "--drop-missing").err


def test_decimal_commas_are_told(tmp_path):
    file = tmp_path / "points.csv"
    file.write_text("x;y\n0,5;1\n1;2,25\n3;4\n")
    ended = called("compute", file)
    assert "commas within numbers are read as decimal points" in " ".join(ended.err.split())
    X = [[0.5, 1], [1, 2.25], [3, 4]]
    assert ended.json["dimension"] == geodim.intrinsic_dimension(X).dimension
