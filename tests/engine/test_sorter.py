"""`Sorter`: every way of sorting gives what `np.sort` gives."""

from __future__ import annotations

from collections import defaultdict
from functools import partial

import numpy as np
import pytest
from hypothesis import given, strategies as st

from geodim.engine import sorter
from geodim.engine.kernels import dealing
from geodim.engine.sorter import Sorter, numpy_to_digits

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
        "a time axis": rng.permutation(1.7e9 + 0.1 * np.arange(n)),
        "two clusters of a share": rng.choice([1.0, 1.015], n) + 1e-12 * rng.random(n),
    }
    made = {name: values.astype(kind) for name, values in every.items()}
    if kind is np.float64:
        bits = rng.integers(0, 2**64, n, dtype=np.uint64).view(np.float64)
        made["any bits of 64"] = np.where(np.isfinite(bits), bits, 0.0)
        made["beyond float32"] = rng.standard_normal(n) * (np.finfo(np.float64).max / 10.0)
        made["below float32"] = rng.standard_normal(n) * 1e-300
    return made


def ways(kind):
    yield "numpy", lambda sorter, column, out: sorter.by_numpy(column, out)
    yield "digits", lambda sorter, column, out: sorter.by_radix(column, out)
    yield "shares", lambda sorter, column, out: sorter.by_shares(column, out)


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


def test_what_digits_leave_in_disorder_is_sorted_by_insertion_only_if_it_is_little():
    """Insertion gives up in time, and loses no key."""
    for number, most in ((100, 100 * 99 // 2), (100, 100 * 99 // 2 - 1), (3000, 1000)):
        keys = np.arange(number, 0, -1, dtype=np.uint64)
        done = dealing.inserted(keys, 0, number, most)
        assert done == (most >= number * (number - 1) // 2)
        assert sorted(keys.tolist()) == list(range(1, number + 1))
        assert not done or np.all(keys[1:] > keys[:-1])


@pytest.mark.parametrize("n", [5000, (1 << 15) + 5])
def test_keys_of_a_share_that_digits_tell_apart_or_do_not(n, rng):
    """Whatever the range of the share, and however close to each other its keys are."""
    for reach in (5000, 2**18, 2**40, 2**64 - 1):
        for near in (0, 3, 5000):
            keys = rng.choice(np.array([0, reach // 2, reach - near], np.uint64), n)
            keys += rng.integers(0, near, n, dtype=np.uint64, endpoint=True)
            expected, spare = np.sort(keys), np.empty_like(keys)
            dealing.sort_share_64(keys, spare, 0, n, *np.empty((2, 2048), np.int32))
            assert np.array_equal(keys, expected)


def test_two_digits_sort_by_these_bits_alone(rng):
    keys = rng.integers(2**50, 2**60, 3000, dtype=np.uint64)
    least, given = keys.min(), keys.copy()
    dealing.sort_two_digits(keys, np.empty_like(keys), 0, 3000, least, 30, 9, *np.empty((2, 512), np.int32))
    digits = (given - least) >> np.uint64(30) & np.uint64((1 << 18) - 1)
    assert np.array_equal(keys, given[np.argsort(digits, kind="stable")])


@pytest.mark.parametrize(
    ("ratio", "kind", "nbytes", "ways"),
    [
        (0.5, np.float32, 4 << 20, ["numpy"]),
        (0.5, np.float32, 512, ["numpy"]),
        (9.0, np.float32, 512, ["numpy"]),
        (0.5, np.float32, 1 << 15, ["numpy"]),
        (0.5, np.float32, (1 << 15) - 4, ["digits"]),  # not worth a trial
        (1.0, np.float32, 1 << 20, ["numpy", "digits"]),
        (1.0, np.float32, 4 << 20, ["numpy", "digits", "shares"]),
        (1.0, np.float32, 16 << 20, ["numpy", "shares"]),
        (9.0, np.float32, (2 << 20) - 4, ["digits"]),
        (9.0, np.float32, 2 << 20, ["digits", "shares"]),
        (9.0, np.float32, 16 << 20, ["shares"]),
        (9.0, np.float32, 8 << 30, ["digits"]),  # counters of shares would overflow
        (1.0, np.float64, 4 << 20, ["numpy", "shares"]),
        (9.0, np.float64, (2 << 20) - 8, ["digits"]),
        (9.0, np.float64, 2 << 20, ["shares"]),
    ],
)
def test_what_may_be_the_fastest(monkeypatch, ratio, kind, nbytes, ways):
    """By how numpy compares with digits, and by whether the cache holds the column."""
    monkeypatch.setattr(sorter, "numpy_to_digits", lambda _: ratio)
    own = Sorter(1, np.dtype(kind))
    own.n = nbytes // np.dtype(kind).itemsize
    assert own.ways() == ways


@pytest.mark.parametrize("fastest", ["numpy", "digits", "shares"])
def test_the_fastest_way_is_taken(monkeypatch, fastest):
    """Each is tried in turn on the first columns of about this length; the first turn counts for nothing."""
    clock, taken = [0.0], []
    every = ["numpy", "digits", "shares"]

    def work(way):
        taken.append(way)
        first = taken.count(way) == 1
        clock[0] += (2.0 if way == fastest else 1.0) if first else (1.0 if way == fastest else 2.0)

    monkeypatch.setattr(sorter, "trials", defaultdict(sorter.Trials))
    monkeypatch.setattr(sorter.time, "perf_counter", lambda: clock[0])
    monkeypatch.setattr(Sorter, "ways", lambda _: every)
    monkeypatch.setattr(Sorter, "by_numpy", lambda *_, **__: work("numpy"))
    monkeypatch.setattr(Sorter, "by_radix", lambda *_: work("digits"))
    monkeypatch.setattr(Sorter, "by_shares", lambda *_: work("shares"))
    rounds = 1 + sorter.TRIES
    for n in (*[9] * 3 * rounds, 10, 15):
        Sorter(n, np.dtype(np.float32)).sort(np.ones(n, np.float32), np.empty(n))
    assert taken == every * rounds + 2 * [fastest]
    Sorter(16, np.dtype(np.float32)).sort(np.ones(16, np.float32), np.empty(16))
    Sorter(15, np.dtype(np.float64)).sort(np.ones(15), np.empty(15))
    assert taken[-2:] == ["numpy", "numpy"]  # other lengths and types tell nothing


def test_a_way_that_is_taken_often_does_not_look_faster_for_it(monkeypatch):
    """The best of many times is below the best of a few: only as many as were tried of the others count."""
    clock, taken = [0.0], []
    monkeypatch.setattr(sorter.time, "perf_counter", lambda: clock[0])
    trials = sorter.Trials()

    def work(way):
        taken.append(way)
        clock[0] += {"a": 2.0, "b": 3.0}[way] if len(taken) < 50 else 1.0

    for _ in range(100):
        trials.run({way: partial(work, way) for way in ("a", "b")})
    assert trials.best == {"a": 2.0, "b": 3.0}
    assert set(taken[2 + 2 * sorter.TRIES :]) == {"a"}


def test_threads_that_begin_together_try_different_ways():
    trials, began = sorter.Trials(), []

    def work(way):
        began.append(way)
        if len(began) < 9:  # the others begin before this one ends
            trials.run({one: partial(work, one) for one in ("a", "b", "c")})

    work("first")
    assert began == ["first", *"abcabcab"]


@given(st.data(), st.sampled_from([np.float32, np.float64]))
def test_any_values(data, kind):
    column = np.array(data.draw(st.lists(FINITE[kind], min_size=1, max_size=200)), kind)
    own, out = Sorter(column.size, np.dtype(kind)), np.empty(column.size)
    for _, sort in ways(kind):
        sort(own, column, out)
        np.testing.assert_array_equal(out, np.sort(column))


@pytest.mark.parametrize("way", ["numpy", "digits", "shares"])
@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_the_choice_changes_nothing(monkeypatch, kind, way):
    monkeypatch.setattr(Sorter, "ways", lambda _: [way])
    for n in (2000, 6000):
        out = np.empty(n)
        for column in columns(n, kind).values():
            Sorter(n, np.dtype(kind)).sort(column, out)
            np.testing.assert_array_equal(out, np.sort(column))


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_numpy_is_timed_once(kind):
    first = numpy_to_digits(np.dtype(kind))
    assert first > 0.0
    tries = sorter._compare.cache_info().misses
    assert numpy_to_digits(np.dtype(kind)) == first
    assert sorter._compare.cache_info().misses == tries
