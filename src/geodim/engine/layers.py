"""Nested feature sets in one pass: layer k holds Phi over all features of hops 0..k.

A column of hop m belongs to every layer k >= m.  It matters to layer k only where it beats layer m, since
layer k is at least as high.  So solving it once, against layer m, serves all layers.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from geodim.engine.profile import LOOSE, Profile

if TYPE_CHECKING:
    from collections.abc import Callable

    from geodim.engine.target import Piece, Sizes, Solved


class Layers:
    """The profiles of layers 0..hops.

    Parameters
    ----------
    n_points, n_features : int
        Shape of the attribute matrix.  Layer k has (k + 1) * n_features features; column j of hop m
        has the number m * n_features + j.
    hops : int
        Largest hop.
    step : float
        Resolution, see `Profile`.
    n_threads : int
        Threads that initialise the arrays.
    """

    def __init__(
        self, n_points: int, n_features: int, hops: int, step: float = 0.0, n_threads: int = 1
    ) -> None:
        self.n_features = n_features
        self.profiles = [
            Profile.empty(n_points, (k + 1) * n_features, step, n_threads=n_threads) for k in range(hops + 1)
        ]
        self.means_elsewhere: Callable[[], list[float]] | None = None  # while a device holds the values

    def relax(self, relaxed: bool) -> None:
        """Do what `Profile.relax` does, for all layers; what a column may be off by is noted once."""
        if relaxed and self.profiles[0].step == 0.0:
            noted = np.zeros(self.profiles[-1].done.size)
            for profile in self.profiles:
                profile.notes[LOOSE] = noted

    def means(self) -> list[float]:
        """Return the mean of Phi so far, for every layer."""
        if self.means_elsewhere is not None:
            return self.means_elsewhere()
        return [float(profile.phi.sum()) / profile.phi.size for profile in self.profiles]

    def layer(self, hop: int) -> Layer:
        """Return the target into which columns of this hop are merged."""
        return Layer(self, hop)

    def finish(self, columns: list[int]) -> None:
        """Record that these attributes have contributed at every hop."""
        for k, profile in enumerate(self.profiles):
            for hop in range(k + 1):
                profile.done[hop * self.n_features + np.asarray(columns, np.intp)] = True

    def unfinished(self) -> list[int]:
        """Return the attributes that are still to be done."""
        return np.flatnonzero(~self.profiles[0].done).tolist()

    def stop(self, reason: str | None) -> None:
        """Record why the pass ended early, if it did, or complete it."""
        for profile in self.profiles:
            profile.stopped = reason
            if reason is None:
                profile.never_fall()


class Layer:
    """A `Target`: holds the bar for columns of one hop, and takes their phi."""

    def __init__(self, layers: Layers, hop: int) -> None:
        self.layers = layers
        self.hop = hop
        self.phi = layers.profiles[hop].phi
        self.step = layers.profiles[hop].step

    def begin(self, column: int, pieces: dict[Piece, Sizes]) -> None:
        """Do nothing: pieces are not tracked here, and a column counts once its whole block is done."""

    def merge(self, solved: Solved) -> None:
        """Merge a column into this layer and all layers above it."""
        feature = replace(solved, column=self.hop * self.layers.n_features + solved.column, pieces=())
        for profile in self.layers.profiles[self.hop :]:
            profile.merge(feature)
