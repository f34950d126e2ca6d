"""Greedy choice of features, lazily and certified: the feature that adds most to Delta, one after the other.

Delta of a set of features is monotone and submodular, so what a feature would have added earlier
bounds what it adds now.  Three levels of knowledge about a feature, each costlier than the one before,
bound its gain from above:

1. its coarse profile (`geodim.explain.coarse`), one counting pass;
2. what is kept of it when the engine has solved it once (`geodim.explain.kept`);
3. its exact gain, from what is kept if that is enough, or from the engine, which leaves out the sizes where
   the feature stays below what was chosen.

A choice is made when no feature that was not evaluated exactly could reach the best gain.

If columns may be relaxed, "exact" means: for the widths of `geodim.engine.hard`, which exceed phi by at most
a noted amount.  Raised to those of smaller sizes, they depend on the column alone and never fall, so all of
the above holds for them; bounds on phi itself, as in the first level, are raised by the most it may be.
"""

from __future__ import annotations

import math
import threading
from itertools import takewhile
from typing import TYPE_CHECKING

import numpy as np

from geodim.engine.parts import mean
from geodim.engine.profile import Profile
from geodim.explain.coarse import CoarseProfiles
from geodim.explain.kept import Values, keep
from geodim.explain.passes import ColumnPass
from geodim.summary import part_off

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from geodim.data.checks import Ranges
    from geodim.data.sources import ColumnSource
    from geodim.explain.kept import Lines
    from geodim.explain.passes import Column, Slot

COARSE_FROM = 4096  # fewer points are solved faster than counted
SHORTEST = 8  # sizes per line, at least
LINE_BYTES, VALUE_BYTES = 20.0, 12.0
REFRESHED = 64  # bounds renewed at a time while there is no gain to compare them with
SAFE = (1e-290, 1e290)  # sums of such widths neither vanish nor overflow
MARGIN = 1.0 + 2.0**-49  # more than the rounding of Delta


class Greedy:
    """The state of a selection: what was chosen, its Phi, and what is known about the others.

    Parameters
    ----------
    source : ColumnSource
        The features.
    ranges : Ranges
        Their ranges.
    threads : int
        Threads to use; no choice depends on it.
    memory : int
        Bytes that may be kept about all features together.
    progress : callable, optional
        Called with (columns done, columns), in each of two passes.
    scale : float
        What Delta is divided by where it is reported.
    relaxed : bool
        Whether widths of hard columns may be off, as for `ColumnPass`.

    Attributes
    ----------
    chosen : list of int
        The columns, in the order of their choice.
    delta, total : float
        Delta of the chosen ones and of all features (once one is chosen), in ``unit``.
    curve : list of float
        Delta of the chosen ones after each choice, over the scale.
    whole_delta : float
        Delta of all features, over the scale.
    error : float
        The largest part of itself by which one of these may exceed the true value.
    evaluations : int
        How often the engine solved a column.
    """

    def __init__(
        self,
        source: ColumnSource,
        ranges: Ranges,
        threads: int,
        memory: int,
        progress: Callable[[int, int], None] | None = None,
        scale: float = 1.0,
        *,
        relaxed: bool = False,
    ) -> None:
        n, d = source.n_points, source.n_features
        self.source, self.threads, self.progress = source, threads, progress
        self.columns = ColumnPass(source, threads, ranges, relaxed=relaxed)
        self.chosen: list[int] = []
        self.scale = scale
        self.curve: list[float] = []
        self.whole_delta = math.inf
        self.delta, self.total = 0.0, math.inf
        self.evaluations = 0
        self.phi = np.zeros(n)  # Phi of the chosen features
        self.whole = Profile.empty(n, d)  # Phi of the solved features
        self.whole.relax(self.columns.relaxed)
        self.loose = np.zeros(d)  # by how much widths of each column may exceed its phi, where it was solved
        self.off = 0.0  # the largest of these among the chosen features that added anything
        self.error = 0.0
        self.solved = np.zeros(d, np.bool_)
        # Exact: for the next choice.
        self.is_chosen, self.is_exact = (
            np.zeros(d, np.bool_),
            np.zeros(d, np.bool_),
        )
        self.slack = 1.0 + 1e-9 + n * 2.0**-51  # more than n roundings of a bound
        self.bounded = SAFE[0] < ranges.d_max < SAFE[1]
        # Means of denormal widths would be rounded to few digits, and differ no more.
        self.unit = 1.0 if self.bounded or ranges.d_max == 0.0 else ranges.d_max
        self.gains = np.full(d, np.inf)  # upper bounds on what each feature adds to Delta
        self.seen = np.zeros(d, np.int64)  # number of features chosen when the bound was made
        # Half of the memory for lines, or else half for values.
        self.block = min(max(SHORTEST, math.ceil(2 * LINE_BYTES * n * d / memory)), n)
        self.room = min(int(memory / (2 * VALUE_BYTES * d)), n)
        self.kept: dict[int, Values | Lines] = {}
        self.lead: NDArray[np.float64] | None = None  # a little less than the best phi, for the first choice
        self._lock = threading.Lock()
        self._best = (-1.0, -1)  # Delta and column
        self._best_phi = np.zeros(n)
        if self.bounded:
            self._first_bounds(ranges)
        self.own = self.gains.copy()  # upper bounds on Delta of each feature alone, or
        self.own_exact = np.zeros(d, np.bool_)  # Delta itself, where it was needed

    def choose(self) -> int:
        """Choose one more feature: the largest Delta together with those chosen; the lowest column on a tie.

        Once nothing is left to gain, Delta of each feature on its own decides, with the same rule for ties.
        """
        best = -1
        if self.delta < self.total:
            best = self._search()
            self.delta = self._best[0]
            if self.loose[best] > self.off and np.any(self._best_phi[:-1] > self.phi[:-1]):
                self.off = float(self.loose[best])  # of the range itself, the last width, each is sure
            self.phi, self._best_phi = self._best_phi, self.phi
        else:  # nothing is left to gain
            best = self._largest_own()
        self.chosen.append(best)
        self.is_chosen[best] = True
        # Rounded once, as for a result.
        self.curve.append(mean(self.phi[1:], self.source.n_points, self.scale))
        self._note_error(self.curve[-1], self.off)
        self.gains[best] = 0.0
        self.kept.pop(best, None)
        if len(self.chosen) == 1:
            self._solve_rest()
            self.whole.never_fall()
            self.total = mean(self.whole.phi[1:], self.source.n_points, self.unit)
            self.whole_delta = mean(self.whole.phi[1:], self.source.n_points, self.scale)
            self._note_error(self.whole_delta, self.whole.loose)
        return best

    def _note_error(self, delta: float, loose: float) -> None:
        n = self.source.n_points
        self.error = max(self.error, part_off(delta, loose, (n - 1) / n, self.scale))

    def _first_bounds(self, ranges: Ranges) -> None:
        """Find bounds on Delta of each feature alone."""
        n = self.source.n_points
        if n < COARSE_FROM:
            self.gains = ranges.widths * self.slack
            return
        coarse = CoarseProfiles(self.columns, ranges, self.progress)
        for column in range(self.source.n_features):
            self.gains[column] = coarse.total(column) / n

    def _search(self) -> int:
        self.is_exact[:] = False
        self._best = (-1.0, -1)
        batch = self._rivals(REFRESHED)[: self.threads]
        while batch:
            self.columns.run([f for f in batch if not self._recall(f)], self._evaluate, wanted=self._may_win)
            rivals = self._rivals()
            # A few of the most promising first: they raise the bar for the others.
            few = np.count_nonzero(self.is_exact) <= self.threads
            batch = rivals[: 4 * self.threads] if few else sorted(rivals)
        return self._best[1]

    def _largest_own(self) -> int:
        """Return the unchosen feature with the largest Delta of its own.

        It is found by bounds, and confirmed by exact values.
        """
        nothing, n = np.zeros(self.source.n_points), self.source.n_points

        def solve(slot: Slot, column: Column) -> None:
            self.own[column.index] = mean(slot.raised(column, nothing)[1:], n, self.unit)
            self.own_exact[column.index] = True

        while True:
            known = self.own_exact & ~self.is_chosen
            best = float(self.own[known].max(initial=-1.0))
            rivals = np.flatnonzero(~self.own_exact & ~self.is_chosen & (self.own * MARGIN >= best))
            if rivals.size == 0:
                return int(np.flatnonzero(known & (self.own == best))[0])
            promising = rivals[np.argsort(-self.own[rivals], kind="stable")]
            self.columns.run(promising[: 4 * self.threads].tolist(), solve)

    def _rivals(self, most: int | None = None) -> list[int]:
        """Return features that may still win, the most promising first, with renewed bounds.

        If there is no bar yet, only some are returned.
        """
        left = np.flatnonzero(~self.is_chosen & ~self.is_exact)
        order = left[np.argsort(-self.gains[left], kind="stable")].tolist()
        rivals = list(takewhile(self._may_win, order))[:most]
        for f in rivals:
            if self.seen[f] < len(self.chosen):
                self._renew(f)
        return sorted(filter(self._may_win, rivals), key=lambda f: (-self.gains[f], f))

    def _may_win(self, column: int) -> bool:
        """Return whether a feature could have the best Delta, given its bound."""
        gain = self.gains[column]
        return bool((self.delta if gain == 0.0 else (self.delta + gain) * MARGIN) >= self._best[0])

    def _renew(self, column: int) -> None:
        """Bound what a feature adds to Delta now."""
        if column in self.kept:
            gain = self.kept[column].gain(self.phi) / self.source.n_points * self.slack
            self.gains[column] = min(self.gains[column], gain)
        self.seen[column] = len(self.chosen)

    def _evaluate(self, slot: Slot, column: Column) -> None:
        """Find Delta with one more feature; at the first choice only as far as the feature may win."""
        at, lead = column.index, self.lead
        if not self.chosen and lead is not None:
            self._keep(at, self._raised(slot, column, lead), exact=False)
            if not self._may_win(at):
                return
        phi = self._raised(slot, column, self.phi)
        self._keep(at, phi)
        self._compare(at, phi)

    def _raised(self, slot: Slot, column: Column, known: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the maximum with a column's phi; until Phi of all is known, it is raised, too."""
        phi = slot.raised(column, known, self.whole if self.total == math.inf else None)
        with self._lock:
            self.loose[column.index] = max(self.loose[column.index], slot.loose)
        return phi

    def _recall(self, column: int) -> bool:
        """Find Delta with one more feature from what is kept of it, if that is enough."""
        kept = self.kept.get(column)
        if not self.chosen or not isinstance(kept, Values):
            return False
        if self._may_win(column):
            self._compare(column, kept.raised(self.phi))
        return True

    def _compare(self, column: int, phi: NDArray[np.float64]) -> None:
        """Note Delta with one more feature, and whether it is the best so far."""
        n = self.source.n_points
        delta = mean(phi[1:], n, self.unit)
        with self._lock:
            self.is_exact[column] = True
            if not self.chosen:
                self.own[column], self.own_exact[column] = delta, True
            if delta > self._best[0] or (delta == self._best[0] and column < self._best[1]):
                self._best = delta, column
                self._best_phi[:] = phi
                if not self.chosen and self.bounded:
                    # phi of like columns differs by about 1 / sqrt(n): further below, a bound is enough.
                    self.lead = phi * max(0.0, 1.0 - 2.0 / math.sqrt(n))

    def _keep(self, column: int, phi: NDArray[np.float64], *, exact: bool = True) -> None:
        """Keep what later choices need of a feature, given its phi raised to that of the chosen ones.

        If it was raised to the lead instead, it is only an upper bound, and so are lines above it.
        """
        if self.bounded:
            gain = 0.0
            self.kept.pop(column, None)
            if phi is not self.phi:
                total, kept = keep(phi, self.phi, self.block, self.room if exact else 0)
                gain = total / self.source.n_points * self.slack
                if gain > 0.0:  # else it will never add anything
                    self.kept[column] = kept
            self.gains[column] = min(self.gains[column], gain)
            self.seen[column] = len(self.chosen)
        with self._lock:
            self.evaluations += 1
            self.solved[column] = True

    def _solve_rest(self) -> None:
        """Solve the features not solved yet, against the first one chosen.

        This gives Phi of all, and lines for later choices.  Features solved for the first choice were solved
        at least as far as they exceed the lead, which some feature's phi exceeds in turn: nothing that
        attains Phi was left out.
        """
        rest = np.flatnonzero(~self.solved).tolist()
        self.columns.run(
            rest,
            lambda slot, column: self._keep(column.index, self._raised(slot, column, self.phi)),
            progress=self.progress,
        )
