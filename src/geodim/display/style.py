"""What all plots share: colours, sizes, quiet axes, and numbers as people write them.

Colour-blind readers can tell the colours apart.  Matplotlib without pyplot: no global state, no
window, no backend chosen.  Only in a notebook do figures belong to pyplot, which shows them below the cell.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from geodim.optional import require
from geodim.progress import in_notebook

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Okabe and Ito without yellow and black: distinct for colour-blind readers, and mostly in grey.
BLUE, ORANGE, GREEN, VERMILION, PURPLE, SKY = (
    "#0072B2",
    "#E69F00",
    "#009E73",
    "#D55E00",
    "#CC79A7",
    "#56B4E9",
)
PALETTE = (BLUE, ORANGE, GREEN, VERMILION, PURPLE, SKY)
GREY, OTHERS, INK = "#595959", "#B8B8B8", "#222222"
MARKERS = ("o", "s", "^", "D", "v", "P")  # distinguishable without colours
NOTEBOOK_DPI = 120
LOG_FROM = 20.0  # the ratio of largest to smallest value from which a linear axis would hide the small ones


def new_figure(width: float = 5.2, height: float = 3.4) -> Figure:
    """Make a figure that pyplot does not manage."""
    figure: Figure = require("matplotlib.figure", "plot", "plotting").Figure(
        figsize=(width, height), dpi=200, layout="constrained"
    )
    return figure


def new_axes(ax: Axes | None, width: float = 5.2, height: float = 3.4) -> Axes:
    """Return the axes given, or those of a new figure, which a notebook shows."""
    if ax is not None:
        return ax
    if not in_notebook():
        return new_figure(width, height).add_subplot()
    pyplot = require("matplotlib.pyplot", "plot", "plotting")
    figure: Figure = pyplot.figure(figsize=(width, height), dpi=NOTEBOOK_DPI, layout="constrained")
    return figure.add_subplot()


def finish(ax: Axes, title: str | None, *, grid: str = "both") -> None:
    """Set the title on the left, remove the frame, and draw a light grid below the data."""
    if title is not None:
        ax.set_title(plain(title), fontsize="medium", loc="left")
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(visible=True, axis=grid, color=GREY, alpha=0.15, linewidth=0.6)  # type: ignore[arg-type]
    ax.set_axisbelow(True)


def add_legend(ax: Axes, **options: object) -> None:
    """Add a legend without a frame, if anything has a name."""
    if any(not str(text).startswith("_") for text in ax.get_legend_handles_labels()[1]):
        ax.legend(**{"facecolor": "white", "edgecolor": "none", "framealpha": 0.85, **options})


def curve_style(at: int) -> dict[str, Any]:
    """Return how to draw the first, second, ... of several curves: by colour and marker, then by dashes."""
    return {
        "color": PALETTE[at % len(PALETTE)],
        "marker": MARKERS[at % len(MARKERS)],
        "linestyle": ("-", "--", ":")[at // len(PALETTE) % 3],
    }


def plain(text: str) -> str:
    """Escape a text for matplotlib: dollars begin no formula, a leading underscore hides nothing."""
    text = text.replace("$", r"\$")
    return f" {text}" if text.startswith("_") else text


def wants_log(values: Sequence[float]) -> bool:
    """Return whether positive values span so much that a linear axis would hide the small ones."""
    positive = [value for value in values if 0.0 < value < math.inf]
    return bool(positive) and max(positive) >= LOG_FROM * min(positive)
