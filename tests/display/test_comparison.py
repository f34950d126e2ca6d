"""Results side by side, in the report."""

from __future__ import annotations

import numpy as np

import geodim
from geodim.display.html.comparison import _shares
from geodim.display.html.sources import Item

RNG = np.random.default_rng(0)


def item(title, names):
    X = RNG.normal(size=(30, len(names)))
    return Item(title, geodim.intrinsic_dimension(X, feature_names=names))


def test_data_without_a_feature_in_common_have_no_share_of_it():
    """Not 0 %: they do not have the feature at all."""
    some = [item("digits", ["a", "b"]), item("cora", ["x"]), item("scaled digits", ["a", "b"])]
    assert list(_shares(some).head) == ["feature", "digits", "scaled digits"]
    assert _shares(some[:2]) is None
    assert _shares(some[:1]) is None
