"""The selection study: its data, its rivals and its questions, on cases whose answers are known."""

from __future__ import annotations

import numpy as np
import pytest

from geodim import paper
from geodim.experiments.experiment import Context, Options
from geodim.experiments.selection import (
    EXPERIMENT,
    METHODS,
    accuracies,
    half_width,
    laplacian_scores,
    misranking,
    units,
)
from geodim.experiments.selection_data import DATASETS, Table, missing_table, open_table
from geodim.experiments.selection_questions import claims, over, support_errors, tables
from geodim.experiments.selection_support import estimated_dimensions, order_errors, phi_of_columns


def test_bounds_are_the_papers():
    X = np.random.default_rng(0).normal(size=(60, 5))
    phi = phi_of_columns(X, 1)
    support = np.array(paper.log_scale_support(60, length=9))
    found = estimated_dimensions(phi[:, support - 2], support, 60)
    for column in range(5):
        low, high = paper.resilience_bounds(X[:, column], support)
        assert found[column] == pytest.approx(0.5 * (low**-2 + high**-2), rel=1e-12)
    rows = misranking(X, Options(threads=1))
    assert {row["support_kind"] for row in rows} == {"towards n", "towards 2"}
    assert all(0.0 <= row["wrong_pairs"] <= 1.0 and row["tau"] <= 1.0 for row in rows)


def test_order_errors():
    exact = np.arange(20.0)
    assert order_errors(exact, exact) == {"tau": pytest.approx(1.0), "wrong_pairs": 0.0, "overlap": 1.0}
    assert order_errors(exact, -exact) == {"tau": pytest.approx(-1.0), "wrong_pairs": 1.0, "overlap": 0.0}
    swapped = exact.copy()
    swapped[[1, 2]] = swapped[[2, 1]]
    found = order_errors(exact, swapped)
    assert (found["wrong_pairs"], found["overlap"]) == (1 / 190, 0.5)
    assert order_errors(np.ones(20), exact)["wrong_pairs"] == 0.0
    assert order_errors(exact, np.ones(20))["tau"] == 0.0  # all alike: JSON has no NaN


def test_laplacian_score_literally():
    """Sum over neighbours of the squared difference, over the variance weighted by degrees."""
    from sklearn.neighbors import kneighbors_graph

    X = np.random.default_rng(1).normal(size=(40, 3))
    X = np.hstack([X, np.ones((40, 1))])
    S = kneighbors_graph(X, 5).toarray()
    S = np.maximum(S, S.T)
    D = S.sum(axis=1)
    for column in range(3):
        f = X[:, column]
        mean = (D @ f) / D.sum()
        literal = 0.5 * (S * (f[:, None] - f[None, :]) ** 2).sum() / (D @ (f - mean) ** 2)
        assert laplacian_scores(X)[column] == pytest.approx(literal, rel=1e-9)
    assert laplacian_scores(X)[3] == np.inf


def test_every_method_selects(tmp_path):
    """One column tells the classes, in units so large that every unsupervised score finds it, too."""
    rng = np.random.default_rng(2)
    y = np.arange(100) % 2
    x = rng.normal(size=(100, 20)) * 0.01
    x[:, 7] = 5.0 * y + rng.random(100)
    found = accuracies(Table(x, y), 2, Context(Options(threads=1), tmp_path))
    assert tuple(found) == METHODS
    for method in set(METHODS) - {"random", "resilience, decorrelated by column", "Laplacian score"}:
        assert found[method].tolist() == [1.0, 1.0], method


def test_data():
    table = open_table("wine, products", Options())
    assert table.x.shape == (178, 104)
    assert DATASETS["wine, products"].features == 104
    generated, own = (open_table(name, Options()).x for name in ("generated", "generated, own units"))
    np.testing.assert_allclose(np.corrcoef(generated[:, 0], own[:, 0])[0, 1], 1.0)
    assert missing_table("digits", Options()) is None
    assert "geodim reproduce selection" in missing_table("acm", Options())
    assert all(kind.features >= 50 for kind in DATASETS.values())


def test_units(tmp_path):
    assert {unit.key["dataset"] for unit in units(Options(root=tmp_path))} == set(DATASETS)
    quick = units(Options(quick=True))
    assert [unit.key["rounds"] for unit in quick] == [3, 3]
    assert all(unit.missing is None for unit in quick)


def test_half_width():
    assert half_width(np.array([1.0])) == 0.0
    assert half_width(np.array([0.0, 2.0])) == pytest.approx(12.7062047, rel=1e-6)


def made(better):
    rows = []
    for at in range(6):
        accuracy = dict.fromkeys(METHODS, 0.5) | {"resilience": 0.5 + better, "random": 0.4}
        for method, value in accuracy.items():
            rows.append({"kind": "accuracy", "dataset": f"d{at}", "rounds": 10, "method": method,
                         "accuracy": value, "binary": at == 5})  # fmt: skip
        rows.append({"kind": "support", "dataset": f"d{at}", "rounds": 10, "relative_size": 0.01,
                     "support_kind": "towards n", "support": 9, "tau": 0.9, "wrong_pairs": 0.02,
                     "overlap": 1.0 if better > 0 else 0.5})  # fmt: skip
    return rows


def test_questions():
    assert [claim.holds for claim in claims(made(0.1))] == [True, True, False, True]
    assert [claim.holds for claim in claims(made(-0.2))] == [False, False, True, False]
    assert [claim.holds for claim in claims([])] == [None] * 4
    assert over(made(0.1), "resilience", "variance", binary=True).value == pytest.approx(0.1)
    some = [row for row in made(0.1) if (row["dataset"], row.get("method")) != ("d0", "mutual information")]
    assert over(some, "mutual information", "random", binary=False).value == pytest.approx(0.1)
    assert len(support_errors(made(0.1), 0.01)) == 6
    first, second = tables(made(0.1))
    assert first.rows[0][0] == second.rows[0][0] == "d0"
    assert tables([]) == []
    assert EXPERIMENT.compare([]) == []
