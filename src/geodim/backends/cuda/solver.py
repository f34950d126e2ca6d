"""Batches of sorted columns on the device: pyramids, narrow windows, waves of nodes; see `waves`."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from geodim.backends.cuda import layout, pyramid_kernels, window_kernels
from geodim.backends.cuda.device import sent
from geodim.backends.cuda.pyramid_kernels import SCALARS
from geodim.backends.cuda.waves import MOST_ENTRIES, RAISED, Columns, Search, Size
from geodim.engine.rounding import LATTICE_BITS, SLACK_BITS
from geodim.optional import require
from geodim.planning.device import solver_bytes, wave_entries

if TYPE_CHECKING:
    from collections.abc import Callable

    import torch
    from numpy.typing import NDArray
else:
    torch = require("torch", "gpu", "the CUDA backend")

HUGE = 2.0**1000  # beyond this the trend arithmetic could overflow
LATTICE_PER = 1 << 16  # values that one program examines for a common grain
PER, PART, NEAR = 512, 128, 2  # starts of narrow windows per program, evaluated together, filtered together,
SAMPLED = 128  # and programs whose starts are evaluated first


class Batch(NamedTuple):
    """Columns in work: ascending rows, their numbers and scalars, and their layer."""

    l: torch.Tensor
    columns: list[int]
    scalars: torch.Tensor
    layer: int

    def alone(self, row: int) -> Batch:
        """Return a batch of one of the columns."""
        return Batch(self.l[row : row + 1], [self.columns[row]], self.scalars[row : row + 1], self.layer)


def _never(_column: int) -> bool:
    return False


class DeviceSolver:
    """Solves batches of sorted columns of one length and raises phi, which stays on the device.

    Parameters
    ----------
    n_points : int
        Length of the columns.
    device : torch.device
        Where the columns are; the CPU if Triton interprets the kernels.
    layers : int
        Number of nested feature sets, see `geodim.engine.layers`: a column raises its
        own layer and all layers above it.
    batch : int
        Largest number of columns passed in at a time.
    most_entries : int
        A wave with more list entries is cut in two.
    room : Size, optional
        The largest wave that is searched without waiting for the device.
    """

    def __init__(
        self,
        n_points: int,
        device: torch.device | str,
        *,
        layers: int = 1,
        batch: int = 1,
        most_entries: int = MOST_ENTRIES,
        room: Size | None = None,
    ) -> None:
        self.device = torch.device(device)
        self.layout = layout.Layout(n_points, self.device)
        self.n, self.layers = n_points, layers
        self.most_entries = most_entries
        self._phi = torch.zeros((layers, n_points), dtype=torch.float64, device=device)
        self._owner = torch.full((layers, n_points), -1, dtype=torch.int32, device=device)
        self.phi_records, self.phi_peaks = self.layout.new_records(1)
        self.tests = self.windows = 0
        self._open: Batch | None = None  # in work,
        self._left: list[Batch] = []  # and columns that must be searched again
        self.is_left: Callable[[int], bool] = _never  # whether a column is solved elsewhere, if it takes long
        self._room = room
        self.shrink(batch)

    def shrink(self, batch: int) -> None:
        """Take this many columns at a time from here on; what was reached is kept."""
        self.batch = batch
        self.own = self.records = self.peaks = torch.empty(0)  # released first
        self.search: Search | None = None
        self.own = torch.full((batch, self.n), math.inf, dtype=torch.float64, device=self.device)
        self.raised = torch.zeros((batch, -(-self.n // RAISED)), dtype=torch.int8, device=self.device)
        self.records, self.peaks = self.layout.new_records(batch)
        room = self._room or Size.of(wave_entries(self.n, batch), self.layout.first_size(batch))
        self.search = Search(self.layout, room)
        self._told = torch.empty_like(self.search.counts, device="cpu", pin_memory=self.device.type == "cuda")

    @property
    def phi(self) -> torch.Tensor:
        """Phi of every layer, after all columns passed in."""
        self.finish()
        return self._phi

    @property
    def owner(self) -> torch.Tensor:
        """The column that attains it."""
        self.finish()
        return self._owner

    @staticmethod
    def bytes_needed(n_points: int, layers: int, batch: int) -> int:
        """Return the memory of a solver, without columns and waves."""
        return solver_bytes(n_points, layers, batch)

    def solve(
        self,
        l: torch.Tensor,
        columns: list[int],
        layer: int = 0,
        ends: NDArray[np.float64] | None = None,
    ) -> None:
        """Raise phi by columns, given as rows of ascending float32 or float64 values.

        If their first and last values are known already, shape (columns, 2), the host waits for the columns
        before only, not for these.  The rows must not change until the next call, or `finish`.
        """
        self.finish()
        ends = l[:, [0, self.n - 1]].double().cpu().numpy() if ends is None else ends
        magnitudes = np.abs(ends).max(axis=1)
        searched = np.flatnonzero((ends[:, 0] < ends[:, 1]) & (magnitudes <= HUGE))
        for row in np.flatnonzero(magnitudes > HUGE).tolist():
            if not self.is_left(columns[row]):
                self._on_the_host(l[row], columns[row], layer)
        if searched.size == 0:
            return
        if searched.size < len(columns):
            l, ends = l[torch.as_tensor(searched, device=l.device)], ends[searched]
            columns, magnitudes = [columns[at] for at in searched], magnitudes[searched]
        batch = Batch(l, columns, self._scalars(l, ends[:, 1] - ends[:, 0], magnitudes, layer), layer)
        self._begin(batch)
        assert self.search is not None
        first = self.layout.first_wave(len(columns))
        if first is not None:
            self.search.all_waves(first, self._columns(batch))
            self._told.copy_(self.search.counts, non_blocking=True)
            if self.device.type == "cuda":
                self._event = torch.cuda.current_stream(self.device).record_event()
            self._open = batch
        self._raise(batch)

    def finish(self) -> None:
        """Wait for the columns in work; if their waves did not fit, search these again, one by one."""
        if self._open is not None:
            if self.device.type == "cuda":
                self._event.synchronize()
            counts = self._told.numpy()
            if counts[-1].any():
                self._left = [
                    self._open.alone(row)
                    for row, column in enumerate(self._open.columns)
                    if not self.is_left(column)
                ]
            else:
                self.tests += int(counts[:-1, 2].sum())
                self.windows += int(counts[:-1, 3].sum())
            self._open = None
        while self._left:  # if the device runs out of memory here, the next call goes on
            self._again(self._left[-1])
            self._left.pop()

    def _begin(self, batch: Batch) -> None:
        """Build the pyramids of the columns and of Phi, and evaluate the narrow windows."""
        self.layout.fill(batch.l, batch.scalars, self.records, self.peaks)
        phi = self._phi[batch.layer : batch.layer + 1]
        known = batch.scalars.new_zeros((1, SCALARS))
        known[0, 3] = phi[0, -1]
        self.layout.fill(phi, known, self.phi_records, self.phi_peaks)
        self._narrow(batch.l)

    def _columns(self, batch: Batch) -> Columns:
        return Columns(
            batch.l, batch.scalars, self.records, self.peaks, self.own, self.raised, self._phi[batch.layer],
            self.phi_records,
        )  # fmt: skip

    def _again(self, alone: Batch) -> None:
        """Search a single column, with as much memory as its waves take."""
        self._begin(alone)
        first = self.layout.first_wave(1)
        assert first is not None
        assert self.search is not None
        tests, windows = self.search.one_by_one(first, self._columns(alone), self.most_entries)
        self.tests, self.windows = self.tests + tests, self.windows + windows
        self._raise(alone)

    def _raise(self, batch: Batch) -> None:
        """Raise Phi by what was found of these columns."""
        ids = sent(np.array(batch.columns, np.int32), self.device)
        pyramid_kernels.raise_phi[(self.raised.shape[1],)](
            self.own, self.n, len(batch.columns), ids, self.raised, self._phi, self._owner, batch.layer,
            self.layers, TILE=RAISED,
        )  # fmt: skip
        self.raised.zero_()

    def _narrow(self, l: torch.Tensor) -> None:
        """Evaluate all windows of fewer than NARROW steps; a first sample makes most others unnecessary."""
        rows, n = l.shape
        narrow = layout.NARROW
        least = torch.full((rows, narrow), math.inf, dtype=torch.float64, device=l.device)
        parts = -(-n // PER)
        for stride in {max(parts // SAMPLED, 1): None, 1: None}:
            window_kernels.narrow_windows[(-(-parts // stride), rows)](
                l, n, least, stride, NARROW=narrow, PER=PER, PART=min(PART, PER), NEAR=NEAR, num_warps=1
            )
        few = min(narrow, n)
        self.raised[:rows, 0] = 1
        self.own[:rows, 1:few] = least[:, 1:few]

    def _scalars(
        self, l: torch.Tensor, spans: np.ndarray[Any, Any], magnitudes: np.ndarray[Any, Any], layer: int
    ) -> torch.Tensor:
        """Return grain, slack, bar, span and margin of every column, see `geodim.engine.column.lattice`."""
        exponents = [max(math.frexp(magnitude)[1] - LATTICE_BITS, -1074) for magnitude in magnitudes]
        numbers = [
            [math.ldexp(1.0, exponent) for exponent in exponents],
            [math.ldexp(magnitude, -SLACK_BITS) for magnitude in magnitudes],
            spans.tolist(),
        ]
        grains, slacks, widths = sent(np.array(numbers), self.device)
        off = torch.zeros(len(l), dtype=torch.int32, device=l.device)
        lowest = torch.full((len(l),), torch.iinfo(torch.int64).max, dtype=torch.int64, device=l.device)
        parts = -(-self.n // LATTICE_PER)
        middle = max(parts // 2 - 8, 0)
        for first, stop in ((middle, min(middle + 16, parts)), (0, parts)):
            pyramid_kernels.lattice_bits[(stop - first, len(l))](
                l, self.n, first, grains, off, lowest, PER=LATTICE_PER, TILE=4096
            )
        rough = off > 0
        nothing = torch.zeros_like(grains)
        margins = torch.maximum(slacks, self._phi[layer, -1] * 2.0**-SLACK_BITS)
        return torch.stack(
            [
                torch.where(rough, nothing, grains),
                torch.where(rough, slacks, nothing),
                torch.where(rough, -slacks, grains * lowest),
                widths,
                margins,
            ],
            dim=1,
        ).contiguous()

    def _on_the_host(self, l: torch.Tensor, column: int, layer: int) -> None:
        """Solve a column with values too large for trends on the host, which evaluates all its windows."""
        from geodim.engine.column import ColumnSolver  # noqa: PLC0415 - imports Numba
        from geodim.engine.profile import Profile  # noqa: PLC0415

        profile = Profile.empty(self.n, 1)
        values = l.cpu().numpy()
        ColumnSolver(self.n, values.dtype).solve(values, 0, profile, lambda: False)
        self.own[0, 1:] = torch.as_tensor(profile.phi[1:])
        self.raised[0] = 1
        self._raise(Batch(l[None], [column], torch.empty(0), layer))
