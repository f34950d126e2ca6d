"""Several results side by side: one column each, and their curves in the same axes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from geodim.khop_result import KHopResult
from geodim.report.html import text
from geodim.report.table import ReportTable
from geodim.result import IDResult, at_most
from geodim.words import counted, feature_label, number, percent

if TYPE_CHECKING:
    from geodim.explain.select import FeatureSelection
    from geodim.report.html.sources import Item

__all__ = ["comparison_values"]

FEATURES = 12  # rows of the table of shares


def comparison_values(items: list[Item]) -> dict[str, Any]:
    """For the template: words, numbers with one column for each result, shares side by side.

    And for it and the scripts: which results have curves, and which have hops.
    """
    return {
        "words": _words(items),
        "numbers": _numbers(items),
        "curves": [at for at, item in enumerate(items) if _last(item) is not None],
        "hops": [at for at, item in enumerate(items) if isinstance(item.result, KHopResult)],
        "shares": _shares(items),
    }


def _last(item: Item) -> IDResult | None:
    """The result that stands for an item: of a graph, that of the most hops."""
    if isinstance(item.result, KHopResult):
        return item.result.results[-1]
    return item.result if isinstance(item.result, IDResult) else None


def _words(items: list[Item]) -> str:
    found = [(item.title, result) for item in items if (result := _last(item)) is not None]
    if len(found) < 2:
        return f"{counted(len(items), 'result')} side by side."
    low = min(found, key=lambda pair: pair[1].upper)
    high = max(found, key=lambda pair: pair[1].lower)
    if low[1].upper >= high[1].lower:
        words = "The dimensions are equal, or their bounds overlap."
    else:
        words = (
            f"The lowest dimension is that of {low[0]} ({text.dimension_text(low[1])}), the highest that of "
            f"{high[0]} ({text.dimension_text(high[1])})."
        )
    if len({result.normalized for _, result in found}) > 1:
        words += (
            " Some features were divided by their largest range and others not: "
            "these numbers cannot be compared."
        )
    elif len({result.n_points for _, result in found}) > 1:
        words += " The results are of different numbers of points: compare with care."
    return words


def _numbers(items: list[Item]) -> ReportTable:
    columns = [dict(_column(item)) for item in items]
    labels = dict.fromkeys(label for column in columns for label in column)
    rows = [[label, *(column.get(label, "–") for column in columns)] for label in labels]
    head = ["", *(item.title for item in items)]
    return ReportTable(head, rows, set(range(1, len(head))), "Results side by side", stacked=True)


def _column(item: Item) -> list[tuple[str, str]]:
    if isinstance(item.result, KHopResult):
        first, last = item.result.results[0], item.result.results[-1]
        return [
            (
                "measured",
                f"{counted(item.result.hops, 'hop')} ({item.result.operator.get('operator', 'sym')})",
            ),
            ("points", f"{first.n_points:,}"),
            ("features", f"{last.n_features:,}"),
            ("intrinsic dimension", text.dimension_text(last)),
            ("without the graph", text.dimension_text(first)),
            *_rest(last),
        ]
    if isinstance(item.result, IDResult):
        one = item.result
        return [
            ("measured", "dimension"),
            ("points", f"{one.n_points:,}"),
            ("features", f"{one.n_features:,}"),
            ("intrinsic dimension", text.dimension_text(one)),
            *_rest(one),
        ]
    return _selection_column(item.result)


def _rest(result: IDResult) -> list[tuple[str, str]]:
    rows = [
        (
            "known",
            "exactly"
            if result.exact
            else f"to {at_most(result.error)}"
            if result.phi_exact
            else "within bounds",
        ),
        ("discriminability Δ", number(result.discriminability)),
        ("divided by", number(result.d_max) if result.normalized else "nothing"),
        ("features with a share", f"{len(result.shares):,}"),
    ]
    if result.shares:
        name, share = next(iter(result.shares.items()))
        rows.append(("largest share", f"{feature_label(name, 40)}, {percent(share)}"))
    return rows


def _selection_column(selection: FeatureSelection) -> list[tuple[str, str]]:
    return [
        ("measured", "choice of features"),
        ("points", f"{selection.n_points:,}"),
        ("features", f"{selection.n_features:,}"),
        ("intrinsic dimension", number(selection.dimension)),
        ("discriminability Δ", number(selection.total)),
        ("divided by", number(selection.d_max) if selection.normalized else "nothing"),
        ("chosen", f"{len(selection.names):,}, dimension {number(selection.dimensions[-1])}"),
    ]


def _shares(items: list[Item]) -> ReportTable | None:
    """Shares of the same features in all results, if they have any in common."""
    found = [(item.title, result.shares) for item in items if (result := _last(item)) is not None]
    common = {name for _, shares in found for name in shares if sum(name in other for _, other in found) > 1}
    if len(found) < 2 or not common:
        return None
    order = sorted(common, key=lambda name: -max(shares.get(name, 0.0) for _, shares in found))[:FEATURES]
    rows = [
        [feature_label(name, 40), *(percent(shares.get(name, 0.0)) for _, shares in found)] for name in order
    ]
    head = ["feature", *(title for title, _ in found)]
    return ReportTable(head, rows, set(range(1, len(head))), "Shares of the same features", stacked=True)
