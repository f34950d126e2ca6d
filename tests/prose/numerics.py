"""docs/numerics.md: what it says of floats is tried here; tests/engine/test_rounding.py checks its proofs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from geodim.engine import hard
from geodim.engine.column import HUGE, LARGEST, SMALLER
from geodim.engine.lattices import lattice
from geodim.engine.steps import CLOSEST
from geodim.features.operators import LARGEST_DEGREE, LEAST_DEGREE
from prose.sources import benchmark, constant

if TYPE_CHECKING:
    from prose.pages import Page


def check(page: Page) -> None:
    differences()
    lattices()
    page.allows("1 − (−2^-60) is 1.0", "tried in this module")
    page.says("A tolerance below 10^{} is finer", f"{np.log10(CLOSEST):.0f}")
    page.allows("A tolerance below 10^", "a power of ten")
    proof = "constants of a proof that tests/engine/test_rounding.py checks"
    for piece in (
        "With δ_L = 12 (L + 1) u M",
        "(36 (L + 1) + 83) uM",
        "at most 42 levels: less than 1,600 uM",
        "below twice 12 · 42 + 50 roundings",
    ):
        page.allows(piece, proof)
    assert 36 * 42 + 83 < 1_600 < 2**11
    page.allows("two halves of 26 bits", "how a float is cut")
    for piece in ("less than 4u (|r|", "8u (|r| + 2^-25 (W + sB))", "8u times the sum"):
        page.allows(piece, "constants of a proof that tests/engine/test_alike.py checks")
    assert (HUGE, SMALLER, LARGEST) == (2.0**900, -128, 2.0**1000)
    page.says("A column of at least {} points that stays", f"{hard.HARD_FROM:,}")
    page.says("looks at more than {} windows per length", f"{hard.DEAR:,}")
    assert hard.NEAR_BITS == 46
    page.allows("`error` is about 10^-14 if", "tests/engine/test_hard.py bounds it")
    page.allows("integers of up to 32 bits", "a type")
    page.allows("**Integers of 64 bits**", "a type")
    page.allows("**-0.0** equals 0.0 everywhere", "a value")
    page.allows("even if it rounds to 0.0", "a value")
    cora = benchmark("reading")["cora"]
    page.says(
        "For Cora, k = 5: {} in float32, {} in float64.",
        power(cora["error after five hops, float32"]),
        power(cora["error after five hops, float64"]),
    )
    page.allows("against 60 decimal digits", "tests/exact_hops.py")
    page.says("Weighted degrees outside of {} .. {} are refused", power(LEAST_DEGREE), power(LARGEST_DEGREE))
    page.says(
        "rows have at most {} neighbours", f"{constant('src/geodim/backends/cuda/operators.py', 'SPLIT'):,}"
    )


def power(value: float) -> str:
    digit, exponent = f"{value:.0e}".split("e")
    return ("" if digit == "1" else f"{digit}·") + f"10^{int(exponent)}"


def differences() -> None:
    """Section 1: which differences round."""
    assert np.float64(np.float32(1.0)) - np.float64(np.float32(-(2.0**-60))) == 1.0
    assert 2.0**53 - (-1.0) == 2.0**53
    assert 2.0**51 + 0.5 != 2.0**51
    assert (2.0**51 + 0.5) - 0.25 == 2.0**51
    high, low = np.float32(2**29 - 32), np.float32(np.nextafter(np.float32(1), np.float32(2)))
    assert int(high) * 2**23 - int(low * 2**23) == int((np.float64(high) - np.float64(low)) * 2**23)


def lattices() -> None:
    """Section 4: which columns have a grain."""

    def has_grain(*values: float) -> bool:
        l = np.sort(np.array(values))
        return lattice(l, len(l), float(np.abs(l).max()))[0] > 0.0

    assert has_grain(1.0, 2.0**48 - 1.0)
    assert not has_grain(1.0, 2.0**48 + 1.0)
    smallest = float(np.nextafter(np.float32(1.0), np.float32(2.0)))
    assert has_grain(smallest, smallest * 2.0**24)
    assert not has_grain(smallest, smallest * 2.0**25)
