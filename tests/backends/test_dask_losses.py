"""What is lost on the way: the client, a worker, the scheduler."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace

import numpy as np
import pytest

import geodim
from backends.dask_cases import assert_same, assert_same_hops, distributed, own_cluster
from costs import slow
from geodim.errors import ClusterError, InputValueError
from khop_cases import EDGES, X64

da = pytest.importorskip("dask.array")

from geodim.backends.dask.cluster import MOST_LOSSES, Cluster, LostTasksError
from geodim.planning.cluster import hop_way


def narrow(problem, capacity, budget=None):
    """Two columns to a task."""
    way, why_not = hop_way(problem, capacity, budget)
    return replace(way, width=2), why_not


def test_without_a_client_the_error_says_how_to_start_one(monkeypatch):
    monkeypatch.setattr(distributed.client, "_global_clients", {})  # whatever clients there were before
    with pytest.raises(InputValueError, match=r"from distributed import Client; client = Client\(\)"):
        geodim.intrinsic_dimension(da.zeros((10, 2)))
    with pytest.raises(InputValueError, match="no active Dask client"):
        geodim.intrinsic_dimension(np.zeros((10, 2)), backend="dask")


def test_workers_are_seen_whatever_the_client_is_told_meanwhile():
    """A client asks its scheduler for news every two seconds.

    It forgets its workers when the answer comes.
    """
    with own_cluster(processes=False) as client:
        news = client._periodic_callbacks["scheduler-info"]
        news.callback_time = 0.5  # milliseconds
        client.sync(_restarted, news)
        assert {len(Cluster(client).workers) for _ in range(200)} == {2}


async def _restarted(callback):
    callback.stop()
    callback.start()


@pytest.mark.unix
@pytest.mark.parametrize("ways", [("there",), slow(("here", "hops"))])
def test_a_worker_killed_in_mid_run_changes_no_bit(ways, monkeypatch):
    """It takes half of the columns with it; they are read and solved again."""
    monkeypatch.setattr("geodim.planning.capacity.LEAST_BYTES", 1)
    lazy = da.random.default_rng(0).normal(size=(40_000, 24), chunks=(10_000, 24)).astype(np.float32)
    X = lazy.compute(scheduler="threads")  # here, whatever clients there were before
    reference = geodim.intrinsic_dimension(X)
    hops = geodim.khop_dimensions(X64, EDGES, 2)
    with own_cluster() as client:

        def killing(run):
            """Call ``run`` with a progress that kills a worker as soon as something was solved."""
            killed = []

            def progress(done, total, *_):
                if 0 < done < total and not killed:
                    killed.extend(client.run(os.getpid).values())
                    os.kill(killed[0], signal.SIGKILL)

            result = run(progress)
            assert killed
            client.wait_for_workers(2, timeout=30)
            assert killed[0] not in client.run(os.getpid).values()
            return result

        if "there" in ways:
            assert_same(killing(lambda told: geodim.intrinsic_dimension(lazy, progress=told)), reference)
        if "here" in ways:
            here = killing(lambda told: geodim.intrinsic_dimension(X, progress=told, backend="dask"))
            assert_same(here, reference)
        if "hops" not in ways:
            return
        monkeypatch.setattr("geodim.backends.dask.hops.TAKE_HOME", 0.0)
        monkeypatch.setattr("geodim.planning.cluster.hop_way", narrow)
        attributes = da.from_array(X64, chunks=(100, 5))
        assert_same_hops(
            killing(lambda told: geodim.khop_dimensions(attributes, EDGES, 2, progress=told)), hops
        )


def same_hops():
    attributes = da.from_array(X64, chunks=(100, 5))
    assert_same_hops(
        geodim.khop_dimensions(attributes, EDGES, 2, backend="dask"), geodim.khop_dimensions(X64, EDGES, 2)
    )


def same_distances():
    found = geodim.intrinsic_dimension(X64, features="distances", backend="dask")
    assert_same(found, geodim.intrinsic_dimension(X64, features="distances"))


@pytest.mark.unix
@pytest.mark.parametrize("is_same", [same_hops, same_distances], ids=["an operator", "points"])
def test_what_only_a_killed_worker_held_is_sent_again(is_same, monkeypatch):
    """Dask drops copies that no waiting task needs, so that only one worker may hold them."""
    killed = []

    def to_one_worker(cluster, value):
        pids = cluster.client.run(os.getpid)
        address = min(pids)
        sent = cluster.client.scatter(value, workers=[address], hash=False)
        if not killed:
            killed.append(pids[address])
            os.kill(killed[0], signal.SIGKILL)
            while killed[0] in client.run(os.getpid, on_error="ignore").values():
                time.sleep(0.05)
        return sent

    monkeypatch.setattr(Cluster, "broadcast", to_one_worker)
    with own_cluster() as client:
        is_same()
    assert killed


@pytest.mark.unix
@pytest.mark.slow  # it depends on who notices first; what follows is tested below
def test_a_worker_killed_while_something_is_sent_to_it(monkeypatch):
    """The scheduler then answers with a KeyError, or not at all."""
    killed, once = [], Cluster.broadcast

    def sending(cluster, value):
        if not killed:
            killed.append(min(client.run(os.getpid).values()))
            os.kill(killed[0], signal.SIGKILL)
        return once(cluster, value)

    monkeypatch.setattr(Cluster, "broadcast", sending)
    with own_cluster() as client:
        same_distances()
    assert killed


@pytest.mark.parametrize("error", [KeyError("tcp://127.0.0.1:1"), OSError("closed")])
def test_what_could_not_be_sent_is_sent_again(error, monkeypatch):
    with own_cluster(processes=False) as client:
        once, tried = client.scatter, []

        def scatter(*args, **options):
            tried.append(1)
            if len(tried) == 1:
                raise error
            return once(*args, **options)

        monkeypatch.setattr(client, "scatter", scatter)
        same_distances()
        assert len(tried) == 2


def test_who_loses_every_worker_gives_up(monkeypatch):
    """A value too large for any worker would be sent again and again."""
    monkeypatch.setattr("geodim.backends.dask.cluster.PAUSE", 0.0)
    tried = []

    def lose():
        tried.append(1)
        msg = "cancelled"
        raise LostTasksError(msg)

    with own_cluster(processes=False) as client, pytest.raises(ClusterError, match="cancelled"):
        Cluster(client).outlasting(lose)
    assert len(tried) == 1 + MOST_LOSSES


@pytest.fixture
def own_scheduler(tmp_path):
    """A scheduler and a worker that are processes of their own, so that the scheduler can be killed."""
    file = tmp_path / "scheduler.json"
    dask = [sys.executable, "-m", "distributed.cli.dask_scheduler", "--port", "0", "--no-dashboard"]
    worker = [
        sys.executable,
        "-m",
        "distributed.cli.dask_worker",
        "--nthreads",
        "1",
        "--no-dashboard",
        "--no-nanny",
    ]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    processes = [
        subprocess.Popen([*dask, "--scheduler-file", file], **quiet),
        subprocess.Popen([*worker, "--scheduler-file", file], **quiet),
    ]
    started = time.monotonic()
    while not file.exists() and time.monotonic() - started < 30:
        time.sleep(0.05)
    yield json.loads(file.read_text())["address"], processes[0]
    for process in processes:
        process.kill()
        process.wait()


def test_a_lost_scheduler_leaves_the_checkpoint(own_scheduler, tmp_path, monkeypatch):
    monkeypatch.setattr("geodim.backends.dask.hops.TAKE_HOME", 0.0)
    monkeypatch.setattr("geodim.planning.cluster.hop_way", narrow)
    address, scheduler = own_scheduler
    told = []

    def progress(done, total):
        told.append(done)
        if 0 < done < total:
            scheduler.kill()
            scheduler.wait()

    options = {"checkpoint": tmp_path / "state", "save_every": 0.0}
    with distributed.Client(address, timeout=10) as client:
        client._timeout = 0.5  # do not wait long for it to come back
        with pytest.raises(ClusterError, match="lost in mid-run"):
            geodim.khop_dimensions(X64, EDGES, 2, backend="dask", progress=progress, **options)
    counted = []
    result = geodim.khop_dimensions(
        X64, EDGES, 2, checkpoint=tmp_path / "state", progress=lambda done, *_: counted.append(done)
    )
    assert counted[0] >= told[0] >= 1
    assert_same_hops(result, geodim.khop_dimensions(X64, EDGES, 2))
