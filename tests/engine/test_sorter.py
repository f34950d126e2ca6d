"""`Sorter`: every way of sorting gives what `np.sort` gives."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st

from geodim.engine import sorter
from geodim.engine.sorter import Sorter, numpy_is_faster

FINITE = {
    np.float32: st.floats(width=32, allow_nan=False, allow_infinity=False),
    np.float64: st.floats(allow_nan=False, allow_infinity=False),
}


def columns(n, kind):
    rng = np.random.default_rng(n)
    bits = rng.integers(0, 2**32, n, dtype=np.uint32).view(np.float32)
    every = {
        "normal": rng.standard_normal(n),
        "any bits": np.where(np.isfinite(bits), bits, np.float32(0)),
        "one exponent": 1.0 + rng.random(n),
        "ties": rng.integers(-3, 4, n),
        "constant": np.full(n, -2.5),
        "tiny": rng.standard_normal(n) * 1e-42,
        "signed zeros": rng.choice([-0.0, 0.0, 1.0], n),
        "descending": -np.arange(n),
    }
    return {name: values.astype(kind) for name, values in every.items()}


def ways(kind):
    yield "numpy", lambda sorter, column, out: sorter.by_numpy(column, out)
    yield "digits", lambda sorter, column, out: sorter.by_radix(column, out, dealt_out=False)
    if kind is np.float32:
        yield "shares", lambda sorter, column, out: sorter.by_radix(column, out, dealt_out=True)


@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.parametrize("n", [1, 2, 33, 1000, 70_001])
def test_every_way(n, kind):
    own = Sorter(n, np.dtype(kind))
    for name, column in columns(n, kind).items():
        before = column.copy()
        for way, sort in ways(kind):
            out = np.full(n + 3, np.inf)
            sort(own, column, out)
            np.testing.assert_array_equal(out[:n], np.sort(column), err_msg=f"{name}, {way}")
            assert np.all(out[n:] == np.inf)
            np.testing.assert_array_equal(column, before)


@given(st.data(), st.sampled_from([np.float32, np.float64]))
def test_any_values(data, kind):
    column = np.array(data.draw(st.lists(FINITE[kind], min_size=1, max_size=200)), kind)
    own, out = Sorter(column.size, np.dtype(kind)), np.empty(column.size)
    for _, sort in ways(kind):
        sort(own, column, out)
        np.testing.assert_array_equal(out, np.sort(column))


@pytest.mark.parametrize("faster", [True, False])
@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_the_choice_changes_nothing(monkeypatch, kind, faster):
    monkeypatch.setattr(sorter, "TRY_FROM", 1)
    monkeypatch.setattr(sorter, "DEAL_OUT_FROM", 5000)
    monkeypatch.setattr(sorter, "numpy_is_faster", lambda *_: faster)
    for n in (2000, 6000):
        out = np.empty(n)
        for column in columns(n, kind).values():
            Sorter(n, np.dtype(kind)).sort(column, out)
            np.testing.assert_array_equal(out, np.sort(column))


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_the_trial_is_made_once(kind):
    first = numpy_is_faster(np.dtype(kind), False)
    assert isinstance(first, bool)
    tries = sorter._try_both.cache_info().misses
    assert numpy_is_faster(np.dtype(kind), False) == first
    assert sorter._try_both.cache_info().misses == tries
