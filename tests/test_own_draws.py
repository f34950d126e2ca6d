"""Generators of modules: what a test draws does not depend on what ran before it."""

from __future__ import annotations

import re
import sys

import pytest

pytest_plugins = ["pytester"]

PLUGIN = """
import own_draws
from pathlib import Path

own_draws.HERE = Path(__file__).resolve().parent

def pytest_configure(config):
    config.pluginmanager.register(own_draws.OwnDraws())
"""
TESTS = """
import numpy as np
import pytest

RNG = np.random.default_rng(0)

@pytest.fixture(scope="module")
def shared():
    return RNG.random()

@pytest.fixture
def own():
    return RNG.random()

@pytest.mark.parametrize("case", range(3))
def test_of_some(case, own, shared):
    print(f"drew {case} {own} {shared} {RNG.random()}.")
"""


@pytest.fixture
def drawn(pytester):
    """What the tests draw, by case, if these are asked for in some order."""
    pytester.makeconftest(PLUGIN)
    file = pytester.makepyfile(TESTS)

    def run(*cases):
        chosen = [f"{file.name}::test_of_some[{case}]" for case in cases]
        done = pytester.runpytest_inprocess("-p", "no:cacheprovider", "-s", *chosen)
        done.assert_outcomes(passed=len(cases))
        return dict(re.findall(r"drew (\d) (.*)\.$", "\n".join(done.stdout.lines), re.MULTILINE))

    return run


def test_draws_depend_on_the_test_alone(drawn):
    assert drawn(0, 1, 2) == drawn(2, 0, 1)
    assert drawn(1) == {"1": drawn(0, 1)["1"]}


def test_what_is_no_module_is_passed_over(drawn, monkeypatch):
    """As where a package is made to look as if it were not installed."""
    for name, instead in (
        ("none", None),
        ("an object", object()),
        ("lazy", type("Lazy", (), {"__file__": 3})()),
    ):
        monkeypatch.setitem(sys.modules, name, instead)
    assert list(drawn(0)) == ["0"]


def test_each_test_has_draws_of_its_own_but_for_what_they_share(drawn):
    owns, shares, others = zip(*(line.split() for line in drawn(0, 1, 2).values()), strict=True)
    assert len(set(shares)) == 1
    assert len({*owns, *others, *shares}) == 7
