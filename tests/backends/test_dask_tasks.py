"""What workers do with bars and parts, without a cluster: against the same in one line of NumPy."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st

pytest.importorskip("distributed", reason="the extra dask is not installed")

from geodim.backends.dask import tasks
from geodim.engine.profile import Profile

values = st.floats(0.0, 1e300) | st.sampled_from([0.0, 5e-324, 1.0])


@st.composite
def parts(draw, size):
    """Some entries of a profile, some of them without an owner."""
    start = draw(st.integers(0, size - 1))
    length = draw(st.integers(0, size - start))
    phi = np.array(draw(st.lists(values, min_size=length, max_size=length)), np.float64)
    owner = np.array(draw(st.lists(st.integers(-1, 3), min_size=length, max_size=length)), np.int32)
    return tasks.Part(start, phi, owner, done=(draw(st.integers(0, 9)),), dropped=draw(st.integers(0, 2)))


@pytest.fixture(autouse=True)
def small(monkeypatch):
    """Bars of a few entries, and merging in several chunks."""
    monkeypatch.setattr(tasks, "COARSE", 8)
    monkeypatch.setattr(tasks, "CHUNK", 5)


def job_of(size, n_steps=None):
    return tasks.Job("tested", size, np.dtype(np.float64), 0.0, n_steps, 0, 1, 1, None)


@given(st.data(), st.integers(1, 70))
def test_a_coarse_bar_is_what_was_reached_up_to_there(data, size):
    part = data.draw(parts(size))
    whole = np.zeros(size)
    whole[part.start : part.stop] = part.phi
    reached = np.maximum.accumulate(whole)
    every = 1 << tasks._shift(size)
    bar = tasks.bar_of(part, job_of(size), size)
    assert bar.size <= 8
    assert np.array_equal(bar, reached[::every])
    before = np.array(data.draw(st.lists(values, min_size=size, max_size=size)))
    bench = tasks.Bench(job_of(size), size)
    bench.lift(before)
    bench.lift(bar)
    assert np.array_equal(bench.bars[0], np.maximum(before, np.repeat(bar, every)[:size]))


@given(st.data(), st.integers(1, 40), st.booleans())
def test_profiles_start_just_below_the_bar(data, size, counted):
    bar = np.array(data.draw(st.lists(values, min_size=size, max_size=size)))
    job = job_of(size)
    profile = Profile.empty(size, 1)
    if counted:
        job = job_of(100, n_steps=size - 1)
        profile = Profile.empty(100, 1, 1.0, size - 1)
        bar = np.maximum(-bar, job.floor)
    bench = tasks.Bench(job, size)
    bench.lift(bar)
    bench.preset(profile)
    assert np.array_equal(profile.phi, np.maximum(np.nextafter(bar, -np.inf), job.floor))


@given(st.data(), st.integers(1, 40))
def test_merging_takes_the_maximum_and_the_lowest_owner(data, size):
    some = data.draw(st.lists(parts(size), min_size=1, max_size=5))
    merged = tasks.merge_parts(some)
    phi, owner = np.zeros(size), np.full(size, -1, np.int32)
    tasks.merge_into(phi, owner, 0, merged)
    for d in range(size):
        here = [(p.phi[d - p.start], -p.owner[d - p.start]) for p in some if p.start <= d < p.stop]
        best = max((one for one in here if one[1] <= 0), default=(0.0, 1))
        assert (phi[d], -owner[d]) == best
    assert sorted(merged.done) == sorted(column for p in some for column in p.done)
    assert merged.dropped == sum(p.dropped for p in some)


@given(st.data(), st.integers(1, 40))
def test_what_was_added_before_is_told_with_the_rest(data, size):
    before, after = data.draw(parts(size)), data.draw(parts(size))
    # By columns of other blocks.
    reached = np.array(data.draw(st.lists(values, min_size=size, max_size=size)))
    bench, profile = tasks.Bench(job_of(size), size), Profile.empty(size, 4)
    bench.lift(reached)
    bench.preset(profile)
    tasks.take_up(profile, before, [0, 1, 2, 3])
    tasks.merge_into(profile.phi, profile.owner, 0, after)
    told = tasks.part_of(profile, bench, np.arange(4), [], dropped=3, before=before)
    # Beside the others, it makes no difference whether two parts come or one.
    both, one = np.zeros(size), np.zeros(size)
    owners_of_both, owners_of_one = np.full(size, -1, np.int32), np.full(size, -1, np.int32)
    for part in (before, after):
        tasks.merge_into(both, owners_of_both, 0, part)
    tasks.merge_into(one, owners_of_one, 0, told)
    matters = (owners_of_both >= 0) & (both >= reached)
    assert np.array_equal(one[matters], both[matters])
    assert np.array_equal(owners_of_one[matters], owners_of_both[matters])
    assert np.all(one <= np.maximum(both, reached))
    assert set(told.done) >= set(before.done)
    assert told.dropped == before.dropped + 3


def test_a_worker_makes_one_bench_per_job():
    job = job_of(10)
    try:
        assert tasks.bench_of(job, 10) is tasks.bench_of(job, 10)
    finally:
        tasks.forget(job.token)
    assert job.token not in tasks._benches
