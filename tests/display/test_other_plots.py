"""The plots of shares, supports, choices of features and accuracies: the right values, words and axes."""

from __future__ import annotations

import math

import matplotlib.figure
import numpy as np
import pytest

import geodim
from geodim.display.accuracy import plot_accuracy
from geodim.display.greedy import plot_greedy
from geodim.display.shares import plot_shares
from geodim.display.support import plot_support
from geodim.errors import DegenerateDataWarning, InputValueError, ShapeError
from geodim.paper import algorithm_2, log_scale_support

RNG = np.random.default_rng(12)
X = np.abs(RNG.normal(size=(300, 20))) ** np.linspace(0.4, 2.0, 20)
X /= X.max(axis=0)


def drawn(ax):
    """Draw, so that texts are laid out; warnings are errors."""
    ax.figure.canvas.draw()
    return ax


class TestShares:
    def test_bars_are_the_shares(self):
        result = geodim.intrinsic_dimension(X, feature_names=[f"f{i}" for i in range(20)])
        ax = drawn(plot_shares(result, most=50))
        widths = [bar.get_width() for bar in ax.patches]
        assert widths == list(result.shares.values())
        assert [text.get_text() for text in ax.get_yticklabels()] == list(result.shares)
        assert ax.get_ylim()[0] > ax.get_ylim()[1]  # the largest on top
        assert "of 20 features" in ax.get_title(loc="left")

    def test_the_others_share_a_bar(self):
        result = geodim.intrinsic_dimension(X)
        assert len(result.shares) > 5
        ax = drawn(plot_shares(result, most=3))
        assert len(ax.patches) == 4
        assert ax.get_yticklabels()[-1].get_text() == f"{len(result.shares) - 3} others"
        assert sum(bar.get_width() for bar in ax.patches) == pytest.approx(1.0)

    def test_what_has_room(self):
        result = geodim.intrinsic_dimension(X)
        small = plot_shares(result, matplotlib.figure.Figure(figsize=(3, 2)).add_subplot())
        assert len(small.patches) < len(plot_shares(result).patches)

    def test_nothing_to_share(self):
        with pytest.warns(DegenerateDataWarning):
            ax = drawn(plot_shares(geodim.intrinsic_dimension(np.ones((4, 2)))))
        assert len(ax.patches) == 0

    @pytest.mark.parametrize("name", ["$x^2$", "a\nb", "<b>", "", "\x00\x07", "y" * 300])
    def test_unusual_names(self, name):
        drawn(plot_shares(geodim.intrinsic_dimension(X[:, :2], feature_names=[name, "other"])))

    def test_most(self):
        with pytest.raises(InputValueError, match="most"):
            plot_shares(geodim.intrinsic_dimension(X), most=0)


@pytest.fixture(scope="module")
def rows():
    found = []
    for name, n in (("small", 200), ("large", 400)):
        points = np.random.default_rng(0).normal(size=(n, 3)) * [1.0, 1.5, 2.0]
        for length in (5, 10, 20, 40):
            done = algorithm_2(points, log_scale_support(n, length=length))
            found.append(
                {
                    "dataset": name,
                    "relative_size": length / n,
                    "error": done.error,
                    "saved_costs": float(done.saved_costs),
                }
            )
    return found


class TestSupport:
    def test_curves(self, rows):
        errors, costs = plot_support(rows[::-1])
        for ax, field in ((errors, "error"), (costs, "saved_costs")):
            drawn(ax)
            (small,) = [line for line in ax.lines if line.get_label() == "small"]
            own = [row for row in rows if row["dataset"] == "small"]
            np.testing.assert_array_equal(small.get_xdata(), [row["relative_size"] for row in own])
            np.testing.assert_array_equal(small.get_ydata(), [row[field] for row in own])
            assert ax.get_xlabel() == "relative support size"
        assert errors.get_yscale() == "log"
        assert errors.get_ylabel() == "relative error $E$"

    def test_given_axes_and_one_curve(self, rows):
        axes = matplotlib.figure.Figure().subplots(1, 2)
        plain = [{key: row[key] for key in row if key != "dataset"} for row in rows[:4]]
        assert plot_support(plain, tuple(axes), title="mine") == tuple(axes)
        assert axes[0].get_title(loc="left") == "mine"
        assert axes[0].get_legend() is None

    def test_a_missing_field(self):
        with pytest.raises(InputValueError, match="row 0 has no 'saved_costs'"):
            plot_support([{"relative_size": 0.1, "error": 0.2}])


class TestGreedy:
    def test_curve(self):
        selection = geodim.select_features(X, 6)
        ax = drawn(plot_greedy(selection))
        (curve,) = [line for line in ax.lines if line.get_label() == "_curve"]
        np.testing.assert_array_equal(curve.get_xdata(), range(7))
        np.testing.assert_array_equal(curve.get_ydata(), [0.0, *selection.fractions])
        assert ax.get_ylim() == (0.0, 1.05)
        assert [text.get_text() for text in ax.texts] == [f"feature {name}" for name in selection.names[:4]]
        assert "6 of 20 features" in ax.get_title(loc="left")

    def test_the_goal_is_drawn(self):
        ax = drawn(plot_greedy(geodim.select_features(X, fraction=0.9), named=0))
        (goal,) = [line for line in ax.lines if line.get_label() == "_goal"]
        assert goal.get_ydata()[0] == 0.9
        assert [text.get_text() for text in ax.texts] == ["asked for 90 %"]

    def test_many_choices_have_few_vertices(self):
        curve = (1.0 - np.exp(-np.arange(1, 50_001) / 3000.0)).tolist()
        names = [str(i) for i in range(50_000)]
        selection = geodim.FeatureSelection(
            names=names, columns=list(range(50_000)), curve=curve, total=1.0, n_points=10, n_features=60_000,
            normalized=True, d_max=1.0,
        )  # fmt: skip
        (line,) = [line for line in drawn(plot_greedy(selection)).lines if line.get_label() == "_curve"]
        assert len(line.get_xdata()) <= 2000
        assert line.get_xdata()[-1] == 50_000
        whole = np.interp(np.arange(50_001), line.get_xdata(), line.get_ydata())
        assert np.max(np.abs(whole - np.r_[0.0, curve])) < 1e-3


class TestAccuracy:
    DIMENSIONS = (6.25, 3.83, 3.67, 3.66)
    ACCURACIES = (0.53, 0.72, 0.78, 0.79)

    def test_points(self):
        ax = drawn(plot_accuracy(self.DIMENSIONS, self.ACCURACIES, label="Cora", deviations=[0.01] * 4))
        np.testing.assert_array_equal(ax.lines[0].get_xdata(), self.DIMENSIONS)
        np.testing.assert_array_equal(ax.lines[0].get_ydata(), self.ACCURACIES)
        words = [text.get_text() for text in ax.texts]
        assert words[:2] == ["$k=0$", "$k=1$"]
        assert len(words) < 4  # the last two lie upon each other
        assert ax.get_ylabel() == "accuracy"

    def test_several_data_sets(self):
        ax = plot_accuracy(self.DIMENSIONS, self.ACCURACIES, label="one", deviations=[0.01] * 4)
        drawn(plot_accuracy([300.0, 200.0], [0.1, 0.2], ax, label="two"))
        assert [text.get_text() for text in ax.get_legend().get_texts()] == ["one", "two"]
        assert ax.get_xscale() == "log"
        colours = {line.get_color() for line in ax.lines if not line.get_label().startswith("_")}
        assert len(colours) == 2

    def test_relative_to_the_first(self):
        ax = drawn(plot_accuracy([math.inf, 8.0, 4.0], [0.2, 0.3, 0.5], relative=True))
        np.testing.assert_array_equal(ax.lines[0].get_xdata(), [1.0, 0.5])
        assert ax.get_xlabel() == "intrinsic dimension, relative to $k=1$"

    def test_infinite_dimensions_are_left_out(self):
        ax = drawn(plot_accuracy([math.inf, 4.0], [0.2, 0.3]))
        np.testing.assert_array_equal(ax.lines[0].get_xdata(), [4.0])
        assert [text.get_text() for text in ax.texts] == ["$k=1$"]

    def test_lengths(self):
        with pytest.raises(ShapeError, match="got 2 and 1"):
            plot_accuracy([1.0, 2.0], [0.5])
        with pytest.raises(ShapeError, match="3 deviations"):
            plot_accuracy([1.0], [0.5], deviations=[0.1] * 3)
