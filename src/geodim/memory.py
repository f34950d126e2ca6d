"""How much memory there is, and clear errors where points, or the sizes a file declares, need more."""

from __future__ import annotations

import ctypes
import os
import sys
from pathlib import Path

from geodim.cgroups import memory_left, memory_limit
from geodim.errors import MachineMemoryError

PROFILE_BYTES = 12  # per point: Phi and its owner, on every backend
GUESS = 8 << 30  # where the system does not say


def machine_memory() -> int | None:
    """Return the bytes of memory of the machine, or of its control group (container, job) if less.

    None where the system does not say.
    """
    if sys.platform == "win32":
        return _windows_memory("total")
    try:
        total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):  # not on every system
        return None
    limit = memory_limit()  # without a limit, version 1 gives a number larger than any memory
    return total if limit is None else min(total, limit)


def free_memory() -> int | None:
    """Return the bytes that this process may still take; None if unknown.

    The least of what is free, what control groups allow, and the process's own limit (``ulimit -v``).
    """
    known = [machine_memory(), _spare(), memory_left(), _unmapped()]
    return min((size for size in known if size is not None), default=None)


def _spare() -> int | None:
    """Return the memory that is available without taking any from other programs, and free swap space."""
    if sys.platform == "win32":
        return _windows_memory("left_to_commit")
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
    except OSError:  # not Linux
        return None
    kilobytes = {name: int(value.split()[0]) for name, _, value in (line.partition(":") for line in lines)}
    if "MemAvailable" not in kilobytes:
        return None
    return 1024 * (kilobytes["MemAvailable"] + kilobytes.get("SwapFree", 0))


class _WindowsMemory(ctypes.Structure):
    """The structure MEMORYSTATUSEX of Windows."""

    _fields_ = (
        ("size", ctypes.c_uint32),
        ("load", ctypes.c_uint32),
        ("total", ctypes.c_uint64),
        ("available", ctypes.c_uint64),
        ("commit_limit", ctypes.c_uint64),
        ("left_to_commit", ctypes.c_uint64),
        ("addresses", ctypes.c_uint64),
        ("free_addresses", ctypes.c_uint64),
        ("reserved", ctypes.c_uint64),
    )


def _windows_memory(field: str) -> int | None:
    status = _WindowsMemory(size=ctypes.sizeof(_WindowsMemory))
    library = getattr(ctypes, "windll", None)
    if library is None or not library.kernel32.GlobalMemoryStatusEx(ctypes.byref(status)):
        return None
    return int(getattr(status, field))


def _unmapped() -> int | None:
    """Return the bytes left by the limit on the address space."""
    if sys.platform == "win32":
        return None
    try:
        import resource  # noqa: PLC0415 - not on every system

        limit = resource.getrlimit(resource.RLIMIT_AS)[0]
        if limit == resource.RLIM_INFINITY:
            return None
        mapped = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    except (ImportError, AttributeError, OSError):
        return None
    return max(0, limit - mapped * resource.getpagesize())


def resident_memory() -> int | None:
    """Return the bytes of memory that this process holds now; None where the system does not say."""
    if sys.platform == "win32":
        return None
    try:
        with open("/proc/self/statm", "rb") as stream:  # noqa: PTH123 - in every call, where this is quicker
            return int(stream.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, AttributeError, ValueError):
        return None


def peak_resident_memory() -> int | None:
    """Return the most bytes of memory that this process ever held; None where the system does not say."""
    if sys.platform == "win32":
        return None
    try:
        import resource  # noqa: PLC0415 - not on every system
    except ImportError:
        return None
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def process_memory(field: str) -> int | None:
    """Return a field of Linux's status of this process, such as VmRSS or VmHWM, in bytes; None elsewhere."""
    try:
        lines = Path("/proc/self/status").read_text(encoding="ascii", errors="replace").splitlines()
    except OSError:
        return None
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith(f"{field}:")), None)


def check_bytes(
    need: int, what: str, way_out: str = "take fewer columns, or a machine with more memory"
) -> None:
    """Raise if something of a declared size cannot fit, before it is allocated.

    ``what`` names it in the message.
    """
    have = free_memory()
    if have is not None and need > have:
        raise too_large(what, need, way_out)


def too_large(what: str, need: int, way_out: str) -> MachineMemoryError:
    """Return the error for something that needs more memory than there is."""
    have = free_memory()
    free = "" if have is None else f", and {in_bytes(have)} are free"
    return MachineMemoryError(f"{what} needs {in_bytes(need)} of memory{free}: {way_out}")


def in_bytes(size: int) -> str:
    """Return a size in bytes as people write it.

    Examples
    --------
    >>> in_bytes(3_200_000_000), in_bytes(20)
    ('3.2 GB', '20 bytes')
    """
    for unit, name in ((10**12, "TB"), (10**9, "GB"), (10**6, "MB")):
        if size >= unit:
            return f"{size / unit:,.3g} {name}" if size < 1000 * unit else f"{size // unit:,} {name}"
    return f"{size:,} bytes"


def check_points(n_points: int, bytes_each: float = PROFILE_BYTES) -> None:
    """Raise, before anything is allocated, if arrays over all points (weights counted) cannot fit."""
    have = machine_memory()
    need = n_points * bytes_each
    if have is not None and need > have:
        msg = (
            f"{n_points:,} points need at least {need / 1e9:,.3g} GB of memory, and there are "
            f"{have / 1e9:,.3g} GB: take a tolerance (with rtol=0.01 points are only counted), or fewer "
            "points; weights can be divided by a common divisor, which leaves the dimension as it is"
        )
        raise MachineMemoryError(msg)
