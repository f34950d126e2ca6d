"""How much memory a computation took, to compare with its plan."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from geodim.memory import peak_resident_memory, resident_memory

if TYPE_CHECKING:
    from collections.abc import Callable


class Meter(Protocol):
    """Measures memory from its creation on."""

    def taken(self) -> int | None:
        """Return the peak bytes since then, by the measure of `Plan.memory_added`; None if unknown."""


class ProcessMeter:
    """The memory that this process took beyond what it held before.

    The bytes are unknown if an earlier peak was higher.
    """

    def __init__(self) -> None:
        self.held, self.peak = resident_memory(), peak_resident_memory()

    def taken(self) -> int | None:
        """Return the peak bytes beyond those that were held."""
        peak = peak_resident_memory()
        if peak is None or self.held is None or self.peak is None or peak <= self.peak:
            return None
        # The system counts pages in batches, and by two counters: very small amounts are not measured.
        return peak - self.held if peak > self.held else None


class PeakMeter:
    """The highest memory use of a device or of the workers of a cluster."""

    def __init__(self, highest: Callable[[], int | None]) -> None:
        self.highest = highest

    def taken(self) -> int | None:
        """Return the peak memory in bytes."""
        return self.highest()
