"""Explanation: which features carry the intrinsic dimension, which few would do, and what would change it.

Everything public is available from `geodim` itself:

* `explain_dimension`, `explain_hops`: shares of the discriminability, and the core (`shares`, `core`)
* `feature_ranking`, `top_features`: scores of each feature on its own, and the best of them (`ranking`,
  `top`, `correlated`)
* `select_features`, `DiscriminabilitySelector`: few features that keep most of it (`select`,
  `greedy`, `coarse`, `selector`)
* `WhatIf`: the dimension if features were removed, rescaled, clipped or replaced (`whatif`)
* `advise`: how many hops are worth it (`advice`)

The definitions and proofs are in docs/explanation.md.
"""
