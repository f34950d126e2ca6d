"""What compiled code requires of its arrays.

Compiled code checks no index, so sizes are checked on entry.  Every kernel that Python calls states in its
first lines, with `require`, which sizes its loops rely on.  This takes O(1) and a few nanoseconds, and no
caller can forget it.  Where a position comes from the data itself, it is compared with the array before it is
used, or was validated by the kernel that made it; the kernel says which.  `tests/engine/test_bounds.py`
passes arrays that are too short to every kernel.
"""

from __future__ import annotations

from typing import Any

from numba.core import types
from numba.extending import overload

from geodim.compiled import njit
from geodim.errors import InternalError


def require(holds: Any, what: Any) -> None:
    """Raise unless the condition holds; ``what`` names the kernel and the array that does not fit."""
    if not holds:
        raise InternalError(what)


@overload(require, prefer_literal=True)
def _compiled_require(holds: Any, what: Any) -> Any:  # noqa: ARG001
    """Compile `require`, with the message as a constant inside the error if it is a literal.

    When a constant is passed as an argument, all kernels share one place for it.  Numba before 0.67 fills
    that place with the message of the kernel that is first loaded from the cache, and every error would show
    it.
    """
    if not isinstance(what, types.Literal):
        return require
    message = what.literal_value

    def with_constant(holds: Any, what: Any) -> None:  # noqa: ARG001
        if not holds:
            raise InternalError(message)

    return with_constant


@njit(nogil=True, cache=True)
def require_ranges(ranges, n_ranges, size, what):
    """Raise unless the first ``n_ranges`` half-open intervals lie in [0, size)."""
    require(0 <= n_ranges <= ranges.shape[0] and ranges.shape[1] == 2, what)
    for r in range(n_ranges):
        require(ranges[r, 0] >= 0 and ranges[r, 1] <= size, what)
