"""How much memory there is, and a clear word where points need more."""

from __future__ import annotations

import os
from pathlib import Path

from geodim.errors import MachineMemoryError

PROFILE_BYTES = 20  # per point: Phi, its owner, and the size, whoever solves the columns
GUESS = 8 << 30  # where nobody says


def machine_memory() -> int | None:
    """Bytes of memory: of the machine, or what its control group allows if that is less; None where nobody says."""
    try:
        total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):  # not on every system
        return None
    try:
        limit = Path("/sys/fs/cgroup/memory.max").read_text(encoding="utf-8").strip()
    except OSError:
        limit = "max"
    return min(total, int(limit)) if limit.isdigit() else total


def check_points(n_points: int, bytes_each: float = PROFILE_BYTES) -> None:
    """Raise where arrays over all points, weights counted, cannot fit: before they are allocated."""
    have = machine_memory()
    need = n_points * bytes_each
    if have is not None and need > have:
        msg = (
            f"{n_points:,} points need at least {need / 1e9:,.3g} GB of memory, and there are {have / 1e9:,.3g} GB: take a tolerance "
            "(with rtol=0.01 points are only counted), or fewer points; weights can be divided by a common divisor, "
            "which leaves the dimension as it is"
        )
        raise MachineMemoryError(msg)


def check_bytes(need: float, what: str) -> None:
    """Raise where what a file says, or holds, cannot fit: before it is allocated."""
    have = machine_memory() or GUESS
    if need > have:
        msg = f"{what} need at least {need / 1e9:,.3g} GB of memory, and there are {have / 1e9:,.3g} GB"
        raise MachineMemoryError(msg)
