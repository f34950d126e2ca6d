"""Tables: .npy so far."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

import numpy as np

from fuzz.harness import Target
from geodim.data.checks import scan_ranges
from geodim.data.sources import as_source
from geodim.data.tables import read_table
from geodim.errors import NonFiniteError, RangeOverflowError

if TYPE_CHECKING:
    from pathlib import Path

RNG_SEED = 5


def measured(path: Path) -> None:
    """Read a table and look at all of its values, as the first pass does."""
    source = as_source(read_table(path))
    with contextlib.suppress(
        NonFiniteError, RangeOverflowError
    ):  # which name rows and columns; data has no path
        scan_ranges(source)


def make_npy(folder: Path) -> None:
    values = np.random.default_rng(RNG_SEED).normal(size=(20, 3))
    for kind in ("f8", "f4", "i8", "u1", "?"):
        np.save(folder / f"{kind.strip('?') or 'bool'}.npy", (values * 50).astype(kind))
    np.save(folder / "fortran.npy", np.asfortranarray(values))


TARGETS = [Target("npy", make_npy, measured)]
