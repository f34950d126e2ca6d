"""Names where one looks for them: all of them are there, and stay what they are whatever is imported."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from types import FunctionType

import pytest

import geodim


@pytest.mark.parametrize("name", geodim.__all__)
def test_every_public_name_is_there(name):
    assert getattr(geodim, name) is not None
    assert name in dir(geodim)


@pytest.mark.parametrize("name", ["report", "plan", "as_graph", "read_table"])
def test_functions_are_not_hidden_by_modules_of_their_name(name):
    """Importing a submodule sets an attribute of the package: none may have the name of a function."""
    assert isinstance(getattr(geodim, name), FunctionType)
    assert importlib.util.find_spec(f"geodim.{name}") is None


def test_no_submodule_has_the_name_of_a_public_function_or_class():
    modules = {module.name for module in pkgutil.iter_modules(geodim.__path__)}
    names = {name for name in geodim.__all__ if not inspect.ismodule(getattr(geodim, name))}
    assert not modules & names
