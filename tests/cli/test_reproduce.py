"""``geodim reproduce``: plans, runs, reports, exit codes and terminals."""

from __future__ import annotations

import json
import signal
from typing import TYPE_CHECKING, Any

import pytest
from typer.testing import CliRunner, Result

from cli.running import called, called_on_terminal, lacking, on_terminal
from geodim.cli.app import app
from geodim.cli.reproduce import duration
from geodim.display.html.page import environment
from geodim.experiments import NAMES

if TYPE_CHECKING:
    import subprocess
    from pathlib import Path

SMALL = ["random", "--points", "2000", "--features", "2", "--repetitions", "1"]


@pytest.fixture(autouse=True)
def isolated(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Keep the user's folders and the network out of it."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("GEODIM_DATA", raising=False)
    monkeypatch.setenv("GEODIM_OFFLINE", "1")


def run(*arguments: object) -> Result:
    """Run in this process, which is quicker; stdout is no terminal."""
    return CliRunner().invoke(app, ["reproduce", *map(str, arguments)])


def answer(*arguments: object, code: int = 0) -> dict[str, Any]:
    result = run(*arguments)
    assert result.exit_code == code, result.output
    assert result.stdout.count("\n") == 1
    return json.loads(result.stdout)


def test_list() -> None:
    listed = answer("--list")["experiments"]
    assert [one["name"] for one in listed] == list(NAMES)
    assert all(one["title"] and one["source"] for one in listed)


@pytest.mark.parametrize("quick", [[], ["--quick"]])
def test_dry_run_computes_nothing(tmp_path: Path, quick: list[str]) -> None:
    plan = answer("all", "--dry-run", "--output", tmp_path / "results", *quick)
    assert not (tmp_path / "results").exists()
    assert [one["experiment"] for one in plan["plans"]] == list(NAMES)
    assert plan["seconds"] == pytest.approx(sum(one["seconds"] for one in plan["plans"]))
    missing = [one for part in plan["plans"] for one in part["missing"]]
    assert missing
    assert all("geodim datasets fetch" in one["why"] or "--root FOLDER" in one["why"] for one in missing)
    if quick:
        assert plan["seconds"] < 600


def test_run_again_and_afresh(tmp_path: Path) -> None:
    first = answer(*SMALL, "--output", tmp_path)
    assert (first["computed"], first["kept"], first["stopped"]) == (1, 0, None)
    names = {path.rpartition("/")[2] for path in first["written"]}
    assert names == {"report.html", "report.md", "report.json"}
    assert (tmp_path / "random.csv").read_text().startswith("n,d,repetition,error")
    again = answer(*SMALL, "--output", tmp_path)
    assert (again["computed"], again["kept"]) == (0, 1)
    done = answer(*SMALL, "--dry-run", "--output", tmp_path)["plans"][0]
    assert (done["done"], done["to_do"]) == (1, [])
    assert answer(*SMALL, "--fresh", "--output", tmp_path)["computed"] == 1


def test_missing_data_is_named_and_the_rest_goes_on(tmp_path: Path) -> None:
    done = answer("khop", *SMALL, "--output", tmp_path, "--root", tmp_path / "empty")
    assert done["computed"] == 1
    assert len(done["missing"]) == 6
    assert "geodim datasets fetch cora" in str(done["missing"])


def test_merge(tmp_path: Path) -> None:
    answer(*SMALL, "--output", tmp_path / "there")
    done = answer(*SMALL, "--output", tmp_path / "here", "--merge", tmp_path / "there")
    assert (done["computed"], done["kept"]) == (0, 1)
    assert run(*SMALL, "--merge", tmp_path / "nowhere").exit_code == 2


def test_time_limit(tmp_path: Path) -> None:
    done = answer(*SMALL, "--time-limit", 0, "--output", tmp_path, code=5)
    assert done["stopped"] == "time limit"
    assert (tmp_path / "report.html").exists()


def test_what_does_not_fit_is_not_begun(tmp_path: Path) -> None:
    done = answer("random", "--points", "1e9", "--features", "10", "--memory", "1GB", "--output", tmp_path)
    assert done["computed"] == 0
    assert "GiB of memory" in done["missing"][0][2]


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (["nothing"], "there are statistics"),
        (["random", "--points", "many"], "not a whole number"),
        (["random", "--points", "2"], "too small"),
        (["random", "--features", "0"], "too small"),
        (["--repetitions", "0"], "greater"),
        (["--memory", "much"], "not a size"),
    ],
)
def test_wrong_arguments(arguments: list[str], word: str) -> None:
    result = run(*arguments)
    assert result.exit_code == 2
    assert word in " ".join(result.output.replace("│", " ").split())


def test_output_is_a_file(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    assert run(*SMALL, "--output", tmp_path / "file").exit_code == 2
    assert run(*SMALL, "--output", tmp_path / "file" / "below").exit_code == 4


def test_damaged_results_are_not_overwritten(tmp_path: Path) -> None:
    (tmp_path / "random.json").write_text("{")
    result = run(*SMALL, "--output", tmp_path)
    assert result.exit_code == 4
    assert (tmp_path / "random.json").read_text() == "{"


def test_without_matplotlib(tmp_path: Path) -> None:
    with lacking("matplotlib"):
        ended = called("reproduce", *SMALL, "--output", tmp_path)
    assert ended.code == 0
    assert ended.json["computed"] == 1
    assert (tmp_path / "report.html").exists()


def test_without_jinja2(tmp_path: Path) -> None:
    """No page, which is said, but the same numbers as Markdown and JSON."""
    environment.cache_clear()
    with lacking("jinja2"):
        ended = called("reproduce", *SMALL, "--output", tmp_path)
        quiet = called("reproduce", *SMALL, "--output", tmp_path, "--quiet")
    assert ended.code == 0
    assert "no report.html: the report needs the package 'jinja2'" in ended.err
    assert "geodim[report]" in ended.err
    assert {path.rpartition("/")[2] for path in ended.json["written"]} == {"report.md", "report.json"}
    assert not (tmp_path / "report.html").exists()
    assert (quiet.code, quiet.err) == (0, "")


def test_terminal(tmp_path: Path) -> None:
    listed = called_on_terminal("reproduce", "--list")
    assert "one-hot" in listed.err
    plan = called_on_terminal(
        "reproduce", "random", "khop", "--dry-run", "--output", tmp_path, "--root", tmp_path
    )
    assert plan.code == 0
    assert "GiB" in plan.err
    assert "not at hand: cora is not on this machine" in " ".join(plan.err.split())
    ended = called_on_terminal("reproduce", *SMALL, "--output", tmp_path)
    assert ended.code == 0
    assert "1 unit computed, 0 kept from before" in ended.err
    assert "report.html" in ended.err


@pytest.mark.slow
@pytest.mark.unix
def test_ctrl_c_keeps_what_is_finished(tmp_path: Path) -> None:
    """The first unit is quick; the signal is sent while the large one is under way."""
    sent = []

    def interrupt(shown: str, process: subprocess.Popen[bytes]) -> None:
        if "n 1,000,000" in shown and not sent:
            sent.append(True)
            process.send_signal(signal.SIGINT)

    ended = on_terminal(
        "reproduce", "random", "--points", "2000,1e6", "--features", "20", "--repetitions", "1", "--output",
        tmp_path, watch=interrupt,
    )  # fmt: skip
    assert ended.code == 5
    assert "1 unit computed" in ended.err
    assert "stopped early (interrupted)" in " ".join(ended.err.split())
    document = json.loads((tmp_path / "random.json").read_text())
    assert [one["key"]["n"] for one in document["units"]] == [2000]


def test_durations() -> None:
    assert [duration(seconds) for seconds in (0.25, 59.0, 600.0, 36_000.0)] == [
        "0.2 s",
        "59 s",
        "10 min",
        "10.0 h",
    ]
