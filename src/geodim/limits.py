"""Numbers beyond which no computation goes.

A slip of the hand is refused by its size, before anything is allocated or counted up to.
"""

from __future__ import annotations

from typing import Any

from geodim.errors import InputValueError
from geodim.memory import check_bytes

MOST_THREADS = 4096
MOST_HOPS = 1_000_000
MOST_ORDER = 1_000_000  # products per hop
MOST_WORKERS = 100_000
MOST_REPETITIONS = 10_000
MOST_SIZE = 10**15  # points, features, nodes or edges
MOST_SECONDS = 1e9  # thirty years

HOP_BYTES = 4096  # what is kept of every hop besides arrays: profiles, results, names


def at_most(value: Any, most: int, name: str) -> None:
    """Raise for a number that is too large; it may be too long to be shown.

    >>> at_most(10**5000, 4096, "n_threads")
    Traceback (most recent call last):
    ...
    geodim.errors.InputValueError: n_threads must be at most 4,096, got a number of more than 30 digits
    """
    if value > most:
        shown = f"{value:,}" if value < 10**30 else "a number of more than 30 digits"
        raise InputValueError(f"{name} must be at most {most:,}, got {shown}")


def check_hops(hops: int, n_points: int, n_features: int, bytes_per_point: float) -> None:
    """Raise where so many hops need more memory than there is."""
    at_most(hops, MOST_HOPS, "hops")
    need = int((hops + 1) * (bytes_per_point * n_points + 100 * n_features + HOP_BYTES))
    check_bytes(need, f"{hops:,} hops over {n_points:,} nodes", "take fewer hops")
