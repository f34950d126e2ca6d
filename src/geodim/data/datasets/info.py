"""What is known about a data set without opening it: statistics, files, licence, and whether it is there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from geodim.data.datasets.bundled import is_bundled
from geodim.data.datasets.cache import MANIFEST, candidates
from geodim.data.datasets.fetch import missing_files
from geodim.data.datasets.mag import has_embedding
from geodim.data.datasets.registry import MAG_EMBEDDING, SPECS, get_spec
from geodim.data.datasets.roots import resolve_root

if TYPE_CHECKING:
    import os
    from pathlib import Path

__all__ = ["DatasetInfo", "dataset_info", "list_datasets"]


@dataclass(frozen=True)
class DatasetInfo:
    """One named data set.

    Attributes
    ----------
    name, description
        What it is.
    nodes, edges, attributes
        None for embedded data sets, whose size is chosen.  An edge that is listed in both directions is one.
    listed_edges
        Edges as the source lists them and the paper's table counts them, in both directions or in one.
    folder
        Where its files are expected; None for embedded data sets.
    present
        Whether it can be loaded without a download: embedded, in the package, all files there, or already
        converted.
    missing
        The required files that are not in the folder; none where the package has the data itself.
    converted
        The folder with its memory-mapped arrays, if there is one.
    directed
        Whether its edges have a direction.
    download_bytes
        About how much a download would fetch.
    source, license
        Where it comes from, and under which terms.
    """

    name: str
    description: str
    nodes: int | None
    edges: int | None
    listed_edges: int | None
    attributes: int | None
    folder: Path | None
    present: bool
    missing: tuple[str, ...]
    converted: Path | None
    directed: bool
    download_bytes: int
    source: str
    license: str

    def as_dict(self) -> dict[str, Any]:
        """Return the fields as plain values, ready for JSON."""
        fields = {**self.__dict__, "missing": list(self.missing)}
        return {
            key: str(value) if key in {"folder", "converted"} and value else value
            for key, value in fields.items()
        }


def dataset_info(name: str, root: str | os.PathLike[str] | None = None) -> DatasetInfo:
    """Describe one data set; opens and downloads nothing.

    Parameters
    ----------
    name
        A registered name; case does not matter.
    root
        The folder that holds one folder per data set; see ``load_dataset``.

    Examples
    --------
    >>> dataset_info("cora").edges
    5278
    """
    spec = get_spec(name)
    embedded = spec.family == "embedded"
    folder = None if embedded else resolve_root(root) / spec.folder
    missing: list[str] = []
    converted = None
    if folder is not None:
        missing = missing_files(spec, folder)
        if spec.family == "ogb-mag" and not has_embedding(folder):
            missing.append(MAG_EMBEDDING)
        if spec.family != "planetoid":
            places = candidates(folder, spec.name)
            converted = next((place for place in places if (place / MANIFEST).is_file()), None)
    bundled = root is None and is_bundled(spec.name)
    present = not missing or converted is not None or bundled
    table = spec.statistics
    listed = table.edges if table else None
    return DatasetInfo(
        name=spec.name,
        description=spec.description,
        nodes=table.nodes if table else None,
        edges=listed // 2 if listed is not None and spec.mirrored else listed,
        listed_edges=listed,
        attributes=table.attributes if table else None,
        folder=folder,
        present=present,
        missing=() if bundled else tuple(missing),
        converted=converted,
        directed=spec.directed,
        download_bytes=spec.download_bytes,
        source=spec.source,
        license=spec.license,
    )


def list_datasets(root: str | os.PathLike[str] | None = None) -> list[DatasetInfo]:
    """Describe all data sets, in the order of the registry.

    Examples
    --------
    >>> [info.name for info in list_datasets()][:3]
    ['cora', 'citeseer', 'pubmed']
    """
    return [dataset_info(name, root) for name in SPECS]
