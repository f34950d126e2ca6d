"""What all tests share: the seed of the day, Hypothesis, and data sets from the repository only.

Random tests see other data every day.  The seed is printed at the start, and with every failure of
such a test: ``pytest --seed 20261116`` repeats that day.  What must not vary (regressions,
statistics) has seeds of its own.
"""

from __future__ import annotations

import importlib
import logging
import os
import signal
import sys
import zlib
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

import garbage
from costs import Costs
from outside import Outside
from own_draws import OwnDraws
from turns import Turns

# The first call of a kernel compiles it, so single examples may take seconds.  Examples follow from the seed,
# not from what failed before; but Hypothesis also tries constants of the modules that are loaded, so that
# another selection of tests may see others: a failure comes with the line that repeats its example.
# HYPOTHESIS_PROFILE=release looks at eight times as many, explore at forty times.  Where the environment says
# CI, Hypothesis would show the same examples for ever; derandomize=False keeps the seed in charge.
_SHARED = {
    "deadline": None,
    "derandomize": False,
    "database": None,
    "print_blob": True,
    "suppress_health_check": [HealthCheck.too_slow, HealthCheck.data_too_large],
}
settings.register_profile("geodim", max_examples=25, **_SHARED)
settings.register_profile("release", max_examples=200, **_SHARED)
settings.register_profile("explore", max_examples=1000, **_SHARED)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "geodim"))

# Without a GPU Triton interprets the kernels, which it must know before anything imports it.
if not Path("/dev/nvidia0").exists():
    os.environ.setdefault("TRITON_INTERPRET", "1")

INTERPRETED = os.environ.get("NUMBA_DISABLE_JIT") == "1"
if INTERPRETED:
    import interpreted

    interpreted.replace_vectors()

# Small data is solved without compiled code where none is loaded (`geodim.engine.windows`).  Nearly all data
# here is small, and it is the compiled engine that these tests are for: with it loaded, nothing depends on
# the order of tests.  Commands in processes of their own, and tests/engine/test_windows.py, go the other way.
importlib.import_module("geodim.engine.column")

# Signals and limits of Unix, named when they are imported; their own marks come too late on Windows.
collect_ignore = ["cli/test_signals.py", "faults", "fuzz"] if sys.platform == "win32" else []


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--seed",
        type=int,
        default=int(f"{datetime.now(UTC):%Y%m%d}"),
        help="seed of the random tests; today's date by default, as in 20261116",
    )


@pytest.hookimpl(tryfirst=True)  # before Hypothesis reads its option
def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("--hypothesis-seed") is None:
        config.option.hypothesis_seed = str(config.getoption("--seed"))
    config.pluginmanager.register(garbage, "garbage")
    config.pluginmanager.register(Costs(), "costs")
    config.pluginmanager.register(Turns(), "turns")
    config.pluginmanager.register(Outside(), "outside")
    config.pluginmanager.register(OwnDraws(), "own draws")
    if INTERPRETED:  # machine code makes infinities and wraps around without a word
        config.addinivalue_line("filterwarnings", "ignore::RuntimeWarning")


class Root(logging.RootLogger):
    """Does not forget what all loggers know of its level when it is set to what it is, as for every test."""

    def setLevel(self, level: int | str) -> None:
        if level != self.level:
            super().setLevel(level)


logging.root.setLevel(logging.INFO)  # as pyproject.toml wants it for every test
logging.root.__class__ = Root


def pytest_report_header(config: pytest.Config) -> str:
    return f"seed of the random tests: {config.getoption('--seed')} (repeat them with --seed)"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]):
    report = yield
    varies = "rng" in getattr(item, "fixturenames", ()) or item.get_closest_marker("hypothesis")
    if report.failed and varies:
        seed = item.config.getoption("--seed")
        report.sections.append(("seed", f"repeat with: pytest '{item.nodeid}' --seed {seed}"))
    return report


@pytest.fixture(scope="session", autouse=True)
def signals_as_a_terminal_leaves_them() -> None:
    """Whoever started the tests may ignore some (nohup, a shell's background), and children inherit that."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for name in ("SIGHUP", "SIGTERM"):
        if hasattr(signal, name):  # not everywhere
            signal.signal(getattr(signal, name), signal.SIG_DFL)


@pytest.fixture
def rng(request: pytest.FixtureRequest) -> np.random.Generator:
    """Random numbers that are others every day and in every test; see the option --seed."""
    seed = request.config.getoption("--seed")
    return np.random.default_rng([seed, zlib.crc32(request.node.nodeid.encode())])


@pytest.fixture(params=[pytest.param(False, id="some"), pytest.param(True, id="all", marks=pytest.mark.slow)])
def picked(request: pytest.FixtureRequest, rng: np.random.Generator):
    """As many of a sequence as asked for, others every day; before a release, all of them."""

    def pick(items, count):
        items = list(items)
        return items if request.param else [items[at] for at in sorted(rng.permutation(len(items))[:count])]

    return pick


@pytest.fixture(scope="session", autouse=True)
def no_data_sets_but_our_own(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Files that somebody has downloaded decide nothing: see `published`."""
    os.environ["GEODIM_DATA"] = str(tmp_path_factory.mktemp("no-data-sets"))


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Not every system has what every test looks at."""
    for system, here in (("unix", sys.platform != "win32"), ("linux", sys.platform == "linux")):
        if item.get_closest_marker(system) and not here:
            pytest.skip(f"{sys.platform} does not have what this looks at")


@pytest.fixture
def all_tolerant(monkeypatch: pytest.MonkeyPatch) -> None:
    """Columns that look at more than a few windows for each size are solved within a tolerance.

    However short they are.
    """
    from geodim.engine import hard, stepped

    monkeypatch.setattr(hard, "HARD_FROM", 200)
    monkeypatch.setattr(hard, "COARSE_FROM", 200)
    monkeypatch.setattr("geodim.engine.column.MOST_LOOKS", 64)
    monkeypatch.setattr(stepped, "MANY", 360)
    monkeypatch.setattr(stepped, "ENOUGH", 0)
