"""Bounds from counts in cells that are small where it matters: for columns too long for anything else.

Windows begin or end in a cell of size s that holds m of n points for about 2 m values of k, and there it
makes Phi uncertain by s.  So a cell costs 2 s m / n.  For a given total cost, the fewest cells are needed if
their sizes are inversely proportional to the square root of the density.  Thousands of cells are then enough,
even for heavy tails, whose range is many times Delta.  Sizes k are chosen by the same rule: between two of
them, Phi is only known to grow.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from geodim.engine.profile import Profile
from geodim.errors import DataChangedError, InternalError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from geodim.data.checks import Ranges
    from geodim.engine.profile import Steps

    Bounds = tuple[NDArray[np.float64], NDArray[np.float64]]

FIRST_SIZES = 1 << 10
FIRST_CELLS = 1 << 17
MOST_MARKED = 1 << 10  # sizes that are examined to find which cells are open
GUIDE = 4  # entries per cell in the lookup table from values to cells
CELLS = 0.8  # of a step: the expected uncertainty that the cells may leave,
SIZES = 0.5  # and that of the sizes; together they may reach two steps, one to each side


@dataclass(frozen=True)
class Open:
    """Sizes at which Phi is not known to within a step, and lower bounds on Phi there."""

    step: float
    off: float  # how far Delta may be off
    sizes: NDArray[np.int64]
    least: NDArray[np.float64]


@dataclass
class CellProfile(Profile):
    """Bounds on Phi at some sizes.

    ``phi`` holds the upper bounds and ``least`` the lower bounds, both at ``sizes``.
    """

    goes_on = True
    sizes: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, np.int64))
    least: NDArray[np.float64] = field(default_factory=lambda: np.empty(0))

    @classmethod
    def of(
        cls,
        n_points: int,
        n_features: int,
        step: float,
        sizes: NDArray[np.int64],
        bounds: Bounds,
        owner: NDArray[np.int32],
    ) -> CellProfile:
        """Make a profile from bounds at ``sizes``, ascending to n, and the owners of the upper bounds."""
        lower, upper = (np.maximum.accumulate(one) for one in bounds)
        return cls(
            phi=upper,
            owner=owner,
            step=step,
            done=np.zeros(n_features, np.bool_),
            n_points=n_points,
            counted=True,
            sizes=sizes,
            least=lower,
        )

    def _since_before(self) -> Bounds:
        """Return bounds that hold at each size, and at all sizes between it and the one listed before it."""
        before = np.append(0.0, self.least[:-1])
        return np.where(np.diff(self.sizes, prepend=1) == 1, self.least, before), self.phi

    def bounds(
        self,
        ranges: Ranges,
        n_threads: int = 1,  # noqa: ARG002 - cells are few
    ) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.float64]]:
        """Return the sizes, and bounds on Phi at each and at all sizes between it and the one before."""
        lower, upper = self._since_before()
        return self.sizes, lower, np.minimum(upper, ranges.widths.max())

    def rounded_mean(self, n_threads: int = 1) -> tuple[float, float]:  # noqa: ARG002 - cells are few
        """Return Delta, unscaled, and how far it may be off."""
        lower, upper = self._since_before()
        here = np.diff(self.sizes, prepend=1) / self.n_points
        middle, off = 0.5 * lower + 0.5 * upper, 0.5 * (upper - lower)
        return float((here * middle).sum()), float((here * off).sum())

    def steps(self) -> Steps:
        """Return the first k of each step, its column and its width."""
        return np.append(1, self.sizes[:-1]) + 1, self.owner.astype(np.int64), self.phi

    def outline(self) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Return some of the sizes, including n, and lower bounds on Phi there."""
        some = np.arange(self.sizes.size - 1, -1, -max(-(-self.sizes.size // MOST_MARKED), 1))[::-1]
        return self.sizes[some], self.least[some]

    def still_open(self) -> Open:
        """Return where the bounds are more than half a step apart; if these sizes are many, some of them."""
        wide = np.flatnonzero(self.phi - self.least > 0.5 * self.step)
        wide = wide[:: max(-(-wide.size // MOST_MARKED), 1)]
        return Open(self.step, self.rounded_mean()[1], self.sizes[wide], self.least[wide])

    def more_sizes(self, budget: float) -> NDArray[np.int64]:
        """Return the sizes with more added, until Phi's growth between them costs at most ``budget`` in all.

        If the cost is within the budget already, the sizes stay the same.  The budget is never much smaller
        than what the cells leave open.
        """
        before = np.append(1, self.sizes[:-1])
        grows = (self.sizes - before - 1) / self.n_points * np.diff(self.least, prepend=0.0)
        left_open = (self.sizes - before) / self.n_points * (self.phi - self.least)
        budget = max(budget, 0.25 * float(left_open.sum()))
        if grows.sum() <= budget:
            return self.sizes
        parts = np.minimum(parts_for(grows, 0.8 * budget), self.sizes - before)
        more: NDArray[np.int64] = np.unique(_cut(np.append(1, self.sizes), parts).astype(np.int64))[1:]
        return more


def first_sizes(n_points: int) -> NDArray[np.int64]:
    """Return the sizes to begin with, up to n."""
    return np.unique(np.linspace(2, n_points, min(FIRST_SIZES, n_points - 1)).astype(np.int64))


def parts_for(costs: NDArray[np.float64], budget: float) -> NDArray[np.int64]:
    """Return the fewest parts for each cost such that the sum of cost / parts is at most ``budget``."""
    roots = np.sqrt(costs)
    with np.errstate(over="ignore"):
        parts = np.ceil(roots * (roots.sum() / budget))
    whole: NDArray[np.int64] = np.clip(parts, 1.0, 2.0**40).astype(np.int64)
    return whole


def first_edges(
    sample: NDArray[np.floating], least: float, greatest: float, step: float
) -> NDArray[np.floating]:
    """Return edges of cells for a first pass over a column, in the column's type, chosen from a sample.

    The cells should suffice as far as the sample shows.  A value that occurs twice in the sample is probably
    frequent in the column and gets a cell of its own.  Long tails may lie beyond the sample; each further
    octave is expected to hold half as many points as the one before.
    """
    if greatest >= np.finfo(sample.dtype).max:  # there is no next number
        sample = sample.astype(np.float64)
    values, repeats = np.unique(sample, return_counts=True)
    spread = max(float(values[-1]) - float(values[0]), step)
    octaves = spread * 2.0 ** np.arange(np.ceil(np.log2(max((greatest - least) / spread, 1.0))))
    kind = sample.dtype.type
    inner = np.union1d(values, np.nextafter(values[repeats > 1], kind(np.inf)))
    outer = np.concatenate([inner[0] - octaves, inner[-1] + octaves])
    low, top = kind(least), np.nextafter(kind(greatest), kind(np.inf))
    edges = np.unique(np.clip(np.concatenate([inner, outer, [low, top]]), low, top).astype(sample.dtype))
    cell = np.arange(edges.size - 1)
    beyond = np.maximum(np.searchsorted(edges, inner[0]) - cell, cell + 1 - np.searchsorted(edges, inner[-1]))
    masses = 2.0 ** -np.maximum(beyond, 0.0) / sample.size
    costs = 2.0 * np.diff(edges.astype(np.float64)) * masses
    most = np.sqrt(costs).sum() ** 2 / FIRST_CELLS  # if a sample asks for more, better count first
    return refined(edges, parts_for(costs, max(CELLS * step, float(most))))


def refined(edges: NDArray[np.floating], parts: NDArray[np.int64]) -> NDArray[np.floating]:
    """Return the edges after cutting every cell into equal parts, as far as floats distinguish them."""
    return np.unique(np.minimum(_cut(edges.astype(np.float64), parts).astype(edges.dtype), edges[-1]))


def _cut(edges: NDArray[np.float64] | NDArray[np.int64], parts: NDArray[np.int64]) -> NDArray[np.float64]:
    cell = np.repeat(np.arange(parts.size), parts)
    within = np.arange(cell.size) - np.repeat(np.cumsum(parts) - parts, parts)
    inner = edges[cell] + np.diff(edges)[cell] * (within / parts[cell])
    return np.append(inner, edges[-1])


def count(
    values: NDArray[np.floating],
    edges: NDArray[np.floating],
    weights: NDArray[np.int64] | None,
    counts: NDArray[np.signedinteger[Any]],
) -> None:
    """Add values of a column, all or some of them, to the counts of its cells."""
    from geodim.engine.kernels.cells import count_cells  # noqa: PLC0415 - imports Numba
    from geodim.engine.kernels.sorting import OUTSIDE  # noqa: PLC0415

    if weights is not None:
        if weights.shape != values.shape:
            msg = f"{weights.size} weights for {values.size} values"
            raise InternalError(msg)
        present = weights > 0  # the first pass, which found the edges, ignored the others
        if not present.all():
            values, weights = values[present], weights[present]
    if values.size and not (edges[0] <= values.min() and values.max() < edges[-1]):
        raise DataChangedError(OUTSIDE)
    places = edges.astype(np.float64) - float(edges[0])
    with np.errstate(over="ignore"):
        per_cell = min(GUIDE * counts.size / places[-1], float(np.finfo(np.float64).max))
    at = np.minimum(np.ceil(places * per_cell), GUIDE * counts.size).astype(np.int64)
    guide = np.clip(np.cumsum(np.bincount(at)) - 1, 0, counts.size - 1).astype(np.int32)
    count_cells(values, edges, guide, per_cell, np.empty(0, np.int64) if weights is None else weights, counts)


def _cells(
    edges: NDArray[np.floating], counts: NDArray[np.signedinteger[Any]]
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.int64]]:
    """Return the least and greatest number of every cell, and how many points lie before it."""
    greatest = np.nextafter(edges[1:], edges.dtype.type(-np.inf)).astype(np.float64)
    return edges[:-1].astype(np.float64), greatest, np.append(0, np.cumsum(counts, dtype=np.int64))


def bounds_at(
    sizes: NDArray[np.int64], edges: NDArray[np.floating], counts: NDArray[np.signedinteger[Any]]
) -> Bounds:
    """Return the lower and upper bounds on phi of one column at ``sizes``."""
    from geodim.engine.kernels.cells import bound_windows  # noqa: PLC0415 - imports Numba

    lower, upper = np.empty(sizes.size), np.empty(sizes.size)
    bound_windows(*_cells(edges, counts), sizes, lower, upper)
    return lower, upper


def bounds_where_it_matters(
    sizes: NDArray[np.int64],
    edges: NDArray[np.floating],
    counts: NDArray[np.signedinteger[Any]],
    outline: tuple[NDArray[np.int64], NDArray[np.float64]],
) -> Bounds:
    """Return the same bounds as `bounds_at`, but 0 where the column lies below the outline of Phi."""
    at, least = outline
    own = bounds_at(at, edges, counts)[1]
    # An entry of the outline stands for all sizes after the entry before it.
    matters = (own >= np.append(0.0, least[:-1]))[np.searchsorted(at, sizes)]
    lower, upper = np.zeros(sizes.size), np.zeros(sizes.size)
    lower[matters], upper[matters] = bounds_at(sizes[matters], edges, counts)
    return lower, upper


def next_parts(
    edges: NDArray[np.floating], counts: NDArray[np.signedinteger[Any]], n_points: int, still: Open
) -> NDArray[np.int64] | None:
    """Return into how many parts to cut each cell where this column keeps Phi open.

    Returns None if the column lies below Phi there.
    """
    from geodim.engine.kernels.cells import mark_open  # noqa: PLC0415 - imports Numba

    own = bounds_at(still.sizes, edges, counts)[1]
    mine = own > still.least
    if not mine.any():
        return None
    open_cells = np.zeros(counts.size, np.bool_)
    mark_open(*_cells(edges, counts), still.sizes[mine], own[mine], open_cells)
    costs = np.where(open_cells, 2.0 * np.diff(edges.astype(np.float64)) * (counts / n_points), 0.0)
    # Where Delta is off by more, the costs are larger in proportion.
    expected = 0.5 * float(costs.sum()) * min(still.step / still.off, 1.0)
    return parts_for(costs, min(CELLS * still.step, expected))
