"""Memory limits set by the control groups of this process: containers, batch systems and services on Linux.

A process is in one group of every hierarchy, and the limits of all groups above count as well.  Version 2 has
one hierarchy, version 1 one for memory; some machines have both.  Within a container the paths in
``/proc/self/cgroup`` may be those of the host, which do not exist there: then the top of the mount is the
container's own group.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

MOUNT = Path("/sys/fs/cgroup")
MEMBERSHIP = Path("/proc/self/cgroup")
BOUNDLESS = 1 << 60  # bytes: version 1 says "no limit" by a number of about eight times as many


@dataclass(frozen=True)
class _Version:
    """Where one version of control groups keeps its numbers."""

    folders: tuple[str, ...]  # below the mount; the first that exists is used
    limits: tuple[str, ...]
    usage: str
    cache: str  # in memory.stat: cached pages of files, which the system frees when memory is needed


ONE = _Version(("memory",), ("memory.limit_in_bytes",), "memory.usage_in_bytes", "total_inactive_file")
# Above "high" the system slows a process down until it stands still: in effect a limit.
TWO = _Version(("", "unified"), ("memory.max", "memory.high"), "memory.current", "inactive_file")


def memory_limit(mount: Path | None = None, membership: Path | None = None) -> int | None:
    """Return the bytes that all processes of these groups together may hold; None if there is no limit."""
    found = (_limit(folder, version) for folder, version in _groups(mount or MOUNT, membership or MEMBERSHIP))
    return min((limit for limit in found if limit is not None), default=None)


def memory_left(mount: Path | None = None, membership: Path | None = None) -> int | None:
    """Return the bytes that the groups still allow; None if there is no limit, or usage is not counted."""
    left: list[int] = []
    for folder, version in _groups(mount or MOUNT, membership or MEMBERSHIP):
        limit = _limit(folder, version)
        if limit is None or limit >= BOUNDLESS:
            continue  # without a look at what is used, which takes the system ten times as long
        used = _number(folder / version.usage)
        if used is not None:
            left.append(max(0, limit - max(0, used - _cached(folder, version))))
    return min(left, default=None)


@cache
def _groups(mount: Path, membership: Path) -> list[tuple[Path, _Version]]:
    """Return the groups of this process and those above that limit memory; looked up once."""
    return [
        (folder, version)
        for folder, version in _folders(mount, membership)
        if any((folder / name).is_file() for name in version.limits)
    ]


def _folders(mount: Path, membership: Path) -> Iterator[tuple[Path, _Version]]:
    for line in _text(membership).splitlines():
        _, _, rest = line.partition(":")
        controllers, _, path = rest.partition(":")
        if controllers and "memory" not in controllers.split(","):
            continue
        version = ONE if controllers else TWO
        for below in version.folders:
            top = mount / below
            own = top / path.lstrip("/")
            for folder in (own, *own.parents):
                if ".." not in folder.parts:  # ".." leads to a group outside of what is mounted here
                    yield folder, version
                if folder == top:
                    break


def _limit(folder: Path, version: _Version) -> int | None:
    known = (_number(folder / name) for name in version.limits)
    return min((number for number in known if number is not None), default=None)


def _cached(folder: Path, version: _Version) -> int:
    fields = (line.split() for line in _text(folder / "memory.stat").splitlines())
    return next((int(field[1]) for field in fields if field[:1] == [version.cache]), 0)


def _number(file: Path) -> int | None:
    """Return the number in a file; None if it says "max", or if there is no such file."""
    text = _text(file).strip()
    return int(text) if text.isdecimal() else None


def _text(file: Path) -> str:
    try:
        with open(file, encoding="utf-8", errors="replace") as stream:  # noqa: PTH123 - in every call, quicker
            return stream.read()
    except OSError:
        return ""
