"""The experiments on graphs, through the runner and on small graphs in place of the large ones."""

from __future__ import annotations

import time

import numpy as np
import pytest

from geodim import paper
from geodim.data.datasets.synthetic import sbm
from geodim.experiments import get_experiment, mle, one_hot, sign
from geodim.experiments.experiment import Context, Options, StoppedError
from geodim.experiments.khop_ids import claims as khop_claims
from geodim.experiments.papers100m import bounds_of_hops, claims, compare
from geodim.experiments.runner import make_plan, run_plan
from geodim.experiments.verdicts import Verdict, rounds_to


def test_cora_from_the_file_to_the_verdict(tmp_path):
    """Statistics and all six printed dimensions; the other graphs are in tests/golden."""
    options = Options()
    plans = make_plan(["statistics", "khop"], options, tmp_path)
    for plan in plans:
        plan.todo = [unit for unit in plan.todo if unit.key["dataset"] == "Cora"]
    outcome = run_plan(plans, options, tmp_path)
    assert outcome.computed == 2
    found = [one for plan in plans for one in plan.experiment.compare(plan.store.rows())]
    cora = [one for one in found if one.dataset == "Cora"]
    assert len(cora) == 9
    assert all(one.verdict in (Verdict.EQUAL, Verdict.ROUNDING) for one in cora)
    assert all(one.verdict is Verdict.ABSENT for one in found if one.dataset != "Cora")
    (claim,) = khop_claims(plans[1].store.rows())
    assert claim.holds


def test_absent_data_is_named_with_the_way_to_get_it(tmp_path):
    options = Options(root=tmp_path / "empty")
    for name in ("statistics", "khop", "mle", "sign", "papers100m"):
        (plan,) = make_plan([name], options, tmp_path)
        assert not plan.todo
        outcome = run_plan([plan], options, tmp_path)
        assert len(outcome.missing) == len(plan.missing) > 0
        for _, label, why in outcome.missing:
            assert label.partition(",")[0] in ("PubMed", "Cora", "CiteSeer") or label.startswith("ogbn-")
            assert "geodim datasets fetch" in why
            assert str(tmp_path) not in why  # reports are passed on
        text = (tmp_path / f"{name}.csv").read_text()
        assert text.count("not at hand") == len(plan.missing)


def test_what_does_not_fit_says_so(tmp_path):
    (unit,) = get_experiment("papers100m").units(Options(root=tmp_path, memory=1 << 30, threads=2))
    assert unit.missing is not None
    assert "geodim datasets fetch" in unit.missing
    assert "1.0 GiB may be used" in unit.missing
    (roomy,) = get_experiment("papers100m").units(Options(root=tmp_path, memory=1 << 40, threads=2))
    assert roomy.cost.memory > unit.cost.memory  # with more columns in flight


def test_papers100m_on_a_small_graph(tmp_path):
    data = sbm(nodes=300, blocks=3, attributes=4, seed=5)
    rows = bounds_of_hops(data, 40, Context(Options(), tmp_path))
    support = paper.log_scale_support(300, length=40)
    features = paper.k_hop_features(data.x.astype(np.float64), data.edge_index.T, 5)
    for k, row in enumerate(rows):
        expected = paper.algorithm_2(features[:, : 4 * (k + 1)], support, exact=True)
        assert row["lower"] == pytest.approx(expected.id_lower, rel=1e-6)  # hops in float32
        assert row["upper"] == pytest.approx(expected.id_upper, rel=1e-6)
        assert row["dimension"] == pytest.approx(expected.id, rel=1e-6)
        assert row["lower"] <= row["dimension"] <= row["upper"]
        assert row["error"] == pytest.approx(expected.error, rel=1e-4)
    verdicts = compare(rows)
    assert len(verdicts) == 18
    assert all(one.verdict is Verdict.DIFFERENT and one.reason for one in verdicts)
    assert claims(rows)[0].holds is False  # 40 elements do not tell the k apart that well
    assert claims([])[0].holds is None


def test_one_hot_is_the_papers_definition(tmp_path):
    counts = list(range(0, 4951, 150))
    rows = one_hot.compute(counts, Context(Options(), tmp_path))
    assert [row["edges"] for row in rows] == counts
    edges = one_hot.edge_order()
    assert len(np.unique(edges, axis=0)) == 4950
    assert np.all(edges[:, 0] < edges[:, 1])
    for row in rows[1:30:10]:
        features = paper.k_hop_features(np.eye(100), edges[: row["edges"]], 5)
        for k in (0, 1, 3, 5):
            expected = 1.0 / paper.algorithm_1(features[:, : 100 * (k + 1)]) ** 2
            assert row[f"k{k}"] == pytest.approx(expected, rel=1e-9)  # ten digits are kept
    # No edge, and all edges: every node is like every other.
    assert rows[0]["k5"] == rows[-1]["k5"] == 10_000.0
    assert all(claim.holds for claim in one_hot.claims(rows))
    assert all(claim.holds is None for claim in one_hot.claims(rows[:20]))
    figure = one_hot.draw(rows)["one-hot"]
    left, right = figure.axes
    assert (len(left.lines), len(right.lines)) == (6, 5)
    assert right.get_ylim()[1] < 10_000.0


def test_one_hot_covers_all_edges():
    units = one_hot.units(Options())
    assert units[0].key["first"] == 0
    assert units[-1].key["last"] == 4950
    assert sum(unit.key["last"] - unit.key["first"] + 1 for unit in units) == 4951


@pytest.mark.parametrize("name", ["one-hot", "support"])
def test_time_limit_within_a_unit(name, tmp_path):
    options = Options(quick=True)
    unit = get_experiment(name).units(options)[-1]
    with pytest.raises(StoppedError, match="stopped"):
        unit.work(Context(options, tmp_path, time.monotonic() - 1.0))


def test_time_that_is_over_before_there_are_bounds(tmp_path, monkeypatch):
    """On a busy machine the values are still being looked through: the unit is stopped, not failed."""
    from geodim import khop
    from geodim.errors import TimeLimitError

    def late(*_data, **_options):
        raise TimeLimitError("the time limit was over before there was any result")

    monkeypatch.setattr(khop, "khop_dimensions", late)
    unit = get_experiment("support").units(Options(quick=True))[-1]
    with pytest.raises(StoppedError, match=r"stopped \(time limit\)"):
        unit.work(Context(Options(quick=True), tmp_path, time.monotonic() + 1.0))


@pytest.mark.slow
def test_mle_of_cora(tmp_path):
    """At k = 0 both ways give the printed digits."""
    options = Options(quick=True)
    unit = get_experiment("mle").units(options)[0]
    assert unit.key == {"dataset": "Cora", "k": 0, "neighbours": 5}
    rows = [{**unit.key, **row} for row in unit.work(Context(options, tmp_path))]
    cora = next(one for one in mle.compare(rows) if one.dataset == "Cora" and one.case == "k = 0")
    assert cora.verdict is Verdict.EQUAL
    assert rounds_to(rows[0]["paper_like"], "30.6049")
    assert mle.estimates(rows) == {"Cora": [rows[0]["sound"]]}
    assert mle.tables(rows)[0].rows[0][:3] == ["Cora", "0", "30.6049"]


def test_the_mle_trap_is_named():
    """Numbers of Cora at k = 3: printed 10.8186, and with equal rows recognised 19.3043."""
    values = {
        "sound": 19.3043,
        "sound_zero": 42,
        "paper_like": 10.81862,
        "paper_like_zero": 16,
        "points": 2708,
    }
    rows = [{"dataset": "Cora", "k": 3, **values}]
    one = next(one for one in mle.compare(rows) if one.ours is not None)
    assert one.sentence.startswith(
        "different, because rows that are equal by mathematics differ by about 1e-8"
    )
    assert "with the paper's arithmetic it is 10.8186, which rounds to the printed digits" in one.sentence
    assert "1 of 1 numbers round to the printed digits" in mle.notes(rows)[1]
    assert mle.estimates(rows) == {}  # k = 0 is not there
    elsewhere = mle.compare([{**rows[0], "paper_like": 10.9}])
    assert "depends on the machine" in next(one for one in elsewhere if one.ours is not None).sentence


@pytest.mark.slow
def test_sign_on_cora(tmp_path):
    pytest.importorskip("torch")
    options = Options(quick=True, repetitions=1)
    unit = next(one for one in sign.units(options) if one.key["dataset"] == "Cora")
    rows = [{**unit.key, **row} for row in unit.work(Context(options, tmp_path))]
    assert [row["k"] for row in rows] == [0, 1, 2]
    found = {one.case: one for one in sign.compare(rows) if one.dataset == "Cora"}
    assert found["k = 0"].ours == rows[0]["accuracy"]
    assert "1 of 10 trainings" in found["k = 0"].sentence
    assert found["k = 3"].verdict is Verdict.ABSENT
    assert sign.accuracies(rows)["Cora"] == [row["accuracy"] for row in rows]
    assert rows[1]["accuracy"] > rows[0]["accuracy"] + 0.1  # the first hop is the key factor
    kept = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.json")}
    again = unit.work(Context(options, tmp_path))
    assert [row["accuracy"] for row in again] == [row["accuracy"] for row in rows]
    assert len(kept) >= 3
    assert kept == {path: path.stat().st_mtime_ns for path in kept}  # finished trainings are not done again


def test_more_trainings_win():
    few = {"dataset": "Cora", "k": 0, "runs": 2, "accuracy": 0.7, "std": None}
    many = {"dataset": "Cora", "k": 0, "runs": 10, "accuracy": 0.533, "std": 0.01}
    for rows in ([few, many], [many, few]):
        one = sign.compare(rows)[6]
        assert (one.dataset, one.ours, one.verdict) == ("Cora", 0.533, Verdict.SPREAD)
