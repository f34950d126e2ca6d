"""All targets, by family: a module of `fuzz.targets` with a list called TARGETS each."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fuzz.harness import Target

FAMILIES = ("tables", "graphs", "results", "concepts", "objects")


def targets() -> dict[str, Target]:
    """By name; those that need what is not installed are left out."""
    every = [target for family in FAMILIES for target in import_module(f"fuzz.targets.{family}").TARGETS]
    return {target.name: target for target in every if target.available}
