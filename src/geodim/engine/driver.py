"""The driver of a computation: its clock, interrupts, progress, checkpoints, and passes that are made again.

One driver goes with a computation through all of its passes, over columns or over hops, on any backend.  A
pass asks it between two pieces of work whether to go on (`Driver.late`), tells it how far it is
(`Driver.report`), and offers its state to be saved (`Driver.keep`).  It knows nothing of data.
"""

from __future__ import annotations

import math
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

from geodim.engine.interrupt import heeding_interrupts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from geodim.engine.checkpoint import Checkpoint
    from geodim.engine.profile import Profile


FINISH = 1e-7  # seconds per point of a profile: bounds, sums and shares, after the last column


def deadline_of(started: float, time_limit: float | None, n_points: int) -> float | None:
    """When to stop so that a result of so many points is there by the time limit; half of it is for work.

    Examples
    --------
    >>> deadline_of(100.0, 3.0, 1_000_000), deadline_of(100.0, 3.0, 10**9)
    (102.9, 101.5)
    """
    return None if time_limit is None else started + max(time_limit - FINISH * n_points, 0.5 * time_limit)


class Driver:
    """What ends passes early, who hears how far they are, and where their state is kept.

    Parameters
    ----------
    deadline : float, optional
        `time.monotonic` value after which no new work is started.
    progress : callable, optional
        Called in the thread that runs the pass, with whatever the pass reports.
    store : Checkpoint, optional
        Where the state is kept.
    save_every : float
        Seconds between two times that it is saved.

    Attributes
    ----------
    stopped : str or None
        Why the passes end early: "time limit" or "interrupted".
    """

    def __init__(
        self,
        deadline: float | None = None,
        progress: Callable[..., None] | None = None,
        store: Checkpoint | None = None,
        save_every: float = math.inf,
    ) -> None:
        self.deadline = deadline
        self.stopped: str | None = None
        self._progress = progress
        self._store = store
        self._save_every = save_every
        self._saved = time.monotonic()

    @classmethod
    def until(cls, deadline: float | None) -> Driver:
        """One that stops at a time given in seconds since the epoch, as `deadline_everywhere` tells it."""
        return cls(None if deadline is None else time.monotonic() + deadline - time.time())

    @property
    def deadline_everywhere(self) -> float | None:
        """The deadline in seconds since the epoch: other clocks differ from machine to machine."""
        return None if self.deadline is None else time.time() + self.deadline - time.monotonic()

    def halt(self, reason: str) -> None:
        """No new work from here on; the first reason counts."""
        self.stopped = self.stopped or reason

    def late(self) -> bool:
        """Whether to stop: somebody asked for it, or the time is over."""
        if self.stopped is None and self.deadline is not None and time.monotonic() > self.deadline:
            self.halt("time limit")
        return self.stopped is not None

    @contextmanager
    def heeding(self) -> Iterator[None]:
        """Ctrl-C ends what runs in here at its next question, or at once if it comes twice."""
        try:
            with heeding_interrupts(self.halt):
                yield
        except KeyboardInterrupt:
            self.halt("interrupted")

    def report(self, *how_far: object) -> None:
        """Report progress, if a callback was given."""
        if self._progress is not None:
            self._progress(*how_far)

    @property
    def keeps(self) -> bool:
        """Whether state is to be saved at all."""
        return self._store is not None

    def saved_step(self, first: float) -> float:
        """The step of the pass that was saved, or the first one."""
        return first if self._store is None else self._store.saved_step(first)

    def resume(self, profiles: Sequence[Profile]) -> None:
        """Fill new profiles with what was saved of them, if anything was."""
        if self._store is not None:
            self._store.load(profiles)

    def due(self) -> bool:
        """Whether it is time to save the state."""
        return self._store is not None and time.monotonic() - self._saved >= self._save_every

    def keep(self, profiles: Sequence[Profile]) -> None:
        """Save the state now."""
        if self._store is not None:
            self._store.save(profiles)
            self._saved = time.monotonic()
