"""A cluster for the tests of the Dask backend: one for all of them, since its workers take long to start.

Its two workers are threads here, so that they need not import and load everything again, but talk by TCP: all
that is sent is made into bytes.  `make test-all` has processes, and so have in every run the tests that lose
workers or measure them.  It is closed with the last test: with nothing to do it takes a tenth of a core.
"""

from __future__ import annotations

import inspect
from contextlib import ExitStack
from functools import cache
from types import SimpleNamespace

import pytest

_cluster = ExitStack()
_address: list[str] = []


@pytest.fixture(scope="module")
def scheduler(request):
    """The address of the scheduler of two workers; nobody is its client yet."""
    from backends.dask_cases import local_cluster

    if not _address:
        processes = not request.config.getoption("-m")
        cluster = local_cluster(processes=processes, protocol="tcp")
        _address.append(_cluster.enter_context(cluster).scheduler_address)
    return _address[0]


@pytest.hookimpl(trylast=True)  # its clients are gone by then
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> None:
    if nextitem is None or nextitem.path.parent != item.path.parent:
        _address.clear()
        _cluster.close()


@pytest.fixture(scope="module")
def client(scheduler):
    """The active client of that cluster, for the tests of a module."""
    from backends.dask_cases import distributed

    with distributed.Client(scheduler) as made:
        yield made


@pytest.fixture(scope="session", autouse=True)
def builtins_of_triton_are_listed_once():
    """Its interpreter looks for them at every call of a function, to replace them: a third of its time."""
    try:
        from triton.language.core import is_builtin
        from triton.runtime import interpreter
    except ImportError:
        yield
        return

    @cache
    def builtins(module):
        return [(name, one) for name, one in inspect.getmembers(module) if is_builtin(one)]

    def to_be_replaced(module):
        """All of them, or none where a function is called by one for which they are replaced already."""
        found = builtins(module)
        return found if found and getattr(module, found[0][0]) is found[0][1] else []

    with pytest.MonkeyPatch.context() as patch:
        patched = {**vars(inspect), "getmembers": to_be_replaced}
        patch.setattr(interpreter, "inspect", SimpleNamespace(**patched))
        yield
