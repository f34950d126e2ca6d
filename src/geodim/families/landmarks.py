"""Landmarks: some points to measure distances from, instead of from all of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from geodim.arguments import one_of, whole_number
from geodim.errors import InputTypeError, InputValueError, ShapeError
from geodim.lists import as_array

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from geodim.families.sources import MadeColumns

CHOICES = ("farthest", "random")


def chosen_points(landmarks: object, n_points: int) -> NDArray[np.intp] | None:
    """Return the points given by a sequence of their numbers; None if it is something else."""
    try:
        array = as_array(landmarks)
    except ValueError as error:  # rows of different lengths
        msg = "landmarks must be a number, numbers of points, or points, all with the same coordinates"
        raise InputTypeError(msg) from error
    if array.ndim == 0:
        msg = f"landmarks must be a number, numbers of points, or points, got a {type(landmarks).__name__}"
        raise InputTypeError(msg)
    if array.size == 0:
        msg = "there are no landmarks: give at least one point"
        raise ShapeError(msg)
    if array.ndim != 1 or array.dtype.kind not in "iu":
        return None
    beyond = np.flatnonzero((array < 0) | (array >= n_points))
    if beyond.size:
        msg = f"landmark {array[beyond[0]]} is not a point: there are {n_points:,}, numbered from 0"
        raise InputValueError(msg)
    points = array.astype(np.intp)
    values, counts = np.unique(points, return_counts=True)
    if values.size < points.size:
        msg = f"point {values[counts > 1][0]} is a landmark more than once: name every point once"
        raise InputValueError(msg)
    return points


def choose(
    count: object,
    choice: str,
    rng: int | np.random.Generator | None,
    n_points: int,
    source: Callable[[NDArray[np.intp]], MadeColumns],
) -> NDArray[np.intp]:
    """Choose a number of points, in ascending order.

    Parameters
    ----------
    count : int
        How many.
    choice : {"farthest", "random"}
        Each one the farthest from those before it, which covers all points with at most twice the least
        radius that this many landmarks can have (Gonzalez 1985); or at random.
    rng : None, int or numpy.random.Generator
        The source of random numbers, for the landmarks, or for the first of the farthest ones.
    n_points : int
        Points in all.
    source : callable
        Gives the distances from some points.
    """
    m = whole_number(count, "landmarks", 1)
    one_of(choice, "choice", CHOICES)
    m = min(m, n_points)
    random = np.random.default_rng(rng)
    if choice == "random" or m == n_points:
        return np.sort(random.choice(n_points, m, replace=False)).astype(np.intp)
    points = [int(random.integers(n_points))]
    distances, nearest = np.empty((1, n_points)), np.full(n_points, np.inf)
    taken = np.zeros(n_points, np.bool_)
    while len(points) < m:
        taken[points[-1]] = True
        source(np.array(points[-1:])).read([0], distances)
        np.minimum(nearest, distances[0], out=nearest)
        points.append(int(np.argmax(np.where(taken, -1.0, nearest))))
    return np.sort(points).astype(np.intp)
