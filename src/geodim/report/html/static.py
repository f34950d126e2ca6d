"""The plots as fixed pictures (SVG), drawn by hand.

Readers without scripts see them, and all others before the scripts have run.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from geodim.report.html.markup import Html, tag
from geodim.report.style import number

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["curve_svg", "line_svg"]

WIDTH, HEIGHT = 640.0, 300.0
LEFT, RIGHT, TOP, BOTTOM = 64.0, 16.0, 12.0, 46.0


def curve_svg(curve: dict[str, Any], label: str) -> Html:
    """The observable diameter against alpha, the area shaded."""
    widths = [width or 0.0 for width in curve["width"]]
    top = 1.05 * max(widths, default=0.0) or 1.0
    points = []
    for at, width in enumerate(widths):
        points += [(curve["alpha"][at], width), (curve["alpha"][at + 1], width)]
    line = _path([(_x(alpha, 0.0, 1.0), _y(width, 0.0, top)) for alpha, width in points])
    area = f"{line}L{_x(1, 0, 1):.1f} {_y(0, 0, top):.1f}L{_x(0, 0, 1):.1f} {_y(0, 0, top):.1f}Z"
    shapes = [tag("path", d=area, class_="area"), tag("path", d=line, class_="line")]
    axes = _axes((0.0, 1.0), (0.0, top), "α, share of points left out", "observable diameter")
    return _picture(label, *axes, *shapes)


def line_svg(
    x: Sequence[float],
    y: Sequence[float | None],
    x_label: str,
    y_label: str,
    label: str,
    *,
    zero: bool = False,
) -> Html:
    """A line through points, such as dimensions against hops."""
    known = [(at, value) for at, value in zip(x, y, strict=True) if value is not None]
    values = [value for _, value in known] or [0.0, 1.0]
    low, high = (0.0 if zero else min(values)), max(values)
    margin = 0.08 * (high - low) or 0.1 * abs(high) or 1.0
    low, high = (low if zero else low - margin), high + margin
    first, last = min(x), max(x) if max(x) > min(x) else min(x) + 1.0
    spots = [(_x(at, first, last), _y(value, low, high)) for at, value in known]
    shapes = [tag("path", d=_path(spots), class_="line")]
    if len(spots) <= 60:
        shapes += [tag("circle", cx=f"{cx:.1f}", cy=f"{cy:.1f}", r="4", class_="dot") for cx, cy in spots]
    return _picture(label, *_axes((first, last), (low, high), x_label, y_label), *shapes)


def _picture(label: str, *shapes: Html) -> Html:
    return tag(
        "svg", *shapes, viewBox=f"0 0 {WIDTH:g} {HEIGHT:g}", role="img", aria_label=label, class_="static"
    )


def _x(value: float, low: float, high: float) -> float:
    return LEFT + (WIDTH - LEFT - RIGHT) * (value - low) / (high - low)


def _y(value: float, low: float, high: float) -> float:
    return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * (value - low) / (high - low)


def _path(points: list[tuple[float, float]]) -> str:
    return "".join(f"{'L' if at else 'M'}{x:.1f} {y:.1f}" for at, (x, y) in enumerate(points))


def _ticks(low: float, high: float) -> list[float]:
    """Some round numbers in the range."""
    rough = (high - low) / 5.0
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(power * times for times in (1.0, 2.0, 5.0, 10.0) if power * times >= rough)
    first = math.ceil(low / step - 1e-9)
    return [at * step for at in range(first, math.floor(high / step + 1e-9) + 1)]


def _axes(x: tuple[float, float], y: tuple[float, float], x_label: str, y_label: str) -> list[Html]:
    found = []
    for value in _ticks(*y):
        height = f"{_y(value, *y):.1f}"
        found.append(
            tag("line", x1=f"{LEFT:g}", x2=f"{WIDTH - RIGHT:g}", y1=height, y2=height, class_="grid")
        )
        found.append(tag("text", number(value, 3), x=f"{LEFT - 8:g}", y=height, dy="0.35em", class_="end"))
    for value in _ticks(*x):
        at = f"{_x(value, *x):.1f}"
        found.append(tag("text", number(value, 3), x=at, y=f"{HEIGHT - BOTTOM + 18:g}", class_="middle"))
    found.append(
        tag("text", x_label, x=f"{(LEFT + WIDTH - RIGHT) / 2:g}", y=f"{HEIGHT - 8:g}", class_="middle title")
    )
    middle = (TOP + HEIGHT - BOTTOM) / 2
    found.append(
        tag("text", y_label, transform=f"translate(14 {middle:g}) rotate(-90)", class_="middle title")
    )
    return found
