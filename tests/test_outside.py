"""Tests that open files from outside the repository."""

from __future__ import annotations

import shlex
import tomllib
from pathlib import Path

import pytest

from outside import ROOT, places

pytest_plugins = ["pytester"]

PLUGIN = """
from pathlib import Path
from outside import Outside

HERE = Path(__file__).parent

def pytest_configure(config):
    config.pluginmanager.register(Outside([HERE / "outside"], [HERE / "outside" / "free"]))
    config.addinivalue_line("markers", "published")
"""
TESTS = """
import os
from pathlib import Path
import pytest

FILE = Path(__file__).parent / "outside" / "numbers.txt"

@pytest.fixture
def numbers():
    return FILE.read_text()

def test_fixture(numbers):
    pass

def test_relative(monkeypatch):
    monkeypatch.chdir(FILE.parent.parent)
    open("outside/numbers.txt").close()

def test_dots():
    (FILE.parent / "free" / ".." / FILE.name).read_text()

def test_low_level():
    os.close(os.open(FILE, os.O_RDONLY))

def test_nothing_there():
    with pytest.raises(FileNotFoundError):
        (FILE.parent / "nothing.txt").read_text()

def test_within():
    Path(__file__).read_text()

def test_free():
    (FILE.parent / "free" / "numbers.txt").read_text()

@pytest.mark.published
def test_published(numbers):
    pass
"""


def test_whoever_opens_one_fails(pytester):
    for folder in ("outside", "outside/free"):
        pytester.mkdir(folder)
        (pytester.path / folder / "numbers.txt").write_text("1 2 3")
    pytester.makeconftest(PLUGIN)
    pytester.makepyfile(TESTS)
    done = pytester.runpytest_inprocess("-p", "no:cacheprovider")
    done.assert_outcomes(passed=4, failed=4)
    done.stdout.fnmatch_lines(["*opened outside the repository: *numbers.txt*"])


def test_beside_the_repository_is_out_of_bounds():
    barred, free = places()
    assert ROOT in free
    assert ROOT not in barred
    if ROOT.parent in barred:  # nearly everywhere, see there
        assert not any(ROOT.parent.is_relative_to(one) for one in free)


def test_every_run_leaves_published_files_out():
    """Only `make test-data` asks for them."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["pytest"]
    options = settings["ini_options"]["addopts"]
    assert "not published" in options[options.index("-m") + 1]
    recipes = (ROOT / "Makefile").read_text(encoding="utf-8").splitlines()
    chosen = [line for line in recipes if " -m '" in line or "EVERY := -m" in line]
    assert len(chosen) == 2
    assert all("not published" in line for line in chosen)
    assert [shlex.split(line)[-2:] for line in recipes if line.endswith("published")] == [["-m", "published"]]


@pytest.mark.parametrize("page", ["CONTRIBUTING.md", "RELEASING.md"])
def test_the_pages_name_the_command(page):
    assert "make test-data" in Path(ROOT / page).read_text(encoding="utf-8")
