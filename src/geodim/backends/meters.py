"""How much memory a computation took, beside what its plan said."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from geodim.memory import peak_resident_memory, resident_memory

if TYPE_CHECKING:
    from collections.abc import Callable


class Meter(Protocol):
    """Watches memory from when it is made."""

    def taken(self) -> int | None:
        """Return peak bytes since, by the measure of `Plan.memory_added`; None if unknown."""


class ProcessMeter:
    """What this process took beyond what it held.

    The bytes are unknown if an earlier peak was higher.
    """

    def __init__(self) -> None:
        self.held, self.peak = resident_memory(), peak_resident_memory()

    def taken(self) -> int | None:
        """Return peak bytes beyond those that were held."""
        peak = peak_resident_memory()
        if peak is None or self.held is None or self.peak is None or peak <= self.peak:
            return None
        # The system counts pages in batches, and by two counters: of very little, one cannot tell.
        return peak - self.held if peak > self.held else None


class PeakMeter:
    """The highest that a device or the workers of a cluster ever were."""

    def __init__(self, highest: Callable[[], int | None]) -> None:
        self.highest = highest

    def taken(self) -> int | None:
        """Return the peak memory in bytes."""
        return self.highest()
