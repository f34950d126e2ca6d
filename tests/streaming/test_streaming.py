"""Streams: bounds hold the dimension of the whole, and neither order nor merging changes a bit of a state."""

from __future__ import annotations

import itertools
import json
import math
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone

import geodim
from distributions import COLUMNS, column
from geodim import StreamingDimension
from geodim.errors import DataFileError, InputTypeError, InputValueError, NonFiniteError, ShapeError
from geodim.streaming.dimension import cells_for
from geodim.streaming.sketch import LOWEST, Sketch, edges_at

if TYPE_CHECKING:
    from pathlib import Path

SMALL = {"rtol": 0.5, "memory": 40_000}  # few cells, so that they are joined soon


def mixed(n: int, seed: int = 0) -> Any:
    rng = np.random.default_rng(seed)
    return np.column_stack(
        [rng.normal(size=n), rng.exponential(size=n), rng.standard_cauchy(n), rng.integers(0, 9, n)]
    )


def streamed(X: Any, parts: int = 1, **options: Any) -> StreamingDimension:
    stream = StreamingDimension(**options)
    for part in np.array_split(X, parts):
        stream.partial_fit(part)
    return stream


class TestBounds:
    @pytest.mark.parametrize("scale", ["global", "none"])
    @pytest.mark.parametrize("memory", [40_000, 10**6, 10**8])
    def test_hold_the_whole(self, memory: int, scale: str) -> None:
        X = mixed(4000)
        stream = streamed(X, 7, memory=memory, scale=scale)
        whole = geodim.intrinsic_dimension(X, scale=scale)
        assert stream.lower_ <= whole.dimension <= stream.upper_
        assert stream.lower_ <= stream.dimension_ <= stream.upper_
        assert stream.result_.d_max == whole.d_max
        assert stream.n_points_ == 4000
        if memory == 10**8:
            assert stream.error_ < 1e-3

    @pytest.mark.turns(5)
    @pytest.mark.parametrize("name", list(COLUMNS))
    def test_hold_every_kind_of_column(self, name: str) -> None:
        values = column(name, 900)
        if values.dtype.kind in "iu" and np.abs(values.astype(np.float64)).max() >= 2.0**53:
            pytest.skip("refused: float64 does not tell such numbers apart")
        X = np.column_stack([values, values[::-1]])
        stream = streamed(X, 5, **SMALL, scale="none")
        if np.all(values == values[0]):
            assert stream.lower_ == math.inf
        else:
            assert stream.lower_ <= geodim.intrinsic_dimension(X, scale="none").dimension <= stream.upper_

    def test_few_values_are_kept_as_they_are(self) -> None:
        stream = streamed(np.random.default_rng(0).integers(0, 2, (5000, 3)), 10)
        assert all(sketch.level == LOWEST for sketch in stream._sketches)
        assert np.all(np.isin(stream._sketches[0].least, [0.0, 1.0]))
        X = np.zeros((1000, 1))
        X[:300] = 1.0  # ID = (n / (n - m))^2 with m = 700
        assert streamed(X, 3).lower_ <= (1000 / 300) ** 2 <= streamed(X, 3).upper_

    def test_are_there_at_any_time(self) -> None:
        X, stream = mixed(3000), StreamingDimension()
        for stop in range(500, 3001, 500):
            stream.partial_fit(X[stop - 500 : stop])
            whole = geodim.intrinsic_dimension(X[:stop]).dimension
            assert stream.lower_ <= whole <= stream.upper_

    def test_memory_is_bounded(self) -> None:
        stream = StreamingDimension(memory=200_000)
        for seed in range(20):
            stream.partial_fit(mixed(2000, seed))
            assert stream.nbytes <= 100_000

    def test_one_point(self) -> None:
        stream = StreamingDimension().partial_fit([[1.0, 2.0]])
        assert stream.dimension_ == math.inf


class TestOrder:
    @pytest.mark.parametrize("memory", [17_000, 60_000])
    def test_merging_in_any_order_gives_the_same_bits(self, memory: int) -> None:
        X = mixed(3000)
        rng = np.random.default_rng(1)
        expected = streamed(X, 1, rtol=0.5, memory=memory).to_json()
        cuts = np.array_split(X[rng.permutation(3000)], 4)
        parts = [streamed(part, 3, rtol=0.5, memory=memory) for part in cuts]
        for order in itertools.permutations(range(4)):
            a, b, c, d = (parts[i] for i in order)
            assert a.merge(b).merge(c).merge(d).to_json() == expected
            assert a.merge(b).merge(c.merge(d)).to_json() == expected
            assert a.merge(b.merge(c.merge(d))).to_json() == expected

    def test_batches_of_any_size_give_the_same_bits(self) -> None:
        X = mixed(2000)
        whole = streamed(X, 1, **SMALL)
        for parts in (2, 13, 400):
            assert streamed(X[::-1], parts, **SMALL).to_json() == whole.to_json()
        other = streamed(X[::-1], 13, **SMALL).result_
        assert np.array_equal(other.phi_upper, whole.result_.phi_upper)
        assert (other.lower, other.upper) == (whole.lower_, whole.upper_)

    def test_values_around_zero_and_of_any_size(self) -> None:
        """Levels join cells where scaled numbers are too small or too large for a float64."""
        values = np.concatenate([s * 10.0 ** np.arange(-320, 308, 7.0) for s in (1.0, -1.0)])
        rng = np.random.default_rng(0)
        expected = Sketch(5)
        expected.add(values)
        for _ in range(20):
            found = Sketch(5)
            for part in np.array_split(rng.permutation(values), 9):
                one = Sketch(5)
                one.add(part)
                found = found.merged(one)
            assert found.to_dict() == expected.to_dict()

    def test_nothing_changes_what_is_merged(self) -> None:
        a, b = streamed(mixed(500), 2, **SMALL), streamed(mixed(700, 1), 2, **SMALL)
        before = a.to_json(), b.to_json()
        merged = a.merge(b)
        merged.partial_fit(mixed(100, 2))
        assert (a.to_json(), b.to_json()) == before
        assert merged.n_points_ == 1300

    def test_nothing_is_neutral(self) -> None:
        a, nothing = streamed(mixed(500), **SMALL), StreamingDimension(**SMALL)
        assert a.merge(nothing).to_json() == nothing.merge(a).to_json() == a.to_json()
        assert nothing.merge(nothing).to_json() == nothing.to_json()

    def test_cells_of_a_level_are_unions_of_those_below(self) -> None:
        values = np.sort(np.random.default_rng(0).standard_cauchy(2000))
        for level in range(-60, 20):
            fine, coarse = edges_at(values, level), edges_at(values, level + 1)
            assert np.all(edges_at(fine, level + 1) == coarse)
            assert np.all((coarse <= fine) & (fine <= values))


class TestState:
    def test_goes_on_from_json(self, tmp_path: Path) -> None:
        X = mixed(1000)
        stream = streamed(X[:600], 3, **SMALL)
        stream.to_json(tmp_path / "state.json")
        again = StreamingDimension.from_json(tmp_path / "state.json")
        assert again.to_json() == stream.to_json()
        assert again.partial_fit(X[600:]).to_json() == streamed(X, **SMALL).to_json()
        assert StreamingDimension.from_json(StreamingDimension().to_json()).to_json()

    def test_result_has_json(self) -> None:
        stream = streamed(mixed(500))
        again = geodim.IDResult.from_json(stream.result_.to_json())
        assert (again.lower, again.upper) == (stream.lower_, stream.upper_)

    @pytest.mark.parametrize(
        ("change", "message"),
        [
            (lambda state: state.pop("rtol"), "rtol"),
            (lambda state: state.update(format="other"), "not the state"),
            (lambda state: state.update(n_points=7), "n_points"),
            (lambda state: state["columns"][0]["counts"].pop(), "not of the same cells"),
            (lambda state: state["columns"][0]["least"].reverse(), "ascend"),
            (lambda state: state["columns"][0]["greatest"].__setitem__(0, 1e9), "beyond its ends"),
            (lambda state: state.update(names=["a"]), "names"),
            (lambda state: state["columns"][0]["counts"].__setitem__(0, -1), "counts"),
        ],
    )
    def test_damaged_states_are_refused(self, change: Any, message: str) -> None:
        state = json.loads(streamed(mixed(50), **SMALL).to_json())
        change(state)
        with pytest.raises(DataFileError, match=message):
            StreamingDimension.from_json(json.dumps(state))

    def test_is_an_estimator(self) -> None:
        stream = streamed(mixed(100), **SMALL)
        fresh = clone(stream)
        assert fresh.get_params() == stream.get_params()
        assert not hasattr(fresh, "n_points_")
        assert stream.fit(mixed(50)).n_points_ == 50


class TestInputs:
    def test_of_any_form(self) -> None:
        pandas = pytest.importorskip("pandas", reason="pandas is not installed")
        X = np.random.default_rng(0).integers(0, 5, (60, 3)).astype(np.float64)
        expected = streamed(X).to_json()
        for form in (
            X.tolist(),
            np.asfortranarray(X),
            X.astype(np.float32),
            X.astype(np.int64),
            csr_array(X),
        ):
            assert StreamingDimension().partial_fit(form).to_json() == expected
        named = StreamingDimension().partial_fit(pandas.DataFrame(X, columns=["a", "b", "c"]))
        assert set(named.result_.shares) <= {"a", "b", "c"}

    def test_a_refused_batch_leaves_nothing_behind(self) -> None:
        stream = streamed(mixed(100), **SMALL)
        before, broken = stream.to_json(), mixed(10)
        broken[3, 1] = np.nan
        with pytest.raises(NonFiniteError, match="row 3"):
            stream.partial_fit(broken)
        with pytest.raises(ShapeError, match="2 columns, and the ones before had 4"):
            stream.partial_fit(np.eye(2))
        assert stream.to_json() == before

    def test_wrong_ones_are_named(self) -> None:
        with pytest.raises(InputValueError, match="rtol"):
            StreamingDimension(rtol=0.0).partial_fit(np.eye(3))
        with pytest.raises(InputValueError, match="memory"):
            StreamingDimension(memory=100).partial_fit(np.eye(3))
        with pytest.raises(InputValueError, match="scale"):
            StreamingDimension(scale="rank").partial_fit(np.eye(3))
        with pytest.raises(InputValueError, match="partial_fit first"):
            StreamingDimension().dimension_  # noqa: B018
        with pytest.raises(InputValueError, match=r"2\^53"):
            StreamingDimension().partial_fit(np.array([[2**60], [1]]))
        stream = StreamingDimension().partial_fit(np.eye(3))
        with pytest.raises(InputTypeError, match="StreamingDimension"):
            stream.merge(np.eye(3))
        with pytest.raises(InputValueError, match="same rtol"):
            stream.merge(StreamingDimension(rtol=0.1))
        with pytest.raises(ShapeError, match="3 columns, the other 2"):
            stream.merge(StreamingDimension().partial_fit(np.eye(2)))

    def test_cells_follow_tolerance_and_memory(self) -> None:
        assert cells_for(1, 1e-2, 10**9) == 51_200
        assert cells_for(100, 1e-3, 10**8) == 15_625
