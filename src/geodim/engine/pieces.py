"""How the gaps of a column are cut into pieces, between which a solve can be stopped or shared."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from geodim.engine.helpers import Helpers

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


def pieces_of(is_open: NDArray[np.bool_], most: int = 1) -> list[tuple[int, int]]:
    """Cut the open gaps into pieces of at most ``most`` neighbours.

    They are ordered so that the first ones are spread over all sizes and say most about them.
    """
    pieces: list[tuple[int, int]] = []
    for gap in np.flatnonzero(is_open).tolist():
        if pieces and pieces[-1][1] == gap and gap - pieces[-1][0] < most:
            pieces[-1] = pieces[-1][0], gap + 1
        else:
            pieces.append((gap, gap + 1))
    stride = 1 << max(len(pieces) - 1, 0).bit_length()
    order: list[tuple[int, int]] = []
    while stride:  # every 64th, then every 32nd, ...
        order += [pieces[at] for at in range(stride - 1, len(pieces), 2 * stride)]
        stride >>= 1
    return order
