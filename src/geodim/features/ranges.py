"""What is known of the columns of hops without looking at them, for the bounds of a pass that was stopped."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from geodim.data.checks import Ranges

if TYPE_CHECKING:
    from collections.abc import Sequence

    from geodim.features.operators import Operator

__all__ = ["hop_ranges"]


def hop_ranges(
    ranges: Ranges, operator: Operator, sums: Sequence[float], errors: Sequence[float]
) -> list[Ranges]:
    r"""Ranges and sums of squares of the attributes and their hops 1, ..., k, for k = 0, 1, ...

    * A feature of hop m is at most s_m times as large as its attribute, s_m being the largest row sum of :math:`|A|^m`. If no entry of
      A is negative, as in all operators made from graphs, the least value is at least s_m times the attribute's, or 0 if that is
      positive; and the same for the greatest.
    * Under ``rw`` every row is a mean and stays within the range of the attribute; in a graph with weights a node of
      degree 0 has a row of zeros, though, and a series that is truncated sums to less than 1: both may reach 0.
    * ``sym`` does not lengthen a column: with W symmetric and not negative, and D its row sums, 0 included,
      :math:`D^{-1/2} W D^{-1/2}` has the eigenvalues of the walk :math:`D^{-1} W`, at most 1, and being symmetric it has the spectral norm 1 at
      most, with weights and loops or without; and so has a series of it, whose coefficients sum to 1 at most. Sums of squares carry over,
      and Chebyshev's inequality with them.
    * Features are computed, and off by at most ``errors[m]``: the ranges hold for them, and for the definition as well.

    Parameters
    ----------
    ranges : Ranges
        Of the attributes.
    operator : Operator
        What one hop does.
    sums, errors : sequence of float
        From `geodim.features.rounding`, for m = 0, 1, ...

    Returns
    -------
    list of Ranges
        For every k those of (k + 1) d columns, hop m after hop m - 1.
    """
    described = operator.to_dict() if operator.arithmetic() is not None else {"operator": "unknown"}
    hops = [ranges, *[_after(ranges, described, total) for total in sums[1:]]]
    hops = [_widened(hop, error) for hop, error in zip(hops, errors, strict=True)]
    return [_joined(hops[: k + 1]) for k in range(len(hops))]


def _joined(parts: list[Ranges]) -> Ranges:
    return Ranges(
        least=np.concatenate([part.least for part in parts]),
        greatest=np.concatenate([part.greatest for part in parts]),
        spreads=np.concatenate([part.spreads for part in parts]),
        energies=np.concatenate([part.energies for part in parts]),
        n_points=parts[0].n_points,
    )


def _after(ranges: Ranges, described: dict[str, Any], total: float) -> Ranges:
    """In real arithmetic, after some hops whose row sums are at most ``total``."""
    name = described["operator"]
    base = described.get("transition", name)
    least, greatest = ranges.least, ranges.greatest
    if base not in ("sym", "rw"):  # entries of any sign
        greatest = np.maximum(-least, greatest)
        least = -greatest
    if math.isinf(total):
        greatest = np.full_like(greatest, np.inf)
        least = -greatest
    elif name != "rw" or described["weighted"]:
        with np.errstate(over="ignore"):
            least, greatest = np.minimum(least, 0.0) * total, np.maximum(greatest, 0.0) * total
    energies = ranges.energies if base == "sym" else np.full_like(ranges.energies, np.inf)
    return Ranges(least, greatest, ranges.spreads, energies, ranges.n_points)


def _widened(ranges: Ranges, error: float) -> Ranges:
    if error == 0.0:
        return ranges
    with np.errstate(over="ignore"):
        lengths = np.sqrt(ranges.energies) + error * math.sqrt(ranges.n_points)
        energies = lengths * lengths * (1.0 + 2.0**-40)
    return Ranges(ranges.least - error, ranges.greatest + error, ranges.spreads, energies, ranges.n_points)
