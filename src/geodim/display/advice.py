"""The plot of advice on hops: the dimension against their number, and which is enough."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from geodim.display.style import BLUE, GREY, VERMILION, finish, new_axes, wants_log
from geodim.optional import require

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from geodim.explain.advice import HopAdvice


def plot_advice(
    advice: HopAdvice, ax: Axes | None = None, *, color: str = BLUE, title: str | None = None
) -> Axes:
    """Draw the dimension against the number of hops, with the advised one, and what is within the tolerance.

    Parameters
    ----------
    advice : HopAdvice
        What to draw.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default.
    color : str, default blue
        Colour of the curve.
    title : str, optional
        Title instead of the advice.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> import geodim
    >>> result = geodim.khop_dimensions([[0.0], [0.0], [1.0], [1.0]], [(0, 1), (1, 2), (2, 3)], hops=3)
    >>> geodim.advise(result).plot().get_xlabel()
    'k, hops'
    """
    ax = new_axes(ax)
    known = [(k, value) for k, value in enumerate(advice.dimensions) if math.isfinite(value)]
    hops, values = [k for k, _ in known], [value for _, value in known]
    ax.plot(hops, values, color=color, linewidth=1.5, marker="o", markersize=4, label="_curve")
    last = advice.dimensions[-1]
    if math.isfinite(last):
        ax.axhspan(last, (1.0 + advice.tolerance) * last, color=GREY, alpha=0.2, linewidth=0, label="_enough")
    ax.axvline(advice.hops, color=VERMILION, linewidth=1.0, linestyle=(0, (4, 3)), label="_advised")
    ax.xaxis.set_major_locator(require("matplotlib.ticker", "plot", "plotting").MaxNLocator(integer=True))
    ax.set_yscale("log" if wants_log(values) else "linear")
    ax.set_xlabel("k, hops")
    ax.set_ylabel("intrinsic dimension")
    finish(ax, advice.text.splitlines()[0].partition(":")[0] if title is None else title)
    return ax
