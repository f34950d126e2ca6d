"""The plot of the observable diameter, the area Delta under it shaded.

The observable diameter is a step function of alpha: on [1 - k/n, 1 - (k - 1)/n) it is Phi(k) / scale.  So the
area under it is Delta.  For many points the steps are averaged in groups (`geodim.display.thinning`), which
keeps the area and bounds the number of vertices.
"""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict

import numpy as np

from geodim.display.style import (
    BLUE,
    GREY,
    INK,
    ORANGE,
    OTHERS,
    PALETTE,
    add_legend,
    finish,
    new_axes,
    new_figure,
    plain,
)
from geodim.display.thinning import group_ends
from geodim.errors import InputValueError
from geodim.optional import require
from geodim.output import check_output, writing
from geodim.words import counted, feature_label, number, percent

if TYPE_CHECKING:
    from typing import Unpack

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    from geodim.result import IDResult

__all__ = [
    "BLUE",
    "GREY",
    "ORANGE",
    "check_plot_path",
    "new_figure",
    "observable_diameter_steps",
    "plot_observable_diameter",
    "save_figure",
    "save_plot",
    "step_owners",
]

# With the versions and dates that matplotlib adds to each file unless disabled.
FORMATS = {
    ".png": ("Software",),
    ".pdf": ("Creator", "Producer", "CreationDate"),
    ".svg": ("Creator", "Date"),
}
TIED = "tied"  # a share due to the tie rule: without the feature nothing changes
LEAST_SHARE = 0.001  # smaller shares are not visible
SMALL = 3.2  # inches: narrower axes have room for fewer words
NARROWEST = 1.0 / 150.0  # of the axis: what is narrower takes the colour of its neighbour


class CurveOptions(TypedDict, total=False):
    """The options of `plot_observable_diameter`."""

    label: str | None
    color: str | None
    title: str | None
    by_feature: bool | None


def plot_observable_diameter(
    result: IDResult,
    ax: Axes | None = None,
    *,
    label: str | None = None,
    color: str | None = None,
    title: str | None = None,
    by_feature: bool | None = None,
) -> Axes:
    r"""Draw the observable diameter against alpha, with the area :math:`\Delta` under it shaded.

    At alpha, one may leave out that share of the points: the observable diameter is the width that the best
    feature still sees, :math:`\Phi(k) / d_{\max}` with :math:`k = \lceil n (1 - \alpha) \rceil`.  The area
    has the colour of the feature that attains it, if the result knows; if the result is not exact, a band
    shows the certified bounds.

    Parameters
    ----------
    result : IDResult
        What to draw.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default, which ``ax.figure.savefig`` writes.
    label : str, optional
        Name of the curve in the legend, for several results in the same axes.
    color : str, optional
        One colour for the curve and the area; blue if features are not distinguished by colour.
    title : str, optional
        Title instead of the dimension and the size of the data.
    by_feature : bool, optional
        Whether the area has the colours of the features; by default if neither
        ``label`` nor ``color`` is given.

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
    >>> from geodim.display.plots import plot_observable_diameter
    >>> ax = plot_observable_diameter(geodim.intrinsic_dimension(np.eye(10)))
    >>> len(ax.lines)
    1
    """
    ax = new_axes(ax)
    edges, heights = observable_diameter_steps(result, "phi")
    if by_feature is None:
        by_feature = label is None and color is None
    owners = step_owners(result, edges[::2], edges[1::2])
    several = by_feature and np.unique(owners[owners >= 0]).size > 1
    shade = f"area Δ {'=' if result.phi_exact else '≈'} {number(result.discriminability)}"
    small = ax.get_window_extent().width < SMALL * ax.get_figure(root=True).dpi  # type: ignore[union-attr]
    if several:
        most = len(PALETTE) if not small else 3 if result.phi_exact else 2
        _shade_by_feature(result, ax, edges, heights, owners, most)
    else:
        named = f"{plain(label)}, {shade}" if label else shade
        ax.fill_between(edges, heights, color=color or BLUE, alpha=0.22, linewidth=0, label=named)
    if not result.phi_exact:
        _draw_band(result, ax, edges, INK if several else ORANGE)
    ax.plot(
        edges,
        heights,
        color=INK if several else color or BLUE,
        linewidth=1.0 if several else 1.6,
        solid_joinstyle="miter",
        label="_curve",
    )
    # Several results may share the axes.
    highest = [np.asarray(line.get_ydata(), np.float64) for line in ax.lines]
    top = max(float(np.max(some[np.isfinite(some)], initial=0.0)) for some in highest)
    ax.set_xlim(0.0, 1.0)
    ax.set_ylim(0.0, 1.05 * top if top > 0.0 else 1.0)
    ax.set_xlabel(r"$\alpha$, share of points left out")
    unit = r"$\Phi(k)\,/\,d_{\max}$" if result.normalized else r"$\Phi(k)$, units of the data"
    ax.set_ylabel(rf"observable diameter {unit}")
    finish(ax, title if title is not None else _title(result))
    size = "x-small" if small else "small" if several else None
    add_legend(
        ax,
        loc="upper right",
        fontsize=size,
        title=shade if several else None,
        title_fontsize=size,
        alignment="left",
    )
    return ax


def _shade_by_feature(
    result: IDResult,
    ax: Axes,
    edges: NDArray[np.float64],
    heights: NDArray[np.float64],
    owners: NDArray[np.int64],
    most: int,
) -> None:
    """Shade the area under the curve in the colours of the features that attain it, largest shares first."""
    names = list(result.shares)
    spare = result.removal.spare if result.removal is not None else set()
    shown = [at for at in range(min(most, len(names))) if result.shares[names[at]] >= LEAST_SHARE]
    groups = [(feature_label(names[at]), result.shares[names[at]], PALETTE[at], owners == at) for at in shown]
    tied = {feature_label(names[at]) for at in shown if names[at] in spare}
    others = ~np.isin(owners, shown)
    count = len(names) - len(shown)
    rest = max(1.0 - sum(share for _, share, _, _ in groups), 0.0)
    groups.append((f"{count:,} other{'' if count == 1 else 's'}" if count else "", rest, OTHERS, others))
    for name, share, colour, where in groups:
        label = f"{plain(name)}, {percent(share)}" if name else "_none"
        label += f" ({TIED})" * (name in tied)
        ax.fill_between(
            edges, heights, where=np.repeat(where, 2), color=colour, alpha=0.8, linewidth=0, label=label
        )


def _draw_band(result: IDResult, ax: Axes, edges: NDArray[np.float64], color: str) -> None:
    """Draw the certified bounds; without an upper one the band has no upper end."""
    _, low = observable_diameter_steps(result, "phi_lower")
    _, high = observable_diameter_steps(result, "phi_upper")
    ends = np.where(np.isfinite(high), high, np.nan)
    ax.plot(edges, ends, color=color, linewidth=0.6, label="_upper")
    top = 10.0 * max(float(np.nanmax(ends, initial=0.0)), float(low.max(initial=0.0)), 1.0)
    ax.fill_between(
        edges,
        low,
        np.where(np.isfinite(high), high, top),
        color=color,
        alpha=0.35,
        linewidth=0,
        label="certified bounds",
    )


def check_plot_path(path: str | Path) -> None:
    """Raise what `save_plot` would raise, before anything is computed."""
    target = Path(path)
    if target.suffix.lower() not in FORMATS:
        msg = f"cannot plot to {target}: the name must end in {', '.join(FORMATS)}"
        raise InputValueError(msg)
    check_output(target)
    require("matplotlib.figure", "plot", "plotting")


def save_plot(result: IDResult, path: str | Path, **options: Unpack[CurveOptions]) -> None:
    """Write the plot of a result to a .png, .pdf or .svg file, whole or not at all."""
    check_plot_path(path)
    figure = new_figure()  # not shown anywhere
    plot_observable_diameter(result, figure.add_subplot(), **options)
    save_figure(figure, Path(path))


def save_figure(figure: Figure, path: Path) -> None:
    """Write a figure whole or not at all, and without versions and dates."""
    kind = path.suffix.lower()
    picture = io.BytesIO()
    figure.savefig(picture, format=kind[1:], metadata=dict.fromkeys(FORMATS[kind]))
    with writing(path) as stream:
        stream.write(picture.getvalue())


def observable_diameter_steps(
    result: IDResult, which: str = "phi"
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the vertices of the step function: alpha ascending from 0 to 1, and the observable diameter.

    Parameters
    ----------
    result : IDResult
        The result; where it holds Phi for some k only, Phi is linear in between if exact, else constant, as
        it is where the result says so.
    which : {"phi", "phi_lower", "phi_upper"}
        The curve itself or one of its bounds.

    Returns
    -------
    alpha, diameter : ndarray
        At most 1,806 vertices, two for each step; alpha is the same for the curve and its bounds.  The area
        under them is the discriminability, or its bound.
    """
    n = result.mass
    if which == "phi" and not result.phi_exact:
        alpha, low = observable_diameter_steps(result, "phi_lower")
        high = observable_diameter_steps(result, "phi_upper")[1]
        return alpha, np.where(np.isfinite(high), 0.5 * (low + high), low)
    support, scale = result.support, result.scale
    phi, low, high = (
        result.phi_lower if which != "phi_upper" else result.phi_upper,
        result.phi_lower,
        result.phi_upper,
    )
    linear = result.phi_exact and not result.stepwise
    if linear and not result.measured and 1 < phi.size < n - 1 and support[-2] < n - 1:
        # Phi(n) is a step of its own.
        phi = low = high = np.insert(phi, -1, np.interp(n - 1, support, phi))
        support = np.insert(support, -1, n - 1)
    last = group_ends(support, low, high, n)
    if phi.size == 0:
        sums = phi
    elif phi.size == n - 1 and not result.measured:
        large = float(phi[-1]) > 1e290  # sums might overflow
        sums = np.add.reduceat(phi / scale if large else phi, np.concatenate(([0], last[:-1] + 1)))
        sums = sums if large else sums / scale
    else:
        first = 0 if result.measured else 1
        sums = _sums_up_to(support, phi / scale, last, first, linear=linear)
    ends = np.concatenate(([0 if result.measured else 1], support[last]))  # before, as k = 1, the width is 0
    heights = np.concatenate(([0.0], sums / np.diff(ends)))
    alpha = 1.0 - np.concatenate(([0], ends)) / n
    return np.repeat(alpha, 2)[1:-1][::-1], np.repeat(heights, 2)[::-1]


def step_owners(
    result: IDResult, left: NDArray[np.float64], right: NDArray[np.float64], narrowest: float = NARROWEST
) -> NDArray[np.int64]:
    """Return the feature that attains the width of each step, as a position in ``result.shares``, or -1.

    Parameters
    ----------
    result : IDResult
        The result.
    left, right : array
        Ends of the steps, in alpha.
    narrowest : float
        Runs of steps narrower than this take the feature of what lies before them: a
        hairline of colour says nothing.
    """
    if result.attained_from.size == 0:
        return np.full(left.size, -1)
    k = np.clip(result.mass * (1.0 - 0.5 * (left + right)), 0.0, result.mass)
    k = k if result.measured else np.ceil(k)
    at = np.searchsorted(result.attained_from, k, side="right") - 1
    owners = np.where(at >= 0, result.attained_by[np.maximum(at, 0)], -1)
    if not result.measured:
        owners[k < 2] = -1
    starts = np.flatnonzero(np.append(True, owners[1:] != owners[:-1]))
    stops = np.append(starts[1:], owners.size)
    for start, stop in zip(starts[1:].tolist(), stops[1:].tolist(), strict=True):
        if right[stop - 1] - left[start] < narrowest and owners[start] >= 0:
            owners[start:stop] = owners[start - 1]
    return owners


def _sums_up_to(
    support: NDArray[np.generic],
    phi: NDArray[np.float64],
    last: NDArray[np.intp],
    first: int,
    *,
    linear: bool,
) -> NDArray[np.float64]:
    """Return the sum of Phi over each group, infinite where a value is."""
    if not np.all(np.isfinite(phi)):
        finite = _sums_up_to(support, np.where(np.isfinite(phi), phi, 0.0), last, first, linear=linear)
        bad = np.add.reduceat(~np.isfinite(phi), np.concatenate(([0], last[:-1] + 1)))
        return np.where(bad > 0, np.inf, finite)
    return np.diff(_partial_sums(support, phi, first, linear=linear)[last], prepend=0.0)


def _partial_sums(
    support: NDArray[np.generic], phi: NDArray[np.float64], first: int, *, linear: bool
) -> NDArray[np.float64]:
    """Return the sum of Phi(2), ..., Phi(k) for the k in the support; or the integral up to each mass.

    Phi is linear in between, or constant up to each k.  It is 0 up to ``first``: 1 for sizes, 0 for masses.
    """
    steps = np.diff(support, prepend=first)
    if not linear:
        return np.cumsum(steps * phi)
    before = np.concatenate(([0.0], phi[:-1]))
    return np.cumsum(steps * before + (phi - before) * (steps + first) / 2.0)


def _title(result: IDResult) -> str:
    if result.one_number:
        value = number(result.dimension)
    elif result.upper == np.inf:
        value = f"at least {number(result.lower)}"
    else:
        value = f"{number(result.lower)} to {number(result.upper)}"
    return (
        f"intrinsic dimension {value}\n{counted(result.n_points, 'point')} × "
        f"{counted(result.n_features, 'feature')}"
    )
