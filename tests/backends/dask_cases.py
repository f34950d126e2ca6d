"""What tests of the Dask backend share: clusters of two workers, and what the same result means."""

from __future__ import annotations

from contextlib import contextmanager

import numpy as np
import pytest

from engine.oracle import assert_same_bits

distributed = pytest.importorskip("distributed", reason="the extra dask is not installed")


def local_cluster(**options):
    """Two worker processes of one thread each."""
    return distributed.LocalCluster(
        **{
            "n_workers": 2,
            "threads_per_worker": 1,
            "processes": True,
            "dashboard_address": ":0",
            "silence_logs": "CRITICAL",
            **options,
        }
    )


@contextmanager
def own_cluster(**options):
    """A cluster that a test may damage, and its active client; others share the fixture ``client``."""
    with local_cluster(**options) as made, distributed.Client(made) as client:
        yield client


def assert_same(result, reference):
    """Everything that is computed, to the bit; how long it took and where may differ."""
    assert_same_bits(result.phi_lower, reference.phi_lower)
    assert_same_bits(result.phi_upper, reference.phi_upper)
    assert np.array_equal(result.support, reference.support)
    for name in (
        "dimension", "d_max", "discriminability", "shares", "exact", "n_points", "n_features",
        "n_indistinguishable", "feature_error",
    ):  # fmt: skip
        assert getattr(result, name) == getattr(reference, name), name
    for name in ("lower", "upper"):
        if result.feature_error == 0.0:
            assert getattr(result, name) == getattr(reference, name), name
        else:  # sums of squares, known more or less well by kinds of data, bound what rounding does to Delta
            assert getattr(result, name) == pytest.approx(getattr(reference, name), rel=1e-4), name
    assert np.array_equal(result.attained_from, reference.attained_from)
    assert np.array_equal(result.attained_by, reference.attained_by)


def assert_same_hops(result, reference):
    assert len(result.results) == len(reference.results)
    for one, other in zip(result.results, reference.results, strict=True):
        assert_same(one, other)


def chunkings(n, d):
    """By rows, by columns, and both."""
    return [(max(n // 3, 1), d), (n, max(d // 4, 1)), (max(n // 2, 1), max(d // 2, 1))]


def unlike_columns(n):
    """Long tails, few numbers, rare ones, and a column that hardly matters."""
    rng = np.random.default_rng(0)
    rare = np.where(rng.random(n) < 2e-3, 1e6 * rng.normal(size=n), 0.0)
    return np.column_stack(
        [rng.standard_cauchy(n), rng.integers(0, 5, n), rng.normal(size=n), rare, 0.01 * rng.uniform(size=n)]
    )
