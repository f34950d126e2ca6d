"""The plot of a choice of features: how much of the discriminability the first 1, 2, ... of them reach."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from geodim.display.style import BLUE, GREY, finish, new_axes, plain
from geodim.optional import require
from geodim.words import counted, feature_label, number

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from geodim.explain.select import FeatureSelection

MARKS_UP_TO = 40  # choices; more markers would run into each other
MOST_VERTICES = 2000


def plot_greedy(
    selection: FeatureSelection,
    ax: Axes | None = None,
    *,
    named: int = 4,
    color: str = BLUE,
    title: str | None = None,
) -> Axes:
    """Draw which part of the discriminability of all features the first m chosen ones reach, against m.

    Parameters
    ----------
    selection : FeatureSelection
        What to draw.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default.
    named : int, default 4
        How many of the first features are named beside their points.
    color : str, default blue
        Colour of the curve.
    title : str, optional
        Title instead of what the choice reaches.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> import numpy as np
    >>> import geodim
    >>> from geodim.display.greedy import plot_greedy
    >>> ax = plot_greedy(geodim.select_features(np.arange(12.0).reshape(4, 3) ** 2))
    >>> ax.get_ylabel()
    'part of Δ of all features'
    """
    ticker = require("matplotlib.ticker", "plot", "plotting")
    ax = new_axes(ax)
    fractions = np.array([0.0, *selection.fractions])
    m = np.arange(fractions.size)
    if m.size > MOST_VERTICES:  # the curve bends down all along: equal steps in height lose nothing
        keep = np.unique(
            np.searchsorted(fractions, np.linspace(0.0, fractions[-1], MOST_VERTICES // 2))
        ).clip(0, m.size - 1)
        keep = np.union1d(keep, np.linspace(0, m.size - 1, MOST_VERTICES // 2).astype(np.intp))
        m, fractions = m[keep], fractions[keep]
    few = m.size - 1 <= MARKS_UP_TO
    ax.plot(
        m, fractions, color=color, linewidth=1.5, marker="o" if few else None, markersize=4, label="_curve"
    )
    ax.axhline(1.0, color=GREY, linewidth=0.8, linestyle=(0, (4, 3)), label="_all")
    goal = selection.parameters.get("fraction")
    if isinstance(goal, float) and goal < 1.0:
        ax.axhline(goal, color=GREY, linewidth=0.8, linestyle=(0, (1, 2)), label="_goal")
        ax.annotate(
            f"asked for {100 * goal:g} %",
            (0.015, goal),
            xycoords=("axes fraction", "data"),
            xytext=(0, -3),
            textcoords="offset points",
            ha="left",
            va="top",
            fontsize="small",
            color=GREY,
        )
    for at, name in enumerate(selection.names[: named if few else 0], 1):
        ax.annotate(
            plain(feature_label(name, 18)),
            (at, float(fractions[at])),
            xytext=(0, -7 if at % 2 else -19),  # neighbours must not run into each other
            textcoords="offset points",
            ha="right" if at == int(m[-1]) else "left",
            va="top",
            fontsize="small",
        )
    ax.set_xlim(0.0, max(float(m[-1]), 1.0) * 1.03)
    ax.set_ylim(0.0, 1.05)
    ax.xaxis.set_major_locator(ticker.MaxNLocator(integer=True, min_n_ticks=1))
    ax.yaxis.set_major_formatter(lambda value, _: f"{100 * value:g} %")
    ax.set_xlabel(r"$m$, features chosen")
    ax.set_ylabel("part of Δ of all features")
    words = (
        f"{len(selection.names):,} of {counted(selection.n_features, 'feature')}: "
        f"{100 * selection.fractions[-1]:.1f} %\ndimension {number(selection.dimensions[-1])}, of all "
        f"{number(selection.dimension)}"
    )
    finish(ax, words if title is None else title)
    return ax
