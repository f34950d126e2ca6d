"""The cache of compiled code: damaged, full or not there, the work goes on."""

from __future__ import annotations

import ast
import importlib.util
import io
import re
import sys
import types
from pathlib import Path

import numba
import numpy as np
import pytest

import geodim
from geodim import compiled
from geodim.errors import GeodimWarning

KERNEL = """
from geodim.compiled import njit

@njit(cache=True)
def double(x):
    return 2 * x
"""


@pytest.fixture
def load(tmp_path, monkeypatch):
    """Import the same small kernel anew, with a cache of its own."""
    monkeypatch.setattr(compiled, "_said", set())
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path / "cache"))
    (tmp_path / "kernel.py").write_text(KERNEL)

    def load():
        spec = importlib.util.spec_from_file_location("kernel", tmp_path / "kernel.py")
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module.double

    return load


def cached(folder):
    return sorted((folder / "cache").rglob("*.nb*"))


def test_what_is_kept_is_used(tmp_path, load):
    assert load()(21) == 42
    assert [path.suffix for path in cached(tmp_path)] == [".nbc", ".nbi"]
    again = load()
    assert again(21) == 42
    assert sum(again.stats.cache_hits.values()) == 1


@pytest.mark.parametrize("suffix", [".nbi", ".nbc"])
@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 0.99])
def test_a_file_that_was_cut(tmp_path, load, suffix, share):
    assert load()(21) == 42
    (path,) = [one for one in cached(tmp_path) if one.suffix == suffix]
    content = path.read_bytes()
    path.write_bytes(content[: int(share * len(content))])
    with pytest.warns(GeodimWarning, match=rf"cache of compiled code in {tmp_path}/cache.* is damaged"):
        assert load()(21) == 42
    healed = load()  # without a word
    assert healed(21) == 42
    assert sum(healed.stats.cache_hits.values()) == 1


def test_a_file_of_nonsense(tmp_path, load):
    assert load()(21) == 42
    for path in cached(tmp_path):
        path.write_bytes(b"nonsense" * 100)
    with pytest.warns(GeodimWarning, match="is damaged") as caught:
        assert load()(21) == 42
    assert len(caught) == 1  # once for each folder
    assert load()(21) == 42


def test_a_full_disk(tmp_path, load, monkeypatch):
    def full(*_arguments):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("numba.core.caching.IndexDataCacheFile.save", full)
    function = load()
    with pytest.warns(GeodimWarning, match=rf"in {tmp_path}/cache.*No space left on device.*NUMBA_CACHE_DIR"):
        assert function(21) == 42
    assert function(1.5) == 3.0  # another type, compiled without a further word


def test_no_folder_at_all(load, monkeypatch):
    monkeypatch.setattr("numba.core.caching.CacheImpl._locator_classes", [])
    with pytest.warns(GeodimWarning, match="cannot be used"):
        function = load()
    assert function(21) == 42


def test_every_kernel_is_compiled_that_way():
    others = [path for path in Path(geodim.__file__).parent.rglob("*.py") if path.name != "compiled.py"]
    direct = re.compile(r"from numba import .*jit|numba\.n?jit\(")
    assert [path for path in others if direct.search(path.read_text(encoding="utf-8"))] == []


@pytest.fixture
def compiling(monkeypatch):
    """A process that has compiled nothing, with a clock of its own."""
    fresh, clock = compiled._Compiling(), [0.0]
    monkeypatch.setattr(compiled, "_compiling", fresh)
    monkeypatch.setattr(compiled.time, "monotonic", lambda: clock[0])
    return fresh, clock


def test_long_compiling_is_told_once_where_somebody_looks(compiling, monkeypatch, caplog):
    found, clock = compiling
    monkeypatch.setattr(compiled, "_somebody_looks", lambda: True)
    for kernel in ("first", "second", "third"):
        found.begin(kernel)
        found.begin(f"called by {kernel}")  # counts as a part of it
        clock[0] += 1.2
        found.end(f"called by {kernel}")
        found.end(kernel)
        clock[0] += 100.0  # something else
    found.begin("fourth")
    assert found.spent == pytest.approx(3.6)
    assert [record.message for record in caplog.records] == [
        "geodim is compiling for this machine, once for each kind of task: it takes about ten seconds"
    ]


@pytest.mark.parametrize(("looks", "seconds"), [(False, 5.0), (True, 1.0)])
def test_short_compiling_and_pipes_are_silent(compiling, monkeypatch, caplog, looks, seconds):
    found, clock = compiling
    monkeypatch.setattr(compiled, "_somebody_looks", lambda: looks)
    found.begin("first")
    clock[0] += seconds
    found.end("first")
    found.begin("second")
    assert not caplog.records


def test_a_terminal_or_a_notebook_is_looked_at(monkeypatch):
    monkeypatch.setattr(compiled.sys, "stderr", io.StringIO())
    monkeypatch.delitem(sys.modules, "ipykernel", raising=False)
    assert not compiled._somebody_looks()
    monkeypatch.setattr(compiled.sys, "stderr", None)  # as under pythonw
    assert not compiled._somebody_looks()
    monkeypatch.setitem(sys.modules, "ipykernel", object())
    assert compiled._somebody_looks()


@pytest.fixture
def forget():
    """Read sources anew, as another process does."""

    def forget():
        compiled._imported.cache_clear()
        compiled._text.cache_clear()

    yield forget
    forget()


def test_code_from_another_file_that_changed_is_not_used(tmp_path, load, monkeypatch, forget):
    """Numba looks at the file of a kernel alone, but what it imports is compiled into it."""
    for name, imported in (("one", "from geodim.two import x"), ("two", "")):
        (tmp_path / f"{name}.py").write_text(imported)
        module = types.ModuleType(f"geodim.{name}")
        module.__file__ = str(tmp_path / f"{name}.py")
        monkeypatch.setitem(sys.modules, f"geodim.{name}", module)
        module.x = 1
    (tmp_path / "kernel.py").write_text("from geodim.one import x\n" + KERNEL)
    for text, hits in [("x = 1", 0), ("x = 1", 1), ("x = 2", 0), ("x = 2", 1)]:
        (tmp_path / "two.py").write_text(text)
        forget()
        kernel = load()
        assert kernel(21) == 42
        assert sum(kernel.stats.cache_hits.values()) == hits


def test_kernels_import_what_they_use_in_a_way_that_is_seen():
    """From modules, at the top: these lines tell what their machine code depends on."""
    root = Path(geodim.__file__).parent
    for path in root.rglob("*.py"):
        text = path.read_text()
        if "\n@njit" not in text and "\n@kernel" not in text:
            continue
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Import):
                assert not any(name.name.startswith("geodim") for name in node.names), path
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("geodim"):
                assert node.module in compiled.IMPORT.findall(text), path
                folder = root.joinpath(*node.module.split(".")[1:])
                assert folder.with_suffix(".py").is_file(), (path, node.module)


def test_kernels_that_borrow_their_arrays_count_no_references():
    """Each count locks a cache line: in the recursion over gaps, that was a third of the time."""

    def sum_of_turns(x, y):
        total, held = 0.0, x
        for i in range(x.size - 1):
            if total > 1e9:
                raise ValueError
            held = y if i % 2 else held[1:]
            total += held[0]
        return total

    low, high = np.arange(4.0), np.arange(100.0, 104.0)
    for counts in (True, False):
        kernel = compiled.njit(nogil=True, counts_references=counts)(sum_of_turns)
        assert kernel(low, high) == 1 + 100 + 101
        (code,) = kernel.inspect_llvm().values()
        body = code.partition("define ")[2].partition("\n}")[0]
        assert ("@NRT_" in body) is counts
