"""No quadratic surprise: how many windows are looked at, relative to normal data.

Counts do not depend on the machine; ``benchmarks/slow_inputs.py`` measures the time.
"""

from __future__ import annotations

import math
from functools import cache

import numpy as np
import pytest

from distributions import COLUMNS
from engine.oracle import padded
from geodim.data.sources import as_source
from geodim.engine import hard, stepped
from geodim.engine.hard import is_straight, margin
from geodim.engine.kernels.counters import N_COUNTERS, TEST_LOOKS, TESTS, WINDOWS
from geodim.engine.layout import PyramidLayout
from geodim.engine.nested import Nested
from geodim.engine.patterns import line_or_pattern, pattern_or_bent
from geodim.engine.solve import compute_profile, way_of
from geodim.engine.stepped import ENOUGH, MANY, Stepped, affordable
from geodim.engine.ways import Way
from slow_columns import INPUTS, SLOW_ONCE, clocks, thirds_32, wave

N = 1 << 17
RATIO = 10.0  # to normal data
NAMED = (  # in the issue that asked for this
    "ranks / n", "eight ranks / n", "10 Hz from a date on", "10 Hz from 0 on", "quantiles, uniform",
    "quantiles, normal", "eight permutations of a linspace", "normal times 1e305",
)  # fmt: skip


def looks_per_value(X):
    """Windows that are evaluated, and tests of blocks, which take as long as so many of them."""
    source = as_source(X)
    way = way_of(source, None, 0.0, 1)
    profile = compute_profile(source, Way(**{**vars(way), "relaxed": True}), n_threads=1)
    return float(profile.work[WINDOWS] + TEST_LOOKS * profile.work[TESTS]) / X.size


@cache
def normal(columns):
    return looks_per_value(np.random.default_rng(0).normal(size=(N, columns)))


def looks_of_input(name):
    columns, make = INPUTS[name]
    with np.errstate(over="ignore"):
        X = make(np.random.default_rng(N), N)
        if not np.isfinite(np.ptp(X.astype(np.float64), axis=0)).all():
            return 0.0, 1.0  # a few kinds leave the floats where they are this long
    return looks_per_value(X), normal(columns)


@pytest.mark.parametrize("name", [*COLUMNS, *NAMED])
def test_every_kind_of_column(name):
    looks, usual = looks_of_input(name)
    assert looks <= RATIO * usual


def test_a_single_gap_is_no_reason_to_look_more_often_everywhere():
    """The first one nearly gives up, but no tolerance is to be had, and the others take few looks."""
    X = INPUTS["rounded"][1](np.random.default_rng(200_000), 200_000)
    assert looks_per_value(X) <= RATIO * normal(1)


@pytest.mark.parametrize("name", [name for name in SLOW_ONCE if name not in NAMED])
def test_every_other_input(name):
    """Whatever it is, the number of windows has a bound, and most inputs stay far below it."""
    looks, _ = looks_of_input(name)
    assert looks <= 1.25 * max(MANY, ENOUGH / N)


WAVES = {
    "one spacing": lambda n: wave(n, 1.0, 0.9),
    "one spacing, slowly": lambda n: wave(n, 1.0, 0.01),
    "three spacings": lambda n: wave(n, 3.0, 0.3),
    "eight spacings": lambda n: wave(n, 8.0, 0.1),
    "fifty spacings": lambda n: wave(n, 50.0, 0.01),
    "fifty spacings, float32": lambda n: wave(n, 50.0, 0.01).astype(np.float32),
    "four hundred spacings": lambda n: wave(n, 400.0, 0.0032),
    "a thousand spacings": lambda n: wave(n, 1000.0, 0.0009),
    "two waves": lambda n: wave(n, 100.0, 0.003) + wave(n, 100.0, 0.0071),
    "with jitter": lambda n: wave(n, 100.0, 0.003) + 0.3 * np.random.default_rng(n).normal(size=n),
    "around a root": lambda n: math.sqrt(n) * np.sqrt(np.arange(n)) + wave(n, 20.0, 0.03),
    "ever faster": lambda n: wave(n, 30.0, 0.03 * np.arange(n) / n),
    "teeth of a saw": lambda n: np.cumsum(0.5 + (np.arange(n) % 777) / 777.0),
}


@pytest.mark.parametrize("name", WAVES)
def test_a_wave_takes_no_more_than_is_allowed(name):
    """Counted with tests of blocks at what they take, which is far more for some methods than for others."""
    n = 400_000
    l = padded(np.sort(WAVES[name](n).astype(np.float64)))
    top, near = PyramidLayout.of(n).top_shift, margin(l, n)
    choose = line_or_pattern if is_straight(l, n) else pattern_or_bent
    made = choose(l, n, False, near)
    assert near > 0.0
    work = np.zeros(N_COUNTERS, np.int64)
    phi = np.empty(n)
    made.solve(l, n, 1 << top, n, np.zeros(n), False, phi, work)
    if not isinstance(made, Nested | Stepped):
        assert work[WINDOWS] + made.test_looks * work[TESTS] <= 1.25 * MANY * n
        return
    assert work[WINDOWS] + TEST_LOOKS * work[TESTS] <= 1.5 * affordable(n) / 2 * n
    for d in (1 << top, n // 5, n // 2, n - 9):
        exact = float((l[d:n] - l[: n - d]).min())
        assert exact <= phi[d] <= exact + made.loose


@pytest.mark.parametrize(
    "make",
    [
        lambda rng, n: clocks(n, 1.2 + rng.random()),
        lambda rng, n: (
            (thirds_32(np.arange(n) % 2 == 0) + np.float32(0.01 * rng.random()))
            * np.arange(n, dtype=np.float32)
        ),
        lambda rng, n: wave(n, 40.0, 0.01 + 0.002 * rng.random()),
        lambda rng, n: wave(n, 300.0, 0.003 + 0.0005 * rng.random()),
    ],
    ids=["two clocks", "two grids, float32", "waves", "high waves"],
)
def test_many_columns(make, monkeypatch):
    """From 64 columns on, where columns are dropped unsorted."""
    monkeypatch.setattr(stepped, "MANY", 1024)
    monkeypatch.setattr(stepped, "ENOUGH", 0)  # at this length every window might be looked at
    n = 1 << 15
    monkeypatch.setattr(hard, "COARSE_FROM", n)
    rng = np.random.default_rng(n)
    # By columns: where blocks of a row-major array begin depends on where it lies, and with them who leads.
    X = np.stack([rng.permutation(make(rng, n)) for _ in range(64)]).T
    assert looks_per_value(X) <= 1.25 * 1024


def test_equal_columns_are_solved_once():
    """Also those that are no line."""
    n = 1 << 14
    values = clocks(n, 1.6180339887)
    X = np.stack([np.random.default_rng(at).permutation(values) for at in range(4)], axis=1)
    assert looks_per_value(X) <= 1.1 * looks_per_value(X[:, :1]) / 4
