"""The PyTorch Geometric transform: the same numbers as the function, and nothing else changed."""

from __future__ import annotations

import importlib.util
import subprocess
import sys

import numpy as np
import pytest

import geodim
from geodim.errors import InputTypeError, InputValueError

INSTALLED = importlib.util.find_spec("torch_geometric") is not None
needs_pyg = pytest.mark.skipif(not INSTALLED, reason="torch_geometric is not installed")

# PyG itself warns at import on some versions of torch; that is not ours to answer for.
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")

BLOCKED = """
import sys
sys.modules["torch_geometric"] = None
if sys.argv[1] == "torch":
    sys.modules["torch"] = None
from geodim.errors import MissingExtraError
try:
    import geodim.pyg
except MissingExtraError as error:
    assert isinstance(error, ImportError)
    assert "geodim[gnn]" in str(error), error
    print(error.package)
"""


@pytest.mark.turns(2)
@pytest.mark.parametrize("package", ["torch", "torch_geometric"])
def test_without_the_package(package):
    """The message names the extra; without torch in this environment, torch is missed first in both cases."""
    answer = subprocess.run(
        [sys.executable, "-c", BLOCKED, package], check=True, capture_output=True, text=True
    ).stdout.strip()
    assert answer == (package if importlib.util.find_spec("torch") else "torch")


@pytest.fixture
def data():
    torch = pytest.importorskip("torch")
    pytest.importorskip("torch_geometric")
    from torch_geometric.data import Data

    rng = np.random.default_rng(51)
    x = np.where(rng.random((80, 6)) < 0.3, rng.random((80, 6)), 0.0).astype(np.float32)
    edges = rng.integers(0, 80, (2, 200))
    return Data(
        x=torch.from_numpy(x),
        edge_index=torch.from_numpy(edges),
        edge_weight=torch.linspace(0.5, 2.0, 200),
        y=torch.arange(80),
    )


def expected(data, **options):
    return geodim.khop_dimensions(data.x.numpy(), data.edge_index.numpy(), **options).dimensions


@needs_pyg
def test_same_numbers_as_the_function(data):
    import torch

    from geodim.pyg import KHopDimension

    out = KHopDimension()(data)
    assert out.khop_dimension.dtype == torch.float64
    assert out.khop_dimension.tolist() == expected(data)
    assert len(out.khop_dimension) == 6


@needs_pyg
def test_everything_else_is_kept(data):
    from geodim.pyg import KHopDimension

    before = data.keys()
    out = KHopDimension(hops=1)(data)
    assert data.keys() == before  # PyG's transforms work on a shallow copy
    assert set(out.keys()) == {*before, "khop_dimension"}
    for name in before:
        assert out[name] is data[name]
    assert out.num_nodes == 80


@needs_pyg
def test_options(data):
    from geodim.pyg import KHopDimension

    out = KHopDimension(hops=2, operator="rw", attr="dims", normalize=False)(data)
    assert out.dims.tolist() == expected(data, hops=2, operator="rw", normalize=False)
    weighted = KHopDimension(hops=1, edge_weights=True)(data).khop_dimension.tolist()
    assert weighted == expected(data, hops=1, edge_weights=data.edge_weight.numpy())
    assert weighted != expected(data, hops=1)


@needs_pyg
def test_in_a_chain_and_with_gradients(data):
    from torch_geometric.transforms import Compose, NormalizeFeatures

    from geodim.pyg import KHopDimension

    out = Compose([NormalizeFeatures(), KHopDimension(hops=1)])(data)
    assert out.khop_dimension.tolist() == expected(out, hops=1)
    data.x.requires_grad_()
    assert len(KHopDimension(hops=1)(data).khop_dimension) == 2


@needs_pyg
def test_batches_stack_the_dimensions(data):
    from torch_geometric.data import Batch

    from geodim.pyg import KHopDimension

    out = KHopDimension(hops=1)(data)
    assert Batch.from_data_list([out, out]).khop_dimension.tolist() == out.khop_dimension.tolist() * 2


@needs_pyg
def test_isolated_last_nodes_count(data):
    from geodim.pyg import KHopDimension

    data.edge_index = data.edge_index % 70
    assert KHopDimension(hops=1)(data).khop_dimension.tolist() == expected(data, hops=1)


@needs_pyg
def test_what_cannot_be_transformed(data):
    from torch_geometric.data import Data, HeteroData

    from geodim.pyg import KHopDimension

    with pytest.raises(InputTypeError, match="HeteroData, not dict"):
        KHopDimension()({})
    with pytest.raises(InputValueError, match="no nodes"):
        KHopDimension()(HeteroData())
    with pytest.raises(InputValueError, match="no attributes x"):
        KHopDimension()(Data(edge_index=data.edge_index, num_nodes=80))
    with pytest.raises(InputValueError, match="edge_index"):
        KHopDimension()(Data(x=data.x))
    with pytest.raises(InputValueError, match="graph comes from the data"):
        KHopDimension(graph=data)


@needs_pyg
def test_repr():
    from geodim.pyg import KHopDimension

    assert repr(KHopDimension(hops=3, operator="rw")) == "KHopDimension(hops=3, operator='rw')"
