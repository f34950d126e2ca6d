"""A cluster for the tests of the Dask backend: one for all of them, since its workers take long to start."""

from __future__ import annotations

import pytest


@pytest.fixture(scope="session")
def scheduler():
    """The address of the scheduler of two worker processes; nobody is its client yet."""
    from backends.dask_cases import local_cluster

    with local_cluster() as made:
        yield made.scheduler_address


@pytest.fixture(scope="module")
def client(scheduler):
    """The active client of that cluster, for the tests of a module."""
    from backends.dask_cases import distributed

    with distributed.Client(scheduler) as made:
        yield made
