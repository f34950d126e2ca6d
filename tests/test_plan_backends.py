"""Plans for all backends: formulas against definitions and small runs.

Also how they grow with the size, and what fits and what does not.
"""

from __future__ import annotations

import gc
import json
import math
import tracemalloc
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

import geodim
from costs import slow
from engine.oracle import padded
from geodim.engine.alike import Bent, Straight
from geodim.engine.steps import resolution
from geodim.errors import InputValueError
from geodim.planning.cluster import plan_cluster, workers_of
from geodim.planning.cpu import BENT, STRAIGHT, column_memory, plan_cpu
from geodim.planning.problem import PROCESS_BYTES
from geodim.planning.rates import CoreRates, speed_up
from geodim.plans import (
    CORE,
    Problem,
    calibrate,
    normal_sample,
    normal_spread,
    peak_memory,
    plan,
    reachable_rtol,
)
from together import every_thread_takes_a_column

GIB = 1 << 30
RNG = np.random.default_rng(3)
PAPERS = Problem(111_059_956, 128, hops=5, stored_entries=3_342_441_710)  # docs/results/gpu.log


# ---------------------------------------------------------------- problems


def test_sizes_make_sense_or_are_refused():
    assert Problem(1000, 8).nbytes == 32_000
    assert Problem(1000, 8, 8).nbytes == 64_000
    assert Problem(1000, 8, hops=2).values == 24_000
    for wrong in ({"n_points": 0}, {"n_features": 0}, {"itemsize": 2}, {"stored_entries": -1}):
        with pytest.raises(InputValueError, match=next(iter(wrong))):
            Problem(**{"n_points": 10, "n_features": 2, **wrong})


def test_normal_columns_are_as_wide_as_measured():
    """1 / Delta of normalised columns is the spread, by definition: measured on normal points."""
    for n, d in ((20_000, 4), (100_000, 16)):
        result = geodim.intrinsic_dimension(RNG.standard_normal((n, d)))
        assert normal_spread(n, d) == pytest.approx(1.0 / result.discriminability, rel=0.1)


@pytest.mark.parametrize("rtol", [1e-1, 1e-2, 1e-3, 1e-5])
def test_steps_of_a_tolerance(rtol):
    """As the engine chooses them, and enough: `reachable_rtol` turns it round."""
    problem = Problem(10**9, 64, rtol=rtol, spread=7.0)
    assert problem.steps == math.ceil(7.0 / resolution(rtol, 1.0, 7.0)) + 1
    assert reachable_rtol(problem.steps, 7.0) >= rtol * (1 - 1e-3)
    assert reachable_rtol(2 * problem.steps, 7.0) <= rtol
    assert Problem(10**9, 64).steps == math.inf


def test_counting_needs_fewer_steps_than_points():
    assert Problem(10**6, 4, rtol=1e-3).counted
    assert not Problem(10**4, 4, rtol=1e-3).counted
    assert not Problem(10**9, 4, rtol=1e-7).counted  # more than the cache holds
    assert not Problem(10**6, 4).counted
    assert not Problem(10**6, 4, rtol=1e-3, hops=2, stored_entries=5).counted


# ---------------------------------------------------------------- one machine


def test_memory_by_hand():
    """10^6 x 48 float32, two threads: two solvers, a profile, a common bar, two blocks of sixteen."""
    need = column_memory(Problem(10**6, 48), 2) - PROCESS_BYTES
    assert need == 10**6 * (2 * (8 + 2 * 4 + 2.5625 + 56) + 12 + 8 + 2 * 16 * 4)
    one = column_memory(Problem(10**6, 48, row_major=False), 1) - PROCESS_BYTES
    assert one == 10**6 * (8 + 8 + 2.5625 + 56 + 12 + 16 * 4)
    assert column_memory(Problem(10**6, 48, held=True), 2) == need + PROCESS_BYTES + 10**6 * 48 * 4
    # With more columns each thread has a bar, who reached it, and an eighth of the values three times.
    many = column_memory(Problem(10**6, 64), 2) - PROCESS_BYTES
    assert many == need + 10**6 * 2 * (8 + 4 + (8 + 8 + 2 * 4) / 8)


def normal(n, d):
    return RNG.standard_normal((n, d))


def straight(n, d):
    """Columns that stay close to a line, each as close as the others, so that none drops another."""
    return np.arange(n)[:, np.newaxis] / n + RNG.standard_normal((n, d)) / n


@pytest.mark.parametrize(
    ("columns", "d", "threads", "rtol", "kind"),
    [
        slow(normal, 8, 1, 0.0, np.float32),
        (normal, 8, 2, 0.0, np.float32),
        (normal, 6, 2, 0.0, np.float64),
        (normal, 8, 2, 1e-2, np.float32),
        (normal, 1, 1, 0.0, np.float32),
        slow(straight, 8, 1, 0.0, np.float32),
        (straight, 8, 2, 0.0, np.float32),
        slow(straight, 6, 2, 0.0, np.float64),
    ],
)
def test_memory_of_a_run(monkeypatch, columns, d, threads, rtol, kind):
    """What NumPy allocates on the way, against the formula without Python itself.

    A plan has room for columns that stay close to a line; others take less.
    """
    n = 1 << 17 if rtol == 0.0 else 300_000  # the fewest that threads read together; more points than steps
    x = columns(n, d).astype(kind)
    # Compile all of it: threads that wait for one another's kernels hold their memory one after the other.
    geodim.intrinsic_dimension(x, n_threads=threads, rtol=rtol)
    every_thread_takes_a_column(monkeypatch, threads)
    gc.collect()
    tracemalloc.start()
    try:
        geodim.intrinsic_dimension(x, n_threads=threads, rtol=rtol)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    predicted = column_memory(Problem(n, d, x.itemsize, rtol), threads) - PROCESS_BYTES
    if columns is normal and rtol == 0.0:
        predicted -= threads * n * STRAIGHT
    assert predicted == pytest.approx(peak, rel=0.15 if columns is normal else 0.25)


@pytest.mark.parametrize(("way", "room"), [(Bent, BENT), (Straight, STRAIGHT)])
def test_there_is_room_for_what_alike_columns_are_prepared_with(way, room):
    n = 1 << 20
    i = np.arange(n)
    l = padded(i + 0.3 * np.sin(0.01 * i))
    way.of(l, n)  # compile
    tracemalloc.start()
    try:
        prepared = way.of(l, n)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert prepared.starts.size
    assert 0.8 * room * n < peak <= room * n


def test_passes_over_rows_and_columns():
    rows = plan_cpu(Problem(10**7, 64), threads=2)
    assert rows.passes == 1 + math.ceil(64 / rows.columns)  # as many as the free memory allows
    assert rows.bytes_read == rows.passes * rows.n_points * 64 * 4
    assert plan_cpu(Problem(10**7, 64, row_major=False), threads=2).passes == 2
    assert plan_cpu(Problem(100, 3, kernels=True), threads=8).columns == 1


@pytest.mark.parametrize("backend", ["cpu", "cuda", "dask"])
@pytest.mark.parametrize("hops", [None, 3])
def test_more_points_never_take_less(backend, hops):
    workers = workers_of(4, 2, 64 * GIB)

    def of(n, **more):
        problem = Problem(n, 32, hops=hops, stored_entries=0 if hops is None else 20 * n, **more)
        return plan(problem, backend, n_threads=2, workers=workers)

    plans = [of(10**e) for e in range(4, 11)]
    for small, large in pairwise(plans):
        if backend != "cuda" or large.fits:  # what does not fit is planned column by column
            assert small.memory <= large.memory
        assert small.host_memory <= large.host_memory
        assert 0.0 < small.seconds <= large.seconds
        assert small.bytes_read < large.bytes_read
        assert small.bytes_moved <= large.bytes_moved
    assert of(10**6, itemsize=8).memory > of(10**6).memory


def test_time_is_the_sum_of_rates():
    rates = CoreRates("by hand", call=0.0, first=10e-9, later=1e-9, count=0.5e-9, rows=1e9)
    by_columns = Problem(10**6, 11, row_major=False)
    exact = plan_cpu(by_columns, rates=rates)
    assert exact.seconds == pytest.approx(10**6 * (10e-9 + 10 * 1e-9))
    assert exact.basis == "by hand"
    many = plan_cpu(by_columns, threads=16, rates=rates)
    assert many.seconds == pytest.approx(exact.seconds / speed_up(16))
    counted = plan_cpu(replace(by_columns, rtol=1e-2), rates=rates)
    by_steps = counted.steps * (10e-9 + 10 * 1e-9)
    assert counted.seconds == pytest.approx(11 * 10**6 * 0.5e-9 + by_steps, rel=1e-3)
    rows = plan_cpu(Problem(10**6, 11), rates=rates)
    assert rows.parts["reading rows"] == pytest.approx((rows.passes - 1) * 44e6 / 1e9)
    held = plan_cpu(Problem(10**6, 256, held=True), rates=rates)  # a line of 64 bytes for 16 columns
    assert held.parts["reading rows"] == pytest.approx(256 / 16 * 64e6 / 1e9)
    disk = plan_cpu(Problem(10**6, 11), rates=rates, budget=10**6)
    assert disk.parts["reading from disk"] == pytest.approx(disk.bytes_read / rates.storage)


def test_a_trial_gives_rates_of_this_machine():
    rates = calibrate(normal_sample(20_000, 5, 4), "here")
    assert (rates.basis, rates.network, rates.task) == ("here", CORE.network, CORE.task)
    assert 0.0 < rates.scan < rates.count <= rates.later
    assert rates.scan < rates.first < 1.0
    assert 1e-11 < rates.window < 1e-6  # one subtraction and one comparison
    assert normal_sample(10**9, 500, 8).dtype == np.float64
    one = calibrate(normal_sample(5_000, 1, 4), "here")
    assert one.later == one.first


def test_a_trial_on_a_busy_machine(monkeypatch):
    """Every call takes as long as a tiny one: rates stay positive."""
    monkeypatch.setattr("geodim.plans.best_of", lambda _: 0.01)
    rates = calibrate(normal_sample(1_000, 3, 4), "here")
    assert 0.0 < rates.scan < min(rates.first, rates.count, rates.later)


def test_what_does_not_fit_one_machine():
    need = column_memory(Problem(10**8, 64), 16)
    assert plan_cpu(Problem(10**8, 64), threads=16, budget=need).fits
    short = plan_cpu(Problem(10**8, 64), threads=16, budget=need - 1)
    assert short.fits is False
    assert "use 15 threads" in short.why_not
    never = plan_cpu(Problem(10**10, 64), threads=16, budget=16 * GIB)
    assert "a tolerance (from about" in never.why_not
    assert "larger tolerance" in plan_cpu(Problem(10**10, 64, rtol=1e-9), budget=GIB).why_not
    assert plan_cpu(Problem(10**4, 4)).fits is None


def test_hops_are_planned_as_ever():
    problem = Problem(5_000, 40, 8, hops=3, stored_entries=40_000)
    found = plan_cpu(problem, threads=2, budget=10**9)
    assert found.memory == peak_memory(5_000, 40_000, found.columns, 8, 3, 2)
    assert found.fits
    short = plan_cpu(problem, threads=2, budget=10**6)
    assert short.columns == 8
    assert "fewer threads or more memory" in short.why_not
    values = short.to_dict()
    assert (values["n_nodes"], values["attributes"], values["hops"]) == (5_000, 40, 3)


# ---------------------------------------------------------------- a cluster


def test_whole_columns_where_a_worker_has_room():
    found = plan_cluster(Problem(10**7, 64), workers_of(4, 4, 32 * GIB))
    assert found.method == "whole columns"
    assert found.fits
    assert found.passes == 1
    assert found.memory < 32 * GIB
    assert found.bytes_moved >= 10**7 * 64 * 4 * 3 / 4
    assert (found.workers, found.threads) == (4, 4)


def test_less_memory_means_more_passes():
    exact = [plan_cluster(Problem(10**8, 256), workers_of(4, 4, size * GIB)) for size in (128, 64, 32)]
    assert all(found.fits for found in exact)
    assert [found.passes for found in exact] == sorted(found.passes for found in exact)
    assert exact[0].passes == 1 < exact[1].passes
    assert any("it would be once" in note for note in exact[1].notes)


def test_counted_where_no_worker_holds_a_column():
    workers = workers_of(16, 8, 32 * GIB)
    exact = plan_cluster(Problem(10**10, 64), workers)
    assert exact.fits is False
    assert "rtol > 0" in exact.why_not
    counted = plan_cluster(Problem(10**10, 64, rtol=1e-3), workers)
    assert counted.fits
    assert counted.steps == int(Problem(10**10, 64, rtol=1e-3).steps)
    assert counted.memory < 8 * GIB
    assert counted.host_memory < 2 * PROCESS_BYTES  # nothing of the length of a column comes home
    assert counted.passes == 2
    # What these workers certify at best: there the counters just fit.
    rtol = float(exact.why_not.split("certify rtol ")[1].split()[0])
    assert plan_cluster(Problem(10**10, 64, rtol=2 * rtol), workers).fits
    never = plan_cluster(Problem(10**10, 64, rtol=rtol / 8), workers)
    assert never.fits is False
    assert "this tolerance needs" in never.why_not


def test_heavy_tails_are_counted_in_cells():
    """Where the range is a billion times Delta no worker holds the steps; cells are few all the same."""
    workers = workers_of(16, 8, 32 * GIB)
    normal, heavy = (Problem(10**10, 64, rtol=1e-3, spread=spread) for spread in (7.0, 1e9))
    found = plan_cluster(heavy, workers)
    assert found.fits
    assert "cells" in found.method
    assert found.steps < heavy.steps / 1e5
    assert "steps" in plan_cluster(normal, workers).method
    assert found.parts["columns"] > plan_cluster(normal, workers).parts["columns"]
    fine = plan_cluster(replace(heavy, rtol=1e-5), workers)
    assert fine.fits is False
    assert "cells for each column" in fine.why_not


def test_larger_chunks_spare_the_scheduler():
    workers = workers_of(16, 8, 32 * GIB)
    problem = Problem(10**10, 64, rtol=1e-3)
    small, large = (plan_cluster(replace(problem, chunks=chunks), workers) for chunks in (20_000, 2_000))
    assert any("keep the scheduler busy" in note for note in small.notes)
    assert large.tasks < small.tasks / 9
    assert large.seconds < small.seconds
    assert large.memory > small.memory


def test_what_is_sent_from_here_cannot_be_counted_there():
    workers = workers_of(2, 1, GIB)
    assert plan_cluster(Problem(10**8, 4, rtol=1e-2), workers).steps is not None
    assert plan_cluster(Problem(10**8, 4, rtol=1e-2, apart=False), workers).fits is False


def test_more_workers_are_faster():
    problem = Problem(10**8, 256)
    times = [plan_cluster(problem, workers_of(count, 4, 128 * GIB)).parts["columns"] for count in (2, 8, 32)]
    assert times == sorted(times, reverse=True)


def test_hops_on_a_cluster():
    small = plan_cluster(replace(PAPERS, apart=False), workers_of(4, 8, 16 * GIB))
    assert small.fits is False
    assert "start workers with more memory" in small.why_not
    found = plan_cluster(PAPERS, workers_of(4, 8, 256 * GIB))
    assert found.fits
    assert found.memory < 256 * GIB
    assert found.passes == -(-128 // found.columns) * 5
    assert found.bytes_moved > 4 * 4 * PAPERS.stored_entries  # the graph goes to every worker


def test_a_cluster_has_workers_and_backends_have_names():
    with pytest.raises(InputValueError, match="how many"):
        plan(Problem(10, 2), "dask")
    with pytest.raises(InputValueError, match="cpu, cuda or dask"):
        plan(Problem(10, 2), "tpu")


@pytest.mark.parametrize("backend", ["cpu", "cuda", "dask"])
def test_a_plan_as_json(backend):
    found = plan(Problem(10**5, 8), backend, memory=10**10, workers=workers_of(2, 2, 8 * GIB))
    values = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert values["backend"] == backend
    assert values["fits"] is True
    assert values["hops"] is values["stored_entries"] is None
    assert values["seconds"] == found.seconds


def test_workers_without_a_limit():
    found = plan_cluster(Problem(10**7, 8), workers_of(2, 1, math.inf))
    assert found.budget is None
    assert found.fits is None
    assert found.passes == 1
