"""Columns that threads solve side by side: all pieces in one call, and a bar without a lock."""

from __future__ import annotations

import threading

import numpy as np
import pytest

from distributions import column
from engine.oracle import padded, phi
from geodim.data.sources import as_source
from geodim.engine import recursion, solve
from geodim.engine.driver import Driver
from geodim.engine.kernels import sweep
from geodim.engine.solve import compute_profile
from geodim.engine.toptwo import TopTwo

N = 1 << 16  # several pieces per column


def test_several_threads_sweep_and_one_does_not(monkeypatch, rng):
    """The same profile, owners and all, and every column is swept unless it is alike."""
    swept: list[int] = []
    once = recursion.Recursion.sweep

    def watched(self, pieces, halted, work):
        done, ranges = once(self, pieces, halted, work)
        swept.append(done - len(pieces))
        return done, ranges

    monkeypatch.setattr(recursion.Recursion, "sweep", watched)
    X = np.stack([rng.standard_normal(N) for _ in range(12)], axis=1)
    alone = compute_profile(as_source(X), n_threads=1)
    assert not swept
    together = compute_profile(as_source(X), n_threads=4)
    assert swept == [0] * 12  # all pieces of all columns
    assert together.phi.tobytes() == alone.phi.tobytes()
    assert together.owner.tobytes() == alone.owner.tobytes()
    assert together.done.all()
    assert not together.unsolved


@pytest.mark.parametrize("name", ["grid_jitter_third", "linspace", "half_zero", "two_scales", "huge"])
def test_columns_of_other_kinds_among_swept_ones(name, rng):
    """What is not for the recursion is solved as ever, and what it reaches is known to the others."""
    n = 2000
    odd = column(name, n).astype(np.float64)
    odd = odd / np.ptp(odd)
    X = np.stack([rng.standard_normal(n) / 8.0, odd, rng.standard_normal(n) / 8.0, odd[::-1], odd], axis=1)
    alone, together = (compute_profile(as_source(X), n_threads=threads) for threads in (1, 3))
    assert together.phi.tobytes() == alone.phi.tobytes()
    assert together.owner.tobytes() == alone.owner.tobytes()
    best = np.max([phi(padded(np.sort(values)), n) for values in X.T], axis=0)
    assert together.phi.tolist() == best.tolist()


def test_a_column_that_turns_out_to_be_alike_is_finished_piece_by_piece(monkeypatch, rng):
    monkeypatch.setattr("geodim.engine.column.MOST_LOOKS", 40)
    X = np.stack([rng.standard_normal(3000) for _ in range(6)], axis=1)
    found = compute_profile(as_source(X), n_threads=2).phi
    best = np.max([phi(padded(np.sort(values)), 3000) for values in X.T], axis=0)
    assert found.tolist() == best.tolist()


def test_a_swept_column_stops_between_pieces(monkeypatch, rng):
    """What was solved counts, and bounds know which pieces are missing."""
    from geodim.data.checks import scan_ranges

    X = np.stack([rng.standard_normal(N) for _ in range(6)], axis=1)
    once, stopped = sweep.solve_swept, threading.Event()
    driver = Driver()

    def halting(*arguments):
        arguments = list(arguments)
        pieces = arguments[11]
        if stopped.is_set():  # and its bounds do not tell the other column that it need not be solved
            arguments[11], arguments[15] = pieces[:0], np.ones(1, np.uint8)
        else:
            arguments[11], arguments[15] = pieces[:3], np.zeros(1, np.uint8)  # solved, whoever looks first
            stopped.set()
            driver.halt("interrupted")
        return once(*arguments)

    monkeypatch.setattr(sweep, "solve_swept", halting)
    source = as_source(X)
    profile = compute_profile(source, n_threads=2, driver=driver)
    assert profile.stopped == "interrupted"
    assert not profile.done.all()
    begun = [len(pieces) for pieces in profile.unsolved.values()]
    assert begun
    true = compute_profile(source, n_threads=1).phi[1:]
    _, lower, upper = profile.bounds(scan_ranges(source, 1))
    assert np.all(lower <= true)
    assert np.all(true <= upper)
    # Of the three pieces; whether their column is the widest anywhere is a matter of luck.
    own = [compute_profile(as_source(X[:, [column]]), n_threads=1).phi[1:] for column in profile.unsolved]
    assert any(np.any((lower == phi) & (phi > 0.0)) for phi in own)


@pytest.mark.parametrize("threads", [2, 5])
def test_the_two_best_columns_share_no_bar(threads, rng):
    """What one column attains does not rule out others there: it takes two."""
    X = np.stack([rng.standard_normal(3000) for _ in range(12)], axis=1)
    found = TopTwo.of(3000, 12)
    compute_profile(as_source(X), n_threads=threads, profile=found)
    every = np.sort([phi(padded(np.sort(values)), 3000) for values in X.T], axis=0)
    assert found.best.tolist() == every[-1].tolist()
    assert found.second.tolist() == every[-2].tolist()


def test_bars_are_raised_and_never_lowered(rng):
    shared = recursion.Sweep.from_phi(rng.random(100))
    before, found = shared.bar.copy(), rng.random(90)
    shared.raise_to(found, np.array([[3, 20], [50, 90]]), 10)
    expected = before.copy()
    for first, stop in ((3, 20), (50, 90)):
        expected[10 + first : 10 + stop] = np.maximum(before[10 + first : 10 + stop], found[first:stop])
    assert shared.bar.tolist() == expected.tolist()


def test_one_thread_needs_no_common_bar():
    assert not solve.way_of(as_source(np.zeros((10, 4))), None, 0.0, 1).shares
    assert solve.way_of(as_source(np.zeros((10, 4))), None, 0.0, 2).shares
