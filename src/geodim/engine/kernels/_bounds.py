"""What compiled code requires of its arrays.

Compiled code checks no index, so sizes are checked on entry.  Every kernel that Python calls states in its
first lines, with `require`, which sizes its loops rely on.  This takes O(1) and a few nanoseconds, and no
caller can forget it.  Where a position comes from the data itself, it is compared with the array before it is
used, or was validated by the kernel that made it; the kernel says which.  `tests/engine/test_bounds.py`
passes arrays that are too short to every kernel.
"""

from __future__ import annotations

from typing import Any

from numba.core import cgutils, types
from numba.extending import lower_builtin, type_callable

from geodim.compiled import njit
from geodim.errors import InternalError


def require(holds: Any, what: Any) -> None:
    """Raise unless the condition holds; ``what``, a literal, names the kernel and what does not fit."""
    if not holds:
        raise InternalError(what)


# In compiled code it is a branch of the kernel itself: as functions, two hundred messages would be compiled
# one by one, each for a thirtieth of a second.


@type_callable(require)
def _type_of_require(context: Any) -> Any:  # noqa: ARG001
    def typed(holds: Any, what: Any) -> Any:  # noqa: ARG001
        return types.none if isinstance(what, types.StringLiteral) else None

    return typed


@lower_builtin(require, types.Any, types.StringLiteral)
def _compiled_require(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    condition, what = signature.args
    holds = context.is_true(builder, types.unliteral(condition), arguments[0])
    with cgutils.if_unlikely(builder, builder.not_(holds)):
        context.call_conv.return_user_exc(builder, InternalError, (what.literal_value,))
    return context.get_dummy_value()


@njit(nogil=True, cache=True)
def ranges_fit(ranges, n_ranges, size):
    """Return whether the first ``n_ranges`` half-open intervals lie in [0, size)."""
    fit = 0 <= n_ranges <= ranges.shape[0] and ranges.shape[1] == 2
    if fit:
        for r in range(n_ranges):
            fit = fit and ranges[r, 0] >= 0 and ranges[r, 1] <= size
    return fit
