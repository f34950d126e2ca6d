"""The field ``support`` of a result: an array that is written out when somebody first asks for it.

Where Phi is held at every k, the support is the integers from 2 to n, eight bytes per point that say nothing.
It is given, kept, pickled and copied as a `range` then, and searched as one.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

Result = TypeVar("Result")


class SupportField:
    """Gives an array whatever was set."""

    def __get__(self, result: object | None, owner: type | None = None) -> NDArray[Any]:
        if result is None:  # asked of the class, as documentation does
            return self  # type: ignore[return-value]
        held = result.__dict__["support"] = written_out(support_of(result))
        return held

    def __set__(self, result: object, value: NDArray[Any] | range) -> None:
        result.__dict__["support"] = value


def support_of(result: object) -> NDArray[Any] | range:
    """Return the support of a result as it is held."""
    held: NDArray[Any] | range = result.__dict__["support"]
    return held


def written_out(support: NDArray[Any] | range) -> NDArray[Any]:
    """Return the support as an array, of integers even where it is empty.

    Examples
    --------
    >>> written_out(range(2, 5)), written_out(range(2, 2)).dtype
    (array([2, 3, 4]), dtype('int64'))
    """
    return np.arange(support.start, support.stop) if isinstance(support, range) else support


def altered(result: Result, **changes: object) -> Result:
    """Do what `dataclasses.replace` does, with the support, if there is one, as it is held."""
    held = {name: value for name, value in vars(result).items() if name == "support"}
    made: Result = replace(result, **held | changes)  # type: ignore[type-var]
    return made


def place_of(support: NDArray[Any] | range, k: float, side: Literal["left", "right"]) -> int:
    """Return where k would have to be inserted to keep the support ascending, like `numpy.searchsorted`.

    Examples
    --------
    >>> place_of(range(2, 6), 3, "left"), place_of(range(2, 6), 3, "right")
    (1, 2)
    """
    if isinstance(support, range):
        before = math.ceil(k) if side == "left" else math.floor(k) + 1
        return min(max(before - support.start, 0), len(support))
    return int(np.searchsorted(support, k, side=side))
