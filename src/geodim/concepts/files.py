"""Files of binary data: transactions (FIMI, ``.dat``), contexts (Burmeister, ``.cxt``), both also as ``.gz``.

**FIMI**: a line for each object, with the numbers of its items, blanks between them.  An empty line is an
object without items.  The attributes are the items that occur anywhere, called by their numbers.

**Burmeister**: a line ``B``, a title (which may be empty or missing), the numbers of objects and of
attributes, an empty line, the names of the objects, then of the attributes, each on a line, and for each
object a line of ``X`` and ``.``.
"""

from __future__ import annotations

import gzip
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import numpy as np

from geodim.concepts.contexts import Context, from_lists
from geodim.data.boundary import boundary, check_regular
from geodim.data.unchanged import Watch
from geodim.errors import DataFileError
from geodim.memory import check_bytes
from geodim.waiting import Counted

if TYPE_CHECKING:
    import os

    from numpy.typing import NDArray

__all__ = ["SUFFIXES", "is_context_file", "read_context"]

SUFFIXES = (".dat", ".cxt", ".dat.gz", ".cxt.gz")
PIECE = 1 << 22
FIMI_BYTES = 16  # for every byte of text, which is at least half an item of 8 bytes that is copied twice
CXT_BYTES = 12  # lines of text, and the crosses
ENOUGH = "take a machine with more memory, or fewer lines"
SHOWN = 60


def is_context_file(path: str | os.PathLike[str]) -> bool:
    """Return whether the name of a file has an ending that is read here."""
    return Path(path).name.lower().endswith(SUFFIXES)


def read_context(path: str | os.PathLike[str]) -> Context:
    """Read a file of binary data, of the kind that its ending indicates.

    Raises
    ------
    DataFileError
        The file is missing, damaged or of an unknown kind, or names something twice; with the line.
    MachineMemoryError
        It would not fit in the free memory.
    """
    file = Path(path)
    check_regular(file)
    if file.is_dir():
        raise DataFileError(f"{file} is a folder: name a file in it")
    if not is_context_file(file):
        raise DataFileError(f"{file}: what kind of file is this? Known endings are {', '.join(SUFFIXES)}")
    fimi = file.name.lower().removesuffix(".gz").endswith(".dat")
    with boundary(file, "file of transactions" if fimi else "context"), Watch.of(file):
        text = _contents(file, FIMI_BYTES if fimi else CXT_BYTES)
        return _transactions(file, text) if fimi else _burmeister(file, text)


def _contents(file: Path, bytes_each: int) -> bytes:
    """Return all of a file; raise if its content would not fit, for packed files as soon as that is known."""
    if not file.name.lower().endswith(".gz"):
        check_bytes(bytes_each * file.stat().st_size, str(file), ENOUGH)
        with Counted(file) as stream:
            return b"".join(iter(partial(stream.read, 1 << 20), b""))
    pieces, size = [], 0
    with Counted(file) as packed, gzip.GzipFile(fileobj=packed) as stream:
        while piece := stream.read(PIECE):
            pieces.append(piece)
            size += len(piece)
            check_bytes(bytes_each * size, f"the part of {file} unpacked so far", ENOUGH)
    return b"".join(pieces)


def _refuse(file: Path, line: int, what: str) -> NoReturn:
    raise DataFileError(f"{file}, line {line:,}: {what}")


# ---------------------------------------------------------------- transactions


def _transactions(file: Path, text: bytes) -> Context:
    from geodim.concepts._lists import parse_transactions  # noqa: PLC0415 - imports Numba

    text = text if text.endswith(b"\n") or not text else text + b"\n"
    characters = np.frombuffer(text, np.uint8)
    tallies = np.zeros(2, np.int64)
    none = np.empty(0, np.int64)
    at = parse_transactions(characters, none, none, tallies)
    if at < 0:
        _refuse_character(file, text, -1 - at)
    lines, count = tallies.tolist()
    if count == 0:
        raise DataFileError(f"{file} has {lines:,} lines and no item on any of them")
    starts, items = np.zeros(lines + 1, np.int64), np.zeros(count, np.int64)
    parse_transactions(characters, starts, items, tallies)
    numbers, attributes = np.unique(items, return_inverse=True)
    attributes = attributes.reshape(-1).astype(np.int64)
    _check_twice(file, starts, attributes, numbers)
    return from_lists(starts, attributes, numbers.size, tuple(map(str, numbers.tolist())))


def _refuse_character(file: Path, text: bytes, at: int) -> NoReturn:
    start = text.rfind(b"\n", 0, at) + 1
    word = next(iter(text[at : at + SHOWN].split()), b"").decode("utf-8", "replace")
    long = 48 <= text[at] <= 57
    what = "an item number has more than 18 digits" if long else f"expected item numbers, found {word!r}"
    _refuse(file, text.count(b"\n", 0, at) + 1, f"{what} (character {at - start + 1:,})")


def _check_twice(
    file: Path, starts: NDArray[np.int64], attributes: NDArray[np.int64], numbers: NDArray[np.int64]
) -> None:
    """Raise if an object has an item twice: most likely two lines were joined."""
    lines = np.repeat(np.arange(starts.size - 1), np.diff(starts))
    order = np.lexsort((attributes, lines))
    same = (np.diff(lines[order]) == 0) & (np.diff(attributes[order]) == 0)
    for at in np.flatnonzero(same)[:1].tolist():
        item = numbers[attributes[order[at]]]
        _refuse(file, int(lines[order[at]]) + 1, f"item {item} occurs twice; remove one of them")


# ---------------------------------------------------------------- contexts


def _burmeister(file: Path, raw: bytes) -> Context:
    lines = [line.removesuffix("\r") for line in raw.decode("utf-8-sig").split("\n")]
    if lines[0].strip() != "B":
        _refuse(
            file, 1, f"expected the letter B, with which a Burmeister context begins, not {_shown(lines[0])}"
        )
    at = 1 if _is_count(lines, 1) and _is_count(lines, 2) and not _is_count(lines, 3) else 2
    n_objects, n_attributes = (
        _count(file, lines, at + i, what) for i, what in ((0, "objects"), (1, "attributes"))
    )
    declared = at + 2  # the line of the second number
    at += 2
    at += at < len(lines) and not lines[at].strip()
    least = 2 * (n_objects + n_attributes) + n_objects * (n_attributes + 1) - 1
    if least > len(raw):
        _refuse(
            file,
            declared,
            f"{n_objects:,} objects and {n_attributes:,} attributes take {least:,} characters or more, and "
            f"the file has {len(raw):,}: was it cut off while being written or copied?",
        )
    objects = _names(file, lines, at, n_objects, "object")
    attributes = _names(file, lines, at + n_objects, n_attributes, "attribute")
    at += n_objects + n_attributes
    crosses = np.empty((n_objects, n_attributes), bool)
    for number in range(n_objects):
        crosses[number] = _crosses(file, lines, at + number, n_attributes, objects[number])
    for number in range(at + n_objects, len(lines)):
        if lines[number].strip():
            _refuse(
                file, number + 1, f"expected the end after {n_objects:,} objects, not {_shown(lines[number])}"
            )
    starts = np.concatenate([[0], np.cumsum(crosses.sum(axis=1))]).astype(np.int64)
    return from_lists(starts, np.nonzero(crosses)[1], n_attributes, attributes, objects)


def _shown(line: str) -> str:
    return repr(line if len(line) <= SHOWN else f"{line[:SHOWN]}...")


def _is_count(lines: list[str], at: int) -> bool:
    return at < len(lines) and lines[at].strip().isascii() and lines[at].strip().isdecimal()


def _count(file: Path, lines: list[str], at: int, what: str) -> int:
    line = lines[at].strip() if at < len(lines) else ""
    if not _is_count(lines, at) or len(line) > 15 or int(line) == 0:
        _refuse(file, at + 1, f"expected the number of {what}, 1 or more, not {_shown(line)}")
    return int(line)


def _names(file: Path, lines: list[str], at: int, count: int, what: str) -> tuple[str, ...]:
    seen: dict[str, int] = {}
    for number in range(at, at + count):
        name = lines[number].strip() if number < len(lines) else ""
        if not name:
            _refuse(
                file,
                number + 1,
                f"expected the name of {what} {number - at + 1:,} of {count:,}, found nothing",
            )
        if name in seen:
            _refuse(
                file,
                number + 1,
                f"the name {_shown(name)} was given to another {what} on line {seen[name]:,}: rename one",
            )
        seen[name] = number + 1
    return tuple(seen)


def _crosses(file: Path, lines: list[str], at: int, count: int, name: str) -> NDArray[np.bool_]:
    line = lines[at].strip() if at < len(lines) else ""
    if len(line) != count:
        _refuse(
            file, at + 1, f"the object {_shown(name)} needs {count:,} crosses and dots, and has {len(line):,}"
        )
    marks = np.frombuffer(line.encode("utf-8", "replace"), np.uint8)
    cross: NDArray[np.bool_] = (marks == ord("X")) | (marks == ord("x"))
    if marks.size != count or not np.all(cross | (marks == ord("."))):
        wrong = next((i, mark) for i, mark in enumerate(line) if mark not in "Xx.")
        _refuse(file, at + 1, f"expected X or a dot as character {wrong[0] + 1:,}, not {wrong[1]!r}")
    return cross
