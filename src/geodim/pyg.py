"""`KHopDimension`: a PyTorch Geometric transform that notes the dimensions of k-hop data sets.

Needs ``torch_geometric``; importing this module without it raises `MissingExtraError`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from geodim.errors import InputTypeError, InputValueError
from geodim.khop import khop_dimensions
from geodim.optional import require

if TYPE_CHECKING:
    from torch_geometric.data import Data, HeteroData

_torch: Any = require("torch", "gnn", "geodim.pyg")
_transforms: Any = require("torch_geometric.transforms", "gnn", "geodim.pyg")
_data: Any = require("torch_geometric.data", "gnn", "geodim.pyg")

__all__ = ["KHopDimension"]


class KHopDimension(_transforms.BaseTransform):  # type: ignore[misc] # known only where it is installed
    r"""Annotate a graph with the intrinsic dimensions of its k-hop geometric data sets, k = 0, ..., hops.

    .. math::

        \partial(D_k) = \frac{1}{\Delta(D_k)^2}, \qquad
        F_k = \{ \tfrac{1}{d_{\max}} (\hat A^m X)_{\cdot, j} \mid m \le k \}

    for the attributes ``data.x`` and the graph ``data.edge_index``, read as undirected.
    Everything else is kept.  Types of nodes and edges of a ``HeteroData`` are taken together, as in
    `geodim.khop_dimensions`.

    Parameters
    ----------
    hops : int, default 5
        Largest k.
    operator : {"sym", "rw", "ppr", "heat"} or sparse matrix
        What one hop does; "sym" is the paper's.
    attr : str, default "khop_dimension"
        Name of the attribute of the data that takes the dimensions, a float64 tensor of shape (hops + 1,).
    **options
        Further options of `geodim.khop_dimensions`, such as ``rtol``, ``n_threads`` or ``edge_weights=True``.

    Examples
    --------
    >>> import torch
    >>> from torch_geometric.data import Data
    >>> ring = torch.tensor([[0, 1, 2, 3], [1, 2, 3, 0]])
    >>> data = KHopDimension(hops=1)(Data(x=torch.eye(4), edge_index=ring))
    >>> data.khop_dimension[0].item()
    16.0
    """

    def __init__(
        self, hops: int = 5, operator: object = "sym", attr: str = "khop_dimension", **options: object
    ) -> None:
        taken = sorted({"X", "graph"} & options.keys())
        if taken:
            msg = f"{taken[0]} comes from the data that is transformed, not from an option"
            raise InputValueError(msg)
        self.hops = hops
        self.operator = operator
        self.attr = attr
        self.options: dict[str, Any] = options  # checked where they are used

    def forward(self, data: Data | HeteroData) -> Data | HeteroData:
        """Return the data (PyG hands in a shallow copy) with the dimensions added."""
        if not isinstance(data, (_data.Data, _data.HeteroData)):
            msg = f"KHopDimension works on a PyTorch Geometric Data or HeteroData, not {type(data).__name__}"
            raise InputTypeError(msg)
        result = khop_dimensions(data, hops=self.hops, operator=self.operator, **self.options)
        data[self.attr] = _torch.from_numpy(np.array(result.dimensions))
        return data

    def __repr__(self) -> str:
        return f"{type(self).__name__}(hops={self.hops}, operator={self.operator!r})"
