"""geodim: exact, certified intrinsic dimension of geometric data.

>>> import numpy as np
>>> import geodim
>>> result = geodim.intrinsic_dimension(np.eye(5))
>>> result.dimension
25.0

Public names are imported when first used, so that ``import geodim`` stays quick.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from geodim._version import __version__

_WHERE = {
    "IDResult": "geodim.result",
    "IntrinsicDimension": "geodim.estimator",
    "KHopIntrinsicDimension": "geodim.khop_estimator",
    "KHopResult": "geodim.khop_result",
    "intrinsic_dimension": "geodim.dimension",
    "khop_dimensions": "geodim.khop",
    "load_dataset": "geodim.data.datasets",
}
_MODULES = {"errors", "paper"}

__all__ = [
    "IDResult",
    "IntrinsicDimension",
    "KHopIntrinsicDimension",
    "KHopResult",
    "__version__",
    "errors",
    "intrinsic_dimension",
    "khop_dimensions",
    "load_dataset",
    "paper",
]

if TYPE_CHECKING:
    from geodim import errors, paper
    from geodim.data.datasets import load_dataset
    from geodim.dimension import intrinsic_dimension
    from geodim.estimator import IntrinsicDimension
    from geodim.khop import khop_dimensions
    from geodim.khop_estimator import KHopIntrinsicDimension
    from geodim.khop_result import KHopResult
    from geodim.result import IDResult


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f"geodim.{name}")
    if name in _WHERE:
        return getattr(import_module(_WHERE[name]), name)
    msg = f"module 'geodim' has no attribute {name!r}"
    raise AttributeError(msg)


def __dir__() -> list[str]:
    return sorted(__all__)
