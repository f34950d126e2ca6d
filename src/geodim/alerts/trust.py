"""Findings about how much the number says at all: no differences, few points, bounds far apart."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from geodim.alerts.alert import NOTE, WARNING, Alert, finite
from geodim.words import counted, number

if TYPE_CHECKING:
    from geodim.result import IDResult

FEW = 30
APART = 0.25  # (upper - lower) / lower


def all_equal(result: IDResult) -> Alert | None:
    """Report that no two points differ."""
    if result.discriminability_upper > 0.0:
        return None
    return Alert(
        "all-equal",
        WARNING,
        f"No column tells any two of {counted(result.n_points, 'point')} apart: the dimension is infinite.",
        {"n_points": result.n_points},
        "Check that the right columns and rows were read.",
    )


def few_points(result: IDResult) -> Alert | None:
    """Report that there are so few points that each is a large part of all."""
    if result.n_points >= FEW or result.discriminability_upper == 0.0:
        return None
    return Alert(
        "few-points",
        NOTE,
        f"{counted(result.n_points, 'point')} are few: one more or less can change the discriminability by "
        f"{number(1.0 / result.n_points, 2)} of the largest range, and with it the dimension noticeably.",
        {"n_points": result.n_points},
        "Take the number as exact for these points, not for where they come from.",
    )


def wide_bounds(result: IDResult) -> Alert | None:
    """Report bounds that are so far apart that they leave everything open."""
    if result.error <= APART:
        return None
    if result.upper == math.inf:
        message = f"Only a lower bound is known: the dimension is {number(result.lower)} or more."
    else:
        message = (
            f"The bounds, {number(result.lower)} and {number(result.upper)}, are too far apart to conclude "
            "much from a number between them."
        )
    return Alert(
        "wide-bounds",
        WARNING,
        message,
        {"lower": result.lower, "upper": finite(result.upper), "error": finite(result.error)},
        "Compute again without a time limit."
        if result.stopped
        else "Ask for a smaller rtol; with landmarks or directions, ask for more of them.",
    )
