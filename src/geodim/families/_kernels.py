"""Distances between points, a tile of four columns by sixteen points at a time.

Points lie in panels of sixteen, one coordinate after the other, so that the same coordinate of all of them is
two vectors; the sums stay in registers.  Each distance is summed over the coordinates in their order, in any
tile: it is a function of its two points alone, with the same bits for any block width and any number of
threads, and since (x - y) is -(y - x) exactly, the same bits with the points exchanged.
"""

from __future__ import annotations

import math

import numpy as np

from geodim.compiled import njit
from geodim.engine.kernels._bounds import require
from geodim.engine.kernels.lanes import fma, larger, load, magnitude, splat, store

PANEL = 16  # points
GROUP = 4  # columns
TILE = PANEL * GROUP

SQUARES, MAGNITUDES, LARGEST, DIFFERING, POWERS, PRODUCTS = range(6)


@njit(nogil=True, cache=True)
def fill_distances(panels, groups, kind, power, out):
    """Compute distances from some centres to all points.

    Parameters
    ----------
    panels : (p, d, PANEL) float64, the points, the last panel filled up with anything finite
    groups : (g, d, GROUP) float64, the centres, the last group filled up likewise
    kind : int, one of SQUARES, MAGNITUDES, LARGEST, DIFFERING, POWERS and PRODUCTS: root of the sum of
        squares, sum or greatest of the magnitudes, share of coordinates that differ, root of the sum of
        powers; or the scalar product, for directions
    power : float64, p of POWERS
    out : (c, n) float64, written; c and n may end within the last group and panel
    """
    count, n = out.shape
    size = panels.shape[1]
    require(panels.shape[2] == PANEL and panels.shape[0] * PANEL >= n, "fill_distances: panels")
    require(groups.shape[1] == size and groups.shape[2] == GROUP, "fill_distances: groups")
    require(groups.shape[0] * GROUP >= count, "fill_distances: groups")
    require(SQUARES <= kind <= PRODUCTS, "fill_distances: kind")
    points, centres, tile = panels.ravel(), groups.ravel(), np.empty(TILE)
    for panel in range(-(-n // PANEL)):
        first = panel * PANEL
        stop = min(first + PANEL, n)
        for group in range(-(-count // GROUP)):
            at, x = panel * size * PANEL, group * size * GROUP
            if kind == SQUARES:
                _squares(points, at, centres, x, size, tile)
                for i in range(TILE):
                    tile[i] = math.sqrt(tile[i])
            elif kind == MAGNITUDES:
                _magnitudes(points, at, centres, x, size, tile)
            elif kind == LARGEST:
                _largest(points, at, centres, x, size, tile)
            elif kind == PRODUCTS:
                _products(points, at, centres, x, size, tile)
            elif kind == DIFFERING:
                _differing(points, at, centres, x, size, tile)
            else:
                _powers(points, at, centres, x, size, power, tile)
            for column in range(min(GROUP, count - group * GROUP)):
                row = out[group * GROUP + column]
                for i in range(stop - first):
                    row[first + i] = tile[column * PANEL + i]


@njit(nogil=True, cache=True)
def _squares(points, at, centres, x, size, tile):
    """Compute sums of squared differences, (TILE,) float64; positions are those of `fill_distances`."""
    a0 = a1 = b0 = b1 = c0 = c1 = d0 = d1 = splat(0.0)
    for k in range(size):
        y0, y1 = load(points, at + k * PANEL), load(points, at + k * PANEL + 8)
        c = splat(centres[x + k * GROUP])
        t0, t1 = c - y0, c - y1
        a0, a1 = fma(t0, t0, a0), fma(t1, t1, a1)
        c = splat(centres[x + k * GROUP + 1])
        t0, t1 = c - y0, c - y1
        b0, b1 = fma(t0, t0, b0), fma(t1, t1, b1)
        c = splat(centres[x + k * GROUP + 2])
        t0, t1 = c - y0, c - y1
        c0, c1 = fma(t0, t0, c0), fma(t1, t1, c1)
        c = splat(centres[x + k * GROUP + 3])
        t0, t1 = c - y0, c - y1
        d0, d1 = fma(t0, t0, d0), fma(t1, t1, d1)
    _keep(tile, a0, a1, b0, b1, c0, c1, d0, d1)


@njit(nogil=True, cache=True)
def _products(points, at, centres, x, size, tile):
    """Compute scalar products of points and centres."""
    a0 = a1 = b0 = b1 = c0 = c1 = d0 = d1 = splat(0.0)
    for k in range(size):
        y0, y1 = load(points, at + k * PANEL), load(points, at + k * PANEL + 8)
        c = splat(centres[x + k * GROUP])
        a0, a1 = fma(c, y0, a0), fma(c, y1, a1)
        c = splat(centres[x + k * GROUP + 1])
        b0, b1 = fma(c, y0, b0), fma(c, y1, b1)
        c = splat(centres[x + k * GROUP + 2])
        c0, c1 = fma(c, y0, c0), fma(c, y1, c1)
        c = splat(centres[x + k * GROUP + 3])
        d0, d1 = fma(c, y0, d0), fma(c, y1, d1)
    _keep(tile, a0, a1, b0, b1, c0, c1, d0, d1)


@njit(nogil=True, cache=True)
def _magnitudes(points, at, centres, x, size, tile):
    """Compute sums of the magnitudes of differences."""
    a0 = a1 = b0 = b1 = c0 = c1 = d0 = d1 = splat(0.0)
    for k in range(size):
        y0, y1 = load(points, at + k * PANEL), load(points, at + k * PANEL + 8)
        c = splat(centres[x + k * GROUP])
        a0, a1 = a0 + magnitude(c - y0), a1 + magnitude(c - y1)
        c = splat(centres[x + k * GROUP + 1])
        b0, b1 = b0 + magnitude(c - y0), b1 + magnitude(c - y1)
        c = splat(centres[x + k * GROUP + 2])
        c0, c1 = c0 + magnitude(c - y0), c1 + magnitude(c - y1)
        c = splat(centres[x + k * GROUP + 3])
        d0, d1 = d0 + magnitude(c - y0), d1 + magnitude(c - y1)
    _keep(tile, a0, a1, b0, b1, c0, c1, d0, d1)


@njit(nogil=True, cache=True)
def _largest(points, at, centres, x, size, tile):
    """Compute the greatest magnitudes of differences."""
    a0 = a1 = b0 = b1 = c0 = c1 = d0 = d1 = splat(0.0)
    for k in range(size):
        y0, y1 = load(points, at + k * PANEL), load(points, at + k * PANEL + 8)
        c = splat(centres[x + k * GROUP])
        a0, a1 = larger(magnitude(c - y0), a0), larger(magnitude(c - y1), a1)
        c = splat(centres[x + k * GROUP + 1])
        b0, b1 = larger(magnitude(c - y0), b0), larger(magnitude(c - y1), b1)
        c = splat(centres[x + k * GROUP + 2])
        c0, c1 = larger(magnitude(c - y0), c0), larger(magnitude(c - y1), c1)
        c = splat(centres[x + k * GROUP + 3])
        d0, d1 = larger(magnitude(c - y0), d0), larger(magnitude(c - y1), d1)
    _keep(tile, a0, a1, b0, b1, c0, c1, d0, d1)


@njit(nogil=True, cache=True)
def _keep(tile, a0, a1, b0, b1, c0, c1, d0, d1):
    """Write the sums of four columns by sixteen points."""
    store(tile, 0, a0)
    store(tile, 8, a1)
    store(tile, 16, b0)
    store(tile, 24, b1)
    store(tile, 32, c0)
    store(tile, 40, c1)
    store(tile, 48, d0)
    store(tile, 56, d1)


@njit(nogil=True, cache=True)
def _differing(points, at, centres, x, size, tile):
    """Compute the shares of coordinates that differ."""
    tile[:] = 0.0
    for k in range(size):
        for column in range(GROUP):
            c = centres[x + k * GROUP + column]
            for i in range(PANEL):
                tile[column * PANEL + i] += 1.0 if points[at + k * PANEL + i] != c else 0.0
    for i in range(TILE):
        tile[i] /= size


@njit(nogil=True, cache=True)
def _powers(points, at, centres, x, size, power, tile):
    """Compute roots of sums of powers of differences, which are divided by the greatest one first.

    Thus nothing overflows, and what underflows is negligible next to 1.
    """
    for column in range(GROUP):
        for i in range(PANEL):
            most, total = 0.0, 0.0
            for k in range(size):
                most = max(most, abs(centres[x + k * GROUP + column] - points[at + k * PANEL + i]))
            if most > 0.0:
                for k in range(size):
                    t = abs(centres[x + k * GROUP + column] - points[at + k * PANEL + i])
                    total += (t / most) ** power
                most *= total ** (1.0 / power)
            tile[column * PANEL + i] = most


@njit(nogil=True, cache=True)
def fill_jaccard(indptr, indices, sizes, centres, present, out):
    """Compute Jaccard distances from some sets to all sets: the share of their union in only one of them.

    Parameters
    ----------
    indptr : (n + 1,) int64, where each set begins
    indices : (entries,) int32, the members of all sets
    sizes : (n,) int64, members of each set
    centres : (c,) int64, sets to measure from
    present : (members,) uint8, scratch, all 0
    out : (c, n) float64, written
    """
    count, n = out.shape
    require(indptr.size >= n + 1 and sizes.size >= n, "fill_jaccard: indptr, sizes")
    require(centres.size >= count, "fill_jaccard: centres")
    for s in range(n):
        require(0 <= indptr[s] <= indptr[s + 1] <= indices.size, "fill_jaccard: indptr")
    for i in range(indices.size):
        require(0 <= indices[i] < present.size, "fill_jaccard: indices")
    for c in range(count):
        centre = centres[c]
        require(0 <= centre < n, "fill_jaccard: centres")
        for i in range(indptr[centre], indptr[centre + 1]):
            present[indices[i]] = 1
        for s in range(n):
            common = 0
            for i in range(indptr[s], indptr[s + 1]):
                common += present[indices[i]]
            union = sizes[centre] + sizes[s] - common
            out[c, s] = (union - common) / union if union > 0 else 0.0
        for i in range(indptr[centre], indptr[centre + 1]):
            present[indices[i]] = 0


@njit(nogil=True, cache=True)
def first_fault(matrix, first, stop, most):
    """Find the first entry in rows [first, stop) of a square matrix that cannot be in a distance matrix.

    Returns its row, its column, and what is wrong: 0 nothing, 1 not finite, 2 negative, 3 a point with a
    distance from itself, 4 not the same the other way round, 5 too large.

    Parameters
    ----------
    matrix : (n, n) numbers
    first, stop : int, rows
    most : float64, the largest that is allowed
    """
    n = matrix.shape[0]
    require(matrix.shape[1] == n and 0 <= first <= stop <= n, "first_fault: matrix")
    step = 64
    for begin in range(first, stop, step):
        for left in range(0, n, step):
            for i in range(begin, min(begin + step, stop)):
                for j in range(left, min(left + step, n)):
                    value, other = np.float64(matrix[i, j]), np.float64(matrix[j, i])
                    if not -np.inf < value < np.inf:
                        return i, j, 1
                    if not -np.inf < other < np.inf:
                        return j, i, 1
                    if value < 0.0:
                        return i, j, 2
                    if value > most:
                        return i, j, 5
                    if i == j and value != 0.0:
                        return i, j, 3
                    if value != other:
                        return i, j, 4
    return 0, 0, 0
