"""What all plots share: colours, sizes, quiet axes, and numbers as people write them.

Colour-blind readers can tell the colours apart.  Matplotlib without pyplot: no global state, no
window, no backend chosen.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from geodim.optional import require

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
MARKERS = ("o", "s", "^", "D", "v", "P")  # told apart without colours
LOG_FROM = 20.0  # the ratio of largest to smallest value from which a linear axis would hide the small ones
NAME_LENGTH = 24  # of a name in a plot


def new_figure(width: float = 5.2, height: float = 3.4) -> Figure:
    """Make a figure that belongs to nobody: pyplot does not know it."""
    figure: Figure = require("matplotlib.figure", "plot", "plotting").Figure(
        figsize=(width, height), dpi=200, layout="constrained"
    )
    return figure


def new_axes(ax: Axes | None, width: float = 5.2, height: float = 3.4) -> Axes:
    """The axes given, or those of a new figure."""
    return new_figure(width, height).add_subplot() if ax is None else ax


def finish(ax: Axes, title: str | None, *, grid: str = "both") -> None:
    """Title on the left, no frame, a light grid below the data."""
    if title is not None:
        ax.set_title(plain(title), fontsize="medium", loc="left")
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(visible=True, axis=grid, color=GREY, alpha=0.15, linewidth=0.6)  # type: ignore[arg-type]
    ax.set_axisbelow(True)


def add_legend(ax: Axes, **options: object) -> None:
    """A legend without a frame, if anything has a name."""
    if any(not str(text).startswith("_") for text in ax.get_legend_handles_labels()[1]):
        ax.legend(**{"facecolor": "white", "edgecolor": "none", "framealpha": 0.85, **options})


def curve_style(at: int) -> dict[str, Any]:
    """How to draw the first, second, ... of several curves: by colour and marker, then by dashes, too."""
    return {
        "color": PALETTE[at % len(PALETTE)],
        "marker": MARKERS[at % len(MARKERS)],
        "linestyle": ("-", "--", ":")[at // len(PALETTE) % 3],
    }


def plain(text: str) -> str:
    """A text that matplotlib shows as it is: dollars begin no formula, a leading underscore hides nothing."""
    text = text.replace("$", r"\$")
    return f" {text}" if text.startswith("_") else text


def short(name: str, length: int = NAME_LENGTH) -> str:
    """A name from the data on one line of at most ``length`` characters, for labels in a plot.

    >>> short("a very long name of a column in some table")
    'a very long na…some table'
    """
    name = (
        " ".join("".join(letter if letter.isprintable() else " " for letter in name).split()) or "(no name)"
    )
    if len(name) > length:
        tail = length // 2 - 2
        name = f"{name[: length - tail]}…{name[-tail:]}"
    return name


def feature_label(name: str, length: int = NAME_LENGTH) -> str:
    """What a plot calls a feature: its name, or its number where it has none.

    >>> feature_label("12"), feature_label("age")
    ('feature 12', 'age')
    """
    return f"feature {name}" if name.isascii() and name.isdigit() else short(name, length)


def percent(share: float) -> str:
    """A share as people write it.

    >>> percent(0.4284), percent(0.00002), percent(0.0)
    ('42.8 %', '< 0.1 %', '0 %')
    """
    if 0.0 < share < 0.001:
        return "< 0.1 %"
    if 0.9995 < share < 1.0 - 1e-9:
        return "> 99.9 %"
    return f"{100.0 * share:.1f} %" if share else "0 %"


def number(value: float, digits: int = 4) -> str:
    """A number for people: a few digits, commas in large ones, ∞.

    >>> number(45780.4), number(3.90918), number(float("inf"))
    ('45,780', '3.909', '∞')
    """
    if not math.isfinite(value):
        return "∞" if value > 0 else "−∞" if value < 0 else "?"
    if value != 0.0 and not 1e-4 <= abs(value) < 1e9:
        mantissa, exponent = f"{value:.{digits - 1}e}".split("e")
        return f"{mantissa.rstrip('0').rstrip('.') if '.' in mantissa else mantissa}e{int(exponent)}"
    if abs(value) >= 10.0 ** (digits - 1):
        return f"{value:,.0f}"
    return f"{value:.{digits}g}"


def counted(count: int, noun: str) -> str:
    """A count with its noun.

    >>> counted(1, "point"), counted(1797, "point")
    ('1 point', '1,797 points')
    """
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def wants_log(values: Sequence[float]) -> bool:
    """Whether positive values span so much that a linear axis would hide the small ones."""
    positive = [value for value in values if 0.0 < value < math.inf]
    return bool(positive) and max(positive) >= LOG_FROM * min(positive)
