"""Data sets compared: verdicts where they are due, and reasons where they are not."""

from __future__ import annotations

import json

import numpy as np
import pytest
from sklearn import datasets

import geodim
from geodim.errors import InputTypeError, InputValueError
from geodim.sampling.comparison import Comparison, Verdict, differences, not_comparable

RNG = np.random.default_rng(6)
UNIFORM = RNG.random((300, 4))
NORMAL = RNG.normal(size=(500, 4))


def verdict(one, other, **options):
    return geodim.compare({"one": one, "other": other}, **options).verdicts[0]


class TestVerdicts:
    def test_lower_and_higher(self):
        assert verdict(UNIFORM, NORMAL).word == "lower"
        found = verdict(NORMAL, UNIFORM)
        assert found.word == "higher"
        assert "150 points, and so in 20 of 20 draws" in found.why

    def test_samples_of_one_law_are_not_told_apart(self):
        """However different the numbers of points: at equal ones they are alike."""
        rng = np.random.default_rng(2)
        few, many = rng.normal(size=(300, 4)), rng.normal(size=(6000, 4))
        assert geodim.intrinsic_dimension(many).dimension > 1.3 * geodim.intrinsic_dimension(few).dimension
        assert verdict(few, many).word == "not distinguishable"

    def test_the_same_points_part_by_part(self):
        """A little lower in every part is lower, though the parts scatter by more than that."""
        wider = NORMAL.copy()
        wider[np.abs(wider) < 0.05] = 0.05
        found = geodim.compare({"as it is": NORMAL, "wider": NORMAL * 0.999 + 0.001 * np.sign(NORMAL)})
        scatter = found.rows()[0]["greatest"] / found.rows()[0]["least"]
        ratio = found.medians[0] / found.medians[1]
        assert scatter > 1.1 > ratio > 1.0
        assert found.verdicts[0].word == "higher"

    def test_equal_data(self):
        found = verdict(NORMAL, NORMAL.copy())
        assert found.word == "not distinguishable"
        assert "the same in every draw" in found.why

    def test_columns_in_another_unit(self):
        assert verdict(NORMAL, 1000.0 * NORMAL).word == "not distinguishable"
        assert verdict(NORMAL, 1000.0 * NORMAL, scale="none").word == "higher"

    def test_bounds_that_overlap_decide_nothing(self):
        near = NORMAL * [1.0, 1.0, 1.0, 0.98]
        assert verdict(NORMAL, near, rtol=0.2).word == "not distinguishable"

    def test_several(self):
        found = geodim.compare([UNIFORM, NORMAL, NORMAL**3], names=["a", "b", "c"], repeats=5)
        assert [(one.first, one.second, one.word) for one in found.verdicts] == [
            ("a", "b", "lower"),
            ("a", "c", "lower"),
            ("b", "c", "lower"),
        ]


class TestNotComparable:
    def test_a_typo(self):
        typo = NORMAL.copy()
        typo[7, 2] = 1e4
        found = verdict(UNIFORM, typo)
        assert found.word == "not comparable"
        assert "other has a warning (outliers)" in found.why

    def test_units(self):
        cancer = datasets.load_breast_cancer().data
        assert verdict(cancer, NORMAL).word == "not comparable"
        assert verdict(cancer, NORMAL, scale="range").word in ("lower", "higher", "not distinguishable")

    def test_results_made_otherwise(self):
        one, other = geodim.intrinsic_dimension(NORMAL), geodim.intrinsic_dimension(NORMAL, scale="none")
        assert "scale (global and none)" in not_comparable([one, other], ["a", "b"])
        family = geodim.intrinsic_dimension(NORMAL, features="distances")
        assert "kind of features (columns and distances)" in not_comparable([one, family], ["a", "b"])
        fewer = geodim.intrinsic_dimension(NORMAL[:100])
        assert "different numbers of points" in not_comparable([one, fewer], ["a", "b"])
        assert not_comparable([one, fewer], ["a", "b"], points=50) == ""
        assert "too small" in not_comparable([one, fewer], ["a", "b"], points=4)

    def test_all_points_equal(self):
        with pytest.warns(geodim.errors.DegenerateDataWarning):
            found = verdict(np.ones((40, 2)), NORMAL)
        assert found.word == "not comparable"
        assert "all-equal" in found.why


class TestWhatDiffers:
    def test_it_is_said(self):
        found = geodim.compare({"a": UNIFORM, "b": NORMAL}, repeats=2)
        assert [what for what, _ in found.differences] == ["points", "largest range", "leading feature"]
        assert dict(found.differences)["points"] == ["300", "500"]

    def test_everything(self):
        one = geodim.intrinsic_dimension(UNIFORM)
        other = geodim.intrinsic_dimension(NORMAL[:, :2], rtol=0.1, scale="none")
        texts = dict(differences([one, other]))
        assert texts["features"] == ["4", "2"]
        assert texts["scale"] == ["global", "none"]
        assert texts["known"][0] == "exactly"
        assert texts["known"][1].startswith("to ")
        assert texts["warnings"] == ["none", "none"]


class TestForms:
    def test_points_and_seed(self):
        found = geodim.compare([UNIFORM, NORMAL], points=80, repeats=3, seed=5)
        assert found.points == 80
        rows = np.sort(np.random.default_rng([5, 2]).choice(500, 80, replace=False))
        part = geodim.intrinsic_dimension(NORMAL[rows])
        assert found.samples[1][2] == (part.lower, part.upper)
        assert found.names == ["data 1", "data 2"]

    def test_json(self, tmp_path):
        found = geodim.compare({"a": UNIFORM, "b": NORMAL}, repeats=2)
        found.to_json(tmp_path / "c.json")
        values = json.loads((tmp_path / "c.json").read_text())
        assert values["format"] == "geodim.Comparison/2"
        assert values["verdicts"][0]["verdict"] == found.verdicts[0].word
        assert [row["n_points"] for row in values["data"]] == [300, 500]

    def test_shown(self):
        found = geodim.compare({"<a>": UNIFORM, "b": NORMAL}, repeats=2)
        assert isinstance(found, Comparison)
        assert repr(found) == "Comparison(<a> lower b)"
        assert str(found).startswith("<a> is lower than b: ")
        html = found._repr_html_()
        assert "&lt;a&gt; is lower than b" in html
        assert "<a>" not in html
        assert str(Verdict("a", "b", "not comparable", "why.")) == "a and b are not comparable: why."

    @pytest.mark.parametrize(
        ("data", "options", "error"),
        [
            ([NORMAL], {}, "two or more"),
            ({}, {}, "two or more"),
            (NORMAL, {}, "is one data set"),
            ([NORMAL, NORMAL], {"names": ["a"]}, "2 different names"),
            ([NORMAL, NORMAL], {"names": ["a", "a"]}, "2 different names"),
            ({"a": NORMAL, "b": NORMAL}, {"names": ["a", "b"]}, "names already"),
            ([NORMAL, UNIFORM], {"points": 301}, "points"),
            ([NORMAL, UNIFORM], {"repeats": 0}, "repeats"),
        ],
    )
    def test_errors(self, data, options, error):
        with pytest.raises((InputValueError, InputTypeError), match=error):
            geodim.compare(data, **options)
