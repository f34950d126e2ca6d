"""Reference marks against drawn columns, and where results stand among them."""

from __future__ import annotations

import math

import numpy as np
import pytest
from sklearn import datasets

import geodim
from geodim.gauge import Gauge, Mark, reference_marks
from geodim.gauge.laws import LAWS, median_reach


class TestMarks:
    @pytest.mark.turns(4)
    @pytest.mark.parametrize("name", list(LAWS))
    @pytest.mark.parametrize(("n", "d"), [(15, 1), (40, 7), (250, 3), (2500, 20)])
    def test_columns_of_the_law_have_the_dimension(self, name, n, d):
        rng = np.random.default_rng([n, d])
        found = [geodim.intrinsic_dimension(LAWS[name].draw(rng, (n, d))).dimension for _ in range(25)]
        mark = {mark.name: mark.dimension for mark in reference_marks(n, d)}[name]
        assert np.quantile(found, 0.25) < mark < np.quantile(found, 0.75) or mark == pytest.approx(
            np.median(found), rel=0.06
        )

    @pytest.mark.parametrize("name", list(LAWS))
    def test_columns_by_their_own_range(self, name):
        rng = np.random.default_rng(3)
        found = [
            geodim.intrinsic_dimension(LAWS[name].draw(rng, (400, 25)), scale="range") for _ in range(15)
        ]
        dimensions = [result.dimension for result in found]
        assert found[0].gauge.mark(name) == pytest.approx(np.median(dimensions), rel=0.08)
        assert 3.5 < dict(reference_marks(10**9, 5, "range"))[name] < 1000.0

    def test_scales(self):
        X = np.random.default_rng(0).normal(size=(50, 3))
        for scale, count in (("std", 4), ("iqr", 4), ("range", 4), ("rank", 1)):
            assert len(geodim.intrinsic_dimension(X, scale=scale).gauge.marks) == count
        assert geodim.intrinsic_dimension(X, scale=2.0).gauge is None

    @pytest.mark.turns(3)
    @pytest.mark.parametrize("name", list(LAWS))
    @pytest.mark.parametrize(("n", "d"), [(2, 1), (12, 5), (300, 2)])
    def test_the_reach(self, name, n, d):
        rng = np.random.default_rng(5)
        law = LAWS[name]
        found = np.array([np.ptp(law.draw(rng, (n, d)), axis=0).max() for _ in range(4000)])
        below = np.mean(found < median_reach(law, n, d))
        assert abs(below - 0.5) < 4 * 0.5 / math.sqrt(4000)

    def test_known_limits(self):
        marks = dict(reference_marks(10**9, 3))
        assert marks["evenly spaced"] == 4.0
        assert marks["uniform"] == pytest.approx(4.0, rel=1e-3)
        # pi ln n and (ln n)^2, both to leading order.
        assert 0.8 < marks["normal"] / (math.pi * math.log(3e9)) < 1.2
        assert 0.8 < marks["Laplace"] / math.log(3e9) ** 2 < 1.2

    def test_they_grow_with_points_and_tails(self):
        before = None
        for n in (5, 30, 100, 10**4, 10**6, 10**10):
            marks = dict(reference_marks(n, 10))
            assert marks["uniform"] < marks["normal"] < marks["Laplace"]
            assert before is None or marks["normal"] > before
            before = marks["normal"]

    def test_any_size(self):
        assert [mark.name for mark in reference_marks(2, 1)] == ["evenly spaced"]
        for n, d in ((3, 1), (3, 10**7), (10**12, 1), (100, 10**6)):
            assert all(1.0 < mark.dimension < 1e6 for mark in reference_marks(n, d))


class TestWhereResultsStand:
    @pytest.mark.parametrize(
        ("draw", "level"),
        [
            (lambda rng: np.column_stack([rng.random(500), np.arange(500) % 2]), "lowest"),
            (lambda rng: rng.random((500, 4)), "low"),
            (lambda rng: rng.normal(size=(500, 4)), "normal"),
            (lambda rng: rng.laplace(size=(500, 4)), "Laplace"),
            (lambda rng: rng.standard_t(1.0, (500, 4)), "highest"),
        ],
    )
    def test_levels(self, draw, level):
        gauge = geodim.intrinsic_dimension(draw(np.random.default_rng(2))).gauge
        assert gauge.level == level
        assert gauge.verdict.endswith(".")
        assert gauge.to_dict()["level"] == level

    def test_digits(self):
        gauge = geodim.intrinsic_dimension(datasets.load_digits().data).gauge
        assert gauge.line.startswith("[3.909] < evenly spaced 4")
        assert gauge.verdict.startswith("3.909 is low: the best features spread the points")

    def test_bounds_that_leave_it_open(self):
        marks = (
            Mark("evenly spaced", 4.0),
            Mark("uniform", 4.1),
            Mark("normal", 20.0),
            Mark("Laplace", 70.0),
        )
        assert Gauge(10.0, 3.9, 30.0, marks, 100, 4).level == "unknown"
        assert "3.9 – 30" in Gauge(10.0, 3.9, 30.0, marks, 100, 4).verdict
        assert Gauge(20.0, 19.9, 20.1, marks, 100, 4).level == "normal"
        # At the edge between two levels, but no more than a little to either side of it.
        assert Gauge(25.0, 24.0, 26.0, marks, 100, 4).level == "normal"

    def test_where_there_is_none(self):
        X = np.random.default_rng(0).normal(size=(50, 3))
        assert geodim.intrinsic_dimension(X, normalize=False).gauge is None
        with pytest.warns(geodim.errors.InterruptedWarning):
            stopped = geodim.intrinsic_dimension(X, time_limit=0.0)
        assert (stopped.gauge is None) == (stopped.upper == math.inf)
        with pytest.warns(geodim.errors.DegenerateDataWarning):
            assert geodim.intrinsic_dimension(np.ones((4, 2))).gauge is None

    def test_features_that_are_no_columns(self):
        X = np.random.default_rng(0).normal(size=(50, 3))
        gauge = geodim.intrinsic_dimension(X, features="distances").gauge
        assert [mark.name for mark in gauge.marks] == ["evenly spaced"]
        assert gauge.verdict.endswith("Evenly spaced values have 4.")

    def test_in_a_notebook(self):
        X = np.random.default_rng(0).normal(size=(50, 3))
        assert "evenly spaced 4 &lt; uniform" in geodim.intrinsic_dimension(X)._repr_html_()
