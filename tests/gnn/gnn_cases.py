"""Graphs with classes that the tests of SIGN share."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from geodim.data.datasets import load_dataset
from geodim.gnn import SignSettings

SMALL = SignSettings(hidden=8, batch_size=32)


def block_graph(nodes=240, separation=0.8, **options):
    """Three blocks whose attributes overlap, in random order, a third of the nodes for each split."""
    data = load_dataset(
        "sbm", nodes=nodes, blocks=3, attributes=6, p_in=0.15, separation=separation, **options
    )
    order = np.random.default_rng(5).permutation(nodes)
    third = nodes // 3
    splits = {
        "train": order[:third],
        "valid": order[third : 2 * third],
        "test": order[2 * third :],
    }
    return replace(data, splits=splits)
