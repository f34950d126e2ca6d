"""`find_alerts`: all findings about one result, those that matter most first."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from geodim.alerts.alert import SEVERITIES, Alert
from geodim.alerts.columns import (
    constant_columns,
    counting_columns,
    equal_columns,
    equal_rows,
    row_normalised,
)
from geodim.alerts.scale import deciding, outliers
from geodim.alerts.ties import ties
from geodim.alerts.trust import all_equal, few_points, wide_bounds
from geodim.alerts.view import View
from geodim.data.sources import ArraySource, FrameSource, SparseSource
from geodim.engine.pilot import sample_rows

if TYPE_CHECKING:
    from collections.abc import Iterable

    from geodim.data.checks import Ranges
    from geodim.data.sources import ColumnSource
    from geodim.result import IDResult

ROWS = 64  # rows of a graph's attributes, read with all columns


def find_alerts(
    result: IDResult,
    source: ColumnSource | None = None,
    ranges: Ranges | None = None,
    *,
    given: Ranges | None = None,
    graph: bool = False,
) -> tuple[Alert, ...]:
    """Return what to know before trusting the number.

    Parameters
    ----------
    result : IDResult
        What was computed.
    source, ranges : optional
        The columns it was computed from, as they were solved, and their ranges.  Without them, or
        if the features are not columns, only what follows from the result itself is found.
    given : optional
        The ranges of the data as it was given, if they are different.
    graph : bool
        Whether the columns are attributes of nodes.
    """
    found: list[Alert | None] = [all_equal(result), wide_bounds(result)]
    if source is not None and ranges is not None and result.d_max > 0.0:
        with np.errstate(all="ignore"):  # values near the largest float lead to no finding, and do no harm
            found += _of_columns(View.of(result, source, ranges, given or ranges), source, graph=graph)
    found.append(few_points(result))
    return ordered(found)


def _of_columns(view: View, source: ColumnSource, *, graph: bool) -> list[Alert | None]:
    tied = ties(view)
    causes = [*counting_columns(view), outliers(view), _row_sums(source, view.ranges) if graph else None]
    return [
        *causes,
        None if any(causes) else deciding(view, tied=tied is not None),
        tied,
        equal_rows(view),
        equal_columns(view),
        constant_columns(view),
    ]


def ordered(found: Iterable[Alert | None]) -> tuple[Alert, ...]:
    """Sort key: warnings first, otherwise in the order found."""
    known = [one for one in found if one is not None]
    return tuple(sorted(known, key=lambda one: SEVERITIES.index(one.severity)))


def _row_sums(source: ColumnSource, ranges: Ranges) -> Alert | None:
    if ranges.least.min() < 0.0:  # no counts, and no shares of anything
        return None
    if isinstance(source, SparseSource):  # it cannot be read by rows
        sums = source.row_sums()
    else:
        rows = sample_rows(source)
        if isinstance(source, ArraySource | FrameSource):  # other sources have only these rows
            rows = rows[:: -(-rows.size // ROWS)]
        sums = source.sample(np.arange(source.n_features), rows).sum(axis=1)
    return row_normalised(sums, n_attributes=source.n_features)
