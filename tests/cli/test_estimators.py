"""``geodim estimators``: one row per estimator, each from its own process; failures, limits, names."""

from __future__ import annotations

import io
import json
import re
import sys
import time
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import typer
from typer.testing import CliRunner, Result

import geodim
from cli.running import called, called_on_terminal, on_terminal
from geodim import baselines, errors
from geodim.cli import estimators, estimators_child
from geodim.cli.app import app
from geodim.cli.estimators import parse_estimators

if TYPE_CHECKING:
    import subprocess
    from pathlib import Path

X = np.random.default_rng(5).normal(size=(200, 6))
X[:3] = X[3]


@pytest.fixture
def points(tmp_path: Path) -> Path:
    path = tmp_path / "points.npy"
    np.save(path, X)
    return path


def run(*arguments: object) -> Result:
    """Run in this process; the estimators run in children anyway."""
    return CliRunner().invoke(app, ["estimators", *map(str, arguments)])


def job(**more: object) -> dict[str, object]:
    keys = (
        "file",
        "name",
        "root",
        "edges",
        "columns",
        "exclude",
        "header",
        "drop_missing",
        "neighbors",
        "threads",
        "time_limit",
    )
    return {**dict.fromkeys(keys), "hops": 0, "rtol": 0.0, "seed": 0, **more}


@pytest.fixture
def estimators_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """What children do, done in this process: they take seconds to start."""

    def row(job: dict[str, Any]) -> dict[str, Any]:
        data, sizes = estimators_child.load(job)
        out = io.StringIO()
        estimators_child._say(out, {**sizes, **estimators_child.run(estimators_child.prepare(job, data))})
        return estimators._row(job["estimator"], json.loads(out.getvalue()))

    monkeypatch.setattr(estimators, "_one_row", row)


def test_one_line_of_json_with_all_rows(points: Path, tmp_path: Path) -> None:
    """The same rows are in the file, and in the report."""
    pytest.importorskip("plotly", reason="the report needs plotly")
    target, page = tmp_path / "rows.json", tmp_path / "report.html"
    options = ("--estimators", "mle,twonn", "--neighbors", "4", "--json", target, "--report", page)
    ended = called("estimators", points, *options)
    assert (ended.code, ended.err) == (0, "")
    found = ended.json
    check_report(page.read_text(), found["rows"])
    assert json.loads(target.read_text()) == found
    assert (found["format"], found["n_points"], found["n_features"]) == ("geodim.estimators/1", 200, 6)
    assert (found["file"], found["options"]["neighbors"]) == (str(points), 4)
    ours, mle, twonn = found["rows"]
    assert [row["estimator"] for row in found["rows"]] == ["geodim", "mle", "twonn"]
    assert ours["value"] == ours["lower"] == ours["upper"] == geodim.intrinsic_dimension(X).dimension
    expected = baselines.mle(X, 4)
    assert mle["value"] == expected.dimension
    assert mle["n_zero"] == expected.n_zero == 12
    assert mle["note"] == "4 neighbours, 12 zero distances left out"
    assert twonn["value"] == baselines.two_nn(X).dimension
    for row in (ours, mle, twonn):
        assert row["error"] is None
        assert row["seconds"] > 0.0
        assert row["peak_bytes"] is None or row["peak_bytes"] >= 0


@pytest.mark.slow
@pytest.mark.usefixtures("estimators_here")
def test_named_graphs_and_scikit_dimension() -> None:
    skdim = pytest.importorskip("skdim.id", reason="the extra compare is not installed")
    result = run("digits", "--hops", "1", "--estimators", "skdim:MLE", "--neighbors", "12")
    assert result.exit_code == 0
    ours, theirs = json.loads(result.stdout)["rows"]
    data = geodim.load_dataset("digits")
    assert ours["value"] == geodim.khop_dimensions(data.x, data.edge_index, 1).dimensions[1]
    matrix = baselines.khop_points(data.x, data.edge_index, 1).matrix(1)
    assert theirs["estimator"] == "skdim:MLE"
    assert theirs["value"] == pytest.approx(skdim.MLE().fit(matrix, n_neighbors=12).dimension_, rel=1e-6)


class TestFailures:
    def test_data_that_nothing_can_use(self, tmp_path: Path) -> None:
        np.save(tmp_path / "holes.npy", np.where(X > 2.0, np.nan, X))
        result = run(tmp_path / "holes.npy")
        assert (result.exit_code, result.stdout) == (3, "")
        assert "holes.npy: row" in result.stderr

    def test_no_file(self, tmp_path: Path) -> None:
        result = run(tmp_path / "none.npy")
        assert (result.exit_code, result.stdout) == (4, "")
        assert "none.npy" in result.stderr

    def test_target_is_checked_first(self, points: Path, tmp_path: Path) -> None:
        result = run(points, "--json", tmp_path / "no" / "rows.json")
        assert result.exit_code == 4
        assert "there is no folder" in result.stderr

    @pytest.mark.parametrize(
        ("arguments", "text"),
        [
            (["POINTS", "--hops", "1"], "hops need a graph"),
            (["digits", "--columns", "1"], "go with a file"),
            (["digits", "--edges", "edges.csv"], "go with a file"),
            (["POINTS", "--edges", "edges.csv", "--columns", "1"], "all columns are used"),
            (["nonsense"], "nonsense"),
            (["POINTS", "--neighbors", "1"], "neighbors"),
        ],
    )
    def test_wrong_arguments(self, points: Path, arguments: list[str], text: str) -> None:
        result = run(*(points if word == "POINTS" else word for word in arguments))
        assert (result.exit_code, result.stdout) == (2, "")
        assert text in " ".join(result.stderr.replace("│", " ").split())

    def test_time_limit(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """Ours stops by itself and has bounds; the other is ended, long before it would be done."""
        monkeypatch.setattr(estimators, "PATIENCE", 20.0)  # this machine may have much else to do
        np.save(tmp_path / "many.npy", np.random.default_rng(0).normal(size=(20_000, 20)).astype(np.float32))
        started = time.monotonic()
        result = run(tmp_path / "many.npy", "--estimators", "mle", "--time-limit", "0.05")
        assert time.monotonic() - started < 40.0
        ours, mle = json.loads(result.stdout)["rows"]
        assert result.exit_code == 5
        assert ours["lower"] <= float(ours["upper"])
        assert mle["stopped"] == "time limit"
        assert mle["value"] is None


class TestEstimators:
    def test_names(self) -> None:
        assert parse_estimators("TwoNN, mle,mle") == ["geodim", "twonn", "mle"]
        assert parse_estimators("") == ["geodim"]

    def test_names_of_scikit_dimension(self) -> None:
        pytest.importorskip("skdim.id", reason="the extra compare is not installed")
        assert parse_estimators("lpca,skdim:twonn") == ["geodim", "skdim:lPCA", "skdim:TwoNN"]
        with pytest.raises(typer.BadParameter, match="did you mean lPCA"):
            parse_estimators("PCA")

    def test_scikit_dimension_is_missing(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setitem(sys.modules, "skdim.id", None)
        assert parse_estimators("lPCA") == ["geodim", "skdim:lPCA"]
        with pytest.raises(errors.MissingExtraError) as caught:
            estimators_child.prepare(job(estimator="skdim:lPCA"), estimators_child.Data(X))
        assert estimators_child.describe(caught.value)["kind"] == "extra"
        assert "geodim[compare]" in str(caught.value)


class TestChild:
    """The part that runs in a child, called here."""

    def test_files_of_a_graph(self, tmp_path: Path, points: Path) -> None:
        edges = tmp_path / "edges.csv"
        edges.write_text("source,target\n" + "".join(f"{i},{i + 1}\n" for i in range(199)))
        data, sizes = estimators_child.load(job(file=str(points), edges=str(edges), hops=2))
        assert sizes == {"n_points": 200, "n_features": 18}
        found = estimators_child.ESTIMATORS["mle"](job(), data)
        expected = baselines.khop_mle(X, [(i, i + 1) for i in range(199)], 2)[2]
        assert found["value"] == expected.dimension

    def test_columns(self, points: Path) -> None:
        data, sizes = estimators_child.load(job(file=str(points), columns="0-2"))
        assert sizes["n_features"] == 3
        assert (
            estimators_child.ESTIMATORS["twonn"](job(), data)["value"] == baselines.two_nn(X[:, :3]).dimension
        )

    def test_warnings_become_notes(self) -> None:
        call = estimators_child.prepare(job(estimator="mle"), estimators_child.Data(np.eye(9)))
        found = estimators_child.run(call)
        assert "the MLE is infinite" in found["note"]
        out = io.StringIO()
        estimators_child._say(out, found)
        assert json.loads(out.getvalue())["value"] == "inf"

    def test_kinds_of_errors(self) -> None:
        kinds = {
            "file": errors.DataFileError("x"),
            "data": errors.ShapeError("x"),
            "unexpected": ZeroDivisionError("x"),
        }
        assert {kind: estimators_child.describe(error)["kind"] for kind, error in kinds.items()} == {
            kind: kind for kind in kinds
        }
        assert "not enough memory" in estimators_child.describe(MemoryError())["message"]


def test_on_a_terminal(points: Path) -> None:
    """A table; an estimator that fails gets a row that says why, and the others go on."""
    ended = called_on_terminal("estimators", points, "--estimators", "mle", "--neighbors", "200")
    assert ended.code == 0
    assert "mle (2 of 2" in ended.err
    table = " ".join(ended.err[ended.err.index("estimator") :].split())
    for word in ("dimension", "bounds", "time", "memory", "note", "exact", "equal", "need at least"):
        assert word in table
    assert f"{geodim.intrinsic_dimension(X).dimension:.6g}" in table


@pytest.mark.slow
@pytest.mark.unix
def test_ctrl_c_keeps_the_rows_so_far(tmp_path: Path) -> None:
    import signal

    np.save(tmp_path / "many.npy", np.random.default_rng(0).normal(size=(20_000, 20)).astype(np.float32))
    sent = []

    def watch(shown: str, process: subprocess.Popen[bytes]) -> None:
        if "mle (2 of 2" in shown and not sent:
            sent.append(process.send_signal(signal.SIGINT))

    ended = on_terminal(
        "estimators", tmp_path / "many.npy", "--rtol", "0.1", "--estimators", "mle", watch=watch
    )
    assert ended.code == 5
    assert "not run: interrupted" in " ".join(ended.err.split())
    assert "geodim" in ended.err


def check_report(page: str, rows: list[dict[str, Any]]) -> None:
    """It holds ours and the others."""
    assert "Beside other estimates" in page
    for row in rows:
        assert re.search(rf'<th scope="row"[^>]*>{row["estimator"]}</th>', page)
        assert f"{row['value']:.4g}" in page
        assert "result" not in row


@pytest.mark.usefixtures("estimators_here")
def test_report_of_a_graph(points: Path, tmp_path: Path) -> None:
    pytest.importorskip("plotly", reason="the report needs plotly")
    pytest.importorskip("jinja2", reason="the report needs jinja2")
    target = tmp_path / "report.html"
    edges = tmp_path / "edges.csv"
    edges.write_text("".join(f"{i},{i + 1}\n" for i in range(199)))
    ended = called(
        "estimators", points, "--edges", edges, "--hops", "1", "--estimators", "twonn", "--report", target
    )
    assert (ended.code, ended.err) == (0, "")
    check_report(target.read_text(), ended.json["rows"])


def test_report_that_cannot_be_written_is_found_out_first(points: Path, tmp_path: Path) -> None:
    ended = run(points, "--report", tmp_path / "report.txt")
    assert ended.exit_code == 2
    assert "the name must end in .html" in " ".join(ended.output.replace("│", " ").split())
