"""How the gaps of a column are cut into pieces, between which a solve can be stopped or shared."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from geodim.engine.helpers import Helpers
from geodim.engine.kernels.columns import cut_gaps

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from numpy.typing import NDArray

    from geodim.engine.recursion import Sweep

TOP_BLOCKS = 64  # the pyramid ends where at most this many blocks are left
LONG = 1 << 20  # from this length on every gap is a piece of its own,
GAPS_PER_PIECE = 4  # while shorter columns would spend too much time between pieces,
SHORT = 1 << 15  # and the shortest are a single piece,
ALIKE_SHORT = 1 << 17  # longer ones, too, if methods are used that gain from many sizes at once


def gaps_per_piece(
    n: int, executor: Executor | Helpers | None, shared: Sweep | None = None, *, alike: bool = False
) -> int:
    """Return how many gaps of a column of n values are solved together.

    After each piece a thread merges what it found and looks at the clock.  Pieces are as small as can be if
    threads share a single column, or if they learn from each other after every piece.  ``alike`` says whether
    it is solved as an alike column.
    """
    if shared is not None or (executor is not None and not isinstance(executor, Helpers)):
        return 1
    if n < (ALIKE_SHORT if alike else SHORT):
        return TOP_BLOCKS
    return GAPS_PER_PIECE if n < LONG else 1


def pieces_of(is_open: NDArray[np.bool_], most: int = 1, turn: float = 0.0) -> NDArray[np.int64]:
    """Cut the open gaps into pieces of at most ``most`` neighbours: first gap, and one past the last.

    They are ordered so that the first ones are spread over all sizes and say most about them; ``turn`` is the
    share of them that comes last instead.

    Examples
    --------
    >>> pieces_of(np.array([True, True, False, True, True, True]), 2).tolist()
    [[3, 5], [0, 2], [5, 6]]
    """
    pieces = np.empty((is_open.size, 2), np.int64)
    count = cut_gaps(is_open, most, pieces)
    return pieces[_order(count, int(turn * count))]


@lru_cache(2048)
def _order(count: int, begin: int) -> NDArray[np.intp]:
    """Return every 64th of so many places, every 32nd, and so on, but the first ``begin`` of these last."""
    stride = 1 << max(count - 1, 0).bit_length()
    order: list[int] = []
    while stride:
        order += range(stride - 1, count, 2 * stride)
        stride >>= 1
    return np.array(order[begin:] + order[:begin], np.intp)
