"""The ends of the windows that attain Phi: how Delta changes with the values of the columns.

n Delta is the sum over k of Phi(k), and Phi(k) is the difference of two values of the column that attains it:
it grows with the one and falls with the other (fact D4 of docs/gradients.md).  So a column contributes a
whole number to the gradient of each point: the number of sizes at which the point ends a window minus the
number at which it begins one.

If several windows attain Phi, we take the lowest column, its leftmost narrowest window, and among equal
values those of the first rows.  A width of 0 counts for nothing.
"""

from __future__ import annotations

import math
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from geodim.engine.patience import Patience
from geodim.engine.rounding import SLACK_BITS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from geodim.data.sources import ColumnSource
    from geodim.engine.profile import Profile

    Counts = NDArray[np.int64]


LONG, PARTS = 1 << 16, 16  # points, from which on a search for windows can be interrupted, between parts


def owned_columns(profile: Profile) -> NDArray[np.int64]:
    """Return the columns that attain Phi somewhere, ascending."""
    columns: NDArray[np.int64] = np.unique(profile.owner[(profile.phi > 0.0) & (profile.owner >= 0)])
    return columns


def column_counts(values: NDArray[np.floating], profile: Profile, column: int, off: float = 0.0) -> Counts:
    """Return for each value of a column how many windows it ends, minus how many it begins.

    Only the windows that attain Phi count, one for each size that the column owns.

    Parameters
    ----------
    values : array of shape (n_points,)
        The column.
    profile : Profile
        Solved exactly, with this column included.
    column : int
        Its number.
    off : float
        How far the values may differ from those of the profile, if they were computed again.
    """
    wanted = (profile.owner == column) & (profile.phi > 0.0)
    return counts_of_windows(values, profile.phi, wanted, 2.0 * off, column)


def counts_of_windows(
    values: NDArray[np.floating],
    phi: NDArray[np.float64],
    wanted: NDArray[np.bool_],
    off: float = 0.0,
    column: int = 0,
) -> Counts:
    """Return the same counts as `column_counts` for the sizes d = k - 1 that are ``wanted``.

    Examples
    --------
    >>> import numpy as np
    >>> phi = np.array([0.0, 1.0, 3.0])
    >>> counts_of_windows(np.array([3.0, 0.0, 1.0]), phi, phi > 0.0).tolist()
    [1, -2, 1]
    """
    n = values.size
    order = order_of(values)
    starts = starts_of_windows(values[order], phi, wanted, off, column)
    sizes = np.flatnonzero(wanted)
    by_rank = np.bincount(starts[sizes] + sizes, minlength=n) - np.bincount(starts[sizes], minlength=n)
    counts = np.empty(n, np.int64)
    counts[order] = by_rank
    return counts


def order_of(values: NDArray[np.floating]) -> NDArray[np.int64]:
    """Return the rows by ascending value, with equal values in the order of the rows.

    A few distinct values are numbered first: NumPy sorts short integers by radix, in a fraction of the time.

    Examples
    --------
    >>> import numpy as np
    >>> order_of(np.array([2.0, 1.0, 2.0, 0.5])).tolist()
    [3, 1, 0, 2]
    """
    from geodim.engine.column import FEW_FROM  # noqa: PLC0415 - imports Numba
    from geodim.engine.kernels.ends import rank_equal_ones  # noqa: PLC0415
    from geodim.engine.sorter import Sorter  # noqa: PLC0415

    n, values = values.size, np.ascontiguousarray(values)
    few = Sorter(n, values.dtype).few_values(values) if n >= FEW_FROM else None
    if few is not None and few[0].size <= np.iinfo(np.uint16).max:
        return np.argsort(_numbered(values, few[0].astype(values.dtype)), kind="stable")
    order = np.argsort(values)
    rank_equal_ones(values[order], order, *np.empty((2, n), np.int64))
    return order


def _numbered(values: NDArray[np.floating], distinct: NDArray[np.floating]) -> NDArray[np.uint16]:
    """Return the position of each value among the distinct ones, which ascend and number at most 65,535.

    If the bits of all distinct values, multiplied by some factor, have different leading bits, a table of
    these gives the position.  Otherwise it is found by binary search, which takes ten times as long.
    """

    def beginnings(of: NDArray[np.floating], factor: np.uint64) -> NDArray[np.uint64]:
        bits = (of + 0.0).view(f"u{of.itemsize}").astype(np.uint64, copy=False)  # -0.0 + 0.0 is 0.0
        return (bits * factor) >> np.uint64(48)

    apart = np.unique(distinct)  # 0.0 and -0.0 are equal
    for factor in np.random.default_rng(0).integers(1, 1 << 63, 16, np.uint64) * np.uint64(2) + np.uint64(1):
        places = beginnings(apart, factor)
        if np.unique(places).size == apart.size:
            table = np.zeros(1 << 16, np.uint16)
            table[places] = np.arange(apart.size)
            return table[beginnings(values, factor)]
    return np.searchsorted(apart, values).astype(np.uint16)


def starts_of_windows(
    ordered: NDArray[np.floating],
    phi: NDArray[np.float64],
    wanted: NDArray[np.bool_],
    off: float = 0.0,
    column: int = 0,
) -> NDArray[np.int64]:
    """Return by d = k - 1 the rank at which the leftmost narrowest window begins; 0 where none is wanted.

    If windows are all nearly equally wide, most of them are looked at, which is announced for this column.
    """
    from geodim.engine.kernels import ends, pyramid  # noqa: PLC0415
    from geodim.engine.kernels.tiles import PADDING  # noqa: PLC0415
    from geodim.engine.layout import PyramidLayout  # noqa: PLC0415 - imports Numba

    n = ordered.size
    l = np.full(n + PADDING, np.inf)
    l[:n] = ordered
    starts = np.zeros(n, np.int64)
    span, magnitude = float(l[n - 1] - l[0]), max(abs(float(l[0])), abs(float(l[n - 1])))
    layout = PyramidLayout(n)
    records = np.empty((pyramid.RECORD, layout.total))
    pyramid.build_base(l, n, records, layout.counts[0], 0.0, span)
    pyramid.build_parents(l, n, records, layout.offsets, layout.counts, 0.0, span)
    slack = math.ldexp(magnitude, -SLACK_BITS)
    late = Patience(column, n, lambda: False)
    parts = PARTS if n >= LONG else 1
    for edges in pairwise(np.linspace(0, n, parts + 1).astype(int).tolist()):
        part = slice(*edges)
        if wanted[part].any():
            here = np.zeros(n, np.bool_)
            here[part] = wanted[part]
            ends.find_starts(l, n, records, layout.offsets, layout.counts, slack, off, phi, here, starts)
            late()
    return starts


def all_counts(
    source: ColumnSource, profile: Profile, *, off: float = 0.0, n_threads: int = 1
) -> Iterator[tuple[int, Counts]]:
    """Yield every column that attains Phi somewhere with its counts; each thread reads one column at a time.

    Parameters
    ----------
    source : ColumnSource
        The source of the profile; columns that are computed are computed again.
    profile : Profile
        Solved exactly.
    off : float
        How far values may differ from one computation to the next.
    n_threads : int
        Threads to use.
    """

    def counted(column: int) -> tuple[int, Counts]:
        values = np.empty((1, source.n_points), source.dtype)
        source.read([column], values)
        return column, column_counts(values[0], profile, column, off)

    columns = owned_columns(profile).tolist()
    if n_threads == 1 or len(columns) < 2:
        yield from map(counted, columns)
        return
    with ThreadPoolExecutor(n_threads, thread_name_prefix="geodim") as pool:
        yield from pool.map(counted, columns)
