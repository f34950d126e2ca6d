"""Gradients of Delta: against finite differences, closed forms and the definition; and descent with them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import geodim
from distributions import COLUMNS, column
from geodim.data.sources import as_source
from geodim.engine.solve import compute_profile
from geodim.engine.subgradient import counts_of_windows, order_of, starts_of_windows
from geodim.errors import (
    DegenerateDataWarning,
    InputTypeError,
    InputValueError,
    NonFiniteError,
    ShapeError,
)

torch = pytest.importorskip("torch", reason="PyTorch is not installed")

from geodim.torch import discriminability, hop_features, intrinsic_dimension_loss

RING = [(i, (i + 1) % 12) for i in range(12)] + [(0, 5), (3, 9)]


def tensor(*shape: int, seed: int = 0, **options: Any) -> Any:
    values = np.random.default_rng(seed).normal(size=shape)
    return torch.tensor(values, **options).requires_grad_()


def by_differences(function: Any, X: Any, step: float = 1e-6) -> Any:
    """Central differences, one entry after the other."""
    with torch.no_grad():
        found = torch.zeros_like(X)
        for at in np.ndindex(*X.shape):
            ends = []
            for side in (step, -step):
                moved = X.detach().clone()
                moved[at] += side
                ends.append(float(function(moved)))
            found[at] = (ends[0] - ends[1]) / (2 * step)
    return found


class TestStarts:
    """Where windows begin, against a look at all of them."""

    @pytest.mark.parametrize("n", [2, 31, 65, 300])
    def test_leftmost_narrowest_window_of_every_size(self, n: int) -> None:
        for name in COLUMNS:
            values = column(name, n)
            phi = compute_profile(as_source(values[:, np.newaxis]), n_threads=1).phi
            ordered = np.sort(values)
            starts = starts_of_windows(ordered, phi, phi > 0.0)
            ordered = ordered.astype(np.float64)
            for d in np.flatnonzero(phi > 0.0).tolist():
                widths = ordered[d:] - ordered[:-d]
                assert starts[d] == np.argmin(widths), (name, d)

    def test_of_equal_values_the_first_rows_have_the_lower_ranks(self) -> None:
        values = np.array([1.0, 0.0, 1.0, 0.0, 1.0])
        phi = np.array([0.0, 0.0, 0.0, 1.0, 1.0])
        # Ranks are rows 1, 3, 0, 2, 4; windows of 4 and 5 points begin at rank 0.
        assert counts_of_windows(values, phi, phi > 0.0).tolist() == [0, -2, 1, 0, 1]

    @pytest.mark.parametrize("dtype", [np.float32, np.float64])
    @pytest.mark.parametrize("distinct", [2, 5, 300, 9000])
    def test_the_order_of_many_rows(self, distinct: int, dtype: Any) -> None:
        rng = np.random.default_rng(distinct)
        some = rng.standard_normal(distinct).astype(dtype)
        some[:2] = 0.0, -0.0  # which are equal
        values = rng.choice(some, 9000)
        np.testing.assert_array_equal(order_of(values), np.argsort(values, kind="stable"))


class TestValue:
    @pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16])
    @pytest.mark.parametrize("scale", ["global", "none"])
    def test_is_exact(self, dtype: Any, scale: str) -> None:
        X = tensor(200, 7, dtype=dtype)
        expected = geodim.intrinsic_dimension(X.detach(), scale=scale)
        assert discriminability(X, scale=scale).item() == expected.discriminability
        assert intrinsic_dimension_loss(X, scale=scale).item() == pytest.approx(expected.dimension, rel=1e-15)

    @pytest.mark.parametrize("metric", ["euclidean", "manhattan", "chebyshev"])
    def test_of_distances(self, metric: str) -> None:
        X = tensor(90, 4)
        expected = geodim.intrinsic_dimension(X.detach(), features="distances", metric=metric)
        assert discriminability(X, features="distances", metric=metric).item() == expected.discriminability

    @pytest.mark.parametrize("operator", ["sym", "rw", "ppr"])
    def test_of_hops(self, operator: str) -> None:
        X = tensor(12, 3)
        expected = geodim.khop_dimensions(X.detach(), RING, 2, operator=operator)
        found = discriminability(X, features="hops", graph=RING, hops=2, operator=operator)
        assert found.item() == expected.results[2].discriminability

    def test_a_number_is_a_unit(self) -> None:
        X = tensor(30, 2)
        assert discriminability(X, scale=4.0).item() == discriminability(X, scale="none").item() / 4.0


class TestGradient:
    @pytest.mark.parametrize("scale", ["global", "none"])
    def test_of_columns(self, scale: str) -> None:
        X = tensor(23, 4)
        function = lambda Y: discriminability(Y, scale=scale)
        function(X).backward()
        assert torch.allclose(X.grad, by_differences(function, X), atol=1e-8)

    def test_by_the_check_of_pytorch(self) -> None:
        X = tensor(9, 3)
        assert torch.autograd.gradcheck(discriminability, (X,), eps=1e-6, atol=1e-6)
        assert torch.autograd.gradcheck(lambda Y: intrinsic_dimension_loss(Y, log=True), (X,), atol=1e-5)

    @pytest.mark.turns(3)
    @pytest.mark.parametrize("metric", ["euclidean", "manhattan", "chebyshev"])
    @pytest.mark.parametrize("landmarks", [None, [0, 4, 7]])
    def test_of_distances(self, metric: str, landmarks: Any) -> None:
        X = tensor(14, 3, seed=3)
        function = lambda Y: discriminability(Y, features="distances", metric=metric, landmarks=landmarks)
        function(X).backward()
        assert torch.allclose(X.grad, by_differences(function, X, 1e-7), atol=1e-6)

    @pytest.mark.turns(2)
    @pytest.mark.parametrize("operator", ["sym", "rw", "ppr", "heat", "matrix"])
    def test_of_hops(self, operator: str) -> None:
        from scipy.sparse import random_array

        if operator == "matrix":
            given: Any = random_array((12, 12), density=0.3, rng=np.random.default_rng(5)).tocsr()
            options: Any = {"operator": given}
        else:
            options = {"graph": RING, "operator": operator}
        X = tensor(12, 2, seed=1)
        function = lambda Y: discriminability(Y, features="hops", hops=2, **options)
        function(X).backward()
        assert torch.allclose(X.grad, by_differences(function, X), atol=1e-7)

    def test_of_coefficients_of_hops(self) -> None:
        hops = hop_features(tensor(12, 2).detach(), RING, 3, operator="rw")
        gamma = torch.tensor([0.4, 0.3, 0.2, 0.1], dtype=torch.float64, requires_grad=True)
        function = lambda g: discriminability(sum(c * hop for c, hop in zip(g, hops, strict=True)))
        function(gamma).backward()
        assert torch.allclose(gamma.grad, by_differences(function, gamma), atol=1e-7)

    def test_types_and_chains(self) -> None:
        X = tensor(50, 3, dtype=torch.float32)
        (3.0 * discriminability(X) + X.sum()).backward()
        assert X.grad.dtype == torch.float32
        Y = X.detach().double().requires_grad_()
        discriminability(Y).backward()
        assert torch.allclose(X.grad.double(), 3.0 * Y.grad + 1.0, atol=1e-6)

    def test_delta_grows_in_proportion(self) -> None:
        """Unscaled, Delta is homogeneous of degree 1, and moving all points changes nothing (Euler)."""
        X = tensor(400, 5)
        delta = discriminability(X, scale="none")
        delta.backward()
        assert float((X.grad * X.detach()).sum()) == pytest.approx(delta.item(), rel=1e-12)
        assert float(X.grad.sum(0).abs().max()) < 1e-12

    def test_normalised_it_does_not(self) -> None:
        X = tensor(400, 5)
        discriminability(X).backward()
        assert float((X.grad * X.detach()).sum()) == pytest.approx(0.0, abs=1e-12)

    def test_in_place_changes_are_noticed(self) -> None:
        X = tensor(10, 2)
        Y = X * 1.0
        delta = discriminability(Y)
        Y += 1.0
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            delta.backward()


class TestTies:
    def test_lowest_column_leftmost_window(self) -> None:
        X = torch.tensor([[0.0, 0.0], [1.0, 1.0], [2.0, 2.0]], dtype=torch.float64, requires_grad=True)
        discriminability(X, scale="none").backward()
        assert (3.0 * X.grad).tolist() == [[-2.0, 0.0], [1.0, 0.0], [1.0, 0.0]]

    def test_a_width_of_zero_counts_for_nothing(self) -> None:
        X = torch.tensor([[0.0], [0.0], [0.0], [5.0]], dtype=torch.float64, requires_grad=True)
        discriminability(X, scale="none").backward()
        assert (4.0 * X.grad).squeeze().tolist() == [-1.0, 0.0, 0.0, 1.0]

    def test_points_that_are_all_alike(self) -> None:
        X = torch.ones((5, 2), requires_grad=True)
        with pytest.warns(DegenerateDataWarning):
            loss = intrinsic_dimension_loss(X)
        loss.backward()
        assert loss.item() == math.inf
        assert X.grad.abs().max() == 0.0


def descend(function: Any, start: Any, project: Any, steps: int = 60) -> tuple[Any, list[float]]:
    """Steepest descent, with steps that are halved until the value falls."""
    at, values = start, []
    for _ in range(steps):
        at = at.detach().requires_grad_()
        value = function(at)
        values.append(float(value.detach()))
        (gradient,) = torch.autograd.grad(value, at)
        step = 1.0
        while step > 1e-12:
            moved = project(at.detach() - step * gradient)
            if float(function(moved)) < values[-1]:
                break
            step /= 2
        else:
            break
        at = moved
    return at.detach(), values


class TestDescent:
    def test_weights_of_grids(self) -> None:
        """Of w j h with weights of sum 1, the widest column has most of Delta if it has all of the weight."""
        grid = torch.arange(50.0, dtype=torch.float64)
        X = torch.stack([3.0 * grid, 2.0 * grid, grid], dim=1)

        def project(weights: Any) -> Any:
            clipped = weights.clamp(min=0.0)
            return clipped / clipped.sum()

        start = torch.tensor([0.34, 0.33, 0.33], dtype=torch.float64)
        found, values = descend(lambda w: -discriminability(X * w, scale="none"), start, project)
        assert values == sorted(values, reverse=True)
        assert found[0] > 0.99

    def test_points_on_a_line_spread_evenly(self) -> None:
        """In [0, 1], ranges fixed, Delta is largest for even spacing: phi_k <= (k - 1) / (n - 1)."""
        n = 8
        start = torch.tensor(np.sort(np.random.default_rng(2).random(n)))
        start[0], start[-1] = 0.0, 1.0

        def project(points: Any) -> Any:
            moved = points.clamp(0.0, 1.0)
            moved[0], moved[-1] = 0.0, 1.0
            return moved

        function = lambda x: -discriminability(x[:, None], scale="none")
        _, values = descend(function, start, project, steps=400)
        assert values == sorted(values, reverse=True)
        best = -sum(range(1, n)) / (n - 1) / n
        assert best <= values[-1]
        assert values[-1] < 0.5 * (values[0] + best)


class TestInputs:
    def test_are_refused_by_name(self) -> None:
        X = tensor(10, 2)
        with pytest.raises(InputTypeError, match="floating-point"):
            discriminability(torch.arange(10).reshape(5, 2))
        with pytest.raises(InputTypeError, match="ndarray"):
            discriminability(np.eye(3))
        with pytest.raises(ShapeError, match="points by features"):
            discriminability(X[0])
        with pytest.raises(InputValueError, match="features"):
            discriminability(X, features="angles")
        with pytest.raises(InputValueError, match="needs a graph"):
            discriminability(X, features="hops")
        with pytest.raises(InputValueError, match="metric"):
            discriminability(X, features="distances", metric="edit")
        with pytest.raises(InputValueError, match="landmarks"):
            discriminability(X, features="distances", landmarks=np.eye(2))
        with pytest.raises(InputValueError, match="scale"):
            discriminability(X, scale="rank")
        with pytest.raises(InputValueError, match="scale"):
            discriminability(X, scale=0.0)
        with pytest.raises(ShapeError, match="12 nodes"):
            discriminability(X, features="hops", graph=RING)
        broken = X.detach().clone()
        broken[3, 1] = math.nan
        with pytest.raises(NonFiniteError, match="row 3"):
            discriminability(broken)
