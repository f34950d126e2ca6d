"""The readers of torch_geometric and ogb, imported quietly and without their network checks.

Where they are missing the test is skipped.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import sys
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from data.datasets.layouts import Truth
    from geodim.data.datasets import GraphDataset


@contextlib.contextmanager
def quietly() -> Iterator[None]:
    """Ignore warnings and prints of other people's packages."""
    with (
        warnings.catch_warnings(),
        contextlib.redirect_stdout(io.StringIO()),
        contextlib.redirect_stderr(io.StringIO()),
    ):
        warnings.simplefilter("ignore")
        yield


def load(module: str) -> Any:
    """Import an oracle, or skip the test that wants it."""
    # ogb asks the network for newer versions when the package "outdated" can be imported.
    if module.startswith("ogb"):
        sys.modules.setdefault("outdated", None)  # type: ignore[arg-type]
    try:
        with quietly():
            return importlib.import_module(module)
    except ImportError as error:
        pytest.skip(f"the oracle {module} is not installed ({error})")


def ogb_dataset(name: str, root: Path) -> tuple[dict[str, Any], Any, dict[str, Any]]:
    """Return graph, labels and split as ``ogb.nodeproppred.NodePropPredDataset`` reads them."""
    ogb = load("ogb.nodeproppred")
    with quietly():
        dataset = ogb.NodePropPredDataset(name, root=str(root))
        graph, labels = dataset[0]
        return graph, labels, dataset.get_idx_split()


def same(left: Any, right: Any) -> None:
    """Assert that two arrays (or tensors) are equal, element for element."""
    np.testing.assert_array_equal(np.asarray(left), np.asarray(right))


def check_mapped(dataset: GraphDataset, truth: Truth) -> None:
    """Assert that a converted data set holds what its files were written from, as read-only memory maps."""
    same(dataset.x, truth.x)
    same(dataset.edge_index, truth.edge_index)
    same(dataset.y, truth.y)
    for part, index in truth.splits.items():
        same(dataset.splits[part], index)
    assert dataset.y is not None
    assert dataset.x.dtype == np.float32
    assert dataset.edge_index.dtype == dataset.y.dtype == np.int64
    for array in (dataset.x, dataset.edge_index, dataset.y):
        assert isinstance(array, np.memmap)
        assert not array.flags.writeable
