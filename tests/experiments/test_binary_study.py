"""The study of binary data: its data, shuffled columns, and sums over rows whose answers are known."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import geodim
from geodim.experiments import get_experiment
from geodim.experiments.baskets import transactions
from geodim.experiments.binary_data import DATA, columns_apart, missing_data, open_data
from geodim.experiments.binary_study import EXPERIMENT, agreement, agreement_beyond_density, summary, units
from geodim.experiments.experiment import Context, Options, StoppedError

RNG = np.random.default_rng(0)


def row(name: str, value: float, normalized: float, density: float, **more: object) -> dict[str, object]:
    return {
        "data": name, "support": 1, "lower": value, "upper": value, "exact": True, "finished": True,
        "objects": 10, "attributes": 20, "density": density, "normalized": normalized, "correlation": 1.0,
        "shuffled_lower": 2 * value, "shuffled_upper": 2 * value, **more,
    }  # fmt: skip


def test_it_has_a_name():
    assert get_experiment("binary") is EXPERIMENT
    assert {unit.key["data"] for unit in units(Options())} == set(DATA)
    assert len(units(Options(quick=True))) < len(DATA)


@pytest.mark.parametrize("name", ["digits", "breast cancer", "baskets", "independent columns", "cora"])
def test_data_are_of_the_stated_size(name):
    pytest.importorskip("sklearn")
    X = open_data(name, Options())
    assert X.shape == (DATA[name].objects, DATA[name].attributes)
    assert X.dtype == bool
    assert missing_data(name, Options()) is None


def test_data_that_is_not_here():
    assert "geodim reproduce binary --root" in str(missing_data("texas", Options(root=Path("nowhere"))))


def test_columns_apart_keep_their_counts_and_nothing_else():
    X = np.repeat(RNG.random((200, 1)) < 0.3, 5, axis=1)
    apart = columns_apart(X)
    assert apart.sum(axis=0).tolist() == X.sum(axis=0).tolist()
    assert np.all(apart.toarray().sum(axis=1) <= 5)
    together = (apart.toarray().sum(axis=1) == 5).sum()
    assert together < 20  # 0.3^5 of 200, not 60
    assert (columns_apart(X) != apart).nnz == 0


def test_baskets_have_patterns():
    X = transactions(2_000, 100, patterns=50)
    apart = columns_apart(X)
    assert 5 < X.sum() / 2_000 < 15
    assert (
        geodim.binary_dimension(X, min_support=20).upper
        < geodim.binary_dimension(apart, min_support=20).lower
    )
    assert (transactions(2_000, 100, patterns=50) != X).nnz == 0


def test_sums():
    found = [row(f"d{at}", 10.0**at, 2.0 * at, 1 / (at + 1)) for at in range(1, 7)]
    found.append(row("d1", 5.0, 2.0, 0.5, support=9, upper=500.0))  # a larger support does not count
    some = summary(found)
    assert len(some) == 6
    assert some[0]["dimension"] == pytest.approx(10.0)
    assert [one["relative"] for one in some] == pytest.approx([0.5] * 6)
    found[2]["lower"], found[2]["upper"], found[2]["exact"] = 900.0, 1600.0, False
    assert summary(found)[2]["dimension"] == pytest.approx(1200.0)
    said = agreement(found)
    assert said["both dimensions"][:2] == (6, pytest.approx(1.0))
    assert said["both dimensions, exact"][0] == 5
    assert np.isnan(said["both, relative, exact"][1])  # all alike, and too few
    assert said["by concepts, density"][1] == pytest.approx(-1.0)


def test_density_is_taken_out():
    """By the formula of a partial correlation, from ranks of its own."""
    values = RNG.random((12, 3))
    found = [row(f"d{at}", *one) for at, one in enumerate(values.tolist())]
    ranks = values.argsort(axis=0).argsort(axis=0).astype(float)
    x, y, z = (ranks - ranks.mean(axis=0)).T
    left, right = x - z * (x @ z) / (z @ z), y - z * (y @ z) / (z @ z)
    expected = left @ right / np.sqrt(left @ left * (right @ right))
    assert agreement_beyond_density(found) == pytest.approx(expected, abs=1e-12)


def test_rows_of_a_small_unit(tmp_path):
    pytest.importorskip("sklearn")
    unit = next(unit for unit in units(Options(quick=True)) if unit.key["data"] == "breast cancer")
    found = [{**unit.key, **one} for one in unit.work(Context(Options(), tmp_path))]
    assert found[-1]["support"] == 1
    assert found[-1]["exact"]
    X = open_data("breast cancer", Options())
    assert found[-1]["lower"] == geodim.binary_dimension(X).dimension
    assert found[-1]["normalized"] == geodim.binary_correlation_dimension(X).normalized_dimension
    assert EXPERIMENT.tables(found)[0].rows[0][0] == "breast cancer"
    assert EXPERIMENT.notes(found) == []
    pytest.importorskip("matplotlib")
    assert set(EXPERIMENT.draw(found)) == {"binary"}
    assert EXPERIMENT.draw([]) == {}


def test_a_unit_that_runs_out_of_time(tmp_path):
    unit = next(unit for unit in units(Options(quick=True)) if unit.key["data"] == "cora")
    with pytest.raises(StoppedError):
        unit.work.func("cora", 0.0, 0.0, Context(Options(), tmp_path, deadline=0.0))
