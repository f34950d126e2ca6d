"""``geodim compute``: answers, files, exit codes, terminals and Ctrl-C."""

from __future__ import annotations

import json
import re
import signal
import sys
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner, Result

import geodim
from cli.running import Ended, called, called_on_terminal, on_terminal, piped, save_slow, without
from geodim.cli.app import app

if TYPE_CHECKING:
    import subprocess
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
    frame = pd.DataFrame(X[:, :3], columns=["height", "weight", "age"])
    frame.assign(kind=["cat", "dog"] * 100).to_csv(path, index=False)
    return path


def run(*arguments: object) -> Result:
    """Run in this process, which is quicker; stdout is no terminal."""
    return CliRunner().invoke(app, ["compute", *map(str, arguments)])


def test_the_last_bit_is_announced_on_a_terminal(points: Path) -> None:
    assert (
        json.loads(run(points, "--last-bit").stdout)["dimension"] == geodim.intrinsic_dimension(X).dimension
    )
    assert "--last-bit may examine" in called_on_terminal("compute", points, "--last-bit").err
    assert "may examine" not in called_on_terminal("compute", points).err


class TestInPipes:
    def test_one_line_of_json_and_nothing_else(self, points: Path) -> None:
        ended = piped("compute", points)
        expected = geodim.intrinsic_dimension(X)
        assert (ended.code, ended.err) == (0, "")
        assert ended.json["dimension"] == ended.json["lower"] == ended.json["upper"] == expected.dimension
        assert ended.json["shares"] == expected.shares
        assert ended.json["file"] == str(points)
        assert ended.json["format"] == "geodim.compute/1"
        assert not {"support", "phi_lower", "phi_upper"} & set(ended.json)

    def test_options_change_what_they_say(self, points: Path) -> None:
        plain = json.loads(run(points).stdout)
        raw = json.loads(run(points, "--no-normalize").stdout)
        assert raw["discriminability"] == pytest.approx(plain["discriminability"] * plain["d_max"], rel=1e-12)
        rough = json.loads(run(points, "--rtol", "0.1", "--threads", "1").stdout)
        assert not rough["exact"]
        assert 0.0 < rough["error"] <= 0.1
        assert rough["lower"] <= plain["dimension"] <= rough["upper"]
        assert rough["parameters"]["n_threads"] == 1

    def test_duplicates(self, tmp_path: Path) -> None:
        np.save(tmp_path / "twins.npy", np.vstack((X, X[:7])))
        assert json.loads(run(tmp_path / "twins.npy").stdout)["n_indistinguishable"] is None
        assert (
            json.loads(run(tmp_path / "twins.npy", "--count-duplicates").stdout)["n_indistinguishable"] == 14
        )

    def test_columns_keep_their_numbers(self, points: Path) -> None:
        found = json.loads(run(points, "--columns", "2,4-5").stdout)
        expected = geodim.intrinsic_dimension(X[:, [2, 4, 5]])
        assert found["dimension"] == expected.dimension
        assert found["shares"] == {str([2, 4, 5][int(at)]): share for at, share in expected.shares.items()}

    def test_columns_by_name(self, labelled: Path) -> None:
        found = json.loads(run(labelled, "--exclude", "kind").stdout)
        assert found["dimension"] == geodim.intrinsic_dimension(X[:, :3]).dimension
        assert set(found["shares"]) <= {"height", "weight", "age"}
        assert json.loads(run(labelled, "--columns", "height,age").stdout)["n_features"] == 2

    def test_infinity_is_valid_json(self, tmp_path: Path) -> None:
        np.save(tmp_path / "constant.npy", np.ones((5, 2)))
        ended = called("compute", tmp_path / "constant.npy")
        assert ended.code == 0
        assert ended.json["dimension"] == "inf"
        assert ended.err.startswith("note: no feature tells any two points apart")
        assert run(tmp_path / "constant.npy", "--quiet").stderr == ""


class TestFiles:
    def test_json_round_trip(self, points: Path, tmp_path: Path) -> None:
        result = run(points, "--json", tmp_path / "result.json")
        assert result.exit_code == 0
        again = geodim.IDResult.from_json(tmp_path / "result.json")
        expected = geodim.intrinsic_dimension(X)
        assert again.dimension == expected.dimension == json.loads(result.stdout)["dimension"]
        assert np.array_equal(again.phi_lower, expected.phi_lower)
        assert again.shares == expected.shares

    @pytest.mark.parametrize(
        ("suffix", "magic"), [(".png", b"\x89PNG"), (".pdf", b"%PDF"), (".svg", b"<?xml")]
    )
    def test_plots(self, points: Path, tmp_path: Path, suffix: str, magic: bytes) -> None:
        assert run(points, "--plot", tmp_path / f"curve{suffix}").exit_code == 0
        assert (tmp_path / f"curve{suffix}").read_bytes().startswith(magic)
        assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []

    @pytest.mark.parametrize("option", ["--json", "--plot"])
    def test_targets_are_checked_before_the_work(self, points: Path, tmp_path: Path, option: str) -> None:
        result = run(points, option, tmp_path / "no" / "folder" / "x.png")
        assert result.exit_code == 4
        assert "there is no folder" in result.stderr
        assert result.stdout == ""

    def test_a_folder_is_no_target(self, points: Path, tmp_path: Path) -> None:
        result = run(points, "--json", tmp_path)
        assert result.exit_code == 4
        assert "it is a folder" in result.stderr


class TestExitCodes:
    """Scripts depend on them: one comes from a new process, as they see it."""

    def check(self, ended: Ended, code: int, *words: str) -> None:
        assert ended.code == code
        assert ended.out == ""
        assert ended.err.startswith("error: ")
        assert ended.err.count("\n") == 1, "one message, no traceback"
        for word in words:
            assert word in ended.err

    def test_usage(self, points: Path) -> None:
        for arguments in (["--rtol", "-1"], ["--rtol", "nan"], ["--threads", "0"], ["--no-such-option"]):
            result = run(points, *arguments)
            assert result.exit_code == 2
            assert "Usage:" in result.stderr
        assert called("compute").code == 2

    def test_nan(self, tmp_path: Path) -> None:
        path = tmp_path / "nan.npy"
        np.save(path, np.where(np.arange(12).reshape(4, 3) == 7, np.nan, 1.0))
        self.check(called("compute", path), 3, "nan.npy: row 2, column 1 is nan")
        assert "counted among the chosen" in run(path, "--columns", "1-2").stderr

    def test_text_and_columns(self, labelled: Path) -> None:
        self.check(called("compute", labelled), 3, "labelled.csv", "'kind' is 'cat' in row 0")
        result = run(labelled, "--columns", "hieght")
        assert result.exit_code == 3
        assert "did you mean 'height'" in result.stderr

    def test_shape(self, tmp_path: Path) -> None:
        np.save(tmp_path / "line.npy", np.arange(4.0))
        assert run(tmp_path / "line.npy").exit_code == 3

    def test_plot_format(self, points: Path) -> None:
        result = run(points, "--plot", "curve.gif")
        assert result.exit_code == 2
        assert ".png" in result.stderr

    def test_files(self, tmp_path: Path) -> None:
        self.check(piped("compute", tmp_path / "missing.npy"), 4, "no file", "missing.npy")
        (tmp_path / "broken.npy").write_bytes(b"\x93NUMPY")
        assert run(tmp_path / "broken.npy").exit_code == 4

    def test_missing_extra(self, labelled: Path, points: Path, tmp_path: Path) -> None:
        self.check(piped("compute", labelled, program=without("pyarrow")), 6, "pip install 'geodim[frames]'")
        plot = ["compute", points, "--plot", tmp_path / "x.png"]
        self.check(piped(*plot, program=without("matplotlib")), 6, "pip install 'geodim[plot]'")

    def test_unexpected(self, points: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """An engine that cannot be imported is nobody's mistake that a message could explain."""
        monkeypatch.setitem(sys.modules, "geodim.dimension", None)
        self.check(called("compute", points), 1, "unexpected", "GEODIM_DEBUG=1")
        assert "Traceback" in called("compute", points, GEODIM_DEBUG="1").err

    def test_time_limit(self, points: Path) -> None:
        ended = called("compute", points, "--time-limit", "0")
        assert ended.code == 5
        assert ended.json["stopped"] == "time limit"
        assert ended.json["lower"] <= geodim.intrinsic_dimension(X).dimension
        assert "stopped early (time limit)" in ended.err


class TestOnTerminals:
    def test_table_and_progress(self, points: Path, tmp_path: Path) -> None:
        ended = called_on_terminal("compute", points, "--json", tmp_path / "r.json")
        expected = geodim.intrinsic_dimension(X)
        assert ended.code == 0
        assert re.search(rf"intrinsic dimension +{expected.dimension:.6g} \(exact\)", ended.err)
        assert re.search(r"points x features +200 x 6", ended.err)
        name, share = next(iter(expected.shares.items()))
        assert re.search(rf"^ {name} +[\d.]+ +{share:.1%} +[\d.]+% +━", ended.err, re.MULTILINE)
        assert f"wrote {tmp_path / 'r.json'}" in ended.err
        assert "/6 features" in ended.err

    def test_quiet_is_one_number(self, points: Path) -> None:
        ended = called_on_terminal("compute", points, "--quiet")
        assert ended.err == f"{geodim.intrinsic_dimension(X).dimension:.10g}\n"

    def test_names_are_not_markup(self, tmp_path: Path) -> None:
        path = tmp_path / "odd.csv"
        pd.DataFrame(X[:, :2], columns=["[red]x", "[/y]"]).to_csv(path, index=False)
        ended = called_on_terminal("compute", path)
        assert ended.code == 0
        assert "[red]x" in ended.err
        assert "[/y]" in ended.err

    @pytest.mark.unix
    def test_ctrl_c_keeps_the_bounds(self, tmp_path: Path) -> None:
        """The last bit of lines that were rounded twice takes minutes, so there is time to interrupt.

        Their dimension is 4 but for rounding.
        """
        path = tmp_path / "slow.npy"
        save_slow(path)
        sent = []

        def interrupt(shown: str, process: subprocess.Popen[bytes]) -> None:
            if "solving" in shown and not sent:
                sent.append(True)
                process.send_signal(signal.SIGINT)

        target = tmp_path / "bounds.json"
        ended = on_terminal(
            "compute", path, "--last-bit", "--threads", "1", "--json", target, pipe_out=True, watch=interrupt
        )
        assert ended.code == 5
        assert ended.json["stopped"] == "interrupted"
        assert float(ended.json["lower"]) <= 4.0 * (1.0 + 1e-9)
        assert float(ended.json["upper"]) >= 4.0 * (1.0 - 1e-9)
        assert float(ended.json["lower"]) < float(ended.json["upper"])
        assert "note: stopped early (interrupted)" in ended.err
        assert geodim.IDResult.from_json(target).lower == ended.json["lower"]


class TestFirstLines:
    """Names or the first point: said, told, or refused, but never lost in silence."""

    def test_a_first_line_that_counts(self, tmp_path: Path) -> None:
        path = tmp_path / "points.csv"
        path.write_text("0,1\n1,0\n2,5\n")
        refused = called("compute", path)
        assert refused.code == 4
        assert "--no-header" in refused.err
        assert called("compute", path, "--no-header").json["n_points"] == 3
        named = called("compute", path, "--header")
        assert named.json["n_points"] == 2
        assert named.err == ""

    @pytest.mark.parametrize(
        ("first", "told", "points"),
        [("x,2", "first line holds the names", 3), ("3,7", "first line is a point", 4)],
    )
    def test_what_was_decided_is_told(self, tmp_path: Path, first: str, told: str, points: int) -> None:
        path = tmp_path / "points.csv"
        path.write_text(f"{first}\n1,0\n2,5\n4,4\n")
        ended = called("compute", path)
        assert ended.json["n_points"] == points
        assert f"note: {path}: the {told}" in ended.err
        assert called("compute", path, "--quiet").err == ""


def test_a_checkpoint_is_continued(tmp_path: Path) -> None:
    """As with hops: what was solved before is not solved again, and the bits are the same."""
    data = np.random.default_rng(4).normal(size=(3000, 12))
    np.save(tmp_path / "x.npy", data)

    def interrupt(done: int, *_: object) -> None:
        if done:
            raise KeyboardInterrupt

    with pytest.warns(geodim.errors.InterruptedWarning):
        begun = geodim.intrinsic_dimension(
            data, n_threads=1, checkpoint=tmp_path / "state", save_every=0.0, progress=interrupt
        )
    words = ["compute", tmp_path / "x.npy", "--threads", "1"]
    fresh = called(*words).json
    resumed = called(*words, "--checkpoint", tmp_path / "state").json
    assert begun.stopped
    assert resumed["dimension"] == fresh["dimension"]
    assert resumed["shares"] == fresh["shares"]
    assert resumed["evaluations"] - begun.evaluations < fresh["evaluations"]
    stopped = called(*words, "--checkpoint", tmp_path / "other", "--time-limit", "0")
    assert stopped.code == 5
    assert called(*words, "--checkpoint", tmp_path / "other").json["dimension"] == fresh["dimension"]
    other = called("compute", tmp_path / "x.npy", "--columns", "0-3", "--checkpoint", tmp_path / "state")
    assert other.code == 4
    assert "another computation" in other.err
