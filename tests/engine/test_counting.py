"""Columns as counts per step: the largest number of points in w steps, against its definition."""

from __future__ import annotations

import numpy as np
import pytest

from geodim.engine.counting import CountingSolver
from geodim.engine.profile import Profile

STEPS = 5200


def most_points(counts: np.ndarray) -> np.ndarray:
    """N(w) for all w from 0 on: the definition."""
    before = np.append(0, np.cumsum(counts))
    return np.array([(before[w:] - before[: before.size - w]).max() for w in range(before.size)])


@pytest.mark.parametrize("left_out", [0, 31, 127])
@pytest.mark.parametrize(
    ("together", "kinds"),
    [
        ((1, 255), [np.uint8, np.uint8]),
        ((1, 256), [np.uint8, np.uint16]),
        ((300, 65_535), [np.uint16, np.uint16]),
        ((1, 65_536), [np.uint8, np.int32]),
        ((70_000, 1), [np.int32, np.int32]),
    ],
)
def test_counters_grow_where_many_points_share_a_step(together, kinds, left_out):
    """Short counters that overflow are noticed, and the number of points is that of the definition."""
    rng = np.random.default_rng(1)
    n = 80_000
    columns = []
    for number in together:
        # At most 28 points lie in any other step.
        column = np.sort(rng.beta(2.0, 2.0, n)) * (STEPS - 1)
        column[:number] = column[number - 1] = 0.25
        columns.append(column[rng.permutation(n)])
    solver = CountingSolver(n, 1.0, STEPS, np.zeros(2), left_out=left_out)
    profile = Profile.empty(n, 2, 1.0, STEPS, left_out)
    for index, column in enumerate(columns):
        assert solver.solve(column, index, profile, lambda: False)
        assert solver.counts.dtype == kinds[index]
    found = [most_points(np.bincount(column.astype(int), minlength=STEPS)) for column in columns]
    expected = np.minimum(*found)[1 + left_out :]
    np.testing.assert_array_equal(profile.points_by_width()[:-1], expected)
    some = np.flatnonzero(expected < n) + 1 + left_out  # all points lie in the others, whatever the column
    np.testing.assert_array_equal(profile.owner[some], np.argmin(found, axis=0)[some])
