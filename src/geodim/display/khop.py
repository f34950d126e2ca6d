"""The plot of intrinsic dimensions against the number of hops; no pyplot, as in `geodim.display.plots`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypedDict

import numpy as np

from geodim.display.style import BLUE, add_legend, finish, new_axes, wants_log
from geodim.optional import require
from geodim.words import counted

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from geodim.khop_result import KHopResult


class HopCurveOptions(TypedDict, total=False):
    """The options of `plot_khop_dimensions`."""

    label: str | None
    color: str
    title: str | None
    log: bool | None


def plot_khop_dimensions(
    result: KHopResult,
    ax: Axes | None = None,
    *,
    label: str | None = None,
    color: str = BLUE,
    title: str | None = None,
    log: bool | None = None,
) -> Axes:
    r"""Draw the intrinsic dimension of the k-hop geometric data set against k.

    Dimensions that are not exact carry their certified bounds as error bars; of a pass that was
    stopped early only the bounds are drawn, an arrow where there is no upper one.  Infinite
    dimensions are written at the top.

    Parameters
    ----------
    result : KHopResult
        What to draw.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default, which ``ax.figure.savefig`` writes.
    label : str, optional
        Name of the curve in the legend, for several results in the same axes.
    color : str, default blue
        Colour of the curve and the bounds.
    title : str, optional
        Title instead of the operator and the size of the data.
    log : bool, optional
        Whether the dimension has a logarithmic axis; by default if the values span a factor of 20 or more.

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    MissingExtraError
        matplotlib is not installed.

    Examples
    --------
    >>> import numpy as np
    >>> import geodim
    >>> from geodim.display.khop import plot_khop_dimensions
    >>> ring = [(0, 1), (1, 2), (2, 3), (3, 0)]
    >>> ax = plot_khop_dimensions(geodim.khop_dimensions(np.eye(4), ring, hops=2))
    >>> ax.get_xlabel()
    '$k$, number of hops'
    """
    ticker = require("matplotlib.ticker", "plot", "plotting")
    ax = new_axes(ax)
    k = np.arange(len(result))
    dimension = np.array(result.dimensions)
    known = np.array([one.stopped is None for one in result]) & np.isfinite(dimension)
    ax.plot(
        k[known],
        dimension[known],
        color=color,
        marker="o",
        markersize=5,
        linewidth=1.4,
        label=label or "_curve",
    )
    _draw_bounds(result, ax, color, f"{label}, certified bounds" if label else "certified bounds")
    for at in np.flatnonzero(dimension == np.inf).tolist():
        if result[at].stopped is None:
            ax.annotate(
                "∞", (at, 1.0), xycoords=("data", "axes fraction"), ha="center", va="top", color=color
            )
    _set_scale(ax, log)
    ax.xaxis.set_major_locator(ticker.MaxNLocator(integer=True, min_n_ticks=1))
    left, right = ax.get_xlim() if len(ax.lines) > 1 else (0.0, 0.0)  # several results may share the axes
    ax.set_xlim(min(left, -0.3), max(right, len(result) - 0.7))
    ax.set_xlabel(r"$k$, number of hops")
    ax.set_ylabel("intrinsic dimension")
    finish(ax, title if title is not None else _title(result))
    add_legend(ax)
    return ax


def _draw_bounds(result: KHopResult, ax: Axes, color: str, label: str) -> None:
    """Draw error bars where bounds differ, arrows where there is no upper one."""
    for k, one in enumerate(result):
        nothing = one.lower == 0.0 and one.upper == np.inf
        if one.phi_exact or nothing or not np.isfinite(one.lower) or one.lower == one.upper:
            continue
        style: dict[str, Any] = {"color": color, "linewidth": 1.0, "capsize": 4.0, "label": label}
        label = "_bounds"  # one entry in the legend
        if np.isfinite(one.upper):
            middle = 0.5 * (one.lower + one.upper)
            ax.errorbar([k], [middle], yerr=[0.5 * (one.upper - one.lower)], fmt="none", **style)
        else:
            ax.errorbar([k], [one.lower], yerr=[0.3 * one.lower], lolims=True, fmt="_", **style)


def _set_scale(ax: Axes, log: bool | None) -> None:
    """Make the axis logarithmic if asked for, or if the values span a wide range.

    Several results may share the axes.
    """
    values = np.concatenate([np.asarray(line.get_ydata(), np.float64) for line in ax.lines])
    if log is None:
        log = wants_log(values.tolist())
    ax.set_yscale("log" if log else "linear")
    ax.margins(y=0.12)


def _title(result: KHopResult) -> str:
    first = result[0]
    name = result.operator.get("operator", "sym")
    size = f"{counted(first.n_points, 'node')} × {counted(first.n_features, 'attribute')}"
    return f"intrinsic dimension by hops ({name})\n{size}"
