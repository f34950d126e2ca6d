"""Kernels as plain Python, for measuring coverage and for mutants.

With NUMBA_DISABLE_JIT=1 nothing is compiled.  What Numba cannot interpret, the vectors of eight lanes, is
replaced by numpy arrays of eight: the same IEEE operations.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Lanes = NDArray[np.float64]

WIDE = 8


def load(array: NDArray[Any], offset: int) -> Lanes:
    """Eight neighbouring elements as float64."""
    return array[offset : offset + WIDE].astype(np.float64)


def store(array: NDArray[Any], offset: int, lanes: Lanes) -> None:
    """Eight lanes, rounded to the type of the array."""
    with np.errstate(over="ignore"):
        array[offset : offset + WIDE] = lanes


def splat(value: float) -> Lanes:
    """One number in every lane."""
    return np.full(WIDE, value, np.float64)


def fma(a: Lanes, b: Lanes, c: Lanes) -> Lanes:
    """a * b + c, rounded once; by plain arithmetic where it is not finite.

    Of arrays of any shape, the same for all.
    """
    found = a * b + c
    for at in zip(*np.nonzero(np.isfinite(found)), strict=True):
        exact = Fraction(a[at]) * Fraction(b[at]) + Fraction(c[at])
        found[at] = exact.numerator / exact.denominator
    return found


def larger(a: Lanes, b: Lanes) -> Lanes:
    """The larger of two numbers, in every lane."""
    return np.maximum(a, b)


def magnitude(a: Lanes) -> Lanes:
    """The absolute value, in every lane."""
    return np.abs(a)


def prefetch(array: NDArray[Any], offset: int) -> None:
    """Nothing to wait for; but what is asked for must be there."""
    assert 0 <= offset < array.size


def replace_vectors() -> None:
    """Let kernels that are imported from now on use these."""
    from geodim.features import _simd

    assert set(_simd.__all__) - {"LANES"} <= set(globals()), "a vector operation without a plain one"
    assert _simd.LANES == WIDE
    for name in set(_simd.__all__) - {"LANES"}:
        setattr(_simd, name, globals()[name])
