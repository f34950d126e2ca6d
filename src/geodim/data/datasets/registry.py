"""The table of named data sets: folders, files, addresses, statistics, licences.

Statistics are those of the paper's table. Folders and file names are those of PyTorch Geometric
(Planetoid) and of the ``ogb`` package, so that a folder one of them has downloaded is read as it is. The
addresses are the official ones; the known checksums of the Planetoid files were taken from the copies that
give the paper's statistics.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from geodim.errors import InputValueError

__all__ = ["SPECS", "DatasetSpec", "Remote", "Statistics", "get_spec"]

Family = Literal["planetoid", "ogb-csv", "ogb-mag", "ogb-npz", "embedded"]

# load_dataset() downloads up to this size by itself; anything larger only after an explicit fetch().
LARGE_DOWNLOAD_BYTES = 5 << 30


@dataclass(frozen=True)
class Statistics:
    """Nodes, listed edges and attributes as the paper prints them."""

    nodes: int
    edges: int
    attributes: int


@dataclass(frozen=True)
class Remote:
    """A file to download.

    Attributes
    ----------
    url
        The official address.
    provides
        The files, relative to the data set's folder, that make this download unnecessary when present.
    sha256
        The known checksum; None means it is recorded at the first download and enforced afterwards.
    strip
        For an archive: its top folder, whose content goes to ``into``. None for a plain file.
    into
        Where it belongs, relative to the data set's folder.
    """

    url: str
    provides: tuple[str, ...]
    sha256: str | None = None
    strip: str | None = None
    into: str = ""

    @property
    def filename(self) -> str:
        """The last part of the address."""
        return self.url.rpartition("/")[2]


@dataclass(frozen=True)
class DatasetSpec:
    """One entry of the table."""

    name: str
    family: Family
    description: str
    statistics: Statistics | None = None
    folder: str = ""
    required: tuple[str, ...] = ()
    remotes: tuple[Remote, ...] = ()
    split: str = ""
    directed: bool = False
    mirrored: bool = False  # every edge is listed in both directions, and counted twice by the paper
    download_bytes: int = 0
    source: str = ""
    license: str = ""


_PLANETOID_HASHES = {
    "cora": {
        "x": "23cfa55d91c6f624233f5eb7b6e3f141f1bd2b2ae39608a63cf5d084bb27baab",
        "tx": "b9afbaa4a400df991f6f02ef677e1e44da55ffc04801fd02f9e673987829226a",
        "allx": "9419ba2f26f5c35243db64aba110e0f35a04851609e0dc5433450676ca6b8543",
        "y": "94465c14eb53e04ca262198dcbb2521ee8af60fb3f3d546cd6ca24a511b0e7d1",
        "ty": "41f5ac76596a1699cc33f53084a2419e92961c42bb75f36fc38e616d348532ad",
        "ally": "2b998f5cc7fedc86e7f97ca2498f47a1ffc1462c29e2d578b23bf3f62b6e7d71",
        "graph": "58f13302f39dde8852dad6fe6d15b89b077b6d7f837626bce671ef80344b383d",
        "test.index": "297ce89af2b51a6a194181c7dbe1796c6a1cf9cd9349a88383b1b1e227867875",
    },
    "citeseer": {
        "x": "d20de19150741e555de0ed037195630fc194114ebc7fd72ced62810148aa22f6",
        "tx": "539a8906a2da97628d212f2fdd668c109a8b3f0d36574b59e5d3fd5b5303da21",
        "allx": "2ac30345d95c9ec933a817ee0bdd6a5f077f8c184a20e696910192d534414668",
        "y": "8ba87e515d8e3ee3cf52f6d2c5b86aa73f11ecad825a808455209ec26cd54924",
        "ty": "55e5bd1ba1e733a04598753ad1a8d57957f4b8f89e74519f41f4f4938767e4ce",
        "ally": "f704b2d986dde6c2669934de1f3ae5696a6cf9455c0f6b2646a2d135ea0a1c95",
        "graph": "d79a4ef9d3e7169aee8946145f6b7306e35bc79bffad26346cfb94e10e9912a7",
        "test.index": "2af990671580b6b2df5d158d1038f8292e30c9cd821b5453f399659b25b723d4",
    },
    "pubmed": {
        "x": "fbe9cb5c47200d1b7769a26e579be3b7130b556831f9d850e77c4c74f2599b33",
        "tx": "4eb5f5d0f30f26497eb0ac6ac9719d09c67e284f1ed0385c93f3ef27a671da3d",
        "allx": "508e538e2abdccdd54c4d3e9f49d638b4af7107d85845f66ddea5a5152658b7e",
        "y": "e6c807633307a07ed659249006536a147c7999c797f11a2560752990181b41b3",
        "ty": "ee2e0d4819d9fbcc403689c3bf2e49face401b605932f093bc58ab6461130fdd",
        "ally": "0c37bbe3b5014ec365e9d393cf4791925e5ed94fb194305d74f064a8d7b50f0e",
        "graph": "5b89f0036ca22909471f1e6558eb42fa06e0c730a577bde5b058b40638f81dc9",
        "test.index": "b101d421688bbaecbd82e8a18f1e282378d6830f3a37666f28ebc47f844341b5",
    },
}


def _planetoid(name: str, folder: str, topic: str, nodes: int, edges: int, attributes: int) -> DatasetSpec:
    base = "https://github.com/kimiyoung/planetoid/raw/master/data"
    remotes = tuple(
        Remote(f"{base}/ind.{name}.{part}", (f"raw/ind.{name}.{part}",), sha256=sha256, into="raw")
        for part, sha256 in _PLANETOID_HASHES[name].items()
    )
    return DatasetSpec(
        name=name,
        family="planetoid",
        description=f"citations between {topic}, words as attributes (Planetoid)",
        statistics=Statistics(nodes, edges, attributes),
        folder=folder,
        required=tuple(remote.provides[0] for remote in remotes),
        remotes=remotes,
        mirrored=True,
        download_bytes=10 << 20,
        source="https://github.com/kimiyoung/planetoid",
        license="none stated for the data; Yang, Cohen, Salakhutdinov (2016) ask to be cited",
    )


def _ogb(
    name: str,
    family: Family,
    archive: str,
    required: tuple[str, ...],
    statistics: Statistics,
    *,
    description: str,
    split: str = "time",
    directed: bool = True,
    nodes_folder: str = "",
    download_bytes: int,
    license_: str = "ODC-BY",
    extra: tuple[Remote, ...] = (),
) -> DatasetSpec:
    splits = tuple(f"split/{split}/{nodes_folder}{part}.csv.gz" for part in ("train", "valid", "test"))
    # ogb's master.csv has the same addresses without encryption.
    url = f"https://snap.stanford.edu/ogb/data/nodeproppred/{archive}.zip"
    return DatasetSpec(
        name=name,
        family=family,
        description=description,
        statistics=statistics,
        folder=name.replace("-", "_"),
        required=(*required, *splits),
        remotes=(Remote(url, (*required, *splits), strip=archive), *extra),
        split=f"split/{split}/{nodes_folder}".rstrip("/"),
        directed=directed,
        download_bytes=download_bytes,
        source="https://ogb.stanford.edu/docs/nodeprop",
        license=license_,
    )


_CSV_FILES = tuple(
    f"raw/{part}.csv.gz" for part in ("edge", "node-feat", "node-label", "num-node-list", "num-edge-list")
)
MAG_RELATIONS = (
    ("author", "affiliated_with", "institution"),
    ("author", "writes", "paper"),
    ("paper", "cites", "paper"),
    ("paper", "has_topic", "field_of_study"),
)
_MAG_FILES = (
    "raw/num-node-dict.csv.gz",
    "raw/triplet-type-list.csv.gz",
    "raw/node-feat/paper/node-feat.csv.gz",
    "raw/node-label/paper/node-label.csv.gz",
    *(
        f"raw/relations/{'___'.join(triplet)}/{part}.csv.gz"
        for triplet in MAG_RELATIONS
        for part in ("edge", "num-edge-list")
    ),
)
MAG_EMBEDDING = "raw/mag_metapath2vec_emb.pt"

_ALL = (
    _planetoid("cora", "Cora", "papers on machine learning", 2708, 10556, 1433),
    _planetoid("citeseer", "CiteSeer", "papers on computer science", 3327, 9104, 3703),
    _planetoid("pubmed", "PubMed", "papers on diabetes", 19717, 88648, 500),
    _ogb(
        "ogbn-arxiv", "ogb-csv", "arxiv", _CSV_FILES, Statistics(169_343, 1_166_243, 128),
        description="citations between arXiv papers on computer science", download_bytes=85 << 20,
    ),
    _ogb(
        "ogbn-products", "ogb-csv", "products", _CSV_FILES, Statistics(2_449_029, 61_859_140, 100),
        description="products bought together at Amazon", split="sales_ranking", directed=False,
        download_bytes=1_400 << 20, license_="Amazon licence",
    ),
    _ogb(
        "ogbn-mag", "ogb-mag", "mag", _MAG_FILES, Statistics(1_939_743, 21_111_007, 128),
        description="papers, authors, institutions and fields of study, made one graph; missing "
        "attributes from metapath2vec",
        nodes_folder="paper/", download_bytes=1_300 << 20,
        extra=(Remote("https://data.pyg.org/datasets/mag_metapath2vec_emb.zip", (MAG_EMBEDDING,), strip="",
                      into="raw"),),
    ),
    _ogb(
        "ogbn-papers100M", "ogb-npz", "papers100M-bin", ("raw/data.npz", "raw/node-label.npz"),
        Statistics(111_059_956, 1_615_685_872, 128),
        description="citations between papers of the Microsoft Academic Graph", download_bytes=57 << 30,
    ),
    DatasetSpec(
        "digits", "embedded", "8x8 images of handwritten digits and their symmetric nearest-neighbour graph",
        source="sklearn.datasets.load_digits",
        license="CC BY 4.0 (UCI, optical recognition of handwritten digits)",
    ),
    DatasetSpec("sbm", "embedded", "a stochastic block model with Gaussian attributes", source="generated"),
    DatasetSpec("rmat", "embedded", "an R-MAT graph with Gaussian attributes", directed=True,
                source="generated"),
)  # fmt: skip

SPECS: dict[str, DatasetSpec] = {spec.name: spec for spec in _ALL}
_KEYS = {name.lower(): name for name in SPECS}


def get_spec(name: str) -> DatasetSpec:
    """Return the entry of a name; case and ``_`` or ``-`` do not matter.

    Examples
    --------
    >>> get_spec("PubMed").statistics.nodes
    19717
    """
    key = _KEYS.get(str(name).lower().replace("_", "-"))
    if key is None:
        raise InputValueError(f"no data set is called {name!r}; there are {', '.join(SPECS)}")
    return SPECS[key]
