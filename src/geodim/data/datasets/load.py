"""`load_dataset`: from a name to a :class:`GraphDataset`."""

from __future__ import annotations

import dataclasses
import inspect
from typing import TYPE_CHECKING

import numpy as np

from geodim.arguments import whole_number
from geodim.data.boundary import boundary
from geodim.data.datasets import cache
from geodim.data.datasets.bundled import is_bundled, load_bundled
from geodim.data.datasets.errors import DatasetNotFoundError
from geodim.data.datasets.fetch import fetch, missing_files, not_found
from geodim.data.datasets.mag import embedding_places, has_embedding, write_mag_graph
from geodim.data.datasets.model import GraphDataset
from geodim.data.datasets.ogb import SPLITS, write_csv_graph, write_npz_graph
from geodim.data.datasets.planetoid import load_planetoid
from geodim.data.datasets.registry import LARGE_DOWNLOAD_BYTES, DatasetSpec, Statistics, get_spec
from geodim.data.datasets.roots import is_offline, resolve_root
from geodim.data.datasets.streaming import CHUNK_BYTES
from geodim.data.datasets.synthetic import digits, rmat, sbm
from geodim.errors import InputValueError

if TYPE_CHECKING:
    import os
    from collections.abc import Callable
    from pathlib import Path

__all__ = ["convert", "load_dataset"]

_GENERATORS: dict[str, Callable[..., GraphDataset]] = {"digits": digits, "sbm": sbm, "rmat": rmat}
_WRITERS = {"ogb-csv": write_csv_graph, "ogb-mag": write_mag_graph, "ogb-npz": write_npz_graph}
# Raised when the arrays a writer makes change, so that caches made before are built again.
_RECIPES = {"ogb-csv": "ogb-csv/1", "ogb-mag": "ogb-mag/1", "ogb-npz": "ogb-npz/1"}


def load_dataset(
    name: str,
    root: str | os.PathLike[str] | None = None,
    *,
    offline: bool = False,
    verify: cache.Verify = "auto",
    chunk_bytes: int = CHUNK_BYTES,
    **options: object,
) -> GraphDataset:
    """Load a graph data set by name.

    Planetoid data sets are read from their raw files; OGB data sets are converted once to ``.npy`` files and
    then memory-mapped, so that even ogbn-papers100M opens in any amount of memory. No file can make code run.

    Parameters
    ----------
    name
        ``cora``, ``citeseer``, ``pubmed``, ``ogbn-arxiv``, ``ogbn-products``, ``ogbn-mag``,
        ``ogbn-papers100M``, ``digits``, ``sbm`` or ``rmat``; case does not matter.
    root
        The folder that holds one folder per data set, in the layouts of PyTorch Geometric and ogb. By default
        the environment variable ``GEODIM_DATA``, otherwise the user's cache folder; without files of Cora or
        CiteSeer there, those that come with the package are used.
    offline
        Never download. Otherwise missing files are fetched, except those of data sets beyond 5 GB, which need
        an explicit call of :func:`fetch`.
    verify
        How thoroughly converted arrays are compared with their checksums at the first opening in a process:
        ``auto``, ``full`` or ``size``; see :func:`geodim.data.datasets.cache.open_cache`.
    chunk_bytes
        How much to hold at once while converting.
    **options
        Parameters of the embedded data sets, such as ``nodes``, ``edges`` and ``seed`` of ``rmat``.

    Returns
    -------
    GraphDataset
        Attributes, edges, labels, splits and provenance.

    Examples
    --------
    >>> load_dataset("digits", n_neighbors=5).x.shape
    (1797, 64)
    """
    spec = get_spec(name)
    cache.check_verify(verify)
    if spec.family == "embedded":
        return _generate(spec, options)
    if options:
        raise InputValueError(f"{spec.name} takes no options, but got {', '.join(sorted(options))}")
    base = resolve_root(root)
    folder = base / spec.folder
    if root is None and is_bundled(spec.name) and missing_files(spec, folder):
        return _compare(spec, load_bundled(spec))
    if spec.family == "planetoid":
        _ensure_files(spec, base, folder, offline)
        return _compare(spec, load_planetoid(spec, folder))
    places, sources = cache.candidates(folder, spec.name), _sources(spec, folder)
    entry = cache.open_cache(places, _RECIPES[spec.family], folder, sources, verify)
    if entry is None:
        convert(spec.name, base, offline=offline, chunk_bytes=chunk_bytes)
        entry = cache.open_cache(places, _RECIPES[spec.family], folder, _sources(spec, folder), "size")
    if entry is None:
        raise DatasetNotFoundError(
            f"{spec.name}: the converted arrays in {places[0]} vanished while being opened"
        )
    with boundary(entry.folder, "converted data set"):
        return _compare(spec, _from_cache(spec, folder, entry))


def convert(
    name: str,
    root: str | os.PathLike[str] | None = None,
    *,
    offline: bool = False,
    chunk_bytes: int = CHUNK_BYTES,
) -> Path:
    """Convert an OGB data set to memory-mapped arrays, whether or not that was done before.

    :func:`load_dataset` does this by itself when needed; here it can be done ahead of time.

    Parameters
    ----------
    name, root, offline, chunk_bytes
        As for :func:`load_dataset`. Memory stays within a few times ``chunk_bytes``.

    Returns
    -------
    pathlib.Path
        The folder with the arrays: ``geodim`` in the data set's folder, or one in the user's cache folder
        when that cannot be written.
    """
    spec = get_spec(name)
    if spec.family not in _WRITERS:
        raise InputValueError(f"{spec.name} is read as it is; only the ogbn data sets are converted")
    whole_number(chunk_bytes, "chunk_bytes", 1)
    base = resolve_root(root)
    folder = base / spec.folder
    _ensure_files(spec, base, folder, offline)
    writer = _WRITERS[spec.family]
    return cache.build(
        cache.candidates(folder, spec.name),
        _RECIPES[spec.family],
        folder,
        _sources(spec, folder),
        lambda target: writer(spec, folder, target, chunk_bytes),
    )


def _generate(spec: DatasetSpec, options: dict[str, object]) -> GraphDataset:
    generator = _GENERATORS[spec.name]
    known = inspect.signature(generator).parameters
    unknown = sorted(set(options) - set(known))
    if unknown:
        raise InputValueError(f"{spec.name} has no option {', '.join(unknown)}; it has {', '.join(known)}")
    return generator(**options)


def _ensure_files(spec: DatasetSpec, base: Path, folder: Path, offline: bool) -> None:
    """Download what is missing, or say where to place it."""
    if not missing_files(spec, folder) and (spec.family != "ogb-mag" or has_embedding(folder)):
        return
    if spec.download_bytes > LARGE_DOWNLOAD_BYTES and not is_offline(offline):
        size = f"{spec.download_bytes / 2**30:.0f} GB"
        raise not_found(
            spec,
            folder,
            f"{size} are not downloaded without being asked for: call fetch({spec.name!r}) to do so",
        )
    fetch(spec.name, base, offline=offline)


def _sources(spec: DatasetSpec, folder: Path) -> list[Path]:
    sources = [folder / name for name in spec.required]
    if spec.family == "ogb-mag":
        sources += [path for path in embedding_places(folder) if path.is_file()][:1]
    return sources


def _compare(spec: DatasetSpec, dataset: GraphDataset) -> GraphDataset:
    """Note in the provenance whether the sizes are those of the paper's table."""
    found = Statistics(dataset.n_nodes, dataset.n_listed, dataset.n_attributes)
    notes = {**dataset.provenance, "as_in_paper": found == spec.statistics}
    return dataclasses.replace(dataset, provenance=notes)


def _from_cache(spec: DatasetSpec, folder: Path, entry: cache.CacheEntry) -> GraphDataset:
    arrays = entry.arrays
    return GraphDataset(
        name=spec.name,
        x=arrays["x"],
        edge_index=arrays["edge_index"],
        directed=spec.directed,
        mirrored=False,
        y=arrays["y"],
        splits={part: np.array(arrays[part]) for part in SPLITS},
        provenance={
            "source": spec.source,
            "license": spec.license,
            "folder": str(folder),
            "converted": str(entry.folder),
            **entry.notes,
        },
    )
