"""A column without others: its widths become the profile, the same as if they had been merged into it."""

from __future__ import annotations

import numpy as np
import pytest

from distributions import COLUMNS
from engine.oracle import assert_same_bits
from geodim.data.sources import as_source
from geodim.engine import pieces, ways
from geodim.engine.driver import Driver
from geodim.engine.profile import Profile
from geodim.engine.solve import compute_profile
from geodim.engine.target import Solved

N = 3001


def both(source, **options):
    """The profile of the only column, and one that its widths were merged into."""
    n = source.n_points
    merged = Profile.empty(n, 1, options.get("step", 0.0))
    return compute_profile(source, **options), compute_profile(source, profile=merged, **options)


@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.parametrize("name", COLUMNS)
def test_the_bits_of_what_is_merged(name, kind, rng):
    with np.errstate(over="ignore", invalid="ignore"):
        values = COLUMNS[name](rng, N).astype(kind)
    if not np.isfinite(values).all():
        pytest.skip("infinite in float32")
    steps = ({"step": 2.0**-9, "n_threads": 1},) if np.abs(values).max() < 1e30 else ()
    for options in ({"n_threads": 1}, {"n_threads": 3}, *steps):
        found, expected = both(as_source(values[:, np.newaxis]), **options)
        assert_same_bits(found.phi, expected.phi)
        np.testing.assert_array_equal(found.owner, expected.owner)
        if options["n_threads"] == 1:  # several may find a narrow window earlier or later
            np.testing.assert_array_equal(found.work, expected.work)
        assert found.done.all()
        assert found.unsolved == expected.unsolved
        found.owner[:], found.phi[:] = -1, 0.0  # nothing of it is read-only, or memory of the solver's


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_widths_are_not_copied_and_hold_no_other_memory(kind, monkeypatch, rng):
    monkeypatch.setattr(Profile, "merge", lambda *_: pytest.fail("merged"))
    profile = compute_profile(as_source(rng.normal(size=(10**6, 1)).astype(kind)), n_threads=1)
    base = profile.phi
    while base.base is not None:
        base = base.base
    assert base.nbytes == profile.phi.nbytes
    np.testing.assert_array_equal(profile.owner, np.where(profile.phi > 0.0, 0, -1))


def test_minus_zero_is_no_width(rng):
    values = np.concatenate([np.full(900, -0.0), np.full(900, 0.0), rng.normal(size=2000)])
    profile, expected = both(as_source(rng.permutation(values)[:, np.newaxis]))
    assert not np.signbit(profile.phi).any()
    assert_same_bits(profile.phi, expected.phi)


@pytest.mark.parametrize("n_threads", [1, 3])
@pytest.mark.parametrize("looks", [0, 2, 3, 6, 20])
def test_stopped_in_between(monkeypatch, looks, n_threads, rng):
    """What is there is merged, what is missing is known to be, and another run continues."""
    monkeypatch.setattr(pieces, "LONG", 64)
    monkeypatch.setattr(pieces, "SHORT", 64)
    monkeypatch.setattr(ways, "LONG_FROM", 64)
    source, driver, seen = as_source(rng.normal(size=(N, 1))), Driver(), []
    truth = compute_profile(source)

    def late():
        seen.append(0)
        return len(seen) > looks

    with monkeypatch.context() as patch:
        patch.setattr(driver, "late", late)
        stopped = compute_profile(source, driver=driver, n_threads=n_threads)
    there = stopped.owner >= 0
    assert there.any() == (looks > 2)  # one before reading, and one before sorting
    assert not stopped.done.any()
    np.testing.assert_array_equal(stopped.phi, np.where(there, truth.phi, 0.0))
    missing = np.zeros(N, bool)
    for first, stop in stopped.unsolved.get(0, {0: (1, N)}).values():
        missing[first:stop] = True
    np.testing.assert_array_equal(missing[1:], ~there[1:])
    again = compute_profile(source, profile=stopped, n_threads=n_threads)
    assert again.done.all()
    assert_same_bits(again.phi, truth.phi)


def test_what_is_not_all_there_is_merged():
    """Sizes that are missing or came from elsewhere, a part that was cut off, widths that may be off."""
    phi, work = np.arange(10.0), np.zeros(5, np.int64)
    whole = np.array([[1, 4], [4, 10]])
    for found, taken in (
        ([Solved(phi, whole, 0, 0, work)], True),
        ([Solved(phi, whole[1:], 0, 0, work), Solved(phi, whole[:1], 0, 0, work)], True),
        ([Solved(phi, np.array([[0, 5], [3, 10]]), 0, 0, work)], True),
        ([], False),
        ([Solved(phi, whole[1:], 0, 0, work)], False),
        ([Solved(phi, whole[:1], 0, 0, work)], False),
        ([Solved(phi, np.array([[1, 4], [5, 10]]), 0, 0, work)], False),
        ([Solved(phi, whole, 0, 1, work)], False),
        ([Solved(phi, whole, 0, 0, work, loose=0.1)], False),
        ([Solved(phi, whole[1:], 0, 0, work), Solved(phi.copy(), whole[:1], 0, 0, work)], False),
    ):
        profile = Profile.empty(10, 1, blank=True)
        assert profile.take_over(found) == taken
        assert (profile.phi is phi) == taken
        assert not profile.phi[0]
        profile.make_room()
        assert profile.owner[0] == -1
        assert (profile.owner[9] == 0) == taken
