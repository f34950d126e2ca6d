"""Plots of binary data: bounds against the minimum support, and how pairs grow with their distance."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from geodim.display.style import BLUE, GREY, ORANGE, add_legend, finish, new_axes, wants_log
from geodim.words import number

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from geodim.concepts.correlation import BinaryCorrelation
    from geodim.concepts.supports import SupportCurve

LEAST_SHARE = 1e-3  # the least share of pairs that is drawn


def plot_support_curve(
    curve: SupportCurve, ax: Axes | None = None, *, color: str = BLUE, title: str | None = None
) -> Axes:
    """Draw the bounds on the dimension against the minimum support, which falls to the right.

    Parameters
    ----------
    curve : SupportCurve
        What to draw.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default.
    color : str, default blue
        Colour of the certified bounds.
    title : str, optional
        Title instead of the last bounds.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> import numpy as np
    >>> import geodim
    >>> geodim.support_curve(np.tri(6, dtype=bool)).plot().get_xlabel()
    'minimum support (objects)'
    """
    ax = new_axes(ax)
    for low, high, shade, alpha, words in (
        (curve.frequent_lower, curve.frequent_upper, GREY, 0.12, "by frequent concepts alone"),
        (curve.lower, curve.upper, color, 0.25, "certified bounds"),
    ):
        known = list(zip(curve.supports, low, high, strict=True))
        finite = [b for _, _, b in known if b < math.inf]
        top = 2.0 * max(finite) if finite else 1.0  # no upper bound: up to the top of the picture
        supports = [s for s, _, _ in known]
        ends = [(min(max(a, 1.0), top), min(b, top)) for _, a, b in known]
        lower, upper = [a for a, _ in ends], [b for _, b in ends]
        ax.fill_between(supports, lower, upper, color=shade, alpha=alpha, linewidth=0, label=words)
        for side in (lower, upper):
            ax.plot(supports, side, color=shade, linewidth=1.2, marker="o", markersize=2.5, label="_bound")
    ax.set_xscale("log")
    if not ax.xaxis_inverted():
        ax.invert_xaxis()
    ax.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
    ax.set_yscale(
        "log"
        if wants_log([*curve.lower, *curve.upper, *curve.frequent_lower, *curve.frequent_upper])
        else "linear"
    )
    ax.set_xlabel("minimum support (objects)")
    ax.set_ylabel("intrinsic dimension")
    add_legend(ax, loc="upper right", fontsize="small")
    last = f"{number(curve.lower[-1])}"
    words = last if curve.exact[-1] else f"{last} to {number(curve.upper[-1])}"
    finish(ax, f"dimension by concepts: {words}" if title is None else title)
    return ax


def plot_correlation(
    found: BinaryCorrelation, ax: Axes | None = None, *, color: str = BLUE, title: str | None = None
) -> Axes:
    """Draw how the share of pairs grows with their distance, for the data and for independent columns.

    Parameters
    ----------
    found : BinaryCorrelation
        What to draw.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default.
    color : str, default blue
        Colour of the data.
    title : str, optional
        Title instead of both dimensions.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> import numpy as np
    >>> import geodim
    >>> geodim.binary_correlation_dimension(np.tri(6, dtype=bool)).plot().get_xlabel()
    'distance r (attributes)'
    """
    ax = new_axes(ax)
    distances = np.array(found.distances)
    for values, shade, words in (
        (found.independent_probabilities, ORANGE, "independent columns"),
        (found.probabilities, color, "data"),
    ):
        there = np.array(values)
        some = (distances > 0) & (there > LEAST_SHARE)
        ax.plot(distances[some], there[some], color=shade, linewidth=1.5, label=words)
    first, last = found.radii
    ax.plot(
        [first, last], [found.quantiles[0], found.quantiles[1]], linestyle="none", marker="o", markersize=5,
        color=color, label="quartiles",
    )  # fmt: skip
    ax.set_xscale("log", subs=[2, 5])
    ax.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
    ax.xaxis.set_minor_formatter(lambda value, _: f"{value:,.0f}")
    ax.set_yscale("log")
    ax.set_xlabel("distance r (attributes)")
    ax.set_ylabel("share of pairs nearer than r")
    add_legend(ax, loc="upper left", fontsize="small")
    words = f"slope {number(found.dimension)}: as {number(found.normalized_dimension)} independent columns"
    finish(ax, words if title is None else title)
    return ax
