"""Random data: columns drawn on demand are ordinary columns.

The error is the paper's, and a stopped unit goes on.
"""

from __future__ import annotations

import contextlib
import time

import numpy as np
import pytest

import geodim
from geodim import paper
from geodim.data.sources import ArraySource
from geodim.engine.solve import compute_profile
from geodim.errors import DataFileError
from geodim.experiments.experiment import Context, Options, StoppedError
from geodim.experiments.random_data import EXPERIMENT, NormalColumns, claims, compare, threads_within
from geodim.experiments.verdicts import Verdict


def held(source: NormalColumns) -> np.ndarray:
    values = np.empty((source.n_features, source.n_points))
    source.read(range(source.n_features), values)
    return values.T


def test_columns_are_standard_normal_and_independent():
    data = held(NormalColumns(20_000, 6, 0))
    np.testing.assert_allclose(data.mean(axis=0), 0.0, atol=0.03)
    np.testing.assert_allclose(np.cov(data.T), np.eye(6), atol=0.05)
    assert not np.any(data == held(NormalColumns(20_000, 6, 1)))


def test_the_engine_sees_the_same_columns():
    source = NormalColumns(3000, 5, 2)
    data = held(source)
    generated = compute_profile(source, n_threads=3)
    np.testing.assert_array_equal(generated.phi, compute_profile(ArraySource(data), n_threads=1).phi)
    rows, columns = np.array([0, 7, 2999]), np.array([4, 1])
    np.testing.assert_array_equal(source.sample(columns, rows), data[np.ix_(rows, columns)])
    values, counts = source.read_runs(3)
    np.testing.assert_array_equal(values, np.sort(data[:, 3]))
    assert counts.sum() == 3000
    assert [columns for _, columns in source.chunks()] == [slice(j, j + 1) for j in range(5)]


def work(options: Options, context: Context) -> list[dict]:
    return [row for unit in EXPERIMENT.units(options) for row in unit.work(context)]


def test_error_is_that_of_the_data(tmp_path):
    options = Options(points=(4000,), features=(3,), repetitions=1)
    row = work(options, Context(options, tmp_path))[0]
    data = held(NormalColumns(4000, 3, 0))
    result = geodim.intrinsic_dimension(data, normalize=False)
    lower, upper = result.support_bounds(paper.log_scale_support(4000, length=100_000))
    assert row["lower"] == pytest.approx(lower, rel=1e-13)
    assert row["upper"] == pytest.approx(upper, rel=1e-13)
    assert row["dimension"] == pytest.approx(result.dimension, rel=1e-13)


def test_a_stopped_unit_goes_on_where_it_was(tmp_path):
    options = Options(points=(200_000,), features=(8,), repetitions=1, threads=2)
    whole = work(options, Context(options, tmp_path / "other"))
    late, rows = 0, []
    while not rows:  # at first there is no time at all, then more and more
        with contextlib.suppress(StoppedError):
            rows = work(options, Context(options, tmp_path, time.monotonic() + 0.02 * (1.5**late - 1.0)))
        if not rows:
            late += 1
            assert [path.name for path in tmp_path.glob("random*")] == ["random-200000-8-0"]
    assert late > 0
    assert rows == whole
    assert not list(tmp_path.glob("random*"))


def test_a_damaged_state_is_named(tmp_path):
    options = Options(points=(500,), features=(2,), repetitions=1)
    (tmp_path / "random-500-2-0").mkdir()
    (tmp_path / "random-500-2-0" / "layers.npz").write_bytes(b"PK nothing")
    with pytest.raises(DataFileError, match=r"random-500-2-0.*delete it to start over"):
        work(options, Context(options, tmp_path))


def test_plans_are_the_papers():
    keys = [unit.key for unit in EXPERIMENT.units(Options())]
    assert len(keys) == 27
    assert {(key["n"], key["d"]) for key in keys} == {
        (n, d) for n in (10**6, 10**7, 10**8) for d in (10, 50, 250)
    }
    assert all(unit.key["n"] <= 10**6 for unit in EXPERIMENT.units(Options(quick=True)))


def test_threads_and_memory():
    assert threads_within(10**8, 10, Options(threads=16, memory=100 << 30)) == 5
    assert threads_within(10**8, 250, Options(threads=16, memory=100 << 30)) == 16
    assert threads_within(10**8, 250, Options(threads=16, memory=20 << 30)) == 5
    (unit,) = EXPERIMENT.units(Options(points=(10**8,), features=(250,), repetitions=1, memory=2 << 30))
    assert unit.missing is not None
    assert "GiB of memory" in unit.missing


def test_comparison_and_claims():
    rows = [
        {"n": 10**6, "d": d, "repetition": i, "error": 2.5517e-4 + 1e-9 * i}
        for d in (10, 50)
        for i in range(3)
    ]
    found = compare(rows)
    assert len(found) == 9
    assert [one.verdict for one in found[:2]] == [Verdict.EQUAL, Verdict.EQUAL]
    assert found[0].our_spread == pytest.approx(np.std([0, 1e-9, 2e-9]))
    assert all(one.verdict is Verdict.ABSENT for one in found[2:])
    assert "--points 1000000 --features 250" in found[2].reason
    wrong = compare([{"n": 10**6, "d": 10, "repetition": 0, "error": 2.4e-4}])[0]
    assert wrong.sentence.startswith("different, because")
    assert [claim.holds for claim in claims(rows)] == [True, True]
    assert [claim.holds for claim in claims([])] == [None, None]
