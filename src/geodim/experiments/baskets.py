"""Generated market baskets, for the study of binary data and the benchmark of concepts.

They are made like those of Agrawal and Srikant's generator, with which miners of frequent sets are compared:
each object takes a few of many patterns of attributes, with some attributes left out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from scipy.sparse import csr_array

__all__ = ["transactions"]


def transactions(objects: int, attributes: int, seed: int = 0, patterns: int = 2000) -> csr_array:
    """Return objects of about ten attributes that come in patterns, some far more often than others.

    Parameters
    ----------
    objects, attributes : int
        The size of the data.
    seed : int
        The seed of all that is drawn.
    patterns : int
        How many patterns there are, of four attributes on average.

    Examples
    --------
    >>> X = transactions(100, 50)
    >>> X.shape, X.dtype
    ((100, 50), dtype('bool'))
    """
    from scipy.sparse import csr_array  # noqa: PLC0415 - takes time to import

    rng = np.random.default_rng(seed)
    sizes = 1 + rng.poisson(3, patterns)
    starts = np.concatenate([[0], np.cumsum(sizes)])
    popular = rng.exponential(size=attributes)
    items = rng.choice(attributes, starts[-1], p=popular / popular.sum())
    again = np.flatnonzero(rng.random(items.size) < 0.4)[1:]
    items[again] = items[np.maximum(again - rng.integers(1, 9, again.size), 0)]  # as in patterns before
    often = rng.exponential(size=patterns)
    taken = 1 + rng.poisson(2.5, objects)
    who = np.repeat(np.arange(objects), taken)
    which = rng.choice(patterns, who.size, p=often / often.sum())
    kept = np.clip(rng.normal(0.8, 0.15, patterns), 0.1, 1.0)
    rows = np.repeat(who, sizes[which])
    at = np.arange(rows.size) - np.repeat(np.cumsum(sizes[which]) - sizes[which], sizes[which])
    columns = items[np.repeat(starts[which], sizes[which]) + at]
    stays = rng.random(rows.size) < np.repeat(kept[which], sizes[which])
    entries = np.unique(rows[stays] * attributes + columns[stays])
    return csr_array(
        (np.ones(entries.size, bool), (entries // attributes, entries % attributes)),
        shape=(objects, attributes),
    )
