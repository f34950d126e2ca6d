"""Greedy selection: what it chooses, what it guarantees, and that no shortcut changes it."""

from __future__ import annotations

import json
import math
import threading
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from hypothesis import given, settings, strategies as st
from hypothesis.extra import numpy as hnp

import geodim
from distributions import COLUMNS, column, random_matrix
from explain.brute import delta, greedy, measure, optimum, profiles
from geodim import paper
from geodim.data.checks import scan_ranges
from geodim.data.sources import as_source
from geodim.errors import DegenerateDataWarning, InputTypeError, InputValueError, NonFiniteError
from geodim.explain.coarse import BINS, CoarseProfiles, ladder_of
from geodim.explain.passes import Column, ColumnPass
from geodim.explain.select import select_features

if TYPE_CHECKING:
    from pathlib import Path

UNCOUNTED = {  # values so small or large that no bounds are made
    "constant", "denormals", "around_smallest_normal", "huge", "largest", "one_huge_among_small",
    "signed_zeros", "powers_of_two",
}  # fmt: skip
SMALL = hnp.arrays(np.int16, st.tuples(st.integers(2, 20), st.integers(1, 7)), elements=st.integers(0, 9))

# Random columns of all kinds have ranges far apart.


def engine_greedy(X: Any, m: int) -> tuple[list[int], list[float]]:
    """Brute-force greedy with the engine's own bits: the largest Delta, the lowest column of equals."""
    chosen: list[int] = []
    curve: list[float] = []
    total = measure(X, normalize=False).discriminability
    for _ in range(m):
        rest = [f for f in range(X.shape[1]) if f not in chosen]
        full = bool(curve) and curve[-1] >= total
        before = [] if full else chosen
        deltas = [measure(X[:, [*before, f]], normalize=False).discriminability for f in rest]
        chosen.append(rest[deltas.index(max(deltas))])
        curve.append(curve[-1] if full else max(deltas))
    return chosen, curve


class TestSubmodular:
    """The property that the guarantee rests on."""

    @settings(max_examples=60)
    @given(SMALL, st.randoms())
    def test_gains_shrink(self, X: np.ndarray, random: Any) -> None:
        phi = profiles(X)
        d = X.shape[1]
        small = random.sample(range(d), random.randint(0, d - 1))
        outside = [f for f in range(d) if f not in small]
        new = random.choice(outside)
        large = small + [f for f in outside if f != new and random.random() < 0.5]
        gain_small = delta(phi, [*small, new]) - delta(phi, small)
        gain_large = delta(phi, [*large, new]) - delta(phi, large)
        assert -1e-12 <= gain_large <= gain_small + 1e-12


class TestGreedy:
    @settings(max_examples=60)
    @given(SMALL, st.data())
    @pytest.mark.filterwarnings("ignore::geodim.errors.DegenerateDataWarning")
    def test_equals_brute_force_on_whole_numbers(self, X: np.ndarray, data: Any) -> None:
        """Sums are exact and ties frequent: the lowest column wins every one of them."""
        m = data.draw(st.integers(1, X.shape[1]))
        selection = select_features(X, m, normalize=False)
        phi = profiles(X)
        assert selection.columns == greedy(phi, m)
        assert selection.curve == [delta(phi, selection.columns[: i + 1]) for i in range(m)]
        assert selection.total == delta(phi, range(X.shape[1]))

    @pytest.mark.turns(4)
    @pytest.mark.parametrize("seed", range(15))
    @pytest.mark.filterwarnings("ignore::geodim.errors.DegenerateDataWarning")
    def test_equals_brute_force_on_columns_of_all_kinds(self, seed: int) -> None:
        rng = np.random.default_rng(seed)
        n, d = int(rng.choice([1, 2, 50, 300, 4096, 5000])), int(rng.integers(1, 8))
        X = random_matrix(rng, n, d)
        m = int(rng.integers(1, d + 1))
        selection = select_features(X, m, normalize=False)
        assert (selection.columns, selection.curve) == engine_greedy(X, m)
        assert selection.total == measure(X, normalize=False).discriminability

    @pytest.mark.turns(2)
    @pytest.mark.parametrize("kind", ["alike", "scaled", "shapes"])
    def test_equals_brute_force_where_bounds_matter(self, kind: str) -> None:
        """Enough points for counted bounds, and features close enough to compete."""
        rng = np.random.default_rng(7)
        X = rng.standard_normal((6000, 10)).astype(np.float32)
        if kind == "scaled":
            X *= np.linspace(0.9, 1.1, 10, dtype=np.float32)
        elif kind == "shapes":
            X[:, ::3] = rng.uniform(-2, 2, (6000, 4))
            X[:, 1::3] = rng.laplace(size=(6000, 3))
        selection = select_features(X, 6, normalize=False)
        assert (selection.columns, selection.curve) == engine_greedy(X, 6)

    @pytest.mark.parametrize("seed", [5, 98, 255])
    def test_a_first_candidate_that_loses(self, seed: int) -> None:
        """What was solved only as far as it exceeds that candidate is no more than a bound later."""
        X = random_matrix(np.random.default_rng(seed), 40, 8)
        selection = select_features(X, 4, normalize=False, n_threads=1)
        assert (selection.columns, selection.curve) == engine_greedy(X, 4)

    @pytest.mark.parametrize("seed", range(6))
    def test_guarantee_against_the_optimum(self, seed: int) -> None:
        """At least 1 - 1/e of the best possible, found by trying all sets of up to 12 features."""
        rng = np.random.default_rng(seed)
        d = int(rng.integers(8, 13))
        X = random_matrix(rng, 24, d) if seed % 2 else rng.integers(0, 4, (24, d)) * rng.random(d)
        phi = profiles(X)
        for m in range(1, min(d, 6) + 1):
            selection = select_features(X, m, normalize=False)
            best = optimum(phi, m)
            assert selection.curve[-1] >= (1 - 1 / math.e) * best
            assert selection.curve[-1] >= selection.guarantee * best * (1 - 1e-12)

    def test_greedy_may_miss_the_optimum(self) -> None:
        """The guarantee is needed: here the best pair does not hold the best single feature."""
        X = np.transpose([[2, 0, 0, 4, 2, 3, 3, 3], [2, 3, 1, 4, 2, 2, 4, 4], [1, 0, 4, 4, 1, 1, 4, 1]])
        phi = profiles(X)
        selection = select_features(X, 2, normalize=False)
        assert selection.columns == greedy(phi, 2)
        assert (1 - 1 / math.e) * optimum(phi, 2) <= selection.curve[-1] < optimum(phi, 2)

    @pytest.mark.parametrize("n", [50, 5000])
    def test_threads_and_memory_do_not_matter(self, n: int) -> None:
        rng = np.random.default_rng(1)
        X = rng.standard_normal((n, 30)) * np.exp(0.02 * rng.normal(size=30))
        one = select_features(X, 12, n_threads=1)
        for options in [{"n_threads": 3}] * 5 + [{"memory": 1}, {"memory": 1 << 16, "n_threads": 2}]:
            other = select_features(X, 12, **options)
            assert (other.columns, other.curve, other.total) == (one.columns, one.curve, one.total)

    def test_few_columns_are_solved_twice(self) -> None:
        """Lazily: not every feature is evaluated again for every choice."""
        rng = np.random.default_rng(4)
        X = rng.standard_normal((20_000, 60), dtype=np.float32)
        selection = select_features(X, 10)
        assert selection.evaluations < 3 * 60


class TestStopping:
    X = np.random.default_rng(3).normal(size=(300, 20))

    def test_fraction(self) -> None:
        for fraction in (0.5, 0.99, 0.9999, 1.0):
            selection = select_features(self.X, fraction=fraction)
            assert selection.fractions[-1] >= fraction
            assert all(value < fraction for value in selection.fractions[:-1])
        default = select_features(self.X)
        assert default.columns == select_features(self.X, fraction=0.95).columns
        assert default.parameters["fraction"] == 0.95

    def test_nothing_left_to_gain(self) -> None:
        X = np.column_stack([np.arange(10.0) * scale for scale in (1, 5, 2, 5, 3)])
        selection = select_features(X, 4)
        assert selection.columns == [1, 3, 4, 2], (
            "by what each has of its own, of equals the lowest column first"
        )
        assert len(set(selection.curve)) == 1
        assert selection.useful == 1
        assert select_features(X, fraction=1.0).columns == [1]

    def test_all_features(self) -> None:
        selection = select_features(self.X, 20)
        assert sorted(selection.columns) == list(range(20))
        assert selection.curve[-1] == selection.total

    def test_constant_data(self) -> None:
        with pytest.warns(DegenerateDataWarning, match="any choice"):
            selection = select_features(np.ones((5, 3)), 2)
        assert selection.columns == [0, 1]
        assert selection.dimension == math.inf
        assert json.loads(selection.to_json())["dimensions"] == ["inf", "inf"]
        with pytest.warns(DegenerateDataWarning):
            assert select_features(np.ones((5, 3))).columns == [0]


class TestForms:
    X = np.random.default_rng(8).normal(size=(200, 6))

    def test_result(self, tmp_path: Path) -> None:
        selection = select_features(self.X, 3)
        names, curve = selection
        assert (names, curve) == (selection.names, selection.curve)
        whole = geodim.intrinsic_dimension(self.X)
        assert selection.total == whole.discriminability
        assert selection.dimension == whole.dimension
        assert selection.d_max == whole.d_max
        assert selection.rows()[1]["gain"] == curve[1] - curve[0]
        assert "3 of 6 features" in repr(selection)
        path = tmp_path / "selection.json"
        assert json.loads(selection.to_json(path)) == json.loads(path.read_text())
        assert json.loads(path.read_text())["names"] == names

    def test_normalised_by_all_features(self) -> None:
        """d_max is that of the whole set, chosen or not."""
        raw, scaled = select_features(self.X, 2, normalize=False), select_features(self.X, 2)
        assert raw.columns == scaled.columns
        assert scaled.curve == [
            paper.algorithm_1(self.X[:, scaled.columns[:m]], scaled.d_max)
            for m in range(1, len(scaled.columns) + 1)
        ]

    def test_names(self) -> None:
        letters = list("abcdef")
        expected = [letters[f] for f in select_features(self.X, 3).columns]
        assert select_features(pd.DataFrame(self.X, columns=letters), 3).names == expected
        assert select_features(pl.DataFrame(self.X, schema=letters), 3).names == expected
        assert select_features(self.X, 3, feature_names=letters).names == expected
        assert select_features(self.X.tolist(), 3).names == [str(letters.index(name)) for name in expected]

    @pytest.mark.parametrize("n", [300, 5000])
    def test_weights_repeat_points(self, n: int) -> None:
        rng = np.random.default_rng(0)
        X, weights = rng.normal(size=(n, 8)), rng.integers(0, 4, n)
        weighted = select_features(X, 5, weights=weights)
        repeated = select_features(np.repeat(X, weights, axis=0), 5)
        assert (weighted.columns, weighted.curve) == (repeated.columns, repeated.curve)

    @pytest.mark.parametrize("n", [300, 5000])
    def test_sparse(self, n: int) -> None:
        X = sp.random_array((n, 40), density=0.05, rng=np.random.default_rng(n), format="csr")
        sparse, dense = select_features(X, 10), select_features(X.toarray(), 10)
        assert (sparse.columns, sparse.curve) == (dense.columns, dense.curve)

    @pytest.mark.parametrize("scale", [1e-310, 1e-300, 1e300, 1.7e307])
    def test_extreme_values(self, scale: float) -> None:
        X = np.random.default_rng(0).uniform(-1, 1, (80, 5)) * scale
        assert select_features(X, 3, normalize=False).columns == engine_greedy(X, 3)[0]

    def test_denormals_are_chosen_like_whole_numbers(self) -> None:
        """In units of 1 their means have few digits: what differs elsewhere was a tie."""
        rng = np.random.default_rng(7)
        for _ in range(20):
            X = rng.integers(-1000, 1001, (17, 8)).astype(float)
            whole, tiny = (geodim.select_features(X * unit, 6) for unit in (1.0, 5e-324))
            assert tiny.columns == whole.columns
            assert tiny.curve == whole.curve

    def test_progress(self) -> None:
        seen: list[tuple[int, int]] = []
        X = np.random.default_rng(0).normal(size=(5000, 12))
        select_features(X, 2, progress=lambda done, total: seen.append((done, total)), n_threads=2)
        assert (12, 12) in seen
        assert all(0 < done <= total <= 12 for done, total in seen)


@pytest.mark.parametrize("threads", [1, 3])
def test_an_interrupt_ends_it(threads: int) -> None:
    """There is no half of a choice; and no thread goes on."""

    def interrupt(_done: int, _total: int) -> None:
        raise KeyboardInterrupt

    X = np.random.default_rng(0).normal(size=(5000, 40))
    with pytest.raises(KeyboardInterrupt):
        select_features(X, 2, progress=interrupt, n_threads=threads)
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("geodim")]


class TestErrors:
    X = np.random.default_rng(8).normal(size=(20, 4))

    @pytest.mark.parametrize(
        ("options", "error", "match"),
        [
            ({"n_features_to_select": 0}, InputValueError, "number of features, must be at least 1"),
            ({"n_features_to_select": 5}, InputValueError, "number of features, must be at most 4"),
            ({"n_features_to_select": 2.0}, InputTypeError, "whole number"),
            ({"n_features_to_select": True}, InputTypeError, "whole number"),
            ({"fraction": 0.0}, InputValueError, "above 0"),
            ({"fraction": 1.5}, InputValueError, "at most 1"),
            ({"fraction": math.nan}, InputValueError, "at most 1"),
            ({"fraction": "most"}, InputTypeError, "a number"),
            ({"n_features_to_select": 1, "fraction": 0.5}, InputValueError, "not both"),
            ({"memory": 0}, InputValueError, "at least 1"),
            ({"memory": "1GB"}, InputTypeError, "bytes"),
            ({"n_threads": 0}, InputValueError, "n_threads"),
        ],
    )
    def test_options(self, options: dict[str, Any], error: type[Exception], match: str) -> None:
        with pytest.raises(error, match=match):
            select_features(self.X, **options)

    def test_values(self) -> None:
        X = self.X.copy()
        X[3, 1] = np.nan
        with pytest.raises(NonFiniteError, match=r"row 3, column 1"):
            select_features(X)


class TestCoarseProfiles:
    @pytest.mark.turns(5)
    @pytest.mark.parametrize("name", [name for name in COLUMNS if name not in UNCOUNTED])
    def test_bounds_hold(self, name: str) -> None:
        """Never below the true gain, over nothing and over another column."""
        values = column(name, 5000)
        X = np.column_stack(
            [values.astype(np.float64), np.linspace(0, float(np.ptp(values.astype(float))), 5000)]
        )
        source = as_source(X)
        ranges = scan_ranges(source)
        assert 1e-290 < ranges.d_max < 1e290
        columns = ColumnPass(source, 1)
        coarse = CoarseProfiles(columns, ranges)
        slot = columns.slot()
        own = slot.raised(Column(0, X[:, 0].copy()), np.zeros(5000)).copy()
        other = slot.raised(Column(1, X[:, 1].copy()), np.zeros(5000)).copy()
        assert coarse.total(0) >= own.sum()
        for phi in (0.5 * other, other, own):
            reached = np.flatnonzero(own[1:] >= phi[1:]) + 1
            following = np.array([*reached, 5000])[np.searchsorted(reached, np.arange(5000))]
            assert coarse.may_attain(0, phi, following) or reached.size == 0

    def test_bounds_are_close_for_ordinary_columns(self) -> None:
        X = np.random.default_rng(0).normal(size=(5000, 1))
        columns = ColumnPass(as_source(X), 1)
        coarse = CoarseProfiles(columns, scan_ranges(as_source(X)))
        true = columns.slot().raised(Column(0, X[:, 0].copy()), np.zeros(5000)).sum()
        assert true <= coarse.total(0) <= 1.03 * true

    def test_ladder(self) -> None:
        ladder = ladder_of(BINS)
        assert ladder[0] == 1
        assert ladder[-1] == BINS
        assert np.all(np.diff(ladder) > 0)
        assert ladder_of(3).tolist() == [1, 2, 3]
