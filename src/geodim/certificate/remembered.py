"""Remembers which data a result was computed from, as long as both are alive, by weak references.

Thus nothing keeps large data alive, and results are copied, pickled and written as before.
"""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from geodim.khop_result import KHopResult
    from geodim.result import IDResult

_INPUTS: weakref.WeakKeyDictionary[object, dict[str, weakref.ref[object]]] = weakref.WeakKeyDictionary()
_WEIGHTED: weakref.WeakSet[object] = weakref.WeakSet()  # results of points with multiplicities


def remember(result: IDResult | KHopResult, *, weighted: bool = False, **inputs: object) -> None:
    """Remember what a result was computed from; lists and other objects without weak references are not."""
    if weighted:
        _WEIGHTED.add(result)
    noted = {}
    for name, value in inputs.items():
        try:
            noted[name] = weakref.ref(value)
        except TypeError:
            continue
    _INPUTS[result] = noted


def recall(result: IDResult | KHopResult, name: str) -> object:
    """Return the input of that name, or None if it is gone."""
    noted = _INPUTS.get(result, {}).get(name)
    return None if noted is None else noted()


def is_weighted(result: IDResult | KHopResult) -> bool:
    """Return whether its points were given multiplicities, as far as is known."""
    return result in _WEIGHTED
