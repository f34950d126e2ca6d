"""Columns whose windows are all nearly equally wide: bounds say little, and a GPU would look at them all.

The engine has methods for such columns, whose time is near-linear in the number of points
(`geodim.engine.alike`, `geodim.engine.tolerant`).  So they are left to the processor, once all other columns
are solved: by then it can leave out what lies below these.  A few values of the sorted column tell which they
are; nothing waits for these values unless a column takes more memory than there is room for.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from geodim.backends.cuda.solver import HUGE
from geodim.data.sources import ColumnSource
from geodim.engine.solve import compute_profile, way_of
from geodim.engine.ways import COARSE_FROM
from geodim.optional import require

if TYPE_CHECKING:
    from collections.abc import Sequence

    import torch
    from numpy.typing import NDArray

    from geodim.backends.cuda.tensors import DeviceSource
    from geodim.data.checks import Ranges
    from geodim.engine.driver import Driver
    from geodim.engine.profile import Profile
    from geodim.engine.ways import Way
else:
    torch = require("torch", "gpu", "the CUDA backend")


COARSE_BITS = 3  # a step of at least an eighth of the mean distance of neighbours


class AlikeColumns:
    """Which of the columns that were sorted on the device are left to the processor.

    Parameters
    ----------
    source : ColumnSource
        Where the processor reads them.
    device : torch.device
        Where they are sorted.
    """

    def __init__(self, source: ColumnSource, device: torch.device) -> None:
        from geodim.engine.hard import places_to_look  # noqa: PLC0415 - imports Numba

        self.source, self.n = source, source.n_points
        self.places = torch.as_tensor(places_to_look(self.n), device=device)
        self.seen: dict[int, torch.Tensor] = {}  # some values of each column, as yet on the device
        self.known: dict[int, bool] = {}

    @classmethod
    def among(
        cls, source: ColumnSource | DeviceSource, device: torch.device, step: float = 0.0
    ) -> AlikeColumns | None:
        """Return what notes such columns; None where there are none, or where they are no trouble.

        Values with multiplicities hold ties, and so do steps; of short columns all windows are soon looked
        at; and the processor cannot read columns that are computed on the device.
        """
        if not isinstance(source, ColumnSource) or source.runs or step > 0.0 or source.n_points < COARSE_FROM:
            return None
        return cls(source, device)

    def look(self, rows: torch.Tensor, columns: Sequence[int]) -> None:
        """Note some values of each column, given as rows of ascending values."""
        self.seen.update(zip(columns, rows[:, self.places].double(), strict=True))

    def left(self, column: int) -> bool:
        """Return whether a column is left to the processor."""
        from geodim.engine.hard import looks_even  # noqa: PLC0415 - as above

        if column not in self.known:
            values = self.seen.pop(column).cpu().numpy()
            large = max(abs(values[0]), abs(values[-1])) > HUGE  # trends could overflow on the device
            alike = looks_even(values, self.n) and not is_coarse(values, self.n)
            self.known[column] = bool(large) or alike
        return self.known[column]

    def solve(
        self,
        profile: Profile,
        way: Way,
        *,
        ranges: Ranges | None,
        n_threads: int,
        driver: Driver,
    ) -> None:
        """Raise a profile by the columns that were left, with all threads of the processor."""
        columns = sorted({*self.seen, *self.known})
        if self.seen:  # all at once
            waiting = sorted(self.seen)
            together = torch.stack([self.seen[column] for column in waiting]).cpu()
            self.seen = dict(zip(waiting, together, strict=True))
        left = [column for column in columns if self.left(column)]
        if not left:
            return
        profile.done[left] = False
        if profile.stopped is None:
            on_cores = replace(way_of(self.source, ranges, 0.0, n_threads), relaxed=way.relaxed)
            compute_profile(
                self.source, on_cores, ranges=ranges, n_threads=n_threads, driver=driver, profile=profile
            )


def is_coarse(values: NDArray[np.float64], n: int) -> bool:
    """Return whether values are multiples of a step that is not much finer than n points lie apart.

    Then widths take so few values that bounds say enough, and the device is fast.

    Examples
    --------
    >>> days = np.arange(100.0)
    >>> is_coarse(days, 100), is_coarse(0.1 * days, 100)
    (True, False)
    """
    spacing = abs(float(values[-1]) / n - float(values[0]) / n)
    step = math.ldexp(1.0, math.frexp(spacing)[1] - COARSE_BITS)
    return bool(np.all(np.mod(values, step) == 0.0)) if step > 0.0 else False
