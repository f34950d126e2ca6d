"""The program as a whole: help that teaches, a quick start, versions, and the other commands."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from sklearn.datasets import load_digits
from typer.testing import CliRunner

import geodim
from cli.running import called, called_on_terminal, environment, lacking, piped
from geodim.cli import demo
from geodim.cli.app import app
from geodim.cli.exits import ExitCode

if TYPE_CHECKING:
    from pathlib import Path


def test_version() -> None:
    assert piped("--version").out == f"geodim {geodim.__version__}\n"


@pytest.mark.parametrize("arguments", [["--help"], ["-h"], ["compute", "--help"]])
def test_help_teaches(arguments: list[str]) -> None:
    ended = called(*arguments)
    assert ended.code == 0
    assert "intrinsic dimension" in ended.out
    assert "geodim compute" in ended.out
    for code in ExitCode:
        assert f"• {int(code)}: " in ended.out


@pytest.mark.parametrize("command", ["", "compute", "reproduce", "datasets", "datasets fetch"])
def test_switches_take_no_value(command: str) -> None:
    """Typer would show ``--quiet <bool>``."""
    shown = called(*command.split(), "--help").out
    assert "--help" in shown
    assert "bool" not in shown


def test_no_arguments_give_help() -> None:
    ended = called()
    assert "Commands" in ended.out + ended.err


def test_help_imports_nothing_heavy() -> None:
    code = (
        "import sys\n"
        "from geodim.cli import main\n"
        "sys.argv = ['geodim', 'compute', '--help']\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        "heavy = {'numba', 'sklearn', 'matplotlib', 'scipy', 'pandas', 'polars', 'pyarrow', 'torch', "
        "'numpy'}\nprint(sorted(heavy & set(sys.modules)), file=sys.stderr)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        timeout=30,
        env=environment(),
    )
    assert done.stderr == "[]\n"


@pytest.mark.unix
def test_completion_is_offered() -> None:
    result = CliRunner().invoke(app, ["--show-completion", "bash"])
    assert "--show-completion" in CliRunner().invoke(app, ["--help"]).stdout
    assert result.exit_code in {0, 1, 2}, "depends on the shell the tests run in, but never a traceback"
    assert "Traceback" not in result.output


class TestDemo:
    def test_numbers_and_files(self, tmp_path: Path) -> None:
        ended = called("demo", "--output", tmp_path / "new" / "folder")
        exact = geodim.intrinsic_dimension(load_digits().data)
        assert (ended.code, ended.err) == (0, "")
        assert f"{exact.dimension:.6g}" in ended.out
        assert f"{geodim.intrinsic_dimension(load_digits().data, normalize=False).dimension:.6g}" in ended.out
        written = geodim.IDResult.from_json(tmp_path / "new" / "folder" / "digits.json")
        assert written.dimension == exact.dimension
        assert (tmp_path / "new" / "folder" / "digits.png").read_bytes().startswith(b"\x89PNG")
        for printed in ("6.2523", "3.8324", "3.6689", "3.6627", "3.6624", "3.6623"):  # tab:k_hop_ids
            (line,) = [line for line in ended.out.splitlines() if f" {printed} " in line]
            assert line.split()[1].startswith(printed[:5])
            assert line.rstrip().endswith("the same")
        assert "digits.json\n" in ended.out
        assert "digits.png\n" in ended.out
        assert "report.html\n" in ended.out
        report = (tmp_path / "new" / "folder" / "report.html").read_text(encoding="utf-8")
        assert "Handwritten digits, and Cora" in report
        assert f"{exact.dimension:.4g}" in report

    @pytest.mark.parametrize(("found", "typed"), [(None, "'.my venv/bin/geodim'"), ("/bin/geodim", "geodim")])
    def test_what_comes_next_can_be_typed(self, found: str | None, typed: str, monkeypatch) -> None:
        """`make demo` makes an environment that no shell knows of."""
        monkeypatch.setattr("shutil.which", lambda _name: found)
        monkeypatch.setattr("sys.argv", [".my venv/bin/geodim", "demo"])
        assert demo._program() == typed

    def test_without_matplotlib(self, tmp_path: Path) -> None:
        with lacking("matplotlib"):
            ended = called("demo", "--output", tmp_path)
        assert ended.code == 0
        assert "note: no plot: plotting needs the package 'matplotlib'" in ended.err
        assert sorted(path.name for path in tmp_path.iterdir()) == ["digits.json", "report.html"]

    def test_without_plotly(self, tmp_path: Path) -> None:
        with lacking("plotly"):
            ended = called("demo", "--output", tmp_path)
        assert ended.code == 0
        assert "note: no report: the report needs the package 'plotly'" in ended.err
        assert sorted(path.name for path in tmp_path.iterdir()) == ["digits.json", "digits.png"]

    def test_folder_that_cannot_be_made(self, tmp_path: Path) -> None:
        (tmp_path / "file").write_text("")
        result = CliRunner().invoke(app, ["demo", "--output", str(tmp_path / "file" / "demo")])
        assert result.exit_code == 4
        assert "--output" in result.stderr


class TestDoctor:
    def test_json(self) -> None:
        ended = called("doctor")
        assert ended.code == 0
        report = ended.json
        assert report["healthy"]
        assert report["geodim"] == geodim.__version__
        assert report["extras"]["plot"]["complete"]
        assert report["extras"]["plot"]["install"] == "pip install 'geodim[plot]'"
        assert report["threads"] >= 1
        assert report["compiler_cache"]["writable"]

    def test_table(self) -> None:
        ended = called_on_terminal("doctor")
        assert ended.code == 0
        for word in ("numba", "extra frames", "matplotlib", "threads", "memory", "compiler cache", "GPU"):
            assert word in ended.err
        assert "Everything geodim needs is here." in ended.err

    def test_compiler_cache_that_cannot_be_written(self, tmp_path: Path) -> None:
        (tmp_path / "file").write_text("")
        result = CliRunner(env={"NUMBA_CACHE_DIR": str(tmp_path / "file" / "cache")}).invoke(app, ["doctor"])
        assert result.exit_code == 0
        assert not json.loads(result.stdout)["compiler_cache"]["writable"]
