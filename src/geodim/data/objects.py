"""Objects that are not tables: what they are, and which function takes them.

Optional packages are never imported here: an object of theirs can only exist if its package has been imported
already, so looking into ``sys.modules`` is enough.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any, TypeGuard

from geodim.errors import InputTypeError
from geodim.lists import refuse_dask

if TYPE_CHECKING:
    from torch_geometric.data import Data, HeteroData

__all__ = ["explain_other_objects", "is_attributes_and_edges", "is_data", "is_hetero_data", "is_instance"]


def is_instance(value: object, module: str, name: str) -> bool:
    """Return whether ``value`` is of a class of an optional package, without importing that package."""
    kind = getattr(sys.modules.get(module), name, None)
    return isinstance(kind, type) and isinstance(value, kind)


def is_data(value: object) -> TypeGuard[Data]:
    """Return whether this is one graph of PyTorch Geometric, or a batch of some."""
    return is_instance(value, "torch_geometric.data", "Data")


def is_hetero_data(value: object) -> TypeGuard[HeteroData]:
    """Return whether this is a graph of PyTorch Geometric with several types of nodes or edges."""
    return is_instance(value, "torch_geometric.data", "HeteroData")


def is_attributes_and_edges(value: object) -> TypeGuard[tuple[Any, Any]]:
    """Return whether this is a pair (x, edge_index), as in PyTorch Geometric.

    The second of them must be whole numbers of shape (2, m), or a sparse adjacency; no table of two points
    looks like that, since its rows have one axis.
    """
    if not isinstance(value, tuple | list) or len(value) != 2:
        return False
    x_shape, edge_shape = (getattr(part, "shape", None) for part in value)
    if x_shape is None or edge_shape is None or len(x_shape) != 2 or len(edge_shape) != 2:
        return False
    if hasattr(value[1], "tocoo"):
        return bool(edge_shape[0] == edge_shape[1] == x_shape[0])
    kind = str(getattr(value[1], "dtype", "")).rpartition(".")[2]
    return edge_shape[0] == 2 and kind.startswith(("int", "uint"))


def explain_other_objects(data: object) -> None:
    """Raise if the data is not a table of points by features, naming the function that takes it."""
    refuse_dask(data)
    if is_data(data) or is_hetero_data(data):
        own = "data.x" if is_data(data) else "data[node_type].x"
        raise InputTypeError(
            f"the data is a PyTorch Geometric {type(data).__name__}, which is a graph with attributes: "
            f"geodim.khop_dimensions(data) measures both together, {own} is the table of attributes alone, "
            "and features='distances', metric='shortest_path' takes the graph alone, data.edge_index"
        )
    if is_instance(data, "torch_geometric.data", "Dataset"):
        raise InputTypeError(
            f"the data is a PyTorch Geometric data set ({type(data).__name__}) of graphs: take one of them, "
            "geodim.khop_dimensions(dataset[0])"
        )
    if is_instance(data, "networkx", "Graph"):
        raise InputTypeError(
            "the data is a networkx graph: geodim.khop_dimensions(X, graph) takes it together with a table X "
            "of attributes, and features='distances', metric='shortest_path' takes it alone"
        )
    if is_attributes_and_edges(data):
        raise InputTypeError(
            "the data is a pair of attributes and edges, (x, edge_index): geodim.khop_dimensions(x, "
            "edge_index) measures both together; give x alone for the attributes"
        )
    if isinstance(data, str | os.PathLike):
        raise InputTypeError(
            f"the data is a string, {os.fspath(data)!r:.80}: if it names a file, geodim.read_table reads it; "
            "if it names a data set, geodim.load_dataset"
        )
    if isinstance(data, dict) and not hasattr(data, "shape"):  # one kind of sparse matrix is a dict
        raise InputTypeError(
            "the data is a dict: give a table of points by features, such as pandas.DataFrame(data), or an "
            "array of one of its values"
        )
    if data is None:
        raise InputTypeError("the data is None: give a table of points by features")
