"""Columns whose windows are all nearly equally wide, for tests of what solves them."""

from __future__ import annotations

import math

import numpy as np

from distributions import column
from engine.oracle import padded
from slow_columns import clocks

ALIKE = {
    "two clocks": clocks,
    "two clocks with jitter": lambda n: clocks(n) + 0.01 * np.random.default_rng(n).normal(size=n),
    "three clocks": lambda n: np.concatenate([clocks(n - n // 3), math.sqrt(2.0) * np.arange(n // 3)]),
    "angles in float32": lambda n: np.float32(2.0 * np.pi) * np.arange(n, dtype=np.float32) / np.float32(n),
    "two slopes in float32": lambda n: (
        np.where(np.arange(n) > n // 2, np.float32(0.3), np.float32(0.1)) * np.arange(n, dtype=np.float32) / 3
    ),
    "a line that was rounded": lambda n: np.round(np.arange(n) * math.sqrt(3.0), 1),
}


WAVES = {
    "fifty spacings high": lambda i: i + 50.0 * np.sin(0.01 * i),
    "eight spacings high": lambda i: i + 8.0 * np.sin(0.1 * i),
    "one spacing high": lambda i: i + np.sin(0.9 * i),
    "ever faster": lambda i: i + 100.0 * np.sin(1e-8 * i * i),
    "multiples of the golden ratio": lambda i: i * 0.6180339887498949 % 1.0,
}


def sorted_column(name, n):
    if name in WAVES:
        values = WAVES[name](np.arange(n))
    else:
        values = ALIKE[name](n) if name in ALIKE else column(name, n)
    return padded(np.sort(values.astype(np.float64)))
