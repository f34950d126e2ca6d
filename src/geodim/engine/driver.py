"""The driver of a computation: the clock, interrupts, progress and checkpoints of all its passes.

One driver accompanies a computation through all of its passes, over columns or over hops, on any backend.
Between two pieces of work, a pass asks it whether to go on (`Driver.late`), reports progress
(`Driver.report`), and offers its state for saving (`Driver.keep`).  The driver knows nothing about data.
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
    """Return when work must stop so that the result is complete by the time limit.

    Finishing takes `FINISH` seconds per point, but at least half of the time limit is left for work.

    Examples
    --------
    >>> deadline_of(100.0, 3.0, 1_000_000), deadline_of(100.0, 3.0, 10**9)
    (102.9, 101.5)
    """
    return None if time_limit is None else started + max(time_limit - FINISH * n_points, 0.5 * time_limit)


class Driver:
    """Decides when passes end early, passes on their progress, and saves their state.

    Parameters
    ----------
    deadline : float, optional
        `time.monotonic` value after which no new work is started.
    progress : callable, optional
        Called with whatever the pass reports, in the thread that runs the pass.
    store : Checkpoint, optional
        Where the state is saved.
    save_every : float
        Seconds between two saves.

    Attributes
    ----------
    stopped : str or None
        Why the passes end early, "time limit" or "interrupted"; None if they do not.
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
        """Return a driver that stops at a time in seconds since the epoch (see `deadline_everywhere`)."""
        return cls(None if deadline is None else time.monotonic() + deadline - time.time())

    @property
    def deadline_everywhere(self) -> float | None:
        """The deadline in seconds since the epoch: monotonic clocks differ from machine to machine."""
        return None if self.deadline is None else time.time() + self.deadline - time.monotonic()

    def halt(self, reason: str) -> None:
        """Start no new work from here on; the first reason given is kept."""
        self.stopped = self.stopped or reason

    def late(self) -> bool:
        """Return whether to stop, because somebody asked for it or because the time is up."""
        if self.stopped is None and self.deadline is not None and time.monotonic() > self.deadline:
            self.halt("time limit")
        return self.stopped is not None

    @contextmanager
    def heeding(self) -> Iterator[None]:
        """Let Ctrl-C end the enclosed work the next time it calls `late`; a second Ctrl-C ends it at once."""
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
        """Whether state is saved at all."""
        return self._store is not None

    def saved_step(self, first: float) -> float:
        """Return the step of the saved pass, or ``first`` if nothing was saved."""
        return first if self._store is None else self._store.saved_step(first)

    def resume(self, profiles: Sequence[Profile]) -> None:
        """Fill new profiles with their saved state, if there is any."""
        if self._store is not None:
            self._store.load(profiles)

    def due(self) -> bool:
        """Return whether it is time to save the state."""
        return self._store is not None and time.monotonic() - self._saved >= self._save_every

    def keep(self, profiles: Sequence[Profile]) -> None:
        """Save the state now."""
        if self._store is not None:
            self._store.save(profiles)
            self._saved = time.monotonic()
