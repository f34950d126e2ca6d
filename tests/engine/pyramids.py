"""Pyramids of small columns, and lists of their blocks."""

from __future__ import annotations

import functools

import numpy as np
import pytest

from distributions import column
from engine.oracle import padded
from geodim.engine import layout as layout_module
from geodim.engine.kernels import pyramid
from geodim.engine.kernels.pyramid import BLOCK, GROUP
from geodim.engine.lattices import lattice
from geodim.engine.layout import PyramidLayout


@functools.cache
def pyramid_of(name, n):
    l = padded(column(name, n))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(layout_module, "TOP_BLOCKS", 4)
        layout = PyramidLayout(n)
    records = np.full((pyramid.RECORD, layout.total), np.nan)
    grain, slack, _ = lattice(l, n, max(abs(l[0]), abs(l[n - 1])))
    span = float(l[n - 1] - l[0])
    pyramid.build_base(l, n, records, layout.counts[0], grain, span)
    pyramid.build_parents(l, n, records, layout.offsets, layout.counts, grain, span)
    return l, layout, records, grain, slack, span


def levels(layout):
    for level, (offset, count) in enumerate(
        zip(layout.offsets.tolist(), layout.counts.tolist(), strict=True)
    ):
        yield level, BLOCK << level, range(count), offset


def listed(blocks):
    """Blocks as groups with a bit for each of them."""
    groups = sorted({j // GROUP for j in blocks})
    return np.array(
        [group << GROUP | sum(1 << j % GROUP for j in blocks if j // GROUP == group) for group in groups]
    )


def blocks_of(groups):
    """The blocks of such a list."""
    return [
        (entry >> GROUP) * GROUP + lane
        for entry in groups.tolist()
        for lane in range(GROUP)
        if entry >> lane & 1
    ]
