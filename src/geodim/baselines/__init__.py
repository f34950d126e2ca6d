"""Other estimators of intrinsic dimension, for comparison: MLE, TwoNN, and all of scikit-dimension by name.

These estimate the dimension of a manifold from distances between neighbours.  docs/baselines.md says what
each computes, and why equal rows need care.

>>> import numpy as np
>>> from geodim import baselines
>>> X = np.random.default_rng(0).uniform(size=(2000, 2))
>>> round(baselines.mle(X).dimension), round(baselines.two_nn(X).dimension)
(2, 2)
>>> baselines.PAPER_SAMPLE, baselines.PRINTED_MLE["cora"][0]
(169343, 30.6049)
"""

from geodim.baselines.khop import HopPoints, khop_mle, khop_points
from geodim.baselines.khop_table import PRINTED_MLE, khop_mle_rows
from geodim.baselines.mle import PAPER_SAMPLE, mle
from geodim.baselines.result import BaselineResult
from geodim.baselines.skdim import skdim_estimate, skdim_names
from geodim.baselines.two_nn import two_nn

__all__ = [
    "PAPER_SAMPLE",
    "PRINTED_MLE",
    "BaselineResult",
    "HopPoints",
    "khop_mle",
    "khop_mle_rows",
    "khop_points",
    "mle",
    "skdim_estimate",
    "skdim_names",
    "two_nn",
]
