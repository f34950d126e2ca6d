"""Which columns may be solved within a tolerance: those even somewhere, as a few values or counts tell."""

from __future__ import annotations

import math

import numpy as np
import pytest

from distributions import COLUMNS
from engine.alike_columns import ALIKE, WAVES, sorted_column
from engine.oracle import padded
from geodim.engine import hard
from geodim.engine.dominated import cells_for
from geodim.engine.hard import (
    NEAR_BITS,
    has_even_part,
    is_even_nearby,
    looks_even,
    margin,
    places_to_look,
)
from geodim.engine.kernels import even_parts
from slow_columns import SLOW_ONCE, clocks


def test_which_columns_may_be_so():
    n = 1 << 16
    rng = np.random.default_rng(0)
    i = np.arange(n)
    for values, even, nearby, counted in (
        (clocks(n), True, True, True),
        (clocks(n) + 0.01 * rng.normal(size=n), True, True, True),
        (i + 0.3 * rng.normal(size=n), True, True, True),
        (np.append(np.arange(n // 2), n + rng.exponential(size=n - n // 2) * n), True, True, True),
        (rng.normal(size=n), False, False, False),
        (rng.standard_cauchy(n), False, False, False),
        (rng.random(n), False, False, False),
        (np.exp(i / 2000), False, True, False),
        (i + 50.0 * np.sin(0.01 * i), False, True, True),
        (i + 2000.0 * np.sin(0.0004 * i), False, True, True),
        (i + 20.0 * np.sin(0.1 * i), False, True, True),
        (np.sqrt(i), False, True, True),
    ):
        l = padded(np.sort(values))
        assert has_even_part(l, n) is even
        assert is_even_nearby(l, n) is nearby
        assert (margin(l, n) > 0.0) is (even or nearby)
        # Where columns are dropped unsorted, counts tell, in which not everything can be seen.
        assert (margin(l, n, cells_for(n)) > 0.0) is counted


@pytest.mark.parametrize("name", [*ALIKE, *SLOW_ONCE, *COLUMNS])
def test_a_few_values_tell_which_columns_may_be_so(name):
    """All that may be solved within a tolerance are among those that a GPU leaves to the processor."""
    n = hard.COARSE_FROM
    if name in SLOW_ONCE:
        values = SLOW_ONCE[name][1](np.random.default_rng(n), n)
        l = padded(np.sort(values.reshape(n, -1)[:, 0].astype(np.float64)))
    else:
        l = sorted_column(name, n)
    assert margin(l, n, cells_for(n)) in (0.0, margin(l, n))  # counts only rule out what values say
    if margin(l, n) > math.ldexp(max(abs(l[0]), abs(l[n - 1])), -NEAR_BITS):
        assert looks_even(l[places_to_look(n)], n)


def test_those_of_the_usual_kind_are_not_among_them(rng):
    n = hard.COARSE_FROM
    for values in (rng.normal(size=n), rng.random(n), rng.integers(0, 100, n), rng.standard_cauchy(n)):
        assert not looks_even(np.sort(values).astype(np.float64)[places_to_look(n)], n)


@pytest.mark.parametrize("name", [*ALIKE, *WAVES, *COLUMNS])
def test_what_is_even_is_the_same_in_counts_and_in_values(name):
    """Whether a column may be dropped unsorted and how it is solved must rest on the same numbers."""
    for n, n_cells in ((700, 64), (3000, 1024), (1 << 14, 4096), (1 << 14, 1 << 11)):
        l = sorted_column(name, n)
        cell, first, cells = even_parts.cells_of(l[0], l[n - 1], n_cells)
        if cells == 0:  # no such cells can be told apart
            assert not even_parts.even_in_values(l, n, n_cells)
            continue
        numbers = (np.floor(l[:n] / cell) - first).astype(np.intp)
        before = np.concatenate([[0], np.cumsum(np.bincount(numbers, minlength=cells))]).astype(np.int32)
        assert before.size == cells + 1
        assert even_parts.even_in_counts(before, cells, n) == even_parts.even_in_values(l, n, n_cells)


def test_random_values_are_nowhere_even_in_counts():
    """Of so many columns none: they may be dropped for a hair's breadth."""
    n = 1 << 16
    for seed in range(60):
        rng = np.random.default_rng(seed)
        l = np.sort((rng.random(n), rng.normal(size=n), rng.exponential(size=n))[seed % 3])
        assert not even_parts.even_in_values(l, n, cells_for(n))


@pytest.mark.parametrize(
    ("make", "kind"),
    [
        (
            lambda i: np.where(i < i.size / 8, i, i.size * (1 + np.random.default_rng(0).random(i.size))),
            "a part",
        ),
        (lambda i: i + 100.0 * np.sin(0.03 * i), "as a whole"),
        (lambda i: i * i, "smooth"),
        (lambda i: i + 400.0 * np.sin(0.0032 * i), "smooth"),
    ],
)
def test_three_kinds_are_even_in_counts(make, kind, monkeypatch):
    n = 1 << 18
    l = np.sort(make(np.arange(float(n))))
    assert even_parts.even_in_values(l, n, cells_for(n))
    left_out = {
        "a part": [("MOST_SPREAD", 0.0)],
        "as a whole": [("WHOLE_SPREAD", 0.0)],
        "smooth": [("SMOOTH", 0.0)],
    }
    for name, value in left_out[kind]:
        monkeypatch.setattr(even_parts, name, value)
    for name in ("_rank", "_cell", "_spread", "_is_smooth", "_is_even"):
        monkeypatch.setattr(even_parts, name, getattr(even_parts, name).py_func)
    assert not even_parts.even_in_values.py_func(l, n, cells_for(n))
