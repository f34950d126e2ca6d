"""Where data sets live: an explicit root, the environment's, or the user's cache folder."""

from __future__ import annotations

import os
import sys
from pathlib import Path

__all__ = ["is_offline", "resolve_root", "user_cache"]

ROOT_VARIABLE = "GEODIM_DATA"
OFFLINE_VARIABLE = "GEODIM_OFFLINE"


def user_cache() -> Path:
    """Return the folder for files that can be made again: the platform's cache folder, then ``geodim``.

    ``XDG_CACHE_HOME`` wins on every platform, so that tests and batch jobs can move the cache.
    """
    base = os.environ.get("XDG_CACHE_HOME")
    if base:
        return Path(base) / "geodim"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "geodim"
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local") / "geodim" / "Cache"
    return Path.home() / ".cache" / "geodim"


def resolve_root(root: str | os.PathLike[str] | None = None) -> Path:
    """Return the folder that holds one folder per data set.

    Parameters
    ----------
    root
        An explicit folder; otherwise the environment variable ``GEODIM_DATA``, otherwise ``datasets`` in the
        user's cache folder. It need not exist yet.
    """
    if root is not None:
        return Path(root).expanduser().absolute()
    variable = os.environ.get(ROOT_VARIABLE)
    if variable:
        return Path(variable).expanduser().absolute()
    return user_cache() / "datasets"


def is_offline(offline: bool = False) -> bool:
    """Return whether downloads are forbidden, by the argument or by ``GEODIM_OFFLINE``.

    The variable forbids them unless it is 0, false or no.
    """
    return offline or os.environ.get(OFFLINE_VARIABLE, "").strip().lower() not in {"", "0", "false", "no"}
