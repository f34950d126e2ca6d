"""Inputs that were slow once, and their relatives: bounds say little about them.

Each is the number of columns and a function (rng, n) -> (n, columns) values; `INPUTS` has every kind of
column of ``distributions.py``, too.  Used by the test that no input takes much more work than normal data,
and by ``benchmarks/slow_inputs.py``, which measures the time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from distributions import COLUMNS

if TYPE_CHECKING:
    from collections.abc import Callable

    Make = Callable[[np.random.Generator, int], np.ndarray]

GOLDEN = 1.6180339887  # no common multiple


def eight(make: Make) -> Make:
    """Eight columns of a kind, in an order of its own each."""
    return lambda rng, n: np.stack([rng.permutation(make(rng, n)) for _ in range(8)], axis=1)


def one(make: Make) -> Make:
    """One column, in any order."""
    return lambda rng, n: rng.permutation(make(rng, n))[:, np.newaxis]


def quantile_transformed(output: str, n_quantiles: int = 1000) -> Make:
    def make(rng: np.random.Generator, n: int) -> np.ndarray:
        from sklearn.preprocessing import QuantileTransformer

        transform = QuantileTransformer(
            n_quantiles=n_quantiles, output_distribution=output, subsample=None, random_state=0
        )
        return transform.fit_transform(rng.normal(size=(n, 1)))[:, 0]

    return make


def pattern(n: int) -> np.ndarray:
    return (np.arange(n) // 3 * 7 + np.array([0, 1, 5])[np.arange(n) % 3]).astype(np.float64)


def of_days(n: int, days: int, of: int) -> np.ndarray:
    """So many days, then none until the period is over: weekdays, shifts, every tenth missing."""
    return np.arange(n) // days * of + np.arange(n) % days


def working_hours(n: int) -> np.ndarray:
    """Eight hours of five days a week."""
    return 24.0 * of_days(n, 5, 7)[np.arange(n) // 8] + np.arange(n) % 8


def months(n: int) -> np.ndarray:
    return np.arange(n).astype("M8[M]").astype("M8[D]").astype(np.float64)


def jittered(rng: np.random.Generator, n: int, sigma: float) -> np.ndarray:
    return np.arange(n) + sigma * rng.normal(size=n)


def thirds_32(which: np.ndarray) -> np.ndarray:
    """0.3 where told, else 0.1, in float32."""
    return np.where(which, np.float32(0.3), np.float32(0.1))


def pauses(n: int, number: int) -> np.ndarray:
    """How long a clock has stood still, at random."""
    rng = np.random.default_rng(number)
    return np.cumsum(np.bincount(rng.integers(0, n, number), 1000.0 * rng.random(number), n))


def clocks(n: int, ratio: float = GOLDEN) -> np.ndarray:
    """Two clocks, one after the other: their times are sorted in between each other."""
    return np.concatenate([np.arange(n // 2), ratio * np.arange(n - n // 2)])


def wave(n: int, height: float, turn: float | np.ndarray) -> np.ndarray:
    """A clock that is now ahead and now behind, by so many ticks; ``turn`` is in radians a tick."""
    return np.arange(n) + height * np.sin(turn * np.arange(n))


def beside_normal(rng: np.random.Generator, n: int) -> np.ndarray:
    """Four columns of such kinds beside four that are normal, of like ranges."""
    some = (
        of_days(n, 5, 7) + 0.01 * rng.normal(size=n),
        np.where(np.arange(n) % 2, 0.1, 0.3) * np.arange(n),
        np.arange(n) + 0.3 * rng.normal(size=n),
        (0.1 * np.arange(n) + pauses(n, 7)) / 3.0,
    )
    columns = [rng.permutation(values / np.ptp(values)) for values in some]
    return np.stack([*columns, *(rng.normal(size=(4, n)) / 10.0)], axis=1)


SLOW_ONCE: dict[str, tuple[int, Make]] = {
    "ranks / n": (1, one(lambda _rng, n: np.arange(1, n + 1) / n)),
    "ranks / (n - 1), float32": (1, one(lambda _rng, n: (np.arange(n) / (n - 1)).astype(np.float32))),
    "eight ranks / n": (8, eight(lambda _rng, n: np.arange(1, n + 1) / n)),
    "eight permutations of a linspace": (8, eight(lambda _rng, n: np.linspace(0.0, 1.0, n))),
    "eight grids of their own": (8, eight(lambda rng, n: rng.normal() + rng.random() * np.arange(n))),
    "10 Hz from a date on": (1, one(lambda _rng, n: 1.7e9 + 0.1 * np.arange(n))),
    "10 Hz from 0 on": (1, one(lambda _rng, n: 0.1 * np.arange(n))),
    "44.1 kHz": (1, one(lambda _rng, n: np.arange(n) / 44_100)),
    "days since 1970": (1, one(lambda _rng, n: 19_675.0 + np.arange(n) / 1440)),
    "quantiles, uniform": (1, one(quantile_transformed("uniform"))),
    "quantiles, normal": (1, one(quantile_transformed("normal"))),
    "ten thousand quantiles, uniform": (1, one(quantile_transformed("uniform", 10_000))),
    "normal times 1e305": (1, one(lambda rng, n: rng.normal(size=n) * 1e305)),
    "eight normal times 1e305": (8, eight(lambda rng, n: rng.normal(size=n) * 1e305)),
    "angles": (1, one(lambda _rng, n: 2.0 * np.pi * np.arange(n) / n)),
    "tenths, rounded from text": (1, one(lambda _rng, n: np.round(0.1 * np.arange(n), 1))),
    "10 Hz with gaps": (1, one(lambda _rng, n: 0.1 * np.arange(n) + 100.3 * (7 * np.arange(n) // n))),
    "two grids": (1, one(lambda _rng, n: np.where(np.arange(n) % 2, 0.1, 0.3) * np.arange(n))),
    "tenths by three": (1, one(lambda _rng, n: np.arange(n) * 0.1 / 3.0)),
    "from -1 to 2": (1, one(lambda _rng, n: np.linspace(-1.0, 2.0, n))),
    "weekdays": (1, one(lambda _rng, n: (np.arange(n) // 5 * 7 + np.arange(n) % 5).astype(np.float64))),
    "months": (1, one(lambda _rng, n: months(n))),
    "a pattern of three": (1, one(lambda _rng, n: pattern(n))),
    "a pattern of three, in tenths": (1, one(lambda _rng, n: pattern(n) * 0.1)),
    "eight angles": (8, eight(lambda _rng, n: 2.0 * np.pi * np.arange(n) / n)),
    "angles in float32": (
        1, one(lambda _rng, n: np.float32(2.0 * np.pi) * np.arange(n, dtype=np.float32) / np.float32(n))
    ),
    "two slopes": (
        1, one(lambda _rng, n: np.where(np.arange(n) < n // 2, 0.1 / 3.0, 0.3 / 7.0) * np.arange(n))
    ),
    "weekdays with jitter": (
        1, one(lambda rng, n: np.arange(n) // 5 * 7 + np.arange(n) % 5 + 0.01 * rng.normal(size=n))
    ),
    "weekdays with uniform jitter": (1, one(lambda rng, n: of_days(n, 5, 7) + 0.5 * rng.random(n))),
    "weekdays with tiny jitter": (1, one(lambda rng, n: of_days(n, 5, 7) + 1e-6 * rng.normal(size=n))),
    "weekdays with much jitter": (1, one(lambda rng, n: of_days(n, 5, 7) + rng.normal(size=n))),
    "weekdays with jitter, float32": (
        1, one(lambda rng, n: (of_days(n, 5, 7) + 0.01 * rng.normal(size=n)).astype(np.float32))
    ),
    "hours without nights, with jitter": (
        1, one(lambda rng, n: of_days(n, 16, 24) + 0.01 * rng.normal(size=n))
    ),
    "working hours, with jitter": (1, one(lambda rng, n: working_hours(n) + 0.01 * rng.normal(size=n))),
    "months with jitter": (1, one(lambda rng, n: months(n) + 0.1 * rng.normal(size=n))),
    "a pattern of three, in tenths, float32": (
        1, one(lambda _rng, n: pattern(n).astype(np.float32) * np.float32(0.1))
    ),
    "weekdays with a pause": (1, one(lambda _rng, n: of_days(n, 5, 7) + 0.5 * n * (np.arange(n) > n // 3))),
    "every tenth missing": (1, one(lambda _rng, n: of_days(n, 9, 10) * 0.1)),
    "every tenth missing, rounded twice": (1, one(lambda _rng, n: of_days(n, 9, 10) * 0.1 / 3.0)),
    "every tenth missing, with jitter": (
        1, one(lambda rng, n: of_days(n, 9, 10) + 0.05 * rng.normal(size=n))
    ),
    "jitter and outliers": (
        1,
        one(lambda rng, n: np.append(jittered(rng, n - 20, 0.3), n * (2.0 + 100.0 * rng.random(20)))),
    ),
    "jitter and pauses": (1, one(lambda rng, n: jittered(rng, n, 0.1) + pauses(n, 7))),
    "jitter and pauses, float32": (
        1, one(lambda rng, n: (jittered(rng, n, 0.1) + pauses(n, 7)).astype(np.float32))
    ),
    "10 Hz with pauses, by three": (1, one(lambda _rng, n: (0.1 * np.arange(n) + pauses(n, 7)) / 3.0)),
    "10 Hz with a hundred pauses, by three": (
        1, one(lambda _rng, n: (0.1 * np.arange(n) + pauses(n, 100)) / 3.0)
    ),
    "10 Hz with pauses, float32": (
        1, one(lambda _rng, n: (0.1 * np.arange(n) + pauses(n, 7)).astype(np.float32))
    ),
    "three slopes": (
        1, one(lambda _rng, n: np.interp(np.arange(n), [0, n // 3, n // 2, n], [0, n / 90, n / 70, n / 36]))
    ),
    "two slopes with jitter": (
        1, one(lambda rng, n: jittered(rng, n, 0.1) + 0.7 * np.maximum(np.arange(n) - n // 2, 0))
    ),
    "three slopes with jitter": (
        1,
        one(
            lambda rng, n: np.cumsum(np.repeat([1.0, 0.4, 2.5], [n // 3, n // 4, n - n // 3 - n // 4]))
            + 0.1 * rng.normal(size=n)
        ),
    ),
    "hours of a week, with jitter": (
        1,
        one(
            lambda rng, n: np.cumsum(np.resize(1.0 + 3.0 * (np.arange(168) % 24 > 20), n))
            + 0.05 * rng.normal(size=n)
        ),
    ),
    "two slopes, float32": (
        1, one(lambda _rng, n: thirds_32(np.arange(n) > n // 2) * np.arange(n, dtype=np.float32) / 3)
    ),
    "two grids, float32": (
        1, one(lambda _rng, n: thirds_32(np.arange(n) % 2 == 0) * np.arange(n, dtype=np.float32))
    ),
    "two clocks": (1, one(lambda _rng, n: clocks(n))),
    "two clocks with jitter": (1, one(lambda rng, n: clocks(n) + 0.01 * rng.normal(size=n))),
    "four kinds beside normal columns": (8, beside_normal),
    "multiples of the golden ratio": (1, one(lambda _rng, n: np.arange(n) / GOLDEN % 1.0)),
    "a wave of one spacing": (1, one(lambda _rng, n: wave(n, 1.0, 0.9))),
    "a wave of eight spacings": (1, one(lambda _rng, n: wave(n, 8.0, 0.1))),
    "a wave of fifty spacings": (1, one(lambda _rng, n: wave(n, 50.0, 0.01))),
    "a wave of four hundred spacings": (1, one(lambda _rng, n: wave(n, 400.0, 0.0032))),
    "two waves": (1, one(lambda _rng, n: wave(n, 100.0, 0.003) + wave(n, 100.0, 0.0071))),
    "a wave that becomes faster": (1, one(lambda _rng, n: wave(n, 100.0, 0.01 * np.arange(n) / n))),
    "logarithms of whole numbers": (1, one(lambda _rng, n: np.log(np.arange(1, n + 1)))),
    "square roots": (1, one(lambda _rng, n: np.sqrt(np.arange(n)))),
}  # fmt: skip


INPUTS: dict[str, tuple[int, Make]] = {name: (1, one(make)) for name, make in COLUMNS.items()} | SLOW_ONCE
