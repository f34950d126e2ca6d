"""Plots of numbers beside each other: data sets that are compared, estimates, and curves of samples."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from geodim.display.style import BLUE, GREY, finish, new_axes, plain, wants_log
from geodim.words import feature_label, number

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes

    from geodim.sampling import Comparison, SampleCurve

ROW_INCHES = 0.3


def plot_numbers(
    rows: Sequence[tuple[str, float, float, float]],
    ax: Axes | None = None,
    *,
    color: str = BLUE,
    title: str | None = None,
    label: str = "intrinsic dimension",
) -> Axes:
    """Draw numbers with their ranges, a row for each; infinite ones are written at the end of the row.

    Parameters
    ----------
    rows : sequence of (str, float, float, float)
        Name, least, middle and greatest value.
    ax : matplotlib.axes.Axes, optional
        Where to draw, below the rows that are there; a new figure by default, as high as the rows need.
    color : str, default blue
        Colour of points and ranges.
    title : str, optional
        Title.
    label : str
        What the numbers are.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> from geodim.display.sampling import plot_numbers
    >>> ax = plot_numbers([("mle", 2.9, 3.0, 3.1), ("twonn", 3.2, 3.2, 3.2)])
    >>> [text.get_text() for text in ax.get_yticklabels()]
    ['mle', 'twonn']
    """
    there = [] if ax is None else [text.get_text() for text in ax.get_yticklabels() if ax.get_lines()]
    ax = new_axes(ax, height=1.0 + ROW_INCHES * max(len(rows), 2))
    for at, (name, low, middle, high) in enumerate(rows, len(there)):
        if math.isfinite(middle):
            ends = [end if math.isfinite(end) else middle for end in (low, high)]
            ax.plot(ends, [at, at], color=color, linewidth=2.0, alpha=0.4, label="_range")
            ax.plot([middle], [at], color=color, marker="o", markersize=6, label="_value")
        else:
            ax.plot([], [], label="_value")
        ax.annotate(
            number(middle), (1.0, at), xycoords=("axes fraction", "data"), xytext=(4, 0),
            textcoords="offset points", va="center", fontsize="small", annotation_clip=False,
        )  # fmt: skip
        there.append(plain(feature_label(name)))
    ax.set_yticks(range(len(there)), there, fontsize="small")
    ax.set_ylim(len(there) - 0.4, -0.6)
    values = [value for line in ax.get_lines() for value in np.asarray(line.get_xdata(), float).tolist()]
    ax.set_xscale("log" if wants_log(values) else "linear")
    ax.set_xlabel(label)
    finish(ax, title, grid="x")
    return ax


def plot_comparison(
    comparison: Comparison, ax: Axes | None = None, *, color: str = BLUE, title: str | None = None
) -> Axes:
    """Draw the dimension of every data set at equal numbers of points: the median, and all draws as a range.

    Parameters
    ----------
    comparison : Comparison
        What to draw.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default.
    color : str, default blue
        Colour of points and ranges.
    title : str, optional
        Title instead of the number of draws.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> import numpy as np
    >>> import geodim
    >>> x = np.arange(40.0)[:, np.newaxis]
    >>> found = geodim.compare({"even": x, "square": x**2})
    >>> found.plot().get_xlabel()
    'intrinsic dimension at 20 points'
    """
    rows = [(row["name"], row["least"], row["at_equal_points"], row["greatest"]) for row in comparison.rows()]
    words = f"medians and ranges of {len(comparison.samples[0])} draws" if title is None else title
    label = f"intrinsic dimension at {comparison.points:,} points"
    return plot_numbers(rows, ax, color=color, title=words, label=label)


def plot_sample_curve(
    curve: SampleCurve, ax: Axes | None = None, *, color: str = BLUE, title: str | None = None
) -> Axes:
    """Draw the dimension of samples against their number of points: each sample, and the medians as a line.

    Parameters
    ----------
    curve : SampleCurve
        What to draw.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default.
    color : str, default blue
        Colour of the line.
    title : str, optional
        Title instead of the verdict.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> import numpy as np
    >>> import geodim
    >>> X = np.random.default_rng(0).uniform(size=(200, 2))
    >>> geodim.subsampled_dimensions(X, repeats=2).plot().get_xlabel()
    'points'
    """
    ax = new_axes(ax)
    sizes = [size for size, some in zip(curve.sizes, curve.dimensions, strict=True) for _ in some]
    values = [value for some in curve.dimensions for value in some]
    there = [math.isfinite(value) for value in values]
    ax.scatter(
        [size for size, known in zip(sizes, there, strict=True) if known],
        [value for value, known in zip(values, there, strict=True) if known],
        s=12, color=GREY, alpha=0.6, linewidths=0, label="samples",
    )  # fmt: skip
    ax.plot(curve.sizes, curve.medians, color=color, linewidth=1.5, marker="o", markersize=4, label="median")
    ax.set_xscale("log", base=2)
    ax.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
    ax.set_yscale("log" if wants_log(values) else "linear")
    ax.set_xlabel("points")
    ax.set_ylabel("intrinsic dimension")
    finish(ax, f"with more points the dimension: {curve.verdict}" if title is None else title)
    return ax
