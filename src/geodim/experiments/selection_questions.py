"""Conclusions of the selection study: accuracies side by side, and errors of approximate rankings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from geodim.display.table import ReportTable
from geodim.experiments.study_questions import resampled
from geodim.experiments.verdicts import Claim

if TYPE_CHECKING:
    from geodim.experiments.experiment import Rows
    from geodim.experiments.study_questions import Estimate

__all__ = ["by_dataset", "claims", "over", "support_errors", "tables"]

OURS = "resilience"
DECORRELATED = "resilience, decorrelated"


def by_dataset(rows: Rows) -> dict[str, dict[str, dict[str, Any]]]:
    """Return the rows of every method, by data set; if there are several runs, that of most rounds."""
    found: dict[str, dict[str, dict[str, Any]]] = {}
    for row in sorted((row for row in rows if row["kind"] == "accuracy"), key=lambda row: row["rounds"]):
        found.setdefault(row["dataset"], {})[row["method"]] = row
    return found


def over(rows: Rows, method: str, other: str, *, binary: bool | None = None) -> Estimate:
    """Return by how much accuracies exceed those of another method, over data sets, with an interval.

    Parameters
    ----------
    rows : list of dict
        The rows of the study.
    method, other : str
        Two methods.
    binary : bool, optional
        Only data sets whose values are all 0 or 1, or only the others.
    """
    some = [
        methods[method]["accuracy"] - methods[other]["accuracy"]
        for methods in by_dataset(rows).values()
        if method in methods and other in methods
        if binary is None or methods[method]["binary"] is binary
    ]
    return resampled(some)


def support_errors(rows: Rows, size: float, kind: str = "towards n") -> list[dict[str, Any]]:
    """Return how far off rankings from support sequences of a relative size are, one row per data set."""
    most = {row["dataset"]: row["rounds"] for row in sorted(rows, key=lambda row: row["rounds"])}
    return [
        row
        for row in rows
        if row["kind"] == "support" and row["relative_size"] == size and row["support_kind"] == kind
        if row["rounds"] == most[row["dataset"]]
    ]


def claims(rows: Rows) -> list[Claim]:
    """Return sentences that the available data sets decide; differences are in points of accuracy."""
    texts = (
        "Selection: features kept by resilience classify better than random ones, unless all are 0 or 1.",
        "Selection: they classify better than those of the largest variance.",
        "Selection: dropping a tenth by correlation first makes the choice by resilience better.",
        "Selection: bounds from a support sequence of a hundredth of all k keep the same features.",
    )
    if not by_dataset(rows):
        return [Claim(text, None, "") for text in texts]
    compared = ((OURS, "random"), (OURS, "variance"), (DECORRELATED, OURS))
    found = []
    for text, (method, other) in zip(texts, compared, strict=False):
        estimate = over(rows, method, other, binary=False)
        wins = _wins(rows, method, other)
        found.append(
            Claim(
                text,
                estimate.lower > 0.0,
                f"{method} over {other}: {estimate.percent()} points, mean and 95 % interval over resampled "
                f"data sets; better on {wins}",
            )
        )
    overlaps = [row["overlap"] for row in support_errors(rows, 0.01)]
    found.append(
        Claim(
            texts[3],
            min(overlaps) == 1.0,
            f"part of the best tenth that is found: {np.mean(overlaps):.2f} on average, {min(overlaps):.2f} "
            f"at least, over {len(overlaps)} data sets",
        )
    )
    return found


def _wins(rows: Rows, method: str, other: str) -> str:
    differences = [
        methods[method]["accuracy"] - methods[other]["accuracy"]
        for methods in by_dataset(rows).values()
        if not methods[method]["binary"]
    ]
    return f"{sum(value > 0.0 for value in differences)} of {len(differences)}"


def tables(rows: Rows) -> list[ReportTable]:
    """Return accuracies of every data set and method; errors of support sequences."""
    found = by_dataset(rows)
    if not found:
        return []
    methods = list(dict.fromkeys(method for some in found.values() for method in some))
    cells = [
        [name, *(f"{100 * some[method]['accuracy']:.1f}" if method in some else "" for method in methods)]
        for name, some in found.items()
    ]
    accuracies = ReportTable(
        ["data set", *methods], cells, frozenset(range(1, len(methods) + 1)),
        "Accuracy in percent with a tenth of the features, mean over the rounds",
    )  # fmt: skip
    head = [
        "data set",
        "support sequence",
        "part of n",
        "elements",
        "Kendall's tau",
        "wrong pairs",
        "overlap",
    ]
    errors = [
        [
            row["dataset"], row["support_kind"], f"{row['relative_size']:g}", f"{row['support']:,}",
            f"{row['tau']:.3f}", f"{row['wrong_pairs']:.2%}", f"{row['overlap']:.2f}",
        ]
        for row in rows
        if row["kind"] == "support"
    ]  # fmt: skip
    support = ReportTable(
        head, errors, frozenset({2, 3, 4, 5, 6}),
        "Rankings from bounds at the elements of a support sequence, beside that of all k",
    )  # fmt: skip
    return [accuracies, support]
