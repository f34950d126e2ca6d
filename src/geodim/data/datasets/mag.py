"""ogbn-mag as one graph: papers, authors, institutions and fields of study with all four relations.

Nodes are numbered papers first (so that labels and splits keep their numbers), then authors, institutions and
fields of study; edges follow OGB's order of relations. Only papers have attributes; the others take vectors
that metapath2vec learned from the graph, read from a file: the one PyTorch Geometric publishes, or one made
by :func:`geodim.data.datasets.train_metapath2vec`.
"""

from __future__ import annotations

import contextlib
import zipfile
from typing import TYPE_CHECKING, Any

import numpy as np

from geodim.data.datasets.csvgz import count_columns, iter_blocks, read_column, read_table
from geodim.data.datasets.errors import MissingEmbeddingError
from geodim.data.datasets.ogb import single, write_edges, write_features, write_splits
from geodim.data.datasets.registry import MAG_EMBEDDING, MAG_RELATIONS
from geodim.data.datasets.streaming import NpyWriter, open_member
from geodim.errors import DataFileError, MissingExtraError
from geodim.optional import require

if TYPE_CHECKING:
    from pathlib import Path

    from geodim.data.datasets.registry import DatasetSpec

__all__ = [
    "NODE_TYPES",
    "embedding_places",
    "find_embedding",
    "has_embedding",
    "read_counts",
    "write_mag_graph",
]

NODE_TYPES = ("paper", "author", "institution", "field_of_study")


def embedding_places(folder: Path) -> tuple[Path, ...]:
    """Return where a file with the missing vectors is looked for, in order."""
    published = folder / MAG_EMBEDDING
    return (
        published.with_suffix(".npz"),
        published,
        folder / published.with_suffix(".npz").name,
        folder / published.name,
        # Where torch_geometric.datasets.OGB_MAG(root, preprocess="metapath2vec") keeps it.
        folder.parent / "mag" / "raw" / published.name,
    )


def has_embedding(folder: Path) -> bool:
    """Return whether a file with the missing vectors exists."""
    return any(path.is_file() for path in embedding_places(folder))


def find_embedding(folder: Path) -> Path:
    """Return the file with the missing vectors, or raise an error that says what to place where."""
    for path in embedding_places(folder):
        if path.is_file():
            return path
    wanted = folder / MAG_EMBEDDING
    raise MissingEmbeddingError(
        "ogbn-mag has attributes for papers only, and the vectors for authors, institutions and fields of "
        f"study were not found. Either place the published file at {wanted} (from "
        "https://data.pyg.org/datasets/mag_metapath2vec_emb.zip; reading it needs torch), or an .npz with "
        f"one array per node type at {wanted.with_suffix('.npz')}, or make that with "
        "geodim.data.datasets.train_metapath2vec()"
    )


def read_counts(folder: Path) -> dict[str, int]:
    """Return the number of nodes of each type, in the order of :data:`NODE_TYPES`."""
    path = folder / "raw" / "num-node-dict.csv.gz"
    table = read_table(path)
    if len(table) != 2 or set(table[0]) != set(NODE_TYPES) or len(table[1]) != len(table[0]):
        raise DataFileError(f"{path}: expected one line of counts for {', '.join(NODE_TYPES)}")
    found = dict(zip(table[0], table[1], strict=True))
    try:
        return {kind: int(found[kind]) for kind in NODE_TYPES}
    except ValueError as error:
        raise DataFileError(f"{path}: a count is not a whole number ({error})") from error


def relation_folder(folder: Path, triplet: tuple[str, str, str]) -> Path:
    """Return the folder of one relation."""
    return folder / "raw" / "relations" / "___".join(triplet)


def check_relations(folder: Path) -> None:
    """Raise unless the data set lists exactly the four relations."""
    path = folder / "raw" / "triplet-type-list.csv.gz"
    listed = sorted(tuple(row) for row in read_table(path))
    if listed != sorted(MAG_RELATIONS):
        raise DataFileError(f"{path}: expected the relations {MAG_RELATIONS}, found {listed}")


def write_mag_graph(spec: DatasetSpec, folder: Path, target: Path, chunk_bytes: int) -> dict[str, Any]:
    """Convert ogbn-mag and its embedding into ``target``.

    The notes say which nodes and edges are of which type.
    """
    counts = read_counts(folder)
    check_relations(folder)
    starts = dict(zip(NODE_TYPES, np.cumsum([0, *counts.values()])[:-1].tolist(), strict=True))
    n_nodes = sum(counts.values())
    edges = _write_relations(folder, target, counts, starts, chunk_bytes)

    features = folder / "raw" / "node-feat" / "paper" / "node-feat.csv.gz"
    width = count_columns(features)
    embedding = find_embedding(folder)
    with NpyWriter(target / "x.npy", (n_nodes, width), np.float32) as writer:
        write_features(features, writer, chunk_bytes)
        with contextlib.ExitStack() as stack:
            tensors = _open_tensors(embedding) if embedding.suffix == ".pt" else None
            for kind in NODE_TYPES[1:]:
                shape = (counts[kind], width)
                if tensors is not None:
                    _append_tensor(tensors, kind, shape, writer, embedding, chunk_bytes)
                else:
                    _append_member(stack, kind, shape, writer, embedding, chunk_bytes)

    labels = folder / "raw" / "node-label" / "paper" / "node-label.csv.gz"
    with NpyWriter(target / "y.npy", (n_nodes,), np.int64) as writer:
        for block in iter_blocks(labels, 1, np.int64, block_bytes=chunk_bytes):
            writer.append(block)
        writer.append(np.full(n_nodes - counts["paper"], -1, dtype=np.int64))
    write_splits(spec, folder, target, counts["paper"])
    ranges = {kind: [starts[kind], starts[kind] + counts[kind]] for kind in NODE_TYPES}
    return {"node_types": ranges, "edge_types": edges, "embedding": str(embedding)}


def _write_relations(
    folder: Path, target: Path, counts: dict[str, int], starts: dict[str, int], chunk_bytes: int
) -> dict[str, list[int]]:
    lists = {triplet: relation_folder(folder, triplet) / "num-edge-list.csv.gz" for triplet in MAG_RELATIONS}
    sizes = {triplet: single(path, read_column(path)) for triplet, path in lists.items()}
    ranges, column = {}, 0
    with NpyWriter(target / "edge_index.npy", (2, sum(sizes.values())), np.int64) as writer:
        for triplet, size in sizes.items():
            head, _relation, tail = triplet
            path = relation_folder(folder, triplet) / "edge.csv.gz"
            end = write_edges(
                path, writer, column, (counts[head], counts[tail]), (starts[head], starts[tail]), chunk_bytes
            )
            if end != column + size:
                raise DataFileError(
                    f"{path}: {end - column} edges, but num-edge-list.csv.gz announces {size}"
                )
            ranges["___".join(triplet)] = [column, end]
            column = end
    return ranges


def _append_member(
    stack: contextlib.ExitStack,
    kind: str,
    shape: tuple[int, int],
    writer: NpyWriter,
    path: Path,
    chunk_bytes: int,
) -> None:
    """Append one array of an ``.npz``."""
    stream = stack.enter_context(open_member(path, kind))
    _check_shape(path, kind, stream.shape, shape)
    if stream.fortran_order:
        raise DataFileError(f"{stream.label}: save it in C order (numpy.ascontiguousarray)")
    for chunk in stream.chunks(chunk_bytes):
        writer.append(chunk.astype(np.float32, copy=False))


def _open_tensors(path: Path) -> dict[str, Any]:
    """Open the published dictionary of tensors.

    torch's restricted loader accepts tensors and nothing else.
    """
    try:
        torch = require("torch", "gnn", f"reading {path.name}")
    except MissingExtraError as error:
        error.add_note(
            f"Without torch: place an .npz with one array per node type at {path.with_suffix('.npz')}"
        )
        raise
    try:
        # A memory map where the file is of torch's zip format; older files are read whole.
        content = torch.load(path, map_location="cpu", weights_only=True, mmap=zipfile.is_zipfile(path))
    except Exception as error:
        raise DataFileError(f"{path}: torch cannot load it as plain tensors ({error})") from error
    if not isinstance(content, dict):
        raise DataFileError(
            f"{path}: expected a dictionary from node type to tensor, found {type(content).__name__}"
        )
    return content


def _append_tensor(
    tensors: dict[str, Any],
    kind: str,
    shape: tuple[int, int],
    writer: NpyWriter,
    path: Path,
    chunk_bytes: int,
) -> None:
    tensor = tensors.get(kind)
    if tensor is None:
        raise DataFileError(f"{path}: has no vectors for {kind}")
    _check_shape(path, kind, tuple(tensor.shape), shape)
    rows = max(1, chunk_bytes // (4 * shape[1]))
    for start in range(0, shape[0], rows):
        writer.append(tensor[start : start + rows].detach().float().numpy())


def _check_shape(path: Path, kind: str, found: tuple[int, ...], expected: tuple[int, int]) -> None:
    if found != expected:
        raise DataFileError(f"{path}: the vectors for {kind} have shape {found}, expected {expected}")
