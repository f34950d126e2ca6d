"""The numba decorator of the graph code: typed, cached, and free of the GIL.

Import this module, and the kernel modules that use it, inside functions only: numba takes longer to import
than everything else here together, and ``import geodim`` must not wait for it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar, cast

from geodim.compiled import njit

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["kernel"]

F = TypeVar("F", bound="Callable[..., Any]")


def kernel(function: F) -> F:
    """Compile `function` on its first call, release the GIL while it runs, keep the machine code on disk."""
    return cast("F", njit(nogil=True, cache=True)(function))
