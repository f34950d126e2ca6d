"""The search itself: what it finds are concepts, arrays grow as needed, flows bound what they say."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from concepts import oracles
from geodim.concepts import hull, mining
from geodim.concepts.contexts import as_context
from geodim.engine.driver import Driver
from geodim.errors import MachineMemoryError


def found(X, least=1) -> mining.Front:
    return mining.mine(as_context(X), least, Driver())


@pytest.mark.parametrize("least", [1, 3, 10])
def test_everything_found_is_a_concept_with_its_support(least):
    for X in oracles.contexts(60, 5):
        known = dict(oracles.concepts(X))
        front = found(X, least)
        for intent, support in zip(front.intents, front.supports, strict=True):
            assert known[frozenset(intent.tolist())] == support


@pytest.mark.parametrize("sparse", [0.0, 2.0])
def test_arrays_grow_in_mid_search(monkeypatch, sparse):
    """Every array begins as short as it can: the same sets are found, in the same order."""
    monkeypatch.setattr(mining, "SPARSE", sparse)
    X = np.random.default_rng(1).random((300, 24)) < 0.6
    before = found(X)
    make_room, packed = mining._Search._make_room, mining._Search._go

    def short(self, n_columns):
        make_room(self, n_columns)
        self.bits, self.ints, self.nodes = self.bits[:1], self.ints[:n_columns].copy(), self.nodes[:0]

    def cut(self, enter, columns, driver):
        if sparse == 0.0:
            words = (np.flatnonzero(self.bits)[-1] + columns.size) // columns.size
            self.bits = self.bits[: (columns.size + 1) * words].copy()
        return packed(self, enter, columns, driver)

    monkeypatch.setattr(mining._Search, "_make_room", short)
    monkeypatch.setattr(mining._Search, "_go", cut)
    after = found(X)
    assert np.array_equal(before.lower, after.lower)
    assert [intent.tolist() for intent in before.intents] == [intent.tolist() for intent in after.intents]


def test_pauses_change_nothing(monkeypatch):
    X = np.random.default_rng(1).random((130, 16)) < 0.6
    before = found(X)
    monkeypatch.setattr(mining, "BUDGET", 1)
    after = found(X)
    assert np.array_equal(before.lower, after.lower)
    assert before.work == after.work


def test_flows_alone_bound_all_concepts(monkeypatch):
    for X in oracles.contexts(60, 6):
        context = as_context(X)
        front = mining.Front(context)
        if not front.half or not front.upper[1]:
            continue
        hull.cap_by_hull(context, front, 1, Driver())
        truth = oracles.phi_counts(X)[::-1][: front.half]
        assert np.all(front.lower[1:] <= truth)
        assert np.all(truth <= front.upper[1:])


def test_flows_find_the_whole_hull():
    """Lines through the corners of the concave hull, and no line above it."""
    for X in oracles.contexts(30, 7):
        context = as_context(X)
        front = mining.Front(context)
        if front.half < 2 or not front.upper[1]:
            continue
        front.upper[1:] = len(X)
        hull.cap_by_hull(context, front, 1, Driver())
        points = [(0, len(X)), *((len(B), s) for B, s in oracles.concepts(X))]
        for t in range(1, front.half + 1):
            best = max(s for b, s in points if b >= t)
            for b, s in points:
                for c, r in points:
                    if b < t <= c and s > r:
                        best = max(best, (s * (c - t) + r * (t - b)) // (c - b))
            assert front.upper[t] <= max(best, front.lower[t])


@pytest.mark.parametrize("sparse", [0.0, 2.0])
def test_without_flows_the_search_says_the_same(monkeypatch, sparse):
    """With bits alone, and by lists first."""
    monkeypatch.setattr(hull, "MOST_ZEROS", -1)
    monkeypatch.setattr(mining, "SPARSE", sparse)
    for X in oracles.contexts(60, 8):
        front = found(X)
        truth = oracles.phi_counts(X)[::-1][: front.half]
        assert np.array_equal(front.lower[1:], truth)
        assert np.array_equal(front.upper[1:], truth)


def test_few_objects_with_many_attributes():
    """One search for each support at most, however many sizes there are."""
    X = np.random.default_rng(0).random((7, 4000)) < 0.4
    front = found(X)
    truth = oracles.phi_counts(X)[::-1][: front.half]
    assert np.array_equal(front.lower[1:], truth)
    assert np.array_equal(front.upper[1:], truth)


def test_transactions_with_items_that_come_together(monkeypatch):
    """Sparse: of 3000 objects few are left for the larger sizes, and flows would take too long."""
    rng = np.random.default_rng(4)
    patterns = rng.random((40, 60)) < 0.08
    X = np.any(patterns[rng.integers(0, 40, (3000, 2))], axis=1) & (rng.random((3000, 60)) < 0.9)
    monkeypatch.setattr(hull, "_Zeros", None)
    front = found(X)
    assert np.array_equal(front.lower[1:], front.upper[1:])
    # All pairs and triples, one by one.
    pairs = X.T.astype(int) @ X
    np.fill_diagonal(pairs, 0)
    assert front.lower[1] == X.sum(axis=0).max()
    assert front.lower[2] == pairs.max()
    triples = [(X[:, [i]] & X[:, [j]] & X[:, :i]).sum(axis=0).max() for j in range(60) for i in range(1, j)]
    assert front.lower[3] == max(triples)


def test_a_search_that_does_not_fit_is_refused(monkeypatch):
    context = as_context(np.random.default_rng(0).random((200, 30)) < 0.5)
    monkeypatch.setattr("geodim.memory.free_memory", lambda: 1000)
    with pytest.raises(MachineMemoryError, match=r"200 objects and 30 attributes.*raise min_support"):
        mining.mine(context, 1, Driver())


PROGRAM = """
import numpy as np
from concepts import oracles
from geodim.concepts import hull, mining
from geodim.concepts.contexts import as_context
from geodim.engine.driver import Driver

hull.MOST_ZEROS = -1
for at, X in enumerate(oracles.contexts(24, 3, most=8)):
    mining.SPARSE = 2.0 * (at % 2)
    front = mining.mine(as_context(X), 1, Driver())
    assert np.array_equal(front.lower[1:], oracles.phi_counts(X)[::-1][: front.half])
print("within bounds")
"""


def test_no_index_leaves_its_array():
    """The kernels as Python runs them, inner ones as well, where an index past the end is an error."""
    root = Path(__file__).parents[1]
    paths = os.pathsep.join([str(root), str(root.parent / "src")])
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", PROGRAM],
        env={**os.environ, "NUMBA_DISABLE_JIT": "1", "PYTHONPATH": paths},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "within bounds" in done.stdout
