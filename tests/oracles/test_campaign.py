"""A little of the campaign, with the seed of the day; and that it notices what is not true."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

import geodim
from geodim.experiments.machine import describe_machine
from oracles import brute, campaign, rational
from oracles.cases import KINDS, run_case
from oracles.comparing import Mismatch, Tally, Truth, compare

STOPPED = {"exact": False, "stopped": "time limit"}
SLOW = {"dask": 3, "dask-sparse": 3, "dask-hops": 3, "hops": 60, "explain-hops": 20}  # of 100


@pytest.fixture
def seed(request: pytest.FixtureRequest, rng) -> int:
    return int(request.config.getoption("--seed"))


@pytest.mark.turns(4)
@pytest.mark.parametrize("kind", sorted(KINDS))
@pytest.mark.filterwarnings("ignore::UserWarning", "ignore::ResourceWarning")
def test_cases_of_the_day(seed, kind, picked):
    if kind.startswith("dask"):
        pytest.importorskip("distributed", reason="the extra dask is not installed")
    tally = Tally()
    numbers = picked(range(SLOW.get(kind, 100)), max(SLOW.get(kind, 100) // 3, 1))
    for number in numbers:
        try:
            run_case(seed, number, tally, frozenset(), kind)
        except Mismatch as error:
            pytest.fail(f"case {number} of {kind}, seed {seed}: {error}")
    assert sum(tally.values()) >= len(numbers)


# ---------------------------------------------------------------- what the campaign notices


@pytest.mark.parametrize(
    "wrong",
    [
        lambda r: {"phi_lower": np.nextafter(r.phi_lower, np.inf)},
        lambda r: {"phi_upper": np.append(r.phi_upper[:-1], r.phi_upper[-1] * 2)},
        lambda r: {"discriminability": r.discriminability * (1 + 1e-14)},
        lambda r: {"discriminability_upper": np.nextafter(r.discriminability, np.inf)},
        lambda r: {"d_max": np.nextafter(r.d_max, 0.0)},
        lambda r: {"shares": dict.fromkeys(r.shares, 0.5)},
        lambda r: {"attained_by": np.zeros_like(r.attained_by)},
        lambda _: {"exact": False},
        lambda _: {"stopped": "time limit"},
        lambda r: {**STOPPED, "discriminability_lower": r.discriminability * (1 + 1e-15)},
        lambda r: {**STOPPED, "phi_upper": np.nextafter(r.phi_upper, 0.0)},
        lambda r: {**STOPPED, "phi_lower": np.nextafter(r.phi_lower, np.inf)},
    ],
)
def test_a_wrong_number_is_noticed(rng, wrong):
    """Two columns of which each attains Phi somewhere, and any changed number of the result."""
    x = rng.permutation(9) / 3.0
    X = np.stack([x, x**2 / 2], axis=1)
    result, truth = geodim.intrinsic_dimension(X, normalize=False), Truth.of(X, normalize=False)
    assert len(result.shares) == 2
    compare(result, truth)
    compare(replace(result, **STOPPED), truth)
    with pytest.raises(Mismatch):
        compare(replace(result, **wrong(result)), truth)


def test_the_first_mismatch_ends_the_campaign(monkeypatch, capsys):
    """With the smallest data that shows it, and the way to repeat it."""
    solve = geodim.intrinsic_dimension

    def wrong(X, **options):
        """One ulp too much for more than three points, where there is a range at all."""
        result = solve(X, **options)
        more = (
            np.nextafter(result.d_max, np.inf) if result.n_points > 3 and result.d_max > 0.0 else result.d_max
        )
        return replace(result, d_max=more)

    monkeypatch.setattr(geodim, "intrinsic_dimension", wrong)
    others = [f"--without={kind}" for kind in KINDS if kind != "dense"]
    case = next(
        at for at in range(50) if campaign.run_batch(1, at, 1, frozenset(set(KINDS) - {"dense"})).failure
    )
    assert campaign.main(["--seed", "1", "--case", str(case), *others]) == 1
    output = capsys.readouterr().out
    assert f"case {case}: Mismatch: d_max" in output
    assert f"--seed 1 --case {case}" in output
    assert "the last call: " in output


def test_shrinking_keeps_the_mismatch(monkeypatch):
    solve = geodim.intrinsic_dimension

    def wrong(X, **options):
        result = solve(X, **options)
        return replace(result, d_max=0.0) if np.any(X == 7.0) else result

    monkeypatch.setattr(geodim, "intrinsic_dimension", wrong)
    X = np.random.default_rng(0).normal(size=(12, 4))
    X[5, 2] = 7.0
    small = campaign.shrunk(X, {"normalize": False})
    assert small.shape == (2, 1)
    assert 7.0 in small


@pytest.mark.filterwarnings("ignore::UserWarning", "ignore::ResourceWarning")
def test_a_short_campaign(tmp_path, capsys):
    left_out = [f"--without={kind}" for kind in ("dask", "dask-sparse", "dask-hops")]
    options = ["--number", "50", "--seed", "3", "--processes", "1", "--output", str(tmp_path / "oracle")]
    assert campaign.main([*options, *left_out]) == 0
    printed = capsys.readouterr().out
    assert printed == (tmp_path / "oracle.log").read_text()
    record = campaign.json.loads((tmp_path / "oracle.json").read_text())
    assert record["comparisons"] >= 50
    assert record["comparisons"] == sum(record["comparisons_by_kind"].values())
    assert record["mismatches"] == 0
    assert record["machine"] == describe_machine()


# ---------------------------------------------------------------- its own oracle


@pytest.mark.parametrize("n", [1, 2, 5, 40])
def test_widths(rng, n):
    X = rng.choice([0.0, -0.0, 1.0, 0.1, 1e300, -1e-300], (n, 3))
    expected = [[rational.nearest(w) for w in rational.phi_by_windows(c)] for c in rational.fractions_of(X)]
    assert brute.widths(X).T.tolist() == expected or n == 1
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(brute, "AT_ONCE", 0)
        if n > 1:
            assert brute.widths(X).T.tolist() == expected


@pytest.mark.parametrize("name", ["sym", "rw"])
def test_extended_hops_hold_the_rational_ones(rng, name):
    for _ in range(10):
        n = int(rng.integers(2, 9))
        X = rng.normal(size=(n, 2))
        edges = rng.integers(0, n, (2 * n, 2)).tolist()
        layers = brute.hop_layers(X, brute.transition(name, brute.adjacency(n, edges)), 3)
        hop = rational.means if name == "rw" else rational.symmetric
        truth = rational.hop_columns(rational.fractions_of(X), 3, hop, rational.neighbourhoods(n, edges))
        for k, (low, high) in enumerate(brute.hop_phi(layers)):
            phi = rational.largest_phi(truth[k])
            assert all(Fraction(*a.as_integer_ratio()) <= p for a, p in zip(low, phi, strict=True))
            assert all(Fraction(*b.as_integer_ratio()) >= p for b, p in zip(high, phi, strict=True))
            assert float((high - low).max()) < 1e-16 * (k + 1) * np.abs(X).max()


def test_series_add_up():
    """With all powers, the coefficients of both series sum to 1."""
    assert float(brute.ppr(0.3, 400).sum()) == pytest.approx(1.0, rel=1e-15)
    assert float(brute.heat(3.0, 80).sum()) == pytest.approx(1.0, rel=1e-15)
    ones = brute.Hop(np.eye(2, dtype=brute.LONG), 0.0)
    assert np.allclose(brute.series(brute.heat(3.0, 80), ones).matrix.astype(float), np.eye(2))
