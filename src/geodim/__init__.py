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
from typing import TYPE_CHECKING

from geodim._version import __version__

_WHERE = {
    "Alert": "geodim.alerts",
    "BinaryCorrelation": "geodim.concepts.correlation",
    "Certificate": "geodim.certificate",
    "Comparison": "geodim.sampling",
    "Directions": "geodim.families",
    "DiscriminabilitySelector": "geodim.explain.selector",
    "Distances": "geodim.families",
    "Explanation": "geodim.explain.shares",
    "FeatureSelection": "geodim.explain.select",
    "Gauge": "geodim.gauge",
    "HopAdvice": "geodim.explain.advice",
    "IDResult": "geodim.result",
    "IntrinsicDimension": "geodim.estimator",
    "KHopIntrinsicDimension": "geodim.khop_estimator",
    "KHopResult": "geodim.khop_result",
    "Patches": "geodim.families",
    "Plan": "geodim.plans",
    "Problem": "geodim.plans",
    "Pixels": "geodim.families",
    "Terms": "geodim.families",
    "TopFeatures": "geodim.explain.top",
    "Union": "geodim.families",
    "Values": "geodim.families",
    "SampleCurve": "geodim.sampling",
    "StreamingDimension": "geodim.streaming",
    "SupportCurve": "geodim.concepts.supports",
    "WhatIf": "geodim.explain.whatif",
    "advise": "geodim.explain.advice",
    "as_graph": "geodim.data.graphs",
    "binary_correlation_dimension": "geodim.concepts.correlation",
    "binary_dimension": "geodim.concepts.dimension",
    "compare": "geodim.sampling",
    "drop_missing": "geodim.data.missing",
    "explain_dimension": "geodim.explain.shares",
    "explain_hops": "geodim.explain.shares",
    "feature_ranking": "geodim.explain.ranking",
    "intrinsic_dimension": "geodim.dimension",
    "khop_dimensions": "geodim.khop",
    "load_dataset": "geodim.data.datasets",
    "plan": "geodim.plans",
    "read_table": "geodim.data.tables",
    "reference_marks": "geodim.gauge",
    "report": "geodim.display.html.document",
    "select_features": "geodim.explain.select",
    "shuffled_reference": "geodim.sampling",
    "subsampled_dimensions": "geodim.sampling",
    "top_features": "geodim.explain.top",
    "support_curve": "geodim.concepts.supports",
}
_MODULES = {
    "baselines",
    "errors",
    "features",
    "gnn",
    "paper",
    "pyg",
    "torch",
}  # the last two need PyTorch, so they are not in __all__

__all__ = [
    "Alert",
    "BinaryCorrelation",
    "Certificate",
    "Comparison",
    "Directions",
    "DiscriminabilitySelector",
    "Distances",
    "Explanation",
    "FeatureSelection",
    "Gauge",
    "HopAdvice",
    "IDResult",
    "IntrinsicDimension",
    "KHopIntrinsicDimension",
    "KHopResult",
    "Patches",
    "Pixels",
    "Plan",
    "Problem",
    "SampleCurve",
    "StreamingDimension",
    "SupportCurve",
    "Terms",
    "TopFeatures",
    "Union",
    "Values",
    "WhatIf",
    "__version__",
    "advise",
    "as_graph",
    "baselines",
    "binary_correlation_dimension",
    "binary_dimension",
    "compare",
    "drop_missing",
    "errors",
    "explain_dimension",
    "explain_hops",
    "feature_ranking",
    "features",
    "gnn",
    "intrinsic_dimension",
    "khop_dimensions",
    "load_dataset",
    "paper",
    "plan",
    "read_table",
    "reference_marks",
    "report",
    "select_features",
    "shuffled_reference",
    "subsampled_dimensions",
    "support_curve",
    "top_features",
]

if TYPE_CHECKING:
    from geodim import baselines, errors, features, gnn, paper, pyg as pyg, torch as torch
    from geodim.alerts import Alert
    from geodim.certificate import Certificate
    from geodim.concepts.correlation import BinaryCorrelation, binary_correlation_dimension
    from geodim.concepts.dimension import binary_dimension
    from geodim.concepts.supports import SupportCurve, support_curve
    from geodim.data.datasets import load_dataset
    from geodim.data.graphs import as_graph
    from geodim.data.missing import drop_missing
    from geodim.data.tables import read_table
    from geodim.dimension import intrinsic_dimension
    from geodim.display.html.document import report
    from geodim.estimator import IntrinsicDimension
    from geodim.explain.advice import HopAdvice, advise
    from geodim.explain.ranking import feature_ranking
    from geodim.explain.select import FeatureSelection, select_features
    from geodim.explain.selector import DiscriminabilitySelector
    from geodim.explain.shares import Explanation, explain_dimension, explain_hops
    from geodim.explain.top import TopFeatures, top_features
    from geodim.explain.whatif import WhatIf
    from geodim.families import Directions, Distances, Patches, Pixels, Terms, Union, Values
    from geodim.gauge import Gauge, reference_marks
    from geodim.khop import khop_dimensions
    from geodim.khop_estimator import KHopIntrinsicDimension
    from geodim.khop_result import KHopResult
    from geodim.plans import Plan, Problem, plan
    from geodim.result import IDResult
    from geodim.sampling import Comparison, SampleCurve, compare, shuffled_reference, subsampled_dimensions
    from geodim.streaming import StreamingDimension


def __getattr__(name: str) -> object:
    if name in _MODULES:
        return import_module(f"geodim.{name}")
    if name in _WHERE:
        return getattr(import_module(_WHERE[name]), name)
    msg = f"module 'geodim' has no attribute {name!r}"
    raise AttributeError(msg)


def __dir__() -> list[str]:
    return sorted(__all__)
