"""Several results side by side: one column each, and their curves in the same axes."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from geodim.display.html import text
from geodim.display.table import ReportTable
from geodim.khop_result import KHopResult
from geodim.result import IDResult
from geodim.sampling.comparison import not_comparable
from geodim.words import at_most, counted, feature_label, number, percent

if TYPE_CHECKING:
    from geodim.display.html.sources import Item
    from geodim.explain.select import FeatureSelection
    from geodim.sampling import Comparison

__all__ = ["comparison_values"]

FEATURES = 12  # rows of the table of shares


def comparison_values(items: list[Item], found: Comparison | None = None) -> dict[str, Any]:
    """Return words, numbers with one column for each result, and shares side by side, for the template.

    It also says, for the template and the scripts, which results have curves, and which have hops.

    Parameters
    ----------
    items : list of Item
        The results.
    found : Comparison, optional
        The same at equal numbers of points, if that was measured.
    """
    return {
        "words": _words(items) if found is None else list(map(str, found.verdicts)),
        "equal": None if found is None else _equal_points(items, found),
        "numbers": _numbers(items),
        "curves": [at for at, item in enumerate(items) if _last(item) is not None],
        "hops": [at for at, item in enumerate(items) if isinstance(item.result, KHopResult)],
        "shares": _shares(items),
    }


def _last(item: Item) -> IDResult | None:
    """Return the result that stands for an item: for a graph that of the most hops, with all alerts."""
    if isinstance(item.result, KHopResult):
        return replace(item.result.results[-1], alerts=item.result.alerts)
    return item.result if isinstance(item.result, IDResult) else None


def _words(items: list[Item]) -> list[str]:
    """Return what can be concluded from the results alone."""
    found = [(item.title, result) for item in items if (result := _last(item)) is not None]
    if len(found) < 2:
        return [f"{counted(len(items), 'result')} side by side."]
    reason = not_comparable([result for _, result in found], [name for name, _ in found])
    if reason:
        return [f"As they are, these numbers are not comparable: {reason}"]
    low = min(found, key=lambda pair: pair[1].upper)
    high = max(found, key=lambda pair: pair[1].lower)
    if low[1].upper >= high[1].lower:
        return ["The dimensions are equal, or their bounds overlap."]
    words = (
        f"The lowest dimension is that of {low[0]} ({text.dimension_text(low[1])}), the highest that of "
        f"{high[0]} ({text.dimension_text(high[1])}). geodim compare tells from the data whether "
        "that is more than chance."
    )
    return [words]


def _equal_points(items: list[Item], found: Comparison) -> ReportTable:
    rows = [
        [item.title, number(row["at_equal_points"]), f"{number(row['least'])} – {number(row['greatest'])}"]
        for item, row in zip(items, found.rows(), strict=True)
    ]
    caption = f"The dimension of samples of {found.points:,} points, {len(found.samples[0])} of each data set"
    return ReportTable(["data", "median", "least – greatest"], rows, {1, 2}, caption, stacked=True)


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
    """Return shares of the same features, in the results that have any in common with another."""
    every = [(item.title, result.shares) for item in items if (result := _last(item)) is not None]
    common = {name for _, shares in every for name in shares if sum(name in other for _, other in every) > 1}
    found = [(title, shares) for title, shares in every if common & set(shares)]
    if not found:
        return None
    order = sorted(common, key=lambda name: -max(shares.get(name, 0.0) for _, shares in found))[:FEATURES]
    rows = [
        [feature_label(name, 40), *(percent(shares.get(name, 0.0)) for _, shares in found)] for name in order
    ]
    head = ["feature", *(title for title, _ in found)]
    return ReportTable(head, rows, set(range(1, len(head))), "Shares of the same features", stacked=True)
