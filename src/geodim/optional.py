"""Optional packages: imported late, with an error that names the extra, or asked for their version only."""

from __future__ import annotations

import importlib
from functools import cache
from typing import TYPE_CHECKING

from geodim.errors import MissingExtraError

if TYPE_CHECKING:
    from types import ModuleType

__all__ = ["installed_version", "require"]


def require(module: str, extra: str, purpose: str) -> ModuleType:
    """Import ``module``, or raise an error that names the extra of geodim that installs it.

    Parameters
    ----------
    module
        The name to import, possibly dotted.
    extra
        The extra of geodim that installs its package.
    purpose
        The start of the error message: what needs the package.

    Returns
    -------
    ModuleType
        The imported module.

    Raises
    ------
    MissingExtraError
        When the package is not installed.
    """
    package = module.partition(".")[0]
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        # A package that is there but lacks one of its own dependencies should say so itself.
        if error.name is None or error.name.partition(".")[0] != package:
            raise
        raise MissingExtraError(package, extra, purpose) from error


@cache
def installed_version(package: str) -> str:
    """Return the version of a package without importing it: few points are solved without Numba and SciPy."""
    from importlib.metadata import PackageNotFoundError, version  # noqa: PLC0415 - not needed by most

    try:
        return version(package)
    except PackageNotFoundError:  # where a program is packed into one file
        return str(importlib.import_module(package).__version__)
