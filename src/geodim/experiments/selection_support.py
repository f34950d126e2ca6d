"""Features ranked by bounds from a support sequence, as the authors do for large data, beside all k."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from geodim.explain.passes import Column, Slot

__all__ = ["estimated_dimensions", "order_errors", "phi_of_columns"]

TINY = 1e-150  # scores below it, of constant columns, have the dimension of it


def phi_of_columns(x: Any, threads: int | None) -> NDArray[np.float64]:  # noqa: ANN401 - dense or sparse
    """Return phi_k of every column, k = 2, ..., n: one row for each."""
    from geodim.data.sources import as_source  # noqa: PLC0415
    from geodim.engine.parts import thread_count  # noqa: PLC0415
    from geodim.explain.passes import ColumnPass, exact_source  # noqa: PLC0415

    source, ranges = exact_source(as_source(x), thread_count(threads))
    found = np.zeros((source.n_features, source.n_points - 1))
    nothing = np.zeros(source.n_points)

    def visit(slot: Slot, column: Column) -> None:
        found[column.index] = slot.raised(column, nothing)[1:]

    ColumnPass(source, thread_count(threads), ranges).run(range(source.n_features), visit)
    return found


def estimated_dimensions(phi: NDArray[np.float64], support: NDArray[np.int64], n: int) -> NDArray[np.float64]:
    """Return the mean of the two dimensions that bounds of the score give, for every feature.

    Parameters
    ----------
    phi : array of shape (features, sizes)
        phi at the elements of the support.
    support : array of int
        The support sequence, from 2 to n.
    n : int
        Points.
    """
    harmonic = np.concatenate([[0.0], np.cumsum(1.0 / np.arange(1, n + 1))])
    between = np.diff(harmonic[support - 1])  # the sum of 1/k from s_i up to, and without, s_(i+1)
    after = np.diff(harmonic[support])  # without s_i up to, and with, s_(i+1)
    lower = (phi[:, :-1] @ between + phi[:, -1] / n) / n
    upper = (phi[:, 1:] @ after + phi[:, 0] / 2) / n
    dimensions: NDArray[np.float64] = 0.5 * (
        1.0 / np.maximum(lower, TINY) ** 2 + 1.0 / np.maximum(upper, TINY) ** 2
    )
    return dimensions


def order_errors(exact: NDArray[np.float64], found: NDArray[np.float64]) -> dict[str, float]:
    """Return how far two rankings by dimension, the smallest first, are from each other.

    ``wrong_pairs`` is the share of all pairs that the second has in the wrong order, pairs that are equal in
    the first left out; ``overlap`` is the part of the best tenth of the first in that of the second.
    """
    from scipy.stats import kendalltau  # noqa: PLC0415 - slow to import

    d = exact.size
    keep = max(1, d // 10)
    first, second = (set(np.argsort(some, kind="stable")[:keep].tolist()) for some in (exact, found))
    wrong = differ = 0
    for column in range(d - 1):  # a row at a time, since all pairs of thousands would not fit
        one = np.sign(exact[column + 1 :] - exact[column])
        other = np.sign(found[column + 1 :] - found[column])
        wrong += int(np.count_nonzero(one * other < 0))
        differ += int(np.count_nonzero(one))
    tau = float(kendalltau(exact, found).statistic)  # NaN where all are equal, which orders nothing
    return {
        "tau": 0.0 if math.isnan(tau) else tau,
        "wrong_pairs": wrong / max(differ, 1),
        "overlap": len(first & second) / keep,
    }
