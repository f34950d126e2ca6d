"""What the figures of the experiments share: sizes, colours, axes, and files written whole or not at all."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

from geodim.optional import require
from geodim.output import writing

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["COLOURS", "axes_style", "legend_text", "new_figure", "save_figure"]

LONGEST = 30  # characters of a name in a legend
# Okabe and Ito: distinct for colour-blind readers.
COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#595959")


def new_figure(width: float, height: float) -> Any:
    """A figure that belongs to nobody: pyplot does not know it."""
    return require("matplotlib.figure", "plot", "drawing figures").Figure(
        figsize=(width, height), dpi=200, layout="constrained"
    )


def axes_style(ax: Any) -> None:
    """A light grid and no frame."""
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(visible=True, color="#595959", alpha=0.15, linewidth=0.6)
    ax.set_axisbelow(True)


def legend_text(name: str) -> str:
    r"""A name that is drawn as it is: no formula between dollars, and not hidden for a leading underscore.

    Examples
    --------
    >>> legend_text("_a$b")
    ' _a\\$b'
    """
    words = " ".join(name.split())
    # A legend must leave room for the plot.
    short = words if len(words) <= LONGEST else f"{words[: LONGEST - 1]}…"
    plain = short.replace("$", r"\$")
    return f" {plain}" if plain.startswith("_") else plain


def save_figure(figure: Any, path: Path) -> None:
    """Write a picture whole or not at all; the same figure gives the same bytes."""
    kind = path.suffix[1:]
    unsaid = ("Software",) if kind == "png" else ("Creator", "Producer", "CreationDate")  # versions and dates
    stream = io.BytesIO()
    figure.savefig(stream, format=kind, metadata=dict.fromkeys(unsaid))
    with writing(path) as file:
        file.write(stream.getvalue())
