"""Every public name has an example that runs, and a place in the reference.

`make docs-check` runs the examples.
"""

from __future__ import annotations

import inspect
import re
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

import geodim

REFERENCE = Path(__file__).parents[2] / "docs" / "reference"
MODULES = [name for name in geodim.__all__ if isinstance(getattr(geodim, name), ModuleType)]
NEED_TORCH = ["torch", "pyg"]


def members(module: str) -> list[str]:
    if module in NEED_TORCH:
        pytest.importorskip("torch", reason="PyTorch is not installed")
        pytest.importorskip("torch_geometric", reason="PyTorch Geometric is not installed")
    return import_module(f"geodim.{module}").__all__


def listed(page: str) -> set[str]:
    text = (REFERENCE / page).read_text(encoding="utf-8")
    return set(re.findall(r"^(?:   |\.\. data:: )(\w+)$", text, re.MULTILINE))


def has_example(one: object) -> bool:
    return ">>>" in (inspect.getdoc(one) or "")


@pytest.mark.parametrize("name", [name for name in geodim.__all__ if name not in (*MODULES, "__version__")])
def test_names_of_the_package(name: str) -> None:
    assert has_example(getattr(geodim, name)), f"geodim.{name} has no example: write one in its docstring"
    assert name in listed("api.rst"), f"geodim.{name} is missing in docs/reference/api.rst"


@pytest.mark.parametrize("module", [*MODULES, *NEED_TORCH])
def test_names_of_modules(module: str) -> None:
    names = members(module)
    here = import_module(f"geodim.{module}")
    for name in names:
        one = getattr(here, name)
        if callable(one):
            assert has_example(one), f"geodim.{module}.{name} has no example: write one in its docstring"
        else:  # a constant, which has no docstring of its own
            assert name in (here.__doc__ or ""), f"geodim.{module}: no example has {name}"
    assert set(names) == listed(f"modules/{module}.rst")
    assert has_example(here) or module in NEED_TORCH
    assert f"modules/{module}" in (REFERENCE / "api.rst").read_text(encoding="utf-8")


def test_the_reference_lists_nothing_else() -> None:
    assert listed("api.rst") <= set(geodim.__all__)
