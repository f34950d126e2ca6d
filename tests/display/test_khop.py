"""The plot of dimensions against hops: the right points, bounds, scale and words."""

from __future__ import annotations

import subprocess
import sys

import matplotlib.figure
import numpy as np
import pytest
import scipy.sparse as sp

import geodim
from geodim.display.khop import plot_khop_dimensions
from geodim.display.plots import ORANGE
from geodim.errors import DegenerateDataWarning, InterruptedWarning

RNG = np.random.default_rng(31)
X = np.where(RNG.random((150, 8)) < 0.15, RNG.random((150, 8)), 0.0)
EDGES = RNG.integers(0, 150, (2, 400))


@pytest.fixture(scope="module")
def exact():
    return geodim.khop_dimensions(X, EDGES, hops=4)


def curve(ax):
    """The first line: the dimensions."""
    return np.asarray(ax.lines[0].get_xdata()), np.asarray(ax.lines[0].get_ydata())


def bars(ax):
    """Ends of every error bar, (k, low, high)."""
    found = []
    for container in ax.containers:
        ((low, high),) = container[2][0].get_segments()
        found.append((low[0], low[1], high[1]))
    return found


def drawn(ax):
    """Draw, so that ticks and texts are laid out; warnings are errors."""
    ax.figure.canvas.draw()
    return ax


def test_points_are_the_dimensions(exact):
    ax = drawn(plot_khop_dimensions(exact))
    k, dimension = curve(ax)
    np.testing.assert_array_equal(k, np.arange(5))
    np.testing.assert_array_equal(dimension, exact.dimensions)
    assert bars(ax) == []
    assert ax.get_legend() is None
    assert ax.get_xlabel() == "$k$, number of hops"
    assert ax.get_ylabel() == "intrinsic dimension"
    assert ax.get_title(loc="left").endswith("150 nodes × 8 attributes")
    assert "sym" in ax.get_title(loc="left")


@pytest.mark.parametrize("hops", [0, 1, 4, 12, 40])
def test_ticks_are_whole_numbers_of_hops(hops):
    ax = drawn(plot_khop_dimensions(geodim.khop_dimensions(X, EDGES, hops=hops)))
    low, high = ax.get_xlim()
    assert low < 0.0
    assert high > hops
    inside = [tick for tick in ax.get_xticks() if low <= tick <= high]
    assert inside
    assert all(tick == int(tick) for tick in inside)
    assert 0.0 in inside
    assert high - low < hops + 1.5


def test_every_value_is_inside(exact):
    ax = drawn(plot_khop_dimensions(exact))
    low, high = ax.get_ylim()
    assert low < min(exact.dimensions)
    assert high > max(exact.dimensions)


def test_bounds_are_error_bars():
    result = geodim.khop_dimensions(X, EDGES, hops=3, rtol=0.2)
    ax = drawn(plot_khop_dimensions(result))
    np.testing.assert_array_equal(curve(ax)[1], result.dimensions)
    for (k, low, high), (at, one) in zip(bars(ax), enumerate(result), strict=True):
        assert k == at
        assert low == pytest.approx(one.lower)
        assert high == pytest.approx(one.upper)
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["certified bounds"]


def test_a_pass_that_was_stopped_has_no_points_but_arrows():
    with pytest.warns(InterruptedWarning):
        result = geodim.khop_dimensions(X, EDGES, hops=2, time_limit=0)
    ax = drawn(plot_khop_dimensions(result))
    assert curve(ax)[0].size == 0
    assert len(bars(ax)) == 3
    for (k, low, _), (at, one) in zip(bars(ax), enumerate(result), strict=True):
        assert k == at
        assert low == pytest.approx(one.lower)
        assert ax.get_ylim()[0] < one.lower < ax.get_ylim()[1]


def test_bounds_that_say_nothing_are_not_drawn():
    with pytest.warns(InterruptedWarning):
        result = geodim.khop_dimensions(X, EDGES, hops=2, operator="rw", time_limit=0)
    drawn_at = [k for k, _, _ in bars(drawn(plot_khop_dimensions(result)))]
    assert drawn_at == [k for k, one in enumerate(result) if one.lower > 0.0]


def test_infinite_dimensions_are_written_not_drawn():
    with pytest.warns(DegenerateDataWarning):
        result = geodim.khop_dimensions(np.ones((4, 1)), [(0, 1), (1, 2), (2, 3)], hops=2)
    ax = drawn(plot_khop_dimensions(result))
    assert curve(ax)[0].tolist() == [1, 2]
    assert [text.get_text() for text in ax.texts] == ["∞"]
    assert ax.texts[0].xy[0] == 0
    with pytest.warns(DegenerateDataWarning):
        nothing = geodim.khop_dimensions(np.ones((2, 1)), [(0, 1)], hops=1)
    assert len(drawn(plot_khop_dimensions(nothing)).texts) == 2


def test_logarithmic_if_the_range_asks_for_it(exact):
    wide = geodim.khop_dimensions(X, None, hops=3, operator=sp.csr_array(5.0 * np.eye(150)))
    assert max(exact.dimensions) < 20 * min(exact.dimensions)
    assert max(wide.dimensions) > 20 * min(wide.dimensions)
    assert plot_khop_dimensions(exact).get_yscale() == "linear"
    assert drawn(plot_khop_dimensions(wide)).get_yscale() == "log"
    assert plot_khop_dimensions(exact, log=True).get_yscale() == "log"
    assert plot_khop_dimensions(wide, log=False).get_yscale() == "linear"


def test_logarithmic_if_results_in_the_same_axes_are_far_apart(exact):
    small = geodim.khop_dimensions(X * 30.0, EDGES, hops=4, normalize=False)
    ax = plot_khop_dimensions(exact, label="one")
    assert ax.get_yscale() == "linear"
    assert drawn(plot_khop_dimensions(small, ax, label="other", color=ORANGE)).get_yscale() == "log"


def test_bounds_of_several_results_have_their_own_entry():
    result = geodim.khop_dimensions(X, EDGES, hops=1, rtol=0.2)
    ax = plot_khop_dimensions(result, plot_khop_dimensions(result, label="one"), label="other", color=ORANGE)
    words = [text.get_text() for text in ax.get_legend().get_texts()]
    assert sorted(words) == ["one", "one, certified bounds", "other", "other, certified bounds"]


def test_several_results_in_given_axes(exact):
    ax = matplotlib.figure.Figure().add_subplot()
    other = geodim.khop_dimensions(X, EDGES, hops=2, operator="rw")
    assert plot_khop_dimensions(exact, ax, label="sym", title="two operators") is ax
    assert plot_khop_dimensions(other, ax, label="rw", color=ORANGE, title="two operators") is ax
    drawn(ax)
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["sym", "rw"]
    assert ax.get_xlim()[1] > 4.0  # the longer one still fits
    assert ax.get_title(loc="left") == "two operators"
    assert ax.lines[0].get_color() != ax.lines[1].get_color()


@pytest.mark.parametrize("suffix", ["png", "pdf", "svg"])
def test_saved(exact, suffix, tmp_path):
    path = tmp_path / f"plot.{suffix}"
    plot_khop_dimensions(exact).figure.savefig(path)
    assert path.stat().st_size > 1000


def test_pyplot_is_never_imported():
    code = (
        "import sys, numpy as np, geodim\n"
        "geodim.khop_dimensions(np.eye(4), [(0, 1), (1, 2), (2, 3)], hops=1).plot()\n"
        "assert 'matplotlib.pyplot' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
