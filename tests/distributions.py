"""Columns of every kind that pruning, sorting or rounding treats differently.

Each is a function (rng, n) -> n values. Used by every test that compares the engine with the oracle. Values
are finite and every range fits into a float64.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Generator = np.random.Generator
    Column = Callable[[Generator, int], NDArray[Any]]


def normal(rng: Generator, n: int) -> NDArray[Any]:
    return rng.normal(size=n)


def normal_32(rng: Generator, n: int) -> NDArray[Any]:
    return rng.normal(size=n).astype(np.float32)


def uniform(rng: Generator, n: int) -> NDArray[Any]:
    return rng.random(n)


def exponential(rng: Generator, n: int) -> NDArray[Any]:
    return rng.exponential(size=n)


def log_normal(rng: Generator, n: int) -> NDArray[Any]:
    return rng.lognormal(sigma=3.0, size=n)


def cauchy(rng: Generator, n: int) -> NDArray[Any]:
    return rng.standard_cauchy(n)


def arcsine(rng: Generator, n: int) -> NDArray[Any]:
    return np.sin(rng.uniform(-np.pi / 2, np.pi / 2, n))


def mixture(rng: Generator, n: int) -> NDArray[Any]:
    return np.where(rng.random(n) < 0.7, rng.normal(-3.0, 0.1, n), rng.normal(4.0, 2.0, n))


def two_clusters(rng: Generator, n: int) -> NDArray[Any]:
    return np.where(rng.random(n) < 0.5, 0.0, 1e6) + rng.normal(size=n)


def two_very_far_clusters(rng: Generator, n: int) -> NDArray[Any]:
    return np.where(rng.random(n) < 0.5, -1e15, 1e15) + rng.normal(size=n)


def few_integers(rng: Generator, n: int) -> NDArray[Any]:
    return rng.integers(0, 5, n)


def hundred_integers(rng: Generator, n: int) -> NDArray[Any]:
    return rng.integers(-50, 50, n)


def many_integers(rng: Generator, n: int) -> NDArray[Any]:
    return rng.integers(-(10**12), 10**12, n)


def integers_below_n(rng: Generator, n: int) -> NDArray[Any]:
    return rng.integers(0, n, n)


def rounded(rng: Generator, n: int) -> NDArray[Any]:
    return np.round(rng.normal(size=n), 3)


def sparse_zero_one(rng: Generator, n: int) -> NDArray[Any]:
    return rng.random(n) < 0.02


def zero_one(rng: Generator, n: int) -> NDArray[Any]:
    return (rng.random(n) < 0.4).astype(np.int8)


def sparse_positive(rng: Generator, n: int) -> NDArray[Any]:
    return np.where(rng.random(n) < 0.1, rng.exponential(size=n), 0.0)


def sparse_both_signs(rng: Generator, n: int) -> NDArray[Any]:
    return np.where(rng.random(n) < 0.2, rng.normal(size=n), 0.0)


def half_zero(rng: Generator, n: int) -> NDArray[Any]:
    """The run of zeros is just short of, or just past, a majority."""
    return np.where(rng.permutation(n) < n // 2 + rng.integers(-1, 2), 0.0, rng.normal(size=n))


def constant(rng: Generator, n: int) -> NDArray[Any]:
    return np.full(n, 7.25)


def constant_but_one(rng: Generator, n: int) -> NDArray[Any]:
    values = np.full(n, -1.5)
    values[rng.integers(n)] = 11.0
    return values


def constant_but_a_few(rng: Generator, n: int) -> NDArray[Any]:
    values = np.full(n, 0.3)
    at = rng.integers(0, n, min(n, 5))
    values[at] = rng.normal(size=at.size)
    return values


def grid(rng: Generator, n: int) -> NDArray[Any]:
    return rng.permutation(n)


def shifted_grid(rng: Generator, n: int) -> NDArray[Any]:
    return rng.permutation(n) * 0.25 - 1000.0


def grid_jitter_hundredth(rng: Generator, n: int) -> NDArray[Any]:
    return np.arange(n) + rng.normal(0.0, 0.01, n)


def grid_jitter_third(rng: Generator, n: int) -> NDArray[Any]:
    return np.arange(n) + rng.normal(0.0, 0.3, n)


def grid_jitter_three(rng: Generator, n: int) -> NDArray[Any]:
    return np.arange(n) + rng.normal(0.0, 3.0, n)


def grid_jitter_uniform(rng: Generator, n: int) -> NDArray[Any]:
    return np.arange(n) + rng.random(n)


def grid_jitter_32(rng: Generator, n: int) -> NDArray[Any]:
    return (np.arange(n) + rng.normal(0.0, 0.3, n)).astype(np.float32)


def grid_with_gap(rng: Generator, n: int) -> NDArray[Any]:
    values = np.arange(n, dtype=np.float64)
    values[n // 2 :] += 0.5 * n
    return values


def grid_with_outlier(rng: Generator, n: int) -> NDArray[Any]:
    values = np.arange(n, dtype=np.float64)
    values[-1] = 1e9
    return values


def tenths_32(rng: Generator, n: int) -> NDArray[Any]:
    return np.float32(0.1) * np.arange(n, dtype=np.float32)


def tenths_64(rng: Generator, n: int) -> NDArray[Any]:
    return 0.1 * np.arange(n)


def linspace(rng: Generator, n: int) -> NDArray[Any]:
    return np.linspace(-1.0, 2.0, n)


def linspace_32(rng: Generator, n: int) -> NDArray[Any]:
    return np.linspace(0.0, 1.0, n, dtype=np.float32)


def normal_quantiles(rng: Generator, n: int) -> NDArray[Any]:
    from scipy.special import ndtri

    return ndtri((np.arange(n) + 0.5) / n)


def uniform_quantiles(rng: Generator, n: int) -> NDArray[Any]:
    """Ranks of ties averaged and divided by n: what a quantile transform makes of rounded data."""
    from scipy.stats import rankdata

    return rankdata(np.round(rng.normal(size=n), 2)) / n


def squares(rng: Generator, n: int) -> NDArray[Any]:
    return np.arange(n, dtype=np.float64) ** 2


def denormals(rng: Generator, n: int) -> NDArray[Any]:
    return rng.integers(-1000, 1000, n) * 5e-324


def denormals_32(rng: Generator, n: int) -> NDArray[Any]:
    return (rng.integers(-1000, 1000, n) * np.float64(2.0**-149)).astype(np.float32)


def around_smallest_normal(rng: Generator, n: int) -> NDArray[Any]:
    return rng.normal(size=n) * 2.3e-308


def tiny(rng: Generator, n: int) -> NDArray[Any]:
    return rng.normal(size=n) * 1e-200


def huge(rng: Generator, n: int) -> NDArray[Any]:
    return rng.uniform(-1.0, 1.0, n) * 1e300


def largest(rng: Generator, n: int) -> NDArray[Any]:
    return rng.uniform(-8.9, 8.9, n) * 1e307


def largest_32(rng: Generator, n: int) -> NDArray[Any]:
    return (rng.uniform(-3.4, 3.4, n) * 1e38).astype(np.float32)


def one_huge_among_small(rng: Generator, n: int) -> NDArray[Any]:
    values = rng.normal(size=n)
    values[rng.integers(n)] = 1e300
    return values


def signed_zeros(rng: Generator, n: int) -> NDArray[Any]:
    return rng.choice([0.0, -0.0], n)


def signed_zeros_and_ones(rng: Generator, n: int) -> NDArray[Any]:
    return rng.choice([0.0, -0.0, 1.0, -1.0], n)


def signed_zeros_32(rng: Generator, n: int) -> NDArray[Any]:
    return np.where(rng.random(n) < 0.6, rng.choice([0.0, -0.0], n), rng.normal(size=n)).astype(np.float32)


def duplicates(rng: Generator, n: int) -> NDArray[Any]:
    return rng.choice(rng.normal(size=max(n // 7, 1)), n)


def every_value_twice(rng: Generator, n: int) -> NDArray[Any]:
    return rng.permutation(np.repeat(rng.normal(size=n // 2 + 1), 2)[:n])


def two_scales(rng: Generator, n: int) -> NDArray[Any]:
    """Integers far apart that differ from a coarse lattice by 0 or 1.

    These are near ties that a rounded bound cannot tell apart.
    """
    return 2**33 * rng.integers(0, n, n) + rng.integers(0, 2, n)


def heavy_offset(rng: Generator, n: int) -> NDArray[Any]:
    return 1e9 + rng.normal(size=n) * 1e-3


def heavy_offset_32(rng: Generator, n: int) -> NDArray[Any]:
    return (1e6 + rng.normal(size=n)).astype(np.float32)


def powers_of_two(rng: Generator, n: int) -> NDArray[Any]:
    return np.ldexp(rng.choice([-1.0, 1.0], n), rng.integers(-1000, 1000, n))


def powers_of_two_64(rng: Generator, n: int) -> NDArray[Any]:
    return np.ldexp(1.0, rng.integers(0, 64, n))


def geometric(rng: Generator, n: int) -> NDArray[Any]:
    return 1.01 ** np.arange(n)


def half_16(rng: Generator, n: int) -> NDArray[Any]:
    return rng.normal(size=n).astype(np.float16)


def unsigned_16(rng: Generator, n: int) -> NDArray[Any]:
    return rng.integers(0, 2**16, n, dtype=np.uint16)


def signed_8(rng: Generator, n: int) -> NDArray[Any]:
    return rng.integers(-128, 128, n, dtype=np.int8)


def unsigned_64(rng: Generator, n: int) -> NDArray[Any]:
    """Far beyond 2**53, but not far from each other."""
    return rng.integers(2**63, 2**63 + 2**53, n, dtype=np.uint64)


COLUMNS: dict[str, Column] = {
    function.__name__: function
    for function in (
        normal, normal_32, uniform, exponential, log_normal, cauchy, arcsine, mixture, two_clusters,
        two_very_far_clusters, few_integers, hundred_integers, many_integers, integers_below_n, rounded,
        sparse_zero_one, zero_one, sparse_positive, sparse_both_signs, half_zero, constant, constant_but_one,
        constant_but_a_few, grid, shifted_grid, grid_jitter_hundredth, grid_jitter_third, grid_jitter_three,
        grid_jitter_uniform, grid_jitter_32, grid_with_gap, grid_with_outlier, tenths_32, tenths_64, linspace,
        linspace_32, normal_quantiles, uniform_quantiles, squares, denormals, denormals_32,
        around_smallest_normal, tiny, huge, largest, largest_32, one_huge_among_small, signed_zeros,
        signed_zeros_and_ones, signed_zeros_32, duplicates, every_value_twice, two_scales, heavy_offset,
        heavy_offset_32, powers_of_two, powers_of_two_64, geometric, half_16, unsigned_16, signed_8,
        unsigned_64,
    )
}  # fmt: skip


def column(name: str, n: int, seed: int = 0) -> NDArray[Any]:
    """One column of the named kind: always the same for the same arguments."""
    values = COLUMNS[name](np.random.default_rng([seed, n]), n)
    assert values.shape == (n,)
    return values


def matrix(names: list[str], n: int, seed: int = 0) -> NDArray[np.float64]:
    """Columns of several kinds side by side, in float64."""
    return np.stack([column(name, n, seed + at).astype(np.float64) for at, name in enumerate(names)], axis=1)


def random_matrix(rng: Generator, n: int, d: int) -> NDArray[np.float64]:
    """Columns of random kinds, scaled to a common range so that many attain Phi somewhere."""
    names = rng.choice(list(COLUMNS), d).tolist()
    columns = []
    for name in names:
        values = COLUMNS[name](rng, n).astype(np.float64)
        span = values.max() / 2 - values.min() / 2
        if 1e-290 < span < 1e290:
            values = values / span
        columns.append(values)
    return np.stack(columns, axis=1)
