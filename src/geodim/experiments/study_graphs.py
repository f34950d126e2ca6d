"""The graphs of the study: Planetoid's three and fifteen more, each with ten splits of its nodes.

The fifteen are files of numbers, one for each graph (`NAME.npz`, in the folder of ``--root`` or its folder
``graphs``): attributes as compressed rows (``shape``, ``indptr``, ``indices`` and, unless all are 1,
``data``), ``edge_index``, the class ``y`` of every node and, where its publishers fixed them, ten splits as
masks whose bits are packed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from geodim.data.datasets import dataset_info, load_dataset
from geodim.errors import DataFileError

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from geodim.experiments.experiment import Options

__all__ = ["GRAPHS", "StudyGraph", "missing_graph", "open_graph"]

SPLITS = 10
PER_CLASS, VALID, TEST = 20, 500, 1000  # as Planetoid's own splits
SEED = 2023


@dataclass(frozen=True)
class Kind:
    """Sizes of a graph, known without opening it, and whether its publishers call it heterophilous."""

    nodes: int
    attributes: int
    edges: int
    heterophilous: bool = False


GRAPHS = {
    "cora": Kind(2_708, 1_433, 10_556),
    "citeseer": Kind(3_327, 3_703, 9_104),
    "pubmed": Kind(19_717, 500, 88_648),
    "acm": Kind(3_025, 1_870, 26_256),
    "amazon_cs": Kind(13_752, 767, 287_209),
    "blogcatalog": Kind(5_196, 8_189, 343_486),
    "citeseer_full": Kind(4_230, 602, 5_358),
    "coauthor_phy": Kind(34_493, 8_415, 495_924),
    "cora_ml": Kind(2_995, 2_879, 8_416),
    "flickr": Kind(7_575, 12_047, 479_476),
    "uai": Kind(3_067, 4_973, 56_622),
    "actor": Kind(7_600, 932, 26_659, heterophilous=True),
    "chameleon_filtered": Kind(890, 2_325, 8_854, heterophilous=True),
    "squirrel_filtered": Kind(2_223, 2_089, 46_998, heterophilous=True),
    "cornell": Kind(183, 1_703, 277, heterophilous=True),
    "texas": Kind(183, 1_703, 279, heterophilous=True),
    "wisconsin": Kind(251, 1_703, 450, heterophilous=True),
    "minesweeper": Kind(10_000, 7, 39_402, heterophilous=True),
}
PLANETOID = ("cora", "citeseer", "pubmed")


@dataclass(frozen=True)
class StudyGraph:
    """Attributes, edges, classes, and ten splits into nodes to train, validate and test with."""

    x: Any
    edge_index: NDArray[np.int64]
    y: NDArray[np.int64]
    splits: list[dict[str, NDArray[np.int64]]]

    @property
    def homophily(self) -> float:
        """The share of edges that join nodes of one class."""
        first, second = self.edge_index
        kept = first != second
        return float(np.mean(self.y[first[kept]] == self.y[second[kept]]))


def missing_graph(name: str, options: Options) -> str | None:
    """Return why a graph cannot be used, and the way out; None if it is here."""
    if name in PLANETOID:
        here = any(dataset_info(name, root).present for root in _planetoid_roots(options))
        return None if here else f"{name} is not on this machine: geodim datasets fetch {name}"
    if _file(name, options) is not None:
        return None
    return f"{name}.npz is needed in FOLDER, or in FOLDER/graphs: geodim reproduce study --root FOLDER"


def open_graph(name: str, options: Options) -> StudyGraph:
    """Load a graph that is here."""
    if name in PLANETOID:
        root = next(root for root in _planetoid_roots(options) if dataset_info(name, root).present)
        data = load_dataset(name, root, offline=True)
        assert data.y is not None
        return StudyGraph(data.x, data.edge_index, data.y, [dict(data.splits)] * SPLITS)
    path = _file(name, options)
    assert path is not None, name
    return _read(path)


def _planetoid_roots(options: Options) -> list[Path | None]:
    """Return where Planetoid's graphs may lie; two of them come with the package."""
    return [None] if options.root is None else [options.root / "planetoid", options.root, None]


def _file(name: str, options: Options) -> Path | None:
    if options.root is None:
        return None
    places = (options.root / f"{name}.npz", options.root / "graphs" / f"{name}.npz")
    return next((path for path in places if path.exists()), None)


def _read(path: Path) -> StudyGraph:
    from scipy import sparse  # noqa: PLC0415 - scipy.sparse only when it is needed

    try:
        with np.load(path, allow_pickle=False) as arrays:
            shape = tuple(int(size) for size in arrays["shape"])
            indptr, indices = (arrays[key].astype(np.int64) for key in ("indptr", "indices"))
            values = arrays["data"] if "data" in arrays else np.ones(indices.size)
            edges, y = arrays["edge_index"].astype(np.int64), arrays["y"].astype(np.int64)
            masks = {
                part: np.unpackbits(arrays[f"{key}_masks"], axis=1, count=shape[0]).astype(bool)
                for part, key in (("train", "train"), ("valid", "val"), ("test", "test"))
                if f"{key}_masks" in arrays
            }
        x = sparse.csr_array((values.astype(np.float32), indices, indptr), shape=shape)
    except (KeyError, ValueError, OSError) as error:
        raise DataFileError(f"{path}: this is not a graph of the study: {error}") from error
    if masks:
        splits = [{part: np.flatnonzero(some[at]) for part, some in masks.items()} for at in range(SPLITS)]
    else:
        splits = [random_split(y, [SEED, at]) for at in range(SPLITS)]
    return StudyGraph(x, edges, y, splits)


def random_split(y: NDArray[np.int64], seed: list[int]) -> dict[str, NDArray[np.int64]]:
    """Return 20 nodes per class for training (or half of a small class), 500 to validate, 1,000 to test.

    Examples
    --------
    >>> import numpy as np
    >>> split = random_split(np.arange(4000) % 4, [0])
    >>> [len(split[part]) for part in ("train", "valid", "test")]
    [80, 500, 1000]
    """
    order = np.random.default_rng(seed).permutation(np.flatnonzero(y >= 0))
    train = np.concatenate(
        [
            members[: min(PER_CLASS, members.size // 2)]
            for members in (order[y[order] == one] for one in np.unique(y[order]))
        ]
    )
    rest = order[~np.isin(order, train)]
    return {"train": train, "valid": rest[:VALID], "test": rest[VALID : VALID + TEST]}
