"""Which functions make up F: the hops of a graph's attributes under a diffusion operator.

>>> import numpy as np
>>> from geodim.features import hop_features, make_operator
>>> operator = make_operator([(0, 1), (1, 2)], "sym")
>>> X = np.array([[1.0], [0.0], [1.0]])
>>> hop_features(X, operator, hops=1)[1].round(3).tolist()
[[0.5], [0.816], [0.5]]
"""

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
