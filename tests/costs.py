"""What each test costs, in seconds of processors, and the most expensive ones at the end of a run.

Not wall time, which depends on what else the machine does.  Children count once they have ended, so that a
cluster that serves many tests is charged to nobody; whoever calls a kernel first pays for its compilation.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

LIMIT = 3.0  # CONTRIBUTING.md says so, too
SHOWN = 10


def spent() -> float:
    """Seconds of processors that this process and its ended children have used."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


class Costs:
    """The plugin: workers measure, and whoever has the terminal collects."""

    def __init__(self) -> None:
        self._before = 0.0
        self._costs: dict[str, float] = {}

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self) -> Iterator[None]:
        self._before = spent()
        return (yield)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, call: pytest.CallInfo[None]) -> Iterator[None]:
        report = yield
        if call.when == "teardown":
            report.cpu_seconds = spent() - self._before  # what a worker's report has, is sent with it
        return report

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "teardown":
            self._costs[report.nodeid] = report.cpu_seconds

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        highest = sorted(self._costs.items(), key=lambda cost: -cost[1])[:SHOWN]
        if not highest or highest[0][1] < LIMIT / 2:
            return
        terminalreporter.section("most expensive tests, in seconds of processors")
        for name, seconds in highest:
            mark = f" (more than {LIMIT:g})" if seconds > LIMIT else ""
            terminalreporter.line(f"{seconds:6.1f}  {name}{mark}")
        whole = sum(self._costs.values())
        terminalreporter.line(f"{whole:6.1f}  all {len(self._costs)} together")


def slow(*values: object) -> object:
    """Parameters that only `make test-all` runs."""
    return pytest.param(*values, marks=pytest.mark.slow)
