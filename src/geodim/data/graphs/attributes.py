"""Graphs that carry the attributes of their nodes: PyTorch Geometric, pairs, and named data sets."""

from __future__ import annotations

from typing import TYPE_CHECKING

from geodim.data.objects import explain_other_objects, is_attributes_and_edges, is_data, is_hetero_data
from geodim.errors import InputTypeError, InputValueError, ShapeError
from geodim.lists import is_dask

if TYPE_CHECKING:
    import torch
    from torch_geometric.data import Data, HeteroData

__all__ = ["attributes_and_graph"]


def attributes_and_graph(X: object, graph: object, operator: object = "sym") -> tuple[object, object]:
    """Return the attributes and the graph, whether they were given apart or in one object.

    Parameters
    ----------
    X : table, Data, HeteroData, GraphDataset or pair
        Attributes; or, without ``graph``, an object that holds both: of PyTorch Geometric, from
        `geodim.load_dataset`, or a pair (x, edge_index).  Node types of a ``HeteroData`` come one after the
        other, as in `as_graph`, and need the same attributes.
    graph : optional
        The graph, in any form that `as_graph` takes.
    operator
        What one hop does: without a graph only a matrix will do.

    Examples
    --------
    >>> import numpy as np
    >>> x, edges = attributes_and_graph((np.eye(2), np.array([[0], [1]])), None)
    >>> edges.tolist()
    [[0], [1]]
    """
    both = is_data(X) or is_hetero_data(X) or _is_dataset(X)
    if graph is not None:
        if both:
            raise InputValueError(
                f"a {type(X).__name__} holds attributes and a graph, and another graph was given: leave out "
                "graph, or give its attributes alone, data.x"
            )
        return X, graph
    if is_hetero_data(X):
        return _of_types(X), X
    if is_data(X):
        return _own(X), X
    if _is_dataset(X):
        return X.x, X.edge_index  # type: ignore[attr-defined]
    if is_attributes_and_edges(X):
        return X[0], X[1]
    if isinstance(operator, str):
        if not is_dask(X):
            explain_other_objects(X)
        raise InputTypeError(
            "there is no graph: give it after the attributes, khop_dimensions(X, graph), or give one object "
            "that holds both, a PyTorch Geometric Data or HeteroData, or a pair (x, edge_index)"
        )
    return X, None


def _is_dataset(X: object) -> bool:
    from geodim.data.datasets.model import GraphDataset  # noqa: PLC0415 - few have one

    return isinstance(X, GraphDataset)


def _own(data: Data) -> torch.Tensor:
    x: torch.Tensor | None = getattr(data, "x", None)
    if x is None:
        raise InputValueError(
            "the data has no attributes x: its k-hop data set has no features; "
            "features='distances', metric='shortest_path' measures the graph alone"
        )
    return x


def _of_types(data: HeteroData) -> torch.Tensor:
    """Return the attributes of all types of nodes, one type after the other."""
    import torch  # noqa: PLC0415 - it is there, or there would be no such data

    found = {name: getattr(data[name], "x", None) for name in data.node_types}
    if not found:
        raise InputValueError("the HeteroData has no nodes: its k-hop data set has no features")
    without = [name for name, x in found.items() if x is None]
    if without:
        raise InputValueError(
            f"the nodes of type {without[0]!r} have no attributes x: fill them in, or take the part of the "
            "data whose nodes have some, as in khop_dimensions(data[a].x, data[a, relation, a].edge_index)"
        )
    widths = {name: int(x.shape[1]) for name, x in found.items() if x is not None}
    if len(set(widths.values())) > 1:
        told = ", ".join(f"{name!r} {width}" for name, width in widths.items())
        raise ShapeError(
            f"the types of nodes have different numbers of attributes ({told}): map them to the same ones, "
            "or take one type, as in khop_dimensions(data[a].x, data[a, relation, a].edge_index)"
        )
    return torch.cat([x for x in found.values() if x is not None])
