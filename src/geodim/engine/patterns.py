"""Columns that repeat exactly, and the choice of a method for alike columns."""

from __future__ import annotations

import math
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from geodim.engine.alike import Bent, Lines, Straight
from geodim.engine.departures import Departures
from geodim.engine.hard import (
    DEAR,
    FAR_TOO_DEAR,
    MOST_POINTS,
    is_dear,
    is_straight_but_for_jumps,
    looks_if_dear,
    looks_of,
    may_repeat,
    relaxed,
)
from geodim.engine.kernels import patterns
from geodim.engine.kernels.counters import WINDOWS
from geodim.engine.kernels.pyramid import BASE
from geodim.engine.long_patterns import LongPattern
from geodim.engine.segments import Segmented, may_be_segments
from geodim.engine.stepped import affordable
from geodim.engine.tolerant import may_be_tolerant, within_tolerance

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from geodim.engine.alike import Alike
    from geodim.engine.column import ColumnSolver

LONGEST = 32.0  # times the root of n: the longest period; solving takes its square
SAVED = 64  # lines of its own save about this factor of what is looked at, or less
PERIOD_LOOKS = 16  # comparisons per value in the search for a period


@dataclass(frozen=True)
class Periodic:
    """A column that repeats exactly, see `geodim.engine.kernels.patterns.narrowest_of_period`."""

    period: int
    base: NDArray[np.float64]
    tail: NDArray[np.float64]
    loose: float = 0.0

    @classmethod
    def of(cls, l: NDArray[np.float64], n: int) -> Periodic | None:
        """Prepare n ascending values, padded with infinity; None if they do not repeat.

        Their differences must be exact.
        """
        most = min(int(LONGEST * math.sqrt(n)), n // 4)
        period = patterns.exact_period(l, n, most, PERIOD_LOOKS * n)
        if period == 0:
            return None
        base, tail = np.empty(period + BASE), np.empty(period + BASE)
        patterns.narrowest_of_period(l, n, period, base, tail)
        return cls(period, base, tail)

    def solve(
        self, l: NDArray[np.float64], n: int, first: int, stop: int,
        known: NDArray[np.float64], skip: bool,  # noqa: ARG002 - it costs nothing to solve all sizes
        phi: NDArray[np.float64], work: NDArray[np.int64],
    ) -> tuple[NDArray[np.int64], int]:  # fmt: skip
        """Solve the sizes d in [first, stop); return the ranges that were filled, and their number."""
        patterns.fill_by_period(l, n, self.period, self.base, self.tail, first, stop, phi)
        work[WINDOWS] += stop - first
        return np.array([[first, stop]], np.int64), 1


def line_or_pattern(l: NDArray[np.float64], n: int, exact: bool, near: float) -> Alike:
    """Choose the method for a column that stays close to a line.

    ``exact`` says whether its differences are exact, ``near`` how far its widths may be off, which is a few
    roundings if that suffices.
    """
    found: Alike | None = repeating(l, n) if exact else None
    if found is not None:
        return found
    departures = Departures.of(l, n)
    found = LongPattern.of(l, n, departures)
    if found is not None:
        return found
    line = Straight.around(l, n, departures)
    looks = looks_if_dear(l, n, line, affordable(n)) if near > 0.0 else 0.0
    if looks > 0.0:
        found = relaxed(l, n) or within_tolerance(l, n, line, near, looks)
    return found or line


class OnceBent:
    """A column prepared as `Bent` when this is first asked for, and kept: it takes as long as normal data."""

    def __init__(self, l: NDArray[np.float64], n: int) -> None:
        self.l, self.n = l, n
        self.made: Bent | None = None

    def __call__(self) -> Bent:
        """Return what was prepared; threads that ask at the same time may both prepare it."""
        if self.made is None:
            self.made = Bent.of(self.l, self.n)
        return self.made


def pattern_or_bent(
    l: NDArray[np.float64], n: int, exact: bool, near: float, bent: OnceBent | None = None
) -> Alike:
    """Choose the method for any other alike column; see `line_or_pattern`.

    If ``near`` is 0, whether it is needed depends on other columns.
    """
    bent = bent or OnceBent(l, n)
    repeated = repeating(l, n) if exact else None
    if repeated is not None:
        return repeated
    found: Straight | Lines | Bent
    if is_straight_but_for_jumps(l, n):
        found = Straight.of(l, n)
    elif may_be_tolerant(l, n, near) and is_far_too_dear(l, n, bent):
        found = bent()
    else:
        found = lines_or_bent(l, n, bent)
    return (within_tolerance(l, n, found, near) if near > 0.0 else None) or found


def is_far_too_dear(l: NDArray[np.float64], n: int, bent: OnceBent) -> bool:
    """Return whether so many windows would be looked at that not even lines could save enough of them.

    To find that out, lines would take as long as all the rest.
    """
    most = SAVED * affordable(n)
    return looks_of(l, n, bent(), most, smallest=False) > most


def lines_or_bent(l: NDArray[np.float64], n: int, made: OnceBent) -> Lines | Bent:
    """Choose what examines fewer windows."""
    lined = Lines.of(l, n) if n < MOST_POINTS else None
    if lined is None:
        return made()
    looks = looks_of(l, n, lined, FAR_TOO_DEAR, smallest=False)
    if looks <= DEAR:
        return lined
    bent = made()
    return bent if looks > FAR_TOO_DEAR or looks_of(l, n, bent, looks, smallest=False) < looks else lined


def repeating(l: NDArray[np.float64], n: int) -> Alike | None:
    """Solve a column whose differences are exact if it repeats exactly, as a whole or in a few segments."""
    return Periodic.of(l, n) or (Segmented.of(l, n, 0.0) if may_be_segments(l, n, 0.0) else None)


def hard_segments(l: NDArray[np.float64], n: int, bent: OnceBent) -> Segmented | None:
    """Solve a column that is no line if it consists of segments and is hard."""
    found = relaxed(l, n) if may_repeat(l, n) else None
    return found if found is not None and is_dear(l, n, bent()) else None


class InPieces:
    """Solves pieces of an alike column; what this needs is prepared with the first piece."""

    def __init__(
        self, solver: ColumnSolver, make: Callable[[NDArray[np.float64], int, bool, float], Alike],
        l: NDArray[np.float64], n: int, known: NDArray[np.float64], skip: bool, top: int,
        exact: bool, near: float,
    ) -> None:  # fmt: skip
        self.make, self.exact, self.near = make, exact, near  # see `line_or_pattern`
        self.solver, self.l, self.n, self.known, self.skip, self.top = solver, l, n, known, skip, top
        self.column: Alike | None = None
        self.lock = threading.Lock()

    @property
    def used(self) -> bool:
        """Whether a piece has been solved this way already."""
        return self.column is not None

    def solve(self, piece: tuple[int, int], work: NDArray[np.int64]) -> tuple[NDArray[np.int64], int]:
        """Solve one piece."""
        with self.lock:
            if self.column is None:
                self.column = self.make(self.l, self.n, self.exact, self.near)
                self.solver.loose = self.column.loose
        first, last = max(piece[0] << self.top, 1), min(piece[1] << self.top, self.n)
        return self.column.solve(self.l, self.n, first, last, self.known, self.skip, self.solver.phi, work)
