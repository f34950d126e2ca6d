"""Bounds from counts in cells: against the definition, and with as few cells and passes as promised."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st

from distributions import COLUMNS, column
from engine.oracle import engine_phi
from geodim import paper
from geodim.engine import cells
from geodim.engine.cells import CellProfile

NUMBERS = st.floats(-1e6, 1e6, width=32) | st.integers(-3, 3).map(float)


@st.composite
def columns_and_edges(draw):
    """A column of either type, and cells that hold it, with edges on and between its values."""
    kind = draw(st.sampled_from([np.float32, np.float64]))
    values = np.array(draw(st.lists(NUMBERS, min_size=2, max_size=60)), kind)
    more = np.array(draw(st.lists(NUMBERS, max_size=20)), kind)
    some = values[draw(st.lists(st.integers(0, values.size - 1), max_size=20))]
    top = np.nextafter(values.max(), kind(np.inf))
    inner = np.concatenate([more, some, np.nextafter(some, kind(np.inf))])
    edges = np.unique(np.concatenate([[values.min(), top], np.clip(inner, values.min(), top)]).astype(kind))
    return values, edges


def counted(values, edges, weights=None):
    counts = np.zeros(edges.size - 1, np.int64)
    cells.count(values, edges, weights, counts)
    return counts


def profile_of(values, edges, sizes, step):
    bounds = cells.bounds_at(sizes, edges, counted(values, edges))
    return CellProfile.of(values.size, 1, step, sizes, bounds, np.zeros(sizes.size, np.int32))


@given(columns_and_edges(), st.randoms(use_true_random=False))
def test_every_value_is_counted_in_its_cell(case, random):
    values, edges = case
    expected = np.histogram(values.astype(np.float64), edges.astype(np.float64))[0]
    assert np.array_equal(counted(values, edges), expected)
    weights = np.array([random.randrange(5) for _ in values])
    weighted = np.histogram(values.astype(np.float64), edges.astype(np.float64), weights=weights)[0]
    assert np.array_equal(counted(values, edges, weights), weighted)


@given(columns_and_edges())
def test_bounds_enclose_every_window(case):
    """As the definition has it: for every k, whatever the cells."""
    values, edges = case
    sizes = np.arange(2, values.size + 1)
    lower, upper = cells.bounds_at(sizes, edges, counted(values, edges))
    phi = paper.phi_all(values.astype(np.float64)[:, np.newaxis])
    assert np.all(lower <= phi)
    assert np.all(phi <= upper)


@given(columns_and_edges())
def test_cells_of_one_number_each_leave_nothing_open(case):
    values, _ = case
    edges = np.union1d(values, np.nextafter(values, values.dtype.type(np.inf)))
    sizes = np.arange(2, values.size + 1)
    lower, upper = cells.bounds_at(sizes, edges, counted(values, edges))
    assert np.array_equal(lower, upper)
    assert np.array_equal(lower, paper.phi_all(values.astype(np.float64)[:, np.newaxis]))


@pytest.mark.turns(2)
@pytest.mark.parametrize("n_cells", [63, 64, 65, 200, 1000])
def test_blocks_of_cells_that_are_passed_over_hide_no_window(n_cells):
    """Against every run of cells."""
    rng = np.random.default_rng(n_cells)
    for counts in (rng.integers(0, 4, n_cells), rng.poisson(3, n_cells) ** 3, np.ones(n_cells, np.int64)):
        edges = np.cumsum(np.append(0.0, rng.exponential(size=n_cells)))
        before = np.append(0, np.cumsum(counts))
        sizes = np.unique(rng.integers(2, before[-1] + 1, 40))
        lower, upper = cells.bounds_at(sizes, edges, counts)
        greatest = np.nextafter(edges[1:], -np.inf)
        for at, k in enumerate(sizes):
            i, j = np.nonzero(np.triu(before[1:][np.newaxis, :] - before[:-1][:, np.newaxis] >= k))
            assert upper[at] == (greatest[j] - edges[i]).min()
            assert lower[at] == np.maximum(edges[j] - greatest[i], 0.0).min()


@given(columns_and_edges(), st.data())
def test_columns_are_bounded_where_they_matter(case, data):
    """Where a column lies below what is known of Phi it may say nothing, elsewhere all that it can."""
    values, edges = case
    counts, n = counted(values, edges), values.size
    sizes = np.arange(2, n + 1)
    lower, upper = cells.bounds_at(sizes, edges, counts)
    at = np.append(
        np.sort(data.draw(st.lists(st.integers(2, n - 1), max_size=5, unique=True)) if n > 2 else []), n
    )
    at = at.astype(np.int64)
    least = np.sort(data.draw(st.lists(NUMBERS.map(abs), min_size=at.size, max_size=at.size)))
    some_lower, some_upper = cells.bounds_where_it_matters(sizes, edges, counts, (at, least))
    # What Phi is at least, for every size.
    known = np.append(0.0, least)[np.searchsorted(at, sizes, side="right")]
    said = (some_lower == lower) & (some_upper == upper)
    assert np.all(said | ((some_upper == 0.0) & (upper <= known)))


def refine(values, sample, step):
    """Pass after pass until Delta is known to within a step; how many it took, and the most cells."""
    delta = float(engine_phi(values[:, np.newaxis]).sum()) / values.size
    edges = cells.first_edges(sample, float(values.min()), float(values.max()), step)
    sizes = cells.first_sizes(values.size)
    for passes in range(1, 40):
        profile = profile_of(values, edges, sizes, step)
        while profile.more_sizes(cells.SIZES * step).size > sizes.size:
            sizes = profile.more_sizes(cells.SIZES * step)
            profile = profile_of(values, edges, sizes, step)
        middle, off = profile.rounded_mean()
        assert (middle - off) * (1 - 1e-12) <= delta <= (middle + off) * (1 + 1e-12)
        if off <= step:
            return passes, edges.size
        parts = cells.next_parts(edges, counted(values, edges), values.size, profile.still_open())
        assert parts is not None
        edges = cells.refined(edges, parts)
    return pytest.fail(f"off by {off / step} steps after {passes} passes")


@pytest.mark.turns(5)
@pytest.mark.parametrize("rtol", [0.1, 0.003])
@pytest.mark.parametrize("name", COLUMNS)
def test_refining_reaches_the_tolerance(name, rtol, picked):
    """However little the sample tells; and Delta lies within the bounds all the time."""
    values = column(name, 5000)
    values = values.astype(np.float32 if values.dtype == np.float32 else np.float64)
    if not 1e-100 < float(values.max()) - float(values.min()) < 1e100:
        pytest.skip("constant, or too wide or narrow for steps")
    step = 0.2 * rtol * float(engine_phi(values[:, np.newaxis]).sum()) / values.size
    for sample in picked((values[::7], values[:10], values[:2]), 1):
        refine(values, sample, step)


def test_heavy_tails_need_few_passes_and_cells():
    """Steps of one size would be a million and more."""
    values = np.random.default_rng(0).pareto(0.6, 200_000)
    step = 0.2 * 0.01 * float(engine_phi(values[:, np.newaxis]).mean()) / 5
    assert (values.max() - values.min()) / step > 1e6
    passes, n_cells = refine(values, values[::100], step)
    assert passes <= 3
    assert n_cells < 50_000


def test_costs_are_shared_by_the_fewest_parts():
    rng = np.random.default_rng(0)
    for budget in (1e-3, 0.1, 3.0):
        costs = rng.exponential(size=50) ** 3
        parts = cells.parts_for(costs, budget)
        assert (costs / parts).sum() <= budget * (1 + 1e-12)
        alike = int(np.ceil(costs.sum() / budget))  # equally many parts for all
        assert parts.sum() <= 50 * alike + 50
    assert np.all(cells.parts_for(np.zeros(3), 1.0) == 1)


def test_cells_up_to_the_largest_number():
    """There is no next float32 to end the last cell with: it goes on in float64."""
    largest = float(np.finfo(np.float32).max)
    values = np.array([0.0, largest / 4, largest / 4, largest / 2, largest], np.float32)
    edges = cells.first_edges(values, 0.0, largest, largest / 64)
    assert edges[0] == 0.0
    assert largest < edges[-1] < np.inf
    counts = counted(values, edges)
    assert counts.sum() == values.size
    lower, upper = cells.bounds_at(np.arange(2, values.size + 1), edges, counts)
    phi = paper.phi_all(values.astype(np.float64)[:, np.newaxis])
    assert np.all(lower <= phi)
    assert np.all(phi <= upper)
