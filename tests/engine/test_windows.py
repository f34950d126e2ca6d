"""Few points, without compiled code: the bits of the compiled engine and of the paper, in everything told."""

from __future__ import annotations

import warnings
from dataclasses import fields
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from hypothesis import given, settings, strategies as st
from hypothesis.extra import numpy as hnp

import geodim
from distributions import COLUMNS, column, matrix, random_matrix
from geodim import paper
from geodim.backends import local
from geodim.data.sources import ArraySource
from geodim.engine import windows
from geodim.engine.driver import Driver
from geodim.engine.kernels import counters
from geodim.engine.profile import Profile
from geodim.engine.ways import FEW_VALUES, FEW_WINDOWS, few_windows
from geodim.errors import DataChangedError, DegenerateDataWarning, InterruptedWarning
from geodim.plans import Problem, plan

# What depends on the way, and on the clock.
APART = {"evaluations", "seconds", "plan"}


@pytest.fixture
def without_kernels(monkeypatch):
    """As in a process that has loaded nothing compiled."""
    monkeypatch.setattr(local, "kernels_pay", lambda: False)


def solve(X: Any, **options: Any) -> geodim.IDResult:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DegenerateDataWarning)
        return geodim.intrinsic_dimension(X, **options)


def both(X: Any, **options: Any) -> tuple[geodim.IDResult, geodim.IDResult]:
    """Without compiled code, and with it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(local, "kernels_pay", lambda: False)
        plain = solve(X, **options)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(local, "kernels_pay", lambda: True)  # whatever this process has loaded so far
        compiled = solve(X, **options)
    assert not plain.plan.way.compiled
    assert compiled.plan.way.compiled
    return plain, compiled


def assert_same(plain: geodim.IDResult, compiled: geodim.IDResult, what: str = "") -> None:
    """Every field, bit for bit."""
    for field in fields(plain):
        if field.name in APART:
            continue
        one, other = getattr(plain, field.name), getattr(compiled, field.name)
        if isinstance(one, np.ndarray):
            assert one.dtype == other.dtype
            assert one.tobytes() == other.tobytes(), (what, field.name)
        elif field.name == "removal" and one is not None:
            assert one.to_dict() == other.to_dict(), what
            assert one.ties.tobytes() == other.ties.tobytes(), what
        else:
            assert repr(one) == repr(other), (what, field.name)


@pytest.mark.turns(5)
@pytest.mark.parametrize("name", COLUMNS)
def test_columns_of_every_kind(name):
    for n in (1, 2, 33, 130):
        X = np.stack([column(name, n, seed) for seed in range(3)], axis=1)
        assert_same(*both(X, removal=True), f"{name}, n = {n}")


@pytest.mark.parametrize("name", ["normal", "tenths_64", "integers_below_n", "denormals", "largest"])
def test_the_definition(name, without_kernels):
    X = np.stack([column(name, 90, seed) for seed in range(4)], axis=1)
    result = solve(X, normalize=False)
    assert not result.plan.way.compiled
    assert result.phi_lower.tobytes() == paper.phi_all(X).tobytes()


@pytest.mark.turns(5)
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(("n", "d"), [(1, 300), (2, 7), (40, 300), (257, 120), (1025, 17)])
@pytest.mark.parametrize("removal", [False, True])
def test_many_columns_of_all_kinds(n, d, seed, removal):
    X = random_matrix(np.random.default_rng([seed, n, d]), n, d)
    assert_same(*both(X, removal=removal), f"{n} x {d}")


@settings(max_examples=60)
@given(
    hnp.arrays(
        np.float64,
        st.tuples(st.integers(1, 30), st.integers(1, 6)),
        elements=st.sampled_from([-1.0, -0.0, 0.0, 0.1, 0.2, 0.30000000000000004, 0.5, 1.0, 1e300]),
    )
)
def test_ties(X):
    """Few values, so that columns tie nearly everywhere, and zeros of both signs."""
    assert_same(*both(X, removal=True))


FORMS = {
    "float32": lambda X: X.astype(np.float32),
    "integers": lambda X: np.round(1000 * X).astype(np.int64),
    "large integers": lambda X: np.round(1000 * X).astype(np.int64) + (1 << 60),
    "columns": np.asfortranarray,
    "strided": lambda X: np.repeat(X, 2, axis=1)[:, ::2],
    "list": np.ndarray.tolist,
    "frame": lambda X: pd.DataFrame(X, columns=[f"f{at}" for at in range(X.shape[1])]),
    "sparse": lambda X: scipy.sparse.csr_array(np.where(np.abs(X) < 1.0, 0.0, X)),
}


@pytest.mark.parametrize("form", FORMS)
def test_data_of_every_form(form):
    assert_same(*both(FORMS[form](matrix(["normal", "uniform", "rounded", "constant"], 80))), form)


@pytest.mark.parametrize(
    "options",
    [
        {"weights": np.arange(80) % 4},
        {"scale": "rank"},
        {"scale": "iqr"},
        {"scale": "none"},
        {"n_threads": 1},
    ],
    ids=str,
)
def test_options(options):
    assert_same(*both(matrix(["normal", "uniform", "rounded"], 80), **options))


def test_a_map(tmp_path):
    np.save(tmp_path / "x.npy", matrix(["normal", "grid"], 100))
    assert_same(*both(np.load(tmp_path / "x.npy", mmap_mode="r")))


def test_blocks_of_columns(monkeypatch):
    monkeypatch.setattr(windows, "AT_ONCE", 300)
    plain, compiled = both(random_matrix(np.random.default_rng(3), 100, 10), removal=True)
    assert (plain.plan.way.width, plain.plan.way.passes) == (3, 4)
    assert_same(plain, compiled)


def test_a_checkpoint(tmp_path, without_kernels):
    X = matrix(["normal", "uniform"], 100)
    first = solve(X, checkpoint=tmp_path / "state")
    assert not first.plan.way.compiled
    again = solve(X, checkpoint=tmp_path / "state")
    assert again.phi_lower.tobytes() == first.phi_lower.tobytes() == solve(X).phi_lower.tobytes()


def test_the_clock(without_kernels):
    X = matrix(["normal", "uniform"], 100)
    with pytest.warns(InterruptedWarning, match="0 of 2"):
        stopped = geodim.intrinsic_dimension(X, time_limit=0.0)
    assert stopped.stopped == "time limit"
    assert stopped.lower <= solve(X).dimension <= stopped.upper


def test_progress(monkeypatch, without_kernels):
    monkeypatch.setattr(windows, "AT_ONCE", 250)
    seen: list[tuple[int, int]] = []
    solve(matrix(["normal"] * 5, 100), progress=lambda *how_far: seen.append(how_far))
    assert seen == [(0, 5), (2, 5), (4, 5), (5, 5)]


def test_data_that_changes():
    X = matrix(["normal", "uniform"], 50)
    source = ArraySource(X)
    ranges = local.LocalBackend().scan_ranges(source, 1)
    X[7, 1] = 100.0
    with pytest.raises(DataChangedError, match="column 1"):
        windows.solve_every_window(source, Profile.empty(50, 2), Driver(), ranges)


def test_what_is_small():
    assert few_windows(1000, 16)
    assert few_windows(1797, 64)  # the digits
    assert few_windows(1, FEW_VALUES)
    assert not few_windows(1, FEW_VALUES + 1)
    assert few_windows(1 << 14, 1)
    assert FEW_WINDOWS == (1 << 14) ** 2
    assert not few_windows((1 << 14) + 1, 1)


def test_the_plan_decides():
    small = Problem(1000, 16, 8)
    assert not plan(small).way.compiled
    assert "every window" in plan(small).method
    assert plan(small).threads == 1
    for other in (
        Problem(1000, 16, 8, kernels=True),
        Problem(1000, 16, 8, rtol=0.01),
        Problem(1000, 16, 8, masses=True),
        Problem(1000, 1000, 8, made_from=8000),
        Problem(100_000, 16, 8),
        Problem(1000, 16, 8, hops=2, stored_entries=5000),
    ):
        assert plan(other).way.compiled


def test_kernels_that_are_loaded_are_used():
    """As here, where tests/conftest.py loads them; else after some seconds without."""
    assert windows.kernels_pay()
    assert solve(np.eye(4)).plan.way.compiled


def test_patience_ends(monkeypatch, without_kernels):
    monkeypatch.setattr(windows, "_looked_at", 0)
    monkeypatch.setattr(windows, "sys", type("nothing loaded", (), {"modules": {}}))
    assert not windows.kernels_pay()
    solve(matrix(["normal"], 100))
    assert windows._looked_at == 5000
    monkeypatch.setattr(windows, "PATIENCE", 5000)
    assert windows.kernels_pay()


def test_windows_are_counted(without_kernels):
    assert counters.WINDOWS == windows.WINDOWS
    assert solve(matrix(["normal"] * 3, 100)).evaluations == 3 * 100 * 99 // 2
