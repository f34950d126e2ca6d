"""`Helpers`: all items are worked on, by whoever is free, and nobody waits for those who are not."""

from __future__ import annotations

import threading
import weakref
from concurrent.futures import ThreadPoolExecutor

import pytest

from geodim.engine.helpers import Helpers


def test_all_items_are_worked_on():
    with ThreadPoolExecutor(3) as pool:
        assert sorted(Helpers(pool, 3).map(lambda item: item * item, range(50))) == [i * i for i in range(50)]
        assert Helpers(pool, 3).map(str, []) == []
        assert Helpers(pool, 3).map(str, [1]) == ["1"]


def test_idle_threads_take_part():
    together = threading.Barrier(2, timeout=30)  # passed only by two at a time
    with ThreadPoolExecutor(1) as pool:
        assert len(Helpers(pool, 1).map(lambda _: together.wait(), range(4))) == 4


def test_it_does_not_wait_for_busy_threads():
    def outer(number):
        return sum(Helpers(pool, 2).map(lambda item: item + number, range(10)))

    with ThreadPoolExecutor(2) as pool:  # both threads call it at the same time
        assert list(pool.map(outer, range(6))) == [45 + 10 * number for number in range(6)]


@pytest.mark.parametrize("workers", [1, 3])
def test_errors_are_raised(workers):
    def work(item):
        if item == 5:
            raise IndexError(item)
        return item

    with ThreadPoolExecutor(workers) as pool, pytest.raises(IndexError, match="5"):
        Helpers(pool, workers).map(work, range(20))


def test_what_is_done_is_not_kept():
    """While helpers that come too late still wait for a thread: they would keep what solves a column."""

    class Column:
        def work(self, item):
            return item

    def outer():
        column = Column()
        seen = weakref.ref(column)
        Helpers(pool, 4).map(column.work, range(8))
        del column
        return seen() is None, pool._work_queue.qsize()

    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(outer).result() == (True, 4)
