"""The plot of intrinsic dimension against accuracy: what each hop gains in both."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from geodim.display.style import BLUE, PALETTE, add_legend, finish, new_axes, plain, wants_log
from geodim.errors import ShapeError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from numpy.typing import NDArray


def plot_accuracy(
    dimensions: Sequence[float],
    accuracies: Sequence[float],
    ax: Axes | None = None,
    *,
    deviations: Sequence[float] | None = None,
    relative: bool = False,
    label: str | None = None,
    color: str | None = None,
    marker: str = "o",
    title: str | None = None,
) -> Axes:
    """Draw a classifier's accuracy against the dimension of its features, for k = 0, 1, ... hops.

    The points are joined in the order of k, and numbered.

    Parameters
    ----------
    dimensions : sequence of float
        Intrinsic dimension for each k; infinite ones are left out.
    accuracies : sequence of float
        Accuracy for each k, between 0 and 1.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default.  Call it again with the same axes for another data set.
    deviations : sequence of float, optional
        Standard deviation of each accuracy, drawn as a bar.
    relative : bool, default False
        Divide the dimensions by the first finite one, for data sets whose dimensions are far apart.
    label : str, optional
        Name of the data set in the legend.
    color : str, optional
        Colour; by default the next of the palette.
    marker : str, default "o"
        Marker of the points.
    title : str, optional
        Title.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> from geodim.display.accuracy import plot_accuracy
    >>> ax = plot_accuracy([6.25, 3.83, 3.67], [0.53, 0.72, 0.78], label="Cora")
    >>> ax.get_xlabel()
    'intrinsic dimension'
    """
    if len(dimensions) != len(accuracies) or (deviations is not None and len(deviations) != len(accuracies)):
        msg = f"one accuracy for each dimension is needed: got {len(dimensions)} and {len(accuracies)}" + (
            "" if deviations is None else f", and {len(deviations)} deviations"
        )
        raise ShapeError(msg)
    ax = new_axes(ax)
    drawn = [line for line in ax.lines if line.get_marker() not in ("None", "_", "|")]
    color = color or PALETTE[len(drawn) % len(PALETTE)] or BLUE
    kept = [k for k, value in enumerate(dimensions) if math.isfinite(value)]
    x = np.array([dimensions[k] for k in kept], np.float64)
    if relative and x.size:
        x = x / x[0]
    y = np.array([accuracies[k] for k in kept], np.float64)
    style: dict[str, Any] = {"color": color, "linewidth": 1.2, "marker": marker, "markersize": 5.5}
    ax.plot(x, y, label=plain(label) if label else "_curve", **style)
    if deviations is not None:
        bars = [deviations[k] for k in kept]
        ax.errorbar(x, y, yerr=bars, fmt="none", ecolor=color, elinewidth=0.8, capsize=2.5, label="_bars")
    _number_points(ax, kept, x, y, color)
    everything = [float(value) for line in ax.lines for value in np.asarray(line.get_xdata(), np.float64)]
    ax.set_xscale("log" if wants_log(everything) else "linear")
    ax.margins(x=0.1, y=0.1)
    ax.yaxis.set_major_formatter(lambda value, _: f"{100 * value:g} %")
    ax.set_xlabel("intrinsic dimension" + (f", relative to $k={kept[0]}$" if relative and kept else ""))
    ax.set_ylabel("accuracy")
    finish(ax, title)
    add_legend(ax, fontsize="small")
    return ax


def _number_points(
    ax: Axes, hops: list[int], x: NDArray[np.float64], y: NDArray[np.float64], color: str
) -> None:
    """Write k beside its point, unless it would run into the number of the point before."""
    wide = float(np.ptp(x)) if x.size else 0.0
    high = float(np.ptp(y)) if y.size else 0.0
    last: tuple[float, float] | None = None
    for k, at, height in zip(hops, x.tolist(), y.tolist(), strict=True):
        near = (
            last is not None
            and abs(at - last[0]) < 0.1 * wide
            and abs(height - last[1]) < 0.15 * (high or 1.0)
        )
        if near:
            continue
        ax.annotate(
            f"$k={k}$",
            (at, height),
            xytext=(6, 4),
            textcoords="offset points",
            fontsize="x-small",
            color=color,
        )
        last = (at, height)
