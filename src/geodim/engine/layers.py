"""Nested feature sets in one pass: layer k holds Phi over all features of hops 0..k.

A column of hop m belongs to every layer k >= m.  It matters to layer k only if it beats layer m, since layer
k is at least as high; so one solve against layer m serves them all.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from geodim.engine.profile import Profile

if TYPE_CHECKING:
    from collections.abc import Callable

    from geodim.engine.target import Piece, Sizes, Solved


class Layers:
    """The profiles of hops 0..hops.

    Parameters
    ----------
    n_points, n_features : int
        Size of the attribute matrix; layer k has (k + 1) * n_features features, hop m's column j
        being m * n_features + j.
    hops : int
        Largest hop.
    step : float
        Resolution, see `Profile`.
    n_threads : int
        Threads that clear the memory.
    """

    def __init__(
        self, n_points: int, n_features: int, hops: int, step: float = 0.0, n_threads: int = 1
    ) -> None:
        self.n_features = n_features
        self.profiles = [
            Profile.empty(n_points, (k + 1) * n_features, step, n_threads=n_threads) for k in range(hops + 1)
        ]
        self.means_elsewhere: Callable[[], list[float]] | None = None  # while a device holds the values

    def means(self) -> list[float]:
        """Mean of Phi so far, for every layer."""
        if self.means_elsewhere is not None:
            return self.means_elsewhere()
        return [float(profile.phi.sum()) / profile.phi.size for profile in self.profiles]

    def layer(self, hop: int) -> Layer:
        """Where columns of this hop are merged."""
        return Layer(self, hop)

    def finish(self, columns: list[int]) -> None:
        """Note that these attributes have contributed at every hop."""
        for k, profile in enumerate(self.profiles):
            for hop in range(k + 1):
                profile.done[hop * self.n_features + np.asarray(columns, np.intp)] = True

    def unfinished(self) -> list[int]:
        """Attributes still to do."""
        return np.flatnonzero(~self.profiles[0].done).tolist()

    def stop(self, reason: str | None) -> None:
        """Note why the pass ended early, if it did."""
        for profile in self.profiles:
            profile.stopped = reason


class Layer:
    """A target: the bar to beat at one hop, and a place to merge into."""

    def __init__(self, layers: Layers, hop: int) -> None:
        self.layers = layers
        self.hop = hop
        self.phi = layers.profiles[hop].phi
        self.step = layers.profiles[hop].step

    def begin(self, column: int, pieces: dict[Piece, Sizes]) -> None:
        """Pieces of one column are not told apart here: a column counts once its whole block is done."""

    def merge(self, solved: Solved) -> None:
        """Merge into this layer and all above it."""
        feature = replace(solved, column=self.hop * self.layers.n_features + solved.column, piece=None)
        for profile in self.layers.profiles[self.hop :]:
            profile.merge(feature)
