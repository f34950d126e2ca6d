"""Data sets that need no files.

Handwritten digits with a neighbour graph, a block model, and R-MAT graphs of any size.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from geodim.arguments import MOST_SIZE, real_number, whole_number
from geodim.data.datasets.model import GraphDataset
from geodim.data.datasets.streaming import NpyWriter
from geodim.errors import InputValueError
from geodim.memory import check_bytes

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator

    from numpy.typing import NDArray

__all__ = ["digits", "iter_rmat_edges", "rmat", "sbm"]

# Edges and attribute rows are drawn in blocks with a random stream each, so that the result does not depend
# on how many are held at once, and a block's working arrays stay in the processor's cache.
BLOCK_EDGES = 1 << 17
BLOCK_VALUES = 1 << 20


def _stream(seed: int, *key: int) -> np.random.Generator:
    return np.random.default_rng(np.random.SeedSequence(entropy=seed, spawn_key=key))


def _random_splits(n_nodes: int, seed: int) -> dict[str, NDArray[np.int64]]:
    """Split the nodes 60 : 20 : 20 at random."""
    order = _stream(seed, 9).permutation(n_nodes)
    first, second = int(0.6 * n_nodes), int(0.8 * n_nodes)
    parts = {"train": order[:first], "valid": order[first:second], "test": order[second:]}
    return {name: np.sort(index).astype(np.int64) for name, index in parts.items()}


def _at_least(**values: tuple[object, int]) -> None:
    for name, (value, least) in values.items():
        whole_number(value, name, least)


def _check_room(nodes: int, attributes: int, edges: int, copies: int = 1) -> None:
    """Raise if a graph of these sizes, with all copies held while it is made, does not fit in memory."""
    need = copies * (4 * nodes * attributes + 8 * nodes + 16 * edges)
    what = f"a graph of {nodes:,} nodes, {attributes:,} attributes and {edges:,} edges"
    check_bytes(need, what, "take fewer, or for rmat a folder")


def digits(*, n_neighbors: int = 10, seed: int = 0) -> GraphDataset:
    """Return scikit-learn's digits (1797 images, 64 pixels) with their symmetric k-nearest-neighbour graph.

    Two images are joined when one is among the ``n_neighbors`` nearest of the other in Euclidean distance.

    Parameters
    ----------
    n_neighbors
        k of the neighbour graph.
    seed
        Of the random split 60 : 20 : 20; the images and the graph do not depend on it.
    """
    from sklearn.datasets import load_digits  # noqa: PLC0415 - scikit-learn is slow to import
    from sklearn.metrics import euclidean_distances  # noqa: PLC0415

    pixels, labels = load_digits(return_X_y=True)
    _at_least(n_neighbors=(n_neighbors, 1), seed=(seed, 0))
    if n_neighbors >= len(pixels):
        raise InputValueError(f"n_neighbors must be below the {len(pixels)} images, not {n_neighbors}")
    # Pixels are small whole numbers, so squared distances are exact; of equally distant images the first is
    # taken, whereas a neighbour search that uses threads breaks ties differently from machine to machine.
    squares = euclidean_distances(pixels, squared=True)
    np.fill_diagonal(squares, np.inf)
    nearest = np.zeros(squares.shape, np.bool_)
    np.put_along_axis(nearest, squares.argsort(axis=1, kind="stable")[:, :n_neighbors], values=True, axis=1)
    targets, sources = np.nonzero(nearest | nearest.T)
    return GraphDataset(
        name="digits",
        x=pixels.astype(np.float32),
        edge_index=np.stack([sources, targets]).astype(np.int64),
        directed=False,
        mirrored=True,
        y=labels.astype(np.int64),
        splits=_random_splits(len(pixels), seed),
        provenance={"source": "sklearn.datasets.load_digits", "n_neighbors": n_neighbors, "seed": seed},
    )


def sbm(
    *,
    nodes: int = 1000,
    blocks: int = 4,
    attributes: int = 16,
    p_in: float = 0.05,
    p_out: float = 0.005,
    separation: float = 1.0,
    seed: int = 0,
) -> GraphDataset:
    r"""Draw a stochastic block model with Gaussian attributes.

    Node i is in block :math:`b_i = i \bmod B`. Each pair i < j is an edge with probability ``p_in`` if
    :math:`b_i = b_j` and ``p_out`` otherwise, and :math:`x_i \sim \mathcal{N}(s \, c_{b_i}, I)` with centres
    :math:`c_b \sim \mathcal{N}(0, I)` and the separation s.

    Parameters
    ----------
    nodes, blocks, attributes
        Sizes; ``blocks`` is B.
    p_in, p_out
        The probabilities of an edge within a block and between blocks.
    separation
        How far apart the blocks' centres are, in standard deviations.
    seed
        Same seed, same bits.
    """
    _at_least(nodes=(nodes, 1), blocks=(blocks, 1), attributes=(attributes, 1), seed=(seed, 0))
    for name, value in (("p_in", p_in), ("p_out", p_out)):
        real_number(value, name, least=0.0, most=1.0, hint="a probability")
    if blocks > nodes:
        raise InputValueError(f"{blocks} blocks need at least as many nodes, not {nodes}")
    within = p_in / blocks + p_out * (1.0 - 1.0 / blocks)
    _check_room(nodes, attributes, int(0.5 * within * min(nodes, MOST_SIZE) ** 2), copies=2)
    members = [np.arange(block, nodes, blocks, dtype=np.int64) for block in range(blocks)]
    rng = _stream(seed, 0)
    pairs = [
        _block_edges(rng, members[first], members[second], p_in if first == second else p_out)
        for first in range(blocks)
        for second in range(first, blocks)
    ]
    half = np.concatenate(pairs, axis=1)
    both = np.concatenate([half, half[::-1]], axis=1)
    y = np.arange(nodes, dtype=np.int64) % blocks
    centres = separation * _stream(seed, 1).standard_normal((blocks, attributes))
    noise = _stream(seed, 2).standard_normal((nodes, attributes))
    parameters = {"blocks": blocks, "p_in": p_in, "p_out": p_out, "separation": separation, "seed": seed}
    return GraphDataset(
        name="sbm",
        x=(centres[y] + noise).astype(np.float32),
        edge_index=both[:, np.lexsort((both[0], both[1]))],
        directed=False,
        mirrored=True,
        y=y,
        splits=_random_splits(nodes, seed),
        provenance={"source": "generated: stochastic block model", "nodes": nodes, "attributes": attributes}
        | parameters,
    )


def _block_edges(
    rng: np.random.Generator, first: NDArray[np.int64], second: NDArray[np.int64], probability: float
) -> NDArray[np.int64]:
    """Draw each pair of two blocks (or of one, if they are the same) with the given probability.

    The positions of the successes of a Bernoulli sequence have geometric gaps, so that time and memory grow
    with the number of edges, not of pairs.
    """
    same = first is second
    n_pairs = first.size * (first.size - 1) // 2 if same else first.size * second.size
    if probability <= 0 or n_pairs == 0:
        return np.empty((2, 0), dtype=np.int64)
    hits, last = [], -1
    while last < n_pairs:
        left = (n_pairs - last) * probability
        # Gaps beyond the end are equivalent; the bound keeps the sum of many from overflowing.
        gaps = np.minimum(rng.geometric(probability, size=int(left + 4 * np.sqrt(left) + 8)), n_pairs + 1)
        hits.append(last + np.cumsum(gaps))
        last = int(hits[-1][-1])
    index = np.concatenate(hits)
    index = index[index < n_pairs]
    if not same:
        return np.stack([first[index // second.size], second[index % second.size]])
    # Pair number t counts (1,0), (2,0), (2,1), (3,0), ...: row r starts at r(r-1)/2. The square root can be
    # off by one in floating point, and is put right exactly.
    row = ((1 + np.sqrt(1 + 8 * index.astype(np.float64))) / 2).astype(np.int64)
    row -= row * (row - 1) // 2 > index
    row += row * (row + 1) // 2 <= index
    return np.stack([first[index - row * (row - 1) // 2], first[row]])


def iter_rmat_edges(
    nodes: int, edges: int, *, a: float = 0.57, b: float = 0.19, c: float = 0.19, seed: int = 0
) -> Iterator[NDArray[np.int64]]:
    """Yield the edges of an R-MAT graph in blocks of shape ``(2, k)``.

    Each edge falls into one quadrant of the adjacency matrix with probabilities a, b, c and
    d = 1 - a - b - c, then into a quadrant of that quadrant, and so on down to one entry. When
    ``nodes`` is not a power of two, edges that fall outside are drawn again. Repeated edges and
    self-loops occur, as R-MAT makes them.

    Parameters
    ----------
    nodes, edges
        Sizes of the graph.
    a, b, c
        Quadrant probabilities: upper left, upper right, lower left. The defaults are those of Graph500.
    seed
        Same seed, same bits.
    """
    _at_least(nodes=(nodes, 1), edges=(edges, 0), seed=(seed, 0))
    if min(a, b, c) < 0 or a <= 0 or a + b + c > 1 + 1e-12:
        raise InputValueError(
            f"a, b, c must be probabilities with a > 0 and a + b + c <= 1, not {a}, {b}, {c}"
        )
    levels = (nodes - 1).bit_length()
    for block, start in enumerate(range(0, edges, BLOCK_EDGES)):
        wanted = min(BLOCK_EDGES, edges - start)
        rng = _stream(seed, 0, block)
        found = _rmat_block(rng, BLOCK_EDGES, levels, (a, a + b, a + b + c))
        inside = found[:, (found < nodes).all(axis=0)]
        while inside.shape[1] < wanted:
            found = _rmat_block(rng, BLOCK_EDGES, levels, (a, a + b, a + b + c))
            inside = np.concatenate([inside, found[:, (found < nodes).all(axis=0)]], axis=1)
        yield inside[:, :wanted]


def _rmat_block(
    rng: np.random.Generator, count: int, levels: int, bounds: tuple[float, float, float]
) -> NDArray[np.int64]:
    source, target = ends = np.zeros((2, count), dtype=np.int64)
    right, down, corner = (np.float32(bound) for bound in bounds)
    for _ in range(levels):
        draw = rng.random(count, dtype=np.float32)
        low = draw >= down
        source <<= 1
        source |= low
        # Quadrants in the order of the draw: left, right, left, right; each bound passed flips the side.
        low ^= draw >= right
        low ^= draw >= corner
        target <<= 1
        target |= low
    return ends


def _iter_attributes(nodes: int, attributes: int, seed: int) -> Iterator[NDArray[np.float32]]:
    rows = max(1, BLOCK_VALUES // attributes)
    for block, start in enumerate(range(0, nodes, rows)):
        yield _stream(seed, 1, block).standard_normal(
            (min(rows, nodes - start), attributes), dtype=np.float32
        )


def rmat(
    *,
    nodes: int = 1 << 14,
    edges: int = 1 << 18,
    attributes: int = 16,
    seed: int = 0,
    a: float = 0.57,
    b: float = 0.19,
    c: float = 0.19,
    folder: str | os.PathLike[str] | None = None,
) -> GraphDataset:
    """Draw an R-MAT graph with standard normal attributes; see :func:`iter_rmat_edges`.

    Parameters
    ----------
    nodes, edges, attributes
        Sizes.
    seed, a, b, c
        As for :func:`iter_rmat_edges`.
    folder
        When given, edges and attributes are written there as ``edge_index.npy`` and ``x.npy``, block by
        block, and returned as read-only memory maps: for graphs larger than memory.
    """
    _at_least(nodes=(nodes, 1), edges=(edges, 0), attributes=(attributes, 1), seed=(seed, 0))
    edge_blocks = iter_rmat_edges(nodes, edges, a=a, b=b, c=c, seed=seed)
    attribute_blocks = _iter_attributes(nodes, attributes, seed)
    x: NDArray[np.float32]
    edge_index: NDArray[np.int64]
    if folder is None:
        _check_room(nodes, attributes, edges)
        x, edge_index = np.empty((nodes, attributes), dtype=np.float32), np.empty((2, edges), dtype=np.int64)
        row = column = 0
        for ends in edge_blocks:
            edge_index[:, column : column + ends.shape[1]] = ends
            column += ends.shape[1]
        for values in attribute_blocks:
            x[row : row + len(values)] = values
            row += len(values)
    else:
        place = Path(folder)
        place.mkdir(parents=True, exist_ok=True)
        _write_rmat(place, (nodes, attributes), edges, attribute_blocks, edge_blocks)
        x, edge_index = (np.load(place / f"{name}.npy", mmap_mode="r") for name in ("x", "edge_index"))
    provenance: dict[str, Any] = {"source": "generated: R-MAT", "seed": seed, "a": a, "b": b, "c": c}
    if folder is not None:
        provenance["folder"] = str(folder)
    return GraphDataset(
        name="rmat",
        x=x,
        edge_index=edge_index,
        directed=True,
        mirrored=False,
        y=None,
        splits={},
        provenance=provenance,
    )


def _write_rmat(
    place: Path,
    shape: tuple[int, int],
    edges: int,
    attribute_blocks: Iterator[NDArray[np.float32]],
    edge_blocks: Iterator[NDArray[np.int64]],
) -> None:
    with NpyWriter(place / "x.npy", shape, np.float32) as writer:
        for values in attribute_blocks:
            writer.append(values)
    column = 0
    with NpyWriter(place / "edge_index.npy", (2, edges), np.int64) as writer:
        for ends in edge_blocks:
            writer.put_columns(column, ends)
            column += ends.shape[1]
