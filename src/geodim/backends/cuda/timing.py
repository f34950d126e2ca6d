"""Where the time goes on the device: written to the log "geodim.cuda", measured only if that is enabled."""

from __future__ import annotations

import logging
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

from geodim.optional import require

if TYPE_CHECKING:
    from collections.abc import Iterator

    import torch
else:
    torch = require("torch", "gpu", "the CUDA backend")

log = logging.getLogger("geodim.cuda")


class Timing:
    """Seconds by name; measuring waits for the device, so it is done only if the log is enabled."""

    def __init__(self, device: torch.device) -> None:
        self.device = device
        self.seconds: dict[str, float] = {}

    @contextmanager
    def __call__(self, name: str) -> Iterator[None]:
        """Measure the time of what runs inside the block."""
        if not log.isEnabledFor(logging.INFO):
            yield
            return
        self._wait()
        started = time.perf_counter()
        yield
        self._wait()
        self.add(name, time.perf_counter() - started)

    def add(self, name: str, seconds: float) -> None:
        """Add a time that was measured elsewhere."""
        self.seconds[name] = self.seconds.get(name, 0.0) + seconds

    def _wait(self) -> None:
        if self.device.type == "cuda":
            torch.cuda.synchronize(self.device)

    def log(self, what: str) -> None:
        """Log the times that were measured."""
        if self.seconds:
            log.info(
                "%s: %s", what, ", ".join(f"{name} {value:.3f} s" for name, value in self.seconds.items())
            )
