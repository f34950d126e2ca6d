"""No test opens a file from outside the repository: not beside it, and not in a folder of the user's.

Python tells of every file that it opens.  If a test or its fixtures open one in these places, the test fails,
unless it has the mark ``published``.  The interpreter, the system and temporary folders do not count, nor do
settings and caches of other programs, in hidden folders of the user's.  Children, and libraries that open
files without Python, are not heard.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from published import FOLDER

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

ROOT = Path(__file__).resolve().parent.parent


def places() -> tuple[list[Path], list[Path]]:
    """Folders that are out of bounds, and those within them that are not."""
    temporary, home = Path(tempfile.gettempdir()).resolve(), Path.home().resolve()
    # A clone right below the root of the file system or of all temporary files has everything beside it.
    barred = [one for one in (ROOT.parent, home) if not temporary.is_relative_to(one)]
    barred += [Path(FOLDER).resolve()] if FOLDER else []
    caches = [os.environ[name] for name in ("NUMBA_CACHE_DIR", "MPLCONFIGDIR") if os.environ.get(name)]
    free = [temporary, *(Path(one).resolve() for one in (sys.prefix, sys.base_prefix, *caches))]
    free = [one for one in free if not any(other.is_relative_to(one) for other in barred)]
    return barred, [ROOT, *free]


class Outside:
    """The plugin: listens while a test runs."""

    def __init__(self, barred: Iterable[Path] | None = None, free: Iterable[Path] = ()) -> None:
        if barred is None:
            barred, free = places()
        self._barred = tuple(f"{one}{os.sep}" for one in barred)
        self._free = (*(f"{one}{os.sep}" for one in free), f"{Path.home().resolve()}{os.sep}.")
        self._opened: list[str] = []
        self._listening = False
        sys.addaudithook(self._hear)

    def _hear(self, event: str, details: tuple[object, ...]) -> None:
        """Every event comes here, so that what is none of ours leaves at once."""
        if event != "open" or not self._listening or not isinstance(details[0], str):
            return
        path = os.path.abspath(details[0]) + os.sep  # noqa: PTH100 - this much quicker than a path
        if path.startswith(self._barred) and not path.startswith(self._free) and os.path.exists(path[:-1]):  # noqa: PTH110
            self._opened.append(path[:-1])

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        self._opened.clear()
        self._listening = item.get_closest_marker("published") is None
        try:
            return (yield)
        finally:
            self._listening = False

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self) -> Iterator[None]:
        found = yield
        if self._opened:
            pytest.fail(f"opened outside the repository: {', '.join(self._opened[:5])}", pytrace=False)
        return found
