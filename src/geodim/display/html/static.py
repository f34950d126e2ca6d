"""The plots as fixed pictures (SVG), drawn without a plotting library.

Readers without scripts see them, and all others before the scripts have run.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from geodim.words import number

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Picture", "curve_picture", "line_picture"]


@dataclass(frozen=True)
class Picture:
    """Positions for the template: ticks with their texts, paths and dots.

    The label describes the picture to those who do not see it.
    """

    label: str
    x_label: str
    y_label: str
    x_ticks: list[tuple[str, str]]
    y_ticks: list[tuple[str, str]]
    line: str
    area: str = ""
    dots: Sequence[tuple[str, str]] = ()

    WIDTH: ClassVar[int] = 640
    HEIGHT: ClassVar[int] = 300
    LEFT: ClassVar[int] = 64
    RIGHT: ClassVar[int] = 16
    TOP: ClassVar[int] = 12
    BOTTOM: ClassVar[int] = 46


def curve_picture(curve: dict[str, Any]) -> Picture:
    """Draw the observable diameter against alpha, the area shaded."""
    widths = [width or 0.0 for width in curve["width"]]
    top = 1.05 * max(widths, default=0.0) or 1.0
    steps = zip(curve["alpha"], curve["alpha"][1:], widths, strict=False)
    vertices = [(alpha, width) for left, right, width in steps for alpha in (left, right)]
    label = (
        "Observable diameter against the share of points left out; the slider below reads values from "
        "the curve."
    )
    words = (label, "α, share of points left out", "observable diameter")
    return _picture(words, (0.0, 1.0), (0.0, top), vertices, shaded=True)


def line_picture(
    values: Sequence[float | None], x_label: str, y_label: str, label: str, *, zero: bool = False
) -> Picture:
    """Draw a line through values at 0, 1, ..., such as dimensions against hops; None is left out."""
    known = [(float(at), value) for at, value in enumerate(values) if value is not None]
    heights = [value for _, value in known] or [0.0, 1.0]
    low, high = (0.0 if zero else min(heights)), max(heights)
    margin = 0.08 * (high - low) or 0.1 * abs(high) or 1.0
    across, up = (0.0, max(len(values) - 1.0, 1.0)), (low if zero else low - margin, high + margin)
    return _picture((label, x_label, y_label), across, up, known, dots=len(known) <= 60)


def _picture(
    words: tuple[str, str, str],
    across: tuple[float, float],
    up: tuple[float, float],
    points: list[tuple[float, float]],
    *,
    shaded: bool = False,
    dots: bool = False,
) -> Picture:
    """Draw points, joined in order, in axes that show these ranges."""
    spots = [_at(x, y, across, up) for x, y in points]
    line = "M" + "L".join(map(" ".join, spots)) if spots else ""
    ground = [_at(x, 0.0, across, up) for x in (1.0, 0.0)]
    return Picture(
        *words,
        x_ticks=[(_at(value, up[0], across, up)[0], number(value, 3)) for value in _ticks(*across)],
        y_ticks=[(_at(across[0], value, across, up)[1], number(value, 3)) for value in _ticks(*up)],
        line=line,
        area="L".join([line, *map(" ".join, ground)]) + "Z" if shaded else "",
        dots=spots if dots else (),
    )


def _at(x: float, y: float, across: tuple[float, float], up: tuple[float, float]) -> tuple[str, str]:
    """Return where a point lies in the picture, given what the axes show."""
    width = Picture.WIDTH - Picture.LEFT - Picture.RIGHT
    height = Picture.HEIGHT - Picture.TOP - Picture.BOTTOM
    right = Picture.LEFT + width * (x - across[0]) / (across[1] - across[0])
    down = Picture.TOP + height * (up[1] - y) / (up[1] - up[0])
    return f"{right:.1f}", f"{down:.1f}"


def _ticks(low: float, high: float) -> list[float]:
    """Return some round numbers in the range."""
    rough = (high - low) / 5.0
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(power * times for times in (1.0, 2.0, 5.0, 10.0) if power * times >= rough)
    first = math.ceil(low / step - 1e-9)
    return [at * step for at in range(first, math.floor(high / step + 1e-9) + 1)]
