"""Access to Numba's compiler, for all of geodim, with machine code cached on disk.

A cache that is damaged or cannot be written is simply not used.  When compiling takes long, as it does once
on every machine, a message says so on a terminal or in a notebook.  Import this module only inside functions
or in modules of kernels: Numba takes longer to import than everything else together.
"""

from __future__ import annotations

import logging
import os
import re
import sys
import threading
import time
import warnings
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numba
from numba.core.caching import NullCache
from numba.core.cpu import CPUTargetOptions

from geodim.errors import GeodimWarning

if TYPE_CHECKING:
    from collections.abc import Callable

    from numba.core.caching import Cache

__all__ = ["njit"]

IMPORT = re.compile(r"^from (geodim[\w.]*) import", re.MULTILINE)  # at the top of a module
COUNTING = "_nrt"  # what Numba calls its counting of references
TELL_AFTER = 2.0  # seconds of compiling
LOGGER = logging.getLogger("geodim")

_said: set[str] = set()
_lock = threading.Lock()


def njit(
    *, counts_references: bool = True, **options: object
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Compile like `numba.njit`, except that ``cache=True`` means: if possible.

    Kernels that neither make nor return arrays need not count references to those they are given: their
    callers hold them.  With ``counts_references=False`` they do not, where Numba can do without.  Every count
    locks a cache line, for which threads that share an array would wait.

    Examples
    --------
    >>> @njit(nogil=True)
    ... def double(x):
    ...     return 2 * x
    >>> double(21)
    42
    """
    wanted = options.pop("cache", False)
    compiler: Callable[..., Callable[..., Any]] = numba.njit  # its type stubs require every option by name
    if not counts_references and hasattr(CPUTargetOptions, COUNTING):
        options[COUNTING] = False
    decorate = compiler(**options)

    def compiled(function: Callable[..., Any]) -> Callable[..., Any]:
        dispatcher: Any = decorate(function)
        if wanted and dispatcher is not function:  # they are the same where Numba only interprets
            try:
                dispatcher.enable_caching()
            except (RuntimeError, OSError) as error:  # no folder can be written
                _say(os.environ.get("NUMBA_CACHE_DIR") or "__pycache__", error)
            else:
                dispatcher._cache = _Cache(_stamped(dispatcher._cache, function))
        made: Callable[..., Any] = dispatcher
        return made

    return compiled


def _stamped(cache: Cache, function: Callable[..., Any]) -> Cache:
    """Return a cache that is valid only while nothing that is compiled into it has changed.

    Numba looks at the file of the kernel alone, although kernels and constants of other files are part of it.
    """
    index: Any = cache._cache_file
    index._source_stamp = index._source_stamp, _imported(Path(function.__code__.co_filename))
    return cache


@lru_cache
def _imported(path: Path) -> str:
    """Return a digest of all modules of geodim that a file imports, directly or through others."""
    digest, seen, waiting = sha256(), set(), IMPORT.findall(_text(path))
    while waiting:
        name = waiting.pop()
        file = getattr(sys.modules.get(name), "__file__", None)
        if name not in seen and file:
            seen.add(name)
            waiting += IMPORT.findall(_text(Path(file)))
    for name in sorted(seen):
        digest.update(_text(Path(str(sys.modules[name].__file__))).encode())
    return digest.hexdigest()


@lru_cache
def _text(path: Path) -> str:
    """Return the source of a module, or nothing where there is no file to read."""
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return ""


class _Cache:
    """A wrapper around Numba's cache that never fails.

    Code that cannot be read is compiled again; code that cannot be written is not kept.
    """

    def __init__(self, cache: Cache | NullCache) -> None:
        self._cache = cache

    def __getattr__(self, name: str) -> object:
        return getattr(self._cache, name)

    def load_overload(self, signature: object, target: object) -> object:
        try:
            found = self._cache.load_overload(signature, target)
            if found is None:
                _compiling.begin(self)
            return found
        except Exception as error:  # noqa: BLE001 - files that are cut make pickle and LLVM raise anything
            _say(self._cache.cache_path, error)
        try:
            self._cache.flush()  # an index that cannot be read could not be added to either
        except Exception:  # noqa: BLE001 - as above
            self._cache = NullCache()
        return None

    def save_overload(self, signature: object, data: object) -> None:
        _compiling.end(self)
        try:
            self._cache.save_overload(signature, data)
        except Exception as error:  # noqa: BLE001 - as above; the disk may be full
            _say(self._cache.cache_path, error)
            self._cache = NullCache()


class _Compiling:
    """Measures how long this process has been compiling; says so once, if it is long and shown."""

    def __init__(self) -> None:
        self.spent, self.told = 0.0, False
        self._outermost: tuple[object, float] | None = None  # a kernel compiles those it calls on the way

    def begin(self, kernel: object) -> None:
        """Note that a kernel is not in the cache and is now compiled."""
        now = time.monotonic()
        if self._outermost is None:
            self._outermost = kernel, now
        if not self.told and self.spent + now - self._outermost[1] > TELL_AFTER and _somebody_looks():
            self.told = True
            LOGGER.warning(
                "geodim is compiling for this machine, once for each kind of task: it takes about ten seconds"
            )

    def end(self, kernel: object) -> None:
        """Note that the kernel is compiled."""
        if self._outermost is not None and self._outermost[0] is kernel:
            self.spent += time.monotonic() - self._outermost[1]
            self._outermost = None


_compiling = _Compiling()


def _somebody_looks() -> bool:
    """Return whether messages go to a terminal or a notebook."""
    return "ipykernel" in sys.modules or (sys.stderr is not None and sys.stderr.isatty())


def _say(folder: str, error: Exception) -> None:
    """Warn once for each folder."""
    with _lock:
        if folder in _said:
            return
        _said.add(folder)
    warnings.warn(
        f"the cache of compiled code in {folder} is damaged or cannot be used "
        f"({type(error).__name__}: {error}): code is compiled again; if this keeps happening, delete that "
        "folder, or name another in NUMBA_CACHE_DIR",
        GeodimWarning,
        stacklevel=2,
    )
