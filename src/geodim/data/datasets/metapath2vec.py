"""Learn the vectors that ogbn-mag lacks, with PyTorch Geometric's metapath2vec (extra ``gnn``).

Walks follow the metapath of OGB's published example: author, paper, field, paper, author, institution,
author, paper, paper, author. The result is an ``.npz`` with one array per node type, which the loader of
ogbn-mag reads without torch.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

import numpy as np

from geodim.data.datasets.csvgz import iter_blocks
from geodim.data.datasets.mag import check_relations, embedding_places, read_counts, relation_folder
from geodim.data.datasets.ogb import check_range
from geodim.data.datasets.registry import MAG_RELATIONS, get_spec
from geodim.data.datasets.roots import resolve_root
from geodim.errors import InputValueError
from geodim.optional import require
from geodim.output import make_folder, writing

if TYPE_CHECKING:
    import os
    from pathlib import Path

    import torch
    from numpy.typing import NDArray
    from torch.utils.data import DataLoader
    from torch_geometric.nn import MetaPath2Vec

__all__ = ["train_metapath2vec"]

_log = logging.getLogger(__name__)

# Each relation's reverse: walks need to come back.
_REVERSE = {
    ("author", "affiliated_with", "institution"): ("institution", "employs", "author"),
    ("author", "writes", "paper"): ("paper", "written_by", "author"),
    ("paper", "has_topic", "field_of_study"): ("field_of_study", "contains", "paper"),
}
_METAPATH = [
    ("author", "writes", "paper"),
    ("paper", "has_topic", "field_of_study"),
    ("field_of_study", "contains", "paper"),
    ("paper", "written_by", "author"),
    ("author", "affiliated_with", "institution"),
    ("institution", "employs", "author"),
    ("author", "writes", "paper"),
    ("paper", "cites", "paper"),
    ("paper", "written_by", "author"),
]


def train_metapath2vec(
    root: str | os.PathLike[str] | None = None,
    *,
    embedding_dim: int = 128,
    walk_length: int = 64,
    context_size: int = 7,
    walks_per_node: int = 5,
    num_negative_samples: int = 5,
    batch_size: int = 128,
    learning_rate: float = 0.01,
    epochs: int = 5,
    max_steps: int | None = None,
    seed: int = 0,
    device: str = "cpu",
) -> Path:
    """Train metapath2vec on ogbn-mag and save its vectors where ``load_dataset("ogbn-mag")`` finds them.

    Parameters
    ----------
    root
        The folder that holds ``ogbn_mag``; see ``load_dataset``.
    embedding_dim, walk_length, context_size, walks_per_node
        As in OGB's example; the attributes of papers have dimension 128, and the vectors must have it too.
    num_negative_samples, batch_size, learning_rate, epochs
        As in OGB's example.
    max_steps
        Stop each epoch after this many batches.
    seed
        Of torch's generator, which is restored afterwards.
    device
        Where torch trains; a GPU only when asked.

    Returns
    -------
    pathlib.Path
        The ``.npz`` that was written.
    """
    purpose = "training metapath2vec"
    torch = require("torch", "gnn", purpose)
    model_class = require("torch_geometric.nn", "gnn", purpose).MetaPath2Vec
    if epochs < 1 or embedding_dim < 1 or not 2 <= context_size <= walk_length + 1:
        raise InputValueError(
            f"need epochs and embedding_dim of at least 1 and 2 <= context_size <= walk_length + 1, not "
            f"epochs={epochs}, embedding_dim={embedding_dim}, "
            f"context_size={context_size}, walk_length={walk_length}"
        )
    folder = resolve_root(root) / get_spec("ogbn-mag").folder
    counts = read_counts(folder)
    check_relations(folder)
    edges = _edges_both_ways(folder, counts)

    # Only the CPU's generator and the chosen device's are touched, and both are put back.
    devices = [torch.device(device)] if torch.device(device).type == "cuda" else []
    with torch.random.fork_rng(devices=devices):
        torch.manual_seed(seed)
        model = model_class(
            {triplet: torch.from_numpy(columns) for triplet, columns in edges.items()},
            embedding_dim=embedding_dim,
            metapath=_METAPATH,
            walk_length=walk_length,
            context_size=context_size,
            walks_per_node=walks_per_node,
            num_negative_samples=num_negative_samples,
            num_nodes_dict=counts,
            sparse=True,
        ).to(device)
        optimizer = torch.optim.SparseAdam(list(model.parameters()), lr=learning_rate)
        loader = model.loader(batch_size=batch_size, shuffle=True)
        for epoch in range(epochs):
            loss = _train_epoch(model, loader, optimizer, device, max_steps)
            _log.info("metapath2vec: epoch %d of %d, mean loss %.4f", epoch + 1, epochs, loss)
        with torch.no_grad():
            vectors = {kind: model(kind).cpu().numpy() for kind in counts}
    path = embedding_places(folder)[0]
    make_folder(path.parent)
    with writing(path) as stream:
        np.savez(stream, **vectors)
    return path


def _edges_both_ways(folder: Path, counts: dict[str, int]) -> dict[tuple[str, str, str], NDArray[np.int64]]:
    edges = {}
    for triplet in MAG_RELATIONS:
        path = relation_folder(folder, triplet) / "edge.csv.gz"
        blocks = [np.empty((0, 2), dtype=np.int64), *iter_blocks(path, 2, np.int64)]
        columns = np.ascontiguousarray(np.concatenate(blocks).T)
        for ends, kind in zip(columns, (triplet[0], triplet[2]), strict=True):
            check_range(ends, counts[kind], path)
        edges[triplet] = columns
        if triplet in _REVERSE:
            edges[_REVERSE[triplet]] = np.ascontiguousarray(columns[::-1])
    return edges


def _train_epoch(
    model: MetaPath2Vec,
    loader: DataLoader[Any],
    optimizer: torch.optim.Optimizer,
    device: str,
    max_steps: int | None,
) -> float:
    model.train()
    total, steps = 0.0, 0
    for positive, negative in loader:
        optimizer.zero_grad()
        loss = model.loss(positive.to(device), negative.to(device))
        loss.backward()
        optimizer.step()
        total, steps = total + float(loss), steps + 1
        if max_steps is not None and steps >= max_steps:
            break
    return total / max(1, steps)
