"""Columns of a family, computed on the device: distances between points with coordinates, and projections."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, TypeGuard

import numpy as np

from geodim.backends.cuda.distance_kernels import fill_distances
from geodim.families.directions import PRODUCTS, DirectionSource
from geodim.families.metrics import POWERS
from geodim.families.sources import ANTIPODAL, CoordinateDistances
from geodim.optional import require

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import torch
    from numpy.typing import NDArray

    from geodim.data.sources import ColumnSource
    from geodim.families.points import Panels
else:
    torch = require("torch", "gpu", "the CUDA backend")

ROWS, COLUMNS = 16, 128  # of one program
SAMPLED = 1 << 24  # values of a sample that are computed together


def can_make(source: ColumnSource) -> TypeGuard[CoordinateDistances | DirectionSource]:
    """Return whether the device computes these columns itself; others are computed on the host and copied.

    Powers of Minkowski's distance would differ from the CPU's in the last bits, and scaled points are rare.
    """
    if isinstance(source, CoordinateDistances):
        return source.how.kind != POWERS and source.panels.exponent == 0
    return isinstance(source, DirectionSource) and source.panels.exponent == 0


class MadeOnDevice:
    """Distances or projections as a `geodim.backends.cuda.tensors.DeviceSource`.

    They have the same bits as on the CPU.  Only angles may differ, since they use the arcsine of the device,
    and they do so within the error that `geodim.families.metrics` states.

    Parameters
    ----------
    source : CoordinateDistances or DirectionSource
        The family on its points.
    device : torch.device
        Where to compute it.
    """

    def __init__(self, source: CoordinateDistances | DirectionSource, device: torch.device) -> None:
        self.n_points, self.n_features, self.dtype = source.n_points, source.n_features, source.dtype
        self.device = device
        self.points = _by_coordinate(source.panels, device)
        self.angle, self.centres = False, None
        if isinstance(source, DirectionSource):
            self.kind = PRODUCTS
            self.others: NDArray[np.float64] | None = source.vectors
        else:
            self.kind, self.angle = source.how.kind, source.how.angle
            self.centres = source.points
            self.others = None if source.points is not None else source.centres

    def rows(self, columns: Sequence[int]) -> torch.Tensor:
        """Return some columns as rows."""
        return self._made(self._centres(np.asarray(columns, np.intp)), self.points[:, : self.n_points])

    def at_points(self, points: NDArray[np.intp]) -> Iterator[torch.Tensor]:
        """Yield all columns at some points, as rows, in blocks of columns."""
        some = self.points[:, torch.as_tensor(points, device=self.device)]
        step = max(SAMPLED // points.size, 1)
        for first in range(0, self.n_features, step):
            yield self._made(self._centres(np.arange(first, min(first + step, self.n_features))), some)

    def _centres(self, columns: NDArray[np.intp]) -> torch.Tensor:
        """Return the coordinates of the centres, (coordinates, columns)."""
        if self.centres is None:
            assert self.others is not None
            return torch.as_tensor(np.ascontiguousarray(self.others[columns].T), device=self.device)
        return self.points[:, torch.as_tensor(self.centres[columns], device=self.device)]

    def _made(self, centres: torch.Tensor, points: torch.Tensor) -> torch.Tensor:
        found = self._filled(centres, points)
        if not self.angle:
            return found
        wide = found > ANTIPODAL
        angles = found.mul_(0.5).clamp_(max=1.0).arcsin_().mul_(2.0)
        if bool(wide.any()):  # digits are lost there: use pi minus the angle to the opposite vector
            others = self._filled(-centres, points).mul_(0.5).clamp_(max=1.0).arcsin_().mul_(2.0)
            angles = torch.where(wide, math.pi - others, angles)
        return angles

    def _filled(self, centres: torch.Tensor, points: torch.Tensor) -> torch.Tensor:
        (size, count), n = centres.shape, points.shape[1]
        out = torch.empty((count, n), dtype=torch.float64, device=self.device)
        fill_distances[(-(-n // COLUMNS), -(-count // ROWS))](
            points, points.stride(0), centres.contiguous(), n, count, size, out, KIND=self.kind, ROWS=ROWS,
            COLUMNS=COLUMNS, num_warps=4,
        )  # fmt: skip
        return out


def _by_coordinate(panels: Panels, device: torch.device) -> torch.Tensor:
    """Return all points with one coordinate per row."""
    values = torch.as_tensor(panels.values).to(device)
    return values.permute(1, 0, 2).reshape(panels.n_coordinates, -1).contiguous()
