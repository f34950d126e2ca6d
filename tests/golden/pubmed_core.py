"""PubMed, without the words that do not matter: small, so that its row of the table is tested everywhere.

Phi is a maximum over features, so that columns which attain it nowhere can be left out.  Of PubMed's 500
words, 11 attain it at some hop up to the fifth; `pubmed_core.npz` holds these, as published, and all
citations.  Source: https://github.com/kimiyoung/planetoid, as for Cora (src/geodim/data/datasets/files).

    python tests/golden/pubmed_core.py FOLDER    # which has the published files, writes it anew
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np
import scipy.sparse

FILE = Path(__file__).with_suffix(".npz")
HOPS = 5


class Core(NamedTuple):
    """Some columns of a graph's attributes, and all of its edges, each once."""

    columns: np.ndarray
    x: scipy.sparse.csc_array
    edge_index: np.ndarray


def read() -> Core:
    with np.load(FILE, allow_pickle=False) as kept:
        ends = np.concatenate([[0], np.cumsum(kept["lengths"].astype(np.int64))])
        shape = int(kept["n_nodes"]), kept["columns"].size
        x = scipy.sparse.csc_array((kept["values"], kept["rows"].astype(np.int32), ends), shape=shape)
        return Core(kept["columns"].astype(int), x, np.stack([kept["low"], kept["high"]]).astype(np.int64))


def write(root: str) -> None:
    """From the published files: whatever attains Phi, in float32 or in float64."""
    import geodim
    from geodim.data.datasets import load_dataset

    data = load_dataset("pubmed", root=root, offline=True)
    found: set[int] = set()
    for kind in (None, "float64"):
        for result in geodim.khop_dimensions(data.x, data.edge_index, HOPS, dtype=kind):
            found |= {int(name.rpartition(" ")[2]) for name in result.shares}  # "hop 2: 149"
    columns = sorted(found)
    x = scipy.sparse.csc_array(data.x)[:, columns]
    low, high = data.edge_index[:, data.edge_index[0] < data.edge_index[1]].astype(np.uint16)
    np.savez_compressed(
        FILE, n_nodes=np.int32(data.n_nodes), columns=np.array(columns, np.uint16),
        lengths=np.diff(x.indptr).astype(np.uint16), rows=x.indices.astype(np.uint16), values=x.data,
        low=low, high=high,
    )  # fmt: skip


if __name__ == "__main__":
    write(sys.argv[1])
