"""Plots of binary data: bounds against the minimum support, and pairs against their distance."""

from __future__ import annotations

import numpy as np
import pytest

import geodim

pytest.importorskip("matplotlib")
X = np.random.default_rng(0).random((200, 20)) < 0.3


def test_bounds_fall_together_to_the_right():
    curve = geodim.support_curve(X)
    ax = curve.plot()
    assert ax.xaxis_inverted()
    lines = dict(zip("abcd", ax.get_lines(), strict=True))
    assert lines["c"].get_xdata().tolist() == curve.supports
    assert lines["c"].get_ydata().tolist() == curve.lower
    assert lines["d"].get_ydata().tolist() == curve.upper
    assert [text.get_text() for text in ax.get_legend().get_texts()] == [
        "by frequent concepts alone", "certified bounds",
    ]  # fmt: skip


def test_an_upper_bound_that_is_not_known_stays_within_the_picture():
    """No concept of three objects tells attributes apart: by these alone the dimension may be infinite."""
    curve = geodim.support_curve(np.eye(6, dtype=bool), supports=[3, 1])
    assert curve.frequent_upper[0] == np.inf
    ax = curve.plot(title="mine")
    assert np.isfinite([line.get_ydata() for line in ax.get_lines()]).all()
    assert ax.get_title(loc="left") == "mine"
    ax.figure.canvas.draw()


def test_two_curves_in_one_picture():
    ax = geodim.support_curve(X).plot()
    geodim.support_curve(~X).plot(ax, color="red")
    assert ax.xaxis_inverted()


def test_pairs_and_quartiles():
    found = geodim.binary_correlation_dimension(X)
    ax = found.plot()
    apart, data, quartiles = ax.get_lines()
    assert quartiles.get_xdata().tolist() == found.radii
    assert quartiles.get_ydata().tolist() == [0.25, 0.75]
    assert np.all(np.diff(data.get_ydata()) >= 0.0)
    assert apart.get_ydata()[-1] == pytest.approx(1.0, abs=1e-3)
    ax.figure.canvas.draw()
