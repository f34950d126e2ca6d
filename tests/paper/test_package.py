"""The package as a whole: executed docstrings, complete documentation, imports."""

import doctest
import importlib
import pkgutil
import subprocess
import sys
from pathlib import Path

import pytest

from geodim import paper

MODULES = [f"geodim.paper.{module.name}" for module in pkgutil.iter_modules(paper.__path__)]


@pytest.mark.parametrize("name", MODULES)
def test_docstrings_run(name):
    failed, _ = doctest.testmod(importlib.import_module(name))
    assert failed == 0


@pytest.mark.parametrize("name", paper.__all__)
def test_public_names_have_an_example(name):
    assert ">>>" in getattr(paper, name).__doc__


def test_modules_are_small():
    for path in Path(paper.__path__[0]).glob("*.py"):
        assert len(path.read_text(encoding="utf-8").splitlines()) < 250, path


def test_needs_numpy_only():
    others = {"scipy", "numba", "sklearn", "pandas", "torch"}
    code = f"import sys, geodim.paper; print(*sorted({others} & set(sys.modules)))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.split() == []
