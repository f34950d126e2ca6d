"""PyTorch: Delta and the dimension as differentiable functions, and networks watched while they train.

>>> import torch
>>> from geodim.torch import discriminability
>>> X = torch.tensor([[0.0], [1.0], [3.0]], requires_grad=True)
>>> delta = discriminability(X, scale="none")
>>> delta.item()  # (1 + 3) / 3
1.3333333333333333
>>> delta.backward()
>>> (3 * X.grad).squeeze().tolist()
[-2.0, 1.0, 1.0]

Needs PyTorch; importing this without it raises `MissingExtraError`.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from geodim.torch.layers import LayerDimension

if TYPE_CHECKING:
    from geodim.torch.gradient import discriminability, intrinsic_dimension_loss
    from geodim.torch.hops import hop_features
    from geodim.torch.training import DimensionCallback, DimensionMetric

_WHERE = {  # the last two need packages that are slow to import
    "discriminability": "gradient",
    "intrinsic_dimension_loss": "gradient",
    "hop_features": "hops",
    "DimensionCallback": "training",
    "DimensionMetric": "training",
}

__all__ = [
    "DimensionCallback",
    "DimensionMetric",
    "LayerDimension",
    "discriminability",
    "hop_features",
    "intrinsic_dimension_loss",
]


def __getattr__(name: str) -> object:
    if name in _WHERE:
        return getattr(import_module(f"geodim.torch.{_WHERE[name]}"), name)
    msg = f"module 'geodim.torch' has no attribute {name!r}"
    raise AttributeError(msg)


def __dir__() -> list[str]:
    return sorted(__all__)
