"""What is known about the columns of hops without computing them, for bounds of a stopped pass."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from geodim.data.checks import Ranges
from geodim.features.rounding import Arithmetic

if TYPE_CHECKING:
    from collections.abc import Sequence

    from geodim.features.operators import Operator
    from geodim.features.rounding import FeatureError

__all__ = ["hop_ranges"]


def hop_ranges(
    ranges: Ranges, operator: Operator, sums: Sequence[float], errors: Sequence[FeatureError]
) -> list[Ranges]:
    r"""Return ranges and sums of squares of the attributes and their hops 1, ..., k, for k = 0, 1, ...

    * A feature of hop m is at most s_m times as large as its attribute, s_m being the largest row sum of
      :math:`|A|^m`. If no entry of A is negative, as in all operators made from graphs, the least value is at
      least s_m times the attribute's, or 0 if that is positive; and the same for the greatest.
    * Under ``rw`` every row is a mean and stays within the range of the attribute; in a graph with
      weights a node of degree 0 has a row of zeros, though, and a series that is truncated sums to less
      than 1: both may reach 0.
    * ``sym`` does not lengthen a column: with W symmetric and not negative, and D its row sums, 0 included,
      :math:`D^{-1/2} W D^{-1/2}` has the eigenvalues of the walk :math:`D^{-1} W`, at most 1, and
      being symmetric it has the spectral norm 1 at most, with weights and loops or without; and so
      has a series of it, whose coefficients sum to 1 at most. Sums of squares carry over, and
      Chebyshev's inequality with them.
    * Features are computed, and off by at most ``errors[m].largest``: the ranges hold for them, and
      for the definition as well.

    Parameters
    ----------
    ranges : Ranges
        The ranges of the attributes.
    operator : Operator
        What one hop does.
    sums : sequence of float
    errors : sequence of FeatureError
        From `geodim.features.rounding`, for m = 0, 1, ...

    Returns
    -------
    list of Ranges
        For every k those of (k + 1) d columns, hop m after hop m - 1.
    """
    arithmetic = operator.arithmetic() or Arithmetic(0)
    within = arithmetic.means and arithmetic.order is None and not operator.to_dict()["weighted"]
    hops = [ranges, *[_after(ranges, arithmetic, total, within=within) for total in sums[1:]]]
    hops = [_widened(hop, error.largest) for hop, error in zip(hops, errors, strict=True)]
    return [_joined(hops[: k + 1]) for k in range(len(hops))]


def _joined(parts: list[Ranges]) -> Ranges:
    return Ranges(
        least=np.concatenate([part.least for part in parts]),
        greatest=np.concatenate([part.greatest for part in parts]),
        spreads=np.concatenate([part.spreads for part in parts]),
        energies=np.concatenate([part.energies for part in parts]),
        n_points=parts[0].n_points,
    )


def _after(ranges: Ranges, arithmetic: Arithmetic, total: float, *, within: bool) -> Ranges:
    """Return the ranges in real arithmetic, after some hops whose row sums are at most ``total``.

    If row sums are 1, values stay ``within`` the range.
    """
    least, greatest = ranges.least, ranges.greatest
    if not (arithmetic.means or arithmetic.contracts):  # entries of any sign
        greatest = np.maximum(-least, greatest)
        least = -greatest
    if math.isinf(total):
        least, greatest = np.full_like(least, -np.inf), np.full_like(greatest, np.inf)
    elif not within:
        with np.errstate(over="ignore"):
            least, greatest = np.minimum(least, 0.0) * total, np.maximum(greatest, 0.0) * total
    energies = ranges.energies if arithmetic.contracts else np.full_like(ranges.energies, np.inf)
    return Ranges(least, greatest, ranges.spreads, energies, ranges.n_points)


def _widened(ranges: Ranges, error: float) -> Ranges:
    if error == 0.0:
        return ranges
    with np.errstate(over="ignore"):
        lengths = np.sqrt(ranges.energies) + error * math.sqrt(ranges.n_points)
        energies = lengths * lengths * (1.0 + 2.0**-40)
    return Ranges(ranges.least - error, ranges.greatest + error, ranges.spreads, energies, ranges.n_points)
