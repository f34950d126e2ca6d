"""The plot of the observable diameter: the right curve, area and words, whatever the number of points."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING, Any

import matplotlib.figure
import numpy as np
import pytest

import geodim
from geodim.display.plots import observable_diameter_steps, plot_observable_diameter, save_plot
from geodim.errors import DataFileError, DegenerateDataWarning, InputValueError, InterruptedWarning

if TYPE_CHECKING:
    from pathlib import Path

    from matplotlib.axes import Axes

RNG = np.random.default_rng(8)


def vertices(ax: Axes) -> tuple[Any, Any]:
    (curve,) = [line for line in ax.lines if line.get_label() == "_curve"]
    return curve.get_data()


def shaded_area(ax: Axes) -> float:
    """Area of all polygons that are shaded under the curve, by the shoelace formula."""
    area = 0.0
    for collection in ax.collections:
        for path in collection.get_paths() if collection.get_label() != "certified bounds" else []:
            x, y = path.vertices.T
            area += abs(float(np.sum(x * np.roll(y, -1) - y * np.roll(x, -1)))) / 2.0
    return area


@pytest.mark.parametrize("n", [2, 3, 10, 700, 702, 5000, 200_000])
@pytest.mark.parametrize("normalize", [True, False])
def test_shaded_area_is_the_discriminability(n: int, normalize: bool) -> None:
    result = geodim.intrinsic_dimension(RNG.normal(size=(n, 2)), normalize=normalize)
    ax = plot_observable_diameter(result)
    assert shaded_area(ax) == pytest.approx(result.discriminability, rel=1e-12)
    alpha, diameter = vertices(ax)
    assert len(alpha) <= 2000
    assert (alpha[0], alpha[-1]) == (0.0, 1.0)
    assert np.all(np.diff(alpha) >= 0.0)
    assert np.all(np.diff(diameter) <= 0.0)
    assert diameter[0] == pytest.approx(1.0 if normalize else result.d_max, rel=1e-12)


@pytest.mark.parametrize("n", [2, 7, 300])
def test_steps_are_the_definition(n: int) -> None:
    """In the middle of every step, the curve is the observable diameter of that alpha."""
    result = geodim.intrinsic_dimension(RNG.normal(size=(n, 3)))
    alpha, diameter = observable_diameter_steps(result)
    for left, right, low in zip(alpha[::2], alpha[1::2], diameter[::2], strict=True):
        assert low == pytest.approx(result.observable_diameter((left + right) / 2.0), rel=1e-12)


def test_a_hundred_million_points() -> None:
    """As read back from JSON: some of Phi is held.

    Here of evenly spaced points, for which Phi(k) is (k-1)/(n-1).
    """
    n = 10**8
    support = np.unique(np.linspace(2, n, 2049).astype(np.int64))
    phi = (support - 1) / (n - 1)
    result = geodim.IDResult(
        n_points=n, n_features=1, normalized=True, d_max=1.0, discriminability=0.5,
        discriminability_lower=0.5, discriminability_upper=0.5, support=support, phi_lower=phi, phi_upper=phi,
        shares={"0": 1.0}, exact=True,
    )  # fmt: skip
    ax = plot_observable_diameter(result)
    assert shaded_area(ax) == pytest.approx(0.5, rel=1e-9)
    alpha, diameter = vertices(ax)
    assert len(alpha) <= 2000
    assert np.max(np.abs(diameter - (1.0 - alpha))) < 2e-3
    assert diameter[0] == 1.0
    assert "100,000,000 points × 1 feature" in ax.get_title(loc="left")


def test_a_result_from_json_keeps_its_area() -> None:
    result = geodim.intrinsic_dimension(RNG.normal(size=(20_000, 2)))
    again = geodim.IDResult.from_json(result.to_json())
    assert again.support.size < result.support.size
    assert shaded_area(plot_observable_diameter(again)) == pytest.approx(result.discriminability, rel=0.01)


def test_words() -> None:
    ax = plot_observable_diameter(geodim.intrinsic_dimension(np.eye(10)))
    assert ax.get_title(loc="left") == "intrinsic dimension 100\n10 points × 10 features"
    assert ax.get_xlabel() == r"$\alpha$, share of points left out"
    assert "observable diameter" in ax.get_ylabel()
    assert "d_{\\max}" in ax.get_ylabel()
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["area Δ = 0.1"]
    raw = plot_observable_diameter(geodim.intrinsic_dimension(np.eye(10), normalize=False))
    assert "units of the data" in raw.get_ylabel()


def test_bounds_are_a_band() -> None:
    X = RNG.normal(size=(3000, 5))
    with pytest.warns(InterruptedWarning):
        stopped = geodim.intrinsic_dimension(X, time_limit=0.0)
    for result in (
        stopped,
        geodim.intrinsic_dimension(X, rtol=0.2),
        geodim.intrinsic_dimension(X, rtol=1e-4),
    ):
        ax = plot_observable_diameter(result)
        assert [one.get_label() for one in ax.collections][-1] == "certified bounds"
        area = (result.discriminability_lower + result.discriminability_upper) / 2.0
        assert shaded_area(ax) == pytest.approx(area, rel=1e-9)
        _, low = observable_diameter_steps(result, "phi_lower")
        alpha, high = observable_diameter_steps(result, "phi_upper")
        assert np.all(low <= high)
        assert np.trapezoid(high - low, alpha) == pytest.approx(
            result.discriminability_upper - result.discriminability_lower, rel=1e-9
        )
        words = "at least {:.4g}" if result.upper == np.inf else "{:.4g} to "
        assert ax.get_title(loc="left").startswith("intrinsic dimension " + words.format(result.lower))
        alpha, diameter = vertices(ax)
        assert np.all(low <= diameter)
        assert np.all(diameter <= high)
        assert "certified bounds" in [text.get_text() for text in ax.get_legend().get_texts()]


@pytest.mark.parametrize("X", [[[1.0]], [[1.0], [1.0]], [[2.0, 3.0]] * 5])
def test_degenerate_data_is_a_flat_line(X: list[list[float]]) -> None:
    with pytest.warns(DegenerateDataWarning):
        result = geodim.intrinsic_dimension(X)
    ax = plot_observable_diameter(result)
    assert not vertices(ax)[1].any()
    assert "∞" in ax.get_title(loc="left")


def test_huge_values_do_not_overflow() -> None:
    result = geodim.intrinsic_dimension(np.linspace(0.0, 1.5e308, 4000)[:, np.newaxis])
    assert shaded_area(plot_observable_diameter(result)) == pytest.approx(0.5, rel=1e-3)


def test_several_results_in_the_same_axes() -> None:
    ax = matplotlib.figure.Figure().add_subplot()
    one = geodim.intrinsic_dimension(RNG.normal(size=(50, 2)) * 10.0, normalize=False)
    two = geodim.intrinsic_dimension(RNG.normal(size=(50, 2)), normalize=False)
    assert plot_observable_diameter(one, ax=ax, label="wide") is ax
    two.plot(ax=ax, label="narrow", color="#D55E00", title="both")
    assert ax.get_title(loc="left") == "both"
    assert ax.get_ylim()[1] > one.d_max
    assert [text.get_text().split(",")[0] for text in ax.get_legend().get_texts()] == ["wide", "narrow"]


def test_pyplot_is_left_alone() -> None:
    code = (
        "import sys, numpy, geodim\n"
        "ax = geodim.intrinsic_dimension(numpy.eye(5)).plot()\n"
        "assert 'matplotlib.pyplot' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-W", "error", "-c", code], check=True, timeout=60)


class TestSaving:
    result = geodim.intrinsic_dimension(np.eye(6))

    def test_file(self, tmp_path: Path) -> None:
        save_plot(self.result, tmp_path / "curve.png", title="mine")
        assert (tmp_path / "curve.png").read_bytes().startswith(b"\x89PNG")
        assert [path.name for path in tmp_path.iterdir()] == ["curve.png"]

    def test_errors(self, tmp_path: Path) -> None:
        with pytest.raises(InputValueError, match=r"\.png, \.pdf, \.svg"):
            save_plot(self.result, tmp_path / "curve.bmp")
        with pytest.raises(DataFileError, match="no folder"):
            save_plot(self.result, tmp_path / "none" / "curve.png")


class TestColours:
    """The area has the colour of the feature that attains it."""

    X = np.stack([np.r_[np.zeros(50), np.arange(50.0)], np.linspace(0.0, 30.0, 100)], axis=1)

    def test_every_feature_has_its_part(self) -> None:
        """The areas of the colours are the shares, which are the sums over the sizes each feature attains."""
        result = geodim.intrinsic_dimension(self.X, feature_names=["late", "even"])
        ax = plot_observable_diameter(result)
        words = [text.get_text() for text in ax.get_legend().get_texts()]
        assert words == [f"{name}, {100 * share:.1f} %" for name, share in result.shares.items()]
        assert ax.get_legend().get_title().get_text().startswith("area Δ =")
        for collection, share in zip(ax.collections, result.shares.values(), strict=False):
            area = sum(
                abs(float(np.sum(x * np.roll(y, -1) - y * np.roll(x, -1)))) / 2.0
                for x, y in (path.vertices.T for path in collection.get_paths())
            )
            assert area == pytest.approx(share * result.discriminability, rel=1e-9)

    def test_one_colour_on_request(self) -> None:
        result = geodim.intrinsic_dimension(self.X)
        for options in ({"color": "#D55E00"}, {"label": "one"}, {"by_feature": False}):
            assert len(plot_observable_diameter(result, **options).collections) == 1

    def test_a_result_that_does_not_know(self) -> None:
        values = geodim.intrinsic_dimension(self.X).to_dict()
        values |= {"format": "geodim.IDResult/1"}
        del values["attained_from"], values["attained_by"]
        assert len(plot_observable_diameter(geodim.IDResult.from_dict(values)).collections) == 1

    def test_narrow_axes_have_fewer_words(self) -> None:
        points, others = np.arange(400)[:, np.newaxis], np.array([20, 50, 80, 110, 140, 170])
        result = geodim.intrinsic_dimension((points < others) / others)  # each is the widest somewhere
        assert len(result.shares) == len(others)
        wide, narrow = (
            plot_observable_diameter(result, matplotlib.figure.Figure(figsize=size).add_subplot())
            for size in ((6.0, 4.0), (3.0, 2.5))
        )
        assert len(narrow.get_legend().get_texts()) < len(wide.get_legend().get_texts()) <= 7

    @pytest.mark.parametrize("name", ["$x$", "a\nb", "<script>", "", "x" * 200, "\x00", "_hidden"])
    def test_unusual_names_are_drawn(self, name: str) -> None:
        """Warnings are errors: no formula, no missing character, no name that hides itself."""
        result = geodim.intrinsic_dimension(self.X, feature_names=[name, "other"])
        ax = plot_observable_diameter(result)
        ax.figure.canvas.draw()
        assert len(ax.get_legend().get_texts()) == 2


def test_no_upper_bound() -> None:
    """A pass that was stopped may know nothing from above: the band is open there."""
    with pytest.warns(InterruptedWarning):
        stopped = geodim.khop_dimensions(
            RNG.normal(size=(50, 2)), [(0, 1), (1, 2)], hops=1, operator="heat", time_limit=0
        )
    for result in stopped:
        ax = plot_observable_diameter(result)
        ax.figure.canvas.draw()
        assert np.all(np.isfinite(ax.get_ylim()))


def test_a_million_points_keep_their_jumps() -> None:
    """Steps are grouped by the error that leaves.

    A jump stays where it is, however few vertices there are.
    """
    n = 10**6
    X = np.r_[np.zeros(n // 2), np.full(n // 4, 0.5), np.full(n - n // 2 - n // 4, 1.0)][:, np.newaxis]
    result = geodim.intrinsic_dimension(X)
    alpha, diameter = vertices(plot_observable_diameter(result))
    assert len(alpha) <= 2000
    assert shaded_area(plot_observable_diameter(result)) == pytest.approx(result.discriminability, rel=1e-12)
    for at in (0.1, 0.2499, 0.2501, 0.4999, 0.5001, 0.9):
        step = np.searchsorted(alpha, at) - 1
        assert diameter[step] == pytest.approx(result.observable_diameter(at), abs=1e-6)


def test_a_share_that_the_tie_rule_gave_is_marked() -> None:
    """Two equal columns: the first has a share, and without it nothing would change."""
    column, narrow = np.arange(9.0), np.array([0.0] * 7 + [8.0, 8.0])
    X = np.stack([column, column, narrow], axis=1)
    plain = plot_observable_diameter(geodim.intrinsic_dimension(X), by_feature=True)
    known = plot_observable_diameter(geodim.intrinsic_dimension(X, removal=True), by_feature=True)
    result = geodim.intrinsic_dimension(X, removal=True)
    assert result.removal is not None
    assert result.removal.spare == {"0"}
    labels = [text.get_text() for ax in (plain, known) for text in ax.get_legend().get_texts()]
    assert [label.endswith("(tied)") for label in labels].count(True) == 1
