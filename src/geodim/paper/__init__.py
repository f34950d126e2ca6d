"""The paper, literally: its definitions and algorithms in plain numpy, to be read beside ``paper.tex``.

Nothing here is fast and nothing is clever: every function is one formula of the paper. It is the oracle that
all other code of geodim is compared with, and public, because it is also the shortest way to see what is
computed.

A data set is an (n, d) array ``X``: the rows are the points, the columns are the values of the feature
functions F, and the measure is the normalised counting measure. Values are converted to float64 first, except
integers that it does not hold, and differences are rounded to float64, so that every ``phi`` is a single,
once rounded difference of two input values. Sums over k are exact and their mean is rounded once, hence
independent of their order. No result is ever ``-0.0``.

* Section 3, definitions: :func:`c_alpha`, :func:`partial_diameter_by_subsets`, :func:`partial_diameter`,
  :func:`observable_diameter_by_subsets`, :func:`observable_diameter`, :func:`discriminability_by_definition`,
  :func:`is_geometric_dataset`
* Section 3, feature sequences: :func:`feature_sequence`, :func:`phi_kf`, :func:`phi_k_per_feature`,
  :func:`phi_k`, :func:`phi_all`
* Section 3, Algorithm 1: :func:`algorithm_1`, :func:`intrinsic_dimension`
* Section 4, support sequences: :func:`check_support`, :func:`log_scale_support`
* Section 4, bounds: :func:`support_bounds`, :func:`approximation_error`, :func:`insert_support_element`,
  :class:`DeltaBounds`
* Section 4, Algorithm 2: :func:`algorithm_2`, :class:`Algorithm2Result`
* Section 4, costs: :func:`naive_costs`, :func:`support_costs`, :func:`saved_costs`
* Section 5, graphs: :func:`normalized_adjacency`, :func:`d_max`, :func:`k_hop_features`
* Beyond the paper, points of any mass: :func:`partial_diameter_of_mass`, :func:`phi_of_measure`,
  :func:`discriminability_of_measure`
* A later paper by the same authors, features scored one by one: :func:`feature_resilience`,
  :func:`resilience_bounds`

>>> import numpy as np
>>> from geodim import paper
>>> X = np.array([[0.0, 0.8], [0.1, 0.0], [0.3, 0.4], [0.6, 0.8], [1.0, 0.0]])
>>> delta = paper.algorithm_1(X)
>>> round(delta, 4), round(paper.intrinsic_dimension(delta), 4)
(0.46, 4.7259)
"""

from __future__ import annotations

from geodim.paper.algorithm1 import algorithm_1, intrinsic_dimension
from geodim.paper.algorithm2 import Algorithm2Result, algorithm_2
from geodim.paper.bounds import DeltaBounds, approximation_error, insert_support_element, support_bounds
from geodim.paper.costs import naive_costs, saved_costs, support_costs
from geodim.paper.definitions import (
    c_alpha,
    discriminability_by_definition,
    is_geometric_dataset,
    observable_diameter,
    observable_diameter_by_subsets,
    partial_diameter,
    partial_diameter_by_subsets,
)
from geodim.paper.graph import d_max, k_hop_features, normalized_adjacency
from geodim.paper.measures import discriminability_of_measure, partial_diameter_of_mass, phi_of_measure
from geodim.paper.resilience import feature_resilience, resilience_bounds
from geodim.paper.sequences import feature_sequence, phi_all, phi_k, phi_k_per_feature, phi_kf
from geodim.paper.support import check_support, log_scale_support

__all__ = [
    "Algorithm2Result",
    "DeltaBounds",
    "algorithm_1",
    "algorithm_2",
    "approximation_error",
    "c_alpha",
    "check_support",
    "d_max",
    "discriminability_by_definition",
    "discriminability_of_measure",
    "feature_resilience",
    "feature_sequence",
    "insert_support_element",
    "intrinsic_dimension",
    "is_geometric_dataset",
    "k_hop_features",
    "log_scale_support",
    "naive_costs",
    "normalized_adjacency",
    "observable_diameter",
    "observable_diameter_by_subsets",
    "partial_diameter",
    "partial_diameter_by_subsets",
    "partial_diameter_of_mass",
    "phi_all",
    "phi_k",
    "phi_k_per_feature",
    "phi_kf",
    "phi_of_measure",
    "resilience_bounds",
    "saved_costs",
    "support_bounds",
    "support_costs",
]
