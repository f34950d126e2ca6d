"""Points of any kind with a metric, and the columns of distances from some of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from geodim.errors import InputTypeError, ShapeError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from geodim.families.sources import MadeColumns


@dataclass(frozen=True)
class Space:
    """Points with distances between them.

    Attributes
    ----------
    n_points : int
        How many points there are.
    from_points : callable
        The columns of distances from points with these numbers.
    from_others : callable
        The same from points that are not among those of the data.
    names : sequence of str, optional
        The points' own names.
    kept : array of int, optional
        Which of the given points are used, if some were left out.
    n_given : int, optional
        How many were given, if some were left out.
    details : dict, optional
        What a result should state about them.
    """

    n_points: int
    from_points: Callable[[NDArray[np.intp]], MadeColumns]
    from_others: Callable[[Any], MadeColumns]
    names: Sequence[str] | None = None
    kept: NDArray[np.intp] | None = None
    n_given: int | None = None
    details: dict[str, Any] | None = None

    def called(self, given: Sequence[str] | None) -> list[str] | None:
        """Return names of the points: those given by the caller, or their own; None for their numbers."""
        if given is None:
            return None if self.names is None else [str(name) for name in self.names]
        n_given = self.n_points if self.n_given is None else self.n_given
        if len(given) != n_given:
            raise ShapeError(f"there are {n_given:,} points but {len(given):,} names")
        kept = range(self.n_points) if self.kept is None else self.kept.tolist()
        return [str(given[i]) for i in kept]


def no_others(metric: str) -> Callable[[Any], MadeColumns]:
    """Raise for landmarks outside the data, in spaces where only points of the data have distances."""

    def others(landmarks: object) -> MadeColumns:
        msg = (
            f"landmarks for metric={metric!r} are points of the data: give a number, or numbers of points, "
            f"not a {type(landmarks).__name__}"
        )
        raise InputTypeError(msg)

    return others
