"""Sorting rows by kernels of our own, see ``radix.cu``: values alone, all rows together."""

from __future__ import annotations

import logging
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, NamedTuple

from geodim.backends.cuda.nvrtc import CompilerError, Module
from geodim.optional import require

if TYPE_CHECKING:
    import torch
else:
    torch = require("torch", "gpu", "the CUDA backend")

log = logging.getLogger("geodim")

DIGITS = 256
COUNTED = 1 << 17  # values counted by one block of threads
MOST = 1 << 30  # values of a row: what tiles publish are numbers of 30 bits
ITEMS = {4: 22, 8: 11}  # values of a thread, by their bytes
THREADS, BLOCKS = 256, 3


class Sorter(NamedTuple):
    """The compiled kernels for values of so many bytes."""

    module: Module
    itemsize: int

    def sort(self, rows: torch.Tensor) -> None:
        """Sort in place, using a second array of the same size."""
        n_rows, n = rows.shape
        device, tiles = rows.device, -(-n // (THREADS * ITEMS[self.itemsize]))
        counts = torch.zeros((n_rows, self.itemsize, DIGITS), dtype=torch.int32, device=device)
        self.module.launch("count_digits", (-(-n // COUNTED), n_rows), 512, rows, n, COUNTED, counts)
        ends = torch.cumsum(counts, 2, dtype=torch.int32)
        published = torch.empty((n_rows, tiles, DIGITS), dtype=torch.int32, device=device)
        tickets = torch.zeros(self.itemsize, dtype=torch.int32, device=device)
        one, other = rows, torch.empty_like(rows)
        for digit in range(self.itemsize):  # an even number of passes: the last one fills the rows again
            published.zero_()
            self.module.launch(
                "deal_out", (tiles * n_rows, 1), THREADS, one, other, n, n_rows, tiles, digit, counts, ends,
                published, tickets,
            )  # fmt: skip
            one, other = other, one


def sorter(rows: torch.Tensor) -> Sorter | None:
    """Return the kernels for these rows; None if they cannot be used."""
    if not rows.is_cuda or torch.version.cuda is None or rows.shape[1] >= MOST:
        return None
    return _sorter(rows.device.index, rows.element_size())


@cache
def _sorter(device: int, itemsize: int) -> Sorter | None:
    """Compile the kernels, once for each device and type, in a third of a second."""
    kind = {4: "unsigned int", 8: "unsigned long long"}[itemsize]
    options = [f"-DKEY={kind}", f"-DTHREADS={THREADS}", f"-DITEMS={ITEMS[itemsize]}", f"-DBLOCKS={BLOCKS}"]
    source = files("geodim.backends.cuda").joinpath("radix.cu").read_text(encoding="utf-8")
    try:
        with torch.cuda.device(device):
            return Sorter(Module(source, options), itemsize)
    except CompilerError as error:
        log.info("columns are sorted by PyTorch: %s", error)
        return None
