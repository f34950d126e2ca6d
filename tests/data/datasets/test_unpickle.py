"""Hostile pickles: whatever they ask for, they get an error and nothing runs."""

from __future__ import annotations

import builtins
import codecs
import collections
import contextlib
import copyreg
import os
import pickle
import struct
import subprocess
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from scipy import sparse

from costs import slow
from geodim.data.datasets import UnsafePickleError, unpickle
from geodim.data.datasets.unpickle import read_array, read_graph, read_matrix
from geodim.errors import DataFileError

if TYPE_CHECKING:
    from collections.abc import Callable

READERS = [read_array, read_matrix, read_graph]


class Calls:
    """Pickles as a call of ``function`` with ``args``."""

    def __init__(self, function: Callable[..., Any], *args: object) -> None:
        self.reduced = (function, args)

    def __reduce__(self) -> Any:
        return self.reduced


def write(path: Path, content: object, protocol: int = 2) -> Path:
    path.write_bytes(content if isinstance(content, bytes) else pickle.dumps(content, protocol=protocol))
    return path


def payloads(marker: Path) -> dict[str, Calls]:
    """Each of these creates the marker file when it is unpickled by Python's own reader."""
    command = f"touch {marker}"
    return {
        "os.system": Calls(os.system, command),
        "subprocess": Calls(subprocess.call, ["touch", str(marker)]),
        "eval": Calls(builtins.eval, f"open({str(marker)!r}, 'w').close()"),
        "exec": Calls(builtins.exec, f"open({str(marker)!r}, 'w').close()"),
        # A function of a module from which other names are allowed.
        "numpy": Calls(np.save, str(marker), 1),
        "scipy": Calls(sparse.save_npz, str(marker), sparse.csr_matrix((1, 1))),
        "open": Calls(builtins.open, str(marker), "w"),
    }


NAMES = sorted(payloads(Path("marker")))


@pytest.mark.filterwarnings("ignore:unclosed file:ResourceWarning")
@pytest.mark.parametrize("name", NAMES)
def test_payloads_work_when_unpickled_plainly(tmp_path: Path, name: str) -> None:
    """The control: the tests below would notice if these ran."""
    pickle.loads(pickle.dumps(payloads(tmp_path / "marker")[name], protocol=2))
    assert list(tmp_path.glob("marker*"))


@pytest.mark.parametrize("protocol", [0, 1, 2, 3, 4, 5])
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("reader", READERS)
def test_calls_are_refused(
    tmp_path: Path, reader: Callable[[Path], object], name: str, protocol: int
) -> None:
    path = write(tmp_path / "evil", payloads(tmp_path / "marker")[name], protocol)
    with pytest.raises(UnsafePickleError, match="refused"):
        reader(path)
    assert not list(tmp_path.glob("marker*"))


def nested(call: Calls) -> dict[str, object]:
    matrix = sparse.csr_matrix(np.eye(2))
    matrix.extra = call
    hidden = np.empty(1, dtype=object)
    hidden[0] = call
    table = defaultdict(list, {0: [1, call]})
    return {
        "list": [[[call]]],
        "key": {(1, (2, call)): [1]},
        "defaultdict": table,
        "matrix attribute": matrix,
        "object array": hidden,
        "after good data": [np.eye(3), sparse.csr_matrix(np.eye(2)), call],
    }


@pytest.mark.parametrize("place", sorted(nested(Calls(os.getpid))))
@pytest.mark.parametrize("reader", READERS)
def test_nested_calls_are_refused(tmp_path: Path, reader: Callable[[Path], object], place: str) -> None:
    path = write(tmp_path / "evil", nested(payloads(tmp_path / "marker")["os.system"])[place])
    with pytest.raises(UnsafePickleError):
        reader(path)
    assert not (tmp_path / "marker").exists()


def text(value: str) -> bytes:
    return b"X" + struct.pack("<I", len(value)) + value.encode()


def stack_global(module: str, name: str) -> bytes:
    return b"\x80\x04" + text(module) + text(name) + b"\x93"


RECONSTRUCT = b"cnumpy.core.multiarray\n_reconstruct\n"


@pytest.mark.parametrize(
    "content",
    [
        # Ways around a check of names: dotted names, attributes of what is allowed.
        stack_global("numpy", "dtype.__class__") + b".",
        stack_global("collections", "defaultdict.__init__") + b".",
        stack_global("builtins", "list.__class__.__base__") + b".",
        stack_global("geodim.data.datasets.unpickle", "pickle.loads") + b".",
        stack_global("_codecs", "lookup") + b".",
        # Old-style instances, extension codes, references outside the file.
        b"(S'touch marker'\nios\nsystem\n.",
        b"(cos\nsystem\nS'touch marker'\no.",
        b"\x80\x02\x82\x70.",
        b"Pidentifier\n.",
        b"\x80\x02K\x01Q.",
        # Changing what is on the list, rather than calling something else.
        RECONSTRUCT + b"N}" + text("__setstate__") + b"Ns\x86b.",
        RECONSTRUCT + b"}b.",
        b"c_codecs\nencode\n}b.",
        b"c_codecs\nencode\nN}" + text("__defaults__") + b"Ns\x86b.",
        b"cnumpy\nndarray\n)\x81.",
        b"cnumpy\nndarray\n)R.",
        # Arrays of something other than numbers, or of a class of one's own.
        RECONSTRUCT + b"(c__builtin__\nlist\n(K\x00tS'b'\ntR.",
        b"cnumpy\ndtype\n(S'O8'\nI0\nI1\ntR.",
        b"cnumpy\ndtype\n(S'V8'\nI0\nI1\ntR.",
        b"cnumpy\ndtype\n(S'f8,O'\nI0\nI1\ntR.",
        b"cnumpy\ndtype\n(S'f8'\nI0\nI1\ntR(I3\nS'<'\n(S'f8'\n(I2\nttNNI-1\nI-1\nI0\ntb.",
        # Codecs that do more than latin1, and a dictionary that would call something.
        b"c_codecs\nencode\n(S'x'\nS'zip'\ntR.",
        b"ccollections\ndefaultdict\n(cnumpy\nndarray\ntR.",
        b"ccollections\ndefaultdict\n(c__builtin__\nlist\n}tR.",
        # A memo index that would allocate gigabytes.
        b"\x80\x02K\x01r\xff\xff\xff\x7f.",
        b"\x80\x02K\x01p2147483647\n.",
    ],
)
@pytest.mark.parametrize("reader", READERS)
def test_hand_written_attacks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, reader: Callable[[Path], object], content: bytes
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(DataFileError):
        reader(write(tmp_path / "evil", content))
    assert not (tmp_path / "marker").exists()


def test_extension_registry_is_not_consulted(tmp_path: Path) -> None:
    copyreg.add_extension("os", "system", 0x70)
    try:
        content = b"\x80\x02\x82\x70" + text(f"touch {tmp_path / 'marker'}") + b"\x85R."
        with pytest.raises(UnsafePickleError, match="EXT1"):
            read_graph(write(tmp_path / "evil", content))
    finally:
        copyreg.remove_extension("os", "system", 0x70)
    assert not (tmp_path / "marker").exists()


def test_stand_ins_keep_their_behaviour(tmp_path: Path) -> None:
    """No pickle leaves a trace in the reader: the same good file gives the same array before and after."""
    good = write(tmp_path / "good", np.arange(6.0).reshape(2, 3))
    before = read_array(good)
    for content in (RECONSTRUCT + b"}b.", RECONSTRUCT + b"N}" + text("__new__") + b"Ns\x86b."):
        with pytest.raises(DataFileError):
            read_array(write(tmp_path / "evil", content))
    np.testing.assert_array_equal(read_array(good), before)


def test_only_stand_ins_are_reachable() -> None:
    """The list holds our own classes and ``list``; nothing of numpy, scipy or codecs is ever called."""
    for stand_in in unpickle._ALLOWED.values():
        assert (
            stand_in is list
            or getattr(stand_in, "__module__", type(stand_in).__module__) == unpickle.__name__
        )


@pytest.mark.parametrize("dtype", ["<f8", ">f8", "<f4", "<i4", ">i8", "|b1", "|u1", "<f2"])
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("protocol", [0, 2, 4])
def test_arrays_as_numpy_unpickles_them(tmp_path: Path, dtype: str, order: Any, protocol: int) -> None:
    array = np.array(np.arange(12).reshape(3, 4) % 5, dtype=dtype, order=order)
    path = write(tmp_path / "array", array, protocol)
    result = read_array(path)
    np.testing.assert_array_equal(result, pickle.loads(path.read_bytes()))
    assert result.dtype == array.dtype


def test_python_2_strings(tmp_path: Path) -> None:
    """Python 2 stored an array's bytes as a string: all 256 byte values must survive."""
    raw = bytes(range(256))
    content = (
        b"\x80\x02" + RECONSTRUCT + b"cnumpy\nndarray\nK\x00\x85U\x01b\x87R(K\x01K\x10K\x10\x86"
        b"cnumpy\ndtype\nU\x02u1K\x00K\x01\x87R(K\x03U\x01|NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\x00tb\x89T"
        + struct.pack("<i", len(raw)) + raw + b"tb."
    )  # fmt: skip
    path = write(tmp_path / "array", content)
    np.testing.assert_array_equal(read_array(path), np.arange(256, dtype=np.uint8).reshape(16, 16))
    np.testing.assert_array_equal(pickle.loads(content, encoding="latin1"), read_array(path))


def test_graph_with_numpy_numbers(tmp_path: Path) -> None:
    graph = collections.defaultdict(list, {0: [np.int32(1), np.int64(2)], 1: [0]})
    assert read_graph(write(tmp_path / "graph", graph)) == {0: [1, 2], 1: [0]}


def test_encoding_is_the_only_codec(tmp_path: Path) -> None:
    with pytest.raises(UnsafePickleError, match="rot13"):
        read_graph(write(tmp_path / "evil", Calls(codecs.encode, "x", "rot13")))


@pytest.mark.parametrize(
    "change",
    [
        {"indices": np.array([0, 9])},
        {"indices": np.array([0, -1])},
        {"indices": np.array([0.0, 1.0])},
        {"indptr": np.array([0, 1])},
        {"indptr": np.array([0, 2, 1])},
        {"indptr": np.array([1, 1, 2])},
        {"data": np.array([1.0])},
        {"data": np.array([[1.0, 1.0]])},
        {"_shape": (2, -1)},
        {"_shape": (2,)},
        {"_shape": "large"},
        {"data": None},
    ],
)
def test_inconsistent_matrices(tmp_path: Path, change: dict[str, object]) -> None:
    matrix = sparse.csr_matrix(np.eye(2))
    matrix.__dict__.update(change)
    with pytest.raises(DataFileError, match="matrix"):
        read_matrix(write(tmp_path / "matrix", matrix))


def test_matrix_without_state(tmp_path: Path) -> None:
    with pytest.raises(DataFileError):
        read_matrix(write(tmp_path / "matrix", b"\x80\x02cscipy.sparse.csr\ncsr_matrix\n)\x81."))
    with pytest.raises(DataFileError):
        read_array(write(tmp_path / "array", b"\x80\x02" + RECONSTRUCT + b")\x81."))


@pytest.mark.parametrize("trials", [300, slow(1500)])
def test_damaged_bytes_never_escape_as_another_error(tmp_path: Path, trials: int) -> None:
    rng = np.random.default_rng(0)
    graph = defaultdict(list, {node: [node + 1, node + 2] for node in range(40)})
    goods = [pickle.dumps(item, protocol=2) for item in (np.eye(3), sparse.csr_matrix(np.eye(3)), graph)]
    path = tmp_path / "damaged"
    for trial in range(trials):
        good = bytearray(goods[trial % 3])
        for _ in range(rng.integers(1, 4)):
            good[rng.integers(len(good))] = rng.integers(256)
        path.write_bytes(good[: rng.integers(1, len(good) + 1)] if trial % 5 == 0 else good)
        with contextlib.suppress(DataFileError):
            READERS[trial % 3](path)


# ---------------------------------------------------------------- small files that grow


def _nested(times: int, *, of: bytes, key: bool) -> bytes:
    """A tuple of tuples, each of the one before, as the key of a dictionary or its value.

    ``of`` says how each holds the one before.
    """
    return b"\x80\x02}" + (b"" if key else b"K\x01") + b"K\x01" + of * times + (b"]" if key else b"") + b"s."


@pytest.mark.parametrize("key", [False, True])
@pytest.mark.parametrize("of", [b"q\x00h\x00\x86", b"\x85"], ids=["doubled", "deep"])
def test_values_within_values_are_not_walked_through(tmp_path: Path, of: bytes, key: bool) -> None:
    """Doubled sixty times it is larger than any memory, and hashing it would take years.

    Nested, it overflows the stack.
    """
    times = 60 if of.startswith(b"q") else 200_000
    with pytest.raises(UnsafePickleError, match="values within values"):
        read_graph(write(tmp_path / "graph", _nested(times, of=of, key=key)))


def test_one_list_shared_by_many_nodes(tmp_path: Path) -> None:
    shared = list(range(600)) * 5
    with pytest.raises(DataFileError, match="share"):
        read_graph(write(tmp_path / "graph", pickle.dumps(dict.fromkeys(range(600), shared), protocol=2)))


def test_lists_that_hold_themselves_are_named_and_no_more(tmp_path: Path) -> None:
    inner: list[Any] = []
    for _ in range(60):
        inner = [inner, inner]
    for reader in READERS:
        with pytest.raises(DataFileError):
            reader(write(tmp_path / "file", pickle.dumps({(1, 2): inner}, protocol=2)))
        with pytest.raises(DataFileError):
            reader(write(tmp_path / "file", pickle.dumps(Calls(np.dtype, inner), protocol=2)))


def test_numbers_that_are_too_long_to_show(tmp_path: Path) -> None:
    with pytest.raises(DataFileError, match="int"):
        read_graph(write(tmp_path / "graph", pickle.dumps({10**6000: 1}, protocol=2)))


def test_a_matrix_of_more_columns_than_bytes(tmp_path: Path) -> None:
    matrix = sparse.csr_matrix(np.eye(2))
    matrix.__dict__["_shape"] = (2, 10**12)
    with pytest.raises(DataFileError, match="columns"):
        read_matrix(write(tmp_path / "matrix", pickle.dumps(matrix, protocol=2)))


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes on this system")
def test_a_named_pipe_does_not_hang(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for reader in READERS:
        with pytest.raises(DataFileError, match="pipe"):
            reader(tmp_path / "pipe")
