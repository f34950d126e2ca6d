"""Kinds of values that a saved document may hold.

Each turns a JSON value into what it was, or says why it is not valid.  A check is a function of a value.  It
returns the value, as an array where the result has one, and raises `UnfitError` for anything else; `fields`
applies a table of checks to a JSON object and names the field at fault.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NoReturn, TypeAlias, TypeVar

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

__all__ = [
    "Check",
    "UnfitError",
    "fields",
    "flag",
    "list_of",
    "mapping_of",
    "number",
    "numbers",
    "one_of",
    "optional",
    "plain",
    "sequence_of",
    "sizes_or_masses",
    "text",
    "unfit",
    "whole",
    "wholes",
]

T = TypeVar("T")
Check: TypeAlias = Callable[[object], T]
MOST_WHOLE = 2**63 - 1
DEEPEST = 4  # lists and objects within parameters; ours have one level


class UnfitError(ValueError):
    """Why a value is not what it should be; readers of documents put it into their messages."""


def unfit(what: str, value: object) -> NoReturn:
    """Raise for a value, of which the message shows as much as is readable."""
    shown = "a very long number" if _too_long(value) else repr(value)
    raise UnfitError(f"{what}, not {shown[:80]}{'...' if len(shown) > 80 else ''}")


def _too_long(value: object) -> bool:
    """Return whether Python would refuse to write the number out."""
    return isinstance(value, int) and value.bit_length() > 1000


def whole(least: int = 0, most: int = MOST_WHOLE) -> Check[int]:
    """Check that a value is a whole number within limits."""

    def check(value: object) -> int:
        if type(value) is not int or not least <= value <= most:
            unfit(f"a whole number from {least} to {most}", value)
        return value

    return check


def number(least: float = 0.0, most: float = math.inf, *, infinite: bool = False) -> Check[float]:
    """Return a finite number within limits; also infinity, which is written "inf", where that is possible."""

    def check(value: object) -> float:
        if infinite and value == "inf":
            return math.inf
        if not isinstance(value, int | float) or type(value) not in (int, float) or _too_long(value):
            unfit("a number", value)
        if not (least <= value <= most and math.isfinite(value)):
            unfit(
                f"a finite number, {least:g} or more" + (f", {most:g} or less" if most < math.inf else ""),
                value,
            )
        return float(value)

    return check


def flag(value: object) -> bool:
    """Check that a value is true or false."""
    return value if isinstance(value, bool) else unfit("true or false", value)


def text(value: object) -> str:
    """Check that a value is text."""
    return value if isinstance(value, str) else unfit("text", value)


def one_of(words: tuple[str, ...]) -> Check[str]:
    """Check that a value is one of a few words."""

    def check(value: object) -> str:
        return value if isinstance(value, str) and value in words else unfit(" or ".join(words), value)

    return check


def optional(check: Check[T]) -> Check[T | None]:
    """Accept such a value, or null."""
    return lambda value: None if value is None else check(value)


def list_of(check: Check[T]) -> Check[list[T]]:
    """Return a list, every entry of which is such a value."""

    def each(value: object) -> list[T]:
        if not isinstance(value, list):
            unfit("a list", value)
        return [_within(f"entry {at}", check, one) for at, one in enumerate(value)]

    return each


def sequence_of(check: Check[T]) -> Check[tuple[T, ...]]:
    """Check like `list_of`, but return a tuple."""
    each = list_of(check)
    return lambda value: tuple(each(value))


def wholes(least: int, most: int = MOST_WHOLE) -> Check[NDArray[np.int64]]:
    """Return a list of whole numbers within limits, as an array."""
    each = list_of(whole(least, most))
    return lambda value: np.array(each(value), np.int64)


def numbers(least: float = 0.0, *, infinite: bool = False) -> Check[NDArray[np.float64]]:
    """Return a list of numbers, as an array."""
    each = list_of(number(least, infinite=infinite))
    return lambda value: np.array(each(value), np.float64)


def sizes_or_masses(least: int) -> Check[NDArray[np.generic]]:
    """Return sizes, whole numbers from ``least`` on; or, if all are written as floats, masses.

    They are returned as an array of the type in question.
    """

    def each(value: object) -> NDArray[np.generic]:
        masses = isinstance(value, list) and value and all(isinstance(one, float) for one in value)
        return numbers()(value) if masses else wholes(least)(value)

    return each


def mapping_of(check: Check[object], **known: Check[object]) -> Check[dict[str, object]]:
    """Return an object of such values; those of some names may have checks of their own."""

    def each(value: object) -> dict[str, object]:
        if not isinstance(value, dict):
            unfit("an object", value)
        return {name: _within(repr(name), known.get(name, check), one) for name, one in value.items()}

    return each


def plain(value: object, depth: int = DEEPEST) -> object:
    """Return what a parameter may be.

    It is text, a number, true, false, null, or a few levels of lists and objects of these.
    """
    if value is None or isinstance(value, str | bool):
        return value
    if isinstance(value, int):
        return whole(-MOST_WHOLE)(value)
    if isinstance(value, float):
        return number(-math.inf)(value)
    if depth == 0:
        unfit("plain values", value)
    if isinstance(value, list):
        return list_of(lambda one: plain(one, depth - 1))(value)
    return mapping_of(lambda one: plain(one, depth - 1))(value)


def _within(where: str, check: Check[T], value: object) -> T:
    try:
        return check(value)
    except UnfitError as error:
        raise UnfitError(f"{where}: {error}") from None


def fields(
    values: Mapping[str, object], table: Mapping[str, Check[object]], others: Mapping[str, Check[object]]
) -> dict[str, Any]:
    """Return the fields of the table, checked; all must be there.

    ``others`` may be present, and nothing else.
    """
    for name in table:
        if name not in values:
            raise UnfitError(f"the field {name!r} is missing")
    for name in values:
        if name not in table and name not in others:
            raise UnfitError(f"the field {name!r:.80} is not known")
    for name, check in others.items():
        if name in values:
            _within(f"the field {name!r}", check, values[name])
    return {name: _within(f"the field {name!r}", check, values[name]) for name, check in table.items()}


def record(table: Mapping[str, Check[object]]) -> Check[dict[str, Any]]:
    """Return a mapping with just these fields."""

    def check(value: object) -> dict[str, Any]:
        if not isinstance(value, dict):
            unfit("a record", value)
        return fields(value, table, {})

    return check


def ascending(array: NDArray[Any], what: str, *, strictly: bool = False) -> None:
    """Raise an error if an array does not ascend."""
    steps = array[1:] <= array[:-1] if strictly else array[1:] < array[:-1]
    for at in np.flatnonzero(steps)[:1]:
        raise UnfitError(f"{what} does not ascend at entry {at + 1}")
