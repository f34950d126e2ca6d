"""Hops and their dimension by the definition, in 60 decimal digits.

From dictionaries of rows; no float is rounded.
"""

from __future__ import annotations

from decimal import Context, Decimal, localcontext

import numpy as np

DIGITS = Context(prec=60, Emax=10**6, Emin=-(10**6))
ALL_DIGITS = Context(prec=1500, Emax=10**6, Emin=-(10**6))  # of any difference of two float64


def rows_of(n, edges, weights=None):
    """A + I as {i: {j: weight}}; unweighted if None.

    An edge has its largest weight; a loop its own where it is listed, else 1.
    """
    rows = {i: {} for i in range(n)}
    for k, (u, v) in enumerate(edges):
        weight = Decimal(1) if weights is None else Decimal(float(weights[k]))
        for a, b in ((u, v), (v, u)):
            rows[a][b] = max(rows[a].get(b, weight), weight)
    for i in range(n):
        rows[i].setdefault(i, Decimal(1))
    return rows


def operator_of(name, rows):
    """``sym`` or ``rw``."""
    degrees = {i: sum(row.values()) for i, row in rows.items()}
    if name == "rw":
        return {i: {j: w / degrees[i] for j, w in row.items() if w} for i, row in rows.items()}
    return {
        i: {j: w / (degrees[i] * degrees[j]).sqrt() for j, w in row.items() if w} for i, row in rows.items()
    }


def matrix_of(matrix):
    """A sparse matrix as it is."""
    whole = matrix.tocoo()
    rows = {i: {} for i in range(matrix.shape[0])}
    for i, j, value in zip(whole.row.tolist(), whole.col.tolist(), whole.data.tolist(), strict=True):
        rows[i][j] = rows[i].get(j, Decimal(0)) + Decimal(value)
    return rows


def product(rows, columns):
    return [
        [sum((w * column[j] for j, w in row.items()), Decimal(0)) for row in rows.values()]
        for column in columns
    ]


def series(coefficients, rows, columns):
    """The sum of powers of a matrix, times columns."""
    total = [[coefficients[0] * value for value in column] for column in columns]
    for coefficient in coefficients[1:]:
        columns = product(rows, columns)
        total = [
            [a + coefficient * b for a, b in zip(x, y, strict=True)]
            for x, y in zip(total, columns, strict=True)
        ]
    return total


def exact_hops(X, hops, name, *, n=None, edges=(), weights=None, matrix=None, **parameters):
    """X, TX, ..., each as a list of columns of Decimal."""
    with localcontext(DIGITS):
        if matrix is not None:
            step, coefficients = matrix_of(matrix), None
        else:
            step = operator_of(
                parameters.get("transition", "sym") if name in ("ppr", "heat") else name,
                rows_of(n, edges, weights),
            )
            coefficients = None
        order = parameters.get("order", 0)
        if name == "ppr":
            alpha = Decimal(parameters["alpha"])
            coefficients = [alpha * (1 - alpha) ** k for k in range(order + 1)]
        elif name == "heat":
            t = Decimal(parameters["t"])
            coefficients = [(-t).exp()]
            for k in range(1, order + 1):
                coefficients.append(coefficients[-1] * t / k)
        found = [[[Decimal(value) for value in column] for column in np.asarray(X).T.tolist()]]
        for _ in range(hops):
            found.append(
                product(step, found[-1]) if coefficients is None else series(coefficients, step, found[-1])
            )
        return found


def exact_widths(found):
    """Phi of hops 0..k for every k, each from Phi(0) to Phi(n), as Decimal."""
    with localcontext(ALL_DIGITS):  # a width half way between two floats must stay there
        n = len(found[0][0])
        phi, every = [Decimal(0)] * (n + 1), []
        for hop in found:
            for column in hop:
                ordered = sorted(column)
                for k in range(2, n + 1):
                    phi[k] = max(phi[k], min(b - a for a, b in zip(ordered, ordered[k - 1 :], strict=False)))
            every.append(list(phi))
        return every


def exact_dimensions(found):
    """The dimension of hops 0..k for every k, as Decimal.

    Divided by d_max of hop 0 (1 if that is 0); infinite if nothing is told apart.
    """
    widths = exact_widths(found)
    with localcontext(DIGITS):
        n = len(found[0][0])
        d_max = max(max(column) - min(column) for column in found[0]) or Decimal(1)
        deltas = [sum(phi) / n for phi in widths]
        return [(d_max / delta) ** 2 if delta else Decimal("inf") for delta in deltas]


def distance(block, columns):
    """The largest difference between an array (n, d) and columns of Decimal."""
    with localcontext(DIGITS):
        pairs = zip(np.asarray(block).T.tolist(), columns, strict=True)
        return max(abs(Decimal(a) - b) for ours, exact in pairs for a, b in zip(ours, exact, strict=True))
