"""Threads that a call keeps: lent to one phase at a time, and gone afterwards, whatever happened."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from itertools import count
from pathlib import Path

import numpy as np
import pytest

import geodim
from geodim.engine import threads as kept
from geodim.engine.threads import NAME, keeping_threads, threads_for
from geodim.errors import NonFiniteError

X = np.random.default_rng(3).standard_normal((140_000, 6)).astype(np.float32)  # read by all threads together


def ours() -> set[threading.Thread]:
    return {thread for thread in threading.enumerate() if thread.name.startswith(NAME)}


def workers(pool, tasks: int) -> set[threading.Thread]:
    """Which threads work, if each of so many tasks waits for all others."""
    meet = threading.Barrier(tasks, timeout=30)

    def task(_: int) -> threading.Thread:
        meet.wait()
        return threading.current_thread()

    return set(pool.map(task, range(tasks)))


@pytest.fixture(autouse=True)
def nothing_is_left():
    before = ours()
    yield
    assert ours() <= before
    assert kept._kept.crew is None


def test_phases_of_a_call_use_the_same_threads():
    with keeping_threads(3):
        with threads_for(3) as pool:
            first = workers(pool, 3)
        with threads_for(3) as pool:
            assert workers(pool, 3) == first
        assert len(ours()) == 3
    with threads_for(3) as pool:
        assert not workers(pool, 3) & first


def test_no_thread_is_started_for_nothing():
    with keeping_threads(3), threads_for(3):
        assert not ours()


def test_who_wants_another_number_gets_threads_of_his_own():
    with keeping_threads(3):
        with threads_for(3) as pool:
            three = workers(pool, 3)
        with threads_for(2) as pool:
            two = workers(pool, 2)
        assert not two & three
        assert len(ours()) == 3


def test_calls_within_calls_keep_the_threads_of_the_outermost():
    with keeping_threads(2):
        with keeping_threads(2), threads_for(2) as pool:
            inner = workers(pool, 2)
        with keeping_threads(4), threads_for(4) as pool:
            assert not workers(pool, 4) & inner
        with threads_for(2) as pool:
            assert workers(pool, 2) == inner


def test_a_phase_or_a_call_within_a_phase_does_not_wait_for_it():
    with keeping_threads(2), threads_for(2) as outer:
        with threads_for(2) as inner:
            assert not workers(outer, 2) & workers(inner, 2)
        with keeping_threads(2), threads_for(2) as inner:
            assert not workers(outer, 2) & workers(inner, 2)


def test_tasks_that_need_threads_do_not_wait_for_each_other():
    def task(_: int) -> int:
        with keeping_threads(2), threads_for(2) as pool:
            return sum(pool.map(int, range(4)))

    with keeping_threads(2), threads_for(2) as pool:
        assert list(pool.map(task, range(8))) == [6] * 8


def test_a_phase_ends_when_all_its_tasks_have_ended_even_those_that_tasks_submitted():
    ended = []

    def task(pool, left: int) -> None:
        time.sleep(0.02)
        if left:
            pool.submit(task, pool, left - 1)
        ended.append(left)

    with keeping_threads(2):
        with threads_for(2) as pool:
            pool.submit(task, pool, 5)
        assert sorted(ended) == list(range(6))


def test_a_phase_waits_for_its_tasks_before_an_error_leaves_it():
    ended = []

    def task(at: int) -> None:
        time.sleep(0.02 * at)
        ended.append(at)

    def fail() -> None:
        raise ValueError("of a task")

    def phase(tasks: int) -> None:
        with threads_for(2) as pool:
            for at in range(tasks):
                pool.submit(task, at)
            pool.submit(fail).result()

    with keeping_threads(2):
        with pytest.raises(ValueError, match="of a task"):
            phase(4)
        assert sorted(ended) == [0, 1, 2, 3]
        with threads_for(2) as pool:  # and can be used again
            assert list(pool.map(abs, [-1, 1])) == [1, 1]


def test_results_are_not_kept_until_the_end_of_a_phase():
    class Large:
        there = 0

        def __init__(self) -> None:
            Large.there += 1

        def __del__(self) -> None:
            Large.there -= 1

    most = 0
    with keeping_threads(2), threads_for(2) as pool:
        for _ in range(20):
            pool.submit(Large).result()
            most = max(most, Large.there)
    assert most <= 4


@pytest.mark.skipif(sys.platform == "win32", reason="there a wait for threads cannot be interrupted")
def test_a_second_interrupt_is_not_made_to_wait():
    """As with an executor: the first one waits for what is running, the second leaves at once."""
    go_on = threading.Event()
    started = time.monotonic()
    main = threading.get_ident()

    def interrupted() -> None:
        with keeping_threads(2), threads_for(2) as pool:
            pool.submit(go_on.wait, 60)
            threading.Timer(0.2, signal.pthread_kill, (main, signal.SIGINT)).start()
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert time.monotonic() - started < 30
    go_on.set()
    while ours():
        assert time.monotonic() - started < 30
        time.sleep(0.01)


@pytest.mark.parametrize("n_threads", [2, 5])
def test_a_computation_leaves_no_thread_behind_and_starts_no_more_than_it_may(n_threads):
    most = []
    result = geodim.intrinsic_dimension(X, n_threads=n_threads, progress=lambda *_: most.append(len(ours())))
    assert max(most) <= n_threads
    assert not ours()
    with pytest.raises(NonFiniteError):
        geodim.intrinsic_dimension(np.where(X[7, 3] == X, np.nan, X), n_threads=n_threads)
    assert not ours()
    assert result.discriminability == geodim.intrinsic_dimension(X, n_threads=1).discriminability


def test_progress_may_compute_something_else():
    found, calls = [], count()

    def told(*_: int) -> None:
        if next(calls) == 1:
            found.append(geodim.intrinsic_dimension(X[:, :4], n_threads=2).dimension)

    geodim.intrinsic_dimension(X, n_threads=2, progress=told)
    assert found == [geodim.intrinsic_dimension(X[:, :4], n_threads=1).dimension]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
def test_a_process_forked_within_a_call_has_threads_of_its_own():
    script = """
import os, sys
from geodim.engine.threads import keeping_threads, threads_for
with keeping_threads(2):
    with threads_for(2) as pool:
        list(pool.map(abs, range(4)))
    child = os.fork()
    with threads_for(2) as pool:
        assert list(pool.map(abs, range(4))) == list(range(4))
if child:
    assert os.waitpid(child, 0)[1] == 0
"""
    done = subprocess.run([sys.executable, "-c", script], timeout=60, check=False, env=_environment())
    assert done.returncode == 0


@pytest.mark.skipif(sys.platform == "win32", reason="signals are sent in another way")
def test_an_interrupt_of_a_computation_ends_its_threads():
    script = f"""
import os, signal, threading, warnings
import numpy as np, geodim
warnings.simplefilter("ignore")
X = np.random.default_rng(3).standard_normal((400_000, 24)).astype(np.float32)
geodim.intrinsic_dimension(X[:, :4], n_threads=2)
def told(done, of):
    if done >= 2 and not sent:
        sent.append(done)
        os.kill(os.getpid(), signal.{signal.SIGINT.name})
sent = []
result = geodim.intrinsic_dimension(X, n_threads=2, progress=told)
assert result.stopped == "interrupted", result.stopped
assert threading.active_count() == 1
"""
    done = subprocess.run([sys.executable, "-c", script], timeout=120, check=False, env=_environment())
    assert done.returncode == 0


def _environment() -> dict[str, str]:
    root = str(Path(geodim.__file__).parent.parent)
    return {**os.environ, "PYTHONPATH": os.pathsep.join([root, os.environ.get("PYTHONPATH", "")])}
