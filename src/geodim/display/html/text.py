"""The plain words of the report: what was measured, what it means, what to do next.

They are short, and say no more than is known.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from geodim.removal import TIE_RULE
from geodim.words import at_most, counted, feature_label, fine_percent, number, percent

if TYPE_CHECKING:
    from geodim.explain.select import FeatureSelection
    from geodim.khop_result import KHopResult
    from geodim.result import IDResult

__all__ = [
    "curve_words",
    "delta_text",
    "describe_dimension",
    "describe_hops",
    "describe_selection",
    "dimension_text",
    "features_words",
    "hop_sentence",
    "next_steps",
]

DOMINANT = 0.8
NAMES = 3


def dimension_text(result: IDResult) -> str:
    """Return the dimension in a few characters, with its bounds unless only rounding keeps them apart."""
    if result.one_number:
        return number(result.dimension)
    if result.upper == math.inf:
        return f"≥ {number(result.lower)}" if result.lower > 0.0 else "unknown"
    return f"{number(result.lower)} – {number(result.upper)}"


def delta_text(result: IDResult) -> str:
    """Return the discriminability in a few characters; for a stopped run, its bounds."""
    if not result.stopped:
        return f"Δ {'=' if result.phi_exact else '≈'} {number(result.discriminability)}"
    low, high = result.discriminability_lower, result.discriminability_upper
    return f"Δ ≥ {number(low)}" if high == math.inf else f"Δ between {number(low)} and {number(high)}"


def kind_text(result: IDResult) -> str:
    """Return how well the dimension is known."""
    if result.exact:
        return "exact"
    if result.stopped:
        return f"certified bounds; stopped early ({result.stopped})"
    if result.part_of is not None:
        return f"certified bounds for {result.part_of}, {100 * result.error:.2g} % apart"
    if result.phi_exact:
        return f"relative error at most {at_most(result.error)}, from rounded features"
    return f"certified bounds, {100 * result.error:.2g} % apart"


def describe_dimension(result: IDResult) -> list[str]:
    """Return what the dimension of a data set is and means."""
    size = f"{counted(result.n_points, 'point')} with {counted(result.n_features, 'feature')}"
    if result.discriminability_upper == 0.0:
        return [
            (
                f"No feature tells any two of these {size} apart: the discriminability is "
                "0 and the dimension infinite."
            )
        ]
    among = "" if result.part_of is None else f", with the features of {result.part_of}"
    if result.exact:
        first = f"These {size} have intrinsic dimension {number(result.dimension)}, computed exactly."
    elif result.one_number:
        first = (
            f"These {size} have intrinsic dimension {number(result.dimension)}. Its relative error is at "
            f"most {at_most(result.error)}: features, or their widths, were rounded, all else is exact."
        )
    elif result.upper == math.inf:
        first = (
            f"The intrinsic dimension of these {size} is at least {number(result.lower)}; an "
            "upper bound is not known yet."
        )
    else:
        first = (
            f"The intrinsic dimension of these {size} lies between {number(result.lower)} and "
            f"{number(result.upper)}{among}. These bounds are proven, not estimated."
        )
    words = [first]
    if not result.stopped:
        words.append(_meaning(result))
    if result.stopped:
        words.append(
            f"The computation was stopped early ({result.stopped}): the bounds hold, but they "
            "are wider than they need be."
        )
    if result.n_indistinguishable:
        words.append(
            f"{counted(result.n_indistinguishable, 'point')} equal another point in every "
            "feature: nothing tells these apart."
        )
    return words


def _meaning(result: IDResult) -> str:
    about = "" if result.phi_exact else "about "
    if result.normalized:
        spread = f"{about}{percent(result.discriminability)} of the largest range ({number(result.d_max)})"
    else:
        spread = f"{about}{number(result.discriminability)} in the units of the data"
    return (
        "What is measured: each feature leaves out the same share of the points, chosen so that the others "
        f"lie as close together as possible; the best feature still spreads those over {spread}, on average "
        "over all shares. This average is the discriminability Δ, and the dimension is 1/\u2060Δ²."
    )


def curve_words(result: IDResult) -> str:
    """Return the caption of the curve."""
    unit = "of the largest range" if result.normalized else "in the units of the data"
    colours = " Colours name the feature that attains it." if result.attained_from.size else ""
    band = "" if result.phi_exact else " The band between the thin lines holds the certified bounds."
    return (
        f"The observable diameter: how wide the best feature still spreads the points ({unit}) when a share "
        f"α of them is left out. The area under the curve is the discriminability Δ.{colours}{band}"
    )


def features_words(result: IDResult, *, hops: bool = False) -> str:
    """Return which features carry the discriminability.

    For a graph, features are divided by the largest range of the raw attributes, which may itself carry
    nothing: without it the curve would be the same, but not what it is divided by.
    """
    shares = list(result.shares.items())
    if not shares and result.stopped:
        return "Which features carry it is not known: the computation was stopped before any was solved."
    if not shares:
        return "No feature carries any discriminability."
    first = shares[:NAMES]
    if len(shares) == 1:
        name = feature_label(first[0][0], 60)
        words = f"One feature carries all of the discriminability: {name}."
    else:
        listed = ", ".join(f"{feature_label(name, 60)} ({percent(share)})" for name, share in first)
        words = (
            f"{len(shares):,} of {counted(result.n_features, 'feature')} carry the "
            f"discriminability; most of all {listed}."
        )
    if result.removal is not None:
        words = f"{removal_words(result)} {words}"
    if len(shares) > 1 and result.phi_exact:
        words += f" Mind that {TIE_RULE}."
    idle = result.n_features - len(shares)
    if result.phi_exact and idle > 0 and not result.stopped:
        who = "The other one never is" if idle == 1 else f"The other {idle:,} never are"
        same = "curve" if hops else "dimension"
        words += f" {who} the widest: the {same} would be the same without {'it' if idle == 1 else 'them'}."
    elif not result.phi_exact:
        words += (
            " With bounds instead of exact values, features that lie close together "
            "may have each other's share."
        )
        if result.share_bounds:
            least, most = result.share_bounds[first[0][0]]
            name = feature_label(first[0][0], 60)
            words += f" That of {name} lies between {percent(least)} and {percent(most)}."
    return words


def removal_words(result: IDResult) -> str:
    """Return what the removal of single features costs."""
    removal = result.removal
    assert removal is not None
    costs = list(removal.costs)
    if not costs:
        return "No single feature matters: without any one of them it stays the same: others tie."
    listed = ", ".join(
        [f"{number(removal.without[name])} without {feature_label(name, 60)}" for name in costs[:NAMES]]
    )
    words = f"What single features are worth: the dimension would be {listed}."
    first = next(iter(result.shares))
    if first not in removal.costs:
        name = feature_label(first, 60)
        words += f" Without {name}, which has the largest share, it stays the same: others tie."
    return words


def next_steps(result: IDResult, *, hops: bool = False) -> list[str]:
    """Suggest what to do next."""
    steps = []
    shares = list(result.shares.items())
    unsaid = not result.alerts
    if unsaid and shares and shares[0][1] >= DOMINANT and result.n_features > 1 and not result.stopped:
        name = feature_label(shares[0][0], 60)
        steps.append(
            f"{name} carries {percent(shares[0][1])}. All features are measured against the largest range, "
            "so check whether this one has other units or outliers; with all of them standardised, say, the "
            "others would count for more."
        )
    if not result.phi_exact:
        steps.append("For the exact value, compute again without --rtol and without a time limit.")
    if not hops and result.n_features > 2 and len(shares) > 1:
        steps.append(
            "geodim select chooses few features that keep most of the discriminability; "
            "geodim.explain_dimension finds a set with exactly this dimension, none of which can be left out."
        )
    if not hops and shares:
        steps.append(
            "Compare representations of the same points (raw, scaled, embedded) in one report: a "
            "lower dimension means that more of the points can be told apart by single features. "
            "It says nothing about labels."
        )
    return steps


def hop_sentence(result: KHopResult, k: int) -> str:
    """Return what the dimension is at one number of hops."""
    words = f"{counted(k, 'hop')}: intrinsic dimension {dimension_text(result[k])}"
    if k > 0 and not result[k].stopped:
        drop = result.drops[k - 1]
        change = (
            "the same as"
            if drop == 0.0
            else f"{fine_percent(abs(drop))} {'lower' if drop > 0 else 'higher'} than"
        )
        words += f", {change} with {counted(k - 1, 'hop')}"
    return words + "."


def hops_label(result: KHopResult, k: int) -> str:
    """Return the number of hops that the headline is about."""
    hops = "no hop" if k == 0 else counted(k, "hop")
    return hops if k == result.hops else f"{hops}, which is what we advise"


def hops_note(result: KHopResult, k: int) -> str:
    """Return the other ends of the curve, and how well the number is known."""
    others = []
    if k > 0:
        others.append(f"{dimension_text(result[0])} without the graph")
    if k < result.hops:
        others.append(f"{dimension_text(result[result.hops])} with {counted(result.hops, 'hop')}")
    return "; ".join([*others, kind_text(result[k])])


def describe_hops(result: KHopResult) -> list[str]:
    """Return what the hops of a graph change."""
    first, last = result[0], result[result.hops]
    edges = result.graph.get("n_edges")
    joined = f", joined by {counted(edges, 'edge')}" if isinstance(edges, int) else ""
    size = f"{counted(first.n_points, 'node')} with {counted(first.n_features, 'attribute')}{joined}"
    if result.hops == 0:
        return [f"These are {size}. Without any hop their intrinsic dimension is {dimension_text(first)}."]
    mixing = (
        f"These are {size}. Every hop mixes the attributes of neighbours and adds the mixtures as "
        "features, so that the dimension can only fall; it falls as far as the graph tells nodes "
        "apart that the attributes do not."
    )
    words = [mixing]
    if first.stopped:
        words.append(
            f"The pass was stopped early ({first.stopped}): the bounds hold, but are wider than they need be."
        )
    else:
        fall = 0.0 if first.dimension == last.dimension else 1.0 - last.dimension / first.dimension
        words.append(
            f"Without the graph the intrinsic dimension is {dimension_text(first)}, with "
            f"{counted(result.hops, 'hop')} it is {dimension_text(last)}, {percent(fall)} less."
        )
    return words


def describe_selection(selection: FeatureSelection) -> list[str]:
    """Return what a choice of features reaches."""
    count = len(selection.names)
    what = (
        f"{counted(count, 'feature')} of {selection.n_features:,}, chosen one after the other, "
        f"{'reaches' if count == 1 else 'reach'} {fine_percent(selection.fractions[-1])} of the "
        f"discriminability that all of them have on these {counted(selection.n_points, 'point')}: the "
        f"dimension is {number(selection.dimensions[-1])} instead of {number(selection.dimension)}."
    )
    how = (
        "Each choice is the feature that adds most. Provably, the best choice of the same number of "
        f"features reaches at most {fine_percent(1.0 / selection.guarantee - 1.0)} more. Labels play no "
        "part: whether these features are enough for a model, a validation set has to show."
    )
    words = [what, how]
    if selection.error > 0.0:
        words.append(
            f"The relative error of the discriminability is at most {at_most(selection.error)}: windows of "
            "some features are all nearly equally wide, and were not all compared."
        )
    if selection.useful < len(selection.names):
        words.append(f"Features after the first {selection.useful:,} add nothing.")
    return words
