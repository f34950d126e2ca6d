"""What is kept about a feature once the engine has solved it.

It is enough to bound, or to compute exactly, what the feature adds later.  Only the sizes count at which the
feature exceeds the features chosen so far, since their phi never falls.  If these are few, phi is kept there
as it is, and the feature need not be solved again; otherwise lines above it are kept, one for several sizes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Values:
    """A feature's phi at the sizes where it exceeds that of the chosen ones.

    Parameters
    ----------
    sizes, values : array
        The sizes, as d = k - 1, and phi there.
    """

    def __init__(self, sizes: NDArray[np.int32], values: NDArray[np.float64]) -> None:
        self.sizes, self.values, self.count = sizes, values, sizes.size

    def gain(self, phi: NDArray[np.float64]) -> float:
        """Return the sum over k of what the feature adds to the chosen ones."""
        from geodim.explain._kernels import excess_over  # noqa: PLC0415 - imports Numba

        gain, self.count = excess_over(phi, self.sizes, self.values, self.count)
        return float(gain)

    def raised(self, phi: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return Phi of the chosen ones together with the feature."""
        sizes, out = self.sizes[: self.count], phi.copy()
        out[sizes] = np.maximum(out[sizes], self.values[: self.count])
        return out


class Lines:
    """Lines above a feature's phi wherever it exceeds that of the chosen ones.

    Parameters
    ----------
    block : int
        Sizes per line.
    blocks, first, last : array
        The blocks of sizes, and the values of the lines at the first and last size of each.
    """

    def __init__(
        self, block: int, blocks: NDArray[np.int32], first: NDArray[np.float64], last: NDArray[np.float64]
    ) -> None:
        self.block, self.parts, self.count = block, (blocks, first, last), blocks.size

    def gain(self, phi: NDArray[np.float64]) -> float:
        """Return an upper bound on the sum over k of what the feature adds to the chosen ones."""
        from geodim.explain._kernels import gain_over  # noqa: PLC0415

        gain, self.count = gain_over(phi, self.block, *self.parts, self.count)
        return float(gain)


def keep(
    phi: NDArray[np.float64], base: NDArray[np.float64], block: int, room: int
) -> tuple[float, Values | Lines]:
    """Keep a feature's phi above ``base``, exactly at up to ``room`` sizes; also return the sum it adds."""
    from geodim.explain._kernels import draw_lines, list_excess  # noqa: PLC0415

    sizes, values = np.empty(room, np.int32), np.empty(room)
    count = int(list_excess(phi, base, sizes, values))
    if count >= 0:
        exact = Values(sizes[:count].copy(), values[:count].copy())
        return exact.gain(base), exact
    most = -(-phi.size // block)
    blocks, first, last = np.empty(most, np.int32), np.empty(most), np.empty(most)
    gain, count = draw_lines(phi, base, block, blocks, first, last)
    return float(gain), Lines(block, blocks[:count].copy(), first[:count].copy(), last[:count].copy())
