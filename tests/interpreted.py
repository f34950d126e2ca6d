"""Kernels as plain Python, for measuring coverage and for mutants.

With NUMBA_DISABLE_JIT=1 nothing is compiled.  What Numba cannot interpret, vectors of several lanes, is
replaced by numpy arrays: the same IEEE operations.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Lanes = NDArray[np.floating]

LANES = 8
ROW = 32


def load(array: NDArray[Any], offset: int) -> Lanes:
    """Eight neighbouring elements as float64."""
    return _part(array, offset, LANES).astype(np.float64)


def load_row(array: NDArray[Any], offset: int) -> Lanes:
    """A row of neighbouring elements."""
    return _part(array, offset, ROW).copy()


def element(array: NDArray[Any], offset: int) -> np.generic:
    """One element."""
    found: np.generic = _part(array, offset, 1)[0]
    return found


def put(array: NDArray[Any], offset: int, value: float) -> None:
    """Write one element."""
    _part(array, offset, 1)[0] = value


def store(array: NDArray[Any], offset: int, lanes: Lanes) -> None:
    """All lanes, rounded to the type of the array."""
    with np.errstate(over="ignore"):
        _part(array, offset, lanes.size)[:] = lanes


def _part(array: NDArray[Any], offset: int, count: int) -> NDArray[Any]:
    """So many elements from an offset on, which must be there."""
    assert 0 <= offset <= array.size - count
    return array.reshape(-1)[offset : offset + count]


def splat(value: float) -> Lanes:
    """One number in every lane."""
    return np.full(LANES, value, np.float64)


def splat_row(value: np.floating) -> Lanes:
    """One number in every lane of a row of its type."""
    return np.full(ROW, value, np.asarray(value).dtype)


def running(a: Lanes) -> Lanes:
    """Every lane, and all those before it."""
    return np.cumsum(a)


def last(a: Lanes) -> Lanes:
    """The last lane in every lane."""
    return splat(a[-1])


def steps() -> Lanes:
    """The numbers of the lanes."""
    return np.arange(float(LANES))


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
    """The larger of two numbers, in every lane; the second if they cannot be compared."""
    return np.where(a > b, a, b)


def smaller(a: Lanes, b: Lanes) -> Lanes:
    """The smaller of two numbers, in every lane; the second if they cannot be compared."""
    return np.where(a < b, a, b)


def any_less(a: Lanes, b: Lanes) -> bool:
    """Whether a < b in any lane."""
    return bool((a < b).any())


def reaching(a: Lanes, b: Lanes) -> int:
    """In which lanes a >= b, as bits, that of the first lane last."""
    return int(sum(1 << lane for lane in np.flatnonzero(a >= b).tolist()))


def ones(bits: int) -> int:
    """How many bits are set."""
    return int(bits).bit_count()


def trailing_zeros(bits: int) -> int:
    """The place of the lowest bit that is set."""
    assert bits != 0
    return (int(bits) & -int(bits)).bit_length() - 1


def chosen(a: Lanes, b: Lanes, x: Lanes, y: Lanes) -> Lanes:
    """The one where a < b, the other elsewhere."""
    return np.where(a < b, x, y)


def greatest(a: Lanes) -> np.floating:
    """The largest lane."""
    found: np.floating = a.max()
    return found


def least(a: Lanes) -> np.floating:
    """The smallest lane."""
    found: np.floating = a.min()
    return found


def magnitude(a: Lanes) -> Lanes:
    """The absolute value, in every lane."""
    return np.abs(a)


def prefetch(array: NDArray[Any], offset: int) -> None:
    """Nothing to wait for; but what is asked for must be there."""
    assert 0 <= offset < array.size


def transpose(
    array: NDArray[Any], offset: int, below: int, out: NDArray[Any], targets: NDArray[np.intp], first: int,
    shift: int,
) -> None:  # fmt: skip
    """Eight rows of eight neighbours become columns."""
    for row in range(LANES):
        for column, value in enumerate(_part(array, offset + row * below, LANES)):
            if targets[first + column] >= 0:
                put(out, int(targets[first + column]) + shift + row, value)


def replace_vectors() -> None:
    """Let kernels that are imported from now on use these."""
    from geodim.engine.kernels import lanes

    assert set(lanes.__all__) <= set(globals()), "a vector operation without a plain one"
    assert (lanes.LANES, lanes.ROW) == (LANES, ROW)
    for name in set(lanes.__all__):
        setattr(lanes, name, globals()[name])
