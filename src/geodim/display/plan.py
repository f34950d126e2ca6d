"""The plot of a plan, or of anything else whose time is estimated by parts."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from geodim.display.style import BLUE, finish, new_axes, plain
from geodim.planning.words import duration, size

if TYPE_CHECKING:
    from collections.abc import Mapping

    from matplotlib.axes import Axes

    from geodim.planning.problem import Plan

ROW_INCHES = 0.3


def plot_plan(plan: Plan, ax: Axes | None = None, *, color: str = BLUE, title: str | None = None) -> Axes:
    """Draw the parts of the estimated time as bars; those that run at the same time exceed the whole.

    Parameters
    ----------
    plan : Plan
        What to draw.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default, as high as the parts need.
    color : str, default blue
        Colour of the bars.
    title : str, optional
        Title instead of the whole time and the memory.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> from geodim import Problem, plan
    >>> plan(Problem(10**6, 32, 4), "cpu", n_threads=2).plot().get_xlabel()
    'seconds, estimated'
    """
    return plot_times(plan.parts, ax, color=color, title=_title(plan) if title is None else title)


def plot_times(
    times: Mapping[str, float], ax: Axes | None = None, *, color: str = BLUE, title: str | None = None
) -> Axes:
    """Draw estimated times as bars; infinite ones are left out.

    Parameters
    ----------
    times : mapping
        The seconds of each part, by its name.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default, as high as the parts need.
    color : str, default blue
        Colour of the bars.
    title : str, optional
        Title.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> from geodim.display.plan import plot_times
    >>> [text.get_text() for text in plot_times({"cora": 20.0, "pubmed": 90.0}).get_yticklabels()]
    ['cora', 'pubmed']
    """
    parts = {name: seconds for name, seconds in times.items() if math.isfinite(seconds)}
    ax = new_axes(ax, height=1.0 + ROW_INCHES * max(len(parts), 2))
    ax.barh(range(len(parts)), list(parts.values()), color=color, height=0.6)
    for at, seconds in enumerate(parts.values()):
        ax.annotate(
            duration(seconds), (seconds, at), xytext=(4, 0), textcoords="offset points", va="center",
            fontsize="small",
        )  # fmt: skip
    ax.set_yticks(range(len(parts)), [plain(name) for name in parts], fontsize="small")
    ax.set_ylim(max(len(parts), 1) - 0.4, -0.6)
    ax.set_xlim(0.0, 1.15 * max(parts.values(), default=0.0) or 1.0)
    ax.set_xlabel("seconds, estimated")
    finish(ax, title, grid="x")
    return ax


def _title(plan: Plan) -> str:
    memory = size(plan.memory) + ("" if plan.budget is None else f" of {size(plan.budget)}")
    if plan.fits is False:
        return f"{plan.backend}: does not fit, {memory}"
    return f"{plan.backend}: about {duration(plan.seconds or 0.0)}, {memory}"
