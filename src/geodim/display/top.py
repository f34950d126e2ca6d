"""The plot of features that were kept by their own scores: one bar for each, the highest first."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from geodim.display.style import BLUE, finish, new_axes, plain
from geodim.optional import require
from geodim.words import counted, feature_label

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from geodim.explain.top import TopFeatures


def plot_top(
    top: TopFeatures, ax: Axes | None = None, *, most: int = 15, color: str = BLUE, title: str | None = None
) -> Axes:
    r"""Draw the scores of the first features as bars.

    Parameters
    ----------
    top : TopFeatures
        What to draw.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default.
    most : int, default 15
        How many features to draw.
    color : str, default blue
        Colour of the bars.
    title : str, optional
        Title instead of how many features were kept.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> import numpy as np
    >>> import geodim
    >>> from geodim.display.top import plot_top
    >>> ax = plot_top(geodim.top_features(np.arange(12.0).reshape(4, 3) ** 2))
    >>> ax.get_xlabel()
    'score, $\\frac{1}{n}\\sum_k \\phi_k / k$'
    """
    ticker = require("matplotlib.ticker", "plot", "plotting")
    ax = new_axes(ax)
    shown = len(top.names[:most])
    places = np.arange(shown)
    ax.barh(places, top.scores[:shown], color=color, height=0.7)
    ax.set_yticks(places, [plain(feature_label(name, 24)) for name in top.names[:shown]])
    ax.invert_yaxis()
    over = " / k" if top.weighting == "resilience" else ""
    ax.set_xlabel(rf"score, $\frac{{1}}{{n}}\sum_k \phi_k{over}$")
    ax.xaxis.set_major_locator(ticker.MaxNLocator(4))  # scores have many digits
    words = f"{len(top.names):,} of {counted(top.n_features, 'feature')}"
    words += "" if shown == len(top.names) else f", the first {shown:,}"
    words += f"\n{len(top.dropped):,} dropped by correlation" if top.dropped else ""
    finish(ax, words if title is None else title)
    return ax
