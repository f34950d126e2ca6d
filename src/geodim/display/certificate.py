"""The plot of a certificate: the intervals that it claims."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from geodim.display.sampling import plot_numbers
from geodim.display.style import BLUE
from geodim.words import counted

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from geodim.certificate import Certificate


def plot_certificate(
    certificate: Certificate, ax: Axes | None = None, *, color: str = BLUE, title: str | None = None
) -> Axes:
    """Draw the claimed intervals for the dimension, a row for every number of hops.

    Parameters
    ----------
    certificate : Certificate
        What to draw; nothing of it is verified.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure by default.
    color : str, default blue
        Colour of the intervals.
    title : str, optional
        Title instead of the size of the data.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> import numpy as np
    >>> import geodim
    >>> X = np.random.default_rng(0).normal(size=(500, 4))
    >>> geodim.intrinsic_dimension(X).certificate().plot().get_xlabel()
    'intrinsic dimension, claimed'
    """
    rows = []
    for k, (low, high) in enumerate(certificate.dimensions):
        middle = 0.5 * (low + high) if math.isfinite(high) else low
        rows.append((counted(k, "hop") if certificate.hops else "all features", low, middle, high))
    size = f"{counted(certificate.n_points, 'point')} × {counted(certificate.n_features, 'feature')}"
    words = f"certificate, {size}" if title is None else title
    return plot_numbers(rows, ax, color=color, title=words, label="intrinsic dimension, claimed")
