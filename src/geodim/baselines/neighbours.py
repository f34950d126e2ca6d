r"""Accurate distances to the nearest neighbours, without the rounding of scikit-learn's quick search.

For many features the search is brute force by :math:`\|x\|^2 + \|y\|^2 - 2xy`.  That loses what equal leading
digits cancel: equal rows come out about 1e-8 of their norm apart, and a mean of logarithms is dominated by
such distances.  So the search only proposes candidates, a few more than needed, and the distances are
computed from differences, in float64.

*Are the nearest among them?*  The search is off by at most :math:`e = \gamma(\|x\|^2 + \|y\|^2)` in a squared
distance, with :math:`\gamma = 2(d + 8)u` for d products and sums in float64, u = 2**-53.  A point y that was
left out, yet is closer than the k-th found at distance r, has :math:`\|y\| \le \|x\| + r`, hence a squared
distance of at least :math:`a^2 - e` where a is the largest distance the search gave for x.  So j distances
are right if the j-th is at most :math:`a^2 - e`; or if it is 0; or if e is below 1e-9 of its square, for then
another point can be closer by so little only (ties).  The few points that fail all three are compared with
every other point directly.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from geodim.baselines.points import BLOCK_VALUES, Points

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from scipy.sparse import csr_array

EXTRA = 4  # candidates beyond those asked for
TREE_FEATURES = 15  # up to this many the k-d tree is quicker, and its distances come from differences
TIE = 1e-9
UNIT = 2.0**-53
OFF_CENTRE = 100.0
TINY = 1e-280  # sums of squares below this have lost digits to underflow


class Neighbours(NamedTuple):
    """Distances to the nearest other points, ascending.

    Attributes
    ----------
    distances : ndarray of shape (n_queries, k)
        0 exactly where the rows count as equal.
    n_direct : int
        Points that had to be compared with every other point.
    """

    distances: NDArray[np.float64]
    n_direct: int


def nearest(points: Points, k: int, queries: NDArray[np.intp] | None, n_threads: int | None) -> Neighbours:
    """Return distances from each query (all points if None) to its k nearest other points."""
    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped] # noqa: PLC0415 - comes with scikit-learn

    asked = np.arange(points.n_points) if queries is None else queries
    count = min(points.n_points - 1, k + EXTRA)
    with threadpool_limits(n_threads):
        candidates, farthest, sizes = _search(points, count, queries, asked)
    distances = _zeroed(points, asked, candidates, pair_distances(points, asked, candidates))
    distances = np.sort(distances, axis=1)[:, :k]
    if count == points.n_points - 1 or farthest is None or sizes is None:
        return Neighbours(distances, 0)
    squares = distances**2
    gamma = 2.0 * (points.n_features + 8) * UNIT
    reach = (np.sqrt(sizes) + distances[:, -1]) ** 2
    error = (gamma * (sizes + reach))[:, np.newaxis]
    safe = (squares <= farthest[:, np.newaxis] ** 2 - error) | (error <= TIE * squares) | (distances == 0.0)
    unsure = np.flatnonzero(~safe.all(axis=1))
    if unsure.size:
        distances[unsure] = _directly(points, asked[unsure], k)
    return Neighbours(distances, int(unsure.size))


def _search(
    points: Points, count: int, queries: NDArray[np.intp] | None, asked: NDArray[np.intp]
) -> tuple[NDArray[np.intp], NDArray[np.float64] | None, NDArray[np.float64] | None]:
    """Return candidates, the largest distance examined, and squared norms of the queries.

    A point is not its own candidate.  The latter two are None for a tree, whose distances need no check.
    """
    from sklearn.neighbors import NearestNeighbors  # noqa: PLC0415

    tree = not points.sparse and points.n_features <= TREE_FEATURES
    searched = points.values if tree or points.sparse else _centred(points.values)
    where = searched if queries is None else searched[queries]
    found = NearestNeighbors(n_neighbors=count + 1, algorithm="kd_tree" if tree else "brute").fit(searched)
    far, indices = found.kneighbors(where)
    # If many rows are equal, the point itself may be missing: then another one is dropped.
    own_last = np.argsort(indices == asked[:, np.newaxis], axis=1, kind="stable")
    candidates = np.take_along_axis(indices, own_last, axis=1)[:, :-1]
    return (
        candidates,
        None if tree else far[:, -1].astype(np.float64),
        None if tree else _squared_norms(where),
    )


def _centred(values: NDArray[Any]) -> NDArray[Any]:
    """Return values minus their mean, if that is so far from 0 that the search would lose many digits."""
    mean = values.mean(axis=0, dtype=np.float64)
    offset = float(mean @ mean)
    spread = float(np.mean(_squared_norms(values))) - offset
    return values - mean if offset > OFF_CENTRE * spread else values


def _squared_norms(values: NDArray[Any] | csr_array) -> NDArray[np.float64]:
    if not isinstance(values, np.ndarray):
        return np.asarray(values.multiply(values).sum(axis=1), np.float64).reshape(-1)
    norms = np.empty(len(values))
    step = max(1, BLOCK_VALUES // values.shape[1])
    for at in range(0, len(values), step):
        block = values[at : at + step].astype(np.float64)
        norms[at : at + step] = np.einsum("ij,ij->i", block, block)
    return norms


def pair_distances(
    points: Points, queries: NDArray[np.intp], candidates: NDArray[np.intp]
) -> NDArray[np.float64]:
    """Return the distance from each query to each of its candidates, from differences, in float64."""
    out = np.empty(candidates.shape)
    step = max(1, BLOCK_VALUES // (candidates.shape[1] * points.n_features))
    if points.sparse:
        step = max(step, 256)
    for at in range(0, len(queries), step):
        own, others = queries[at : at + step], candidates[at : at + step]
        if points.sparse:
            repeated = np.repeat(own, others.shape[1])
            difference = points.values[repeated] - points.values[others.reshape(-1)]
            squares = np.asarray(difference.multiply(difference).sum(axis=1)).reshape(others.shape)
            out[at : at + step] = np.sqrt(squares)
            continue
        near = points.rows(others.reshape(-1)).reshape(*others.shape, -1)
        out[at : at + step] = _norms(points.rows(own)[:, np.newaxis, :] - near)
    return out


def _norms(differences: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return Euclidean norms along the last axis; 0 only where everything is 0, however small the numbers."""
    squares: NDArray[np.float64] = np.einsum("...d,...d->...", differences, differences)
    norms = np.sqrt(squares)
    small = squares < TINY
    if small.any():
        few = differences[small]
        largest = np.abs(few).max(axis=1)
        scaled = few / np.where(largest > 0.0, largest, 1.0)[:, np.newaxis]
        norms[small] = largest * np.sqrt(np.einsum("id,id->i", scaled, scaled))
    return norms


def _zeroed(
    points: Points, queries: NDArray[np.intp], others: NDArray[np.intp], distances: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Set distances that rounding explains to 0."""
    if points.radii is None:
        return distances
    limits = points.radii[queries][:, np.newaxis] + points.radii[others]
    return np.where(distances <= limits, 0.0, distances)


def _directly(points: Points, queries: NDArray[np.intp], k: int) -> NDArray[np.float64]:
    """Return the k smallest distances from each query to all other points, without any shortcut."""
    from scipy.spatial.distance import cdist  # noqa: PLC0415

    n = points.n_points
    out = np.empty((len(queries), k))
    wide = max(1, BLOCK_VALUES // n)
    tall = max(1, BLOCK_VALUES // points.n_features)
    for first in range(0, len(queries), wide):
        own = queries[first : first + wide]
        rows, distances = points.rows(own), np.empty((len(own), n))
        for at in range(0, n, tall):
            distances[:, at : at + tall] = cdist(rows, points.rows(slice(at, at + tall)))
        distances[np.arange(len(own)), own] = np.inf
        closest = np.argpartition(distances, min(k, n - 1), axis=1)[:, :k]
        exact = _zeroed(points, own, closest, pair_distances(points, own, closest))
        out[first : first + wide] = np.sort(exact, axis=1)
    return out


def nearest_as_published(
    points: Points, k: int, queries: NDArray[np.intp] | None, n_threads: int | None
) -> NDArray[np.float64]:
    """Return distances as scikit-learn's `NearestNeighbors` gave them to the authors of the paper.

    They come from the expanded square, noise included.  Versions since 1.1 search with a kernel of their own,
    whose noise differs; the setting below restores the older way.
    """
    from sklearn import config_context  # noqa: PLC0415
    from sklearn.neighbors import NearestNeighbors  # noqa: PLC0415
    from threadpoolctl import threadpool_limits  # noqa: PLC0415

    with threadpool_limits(n_threads), config_context(enable_cython_pairwise_dist=False):
        search = NearestNeighbors(n_neighbors=k + 1, algorithm="brute").fit(points.values)
        where = points.values if queries is None else points.values[queries]
        # The first is the point itself, or an equal one at distance 0.
        distances = np.asarray(search.kneighbors(where)[0], np.float64)[:, 1:]
    if points.radii is not None:
        distances[distances <= 2.0 * points.radii.max()] = 0.0
    return distances
