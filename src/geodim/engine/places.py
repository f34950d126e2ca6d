"""Places in a column that stand for all of them, the same for all columns of one length."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


@lru_cache(16)
def spread_places(n: int, count: int) -> NDArray[np.intp]:
    """Return so many of n places, ascending and spread evenly from the first to the last; do not change them.

    Examples
    --------
    >>> spread_places(9, 3).tolist()
    [0, 4, 8]
    """
    return np.linspace(0, max(n - 1, 0), count).astype(np.intp)
