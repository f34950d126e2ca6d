"""Rank correlations against their definition and the printed table."""

from __future__ import annotations

import math
from itertools import permutations

import numpy as np
import pytest

from geodim.experiments.correlation import (
    HOPS,
    MLE,
    OURS,
    POOLED,
    Correlation,
    Curves,
    claims_of,
    correlate,
    correlations,
    drops_and_gains,
    printed_curves,
)


def spearman(x, y):
    """The textbook formula, for values without ties."""
    ranks = [np.argsort(np.argsort(values)) for values in (x, y)]
    n = len(x)
    return 1.0 - 6.0 * float(((ranks[0] - ranks[1]) ** 2).sum()) / (n * (n * n - 1))


@pytest.mark.parametrize("seed", range(4))
def test_definition_and_exact_p(seed):
    rng = np.random.default_rng(seed)
    x, y = rng.normal(size=5), rng.normal(size=5)
    rho, p = correlate(x, y)
    assert rho == pytest.approx(spearman(x, y))
    chance = [spearman(x, np.array(order)) >= rho - 1e-12 for order in permutations(y)]
    assert p == pytest.approx(np.mean(chance))


def test_perfect_and_undefined():
    assert correlate(np.arange(5.0), np.arange(5.0)) == pytest.approx((1.0, 1 / 120))
    assert all(math.isnan(value) for value in correlate(np.zeros(5), np.arange(5.0)))
    assert all(math.isnan(value) for value in correlate(np.arange(2.0), np.arange(2.0)))


def test_drops_and_gains():
    drops, gains = drops_and_gains([100.0, 50.0, 40.0], [0.5, 0.7, 0.65])
    np.testing.assert_allclose(drops, [0.5, 0.2])
    np.testing.assert_allclose(gains, [0.2, -0.05])


def test_printed_table():
    """Cora by hand: drops and gains both fall from k = 1 to k = 5, so that the ranks agree throughout."""
    found = {(one.estimator, one.dataset): one for one in correlations("printed", printed_curves())}
    assert len(found) == 21
    cora = found["intrinsic dimension", "Cora"]
    assert (cora.n, cora.rho) == (5, pytest.approx(1.0))
    arxiv = printed_curves()
    drops, gains = drops_and_gains(arxiv.dimension["ogbn-arxiv"], arxiv.accuracy["ogbn-arxiv"])
    # 31.4731 is printed twice and 31.4730 after it: two drops of nearly nothing, then two of some percent.
    assert np.argsort(drops).tolist() == [1, 2, 4, 3, 0]
    assert found["intrinsic dimension", "ogbn-arxiv"].rho == pytest.approx(spearman(drops, gains))
    assert found["intrinsic dimension", POOLED].n == 30


def test_claims_as_printed():
    drop, better = claims_of("printed", correlations("printed", printed_curves()))
    assert drop.holds is False  # not on ogbn-arxiv
    assert drop.sentence == "holds in 5 of 6 data sets"
    assert "ogbn-arxiv 0.00" in drop.evidence
    assert better.holds is True
    assert "better in 5, the MLE in 0" in better.evidence
    assert "pooled, 0.47 against 0.03 from 30 pairs; the number of hops alone" in better.evidence


def test_the_number_of_hops_alone_does_better():
    """Gains shrink from hop to hop: -k orders them without any data, and better than both dimensions."""
    found = {(one.estimator, one.dataset): one.rho for one in correlations("printed", printed_curves())}
    assert found[HOPS, "Cora"] == pytest.approx(1.0)  # 0.1894, 0.0543, 0.0104, 0.0047, 0.0034
    assert found[HOPS, POOLED] > max(found[OURS, POOLED], found[MLE, POOLED])


def test_claims_without_numbers_and_with_few():
    nothing = correlations("ours", Curves({}, {}, {}))
    assert nothing == []
    assert [claim.holds for claim in claims_of("ours", nothing)] == [None, None]
    few = Curves({"Cora": [3.0, 2.0, 1.0]}, {"Cora": [3.0, 2.0, 1.0]}, {"Cora": [0.1, 0.2, 0.3]})
    assert correlations("ours", few) == []  # two pairs correlate with anything


def test_json_has_no_nan():
    assert Correlation("ours", "MLE", "Cora", 5, math.nan, math.nan).to_dict()["rho"] is None
