"""Checkpoints: whatever interrupts a pass, continuing it gives the bits of an undisturbed one."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import time
from pathlib import Path

import numpy as np
import pytest

import geodim
from engine.checkpoints import (  # noqa: F401 - one is a fixture
    EDGES,
    OTHER_X,
    X32,
    D,
    N,
    X,
    assert_same_result,
    interrupted,
    narrow_blocks,
    only_file,
    saved_attributes,
)
from engine.killed_job import ATTRIBUTES, compute
from engine.oracle import assert_encloses, assert_same_bits
from faults.jobs import SPAWN
from geodim.errors import InterruptedWarning

# ---------------------------------------------------------------- interrupted and continued


@pytest.mark.parametrize("save_every", [0.0, 1e9])
@pytest.mark.parametrize("n_threads", [1, 2])
def test_interrupted_again_and_again(tmp_path, n_threads, save_every):
    reference = geodim.khop_dimensions(X, EDGES, hops=3)
    options = {"hops": 3, "checkpoint": tmp_path, "n_threads": n_threads, "save_every": save_every}
    for blocks in (1, 2, 1):
        interrupted(blocks, **options)
    only_file(tmp_path)
    assert saved_attributes(tmp_path) == 16
    seen = []
    result = geodim.khop_dimensions(X, EDGES, progress=lambda *state: seen.append(state[0]), **options)
    assert_same_result(result, reference)
    assert seen[0] >= 16  # what was done is not done again
    assert seen[-1] == D
    only_file(tmp_path)


def test_no_time_at_all_then_enough(tmp_path):
    with pytest.warns(InterruptedWarning, match="time limit"):
        geodim.khop_dimensions(X, EDGES, hops=3, checkpoint=tmp_path, time_limit=0)
    reference = geodim.khop_dimensions(X, EDGES, hops=3)
    assert_same_result(geodim.khop_dimensions(X, EDGES, hops=3, checkpoint=tmp_path), reference)


def test_the_clock_then_more_time(tmp_path):
    """The time runs out in the third block."""
    reference = geodim.khop_dimensions(X, EDGES, hops=3)
    for _ in range(2):
        enough = saved_attributes(tmp_path) + 8

        def wait(done, *_, enough=enough):
            time.sleep(1.1 if done >= enough else 0.0)

        with pytest.warns(InterruptedWarning, match="time limit"):
            geodim.khop_dimensions(X, EDGES, hops=3, checkpoint=tmp_path, time_limit=1.0, progress=wait)
        only_file(tmp_path)
    assert_same_result(geodim.khop_dimensions(X, EDGES, hops=3, checkpoint=tmp_path), reference)


@pytest.mark.turns(3)
@pytest.mark.parametrize("call", range(1, 7))
def test_interrupted_at_any_call(tmp_path, call):
    """Also within a block, where some of its hops are merged and others not."""
    reference = geodim.khop_dimensions(X, EDGES, hops=3)
    interrupted(1, checkpoint=tmp_path, hops=3)
    calls = []

    def progress(*state):
        calls.append(state)
        if len(calls) == call:
            raise KeyboardInterrupt

    with pytest.warns(InterruptedWarning, match="interrupted"):
        stopped = geodim.khop_dimensions(X, EDGES, hops=3, checkpoint=tmp_path, progress=progress)
    for one, other in zip(stopped, reference, strict=True):
        assert_encloses(one, other)
    assert_same_result(geodim.khop_dimensions(X, EDGES, hops=3, checkpoint=tmp_path), reference)


def test_a_finished_pass_is_only_read(tmp_path):
    first = geodim.khop_dimensions(X, EDGES, hops=2, checkpoint=tmp_path / "new" / "folder")
    seen = []
    again = geodim.khop_dimensions(
        X, EDGES, hops=2, checkpoint=str(tmp_path / "new" / "folder"), progress=lambda *s: seen.append(s)
    )
    assert_same_result(again, first)
    assert seen == []


def test_normalize_may_change(tmp_path):
    """Phi is kept in the units of the data."""
    geodim.khop_dimensions(X * 3.0, EDGES, hops=2, checkpoint=tmp_path)
    raw = geodim.khop_dimensions(X * 3.0, EDGES, hops=2, checkpoint=tmp_path, normalize=False)
    assert_same_result(raw, geodim.khop_dimensions(X * 3.0, EDGES, hops=2, normalize=False))


def test_with_a_tolerance(tmp_path):
    reference = geodim.khop_dimensions(X, EDGES, hops=2, rtol=0.05)
    interrupted(3, hops=2, rtol=0.05, checkpoint=tmp_path)
    assert_same_result(geodim.khop_dimensions(X, EDGES, hops=2, rtol=0.05, checkpoint=tmp_path), reference)


def test_with_a_tolerance_that_needed_a_finer_step(tmp_path, monkeypatch):
    from geodim.engine import steps

    monkeypatch.setattr("geodim.khop.resolution", lambda *a: 16.0 * steps.resolution(*a))
    reference = geodim.khop_dimensions(X, EDGES, hops=2, rtol=0.05, checkpoint=tmp_path)
    assert_same_result(geodim.khop_dimensions(X, EDGES, hops=2, rtol=0.05, checkpoint=tmp_path), reference)


def test_with_a_tolerance_that_needed_the_exact_pass(tmp_path, monkeypatch):
    """What is saved of that has no step, whatever the first one was."""
    from geodim.engine import refine, steps

    monkeypatch.setattr(refine, "MOST_PASSES", 1)
    monkeypatch.setattr("geodim.khop.resolution", lambda *a: 16.0 * steps.resolution(*a))
    reference = geodim.khop_dimensions(X, EDGES, hops=2, rtol=0.05, checkpoint=tmp_path)
    assert reference.results[0].exact
    assert_same_result(geodim.khop_dimensions(X, EDGES, hops=2, rtol=0.05, checkpoint=tmp_path), reference)


# ---------------------------------------------------------------- killed


def start(folder, target):
    """The process, and what it says; it is forked from one that has imported everything."""
    heard, said = SPAWN.Pipe(duplex=False)
    child = SPAWN.Process(target=compute, args=(folder, target, said))
    child.start()
    said.close()
    return child, heard


def finish(folder, target):
    child, heard = start(folder, target)
    steps = []
    with contextlib.suppress(EOFError):
        while True:
            steps.append(heard.recv())
    child.join()
    assert child.exitcode == 0
    return np.load(target), json.loads(Path(f"{target}.json").read_text(encoding="utf-8")), steps


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs SIGKILL")
def test_killed_again_and_again(tmp_path):
    """Four times, at once or after a few attributes; `make faults` has a hundred."""
    folder = tmp_path / "state"
    reference, shares, steps = finish(None, tmp_path / "reference.npy")
    assert sorted({0, *steps}) == list(range(ATTRIBUTES + 1))
    rng = np.random.default_rng(int(os.environ.get("GEODIM_KILL_SEED", "0")))
    first = []
    for more in (2, 0, 1, 3):
        child, heard = start(folder, tmp_path / "never.npy")
        first.append(heard.recv())
        while heard.recv() < first[-1] + more:
            pass
        time.sleep(rng.uniform(0.0, 0.02))
        child.kill()
        child.join()
        assert child.exitcode == -signal.SIGKILL, "the run ended before it was killed"
    assert first == sorted(first)
    assert first[-1] > first[0]
    phi, same, rest = finish(folder, tmp_path / "resumed.npy")
    assert rest[0] >= first[-1]
    assert rest[-1] == ATTRIBUTES
    assert_same_bits(phi, reference)
    assert same == shares
    only_file(folder)
