"""The gauge as a picture (SVG): a result on a logarithmic line, among the marks of known columns.

It is drawn for a width of 360 pixels, so that its texts are readable on a phone; labels that would touch one
another stand in rows of their own.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from geodim.words import number

if TYPE_CHECKING:
    from collections.abc import Sequence

    from geodim.gauge import Gauge

__all__ = ["GaugePicture", "Label", "gauge_picture"]

LETTER = 6.4  # pixels of a letter, with a small margin
GAP = 8.0
FIRST = 40.0  # from the line down to the first row of labels


@dataclass(frozen=True)
class Label:
    """A mark on the line, and the position of its text."""

    x: float
    text_x: float
    text_y: float
    text: str


@dataclass(frozen=True)
class GaugePicture:
    """Positions for the template; the label describes the picture to those who do not see it."""

    label: str
    height: float
    here: Label
    here_from: float
    here_to: float
    ticks: list[tuple[float, str]]
    marks: list[Label]

    WIDTH: ClassVar[int] = 360
    LEFT: ClassVar[int] = 12
    LINE: ClassVar[int] = 40
    ROW: ClassVar[int] = 17


def gauge_picture(gauge: Gauge) -> GaugePicture:
    """Compute the positions of marks and labels."""
    values = [gauge.lower, gauge.upper, *(mark.dimension for mark in gauge.marks)]
    low = min(1.0, min(values) / 1.2)
    high = max(10.0, 1.3 * max(values))
    inner = GaugePicture.WIDTH - 2 * GaugePicture.LEFT

    def across(value: float) -> float:
        return round(GaugePicture.LEFT + inner * math.log(value / low) / math.log(high / low), 1)

    tens = range(math.ceil(math.log10(low) - 1e-9), math.floor(math.log10(high) + 1e-9) + 1)
    every = 1 if len(tens) < 8 else 2
    here = number(gauge.dimension) if gauge.upper <= 1.0001 * gauge.lower else _interval(gauge)
    shown = [(across(mark.dimension), f"{mark.name} {number(mark.dimension, 2)}") for mark in gauge.marks]
    marks, rows = _rows(sorted(shown), GaugePicture.LINE + FIRST)
    words = ", ".join(f"{mark.name} {number(mark.dimension, 2)}" for mark in gauge.marks)
    return GaugePicture(
        label=f"On a line from {number(low, 2)} to {number(high, 2)}: {here} here, among {words}.",
        height=GaugePicture.LINE + FIRST + GaugePicture.ROW * (rows - 1) + 8.0,
        here=Label(across(gauge.dimension), _inside(across(gauge.dimension), here, 9.5), 22.0, here),
        here_from=across(gauge.lower),
        here_to=across(gauge.upper),
        ticks=[(across(10.0**power), number(10.0**power)) for power in tens if power % every == 0],
        marks=marks,
    )


def _rows(places: Sequence[tuple[float, str]], first: float) -> tuple[list[Label], int]:
    """Put each label in the first row where it touches no other; return these and the number of rows."""
    ends: list[float] = []
    labels = []
    for x, text in places:
        middle, half = _inside(x, text), 0.5 * LETTER * len(text)
        row = next((at for at, end in enumerate(ends) if end + GAP <= middle - half), len(ends))
        ends[row : row + 1] = [middle + half]
        labels.append(Label(x, middle, first + GaugePicture.ROW * row, text))
    return labels, max(len(ends), 1)


def _inside(x: float, text: str, letter: float = LETTER) -> float:
    """Return the position of the middle of a text such that all of it is in the picture."""
    half = 0.5 * letter * len(text)
    return round(min(max(x, half), GaugePicture.WIDTH - half), 1)


def _interval(gauge: Gauge) -> str:
    return f"{number(gauge.lower)} – {number(gauge.upper)}"
