"""How gaps are cut into pieces: all of them, once, in an order that is spread over the sizes."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, strategies as st

from geodim.engine.pieces import pieces_of


@given(st.lists(st.booleans(), max_size=70), st.integers(1, 70), st.sampled_from([0.0, 0.25, 15 / 16]))
def test_pieces_hold_every_open_gap_once(is_open, most, turn):
    pieces = pieces_of(np.array(is_open, np.bool_), most, turn).tolist()
    gaps = [gap for first, stop in pieces for gap in range(first, stop)]
    assert sorted(gaps) == np.flatnonzero(is_open).tolist()
    assert all(0 < stop - first <= most for first, stop in pieces)
    ordered = sorted(pieces)
    for (first, stop), (after, _) in itertools.pairwise(ordered):
        assert after > stop or stop - first == most  # neighbours are apart only where a piece is full


def test_the_first_pieces_are_spread_over_all_sizes():
    pieces = pieces_of(np.ones(64, np.bool_))[:, 0].tolist()
    assert pieces[:4] == [63, 31, 15, 47]
    assert sorted(pieces[:8]) == list(range(7, 64, 8))


@pytest.mark.parametrize("turn", [0.25, 0.5])
def test_a_turn_puts_the_first_pieces_last(turn):
    is_open = np.ones(40, np.bool_)
    usual, turned = pieces_of(is_open).tolist(), pieces_of(is_open, 1, turn).tolist()
    begin = int(40 * turn)
    assert turned == usual[begin:] + usual[:begin]
