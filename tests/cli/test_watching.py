"""What commands show while they work, and that they end when their time is over."""

from __future__ import annotations

import io
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from rich.console import Console

from cli.running import ESCAPES, called, called_on_terminal, environment
from geodim import waiting as waiting_
from geodim.cli import watching as watching_
from geodim.cli.exits import ExitCode
from geodim.cli.watching import watching
from geodim.sampling import rows
from geodim.waiting import report

if TYPE_CHECKING:
    from pathlib import Path

    from geodim.result import IDResult

RNG = np.random.default_rng(5)


@pytest.fixture(autouse=True)
def _able_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """One that can move its cursor, whatever the tests themselves are started from."""
    monkeypatch.setenv("TERM", "xterm")


@pytest.fixture
def points(tmp_path: Path) -> Path:
    path = tmp_path / "points.npy"
    np.save(path, RNG.random((200, 3)))
    return path


def terminal() -> tuple[Console, io.StringIO]:
    shown = io.StringIO()
    return Console(file=shown, force_terminal=True, width=120), shown


def text_of(shown: io.StringIO) -> str:
    found = ESCAPES.sub("", shown.getvalue())
    shown.truncate(0)
    shown.seek(0)
    return found


def test_one_bar_from_reading_to_solving() -> None:
    console, shown = terminal()
    with watching(console) as watch:
        assert watch.bar is not None

        def now() -> str:
            watch.bar.refresh()
            return text_of(shown)

        report("reading /far/away/[big].csv", 1_000_000_000, 4_000_000_000)
        first = now()
        assert "reading [big].csv" in first
        assert "1 GB of 4 GB" in first
        time.sleep(0.01)
        report("reading /far/away/[big].csv", 2_000_000_000, 4_000_000_000)
        assert "0:00:0" in now()  # the time left
        report("looking through the values", 3, 10)
        looking = now()
        assert "looking through the values" in looking
        assert "30%" in looking
        assert "keeps the bounds" not in looking  # there are none
        watch.solving(2, 25)
        solving = now()
        assert "2/25 features" in solving
        assert "(Ctrl-C keeps the bounds)" in solving


def test_nothing_is_kept_where_there_is_nothing() -> None:
    console, shown = terminal()
    with watching(console, noun="samples", keeps="") as watch:
        assert watch.bar is not None
        report("measuring samples", 3, 40)  # watches the clock
        watch.parts(3, 40)
        watch.bar.refresh()
        found = text_of(shown)
        assert "measuring samples" in found
        assert "3/40" in found
        assert "8%" not in found
        assert "keeps" not in found


def test_quiet_where_nobody_is_looking() -> None:
    plain = Console(file=io.StringIO())
    for console, quiet in ((plain, False), (terminal()[0], True)):
        with watching(console, quiet=quiet) as watch:
            assert watch.bar is None
            report("reading a", 1, 2)
            watch.solving(1, 2)
        assert console.file.getvalue() == ""  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("command", "promised"),
    [
        (["compute"], True),
        (["select"], False),
        (["subsample"], False),
        (["compare", "again"], False),
    ],
)
def test_only_what_is_true_is_promised(
    command: list[str], promised: bool, points: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept: list[str] = []

    class Seen(watching_.Watch):
        def __init__(self, *given: Any) -> None:
            super().__init__(*given)
            kept.append(self.keeps)

    monkeypatch.setattr(watching_, "Watch", Seen)
    words = [str(points) if word == "again" else word for word in command]
    assert called_on_terminal(*words, points, "--quiet").code == 0
    assert [bool(one) for one in kept] == [promised]


@pytest.mark.parametrize("command", ["compute", "select", "subsample", "binary"])
def test_time_is_over_while_a_file_is_read(
    tmp_path: Path, command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(waiting_, "GRACE", 0.0)
    path = tmp_path / "long.csv"
    path.write_text("a,b,c,d\n" + "0,1,0,1\n" * 200_000)
    ended = called(command, path, "--time-limit", "0")
    assert (ended.code, ended.out) == (ExitCode.STOPPED, "")
    assert f"the time limit of 0 s ran out before there was any result, while reading {path} (" in ended.err


def test_time_is_over_while_samples_are_measured(points: Path) -> None:
    for words in (["compare", points, points], ["subsample", points]):
        ended = called(*words, "--time-limit", "0")
        assert (ended.code, ended.out) == (ExitCode.STOPPED, "")
        assert "while measuring samples" in ended.err


def test_features_chosen_by_then(tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", RNG.random((50, 9)) ** RNG.uniform(0.2, 6.0, 9))
    ended = called("select", tmp_path / "x.npy", "-m", "9", "--time-limit", "0")
    assert ended.code == ExitCode.STOPPED
    assert len(ended.json["names"]) == 1
    assert ended.json["parameters"]["stopped"] == "time limit"
    assert "stopped early (time limit): 1 features were chosen by then" in ended.err
    whole = called("select", tmp_path / "x.npy", "-m", "1", "--time-limit", "0")
    assert "stopped" not in whole.json["parameters"]


def test_what_cannot_be_asked_ends_with_the_process(points: Path) -> None:
    """A library that is busy, or a compiler: here a sleep of a minute before the data is opened."""
    code = (
        "import sys, time, geodim.cli.tables as t\n"
        "t.told = lambda table: time.sleep(60)\n"
        "from geodim.cli import main\n"
        "main()\n"
    )
    started = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-c", code, "compute", str(points), "--time-limit", "0.1"],
        capture_output=True, text=True, timeout=50, check=False, env=environment(),
    )  # fmt: skip
    assert time.monotonic() - started < 45
    assert (done.returncode, done.stdout) == (ExitCode.STOPPED, "")
    assert done.stderr.startswith("error: the time limit of 0.1 s ran out before there was any result")


def test_interrupts_end_commands_that_measure_parts(points: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One part that was stopped is no answer, and the others are not to be waited for."""
    measured: list[IDResult] = []
    measure = rows.intrinsic_dimension

    def interrupted(*given: Any, **options: Any) -> IDResult:
        from dataclasses import replace

        measured.append(replace(measure(*given, **options), stopped="interrupted"))
        return measured[-1]

    monkeypatch.setattr(rows, "intrinsic_dimension", interrupted)
    for words in (["compare", points, points], ["subsample", points]):
        measured.clear()
        ended = called(*words)
        assert (ended.code, ended.out) == (ExitCode.INTERRUPTED, "")
        assert len(measured) == 1
