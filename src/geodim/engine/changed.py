"""The error for data that changed after the first pass."""

from __future__ import annotations

from geodim.errors import DataChangedError


def changed(index: int, before: tuple[float, float], after: tuple[float, float]) -> DataChangedError:
    """Return the error for a column whose values are not those of the first pass."""
    return DataChangedError(
        f"column {index} reached from {before[0]!r} to {before[1]!r} in the first pass over the data and "
        f"from {after[0]!r} to {after[1]!r} in a later one: the data changed while it was read; compute "
        "again when nothing writes to it"
    )
