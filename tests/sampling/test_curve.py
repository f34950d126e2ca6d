"""The dimension against the number of points: exact parts, and verdicts that the theory knows."""

from __future__ import annotations

import json
import math

import numpy as np
import pandas as pd
import pytest
import scipy.sparse

import geodim
from geodim.errors import InputTypeError, InputValueError
from geodim.sampling.curve import SampleCurve

RNG = np.random.default_rng(4)
UNIFORM = RNG.random((12_000, 3))
NORMAL = RNG.normal(size=(2000, 3))


class TestVerdicts:
    def test_bounded_features_settle(self):
        curve = geodim.subsampled_dimensions(UNIFORM, repeats=6)
        assert curve.verdict == "settled"
        assert abs(curve.growth) < 0.025
        assert "has settled" in curve.text

    @pytest.mark.turns(2)
    @pytest.mark.parametrize(
        ("draw", "least"),
        [
            (lambda rng: rng.normal(size=(3000, 4)), 0.04),  # about pi ln n: 8 % with a doubling
            (lambda rng: rng.laplace(size=(3000, 4)), 0.1),  # (ln n)^2: 17 %
            (lambda rng: rng.standard_t(2.0, (3000, 4)), 0.4),  # n: 100 %
        ],
        ids=["normal", "Laplace", "t"],
    )
    def test_tails_make_it_grow(self, draw, least):
        curve = geodim.subsampled_dimensions(draw(np.random.default_rng(1)), repeats=10)
        assert curve.verdict == "grows"
        assert curve.growth > least
        assert "further out" in curve.text
        assert "the largest range grows by" in curve.text

    def test_ranks_settle_whatever_the_law(self):
        X = np.random.default_rng(1).standard_t(1.0, (1000, 2))
        curve = geodim.subsampled_dimensions(X, scale="rank")
        assert curve.verdict == "settled"
        assert curve.medians[-1] == pytest.approx(4.0, rel=0.01)

    def test_few_points_fall_to_their_limit(self):
        sizes, falling = [10, 20, 40, 80], [8.0, 6.5, 5.6, 5.0]
        some = [[value, value * 1.001] for value in falling]
        curve = SampleCurve(sizes, some, [[1.0, 1.0]] * 4, some, normalized=True)
        assert curve.verdict == "falls"
        assert "by chance" in curve.text

    def test_scatter_decides_nothing(self):
        wild = [[3.0, 90.0, 8.0], [70.0, 2.0, 9.0], [2.0, 80.0, 10.0]]
        curve = SampleCurve([10, 20, 40], wild, wild, wild, normalized=True)
        assert curve.verdict == "unclear"
        assert "scatter too much" in curve.text

    def test_infinite_dimensions(self):
        X = np.zeros((200, 1))
        X[0] = 1.0
        curve = geodim.subsampled_dimensions(X, repeats=3)
        assert curve.verdict == "unclear"
        assert math.isinf(max(map(max, curve.dimensions)))
        json.dumps(curve.to_dict(), allow_nan=False)


class TestParts:
    def test_each_is_exact(self):
        curve = geodim.subsampled_dimensions(NORMAL, sizes=[100, 700], repeats=3, seed=9)
        assert curve.sizes == [100, 700, 2000]
        assert curve.dimensions[-1] == [geodim.intrinsic_dimension(NORMAL).dimension]
        rows = np.sort(np.random.default_rng([9, 700, 1]).choice(2000, 700, replace=False))
        part = geodim.intrinsic_dimension(NORMAL[rows])
        assert curve.dimensions[1][1] == part.dimension
        assert curve.ranges[1][1] == part.d_max
        assert curve.windows[1][1] == part.discriminability * part.d_max

    def test_the_seed_decides(self):
        options = {"sizes": [50], "repeats": 2}
        one, same, other = (
            geodim.subsampled_dimensions(NORMAL, seed=seed, **options).dimensions for seed in (1, 1, 2)
        )
        assert one == same != other

    @pytest.mark.parametrize(
        "make",
        [
            lambda X: X.tolist(),
            scipy.sparse.csc_array,
            lambda X: pd.DataFrame(X, columns=list("abc")),
            np.asfortranarray,
        ],
        ids=["list", "sparse", "frame", "columns"],
    )
    def test_data_of_any_kind(self, make):
        X = NORMAL[:200]
        options = {"sizes": [60, 120], "repeats": 2}
        expected = geodim.subsampled_dimensions(X, **options)
        assert geodim.subsampled_dimensions(make(X), **options).dimensions == expected.dimensions

    def test_tensors(self):
        torch = pytest.importorskip("torch", reason="PyTorch is not installed")
        X = NORMAL[:200]
        expected = geodim.subsampled_dimensions(X, sizes=[60], repeats=2)
        found = geodim.subsampled_dimensions(torch.from_numpy(X), sizes=[60], repeats=2)
        assert found.dimensions == expected.dimensions

    def test_distances_and_a_matrix_of_them(self):
        X = NORMAL[:120]
        matrix = np.sqrt(((X[:, np.newaxis] - X) ** 2).sum(axis=2))
        options = {"sizes": [40], "repeats": 2, "features": "distances"}
        one = geodim.subsampled_dimensions(X, **options)
        other = geodim.subsampled_dimensions(matrix, metric="precomputed", **options)
        np.testing.assert_allclose(one.dimensions[0], other.dimensions[0], rtol=1e-9)

    def test_default_sizes(self):
        assert geodim.subsampled_dimensions(NORMAL[:100], repeats=1).sizes == [25, 50, 100]
        many = np.arange(30_000.0)[:, np.newaxis]
        assert geodim.subsampled_dimensions(many, repeats=1).sizes[-2:] == [3750, 30_000]

    def test_progress_counts_parts(self):
        seen = []
        geodim.subsampled_dimensions(
            NORMAL, sizes=[50, 60], repeats=2, progress=lambda done, of: seen.append((done, of))
        )
        assert seen == [(1, 4), (2, 4), (3, 4), (4, 4)]

    @pytest.mark.parametrize(
        ("data", "options", "error"),
        [
            (NORMAL[:30], {}, "too few"),
            (NORMAL, {"sizes": []}, "at least one size"),
            (NORMAL, {"sizes": [2000]}, "1,999"),
            (NORMAL, {"repeats": 0}, "repeats"),
            (NORMAL, {"seed": -1}, "seed"),
            (NORMAL, {"features": "distances", "landmarks": [1, 2]}, "landmarks"),
            ("points.npy", {}, "name of a file"),
            (3.0, {}, "no points"),
        ],
    )
    def test_errors(self, data, options, error):
        with pytest.raises((InputValueError, InputTypeError), match=error):
            geodim.subsampled_dimensions(data, **options)


class TestOfResults:
    def test_as_it_was_computed(self):
        result = geodim.intrinsic_dimension(NORMAL, scale="none")
        options = {"repeats": 2, "sizes": [100]}
        curve = result.subsampled(**options)
        assert curve == geodim.subsampled_dimensions(NORMAL, scale="none", whole=result, **options)
        assert not curve.normalized

    def test_data_that_is_gone(self):
        result = geodim.IDResult.from_json(geodim.intrinsic_dimension(NORMAL).to_json())
        with pytest.raises(InputValueError, match="not available"):
            result.subsampled()
        assert result.subsampled(NORMAL, sizes=[50], repeats=1).sizes == [50, 2000]

    def test_units_of_columns_are_found_anew(self):
        result = geodim.intrinsic_dimension(NORMAL, scale="range")
        found = result.subsampled(NORMAL, sizes=[50], repeats=2)
        assert (
            found.dimensions[0]
            == geodim.subsampled_dimensions(NORMAL, scale="range", sizes=[50], repeats=2).dimensions[0]
        )

    def test_what_is_not_drawn_from(self):
        with pytest.raises(InputValueError, match="not columns"):
            geodim.intrinsic_dimension(NORMAL[:50], features="distances").subsampled()
        weighted = geodim.intrinsic_dimension(NORMAL[:50], weights=np.full(50, 2))
        with pytest.raises(InputValueError, match="weights"):
            weighted.subsampled()


def test_shown_and_written():
    curve = geodim.subsampled_dimensions(NORMAL, sizes=[50, 400], repeats=2)
    assert repr(curve).startswith(f"SampleCurve({curve.verdict}; 50: ")
    html = curve._repr_html_()
    assert html.count("<tr>") == 4
    values = json.loads(json.dumps(curve.to_dict(), allow_nan=False))
    assert values["format"] == "geodim.SampleCurve/1"
    assert values["verdict"] == curve.verdict
    assert [row["points"] for row in curve.rows()] == [50, 400, 2000]
