"""Cora and CiteSeer as they come with the package: small files of numbers, in which no code can hide.

They were written by `write_bundled` from the files that Planetoid publishes, whose checksums
`geodim.data.datasets.registry` knows; a test compares them with those files wherever these exist, and
with the checksums below everywhere.
"""

from __future__ import annotations

import hashlib
from importlib.resources import files
from typing import TYPE_CHECKING

import numpy as np

from geodim.data.datasets.model import GraphDataset
from geodim.errors import DataFileError

if TYPE_CHECKING:
    from pathlib import Path

    from geodim.data.datasets.registry import DatasetSpec

CHECKSUMS = {
    "cora": "a79ed23d7f5ce52b5f5b8c4adcafb1781213016ae5a8a5f7c21f80fd745d012e",
    "citeseer": "988cb861c4519c19fd0316cbc53aed160082781f7a7da583379629ac1b95e1c0",
}


def is_bundled(name: str) -> bool:
    """Return whether a data set comes with the package."""
    return name in CHECKSUMS


def load_bundled(spec: DatasetSpec) -> GraphDataset:
    """Return a data set that comes with the package, the same as from its published files."""
    from scipy import sparse  # noqa: PLC0415 - scipy.sparse only when it is needed

    place = files("geodim.data.datasets") / "files" / f"{spec.name}.npz"
    with place.open("rb") as stream:
        found = hashlib.sha256(stream.read()).hexdigest()
        if found != CHECKSUMS[spec.name]:
            raise DataFileError(f"{place}: the file is not the one that geodim came with: reinstall geodim")
        stream.seek(0)
        with np.load(stream, allow_pickle=False) as arrays:
            lengths, words, low, high, y, test, sizes = (
                arrays[name].astype(np.int64)
                for name in ("lengths", "words", "low", "high", "y", "test", "sizes")
            )
    n_words, n_train, n_valid = sizes.tolist()
    ends = np.concatenate([[0], np.cumsum(lengths)])
    x = sparse.csr_array(
        (np.ones(words.size, np.float32), words, ends),
        shape=(lengths.size, n_words),
    )
    both = np.stack([np.concatenate([low, high]), np.concatenate([high, low])])
    return GraphDataset(
        name=spec.name,
        x=x,
        edge_index=both[:, np.lexsort((both[0], both[1]))],
        directed=False,
        mirrored=True,
        y=y,
        splits={
            "train": np.arange(n_train, dtype=np.int64),
            "valid": np.arange(n_train, n_train + n_valid, dtype=np.int64),
            "test": test,
        },
        provenance={
            "source": spec.source,
            "license": spec.license,
            "folder": None,
            "sha256": {f"{spec.name}.npz": found},
            "files_as_published": True,
        },
    )


def write_bundled(data: GraphDataset, path: Path) -> None:
    """Write a Planetoid data set whose attributes are zeros and ones."""
    from scipy import sparse  # noqa: PLC0415 - as above

    x = sparse.csr_array(data.x)
    assert data.y is not None and np.all(x.data == 1.0)  # noqa: PT018 - both make it what is written here
    low, high = data.edge_index[:, data.edge_index[0] < data.edge_index[1]].astype(np.uint16)
    np.savez_compressed(
        path,
        lengths=np.diff(x.indptr).astype(np.uint16),
        words=x.indices.astype(np.uint16),
        low=low,
        high=high,
        y=data.y.astype(np.uint8),
        test=data.splits["test"].astype(np.uint16),
        sizes=np.array([x.shape[1], len(data.splits["train"]), len(data.splits["valid"])], np.int32),
    )
