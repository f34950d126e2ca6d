"""Families whose cases take turns."""

from __future__ import annotations

import pytest

pytest_plugins = ["pytester"]

FAMILIES = """
import pytest

@pytest.mark.turns(4)
@pytest.mark.parametrize("case", [*range(10), pytest.param(10, marks=pytest.mark.slow)])
def test_family(case):
    pass

class TestOthers:
    @pytest.mark.turns(4)
    @pytest.mark.parametrize("case", range(2))
    def test_family(self, case):
        pass

def test_alone():
    pass
"""
PLUGIN = """
from turns import Turns

def pytest_addoption(parser):
    parser.addoption("--seed", type=int)

def pytest_configure(config):
    config.pluginmanager.register(Turns())
    config.addinivalue_line("markers", "turns(n)")
    config.addinivalue_line("markers", "slow")
"""


@pytest.fixture
def passed(pytester):
    pytester.makeconftest(PLUGIN)
    pytester.makepyfile(FAMILIES)

    def run(*options):
        done = pytester.runpytest_inprocess("-p", "no:cacheprovider", "-v", *options)
        return {
            line.partition("::")[2].split()[0]
            for line in done.stdout.lines
            if line.rstrip(" %[]0123456789").endswith("PASSED")
        }

    return run


def test_a_share_runs_and_others_on_other_days(passed):
    first, again, other = (passed("-m", "not slow", "--seed", seed) for seed in ("1", "1", "2"))
    for found in (first, other):
        assert len(found) == 3 + 1 + 1
        assert "test_alone" in found
        assert sum(name.startswith("TestOthers") for name in found) == 1
    assert first == again != other


def test_before_a_release_all_run(passed):
    assert len(passed("-m", "", "--seed", "1")) == 11 + 2 + 1


def test_who_is_asked_for_runs(passed):
    assert len(passed("-m", "not slow", "--seed", "1", "-k", "test_family[7]")) == 1
