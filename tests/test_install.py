"""How `make` installs a clone: by uv, told what pip is told, and by pip where that does not work."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[1] / ".ci" / "install.py"

if not SCRIPT.exists():
    pytest.skip("the script comes with a clone only", allow_module_level=True)


@pytest.fixture
def commands(monkeypatch):
    """What is run for some extras, where whatever holds one of these words fails."""

    def run(*failing):
        script = runpy.run_path(str(SCRIPT))
        ran = []

        def succeeds(*command):
            ran.append(" ".join(command[1:]))
            return not any(word in ran[-1] for word in failing)

        monkeypatch.setitem(script["installed"].__globals__, "_succeeds", succeeds)
        return script["installed"]("dev"), ran

    return run


def test_uv_looks_where_pip_is_told_to_look(commands, monkeypatch):
    monkeypatch.setenv("PIP_INDEX_URL", "https://first.example/simple")
    monkeypatch.setenv("PIP_EXTRA_INDEX_URL", "https://second.example/simple https://third.example/simple")
    monkeypatch.setenv("PIP_FIND_LINKS", "wheels")
    succeeded, (_, ours) = commands()
    assert succeeded
    assert ours.startswith("-m uv pip install")
    assert ours.endswith("--constraint constraints.txt --editable .[dev]")
    for option in (
        "--default-index https://first.example/simple",
        "--index https://second.example/simple --index https://third.example/simple",
        "--find-links wheels",
        "--index-strategy unsafe-best-match",
    ):
        assert option in ours


@pytest.mark.parametrize("failing", ["--no-compile uv", "-m uv"])
def test_pip_where_uv_is_missing_or_fails(commands, failing):
    succeeded, ran = commands(failing)
    assert succeeded
    assert "--upgrade pip" in ran[-2]
    assert ran[-1].startswith("-m pip")
    assert ran[-1].endswith("--no-compile --constraint constraints.txt --editable .[dev]")


def test_neither(commands):
    assert not commands("--editable")[0]
