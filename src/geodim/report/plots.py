"""Plots of results, with matplotlib but without pyplot: no global state, no window, no backend chosen.

The observable diameter is a step function of alpha: on [1 - k/n, 1 - (k - 1)/n) it is Phi(k) / scale.  So the area under
it is Delta.  For many points the steps are averaged in groups, which keeps the area and bounds the number of vertices.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from geodim.errors import DataFileError, InputValueError
from geodim.optional import require

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    from geodim.result import IDResult

MOST_STEPS = 700  # of equal width, about a pixel each in print; a vertex at both ends
END_STEPS = 60  # more and ever narrower ones at both ends, where Phi may rise steeply
FORMATS = (".png", ".pdf", ".svg")
BLUE, ORANGE, GREY = (
    "#0072B2",
    "#E69F00",
    "#595959",
)  # Okabe and Ito: distinct for colour-blind readers, and in grey


def plot_observable_diameter(
    result: IDResult,
    ax: Axes | None = None,
    *,
    label: str | None = None,
    color: str = BLUE,
    title: str | None = None,
) -> Axes:
    r"""Draw the observable diameter against alpha, with the area :math:`\Delta` under it shaded.

    At alpha, one may leave out that share of the points: the observable diameter is the width that the best feature
    still sees, :math:`\Phi(k) / d_{\max}` with :math:`k = \lceil n (1 - \alpha) \rceil`.  If the result is not exact, a
    band shows the certified bounds.

    Parameters
    ----------
    result : IDResult
        What to draw.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default, which ``ax.figure.savefig`` writes.
    label : str, optional
        Name of the curve in the legend, for several results in the same axes.
    color : str, default blue
        Colour of the curve and the area.
    title : str, optional
        Title instead of the dimension and the size of the data.

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
    >>> from geodim.report.plots import plot_observable_diameter
    >>> ax = plot_observable_diameter(geodim.intrinsic_dimension(np.eye(10)))
    >>> len(ax.lines)
    1
    """
    if ax is None:
        ax = new_figure().add_subplot()
    edges, heights = observable_diameter_steps(result, "phi")
    shade = f"area Δ {'=' if result.exact else '≈'} {result.discriminability:.4g}"
    ax.fill_between(
        edges, heights, color=color, alpha=0.22, linewidth=0, label=f"{label}, {shade}" if label else shade
    )
    if not result.exact:
        _, low = observable_diameter_steps(result, "phi_lower")
        _, high = observable_diameter_steps(result, "phi_upper")
        ax.plot(edges, high, color=ORANGE, linewidth=0.6, label="_upper")
        ax.fill_between(edges, low, high, color=ORANGE, alpha=0.35, linewidth=0, label="certified bounds")
    ax.plot(edges, heights, color=color, linewidth=1.6, solid_joinstyle="miter", label="_curve")
    top = max(float(np.max(line.get_ydata())) for line in ax.lines)  # several results may share the axes
    ax.set_xlim(0.0, 1.0)
    ax.set_ylim(0.0, 1.05 * top if top > 0.0 else 1.0)
    ax.set_xlabel(r"$\alpha$, share of points left out")
    unit = r"$\Phi(k)\,/\,d_{\max}$" if result.normalized else r"$\Phi(k)$, units of the data"
    ax.set_ylabel(rf"observable diameter {unit}")
    ax.set_title(title if title is not None else _title(result), fontsize="medium", loc="left")
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(visible=True, color=GREY, alpha=0.15, linewidth=0.6)
    ax.set_axisbelow(True)
    ax.legend(loc="upper right", facecolor="white", edgecolor="none", framealpha=0.85)
    return ax


def new_figure() -> Figure:
    """Make a figure of one column's width that belongs to nobody: pyplot does not know it."""
    figure: Figure = require("matplotlib.figure", "plot", "plotting").Figure(
        figsize=(5.2, 3.4), dpi=200, layout="constrained"
    )
    return figure


def check_plot_path(path: str | Path) -> None:
    """Raise what `save_plot` would raise, before anything is computed."""
    target = Path(path)
    if target.suffix.lower() not in FORMATS:
        msg = f"cannot plot to {target}: the name must end in {', '.join(FORMATS)}"
        raise InputValueError(msg)
    if not target.absolute().parent.is_dir():
        msg = f"cannot write {target}: there is no folder {target.absolute().parent}"
        raise DataFileError(msg)
    require("matplotlib.figure", "plot", "plotting")


def save_plot(result: IDResult, path: str | Path, **kwargs: Any) -> None:
    """Write the plot of a result to a .png, .pdf or .svg file, whole or not at all."""
    check_plot_path(path)
    target = Path(path)
    figure: Any = plot_observable_diameter(result, **kwargs).figure
    try:
        with tempfile.TemporaryDirectory(dir=target.absolute().parent, prefix=f".{target.name}.") as folder:
            temporary = Path(folder, target.name)
            figure.savefig(temporary)
            os.replace(temporary, target)  # noqa: PTH105 - replaces a file atomically on every system
    except OSError as error:
        msg = f"cannot write {target}: {error.strerror or error}"
        raise DataFileError(msg) from error


def observable_diameter_steps(
    result: IDResult, which: str = "phi"
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Vertices of the step function: alpha ascending from 0 to 1, and the observable diameter.

    Parameters
    ----------
    result : IDResult
        The result; where it holds Phi for some k only, Phi is linear in between if exact, else constant.
    which : {"phi", "phi_lower", "phi_upper"}
        The curve itself or one of its bounds.

    Returns
    -------
    alpha, diameter : ndarray
        At most 1,642 vertices.  The area under them is the discriminability, or its bound.
    """
    n = result.n_points
    if which == "phi" and not result.exact:
        alpha, low = observable_diameter_steps(result, "phi_lower")
        return alpha, 0.5 * (low + observable_diameter_steps(result, "phi_upper")[1])
    phi = result.phi_lower if which != "phi_upper" else result.phi_upper
    support, scale = result.support, result.scale
    if result.exact and 1 < phi.size < n - 1 and support[-2] < n - 1:  # keep Phi(n) as a step of its own
        phi = np.insert(phi, -1, np.interp(n - 1, support, phi))
        support = np.insert(support, -1, n - 1)
    last = _grouped(phi.size)  # of each group of steps
    if phi.size == 0:
        sums = phi
    elif phi.size == n - 1:
        large = float(phi[-1]) > 1e290  # sums might overflow
        sums = np.add.reduceat(phi / scale if large else phi, np.concatenate(([0], last[:-1] + 1)))
        sums = sums if large else sums / scale
    else:
        sums = np.diff(_partial_sums(support, phi / scale, linear=result.exact)[last], prepend=0.0)
    ends = np.concatenate(([1], support[last]))  # the first step, k = 1, has the width 0
    heights = np.concatenate(([0.0], sums / np.diff(ends)))
    alpha = 1.0 - np.concatenate(([0], ends)) / n
    return np.repeat(alpha, 2)[1:-1][::-1], np.repeat(heights, 2)[::-1]


def _grouped(size: int) -> NDArray[np.intp]:
    """Last index of each group of steps: groups of one up to some hundred steps, equal parts and narrow ends beyond."""
    if size <= MOST_STEPS:
        return np.arange(size)
    parts = np.linspace(0, size - 1, MOST_STEPS)
    narrow = np.geomspace(1, size / MOST_STEPS, END_STEPS) - 1.0
    return np.unique(np.concatenate((parts, narrow, size - 2 - narrow)).round().astype(np.intp))


def _partial_sums(
    support: NDArray[np.int64], phi: NDArray[np.float64], *, linear: bool
) -> NDArray[np.float64]:
    """Sum of Phi(2), ..., Phi(k) for the k in the support, Phi being linear in between, or constant up to each k."""
    steps = np.diff(support, prepend=1)
    if not linear:
        return np.cumsum(steps * phi)
    before = np.concatenate(([0.0], phi[:-1]))
    return np.cumsum(steps * before + (phi - before) * (steps + 1) / 2.0)


def _title(result: IDResult) -> str:
    if result.dimension == np.inf:
        value = "∞"
    elif result.exact:
        value = f"{result.dimension:.4g}"
    else:
        value = f"between {result.lower:.4g} and {result.upper:.4g}"
    points, features = (
        f"{count:,} {name}{'' if count == 1 else 's'}"
        for count, name in ((result.n_points, "point"), (result.n_features, "feature"))
    )
    return f"intrinsic dimension {value}\n{points} × {features}"
