"""Plans for a GPU: against runs on an H200, and against what its solver and its graphs hold."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from geodim.data.graphs import as_graph
from geodim.errors import DeviceMemoryError
from geodim.features import make_operator
from geodim.planning import device
from geodim.planning.cuda import H200_BYTES, plan_cuda
from geodim.planning.rates import H200
from geodim.plans import Problem, plan

GIB = 1 << 30
RNG = np.random.default_rng(3)
PAPERS = Problem(111_059_956, 128, hops=5, stored_entries=3_342_441_710)  # docs/results/gpu.log


@pytest.mark.parametrize(
    ("problem", "on_device", "gib", "seconds"),
    [
        (Problem(10**7, 128), False, 5.8, 0.810),
        (Problem(10**7, 128), True, 8.3, 0.472),
        (Problem(10**8, 128), False, 57.0, 5.377),
        (Problem(10**8, 128), True, 83.3, 2.181),
        (PAPERS, False, 110.7, 32.840),
    ],
)
def test_against_the_h200(problem, on_device, gib, seconds):
    """Measured: docs/results/gpu.log."""
    found = plan_cuda(replace(problem, on_device=on_device))
    assert found.fits
    assert found.memory / GIB == pytest.approx(gib, rel=0.1)
    assert 0.67 * seconds < found.seconds < 1.5 * seconds
    assert "H200" in found.basis


def test_bytes_moved_to_the_device():
    assert plan_cuda(Problem(10**7, 16)).bytes_moved == 10**7 * 16 * 4
    assert plan_cuda(Problem(10**7, 16, on_device=True)).bytes_moved == 0
    assert plan_cuda(PAPERS).bytes_moved == PAPERS.nbytes + 4 * PAPERS.stored_entries
    streamed = plan_cuda(replace(PAPERS, stored_entries=40 * 10**9))
    assert streamed.bytes_moved == PAPERS.nbytes + streamed.passes * 4 * 40 * 10**9
    assert any("copied to the device at every hop" in note for note in streamed.notes)


def test_batches_of_the_device_add_up():
    """8 columns one by one, then two, four: and the rest in batches of 16."""
    alone = plan_cuda(Problem(1000, 1)).parts["windows"]
    assert alone == pytest.approx(H200.batch, rel=1e-3)
    assert plan_cuda(Problem(1000, 127)).parts["windows"] == pytest.approx(12 * H200.batch, rel=1e-2)


def test_what_does_not_fit_the_device():
    small = plan_cuda(Problem(10**8, 16), budget=GIB)
    assert small.fits is False
    assert "up to about" in small.why_not
    fitting = int(small.why_not.split("up to about ")[1].split(" points")[0].replace(",", ""))
    assert plan_cuda(Problem(fitting, 16), budget=GIB).fits
    with pytest.raises(DeviceMemoryError, match="beside the graph"):
        device.hop_widths(10**6, 4, 16, 3, 10**6 * 120)
    assert "need" in plan_cuda(replace(PAPERS, hops=100)).why_not
    assert plan_cuda(Problem(10**9, 64)).fits
    assert not plan_cuda(Problem(10**10, 64)).fits
    assert plan(Problem(10**6, 4), "cuda").budget == H200_BYTES


def test_a_smaller_device_takes_fewer_columns_at_a_time():
    budgets = [2 * GIB, 4 * GIB, 8 * GIB, 80 * GIB]
    plans = [plan_cuda(Problem(10**7, 64), budget=budget) for budget in budgets]
    assert all(found.memory <= found.budget for found in plans)
    widths = [found.columns for found in plans]
    assert widths == sorted(widths)
    assert widths[0] < widths[-1]


def test_the_solver_on_the_device_holds_what_the_formula_says():
    torch = pytest.importorskip("torch")
    pytest.importorskip("triton")
    from geodim.backends.cuda.solver import DeviceSolver

    solver = DeviceSolver(100_000, "cpu", layers=3, batch=4)
    held = sum(value.nbytes for value in vars(solver).values() if isinstance(value, torch.Tensor))
    assert device.solver_bytes(100_000, 3, 4) == pytest.approx(held, rel=0.02)


@pytest.mark.parametrize("weighted", [False, True])
def test_the_graph_on_the_device_holds_what_the_formula_says(weighted):
    pytest.importorskip("torch")
    pytest.importorskip("triton")
    from geodim.backends.cuda.operators import to_device

    edges = RNG.integers(0, 2_000, (2, 30_000))
    graph = as_graph(edges, 2_000, edge_weights=RNG.random(30_000) + 0.5 if weighted else None)
    operator = to_device(make_operator(graph, "sym"), "cpu")
    predicted, resident = device.graph_bytes(2_000, len(graph.indices), 10**9, weighted=weighted)
    assert resident
    assert predicted == pytest.approx(operator.nbytes, rel=0.1)
    assert not device.graph_bytes(2_000, 10**9, 10**9)[1]


def test_many_short_columns_are_dropped_by_counts():
    """At a fraction of what sorting them would take, in blocks that fit the budget."""
    many = plan_cuda(Problem(100_000, 100_000, on_device=True))
    assert many.way.drops
    assert many.parts["sorting"] == 0.0
    assert many.seconds < 0.5e-9 * many.n_points * many.n_features
    small = plan_cuda(Problem(100_000, 5_000), memory=10**9)
    assert small.way.drops
    assert 1 < small.way.width < many.way.width
    assert small.memory <= 10**9
    for other in (Problem(100_000, 64), Problem(10**8, 1000), Problem(100_000, 5_000, rtol=0.01)):
        assert not plan_cuda(other).way.drops
