"""Windows in float32: those that the engine takes for exact are, and the widths are those of float64."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest

from distributions import COLUMNS, column
from engine.oracle import padded, phi
from geodim.data.sources import as_source
from geodim.engine.kernels import tiles
from geodim.engine.kernels.gaps import quantise
from geodim.engine.kernels.lanes import ROW
from geodim.engine.kernels.pyramid import BLOCK
from geodim.engine.lattices import lattice, narrow_limits
from geodim.engine.solve import compute_profile

N = 3000

# Sorted float32 columns, many of them where float32 has finer or coarser steps within a block or between two.
SINGLE = {
    "normal": lambda rng: rng.standard_normal(N),
    "around a power of two": lambda rng: 1.0 + rng.uniform(-1e-3, 1e-3, N),
    "around zero": lambda rng: rng.standard_normal(N) ** 3,
    "tiny and large": lambda rng: np.where(rng.random(N) < 0.5, 1e-9, 1.0) * rng.uniform(1.0, 2.0, N),
    "denormals": lambda rng: rng.integers(-3000, 3000, N) * 2.0**-149,
    "ties": lambda rng: np.round(rng.standard_normal(N), 1),
    "far from zero": lambda rng: 1e6 + rng.standard_normal(N),
    "two scales": lambda rng: np.concatenate(
        [rng.normal(0.0, 1e-6, N // 2), rng.normal(1e3, 1.0, N - N // 2)]
    ),
    "log-normal": lambda rng: np.exp(5.0 * rng.standard_normal(N)),
    "binades": lambda rng: 2.0 ** rng.uniform(-30.0, 30.0, N),
}


def single_column(name: str, seed: int) -> np.ndarray:
    values = SINGLE[name](np.random.default_rng([seed, *map(ord, name)]))
    return padded(np.sort(values.astype(np.float32)).astype(np.float64))


def limits(l: np.ndarray, n: int, *, single: bool) -> tuple[float, float]:
    magnitude = max(abs(l[0]), abs(l[n - 1]))
    return narrow_limits(lattice(l, n, magnitude)[2], magnitude, single)


def is_single(value: Fraction) -> bool:
    return Fraction(float(np.float32(float(value)))) == value == Fraction(float(value))


@pytest.mark.parametrize("name", SINGLE)
def test_differences_of_a_narrow_block_are_float32(name, rng):
    """The claim itself, in fractions: offsets, their differences, and the sum with the first width."""
    l = single_column(name, 1)
    unit, least = limits(l, N, single=True)
    narrow = [
        (first, d0)
        for d0 in range(BLOCK, N, BLOCK)
        for first in range(0, N - d0, BLOCK)
        if tiles.is_narrow(
            l, first, first + BLOCK - 1, first + d0, min(first + d0 + 2 * BLOCK, l.size) - 1, unit, least
        )
    ]
    assert bool(narrow) == (name != "binades")  # whose blocks all spread by more than their least value
    rng.shuffle(narrow)
    for first, d0 in narrow[:40]:
        last, ends, beyond = first + BLOCK - 1, first + d0, first + d0 + 2 * BLOCK - 1
        assert beyond < N
        lefts = [Fraction(x) - Fraction(l[first]) for x in l[first : last + 1]]
        rights = [Fraction(x) - Fraction(l[ends]) for x in l[ends : beyond + 1]]
        assert all(map(is_single, lefts))
        assert all(map(is_single, rights))
        base = Fraction(l[ends]) - Fraction(l[first])
        assert Fraction(float(base)) == base
        for t, e in rng.integers(0, BLOCK, (40, 2)).tolist():
            difference = rights[t + e] - lefts[t]
            assert is_single(difference)
            assert Fraction(float(base + difference)) == base + difference


@pytest.mark.parametrize("single", [True, False])
@pytest.mark.parametrize("name", SINGLE)
def test_widths_are_those_of_float64(name, single, rng):
    """Bit for bit, whether or not float32 was used."""
    l = single_column(name, 2)
    unit, least = limits(l, N, single=single)
    near = np.empty(3 * BLOCK + ROW, np.float32)
    for _ in range(40):
        d0 = int(rng.integers(1, N // BLOCK)) * BLOCK
        first = int(rng.integers(0, max((N - d0) // BLOCK, 1))) * BLOCK
        best = np.full(BLOCK, np.inf)
        stop = min(first + BLOCK, N)
        parts = int(rng.integers(1, 1 << 2 * tiles.PARTS))
        looked = tiles.evaluate_starts(l, first, stop, np.int64(d0), parts, unit, least, near, best)
        windows = 0
        for e in range(BLOCK):
            bits = parts >> e // ROW * tiles.PARTS
            starts = np.array([i for i in range(first, stop) if bits >> (i - first) // tiles.PART & 1], int)
            assert best[e] == (l[starts + d0 + e] - l[starts]).min(initial=np.inf)
            windows += starts.size
        assert looked == windows


@pytest.mark.parametrize("name", [*SINGLE, "whole numbers"])
def test_parts_are_passed_over_only_if_all_of_their_windows_are_wide(name, rng):
    """Each window that is left out exceeds V + c e, in fractions, and on a lattice it is at least as wide."""
    l = single_column(name, 4) if name in SINGLE else padded(rng.integers(0, 10**6, N))
    grain, slack, quantum = lattice(l, N, max(abs(l[0]), abs(l[N - 1])))
    bar = quantum if quantum > 0.0 else -slack
    left_out = 0
    for _ in range(40):
        d0 = int(rng.integers(1, N // BLOCK - 1)) * BLOCK
        first = int(rng.integers(0, (N - d0) // BLOCK)) * BLOCK
        chord = (l[min(first + d0 + 2 * BLOCK, N - 1)] - l[first + d0]) / (2 * BLOCK)
        c = quantise(float(rng.uniform(0.5, 1.5)) * chord, grain, np.inf)
        starts = np.arange(first, first + BLOCK)
        v, other = rng.choice(l[starts + d0] - l[starts], 2).tolist()
        found = tiles.promising_parts(l, first, np.int64(d0), c, v, other, bar)
        for part, half in itertools.product(range(tiles.PARTS), range(2)):
            if found >> (part + half * tiles.PARTS) & 1:
                continue
            left_out += 1
            some = range(part * tiles.PART, (part + 1) * tiles.PART)
            for t, e in itertools.product(some, range(half * ROW, (half + 1) * ROW, 7)):
                if first + t + d0 + e < N:
                    width = Fraction(l[first + t + d0 + e]) - Fraction(l[first + t])
                    bound = Fraction(other if half else v)
                    assert width > bound + Fraction(c) * e - Fraction(quantum)
    assert left_out > 0


@pytest.mark.parametrize("name", SINGLE)
def test_columns_of_float32_have_the_oracle_s_bits(name):
    l = single_column(name, 3)
    values = np.random.default_rng(0).permutation(l[:N]).astype(np.float32)[:, np.newaxis]
    found = compute_profile(as_source(values), n_threads=1).phi
    assert found.tolist() == phi(l, N).tolist()


@pytest.mark.turns(4)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", sorted(COLUMNS))
def test_every_kind_of_column_has_the_oracle_s_bits_if_it_is_long_enough_for_blocks(name, dtype):
    n = 1500
    with np.errstate(over="ignore"):
        values = column(name, n).astype(dtype)
    if not np.isfinite(values).all() or not np.isfinite(np.ptp(values.astype(np.float64))):
        pytest.skip("not finite in that type")
    found = compute_profile(as_source(values[:, np.newaxis]), n_threads=1).phi
    l = padded(np.sort(values.astype(np.float64)))
    assert found.tolist() == phi(l, n).tolist()


def test_whole_numbers_are_narrow_whatever_their_type():
    """Multiples of a quantum need no more than 24 bits where they lie close together."""
    l = padded(np.sort(np.random.default_rng(0).integers(-(10**9), 10**9, N)).astype(np.float64))
    unit, least = limits(l, N, single=False)
    assert (unit, least) == (2.0**24, np.inf)
    dense = padded(np.sort(np.random.default_rng(0).integers(0, 10**6, N)).astype(np.float64))
    unit, least = limits(dense, N, single=False)
    assert tiles.is_narrow(dense, 64, 127, 640, 767, unit, least)
    assert not tiles.is_narrow(l, 64, 127, 640, 767, 2.0**24, least)


def test_the_end_of_a_column_is_not_narrow():
    """Behind it lies infinity."""
    l = padded(np.arange(200.0))
    assert not tiles.is_narrow(l, 0, 63, 128, 255, 2.0**24, 0.0)
