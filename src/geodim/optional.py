"""One place to import an optional package late, with an error that names the extra that installs it."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from geodim.errors import MissingExtraError

if TYPE_CHECKING:
    from types import ModuleType

__all__ = ["require"]


def require(module: str, extra: str, purpose: str) -> ModuleType:
    """Import ``module``, or say which extra of geodim brings it.

    Parameters
    ----------
    module
        The name to import, possibly dotted.
    extra
        The extra of geodim that installs its package.
    purpose
        The start of the error's sentence: what needs the package.

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
