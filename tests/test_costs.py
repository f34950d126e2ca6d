"""The list of expensive tests at the end of a run."""

from __future__ import annotations

import costs

pytest_plugins = ["pytester"]

BUSY = """
import time

def test_quick():
    pass

def test_busy():
    until = time.process_time() + 0.2
    while time.process_time() < until:
        pass
"""


def test_the_most_expensive_tests_are_named(pytester, monkeypatch):
    monkeypatch.setattr(costs, "LIMIT", 0.15)
    pytester.makepyfile(BUSY)
    done = pytester.runpytest_inprocess("-p", "no:cacheprovider", plugins=[costs.Costs()])
    done.assert_outcomes(passed=2)
    shown = done.stdout.str().partition("most expensive tests")[2].splitlines()
    assert shown[1].endswith("::test_busy (more than 0.15)")
    assert shown[2].endswith("::test_quick")
    assert shown[3].endswith("all 2 together")


def test_quick_tests_are_not_worth_a_line(pytester):
    pytester.makepyfile(BUSY)
    done = pytester.runpytest_inprocess("-p", "no:cacheprovider", plugins=[costs.Costs()])
    assert "most expensive" not in done.stdout.str()
