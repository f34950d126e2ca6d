"""Columns whose windows are all alike, on a cluster: solved to within what is stated, as on one machine."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

pytest.importorskip("distributed", reason="the extra dask is not installed")

import dask.array as da

import geodim
from engine.oracle import assert_same_bits, padded, phi as brute_force
from geodim.backends.dask import tasks
from geodim.data.checks import scan_ranges
from geodim.data.sources import as_source
from geodim.engine.profile import LOOSE, Profile
from slow_columns import GOLDEN, clocks


def merged(X, blocks, token):
    """What the tasks of a pass find, in this order, each with the bar of those before it."""
    n, d = X.shape
    every = scan_ranges(as_source(X))
    job = tasks.Job(token, n, X.dtype, 0.0, None, 0, 1, 1, None, relaxed=True)
    found, bar = [], None
    for columns in blocks:
        values = np.ascontiguousarray(X[:, columns].T)
        ranges = type(every)(
            every.least[columns], every.greatest[columns], every.spreads[columns], every.energies[columns], n
        )
        part = tasks.solve_block([[values]], bar, job, columns, columns, ranges)
        bar = tasks.bar_of(part, job, n)
        found.append(part)
    tasks.forget(token)
    whole = tasks.merge_parts(found)
    profile = Profile.empty(n, d)
    profile.relax(True)
    tasks.merge_into(profile.phi, profile.owner, 0, whole)
    for column, loose in whole.loose.items():
        profile.notes[LOOSE][column] = loose
    profile.never_fall()
    return profile


def test_the_same_bits_for_every_order_of_tasks(all_tolerant):
    n = 3000
    rng = np.random.default_rng(8)
    some = [
        clocks(n),
        clocks(n, GOLDEN + 1e-6) * (1.0 - 1e-4),
        0.7 * n * np.sort(rng.random(n)),
        clocks(n) * (1.0 - 2.0**-40),
    ]
    X = np.stack([rng.permutation(values) for values in some], axis=1)
    exact = np.max([brute_force(padded(np.sort(values)), n) for values in X.T], axis=0)
    reference = merged(X, [[0, 1, 2, 3]], "all")
    assert reference.loose > 1e-6
    assert np.all(reference.phi[1:] >= exact[1:])
    assert np.all(reference.phi[1:] - exact[1:] <= reference.loose)
    for order in itertools.permutations(([0], [1, 2], [3])):
        found = merged(X, list(order), str(order))
        assert_same_bits(found.phi, reference.phi)
        assert np.array_equal(found.owner[1:], reference.owner[1:])
        assert found.loose == reference.loose


def test_a_cluster_says_what_one_machine_says(client):
    n = 1 << 14
    rng = np.random.default_rng(9)
    grids = np.where(np.arange(n) % 2, 0.1, 0.3) * np.arange(n)
    X = np.stack([rng.permutation(grids), rng.normal(size=n), rng.permutation(grids) * 0.5], axis=1)
    data = da.from_array(X, chunks=(n // 2, 2))
    found, here = geodim.intrinsic_dimension(data), geodim.intrinsic_dimension(X)
    assert not found.exact
    assert 0.0 < found.error < 1e-12
    assert (found.lower, found.upper) == (here.lower, here.upper)
    assert_same_bits(found.phi, here.phi)
    exact = geodim.intrinsic_dimension(data, last_bit=True)
    assert exact.exact
    assert found.lower < exact.dimension < found.upper


def test_hops_are_those_of_one_machine(client):
    """Of every layer, whichever attributes were taken through all hops together."""
    n = 1 << 14
    rng = np.random.default_rng(9)
    grids = np.where(np.arange(n) % 2, 0.1, 0.3) * np.arange(n)
    X = np.stack([rng.permutation(grids), 300.0 * rng.normal(size=n), grids, 0.5 * grids], axis=1)
    ring = np.stack([np.arange(n), (np.arange(n) + 1) % n])
    here = geodim.khop_dimensions(X, ring, 1)
    data = da.from_array(X, chunks=(n, 2))
    for found in (geodim.khop_dimensions(data, ring, 1), geodim.khop_dimensions(X, ring, 1, backend="dask")):
        for one, reference in zip(found, here, strict=True):
            assert 0.0 < one.error < 1e-12
            assert (one.lower, one.upper, one.shares) == (reference.lower, reference.upper, reference.shares)
            assert_same_bits(one.phi, reference.phi)
    exact = geodim.khop_dimensions(data, ring, 1, last_bit=True)
    for one, other in zip(found, exact, strict=True):
        assert one.lower <= other.lower <= other.upper <= one.upper
        assert one.error > other.error


@pytest.mark.parametrize("rtol", [1e-13, 1e-14])
def test_a_tolerance_that_is_named_is_kept(client, all_tolerant, rtol):
    """As on one machine: no column is solved to within what the engine would choose without one."""
    X = da.from_array(clocks(20_000)[:, np.newaxis], chunks=(7000, 1))
    assert geodim.intrinsic_dimension(X).error > 1e-6
    assert geodim.intrinsic_dimension(X, rtol=rtol).error <= rtol
