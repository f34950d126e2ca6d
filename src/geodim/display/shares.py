"""The plot of feature shares: which features carry the discriminability."""

from __future__ import annotations

from typing import TYPE_CHECKING

from geodim.arguments import whole_number
from geodim.display.style import BLUE, OTHERS, finish, new_axes, plain
from geodim.words import counted, feature_label, number, percent

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from geodim.result import IDResult

BAR_INCHES = 0.2  # height of a bar
MOST = 15
TIED = 0.35  # opacity of what several features attain


def plot_shares(
    result: IDResult,
    ax: Axes | None = None,
    *,
    most: int | None = None,
    color: str = BLUE,
    title: str | None = None,
) -> Axes:
    """Draw the share of the discriminability that each feature carries, the largest on top.

    Where several features are the widest, the first of them has the share.  If the result knows what removals
    cost, the dimension without each feature stands beside its bar, and what it attains alone is darker.

    Parameters
    ----------
    result : IDResult
        What to draw.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default, as high as the bars need.
    most : int, optional
        The most features with a bar of their own; the others share the last one.  By
        default 15, or what has room.
    color : str, default blue
        Colour of the bars.
    title : str, optional
        Title instead of how many features carry the discriminability.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> import geodim
    >>> from geodim.display.shares import plot_shares
    >>> ax = plot_shares(geodim.intrinsic_dimension([[0.0, 1.0], [1.0, 3.0]], feature_names=["a", "b"]))
    >>> [text.get_text() for text in ax.get_yticklabels()]
    ['b']
    """
    if most is None:
        most = MOST if ax is None else max(3, min(MOST, int(_height(ax) / BAR_INCHES) - 1))
    most = whole_number(most, "most", 1)
    shares = list(result.shares.items())
    shown = shares[:most] if len(shares) > most + 1 else shares  # "1 other" would take as much room
    labels = [plain(feature_label(name)) for name, _ in shown]
    values = [share for _, share in shown]
    colors = [color] * len(shown)
    if len(shares) > len(shown):
        labels.append(f"{len(shares) - len(shown):,} others")
        values.append(max(0.0, 1.0 - sum(values)))
        colors.append(OTHERS)
    ax = new_axes(ax, height=0.9 + BAR_INCHES * max(len(labels), 3))
    places = list(range(len(labels)))
    removal = result.removal
    bars = ax.barh(places, values, color=colors, height=0.72, alpha=1.0 if removal is None else TIED)
    written = [percent(value) for value in values]
    if removal is not None:  # what no other feature attains stands out from what others would take over
        alone = [removal.alone[name] for name, _ in shown]
        ax.barh(places[: len(alone)], alone, color=color, height=0.72)
        for at, (name, _) in enumerate(shown):
            rest = removal.without[name]
            same = rest == removal.dimension
            written[at] += "; without it the same" if same else f"; without it {number(rest)}"
    ax.bar_label(bars, written, padding=3, fontsize="small")
    ax.set_yticks(places, labels, fontsize="small")
    ax.tick_params(axis="y", length=0)
    ax.set_ylim(max(len(labels), 1) - 0.4, -0.6)
    room = 1.18 if removal is None else 1.7
    ax.set_xlim(0.0, room * max(values, default=1.0) or 1.0)
    ax.xaxis.set_major_formatter(lambda value, _: f"{100 * value:g} %")
    alone_words = "" if removal is None else "; dark: attained by no other feature"
    ax.set_xlabel(f"share of Δ = {number(result.discriminability)}{alone_words}")
    words = f"carried by {len(shares):,} of {counted(result.n_features, 'feature')}"
    finish(ax, words if title is None else title, grid="x")
    return ax


def _height(ax: Axes) -> float:
    """Return the height of the axes in inches."""
    return float(ax.get_window_extent().height / ax.get_figure(root=True).dpi)  # type: ignore[union-attr]
