"""The study of eighteen graphs: its graphs, splits and questions, on data whose answers are known."""

from __future__ import annotations

import numpy as np
import pytest

from geodim.errors import DataFileError
from geodim.experiments.experiment import Options
from geodim.experiments.study import EXPERIMENT
from geodim.experiments.study_graphs import GRAPHS, missing_graph, open_graph, random_split
from geodim.experiments.study_questions import (
    RULES,
    across,
    ahead_of,
    best_trivial,
    claims,
    falls_all_the_same,
    graphs,
    halves,
    rank_correlations,
    regrets,
    tables,
    within,
)


def rows(name, dimension, accuracy, *, heterophilous=False, advised=1, homophily=0.5):
    return [
        {
            "graph": name, "hops": 5, "runs": 10, "k": k, "dimension": dimension[k], "mle": dimension[k],
            "twonn": None, "class_ratio": 1.0 + k, "accuracy": accuracy[k], "std": 0.01,
            "valid_accuracy": accuracy[k], "nodes": 9, "attributes": 2, "classes": 2, "homophily": homophily,
            "heterophilous": heterophilous, "advised": advised,
        }
        for k in range(6)
    ]  # fmt: skip


FALLING = [32.0, 16.0, 12.0, 10.0, 9.0, 8.9]  # drops 1/2, 1/4, 1/6, 1/10, 1/90
RISING = [0.5, 0.7, 0.8, 0.85, 0.88, 0.89]  # gains fall with the drops


def test_where_drops_foretell_gains():
    """As the number of hops does: neither is ahead of the other."""
    some = graphs([row for name in "abcd" for row in rows(name, FALLING, RISING)])
    found = within(some)
    assert found["intrinsic dimension"].value == found["number of hops (-k)"].value == pytest.approx(1.0)
    assert found["TwoNN"].value == 0.0  # it has no values, which indicates nothing
    assert found["dimension less number of hops"].value == 0.0
    assert [claim.holds for claim in claims([row for one in some for row in one.rows])][:2] == [True, False]


def test_across_graphs():
    dimensions = [[10.0] * 5 + [last] for last in (9.0, 8.0, 7.0, 6.0)]
    gains = (0.1, 0.2, 0.3, 0.4)
    made = [
        rows(name, dimension, [0.5] * 5 + [0.5 + gain], homophily=1.0 - gain)
        for name, dimension, gain in zip("abcd", dimensions, gains, strict=True)
    ]
    found = across(graphs([row for one in made for row in one]))
    assert found["intrinsic dimension"].value == pytest.approx(1.0)
    assert found["homophily"].value == pytest.approx(-1.0)


def test_ranks_are_those_of_scipy(rng):
    from scipy.stats import spearmanr

    pairs = rng.integers(0, 5, size=(20, 8, 2)).astype(float)
    expected = [spearmanr(*one.T).statistic for one in pairs]
    assert rank_correlations(pairs) == pytest.approx(expected, nan_ok=True)


def test_the_first_hop_hurts_and_the_dimension_falls():
    hurt = rows("a", FALLING, [0.8, 0.7, 0.7, 0.7, 0.7, 0.7], heterophilous=True)
    little = rows("b", FALLING, [0.8, 0.795, 0.8, 0.8, 0.8, 0.8], heterophilous=True)
    rises = rows("c", [1.0, 2.0, 2.0, 2.0, 2.0, 2.0], [0.8, 0.7, 0.7, 0.7, 0.7, 0.7], heterophilous=True)
    alike = rows("d", FALLING, [0.8, 0.7, 0.7, 0.7, 0.7, 0.7])
    assert falls_all_the_same(graphs(hurt + little + rises + alike)) == (["a", "c"], ["a"])


def test_regrets():
    some = graphs(rows("a", FALLING, RISING, advised=4) + rows("b", FALLING, RISING[::-1], advised=0))
    found = regrets(some, RULES)
    assert found["advise"].value == pytest.approx(0.005)  # 0.01 on the first, nothing on the second
    assert found["always 5"].value == pytest.approx(0.195)
    assert found["validation accuracy"].value == 0.0
    assert best_trivial(some) == "always 2"
    assert ahead_of(some, RULES["advise"], RULES["always 5"]).value == pytest.approx(-0.19)
    assert len(tables([row for one in some for row in one.rows])) == 1  # too few graphs to ask more


def test_halves_and_the_run_of_most_trainings():
    few = [{**row, "runs": 2, "accuracy": 0.0} for row in rows("b", FALLING, RISING)]
    some = graphs(few + rows("b", FALLING, RISING) + rows("c", FALLING, RISING) + rows("a", FALLING, RISING))
    assert [[one.name for one in half] for half in halves(some)] == [["a", "c"], ["b"]]
    assert some[1].rows[0]["accuracy"] == RISING[0]


def test_no_rows_no_answers():
    assert [claim.holds for claim in EXPERIMENT.claims([])] == [None] * 5
    assert EXPERIMENT.tables([]) == []
    assert EXPERIMENT.draw([]) == {}


def test_splits(rng):
    y = np.repeat([0, 1, 2], [2000, 300, 10])
    split = random_split(y, [1])
    assert [np.count_nonzero(y[split["train"]] == one) for one in range(3)] == [20, 20, 5]
    assert [len(split[part]) for part in ("valid", "test")] == [500, 1000]
    every = np.concatenate(list(split.values()))
    assert np.unique(every).size == every.size
    assert np.array_equal(random_split(y, [1])["test"], split["test"])
    assert not np.array_equal(random_split(y, [2])["test"], split["test"])


def test_files(tmp_path):
    masks = np.zeros((10, 4), bool)
    masks[:, 0] = True
    packed = np.packbits(masks, axis=1)
    arrays = {
        "shape": [4, 2], "indptr": [0, 1, 1, 2, 2], "indices": [1, 0], "edge_index": [[0, 1, 2], [1, 2, 3]],
        "y": [0, 0, 1, 1], "train_masks": packed, "val_masks": packed, "test_masks": packed,
    }  # fmt: skip
    options = Options(root=tmp_path)
    assert "geodim reproduce study" in missing_graph("texas", options)
    np.savez(tmp_path / "texas.npz", **arrays)
    assert missing_graph("texas", options) is None
    graph = open_graph("texas", options)
    assert graph.x.toarray().tolist() == [[0, 1], [0, 0], [1, 0], [0, 0]]
    assert graph.homophily == pytest.approx(2 / 3)
    assert [one["train"].tolist() for one in graph.splits] == [[0]] * 10
    (tmp_path / "graphs").mkdir()
    (tmp_path / "graphs" / "cornell.npz").write_bytes(b"no archive")
    with pytest.raises(DataFileError, match="not a graph of the study"):
        open_graph("cornell", options)


def test_cora_comes_with_the_package():
    graph = open_graph("cora", Options())
    assert (len(graph.y), graph.x.shape[1], graph.edge_index.shape[1]) == (2708, 1433, GRAPHS["cora"].edges)
    assert len(graph.splits) == 10
    assert graph.homophily == pytest.approx(0.81, abs=0.005)
