"""The one check that every count and option needs."""

from __future__ import annotations

from typing import Any

import numpy as np

from geodim.errors import InputValueError

__all__ = ["whole_number"]


def whole_number(value: Any, name: str, least: int) -> int:
    """Return `value` as an int, or say that `name` must be a whole number, `least` or more.

    Examples
    --------
    >>> whole_number(3, "hops", 0)
    3
    """
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
        raise InputValueError(f"{name} must be a whole number, {least} or more, not {value!r}")
    return int(value)
