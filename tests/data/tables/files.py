"""The same numbers in every kind of file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pyarrow as pa
import scipy.sparse as sp
import zarr

if TYPE_CHECKING:
    from pathlib import Path

VALUES = np.random.default_rng(3).normal(size=(40, 5)).round(6)
NAMES = ["a", "b", "c", "d", "e"]


def write(folder: Path, suffix: str) -> Path:
    """Write VALUES in one of the known formats."""
    path = folder / f"points{suffix}"
    frame = pd.DataFrame(VALUES, columns=NAMES)
    match suffix:
        case ".npy":
            np.save(path, VALUES)
        case ".npz":
            np.savez(path, points=VALUES)
        case ".parquet":
            frame.to_parquet(path)
        case ".zarr":
            zarr.open_array(path, mode="w", shape=VALUES.shape, chunks=(16, 2), dtype="f8")[:] = VALUES
        case _:
            frame.to_csv(path, index=False, sep="\t" if "tsv" in suffix else ",")
    return path


def dense(data: Any) -> np.ndarray:
    if isinstance(data, pa.Table):
        return np.column_stack([column.to_numpy() for column in data.columns])
    return np.asarray(data.todense() if sp.issparse(data) else data)


def text_file(folder: Path, text: str, name: str = "points.csv") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path
