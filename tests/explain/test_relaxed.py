"""Rankings and selections among columns whose windows are all alike: quick, and as exact as they say."""

from __future__ import annotations

import itertools
import json

import numpy as np
import pytest

import geodim
from engine.oracle import padded, phi as brute_force
from explain import brute
from geodim.data.sources import as_source
from geodim.engine import stepped
from geodim.engine.kernels.counters import WINDOWS
from geodim.explain.coarse import CoarseProfiles
from geodim.explain.passes import ColumnPass, Raised, exact_source
from geodim.explain.select import MEMORY
from slow_columns import GOLDEN, clocks

N = 5000  # from 4,096 on, columns are counted coarsely before they are solved
ONE = {"n_threads": 1}


def alike_columns(n=N):
    """Columns with windows that are alike, many of them nearly equal, and some that are not."""
    rng = np.random.default_rng(8)
    waves = np.arange(n) + 8.0 * np.sin(0.1 * np.arange(n))
    far = np.append(0.3 * clocks(n - 2), [-9.0 * n, 9.0 * n])  # attains Phi at the last sizes only
    some = [
        clocks(n),
        clocks(n, GOLDEN + 1e-6) * (1.0 - 1e-4),
        0.7 * n * np.sort(rng.random(n)),
        clocks(n, 1.7) / 1.05 + 0.01 * rng.normal(size=n),
        0.61 * np.arange(n) + 0.01 * rng.normal(size=n),
        0.8 * waves,
        0.99 * waves,
        far,
        *(clocks(n) * (1.0 - k * 1e-3) + 0.003 * k * rng.random(n) for k in range(1, 5)),
    ]
    return np.stack([rng.permutation(values) for values in some], axis=1)


def exact_widths(X):
    return np.stack([brute_force(padded(np.sort(values)), len(X))[1:] for values in X.T], axis=1)


def relaxed_widths(X):
    """What the engine solves every column to, alone, and what that may exceed phi by."""
    found, loose = np.zeros((len(X) - 1, X.shape[1])), np.zeros(X.shape[1])
    source, ranges = exact_source(as_source(X), 1)

    def visit(slot, column):
        found[:, column.index] = slot.raised(column, np.zeros(len(X)))[1:]
        loose[column.index] = slot.loose

    ColumnPass(source, 1, ranges, relaxed=True).run(range(X.shape[1]), visit)
    return found, loose


def test_widths_depend_on_the_column_alone_and_never_fall(all_tolerant):
    X = alike_columns()
    exact, (found, loose) = exact_widths(X), relaxed_widths(X)
    assert np.count_nonzero(loose) > 5
    assert np.any(found > exact)
    assert np.all(np.diff(found, axis=0) >= 0.0)
    assert np.all(found >= exact)
    assert np.all(found <= exact + loose)
    source, ranges = exact_source(as_source(X), 1)
    bars = [np.maximum.accumulate(np.append(0.0, found[:, column])) for column in range(X.shape[1])]
    slot = ColumnPass(source, 1, ranges, relaxed=True).slot()
    for column, (at, bar) in itertools.product(slot.read(list(range(X.shape[1]))), enumerate(bars)):
        expected = np.maximum(bar[1:], found[:, column.index])
        assert np.array_equal(slot.raised(column, bar)[1:], expected), (column.index, at)


@pytest.mark.parametrize("weighting", ["uniform", "resilience"])
def test_scores_are_as_exact_as_they_say(all_tolerant, weighting):
    X = alike_columns()
    weights = 1.0 / np.arange(2, N + 1) if weighting == "resilience" else np.ones(N - 1)
    true = (exact_widths(X) * weights[:, np.newaxis]).sum(axis=0) / N
    found = geodim.feature_ranking(X, weighting=weighting, scale="none", **ONE)
    scores = np.array([found[str(column)] for column in range(X.shape[1])])
    assert 1e-9 < found.error < 0.1
    assert np.all(scores >= true * (1.0 - 1e-12))
    assert np.all(scores * (1.0 - found.error) <= true * (1.0 + 1e-12))
    assert np.any(scores > true * (1.0 + 1e-9))
    assert list(found.values()) == sorted(found.values(), reverse=True)
    top = geodim.top_features(X, 3, weighting=weighting, scale="none", **ONE)
    assert top.scores == list(found.values())[:3]
    assert top.names == list(found)[:3]
    assert 0.0 < top.error <= found.error
    out = [column for column in range(X.shape[1]) if column not in top.columns]
    assert max(true[out]) <= min(top.scores)
    for options in ({"n_threads": 3}, {"scale": "global"}):
        again = geodim.feature_ranking(X, weighting=weighting, **{"scale": "none", **ONE, **options})
        assert list(again) == list(found)
        assert again.error == pytest.approx(found.error, rel=1e-12)
    last = geodim.feature_ranking(X, weighting=weighting, scale="none", last_bit=True, **ONE)
    assert last.error == 0.0
    assert [last[str(column)] for column in range(X.shape[1])] == pytest.approx(true.tolist(), rel=1e-14)


def test_choices_are_greedy_for_the_relaxed_widths(all_tolerant):
    X = alike_columns()
    exact, (found, _) = exact_widths(X), relaxed_widths(X)
    assert brute.delta(found, range(X.shape[1])) > brute.delta(exact, range(X.shape[1]))
    for m in (1, 2, 3, 5):
        chosen = geodim.select_features(X, m, scale="none", **ONE)
        assert chosen.columns == brute.greedy(found, m)
        sets = [chosen.columns[: i + 1] for i in range(m)]
        assert chosen.curve == pytest.approx([brute.delta(found, one) for one in sets], rel=1e-14)
        for one, value in zip([*sets, range(X.shape[1])], [*chosen.curve, chosen.total], strict=True):
            true = brute.delta(exact, one)
            assert value * (1.0 - chosen.error) <= true * (1.0 + 1e-14)
            assert true <= value * (1.0 + 1e-14)
        reached = brute.delta(exact, chosen.columns)
        if m <= 2:
            assert chosen.guarantee * brute.optimum(exact, m) <= reached
        whole = geodim.intrinsic_dimension(X, scale="none", **ONE)
        assert chosen.total == whole.discriminability
        assert whole.discriminability_lower >= chosen.total * (1.0 - chosen.error) * (1.0 - 1e-12)
        assert 1e-9 < chosen.error < 0.1


def test_nothing_depends_on_order_threads_or_memory(all_tolerant):
    X = alike_columns()
    names = [f"f{column}" for column in range(X.shape[1])]
    first = geodim.select_features(X, 6, feature_names=names, **ONE)
    assert first.error > 0.0
    ranking = geodim.feature_ranking(X, feature_names=names, **ONE)
    for seed, n_threads, memory in ((0, 1, 1), (1, 3, 1), (2, 3, MEMORY), (3, 2, 40_000), (4, 1, MEMORY)):
        order = np.random.default_rng(seed).permutation(X.shape[1])
        changed = {"feature_names": [names[column] for column in order], "n_threads": n_threads}
        again = geodim.select_features(X[:, order], 6, memory=memory, **changed)
        assert (again.names, again.curve) == (first.names, first.curve)
        assert (again.total, again.error) == (first.total, first.error)
        ranked = geodim.feature_ranking(X[:, order], **changed)
        assert (list(ranked.items()), ranked.error) == (list(ranking.items()), ranking.error)


def test_the_last_bit_is_that_of_the_definition(all_tolerant):
    X = alike_columns()
    exact = exact_widths(X)
    chosen = geodim.select_features(X, 4, scale="none", last_bit=True, **ONE)
    assert chosen.error == 0.0
    assert chosen.columns == brute.greedy(exact, 4)
    assert chosen.total == geodim.intrinsic_dimension(X, scale="none", last_bit=True).discriminability
    assert chosen.parameters["last_bit"] is True
    assert "error" not in repr(chosen)
    chooser = geodim.DiscriminabilitySelector(4, scale="none", last_bit=True, n_threads=1).fit(X)
    assert chooser.selection_.curve == chosen.curve
    for method in ("greedy", "uniform"):
        for last_bit in (False, True):
            chooser = geodim.DiscriminabilitySelector(2, method=method, last_bit=last_bit, n_threads=1)
            assert (chooser.fit(X).selection_.error == 0.0) is last_bit


def test_what_is_exact_elsewhere_is_exact_here(all_tolerant):
    X = alike_columns(600)
    assert geodim.feature_ranking(X, weights=np.full(600, 2), **ONE).error == 0.0
    assert geodim.select_features(X, 2, weights=np.full(600, 2), **ONE).error == 0.0
    assert geodim.feature_ranking(X[:300, :1], features="distances", **ONE).error == 0.0
    constant = np.ones((600, 2))
    with pytest.warns(geodim.errors.DegenerateDataWarning):
        assert geodim.select_features(constant, 1, **ONE).error == 0.0


def test_results_say_so(all_tolerant):
    X = alike_columns()
    for found in (geodim.select_features(X, 2, **ONE), geodim.top_features(X, 2, **ONE)):
        assert found.error > 0.0
        assert "; relative error at most" in repr(found)
        assert "; relative error at most" in found._repr_html_()
        assert json.loads(found.to_json())["error"] == found.error
        again = type(found).from_json(found.to_json())
        assert again.to_dict() == found.to_dict()
    selection = geodim.select_features(X, 2, **ONE)
    assert "relative error of the discriminability is at most" in selection.to_html()
    exact = geodim.select_features(X, 2, last_bit=True, **ONE)
    assert "relative error" not in exact.to_html() + repr(exact) + exact._repr_html_()


def test_coarse_bounds_hold_for_relaxed_widths(all_tolerant):
    """Bounds on phi alone would leave out columns whose widths exceed it."""
    n = 5000
    X = (np.arange(n) + np.sin(0.9 * np.arange(n)))[:, np.newaxis]
    widths = np.append(0.0, relaxed_widths(X)[0][:, 0])
    source, ranges = exact_source(as_source(X), 1)
    attains = {}
    for relaxed in (True, False):
        coarse = CoarseProfiles(ColumnPass(source, 1, ranges, relaxed=relaxed), ranges)
        assert coarse.total(0) >= widths.sum()
        sizes = np.arange(n)
        attains[relaxed] = [
            coarse.may_attain(0, widths, np.where(sizes <= size, size, n)) for size in range(1, 400)
        ]
    assert all(attains[True])
    assert not all(attains[False])


def test_removals_of_several_features_take_relaxed_widths_into_account(all_tolerant):
    """Features that could take their place are those whose widths may, not only those whose phi may."""
    X = alike_columns()
    what_if = geodim.WhatIf(X, **ONE)
    leading = [int(name) for name in list(what_if.result.shares)[:4]]
    for gone in (*itertools.combinations(leading, 2), leading[:3], leading):
        answer = what_if.remove(*gone)
        expected = geodim.intrinsic_dimension(np.delete(X, gone, axis=1), **ONE)
        assert np.array_equal(answer.phi, expected.phi), gone


def test_explained_removals_and_cores_are_those_of_the_other_columns(all_tolerant):
    """Widths may exceed those of larger sizes: what Phi is raised to depends on which column is gone."""
    X = alike_columns(3000)
    found = geodim.explain_dimension(X, **ONE)
    assert not found.result.exact
    assert len(found.shares) > 2
    for name in found.shares:
        others = np.delete(X, int(name), axis=1)
        assert found.without[name] == geodim.intrinsic_dimension(others, **ONE).dimension
    core = found.core_columns
    assert geodim.intrinsic_dimension(X[:, core], **ONE).dimension == found.result.dimension
    for column in core:
        fewer = [other for other in core if other != column]
        assert geodim.intrinsic_dimension(X[:, fewer], **ONE).dimension != found.result.dimension


def test_explained_hops_are_about_the_widths_of_the_result(all_tolerant):
    n = 4500  # with fewer points, widths within a tolerance are mostly exact ones
    X = np.sort(alike_columns(n)[:, :9], axis=0)  # neighbours in the order of the rows: hops are alike, too
    ring = np.stack([np.arange(n), (np.arange(n) + 1) % n])
    many = np.hstack([X, *(0.5 * X for _ in range(3))])  # hops included, more than 64 columns
    # One whose values far away hide from counts, but not from who sorts it, how even the others are.
    many[:, 6] = np.append(np.append(-9.0 * n, 3.0 * X[1:-1, 6]), 9.0 * n)
    for columns in (X, many):
        found = geodim.explain_hops(columns, ring, 1, **ONE)
        whole = geodim.khop_dimensions(columns, ring, 1, **ONE)[1]
        exact = geodim.explain_hops(columns, ring, 1, last_bit=True, **ONE)
        assert whole.error > 1e-9 > exact.result.error
        assert found.result.dimension == found.removal.dimension == whole.dimension
        assert found.result.lower <= exact.result.dimension <= found.result.upper
        assert exact.removal.dimension == exact.result.dimension != found.result.dimension
        assert set(found.core) <= set(found.shares)
        fewer = geodim.explain_hops(columns[:, 1:], ring, 1, scale="none", **ONE)
        assert fewer.removal.dimension == fewer.result.dimension


@pytest.mark.parametrize(
    ("call", "times"),
    [
        (lambda X: geodim.feature_ranking(X, **ONE), 1),
        (lambda X: geodim.top_features(X, 1, **ONE), 1),
        (lambda X: geodim.select_features(X, 1, **ONE), 2),  # against the lead, and then completely
    ],
)
def test_few_windows_are_looked_at(monkeypatch, call, times):
    """Of two clocks, exact widths need all of them: about n / 2 for each size."""
    looked = []
    merge = Raised.merge
    monkeypatch.setattr(stepped, "ENOUGH", 0)

    def merge_and_count(self, solved):
        looked.append(solved.work[WINDOWS])
        merge(self, solved)

    monkeypatch.setattr(Raised, "merge", merge_and_count)
    n = 1 << 17
    values = np.concatenate([np.arange(n // 2), GOLDEN * np.arange(n - n // 2)])
    rng = np.random.default_rng(0)
    X = np.stack([rng.permutation(values), 0.9 * rng.permutation(values)], axis=1)
    found = call(X)
    assert 0.0 < found.error < 1e-3
    assert 0 < sum(looked) <= 1.25 * 2 * times * stepped.MANY * n
