"""The plot of a training: accuracy by epoch."""

from __future__ import annotations

from typing import TYPE_CHECKING

from geodim.display.style import BLUE, GREY, add_legend, finish, new_axes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes


def plot_training(
    valid_accuracies: Sequence[float],
    best_epoch: int,
    test_accuracy: float,
    ax: Axes | None = None,
    *,
    color: str = BLUE,
    title: str | None = None,
) -> Axes:
    """Draw the validation accuracy after each epoch, and the test accuracy as a line across.

    Parameters
    ----------
    valid_accuracies : sequence of float
        One for each epoch.
    best_epoch : int
        The epoch to mark, counted from 1.
    test_accuracy : float
        Drawn at its height, dashed.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default.
    color : str, default blue
        Colour of the curve.
    title : str, optional
        Title instead of the test accuracy.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> from geodim.display.training import plot_training
    >>> plot_training([0.5, 0.7, 0.6], 2, 0.68).get_xlabel()
    'epoch'
    """
    ax = new_axes(ax)
    ax.plot(range(1, len(valid_accuracies) + 1), valid_accuracies, color=color, label="validation")
    ax.plot([best_epoch], [valid_accuracies[best_epoch - 1]], color=color, marker="o", label="_best")
    ax.axhline(test_accuracy, color=GREY, linestyle="--", label="test")
    ax.set_xlabel("epoch")
    ax.set_ylabel("accuracy")
    finish(ax, f"test accuracy {test_accuracy:.3f}" if title is None else title)
    add_legend(ax, loc="lower right")
    return ax
