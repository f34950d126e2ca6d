"""docs/numerics.md: what it says of floats is tried here; tests/engine/test_rounding.py checks its proofs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from geodim.engine import hard, nested, stepped, tolerant
from geodim.engine.column import HUGE, LARGEST, MOST_LOOKS, NEARLY, SMALLER
from geodim.engine.kernels import even_parts
from geodim.engine.kernels.counters import TEST_LOOKS
from geodim.engine.kernels.pyramid import BASE, BLOCK
from geodim.engine.lattices import lattice
from geodim.engine.recursion import GAPS_TRIED
from geodim.engine.rounding import SLACK_BITS
from geodim.engine.steps import CLOSEST
from geodim.engine.ways import MANY_COLUMNS
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
    page.says("and 2^-{} of its mean width", hard.CERTAIN_BITS)
    page.allows("the error of the dimension is below 10^-12", "checked below")
    assert 4.0 * 2.0**-hard.CERTAIN_BITS < 1e-12  # half of that either way, and the square of it
    page.says("looks at more than {} windows per length", f"{hard.DEAR:,}")
    assert hard.NEAR_BITS == 46
    within_a_tolerance(page)
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


def within_a_tolerance(page: Page) -> None:
    page.says("This concerns columns of at least {} points", f"{hard.HARD_FROM:,}")
    page.says("with a GPU (from {} points on", f"{hard.COARSE_FROM:,}")
    page.says("or of at least {} points of which a sixteenth does", f"{hard.COARSE_FROM:,}")
    assert hard.EVEN_PARTS == even_parts.PARTS == 16  # "a sixteenth"
    assert even_parts.WHOLE_SPREAD == 0.5  # "half the root"
    page.says("at {} edges of cells; or whose counts change smoothly at {} of {} places", even_parts.EDGES,
              even_parts.SMOOTH_PLACES, even_parts.PLACES)  # fmt: skip
    page.says("third differences of the counts of {} cells", even_parts.IN_PLACE)
    assert even_parts.SMOOTH == 0.25  # "a quarter"
    page.says("From {} columns on, columns are dropped unsorted", MANY_COLUMNS)
    page.says("at lengths below {}, which are solved exactly", BASE)
    page.says("more than {} windows per length, and at more than 2^{} / n", f"{stepped.MANY:,}",
              stepped.ENOUGH.bit_length() - 1)  # fmt: skip
    assert GAPS_TRIED == 4  # "four gaps"
    page.says("of the range, b < {},", tolerant.FINEST_BITS)
    page.says("a test of a block counting as the {} windows", TEST_LOOKS)
    assert nested.GAPS_TRIED == 3  # "three of the recursion's gaps"
    page.says("Its slack s is 2^-{} of the largest value", SLACK_BITS)
    page.says("above V − (T − {}s)", int(nested.SLACKS))
    page.says("T is at least {}s", int(2 * nested.SLACKS))
    assert NEARLY == 0.75  # "three quarters"
    page.says("of the {} looks per length that make it give up", f"{MOST_LOOKS:,}")
    page.says(
        "or of whose {} next neighbours at {} of {} places", hard.NEARBY, hard.EVEN_WINDOWS, hard.WINDOWS_SEEN
    )
    page.says("with which no more than {} windows per length, or 2^{} in all", f"{stepped.MANY // 2:,}",
              stepped.ENOUGH.bit_length() - 2)  # fmt: skip
    page.says("every {}th or every {}th value counts", *hard.APART[1:])
    page.allows("Why not 10^-12 here?", "the bound of the paragraph before")
    page.says("the root of {} n, or of 2^{}, so that", f"{stepped.MANY:,}", stepped.ENOUGH.bit_length() - 1)
    page.says("so that this takes {} windows per length, or 2^{} in all", f"{stepped.MANY // 2:,}",
              stepped.ENOUGH.bit_length() - 2)  # fmt: skip
    page.says("about {} steps for 10^6 points", f"{round(stepped.steps_of(10**6), -3):,}")
    page.says("h is a float of {} bits", stepped.STEP_BITS + 1)
    page.says("so w h + {} ulp is at least phi_k", int(stepped.ROUNDINGS))
    page.says("`loose` = 2h + {} ulp", int(2 * stepped.ROUNDINGS))
    page.says("Lengths below {} are solved exactly", BLOCK)
    of_range, of_largest = hard.largest_margins(10**6)
    page.says(
        "factors of 1 + 2^{} and 1 + 2^{} cover",
        round(np.log2(0.5 * of_range * stepped.steps_of(10**6) - 1.0)),
        round(np.log2(of_largest * 2.0**hard.NEAR_BITS - 1.0)),
    )
    found = {row["input"]: row for row in benchmark("slow-inputs")["now"]["rows"] if row["n"] == 10**6}
    for name, words in (
        ("angles in float32", "`error` is about {} for lines"),
        ("two clocks", "and {} for two clocks"),
    ):
        page.says(words, power(10.0 ** round(np.log10(found[name]["error"]))))
    page.allows("at 10^6 points each", "a number of points")
