"""The family of distance features: {d(x, .) : x in X}, or from landmarks."""

from __future__ import annotations

import math
import numbers
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from geodim.data.sources import SparseSource, as_source
from geodim.engine.parts import thread_count
from geodim.errors import InputTypeError, InputValueError, ShapeError
from geodim.families.landmarks import choose, chosen_points
from geodim.families.metrics import metric_of
from geodim.families.points import panels_of, points_like
from geodim.families.precomputed import distance_matrix
from geodim.families.sources import (
    CalledDistances,
    CoordinateDistances,
    MadeColumns,
    MatrixDistances,
    SetDistances,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from geodim.data.sources import ColumnSource

    Maker = Callable[[NDArray[np.intp]], MadeColumns]

SYMMETRY_PAIRS = 64  # of a function, that are tried both ways round


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
        ones, or of a sparse matrix), "precomputed" (a symmetric matrix), or a function of two points.  1 -
        cos, which libraries call cosine distance, is no metric, and the square of the Euclidean distance is
        none.
    p : float, optional
        The exponent of "minkowski", at least 1.
    landmarks : int, sequence of int, or array of shape (m, d), optional
        Measure from so many points, from these points, or from other points, rather than from all.
    choice : {"farthest", "random"}
        How a number of landmarks is chosen.
    rng : None, int or numpy.random.Generator, default 0
        Where random numbers come from.

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
    landmarks: Any = None
    choice: str = "farthest"
    rng: Any = 0

    names_points = True  # names that a caller gives are those of points

    def source(
        self, X: Any, *, names: Sequence[str] | None = None, n_threads: int | None = None
    ) -> MadeColumns:
        """A source of columns d(x, .), made when they are read, block by block.

        Parameters
        ----------
        X : array-like of shape (n_points, n_coordinates)
            The points: arrays, frames, sparse matrices, tensors; for a function any sequence of things, for
            "precomputed" the matrix.
        names : sequence of str, optional
            Names of the points.
        n_threads : int, optional
            Threads to check the data with.
        """
        threads = thread_count(n_threads)
        if callable(self.metric):
            n_points, make, others = self._called(X)
        elif self.metric == "precomputed":
            n_points, make, others = self._precomputed(X, threads)
        elif self.metric == "jaccard":
            n_points, make, others = self._sets(X)
        else:
            n_points, make, others = self._coordinates(X, threads)
        if names is not None and len(names) != n_points:
            msg = f"there are {n_points:,} points but {len(names):,} names"
            raise ShapeError(msg)
        points = self._centres(n_points, make)
        if points is None:
            made = others(self.landmarks)
            made.names = [f"landmark {i}" for i in range(made.n_features)]
            return made
        made = make(points)
        if names is not None:
            made.names = [str(names[int(i)]) for i in points]
        elif self.landmarks is not None:
            made.names = [str(int(i)) for i in points]
        return made

    def described(self, source: ColumnSource) -> dict[str, Any]:
        """What a result says about these features."""
        metric = self.metric if isinstance(self.metric, str) else "a function"
        found: dict[str, Any] = {"family": "distances", "metric": metric}
        if self.p is not None:
            found["p"] = float(self.p) if math.isfinite(self.p) else "inf"
        if self.landmarks is not None:
            found["landmarks"] = source.n_features
        return found

    def _centres(self, n_points: int, make: Maker) -> NDArray[np.intp] | None:
        """Which points to measure from; None for points that are given themselves."""
        if self.landmarks is None:
            return np.arange(n_points, dtype=np.intp)
        if isinstance(self.landmarks, (numbers.Integral, bool)):
            return choose(self.landmarks, self.choice, self.rng, n_points, make)
        return chosen_points(self.landmarks, n_points)

    def _coordinates(self, X: Any, threads: int) -> tuple[int, Maker, Callable[[Any], MadeColumns]]:
        metric = metric_of(self.metric, self.p)
        panels = panels_of(X, threads, unit=metric.unit)

        def others(landmarks: Any) -> MadeColumns:
            centres = points_like(landmarks, panels, threads, unit=metric.unit)
            return CoordinateDistances(panels, centres, metric, None)

        return panels.n_points, lambda points: CoordinateDistances(panels, points, metric, None), others

    def _sets(self, X: Any) -> tuple[int, Maker, Callable[[Any], MadeColumns]]:
        source = as_source(X)
        if isinstance(source, SparseSource):
            rows = source.csc.tocsr()
            rows.eliminate_zeros()
        else:
            from scipy import sparse  # noqa: PLC0415 - takes long to import

            rows = sparse.csr_array(np.asarray(X) != 0) if isinstance(X, np.ndarray) else None
        if rows is None:
            msg = "metric='jaccard' takes an array of zeros and ones or a sparse matrix, a set in each row"
            raise InputTypeError(msg)
        _check_binary(rows, X)
        rows.sort_indices()
        indptr, indices = rows.indptr.astype(np.int64), rows.indices.astype(np.int32)
        members = int(rows.shape[1])
        return (
            source.n_points,
            lambda points: SetDistances(indptr, indices, members, points, None),
            _no_others("jaccard"),
        )

    def _called(self, X: Any) -> tuple[int, Maker, Callable[[Any], MadeColumns]]:
        items: Sequence[Any] = X if isinstance(X, np.ndarray) else list(X)  # type: ignore[assignment]
        if len(items) == 0:
            msg = "there are no points"
            raise ShapeError(msg)
        function = self.metric
        made = CalledDistances(items, np.arange(len(items), dtype=np.intp), function, None)
        _check_symmetric(made)
        return (
            len(items),
            lambda points: CalledDistances(items, points, function, None),
            lambda others: CalledDistances(items, list(others), function, None),
        )

    def _precomputed(self, X: Any, threads: int) -> tuple[int, Maker, Callable[[Any], MadeColumns]]:
        matrix = distance_matrix(X, threads)
        return (
            len(matrix),
            lambda points: MatrixDistances(matrix, points, None),
            _no_others("precomputed"),
        )


def _no_others(metric: str) -> Callable[[Any], MadeColumns]:
    def others(landmarks: Any) -> MadeColumns:
        msg = (
            f"landmarks for metric={metric!r} are points of the data: give a number, or numbers of points, "
            f"not a {type(landmarks).__name__}"
        )
        raise InputTypeError(msg)

    return others


def _check_binary(rows: Any, X: Any) -> None:
    """Weights of sets would be dropped without a word."""
    values = np.asarray(X) if isinstance(X, np.ndarray) else rows.data
    wrong = (values != 0) & (values != 1)
    if wrong.any():
        at = np.argwhere(wrong)[0].tolist()
        where = f"row {at[0]}, column {at[1]}" if values.ndim == 2 else f"stored entry {at[0]}"
        msg = (
            f"metric='jaccard' is for sets, rows of zeros and ones, and {where} is "
            f"{values[tuple(at)]!r}: compare with a threshold first, for example X > 0"
        )
        raise InputValueError(msg)


def _check_symmetric(made: CalledDistances) -> None:
    """Try some pairs both ways round; all of them would take twice as long."""
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
