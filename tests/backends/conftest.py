"""A cluster for the tests of the Dask backend: one for all of them, since its workers take long to start.

Its two workers are threads here, so that they need not import and load everything again, but talk by TCP: all
that is sent is made into bytes.  `make test-all` has processes, and so have in every run the tests that lose
workers or measure them.  It is closed with the last test: with nothing to do it takes a tenth of a core.
"""

from __future__ import annotations

import importlib
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
def triton_looks_things_up_once():
    """Its interpreter looks for builtins to replace whenever a function is called, and makes a table of types
    for every operation: half of its time.  A quarter of the rest are types and shapes of what it computes.
    """
    try:
        from triton.language import core
        from triton.runtime import interpreter
    except ImportError:
        yield
        return

    @cache
    def builtins(module):
        return [(name, one) for name, one in inspect.getmembers(module) if core.is_builtin(one)]

    def to_be_replaced(module):
        """All of them, or none where a function is called by one for which they are replaced already."""
        found = builtins(module)
        return found if found and getattr(module, found[0][0]) is found[0][1] else []

    kinds = {}

    def kind(of):
        """The type of NumPy for one of Triton, which its name tells."""
        name = str(of)
        if name not in kinds:
            kinds[name] = look_up(of)
        return kinds[name]

    look_up = interpreter._get_np_dtype
    with pytest.MonkeyPatch.context() as patch:
        patched = {**vars(inspect), "getmembers": to_be_replaced}
        patch.setattr(interpreter, "inspect", SimpleNamespace(**patched))
        patch.setattr(interpreter, "_get_np_dtype", kind)
        if hasattr(interpreter, "_LangPatchScope"):  # else nothing is put back anyway
            patch.setattr(interpreter, "_patch_lang", replaced_once(interpreter))
        patch.setattr(core.block_type, "__init__", made_once(core.block_type.__init__))
        patch.setattr(core.tensor, "__init__", shaped_once(core.tensor.__init__))
        semantic = getattr(importlib.import_module("triton.language.semantic"), "TritonSemantic", None)
        if semantic is not None:  # before Triton 3.4 these were functions
            patch.setattr(semantic, "cast", unless_cast(semantic.cast))
            patch.setattr(semantic, "broadcast_impl_value", unless_alike(semantic.broadcast_impl_value))
        yield


def made_once(make):
    """How Triton makes the type of a block; equal ones, which nobody changes, share what they hold."""
    known = {}

    def init(self, element_ty, shape):
        key = element_ty.__class__, element_ty.name, *shape
        if key not in known:
            make(self, element_ty, shape)
            if all(type(size) is int for size in key[2:]):
                known[key] = vars(self)
        else:
            self.__dict__ = known[key]

    return init


def shaped_once(make):
    """How Triton makes a tensor; those of one type share what follows from it."""

    def init(self, handle, type):
        shared = vars(type).get("shared_by_tensors")
        if shared is None:
            make(self, handle, type)
            type.shared_by_tensors = {name: one for name, one in vars(self).items() if name != "handle"}
        else:
            vars(self).update(shared)
            self.handle = handle

    return init


def unless_cast(cast):
    """How Triton casts, except to the type that there is already, which it would look at by name."""

    def cast_to(self, value, kind, *rounding):
        return value if value.dtype is kind else cast(self, value, kind, *rounding)

    return cast_to


def unless_alike(broadcast):
    """How Triton makes two shapes compatible, except where they are the same."""

    def compatible(self, left, right):
        same = left.handle.data.shape == right.handle.data.shape
        return (
            (left, right)
            if same and left.type.is_block() == right.type.is_block()
            else broadcast(self, left, right)
        )

    return compatible


def replaced_once(interpreter):
    """How Triton replaces builtins, except where they are replaced already: by whoever calls a function."""
    replace, now = interpreter._patch_lang, set()

    @cache
    def languages(function):
        modules = (interpreter.tl, interpreter.tl.core)
        return {
            one.__name__ for one in function.__globals__.values() if inspect.ismodule(one) and one in modules
        }

    def unless_replaced(function):
        new = languages(function) - now
        if not new:
            return interpreter._LangPatchScope()
        scope = replace(function)
        put_back = scope.restore

        def restore():
            put_back()
            now.difference_update(new)

        scope.restore = restore
        now.update(new)
        return scope

    return unless_replaced
