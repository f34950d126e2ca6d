"""A small pass over hops that can be interrupted, and what tests of its checkpoints share."""

from __future__ import annotations

import numpy as np
import pytest

import geodim
from engine.oracle import assert_same_bits
from geodim.engine.checkpoint import NAME
from geodim.errors import InterruptedWarning

RNG = np.random.default_rng(12)
N, D = 400, 30
X = np.where(RNG.random((N, D)) < 0.2, RNG.random((N, D)), 0.0)
EDGES = RNG.integers(0, N, (2, 900))
X32 = X.astype(np.float32)
OTHER_X = X32.copy()
OTHER_X[0, 0] += 1.0


@pytest.fixture(autouse=True)
def narrow_blocks(monkeypatch):
    """Several blocks, and so several moments between them."""
    monkeypatch.setattr("geodim.planning.hops.default_columns", lambda *_: 4)


def assert_same_result(result, reference):
    for one, other in zip(result, reference, strict=True):
        assert_same_bits(one.phi_lower, other.phi_lower)
        assert_same_bits(one.phi_upper, other.phi_upper)
        assert one.dimension == other.dimension
        assert one.shares == other.shares
        assert one.stopped == other.stopped
        assert one.exact == other.exact


def saved_attributes(folder):
    """How many attributes the state in a folder holds."""
    if not (folder / NAME).exists():
        return 0
    with np.load(folder / NAME) as saved:
        return int(saved["done"].sum())


def interrupted(blocks, checkpoint, **options):
    """Run until so many more blocks are done, then press Ctrl-C."""
    before = saved_attributes(checkpoint)

    def progress(done, *_):
        if done >= before + 4 * blocks:
            raise KeyboardInterrupt

    with pytest.warns(InterruptedWarning, match="interrupted"):
        return geodim.khop_dimensions(X, EDGES, checkpoint=checkpoint, progress=progress, **options)


def only_file(folder):
    """The one file that may be there."""
    assert [path.name for path in folder.iterdir()] == [NAME]
    return folder / NAME
