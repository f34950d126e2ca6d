"""The plot of a study of support sequences: error and saved costs against the size of the support."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from geodim.display.style import add_legend, curve_style, finish, new_figure, plain
from geodim.errors import InputValueError
from geodim.words import short

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.axes import Axes

FIELDS = ("relative_size", "error", "saved_costs")


def plot_support(
    rows: Sequence[Mapping[str, Any]], axes: tuple[Axes, Axes] | None = None, *, title: str | None = None
) -> tuple[Axes, Axes]:
    """Draw error and saved costs of support sequences against their size, a curve for each data set.

    Parameters
    ----------
    rows : sequence of mappings
        Each with ``relative_size`` (the length of the support sequence over the number of points), ``error``
        (the paper's E), ``saved_costs`` and, for several data sets, ``dataset``; the rows of
        ``geodim reproduce support`` are such.
    axes : pair of matplotlib.axes.Axes, optional
        Where to draw the error and the saved costs; a new figure by default.
    title : str, optional
        Title of the left axes.

    Returns
    -------
    pair of matplotlib.axes.Axes

    Examples
    --------
    >>> from geodim.display.support import plot_support
    >>> rows = [{"relative_size": s, "error": 0.1 / s, "saved_costs": 1 - s} for s in (0.01, 0.02, 0.05)]
    >>> errors, costs = plot_support(rows)
    >>> costs.get_ylabel()
    'saved costs'
    """
    for at, row in enumerate(rows):
        for field in FIELDS:
            if field not in row:
                msg = f"row {at} has no {field!r}: each row needs {', '.join(FIELDS)}"
                raise InputValueError(msg)
    left, right = axes if axes is not None else new_figure(7.2, 3.0).subplots(1, 2)
    curves: dict[str, list[Mapping[str, Any]]] = {}
    for row in rows:
        curves.setdefault(str(row.get("dataset", "")), []).append(row)
    for at, (name, some) in enumerate(curves.items()):
        some.sort(key=lambda row: float(row["relative_size"]))
        sizes = [float(row["relative_size"]) for row in some]
        style: dict[str, Any] = {
            **curve_style(at),
            "linewidth": 1.3,
            "markersize": 3.5,
            "markevery": max(1, len(sizes) // 6),
            "label": plain(short(name)) if name else "_curve",
        }
        errors = [float(row["error"]) for row in some]
        left.plot(sizes, [error if error < 1e290 else float("nan") for error in errors], **style)
        right.plot(sizes, [float(row["saved_costs"]) for row in some], **style)
    left.set_yscale("log")
    left.set_ylabel(r"relative error $E$")
    right.set_ylabel("saved costs")
    right.set_ylim(top=1.0)
    for ax in (left, right):
        ax.set_xlabel("relative support size")
        ax.set_xlim(left=0.0)
        finish(ax, None)
    if title is not None:
        finish(left, title)
    add_legend(left, fontsize="small")
    return left, right
