"""The data's own columns, shuffled, as a reference mark."""

import json

import numpy as np
import pytest

import geodim
from cli.running import called
from geodim.errors import InputValueError, ShapeError

RNG = np.random.default_rng(4)
LINE = RNG.random((80, 1)) * np.array([[1.0, 0.7, 0.4]])


@pytest.mark.parametrize("features", ["distances", "directions"])
def test_is_the_dimension_of_shuffled_columns(features):
    result = geodim.shuffled_reference(LINE, features=features, repeats=2, seed=9)
    rng = np.random.default_rng(9)
    expected = [
        geodim.intrinsic_dimension(rng.permuted(LINE, axis=0), features=features).dimension for _ in range(2)
    ]
    assert result.parameters["shuffled"] == expected
    plain = geodim.intrinsic_dimension(LINE, features=features)
    assert (result.dimension, result.lower, result.upper) == (plain.dimension, plain.lower, plain.upper)
    assert result.gauge.mark("own columns shuffled") == pytest.approx(np.mean(expected))
    assert "own columns shuffled" in result.gauge.line
    assert "each shuffled" in result.gauge.verdict
    assert plain.gauge.mark("own columns shuffled") is None


def test_a_line_has_a_lower_dimension_than_its_columns_shuffled():
    """Points on a line are told apart by their distances as far as the line is long; a cloud's are alike."""
    result = geodim.shuffled_reference(LINE, features="distances")
    assert result.dimension < min(result.parameters["shuffled"])


def test_independent_columns_have_the_same_but_for_chance():
    X = np.random.default_rng(5).random((500, 3))
    result = geodim.shuffled_reference(X, features="distances", repeats=5)
    assert result.dimension == pytest.approx(result.gauge.mark("own columns shuffled"), rel=0.25)


def test_json_and_the_command_line(tmp_path):
    np.save(tmp_path / "line.npy", LINE)
    ended = called("compute", tmp_path / "line.npy", "--features", "distances", "--shuffled", 2, "--json",
                   tmp_path / "r.json")  # fmt: skip
    assert ended.code == 0
    expected = geodim.shuffled_reference(LINE, features="distances", repeats=2)
    assert ended.json["gauge"]["marks"]["own columns shuffled"] == expected.gauge.mark("own columns shuffled")
    again = geodim.IDResult.from_json((tmp_path / "r.json").read_text())
    assert again.gauge.line == expected.gauge.line
    assert json.loads((tmp_path / "r.json").read_text())["parameters"]["shuffled"]


def test_refusals(tmp_path):
    with pytest.raises(InputValueError, match="however each is shuffled"):
        geodim.shuffled_reference(LINE)
    with pytest.raises(ShapeError, match="points with coordinates"):
        geodim.shuffled_reference(np.eye(4), features="distances", metric="precomputed")
    np.save(tmp_path / "line.npy", LINE)
    ended = called("compute", tmp_path / "line.npy", "--shuffled", 2)
    assert ended.code == 2
    assert "--shuffled" in ended.err
