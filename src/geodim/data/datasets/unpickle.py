"""Read the Planetoid pickles without letting them run anything.

A pickle is a program: it names functions and calls them. Before anything runs, the file's instructions are
listed, and any that plain data does not need is refused. The reader then replaces every name on a short list
by a stand-in of its own and refuses all others, so that not even the constructors of numpy and scipy run on
the file's values. The stand-ins only collect plain values (dtype codes, shapes, bytes), and arrays are built
from those with sizes checked.
"""

from __future__ import annotations

import io
import pickle
import pickletools
import re
import warnings
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from geodim.data.boundary import boundary
from geodim.data.datasets.errors import UnsafePickleError
from geodim.data.files import read_bytes
from geodim.errors import DataFileError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from numpy.typing import NDArray
    from scipy.sparse import csr_array

__all__ = ["read_array", "read_graph", "read_matrix"]

# Booleans, integers and floats of fixed size. No objects (they could be anything), no structures, no text.
_NUMERIC = re.compile(r"[<>|=]?(?:b1|[iu][1248]|f[248])")
_ENCODINGS = {"latin1", "latin-1", "iso-8859-1"}

# The instructions of dictionaries, lists, tuples, numbers, strings and the arrays made of them, protocols 0
# to 4. Left out: references to outside objects, the extension registry, old-style instances, sets, buffers.
_INSTRUCTIONS = frozenset({
    "PROTO", "FRAME", "STOP", "MARK", "NONE", "NEWTRUE", "NEWFALSE", "INT", "BININT", "BININT1", "BININT2",
    "LONG", "LONG1", "LONG4", "FLOAT", "BINFLOAT", "STRING", "BINSTRING", "SHORT_BINSTRING", "UNICODE",
    "BINUNICODE", "SHORT_BINUNICODE", "BINBYTES", "SHORT_BINBYTES", "EMPTY_TUPLE", "TUPLE", "TUPLE1",
    "TUPLE2", "TUPLE3", "EMPTY_LIST", "LIST", "APPEND", "APPENDS", "EMPTY_DICT", "DICT", "SETITEM",
    "SETITEMS", "PUT", "BINPUT", "LONG_BINPUT", "MEMOIZE", "GET", "BINGET", "LONG_BINGET", "GLOBAL",
    "STACK_GLOBAL", "REDUCE", "NEWOBJ", "BUILD",
})  # fmt: skip

# Honest files nest few levels, and hardly refer to anything twice; those that hang a reader,
# or overflow its stack, do.
_DEEPEST, _MOST_TIMES, _SMALL = 50, 4, 1000
_TIMES = 20  # bytes of Python objects per byte of a pickle


def _shown(value: object) -> str:
    """Return a value as text for a message: at most a few characters, and never its parts."""
    short = (
        value is None
        or isinstance(value, str | float)
        or (isinstance(value, int) and value.bit_length() < 200)
    )
    return f"{value!r:.80}" if short else type(value).__name__


def _refuse(what: str) -> NoReturn:
    raise UnsafePickleError(what)


class _Dtype:
    """Stands in for ``numpy.dtype``: a numeric code and a byte order."""

    __slots__ = ("code",)

    def __init__(self, code: object, *_flags: object) -> None:
        if not isinstance(code, str) or not _NUMERIC.fullmatch(code):
            _refuse(f"asks for arrays of type {_shown(code)}; only plain numbers are read")
        self.code = code.lstrip("<>|=")

    def __setstate__(self, state: tuple[object, ...]) -> None:
        # numpy's state is (version, byte order, subarray, names, fields, size, alignment, flags); a plain
        # number has nothing but its byte order.
        _version, order, subarray, names, fields, *_sizes = state
        if order not in ("<", ">", "|", "=") or not (subarray is names is fields is None):
            _refuse("describes a structured array; only plain numbers are read")
        self.code = f"{order}{self.code.lstrip('<>|=')}"

    def numpy(self) -> np.dtype[Any]:
        return np.dtype(self.code)


class _Ndarray:
    """Stands in for the class ``numpy.ndarray`` as an argument; it cannot be called."""

    __slots__ = ()

    def __new__(cls, *_args: object) -> NoReturn:
        _refuse("builds an array in an unknown way")

    def __setstate__(self, _state: object) -> NoReturn:
        _refuse("changes the array type")


class _Array:
    """Stands in for an array under construction: becomes a real one when its state arrives."""

    __slots__ = ("value",)

    def __init__(self, kind: object, *_placeholder: object) -> None:
        if kind is not _Ndarray:
            _refuse("builds a subclass of an array")
        self.value: NDArray[Any] | None = None

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        _version, shape, dtype, fortran, raw = state
        if not isinstance(dtype, _Dtype):
            _refuse("builds an array without a plain numeric type")
        data = raw.encode("latin1") if isinstance(raw, str) else raw
        if not isinstance(data, bytes):
            _refuse("builds an array of Python objects")
        # frombuffer and reshape check that the bytes are exactly as many as the shape needs.
        flat = np.frombuffer(data, dtype=dtype.numpy())
        self.value = flat.reshape(tuple(int(size) for size in shape), order="F" if fortran else "C")


class _Csr:
    """Stands in for ``scipy.sparse.csr_matrix``: collects its attributes."""

    __slots__ = ("parts",)

    def __init__(self) -> None:
        self.parts: dict[str, object] = {}

    def __setstate__(self, state: dict[str, object]) -> None:
        self.parts = dict(state)


class _Call:
    """A function the pickle may call.

    An object with slots, so that a pickle cannot alter it through its state.
    """

    __slots__ = ("_function",)

    def __init__(self, function: Callable[..., object]) -> None:
        self._function = function

    def __call__(self, *args: object) -> object:
        return self._function(*args)

    def __setstate__(self, _state: object) -> NoReturn:
        _refuse("changes a function")


def _scalar(dtype: object, raw: object = b"") -> object:
    data = raw.encode("latin1") if isinstance(raw, str) else raw
    if not isinstance(dtype, _Dtype) or not isinstance(data, bytes) or len(data) != dtype.numpy().itemsize:
        _refuse("builds a scalar that is not a plain number")
    return np.frombuffer(data, dtype=dtype.numpy())[0].item()


def _encode(text: object, encoding: object = "latin1", *_more: object) -> bytes:
    if not isinstance(text, str) or not isinstance(encoding, str) or encoding not in _ENCODINGS:
        _refuse(f"encodes with {_shown(encoding)}; only latin1 is read")
    return text.encode("latin1")


def _defaultdict(factory: object = None, *more: object) -> dict[object, object]:
    if more or not (factory is None or factory is list):
        _refuse("builds a defaultdict of something other than lists")
    # A plain dict: reading a missing key must not call anything.
    return {}


_ALLOWED: dict[tuple[str, str], object] = {
    ("numpy", "dtype"): _Dtype,
    ("numpy", "ndarray"): _Ndarray,
    ("collections", "defaultdict"): _Call(_defaultdict),
    ("_codecs", "encode"): _Call(_encode),
    ("__builtin__", "list"): list,
    ("builtins", "list"): list,
    **{
        # numpy 1 and numpy 2 spell the module differently, and so did scipy before 1.8.
        (module, name): stand_in
        for module in ("numpy.core.multiarray", "numpy._core.multiarray")
        for name, stand_in in (("_reconstruct", _Array), ("scalar", _Call(_scalar)))
    },
    **{(module, "csr_matrix"): _Csr for module in ("scipy.sparse.csr", "scipy.sparse._csr", "scipy.sparse")},
}


class _Reader(pickle.Unpickler):
    """An unpickler that knows the names above and no others."""

    def find_class(self, module: str, name: str) -> object:
        try:
            return _ALLOWED[module, name]
        except KeyError:
            _refuse(f"asks for {module}.{name}, which is not on the list of plain numeric types")

    def persistent_load(self, _identifier: object) -> NoReturn:
        _refuse("refers to objects outside the file")


def _check_instructions(data: bytes) -> None:
    """Refuse instructions that plain data does not need, and values that grow far beyond the file.

    A pickle can refer to the same value repeatedly: sixty tuples, each holding the one before twice, take 200
    bytes and would take years to walk through.  So the instructions are followed with two numbers in place of
    every value: its size when all references are written out, and its depth.
    """
    most = _MOST_TIMES * len(data) + _SMALL
    stack: list[tuple[int, int] | None] = []  # None: a mark
    memo: dict[int, tuple[int, int]] = {}
    for instruction, argument, _position in pickletools.genops(data):
        name = instruction.name
        if name not in _INSTRUCTIONS:
            _refuse(f"uses the instruction {name}, which plain data does not need")
        # The memo is a table as long as the largest index, so a wild one costs gigabytes; an honest index
        # counts instructions before it.
        if name in _PUT:
            place = len(memo) if name == "MEMOIZE" else argument
            if not (isinstance(place, int) and 0 <= place <= len(data)):
                _refuse(f"remembers a value at the impossible place {_shown(place)}")
            memo[place] = stack[-1] or (1, 1)
        elif name in _GET:
            stack.append(memo[int(argument)])  # type: ignore[arg-type]
        else:
            taken = _taken(stack, instruction)
            size, depth = 1 + sum(one[0] for one in taken), 1 + max((one[1] for one in taken), default=0)
            if size > most or depth > _DEEPEST:
                _refuse("holds values within values, far more than plain data does")
            stack += [
                None if one is pickletools.markobject else (size, depth) for one in instruction.stack_after
            ]


_PUT = frozenset({"PUT", "BINPUT", "LONG_BINPUT", "MEMOIZE"})
_GET = frozenset({"GET", "BINGET", "LONG_BINGET"})


def _taken(stack: list[tuple[int, int] | None], instruction: pickletools.OpcodeInfo) -> list[tuple[int, int]]:
    """Return what an instruction takes from the stack."""
    taken = []
    wanted = list(instruction.stack_before)
    if pickletools.markobject in wanted:  # all values down to the mark
        while (value := stack.pop()) is not None:
            taken.append(value)
        wanted = wanted[: wanted.index(pickletools.markobject)]
    return taken + [stack.pop() or (1, 1) for _ in wanted]


def _read(path: Path) -> object:
    data = read_bytes(path, _TIMES, "pickle")
    with boundary(path, "pickle"), warnings.catch_warnings():
        # Sound files give none; Python warns of wrong escapes in damaged ones.
        warnings.simplefilter("error")
        try:
            _check_instructions(data)
            # latin1 maps Python 2 byte strings to text one to one; the arrays' bytes are recovered from it.
            return _Reader(io.BytesIO(data), encoding="latin1").load()
        except UnsafePickleError as error:
            raise UnsafePickleError(f"{path}: refused, because it {error}") from None


def _array(stand_in: object, path: Path, what: str) -> NDArray[Any]:
    # A pickle can create a stand-in without initialising it, hence getattr.
    array = getattr(stand_in, "value", None) if isinstance(stand_in, _Array) else None
    if array is None:
        raise DataFileError(f"{path}: {what} is not an array")
    return np.asarray(array)


def read_array(path: Path) -> NDArray[Any]:
    """Read a pickled two-dimensional numpy array."""
    array = _array(_read(path), path, "the content")
    if array.ndim != 2:
        raise DataFileError(f"{path}: expected an array with two axes, found shape {array.shape}")
    return array


def read_matrix(path: Path) -> csr_array:
    """Read a pickled sparse (or dense) matrix as a float32 ``csr_array`` with its structure checked."""
    from scipy import sparse  # noqa: PLC0415 - scipy.sparse only when it is needed

    content = _read(path)
    if isinstance(content, _Array):
        dense = _array(content, path, "the content")
        if dense.ndim != 2:
            raise DataFileError(f"{path}: expected a matrix, found shape {dense.shape}")
        return sparse.csr_array(dense.astype(np.float32))
    if not isinstance(content, _Csr):
        raise DataFileError(f"{path}: expected a sparse matrix, found {type(content).__name__}")
    parts: dict[str, object] = getattr(content, "parts", {})
    data, indices, indptr = (_array(parts.get(key), path, key) for key in ("data", "indices", "indptr"))
    shape = parts.get("_shape", parts.get("shape"))
    if not (isinstance(shape, tuple) and len(shape) == 2 and all(type(size) is int for size in shape)):
        raise DataFileError(f"{path}: the sparse matrix has no valid shape")
    if shape[1] > path.stat().st_size:
        raise DataFileError(
            f"{path}: the sparse matrix declares {_shown(shape[1])} columns, more than the file has bytes"
        )
    _check_csr(path, data, indices, indptr, shape)
    matrix = sparse.csr_array(
        (data.astype(np.float32), indices.astype(np.int64), indptr.astype(np.int64)), shape=shape
    )
    matrix.sum_duplicates()
    return matrix


def _check_csr(
    path: Path, data: NDArray[Any], indices: NDArray[Any], indptr: NDArray[Any], shape: tuple[int, int]
) -> None:
    """Raise unless the three arrays are a valid compressed sparse row structure; scipy trusts most of it."""
    rows, columns = shape
    well_formed = (
        min(shape) >= 0
        and data.ndim == indices.ndim == indptr.ndim == 1
        and indices.dtype.kind in "iu"
        and indptr.dtype.kind in "iu"
        and indptr.size == rows + 1
        and data.size == indices.size
        and int(indptr[0]) == 0
        and int(indptr[-1]) == indices.size
        and bool(np.all(np.diff(indptr.astype(np.int64)) >= 0))
    )
    if not well_formed:
        raise DataFileError(f"{path}: the parts of the sparse matrix do not fit together")
    if indices.size and not (int(indices.min()) >= 0 and int(indices.max()) < columns):
        raise DataFileError(f"{path}: a column number is outside 0..{columns - 1}")


def read_graph(path: Path) -> dict[int, list[int]]:
    """Read a pickled dictionary from node to list of neighbours."""
    content = _read(path)
    if not isinstance(content, dict):
        raise DataFileError(f"{path}: expected a dictionary of neighbours, found {type(content).__name__}")
    left = path.stat().st_size  # every neighbour takes at least a byte, unless many nodes share one list
    for node, neighbours in content.items():
        if type(node) is not int or not isinstance(neighbours, list):
            raise DataFileError(f"{path}: the entry {_shown(node)} is not a node with a list of neighbours")
        left -= len(neighbours)
        if left < 0:
            raise DataFileError(f"{path}: lists more neighbours than it has bytes: nodes share their lists")
        if any(type(other) is not int for other in neighbours):
            raise DataFileError(f"{path}: node {_shown(node)} has a neighbour that is not a whole number")
    return content
