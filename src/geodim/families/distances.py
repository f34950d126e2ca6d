"""The family of distance features: {d(x, .) : x in X}, or from landmarks."""

from __future__ import annotations

import math
import numbers
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from geodim.engine.parts import thread_count
from geodim.errors import InputValueError, ShapeError
from geodim.families.landmarks import choose, chosen_points
from geodim.families.metrics import metric_of
from geodim.families.paths import graph_space
from geodim.families.points import padded_bytes, panels_of, points_like
from geodim.families.precomputed import distance_matrix
from geodim.families.sets import set_space
from geodim.families.sizes import Sizes
from geodim.families.sources import CalledDistances, CoordinateDistances, MadeColumns, MatrixDistances
from geodim.families.spaces import Space, no_others
from geodim.families.strings import string_space

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from geodim.data.sources import ColumnSource

SYMMETRY_PAIRS = 64  # pairs for which a function is called both ways round


@dataclass(frozen=True, kw_only=True)
class Distances:
    """Distances to all points, or to landmarks, as features.

    In the theory this is the canonical family for points of a metric space: every d(x, .) is 1-Lipschitz, and
    the dimension depends on the distances alone, so that no isometry changes it.

    Parameters
    ----------
    metric : str or callable, default "euclidean"
        "euclidean", "manhattan", "chebyshev", "minkowski" (with ``p``), "cosine" or "angle" (the angle
        between two vectors, in radians), "chord" (the Euclidean distance of the vectors divided by their
        lengths), "hamming" (share of coordinates that differ), "jaccard" (between sets: rows of zeros and
        ones, or of a sparse matrix, lists of sets, or strings, as sets of their tokens, see
        `geodim.data.texts`), "edit" (between strings: characters to insert, delete or replace),
        "shortest_path" (between the nodes of a graph, see `geodim.families.paths`), "precomputed" (a
        symmetric matrix), or a function of two points.  1 - cos, which libraries call cosine distance, is
        not a metric, nor is the squared Euclidean distance.
    p : float, optional
        The exponent of "minkowski", at least 1.
    edge_weights : array, True or str, optional
        For "shortest_path": lengths of the edges, see `geodim.data.graphs.as_graph`; 1 by default.
    disconnected : {"error", "component", "beyond"} or float
        For "shortest_path", where nodes have no path between them: an error, the largest component alone, an
        edge farther apart than any others, or this distance.
    landmarks : int, sequence of int, or array of shape (m, d), optional
        Measure from this many points, from these points, or from other points, rather than from all.
    choice : {"farthest", "random"}
        How a number of landmarks is chosen.
    rng : None, int or numpy.random.Generator, default 0
        The source of random numbers.

    Examples
    --------
    >>> import numpy as np
    >>> source = Distances(metric="manhattan").source(np.array([[0.0, 0.0], [1.0, 2.0], [3.0, 3.0]]))
    >>> block = np.empty((3, 3))
    >>> source.read([0, 1, 2], block)
    >>> block
    array([[0., 3., 6.],
           [3., 0., 3.],
           [6., 3., 0.]])
    """

    metric: Any = "euclidean"
    p: float | None = None
    edge_weights: Any = None
    disconnected: Any = "error"
    landmarks: Any = None
    choice: str = "farthest"
    rng: Any = 0

    names_points = True  # names that a caller gives are those of points

    @property
    def takes_tables(self) -> bool:
        """Whether points may be any rows of numbers."""
        return isinstance(self.metric, str) and self.metric not in ("edit", "jaccard", "shortest_path")

    def source(
        self, X: object, *, names: Sequence[str] | None = None, n_threads: int | None = None
    ) -> MadeColumns:
        """Return a source of columns d(x, .), made when they are read, block by block.

        Parameters
        ----------
        X : array-like of shape (n_points, n_coordinates)
            The points: arrays, frames, sparse matrices, tensors; for a function any sequence of things, for
            "precomputed" the matrix; for "edit" strings, for "jaccard" sets or strings (lists, or the path of
            a file of lines); for "shortest_path" a graph.
        names : sequence of str, optional
            Names of the points.
        n_threads : int, optional
            Threads to check the data with.
        """
        space = self._space(X, thread_count(n_threads))
        called = space.called(names)
        points = self._centres(space)
        if points is None:
            made = space.from_others(self.landmarks)
            made.names = [f"landmark {i}" for i in range(made.n_features)]
        else:
            made = space.from_points(points)
            if called is not None:
                made.names = [called[int(i)] for i in points]
            elif self.landmarks is not None:
                made.names = [str(int(i)) for i in points]
        made.details = space.details or {}
        return made

    def described(self, source: ColumnSource) -> dict[str, Any]:
        """Return what a result says about these features."""
        metric = self.metric if isinstance(self.metric, str) else "a function"
        found: dict[str, Any] = {"family": "distances", "metric": metric}
        if self.p is not None:
            found["p"] = float(self.p) if math.isfinite(self.p) else "inf"
        if self.landmarks is not None:
            found["landmarks"] = source.n_features
        return found | getattr(source, "details", {})

    def planned(self, n_points: int, n_coordinates: int) -> Sizes:
        """Return the sizes for a plan, for this many points."""
        held = padded_bytes(n_points, n_coordinates) if self.metric != "precomputed" else 0
        there = self.metric not in ("precomputed", "jaccard", "minkowski") and isinstance(self.metric, str)
        if self.landmarks is None:
            return Sizes(n_points, held, on_device=there)
        some = isinstance(self.landmarks, numbers.Integral)
        m = min(int(self.landmarks), n_points) if some else len(self.landmarks)
        others = not some and np.ndim(self.landmarks) != 1
        part = m < n_points or others
        return Sizes(m, held + (8 * n_points if part else 0), 0 if part else None, there)

    def _space(self, X: object, threads: int) -> Space:
        """Return the points with their distances: which kind of points they are depends on the metric."""
        if self.metric != "shortest_path" and (self.edge_weights is not None or self.disconnected != "error"):
            raise InputValueError(
                f"edge_weights and disconnected belong to metric='shortest_path', not to {self.metric!r:.60}"
            )
        if self.p is not None and self.metric != "minkowski":
            raise InputValueError(f"p belongs to metric='minkowski', not to {self.metric!r:.60}")
        if callable(self.metric):
            return self._called(X)
        if self.metric == "precomputed":
            return self._precomputed(X, threads)
        if self.metric == "jaccard":
            return set_space(X)
        if self.metric == "edit":
            return string_space(X)
        if self.metric == "shortest_path":
            return graph_space(X, self.edge_weights, self.disconnected, threads)
        return self._coordinates(X, threads)

    def _centres(self, space: Space) -> NDArray[np.intp] | None:
        """Return which points to measure from; None for points that are given themselves."""
        if self.landmarks is None:
            return np.arange(space.n_points, dtype=np.intp)
        if isinstance(self.landmarks, (numbers.Integral, bool)):
            return choose(self.landmarks, self.choice, self.rng, space.n_points, space.from_points)
        return chosen_points(self.landmarks, space.n_points)

    def _coordinates(self, X: object, threads: int) -> Space:
        metric = metric_of(self.metric, self.p)
        panels = panels_of(X, threads, unit=metric.unit)

        def others(landmarks: object) -> MadeColumns:
            centres = points_like(landmarks, panels, threads, unit=metric.unit)
            return CoordinateDistances(panels, centres, metric, None)

        return Space(
            panels.n_points, lambda points: CoordinateDistances(panels, points, metric, None), others
        )

    def _called(self, X: object) -> Space:
        given = X if isinstance(X, np.ndarray) else list(cast("Iterable[object]", X))
        items = cast("Sequence[object]", given)  # an array behaves like one here
        if len(items) == 0:
            msg = "there are no points"
            raise ShapeError(msg)
        function = self.metric
        made = CalledDistances(items, np.arange(len(items), dtype=np.intp), function, None)
        _check_symmetric(made)
        return Space(
            len(items),
            lambda points: CalledDistances(items, points, function, None),
            lambda others: CalledDistances(items, list(others), function, None),
        )

    def _precomputed(self, X: object, threads: int) -> Space:
        matrix = distance_matrix(X, threads)
        return Space(
            len(matrix),
            lambda points: MatrixDistances(matrix, points, None),
            no_others("precomputed"),
        )


def _check_symmetric(made: CalledDistances) -> None:
    """Check the symmetry on some pairs; checking all of them would take twice as long."""
    n = made.n_points
    pairs = np.random.default_rng(0).integers(n, size=(SYMMETRY_PAIRS, 2)).tolist()
    for i, j in pairs:
        one, other = made.distance(i, j), made.distance(j, i)
        if one != other:
            msg = (
                f"the metric {made.metric} gives {one!r} from point {i} to point {j} and {other!r} the other "
                "way round: distances are symmetric; take the mean of both"
            )
            raise InputValueError(msg)
