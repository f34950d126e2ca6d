"""Time and peak memory of a call that runs in its own process.

tracemalloc does not see what compiled code allocates, and the largest resident size that the system reports
never falls. So each estimator gets a fresh process (`geodim estimators`), where the high-water mark is reset
just before the call: its rise above the resident size at that moment is the extra memory of the
call, including native buffers, but not data that was read before.
"""

from __future__ import annotations

import gc
import time
from pathlib import Path
from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar

from geodim.memory import peak_resident_memory, process_memory

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")


class Measured(NamedTuple, Generic[T]):
    """What a call returned, its wall time and its peak extra memory in bytes.

    The memory is None where the system does not report it.
    """

    value: T
    seconds: float
    peak_bytes: int | None


def measure(call: Callable[[], T]) -> Measured[T]:
    """Run a call and measure it.

    Examples
    --------
    >>> import numpy as np
    >>> from geodim.baselines.measure import measure
    >>> measure(lambda: int(np.ones(1000).sum())).value
    1000
    """
    gc.collect()
    before = _reset_peak()
    started = time.perf_counter()
    value = call()
    seconds = time.perf_counter() - started
    after = process_memory("VmHWM") if _resettable() else peak_resident_memory()
    peak = None if before is None or after is None else max(0, after - before)
    return Measured(value, seconds, peak)


def _resettable() -> bool:
    return Path("/proc/self/clear_refs").exists()


def _reset_peak() -> int | None:
    """Reset the high-water mark to the resident size, and return that.

    If that is not possible (except on Linux), return the mark so far: the rise above it is a lower bound.
    """
    if not _resettable():
        return peak_resident_memory()
    try:
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    except OSError:
        return process_memory("VmHWM")
    return process_memory("VmRSS")
