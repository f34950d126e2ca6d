"""Columns that tie: the first of several that attain Phi(k) gets the share, whatever the data."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from geodim.alerts.alert import NOTE, Alert
from geodim.words import percent

if TYPE_CHECKING:
    from geodim.alerts.view import View

PART = 0.2  # of the discriminability, at sizes where columns tie


def ties(view: View) -> Alert | None:
    """Report shares that depend on the order of the columns.

    The narrowest windows of a few sizes are compared in a sample of rows: columns of few different values
    tie in the sample where they tie at all.  A leading column whose values all differ does not tie, unless
    it occurs twice.
    """
    sample, result = view.sample, view.result
    if result.stopped or not view.shares or sample.rows.size < 8 or view.ranges.widths.size < 2:
        return None
    leader = next(iter(view.shares))
    values = sample.column(leader)
    if values is None or np.unique(values).size > values.size // 2:
        return None
    columns, widths = view.windows
    best = widths.max(axis=1, keepdims=True)
    equal = widths == best
    tied = (equal.sum(axis=1) > 1) & (best[:, 0] > 0.0)
    total = float(best.sum())
    part = float(best[tied].sum()) / total if 0.0 < total < np.inf else 0.0
    if part < PART:
        return None
    exactly = None if result.removal is None else result.removal.tied  # of all sizes, not of a few
    part = part if exactly is None else exactly
    rivals = columns[equal[tied].any(axis=0)].tolist()
    names = [view.name(j) for j in sorted(rivals)]
    certain = exactly is not None or (sample.all_rows and sample.all_columns)
    much = f"at {percent(part)} of the discriminability" if certain else "at many sizes"
    return Alert(
        "ties",
        NOTE,
        f"{len(rivals):,} columns tie: {much} two or more are equally wide, and the first of them gets the "
        f"share. That {view.called(leader)} has {percent(view.shares[leader])} does not mean that the number "
        "depends on it.",
        {"part": part, "columns": names, "certain": certain},
        "What each column is worth is what its removal costs: geodim.explain_dimension(X).without.",
    )
