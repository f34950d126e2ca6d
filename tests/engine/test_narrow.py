"""Windows in float32: those that the engine takes for exact are, and the widths are those of float64."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from distributions import COLUMNS, column
from engine.oracle import padded, phi
from geodim.data.sources import as_source
from geodim.engine.kernels import smallest, tiles
from geodim.engine.kernels.gaps import quantise
from geodim.engine.kernels.pyramid import BASE, BLOCK
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
def test_differences_of_narrow_blocks_are_float32(name, rng):
    """The claim itself, in fractions: offsets, their differences, and the sum with the first width."""
    l = single_column(name, 1)
    unit, least = limits(l, N, single=True)
    narrow = [
        (first, d0)
        for d0 in range(0, N, BLOCK)
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


@pytest.mark.parametrize("known", ["nothing", "about the same", "more"])
@pytest.mark.parametrize("single", [True, False])
@pytest.mark.parametrize("name", SINGLE)
def test_smallest_windows_are_those_of_float64(name, single, known, rng):
    """Bit for bit, whether or not float32 was used, wherever they reach what is known."""
    l = single_column(name, 2)
    unit, least = limits(l, N, single=single)
    true = phi(l, N)
    bar = {"nothing": 0.0, "about the same": rng.uniform(0.8, 1.2, N), "more": 2.0}[known]
    bar = np.where(true > 0.0, true * bar, bar > 1.0)
    for d_first, d_stop in ((1, BLOCK), (BASE, BLOCK), (1, BASE), (1, 2), (5, 23)):
        found, ranges = np.full(N, -1.0), np.zeros((BLOCK, 2), np.int64)
        count, examined = smallest.solve_smallest(
            l, N, np.int64(d_first), np.int64(d_stop), unit, least, bar, found, ranges, np.int64(0)
        )
        solved = np.concatenate([np.arange(*one) for one in ranges[:count]] or [np.empty(0, int)])
        assert solved.tolist() == [d for d in range(d_first, d_stop) if true[d] >= bar[d]]
        assert found[solved].tolist() == true[solved].tolist()
        assert examined <= N


@pytest.mark.parametrize("single", [True, False])
@pytest.mark.parametrize("name", SINGLE)
def test_starts_whose_bits_are_set_are_evaluated(name, single, rng):
    """Bit for bit, whether or not float32 was used."""
    l = single_column(name, 2)
    unit, least = limits(l, N, single=single)
    near = np.empty(4 * BLOCK, np.float32)
    for _ in range(40):
        d0 = int(rng.integers(1, N // BLOCK)) * BLOCK
        first = int(rng.integers(0, max((N - d0) // BLOCK, 1))) * BLOCK
        best = np.full(BLOCK, np.inf)
        chosen = np.flatnonzero(rng.random(BLOCK) < rng.random())
        starts = first + chosen[first + chosen < N]
        bits = np.bitwise_or.reduce(np.uint64(1) << (starts - first).astype(np.uint64)).astype(np.int64)
        looked = tiles.evaluate_starts(l, first, np.int64(d0), bits, unit, least, near, best)
        assert looked == starts.size * BLOCK
        for e in range(BLOCK):
            assert best[e] == (l[starts + d0 + e] - l[starts]).min(initial=np.inf)


@pytest.mark.parametrize("name", [*SINGLE, "whole numbers"])
def test_starts_are_passed_over_only_if_all_of_their_windows_are_wide(name, rng):
    """Each window that is left out exceeds V + c e, in fractions, and on a lattice it is at least as wide.

    Right ends beyond the column, and parts of the sizes for which nothing is known yet, are among them.
    """
    l = single_column(name, 4) if name in SINGLE else padded(rng.integers(0, 10**6, N))
    grain, slack, quantum = lattice(l, N, max(abs(l[0]), abs(l[N - 1])))
    bar = quantum if quantum > 0.0 else -slack
    left_out = 0
    for turn in range(60):
        d0 = int(rng.integers(1, N // BLOCK - 1)) * BLOCK
        last = (N - d0) // BLOCK - 1
        first = (last if turn % 3 == 0 else int(rng.integers(0, last + 1))) * BLOCK
        chord = (l[min(first + d0 + 2 * BLOCK, N - 1)] - l[first + d0]) / (2 * BLOCK)
        c = quantise(float(rng.uniform(0.5, 1.5)) * chord, grain, np.inf)
        starts = np.arange(first, first + BLOCK)
        v = rng.choice(l[starts + d0] - l[starts], tiles.PARTS)
        v[rng.random(tiles.PARTS) < 0.1] = tiles.LARGEST
        line, bounds = (
            c * np.arange(2.0 * BLOCK),
            np.append(v - bar, np.full(tiles.BOUNDS - tiles.PARTS, np.nan)),
        )
        found = int(tiles.promising_starts(l, first, np.int64(d0), line, bounds))
        for t in range(BLOCK):
            if found >> t & 1:
                continue
            left_out += 1
            for e in range(t % 7, BLOCK, 7):
                if first + t + d0 + e < N:
                    width = Fraction(l[first + t + d0 + e]) - Fraction(l[first + t])
                    assert width > Fraction(v[e // tiles.PART]) + Fraction(c) * e - Fraction(quantum)
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
