r"""Support sequences (Definition in Section 4.1) and the log-scale choice of them (Section 5.1)."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from geodim.arguments import whole_number
from geodim.errors import InputTypeError, InputValueError
from geodim.paper._checks import exact_multiple

if TYPE_CHECKING:
    from collections.abc import Iterable
    from fractions import Fraction

    from geodim.paper._checks import FloatArray

__all__ = ["check_support", "log_scale_support"]


def check_support(support: Iterable[int], n: int) -> tuple[int, ...]:
    r"""Return a support sequence as a tuple, or say what is wrong with it.

    A support sequence is strictly increasing, :math:`2 = s_1 < s_2 < \dots < s_l = |X|`. For two points it is
    (2,).

    Parameters
    ----------
    support : iterable of int
        The sequence.
    n : int
        The number of points, at least 2.

    Returns
    -------
    tuple of int
        The sequence.

    Examples
    --------
    >>> from geodim.paper import check_support
    >>> check_support([2, 5, 10], 10)
    (2, 5, 10)
    >>> check_support([2, 5], 10)
    Traceback (most recent call last):
    ...
    geodim.errors.InputValueError: support ends with 5; it must end with the number of points, 10
    """
    n = whole_number(n, "n", 2)
    s = support_elements(support)
    for i, (left, right) in enumerate(pairwise(s)):
        if left >= right:
            raise InputValueError(
                f"support[{i + 1}] = {right} does not exceed support[{i}] = {left}; sort it uniquely"
            )
    if s[0] != 2:
        raise InputValueError(f"support starts with {s[0]}; it must start with 2")
    if s[-1] != n:
        raise InputValueError(f"support ends with {s[-1]}; it must end with the number of points, {n}")
    return s


def support_elements(support: Iterable[int]) -> tuple[int, ...]:
    """Return the elements as integers, before their order is checked."""
    try:
        elements = list(support)
    except TypeError as error:
        raise InputTypeError(f"support needs a sequence of integers, not {support!r}") from error
    if not elements:
        raise InputValueError("support is empty; it needs at least 2 and the number of points")
    return tuple(whole_number(element, f"support[{i}]", 2) for i, element in enumerate(elements))


def log_scale_support(
    n: int, *, length: int | None = None, relative_size: float | Fraction | None = None
) -> tuple[int, ...]:
    r"""Return the paper's log-scale support sequence.

    Take the geometric sequence :math:`\hat{s}` of length l from :math:`|X|` to 2, mirror it,
    :math:`s' = (\lfloor |X| + 2 - \hat{s}_1 \rfloor, \dots, \lfloor |X| + 2 - \hat{s}_l \rfloor)`, and drop
    duplicates. The elements grow denser towards :math:`|X|`.

    Elements of the geometric sequence that are integers are taken as such, so that rounding cannot move them
    across the floor. For l = 1 the construction yields (2) only; :math:`|X|` is added, as every support
    sequence needs it.

    Parameters
    ----------
    n : int
        The number of points, at least 2.
    length : int
        The length l of the geometric sequence, at least 1; the result may be shorter.
    relative_size : float or fractions.Fraction
        Instead of ``length``: the relative support size r, with :math:`l = \lfloor r |X| \rfloor \geq 1`. A
        float is taken as j/n if it is the float64 nearest to it, as for alpha in
        :func:`geodim.paper.c_alpha`.

    Returns
    -------
    tuple of int
        The support sequence.

    Examples
    --------
    The geometric sequence is 16, 8, 4, 2:

    >>> from geodim.paper import log_scale_support
    >>> log_scale_support(16, length=4)
    (2, 10, 14, 16)
    >>> log_scale_support(16, relative_size=0.25)
    (2, 10, 14, 16)
    """
    n = whole_number(n, "n", 2)
    if (length is None) == (relative_size is None):
        raise InputValueError("give either length or relative_size, and not both")
    if relative_size is not None:
        length = math.floor(exact_multiple(n, relative_size, "relative_size"))
        if length < 1:
            raise InputValueError(
                f"relative_size = {relative_size} of {n} points gives the length {length}; "
                f"it must be at least 1/{n}, or give length instead"
            )
    length = whole_number(length, "length", 1)
    if n == 2:
        return (2,)
    mirrored = n + 2 - np.ceil(_geometric_sequence(n, length))  # = floor(n + 2 - s), without rounding
    return tuple(sorted({2, n, *(int(s) for s in mirrored)}))


def _geometric_sequence(n: int, length: int) -> FloatArray:
    """Return the geometric sequence from n to 2, its integer elements exact.

    With L = length - 1 the element i is s = n^((L-i)/L) * 2^(i/L). Write the exponent (L-i)/L in lowest terms
    as a/p. An integer m equals s if and only if m^p = n^a * 2^(p-a), which for p > 1 needs n/2 to be a p-th
    power: hence 2^p < n, and only the few i with a small p need the test in integers.
    """
    sequence = np.clip(np.geomspace(n, 2, length), 2, n)
    steps = length - 1
    for i in range(length):
        divisor = math.gcd(i, steps) or 1
        a, p = (steps - i) // divisor, steps // divisor
        if p < n.bit_length():
            m = round(float(sequence[i]))
            if m**p == n**a * 2 ** (p - a):
                sequence[i] = m
    return sequence
