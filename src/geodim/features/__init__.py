"""The functions that make up F: hops of a graph's attributes, `Distances`, `Directions`, `Values`, `Union`.

>>> import numpy as np
>>> from geodim.features import hop_features, make_operator
>>> operator = make_operator([(0, 1), (1, 2)], "sym")
>>> X = np.array([[1.0], [0.0], [1.0]])
>>> hop_features(X, operator, hops=1)[1].round(3).tolist()
[[0.5], [0.816], [0.5]]
>>> from geodim.features import DEFAULT_WIDTH
>>> DEFAULT_WIDTH  # columns of a block
16
"""

from importlib import import_module

from geodim.features.hops import DEFAULT_WIDTH, hop_features, iter_hop_blocks
from geodim.features.memory import columns_for_memory, graph_build_memory, hop_memory
from geodim.features.operators import MatrixOperator, Operator, SeriesOperator, make_operator

__all__ = [
    "DEFAULT_WIDTH",
    "MatrixOperator",
    "Operator",
    "SeriesOperator",
    "columns_for_memory",
    "graph_build_memory",
    "hop_features",
    "hop_memory",
    "iter_hop_blocks",
    "make_operator",
]

# These are made from points, in a package above this one.
_FAMILIES = (
    "Coordinates", "Directions", "Distances", "Family", "Patches", "Pixels", "Terms", "Union", "Values",
    "patches", "pixels", "terms",
)  # fmt: skip


def __getattr__(name: str) -> object:
    if name in _FAMILIES:
        return getattr(import_module("geodim.families"), name)
    raise AttributeError(f"module 'geodim.features' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*__all__, *_FAMILIES])
