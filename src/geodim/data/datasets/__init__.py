"""Named graph data sets, read without executing code and without torch.

>>> from geodim.data.datasets import load_dataset
>>> load_dataset("digits").n_nodes
1797
"""

from geodim.data.datasets.errors import (
    ChecksumError,
    DatasetNotFoundError,
    MissingEmbeddingError,
    UnsafePickleError,
)
from geodim.data.datasets.fetch import fetch
from geodim.data.datasets.info import DatasetInfo, dataset_info, list_datasets
from geodim.data.datasets.load import convert, load_dataset
from geodim.data.datasets.metapath2vec import train_metapath2vec
from geodim.data.datasets.model import GraphDataset
from geodim.data.datasets.roots import resolve_root
from geodim.data.datasets.synthetic import iter_rmat_edges

__all__ = [
    "ChecksumError",
    "DatasetInfo",
    "DatasetNotFoundError",
    "GraphDataset",
    "MissingEmbeddingError",
    "UnsafePickleError",
    "convert",
    "dataset_info",
    "fetch",
    "iter_rmat_edges",
    "list_datasets",
    "load_dataset",
    "resolve_root",
    "train_metapath2vec",
]
