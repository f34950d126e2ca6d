"""What is exact about a column: the lattice that its values lie on, and where float32 suffices."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from geodim.engine.kernels import columns
from geodim.engine.rounding import LATTICE_BITS, SLACK_BITS

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

SMALLEST_QUANTUM, LARGEST_QUANTUM = 2.0**-149, 2.0**100  # float32 can hold multiples of these


def lattice(
    l: NDArray[np.float64], n: int, magnitude: float, *, single: bool = False
) -> tuple[float, float, float]:
    """Return grain, slack and quantum of a column.

    Let the grain be 2^-48 times the power of two above the largest magnitude.  If all values are multiples of
    it, every sum of the trend arithmetic that can decide anything is exact in float64 (section 4 of
    docs/numerics.md).  No slack is needed then, and widths differ by multiples of the quantum, the coarsest
    such grain.  Otherwise grain and quantum are 0, and the slack covers every rounding of the bounds.
    """
    exponent = math.frexp(magnitude)[1]
    grain = math.ldexp(1.0, max(exponent - LATTICE_BITS, -1074))
    quantum = columns.lattice_quantum(l, n, grain, single)
    if quantum > 0.0:
        return grain, 0.0, quantum
    return 0.0, math.ldexp(magnitude, -SLACK_BITS), 0.0


def narrow_limits(quantum: float, magnitude: float, single: bool) -> tuple[float, float]:
    """How far values may spread for float32 to hold their windows, see `geodim.engine.kernels.tiles`.

    Multiples of a quantum that is neither tiny nor huge may spread by 2^24 of it; values that are float32
    themselves by as much as the smallest of them, which must not be so small that float64 rounds its
    difference from the largest.
    """
    unit = quantum * 2.0**24 if SMALLEST_QUANTUM <= quantum <= LARGEST_QUANTUM else 0.0
    return unit, magnitude * 2.0**-28 if single else math.inf
