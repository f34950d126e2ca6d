"""Columns that must be solved exactly and take long: whoever waits is told, and may give up.

Explanations and gradients depend on which windows tie, so nothing may be left out of them (docs/speed.md).
"""

from __future__ import annotations

import math
import time
import warnings
from typing import TYPE_CHECKING

from geodim.errors import QuadraticCostWarning

if TYPE_CHECKING:
    from collections.abc import Callable

TOLD_AFTER, FOR_EACH_POINT = 10.0, 20e-6  # seconds: whichever takes longer; others take a hundredth of that
FIRST = 2  # calls before anything is measured: before the first piece, and after it


class Patience:
    """Says whether to stop, between pieces of the work on a column; and once that this takes long.

    Parameters
    ----------
    column : int
        Its number.
    n_points : int
        Its length.
    given_up : callable
        Whether the caller no longer waits.
    """

    def __init__(self, column: int, n_points: int, given_up: Callable[[], bool]) -> None:
        self.column, self.n, self.given_up = column, n_points, given_up
        self.begun, self.turn = 0.0, 0

    def __call__(self) -> bool:
        """Return whether to stop; in the thread that works, whose time counts."""
        self.turn += 1
        now = time.thread_time()
        if self.turn <= FIRST:  # what is compiled for the first piece does not count
            self.begun = now
        elif now - self.begun > max(TOLD_AFTER, FOR_EACH_POINT * self.n):
            self.begun = math.inf  # it is told once
            warnings.warn(
                f"column {self.column} takes long: its windows are all nearly equally wide, and this must be "
                f"exact, so up to n\N{SUPERSCRIPT TWO} / 2 = {self.n**2 / 2:.2g} of them are looked at; "
                "fewer points, or intrinsic_dimension, take far less",
                QuadraticCostWarning,
                stacklevel=2,
            )
        return self.given_up()
