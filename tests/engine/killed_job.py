"""A computation to be killed: hops of a random graph, one attribute at a time, each saved."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

NODES, ATTRIBUTES = 10_000, 64


def compute(folder: Path | None, target: Path, said: Connection) -> None:
    """Keep checkpoints in the folder, tell how many attributes are done, and write the result."""
    import geodim.khop
    import geodim.planning.hops

    geodim.planning.hops.default_columns = lambda *_: 1
    rng = np.random.default_rng(3)
    X = rng.normal(size=(NODES, ATTRIBUTES)).astype(np.float32)
    X *= np.linspace(0.1, 1.0, ATTRIBUTES, dtype=np.float32)
    X[rng.random(X.shape) < 0.7] = 0.0
    edges = rng.integers(0, NODES, (2, 4 * NODES))
    result = geodim.khop.khop_dimensions(
        X, edges, hops=5, n_threads=2, checkpoint=folder, save_every=0,
        progress=lambda done, *_: said.send(done),
    )  # fmt: skip
    np.save(target, np.stack([one.phi for one in result]))
    Path(f"{target}.json").write_text(json.dumps([one.shares for one in result]), encoding="utf-8")
