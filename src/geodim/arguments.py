"""Checks of every number that a caller passes: its type, and the limits it must keep to.

An absurdly large number, such as a typing error, is refused before anything is allocated for it.
"""

from __future__ import annotations

import math
import operator
from numbers import Real
from typing import TYPE_CHECKING, Any

from geodim.errors import InputTypeError, InputValueError
from geodim.memory import check_bytes

if TYPE_CHECKING:
    from collections.abc import Sequence

MOST_THREADS = 4096
MOST_HOPS = 1_000_000
MOST_ORDER = 1_000_000  # products per hop
MOST_WORKERS = 100_000
MOST_REPETITIONS = 10_000
MOST_SIZE = 10**15  # points, features, nodes or edges
MOST_SECONDS = 1e9  # thirty years

HOP_BYTES = 4096  # per hop, besides the arrays: profiles, results, names


def whole_number(value: object, name: str, least: int | None = None, most: int | None = None) -> int:
    """Return a whole number (also one of NumPy's) as an int, or raise; True and False are not accepted.

    Examples
    --------
    >>> whole_number(3, "hops", 0)
    3
    >>> whole_number(10**5000, "n_threads", 1, 4096)
    Traceback (most recent call last):
    ...
    geodim.errors.InputValueError: n_threads must be at most 4,096, got a number of more than 30 digits
    """
    # Before NumPy 2.3 its bool has an index as well; the types are called bool and bool_.
    index: Any = None if type(value).__name__ in ("bool", "bool_") else value
    try:
        number = operator.index(index)
    except TypeError:
        raise InputTypeError(f"{name} must be a whole number, got {value!r}") from None
    if least is not None and number < least:
        raise InputValueError(f"{name} must be at least {least:,}, got {_shown(number)}")
    if most is not None and number > most:
        raise InputValueError(f"{name} must be at most {most:,}, got {_shown(number)}")
    return number


def real_number(
    value: object,
    name: str,
    *,
    least: float | None = None,
    most: float | None = None,
    above: float | None = None,
    below: float | None = None,
    hint: str = "",
) -> float:
    """Return a number as a float, or raise.

    NaN, True and False are not accepted; ``below=math.inf`` requires a finite number.

    Examples
    --------
    >>> real_number(1, "alpha", above=0.0, most=1.0)
    1.0
    >>> real_number(-1, "rtol", least=0.0, below=math.inf, hint="0 means exact")
    Traceback (most recent call last):
    ...
    geodim.errors.InputValueError: rtol must be at least 0 and finite (0 means exact), got -1
    """
    if isinstance(value, bool) or not isinstance(value, Real):
        raise InputTypeError(f"{name} must be a number, got {value!r}")
    try:
        number = float(value) + 0.0  # turns -0.0 into 0.0
    except OverflowError:
        raise InputValueError(f"{name} must be a number that a float64 holds, got {_shown(value)}") from None
    limits = (
        (least, "at least", least is None or number >= least),
        (above, "above", above is None or number > above),
        (most, "at most", most is None or number <= most),
        (below, "below", below is None or number < below),
    )
    if math.isnan(number) or not all(kept for _, _, kept in limits):
        said = [
            "finite" if math.isinf(limit) else f"{words} {limit:g}"
            for limit, words, _ in limits
            if limit is not None
        ]
        hint = f" ({hint})" if hint else ""
        raise InputValueError(
            f"{name} must be {' and '.join(dict.fromkeys(said)) or 'a number'}{hint}, got {_shown(value)}"
        )
    return number


def one_of(value: object, name: str, known: Sequence[str]) -> str:
    """Return the value if it is one of the known names, else raise."""
    if value not in known:
        raise InputValueError(f"{name} must be one of {', '.join(known)}, got {value!r}")
    return known[known.index(value)]


def _shown(number: object) -> str:
    """Return a number as text for a message, without digits where it is too long to write out."""
    if isinstance(number, int):
        return f"{number:,}" if abs(number) < 10**30 else "a number of more than 30 digits"
    return str(number)


def check_hops(hops: int, n_points: int, n_features: int, bytes_per_point: float) -> None:
    """Raise if this many hops need more memory than there is."""
    need = int((hops + 1) * (bytes_per_point * n_points + 100 * n_features + HOP_BYTES))
    check_bytes(need, f"{hops:,} hops over {n_points:,} nodes", "take fewer hops")
