"""``-`` for standard input and standard output, and one meaning of ``--json``."""

from __future__ import annotations

import gzip
import io
import json
import os
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import typer

from cli.running import called, called_on_terminal
from geodim.cli.app import app
from geodim.cli.dash import kind_of

RNG = np.random.default_rng(11)
X = RNG.random((120, 4))
FRAME = pd.DataFrame(X, columns=list("abcd"))
EDGES = RNG.integers(0, 120, (300, 2))


def saved(write: Any, *arguments: Any, **options: Any) -> bytes:
    stream = io.BytesIO()
    write(stream, *arguments, **options)
    return stream.getvalue()


CSV = FRAME.to_csv(index=False).encode()
PAIRS = "".join(f"{a},{b}\n" for a, b in EDGES).encode()
KINDS = {
    "npy": saved(np.save, X),
    "npz": saved(np.savez, X),
    "csv": CSV,
    "csv.gz": gzip.compress(CSV),
    "tsv": CSV.replace(b",", b"\t"),
    "parquet": saved(FRAME.to_parquet),
}


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("files")
    for kind, content in KINDS.items():
        (folder / f"points.{kind}").write_bytes(content)
    (folder / "edges.csv").write_bytes(PAIRS)
    return folder


def leftovers() -> list[str]:
    mine = f"-{os.getpid()}-"
    names = [path.name for path in Path(tempfile.gettempdir()).iterdir()]
    return [name for name in names if name.startswith(".geodim-") and mine in name]


@pytest.mark.parametrize("kind", KINDS)
def test_points_from_standard_input(files: Path, kind: str) -> None:
    named = called("compute", files / f"points.{kind}")
    found = called("compute", "-", stdin=KINDS[kind])
    assert (found.code, found.err) == (0, "")
    assert found.json["file"] == "-"
    assert found.json["dimension"] == named.json["dimension"]
    assert list(found.json["shares"]) == list(named.json["shares"])
    assert leftovers() == []


def test_errors_name_standard_input() -> None:
    ended = called("compute", "-", stdin=b"a,b\n1,x\n2,y\n")
    assert ended.code == 3
    assert ended.err.startswith("error: standard input: no numbers in column 'b'")
    ended = called("compute", "-", stdin=b"")
    assert ended.code == 4
    assert "standard input is empty" in ended.err
    ended = called("compute", "-", stdin=b"1,2\n3,4\n")
    assert ended.err == "note: standard input: the first line is a point; columns are numbered from 0\n"


@pytest.mark.parametrize(
    ("words", "stdin", "key"),
    [
        (["select", "-", "-m", "2"], CSV, "names"),
        (["subsample", "-", "--sizes", "40", "--repeats", "2"], CSV, "dimensions"),
        (["compare", "{points}", "-", "--repeats", "2"], CSV, "samples"),
        (["compute", "-", "--dry-run"], CSV, "n_points"),
        (["hops", "--features", "-", "--edges", "{edges}", "--hops", "1"], CSV, "dimensions"),
        (["hops", "--features", "{points}", "--edges", "-", "--hops", "1"], PAIRS, "dimensions"),
        (["hops", "--features", "{points}", "--edges", "-", "--dry-run"], PAIRS, "stored_entries"),
        (["binary", "-"], b"1 2 3\n1 2\n2 3\n", "dimension"),
        (["binary", "-"], b"a,b,c\n1,1,0\n0,1,1\n1,0,1\n", "dimension"),
        (["binary", "-"], b"B\n\n2\n2\n\nx\ny\na\nb\nX.\n.X\n", "dimension"),
        (["compute", "-", "--features", "distances", "--metric", "edit"], b"tree\nfree\nbee\n", "dimension"),
        (
            ["compute", "-", "--features", "distances", "--metric", "shortest_path"],
            b"0 1\n1 2\n2 3\n3 4\n",
            "dimension",
        ),
    ],
)
def test_every_command_reads_standard_input(files: Path, words: list[str], stdin: bytes, key: str) -> None:
    names = {"points": files / "points.csv", "edges": files / "edges.csv"}
    ended = called(*(word.format(**names) for word in words), stdin=stdin)
    assert (ended.code, ended.err) == (0, "")
    assert key in ended.json
    assert str(tempfile.gettempdir()) + "/.geodim" not in ended.out


def test_estimators_read_standard_input() -> None:
    ended = called("estimators", "-", "--estimators", "geodim", stdin=CSV)
    assert (ended.code, ended.err) == (0, "")
    assert ended.json["file"] == "-"
    assert [row["estimator"] for row in ended.json["rows"]] == ["geodim"]
    assert all(row["error"] is None for row in ended.json["rows"])


def test_certificates_and_reports_through_pipes(files: Path, tmp_path: Path) -> None:
    points = files / "points.npy"
    proof = called("compute", points, "--certificate", "-")
    assert proof.code == 0
    verified = called("verify", "-", points, stdin=proof.out.encode())
    assert verified.json["verified"]
    (tmp_path / "proof.json").write_text(proof.out)
    again = called("verify", tmp_path / "proof.json", "-", stdin=KINDS["npy"])
    assert again.json["verified"]
    refuted = called("verify", tmp_path / "proof.json", "-", stdin=saved(np.save, 2.0 * X[::-1] ** 2))
    assert refuted.code == 1
    assert ".geodim" not in refuted.out
    whole = called("compute", points, "--json", "-")
    page = called("report", "-", "-o", "-", stdin=whole.out.encode())
    assert (page.code, page.err) == (0, "")
    assert page.out.lower().startswith("<!doctype html>")
    assert "points.npy" in page.out


@pytest.mark.parametrize(
    ("words", "beginning"),
    [
        (["compute", "{points}", "--json", "-"], '{\n "format": "geodim.IDResult/'),
        (["compute", "{points}", "--plot", "-"], "\\x89PNG"),
        (["compute", "{points}", "--report", "-"], "<!doctype html>"),
        (["compute", "{points}", "--dry-run", "--json", "-"], '{\n "format": "geodim.plan/'),
        (["hops", "digits", "--hops", "0", "--json", "-"], '{\n "format": "geodim.KHopResult/'),
        (["select", "{points}", "--json", "-"], '{\n "names"'),
        (["subsample", "{points}", "--sizes", "40", "--json", "-"], '{\n "format": "geodim.'),
        (["compare", "{points}", "{points}", "--repeats", "2", "--json", "-"], '{\n "format": "geodim.'),
        (["datasets", "list", "--json", "-"], '{\n "format": "geodim.datasets/'),
        (["datasets", "info", "cora", "--json", "-"], '{\n "format": "geodim.datasets/'),
    ],
)
def test_one_output_to_standard_output(files: Path, words: list[str], beginning: str) -> None:
    ended = called(*(word.format(points=files / "points.npy") for word in words))
    assert (ended.code, ended.err) == (0, "")
    assert ended.out.startswith(beginning) or ended.out.lower().startswith(beginning)
    if "--json" in words:
        json.loads(ended.out)  # one document and nothing else
    assert leftovers() == []


def test_standard_streams_are_used_once(files: Path) -> None:
    points = files / "points.npy"
    twice = called("compute", points, "--json", "-", "--report", "-")
    assert twice.code == 2
    assert "--json goes to standard output already" in twice.err.replace("\n│ ", "")
    both = called("hops", "--features", "-", "--edges", "-", stdin=CSV)
    assert both.code == 2
    assert "can be read once" in both.err
    assert called("compute", "-", "--features", "pixels").code == 2


def test_on_a_terminal_json_is_all_there_is(files: Path) -> None:
    ended = called_on_terminal("compute", files / "points.npy", "--json", "-", "--quiet")
    assert json.loads(ended.err)["n_points"] == 120


def test_json_means_the_same_everywhere(files: Path, tmp_path: Path) -> None:
    """A file for the whole result, never a switch; a plan is written as well."""
    commands = {}

    def walk(name: str, command: Any) -> None:
        for sub, inner in getattr(command, "commands", {}).items():
            walk(f"{name} {sub}".strip(), inner)
        commands[name] = command

    walk("", typer.main.get_command(app))
    having = {
        name: option
        for name, command in commands.items()
        for option in command.params
        if "--json" in option.opts
    }
    assert {"compute", "hops", "binary", "compare", "subsample", "estimators", "select"} <= {*having}
    assert {"verify", "doctor", "datasets list", "datasets info", "datasets fetch"} <= {*having}
    for option in having.values():
        assert (option.metavar, option.is_flag) == ("PATH", False)
        assert option.help == "Write the whole result as JSON to this file; - is standard output."
    path = tmp_path / "plan.json"
    assert called("compute", files / "points.npy", "--dry-run", "--json", path).code == 0
    assert json.loads(path.read_text())["format"] == "geodim.plan/1"


def test_kinds() -> None:
    for kind, content in KINDS.items():
        assert kind_of(content) == f".{kind}"
