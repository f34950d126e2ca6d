r"""Texts and sets of things: lists of strings, files of lines, token sets.

**Tokens.**  A text is lower-cased (`str.lower`), and every longest run of word characters is a token: letters
and digits of any script, and the underscore, which is what ``\w+`` finds.  "Don't panic" has the tokens don,
t and panic.  Words of one letter count, order and repetitions do not.

**Files of lines.**  UTF-8, a text on every line, ended by ``\n`` or ``\r\n``.  Blank lines are empty texts:
line i is point i.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from geodim.data.absent import is_there, no_file
from geodim.data.files import read_bytes
from geodim.errors import DataFileError, InputTypeError, ShapeError
from geodim.lists import refuse_dask

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Sequence

    from numpy.typing import NDArray

TOKEN = r"(?u)\w+"
NAME_LENGTH = 60  # characters of a text that serve as its name
TIMES = 12.0  # bytes of memory for one byte of a file: short lines are mostly overhead


def items_of(data: object, what: str) -> list[Any]:
    """Return the members of a list, tuple, array with one axis, or column of a frame, in their order.

    Parameters
    ----------
    data
        The argument as given.
    what : str
        What is expected, for messages: "a list of strings".
    """
    refuse_dask(data)
    shape = getattr(data, "shape", None)
    if isinstance(data, str | bytes | dict | set | frozenset) or (shape is not None and len(shape) != 1):
        had = f"one of shape {tuple(shape)}" if shape is not None else f"a {type(data).__name__}"
        raise InputTypeError(f"give {what}, not {had}")
    to_list = getattr(data, "to_pylist", None) or getattr(data, "tolist", None)
    try:
        items = list(to_list() if callable(to_list) else data)  # type: ignore[arg-type]
    except TypeError as error:
        raise InputTypeError(f"give {what}, not a {type(data).__name__}") from error
    if not items:
        raise ShapeError("there are no points: the list is empty")
    return items


def texts_of(data: object) -> list[str]:
    """Return the strings of a list, or the lines of a file if ``data`` is its path.

    >>> texts_of(("a text", ""))
    ['a text', '']
    """
    if isinstance(data, str | os.PathLike):
        return read_lines(data)
    items = items_of(data, "a list of strings, or the path of a file of lines")
    check_strings(items)
    return items


def check_strings(items: Sequence[Any]) -> None:
    """Raise unless all are strings; the empty string is one."""
    for i, item in enumerate(items):
        if not isinstance(item, str):
            raise InputTypeError(
                f"item {i} is a {type(item).__name__} ({item!r:.40}), not a string: leave it out, or convert "
                "it with str()"
            )


def read_lines(path: str | os.PathLike[str]) -> list[str]:
    """Return the lines of a file in UTF-8, without their ends."""
    place = Path(path)
    if isinstance(path, str) and not is_there(path):
        raise no_file(path, "several texts are given as a list of strings")
    content = read_bytes(place, TIMES, "file of lines")
    if not content:
        raise DataFileError(f"{place} is empty: there are no texts")
    lines = content.removesuffix(b"\n").split(b"\n")
    texts = []
    for number, line in enumerate(lines, 1):
        try:
            texts.append(line.removesuffix(b"\r").decode("utf-8-sig" if number == 1 else "utf-8"))
        except UnicodeDecodeError as error:
            raise DataFileError(
                f"{place}, line {number}: invalid UTF-8 at byte {error.start} of the line; convert the file"
            ) from error
    return texts


def names_of_texts(texts: Sequence[str]) -> list[str]:
    """Return names for texts: the texts themselves, cut if they are long."""
    cut = NAME_LENGTH - 3
    return [
        (text if len(text) <= NAME_LENGTH else f"{text[:cut]}...") if text else "(empty)" for text in texts
    ]


def token_sets(texts: Sequence[str]) -> tuple[NDArray[np.int64], NDArray[np.int32], int]:
    """Return the tokens of each text as compressed rows: pointers, ascending members, and their number."""
    token = re.compile(TOKEN)
    return numbered_sets([token.findall(text.lower()) for text in texts])


def numbered_sets(sets: Sequence[Iterable[Hashable]]) -> tuple[NDArray[np.int64], NDArray[np.int32], int]:
    """Return sets of anything hashable as compressed rows; repeated members count once.

    >>> numbered_sets([["b", "a", "b"], [], {"a"}])
    (array([0, 2, 2, 3]), array([0, 1, 1], dtype=int32), 2)
    """
    number: dict[Hashable, int] = {}
    indptr, members = np.zeros(len(sets) + 1, np.int64), []
    for i, one in enumerate(sets):
        try:
            found = {number.setdefault(member, len(number)) for member in one}
        except TypeError as error:
            raise InputTypeError(f"set {i} has a member that cannot be in a set: {error}") from error
        members.extend(sorted(found))
        indptr[i + 1] = len(members)
    return indptr, np.array(members, np.int32), len(number)


def sets_of(data: object) -> tuple[tuple[NDArray[np.int64], NDArray[np.int32], int], list[str] | None]:
    """Return sets from a list of strings (the sets of their tokens) or of collections of hashable things.

    They are returned as compressed rows, see `numbered_sets`, with the names of texts.
    """
    items = [] if isinstance(data, str | os.PathLike) else items_of(data, "a list of strings or of sets")
    if not items or isinstance(items[0], str):
        texts = texts_of(items or data)
        return token_sets(texts), names_of_texts(texts)
    for i, item in enumerate(items):
        if not isinstance(item, set | frozenset | list | tuple):
            raise InputTypeError(
                f"item {i} is a {type(item).__name__} ({item!r:.40}): give sets, tuples or lists throughout, "
                "or strings throughout"
            )
    if not any(isinstance(item, set | frozenset) for item in items) and _looks_binary(items):
        raise InputTypeError(
            "these lists hold nothing but 0 and 1: if they are rows of zeros and ones, give an array, "
            "np.array(X); if they are sets of such numbers, give sets, [set(row) for row in X]"
        )
    return numbered_sets(items), None


def _looks_binary(items: Sequence[Sequence[Any]]) -> bool:
    """Return whether lists could be rows of a table of zeros and ones."""
    numbers = [member for item in items for member in item]
    return bool(numbers) and all(isinstance(x, int | float | np.number) and x in (0, 1) for x in numbers)
