"""The plot of a gauge: one dimension among those of columns of known kinds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from geodim.display.sampling import ROW_INCHES, plot_numbers
from geodim.display.style import BLUE, GREY, new_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from geodim.gauge import Gauge

OWN = "this data"


def plot_gauge(gauge: Gauge, ax: Axes | None = None, *, color: str = BLUE, title: str | None = None) -> Axes:
    """Draw the dimension with its bounds among the marks, ascending, a row for each.

    Parameters
    ----------
    gauge : Gauge
        What to draw.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default.
    color : str, default blue
        Colour of the dimension; marks are grey.
    title : str, optional
        Title instead of the verdict.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> import numpy as np
    >>> import geodim
    >>> X = np.random.default_rng(0).normal(size=(1000, 10))
    >>> ax = geodim.intrinsic_dimension(X).gauge.plot()
    >>> [text.get_text() for text in ax.get_yticklabels()]
    ['evenly spaced', 'uniform', 'normal', 'this data', 'Laplace']
    """
    rows = [(gauge.dimension, OWN, gauge.lower, gauge.upper)]
    rows += [(mark.dimension, mark.name, mark.dimension, mark.dimension) for mark in gauge.marks]
    ax = new_axes(ax, height=1.0 + ROW_INCHES * len(rows))
    words = gauge.verdict.partition(":")[0].partition(". ")[0] if title is None else title
    for middle, name, low, high in sorted(rows):
        plot_numbers([(name, low, middle, high)], ax, color=color if name == OWN else GREY, title=words)
    return ax
