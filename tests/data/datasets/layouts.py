"""Write small data sets in the exact layouts of Planetoid and OGB, and return their arrays."""

from __future__ import annotations

import gzip
import pickle
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

MAG_RELATIONS = (
    ("author", "affiliated_with", "institution"),
    ("author", "writes", "paper"),
    ("paper", "cites", "paper"),
    ("paper", "has_topic", "field_of_study"),
)
MAG_COUNTS = {"author": 23, "field_of_study": 7, "institution": 5, "paper": 31}


@dataclass
class Truth:
    """What a reader should give back."""

    x: NDArray[Any]
    edge_index: NDArray[Any]
    y: NDArray[Any]
    splits: dict[str, NDArray[Any]]


def write_csv(path: Path, rows: NDArray[Any] | list[list[Any]], *, header: list[str] | None = None) -> None:
    """Write rows as OGB does: comma-separated, gzipped, with a header only where OGB has one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    table = rows.tolist() if isinstance(rows, np.ndarray) else rows
    lines = [",".join(map(str, row)) for row in ([header] if header else []) + list(table)]
    with gzip.open(path, "wt", encoding="utf-8", compresslevel=1) as file:
        file.write("".join(f"{line}\n" for line in lines))


def _features(rng: np.random.Generator, nodes: int, width: int) -> NDArray[np.float32]:
    # Six decimals, as in OGB's files; the written number is what float32 must be rounded from.
    return np.round(rng.normal(size=(nodes, width)), 6)


def _splits(rng: np.random.Generator, nodes: int) -> dict[str, NDArray[np.int64]]:
    order = rng.permutation(nodes)
    return {"train": order[: nodes // 2], "valid": order[nodes // 2 : -3], "test": order[-3:]}


def write_planetoid(
    root: Path, folder: str = "Cora", *, holes: bool = False, protocol: int = 2, seed: int = 0
) -> Truth:
    """Write the eight pickles. With ``holes`` some test numbers are missing, as in CiteSeer."""
    rng = np.random.default_rng(seed)
    name, n_train, n_known, n_test, width, classes = folder.lower(), 21, 530, 40, 12, 3
    span = n_test + (7 if holes else 0)
    kept = np.arange(span)
    if holes:
        # The first and last number are always present: the files have no other way to
        # say where the range ends.
        kept = np.sort(np.concatenate([[0, span - 1], 1 + rng.permutation(span - 2)[: n_test - 2]]))
    test_index = rng.permutation(n_known + kept)
    n_nodes = n_known + span
    x = np.zeros((n_nodes, width), dtype=np.float32)
    y = np.zeros(n_nodes, dtype=np.int64)
    present = np.concatenate([np.arange(n_known), test_index])
    x[present] = rng.integers(0, 3, (len(present), width)) * rng.random((len(present), width))
    y[present] = rng.integers(0, classes, len(present))
    one_hot = np.eye(classes, dtype=np.int32)[y]

    raw = root / folder / "raw"
    raw.mkdir(parents=True)
    # Self-loops, repeated neighbours, an edge known from one side only, and a node without neighbours.
    graph: dict[int, list[int]] = defaultdict(list)
    for node in range(n_nodes):
        graph[node] = rng.integers(0, n_nodes, rng.integers(0, 5)).tolist()
    graph[3] += [3, 3, 5, 5]
    edges = {(node, other) for node, others in graph.items() for other in others if node != other}
    ordered = sorted(edges, key=lambda edge: (edge[1], edge[0]))
    parts = {
        "x": sparse.csr_matrix(x[:n_train]),
        "tx": sparse.csr_matrix(x[test_index]),
        "allx": sparse.csr_matrix(x[:n_known]),
        "y": one_hot[:n_train],
        "ty": one_hot[test_index],
        "ally": one_hot[:n_known],
        "graph": graph,
    }
    for part, content in parts.items():
        (raw / f"ind.{name}.{part}").write_bytes(pickle.dumps(content, protocol=protocol))
    (raw / f"ind.{name}.test.index").write_text("".join(f"{number}\n" for number in test_index))
    splits = {
        "train": np.arange(n_train),
        "valid": np.arange(n_train, n_train + 500),
        "test": np.sort(test_index),
    }
    return Truth(x, np.array(ordered).T, y, splits)


def write_ogb_csv(
    root: Path, name: str = "ogbn-arxiv", *, nodes: int = 60, width: int = 5, seed: int = 0
) -> Truth:
    """Write ogbn-arxiv or ogbn-products."""
    rng = np.random.default_rng(seed)
    folder = root / name.replace("-", "_")
    x, edges = _features(rng, nodes, width), rng.integers(0, nodes, (4 * nodes, 2))
    y, splits = rng.integers(0, 9, nodes), _splits(rng, nodes)
    write_csv(folder / "raw" / "node-feat.csv.gz", x)
    write_csv(folder / "raw" / "edge.csv.gz", edges)
    write_csv(folder / "raw" / "node-label.csv.gz", y[:, None])
    write_csv(folder / "raw" / "num-node-list.csv.gz", [[nodes]])
    write_csv(folder / "raw" / "num-edge-list.csv.gz", [[len(edges)]])
    if name == "ogbn-arxiv":
        write_csv(folder / "raw" / "node_year.csv.gz", rng.integers(1990, 2020, (nodes, 1)))
    split = "time" if name == "ogbn-arxiv" else "sales_ranking"
    _finish(folder, split, splits)
    return Truth(x.astype(np.float32), edges.T, y, splits)


def _finish(folder: Path, split: str, splits: dict[str, NDArray[Any]], version: int = 1) -> None:
    for part, index in splits.items():
        write_csv(folder / "split" / split / f"{part}.csv.gz", index[:, None])
    # ogb prompts without the first, and saves into the second.
    (folder / f"RELEASE_v{version}.txt").write_text("")
    (folder / "processed").mkdir()


def write_mag(root: Path, *, width: int = 4, seed: int = 0) -> tuple[Truth, dict[str, NDArray[np.float32]]]:
    """Write ogbn-mag; the second value is the embedding to be stored beside it, by node type."""
    rng = np.random.default_rng(seed)
    folder = root / "ogbn_mag"
    raw, n_papers = folder / "raw", MAG_COUNTS["paper"]
    kinds = sorted(MAG_COUNTS)
    write_csv(raw / "num-node-dict.csv.gz", [[MAG_COUNTS[kind] for kind in kinds]], header=kinds)
    write_csv(raw / "triplet-type-list.csv.gz", [list(triplet) for triplet in MAG_RELATIONS])
    for file, true in (("nodetype-has-feat", "paper"), ("nodetype-has-label", "paper")):
        write_csv(raw / f"{file}.csv.gz", [[kind == true for kind in kinds]], header=kinds)
    papers, y = _features(rng, n_papers, width), rng.integers(0, 6, n_papers)
    write_csv(raw / "node-feat" / "paper" / "node-feat.csv.gz", papers)
    write_csv(raw / "node-feat" / "paper" / "node_year.csv.gz", rng.integers(2010, 2020, (n_papers, 1)))
    write_csv(raw / "node-label" / "paper" / "node-label.csv.gz", y[:, None])

    order = ("paper", "author", "institution", "field_of_study")
    starts = dict(zip(order, np.cumsum([0, *(MAG_COUNTS[kind] for kind in order)]), strict=False))
    columns = []
    for number, (head, relation, tail) in enumerate(MAG_RELATIONS):
        size = 40 + number
        edges = np.stack([rng.integers(0, MAG_COUNTS[kind], size) for kind in (head, tail)], axis=1)
        place = raw / "relations" / f"{head}___{relation}___{tail}"
        write_csv(place / "edge.csv.gz", edges)
        write_csv(place / "num-edge-list.csv.gz", [[size]])
        write_csv(place / "edge_reltype.csv.gz", np.full((size, 1), number))
        columns.append(edges.T + np.array([[starts[head]], [starts[tail]]]))
    splits = _splits(rng, n_papers)
    _finish(folder, "time/paper", splits, version=2)
    write_csv(
        folder / "split" / "time" / "nodetype-has-split.csv.gz", [[k == "paper" for k in kinds]], header=kinds
    )

    embedding = {kind: rng.normal(size=(MAG_COUNTS[kind], width)).astype(np.float32) for kind in order}
    x = np.concatenate([papers.astype(np.float32), *(embedding[kind] for kind in order[1:])])
    labels = np.concatenate([y, np.full(len(x) - n_papers, -1)])
    return Truth(x, np.concatenate(columns, axis=1), labels, splits), embedding


def write_papers100m(
    root: Path,
    *,
    nodes: int = 300,
    edges: int = 1000,
    width: int = 6,
    compressed: bool = False,
    fortran: bool = False,
    seed: int = 0,
) -> Truth:
    """Write ogbn-papers100M; with ``fortran`` the large arrays are stored column by column."""
    rng = np.random.default_rng(seed)
    raw = root / "ogbn_papers100M" / "raw"
    raw.mkdir(parents=True)
    layout = np.asfortranarray if fortran else np.ascontiguousarray
    x = rng.normal(size=(nodes, width)).astype(np.float32)
    edge_index = rng.integers(0, nodes, (2, edges))
    label = rng.integers(0, 172, (nodes, 1)).astype(np.float32)
    label[rng.random(nodes) < 0.8] = np.nan
    save = np.savez_compressed if compressed else np.savez
    save(
        raw / "data.npz",
        edge_index=layout(edge_index),
        node_feat=layout(x),
        node_year=rng.integers(1990, 2020, (nodes, 1)),
        num_nodes_list=np.array([nodes]),
        num_edges_list=np.array([edges]),
    )
    save(raw / "node-label.npz", node_label=label)
    splits = _splits(rng, nodes)
    _finish(raw.parent, "time", splits)
    y = np.where(np.isnan(label[:, 0]), -1, np.nan_to_num(label[:, 0])).astype(np.int64)
    return Truth(x, edge_index, y, splits)
