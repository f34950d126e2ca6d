"""The lock by strips: whole columns merged side by side give what they give one after the other."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from geodim.engine.profile import MUCH, Profile
from geodim.engine.strips import STRIPS, StripLock
from geodim.engine.target import Solved
from geodim.errors import InternalError

N = MUCH + 1001


def solved(column: int, cut: int = 0) -> Solved:
    """A column that is sometimes the widest, and often ties with others."""
    rng = np.random.default_rng(column)
    edges = np.sort(rng.choice(np.arange(1, N - cut), 40, replace=False)).reshape(-1, 2)
    phi = rng.integers(0, 6, N - cut).astype(np.float64)
    return Solved(phi, edges, column, cut, np.ones(5, np.int64))


@pytest.mark.parametrize("size", [0, 1, STRIPS, 1003])
@pytest.mark.parametrize("turn", [0, 3, 100])
def test_strips_cover_an_array_once(size, turn):
    lock = StripLock()
    strips = list(lock.one_by_one(size, turn))
    assert sorted({at for _, first, stop in strips for at in range(first, stop)}) == list(range(size))
    assert sum(stop - first for _, first, stop in strips) == size
    assert {id(one) for one, _, _ in strips} == set(map(id, lock.strips))


def test_whoever_holds_all_excludes_those_who_want_one():
    lock, seen = StripLock(), []
    with lock:
        assert all(one.locked() for one in lock.strips)
        other = threading.Thread(target=lambda: [one.acquire() for one in lock.strips] and seen.append(1))
        other.start()
        other.join(0.05)
        assert not seen
    other.join(30)
    assert seen


def test_columns_merged_side_by_side_are_those_merged_one_after_the_other():
    everything = [solved(column, cut) for column, cut in zip(range(24), [0, 7, 0, N // 2] * 6, strict=True)]
    expected, owner = np.zeros(N), np.full(N, -1)
    for one in everything:
        for first, stop in one.ranges.tolist():
            for d in range(first + one.cut, stop + one.cut):
                value = one.phi[d - one.cut]
                if value > expected[d] or (value == expected[d] and one.column < owner[d]):
                    expected[d], owner[d] = value, one.column
    for order in (everything, everything[::-1]):
        profile = Profile.empty(N, 24)
        with ThreadPoolExecutor(4) as pool:
            list(pool.map(profile.merge, order))
        assert np.array_equal(profile.phi, expected)
        assert np.array_equal(profile.owner, owner)
        assert profile.work.tolist() == [24] * 5


def test_an_error_leaves_no_strip_locked():
    profile = Profile.empty(N, 2)
    wrong = Solved(np.zeros(N), np.array([[0, N + 1]]), 0, 0, np.zeros(5, np.int64))
    with pytest.raises(InternalError):
        profile.merge(wrong)
    assert not any(one.locked() for one in profile.lock.strips)
    profile.merge(solved(1))
