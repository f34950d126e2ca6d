"""The machine on which numbers were made, in words, and how fast it is.

Its speed is relative to the machine that costs were measured on.
"""

from __future__ import annotations

import functools
import platform
import time
from pathlib import Path
from typing import Any

import numpy as np

from geodim.engine.parts import available_threads
from geodim.memory import GUESS, machine_memory

__all__ = ["describe_machine", "physical_memory", "slowness"]

REFERENCE_SORT = (
    0.018  # seconds for the sort below on the machine on which the experiments' costs were measured
)


@functools.cache
def describe_machine() -> dict[str, Any]:
    """Return processor, cores, memory and versions; no names of hosts or users.

    Examples
    --------
    >>> sorted(describe_machine())
    ['cores', 'memory_gib', 'numba', 'numpy', 'processor', 'python', 'system']
    """
    import numba  # noqa: PLC0415 - slow to import

    return {
        "processor": _processor(),
        "cores": available_threads(),
        "memory_gib": round(physical_memory() / 2**30),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "numpy": np.__version__,
        "numba": numba.__version__,
    }


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    found = next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "")
    return found or platform.processor() or platform.machine()


def physical_memory() -> int:
    """Return the bytes of memory, or a careful guess."""
    return machine_memory() or GUESS


@functools.cache
def slowness() -> float:
    """Return by which factor one core is slower than that of the measured costs, from a short sort."""
    values = np.random.default_rng(0).random(1 << 18)
    times = []
    for _ in range(5):
        copy = values.copy()
        started = time.perf_counter()
        # The default sort uses any vector instructions there are, which says nothing about other code.
        copy.sort(kind="stable")
        times.append(time.perf_counter() - started)
    return max(min(times) / REFERENCE_SORT, 0.1)
