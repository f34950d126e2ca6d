"""`support_curve` against all concepts of small contexts, closed forms, and supports one by one."""

from __future__ import annotations

import signal
import warnings

import numpy as np
import pytest

import geodim
from concepts import oracles
from geodim.concepts import as_context
from geodim.concepts.mining import descend
from geodim.engine.driver import Driver
from geodim.errors import (
    DataFileError,
    DegenerateDataWarning,
    InputTypeError,
    InputValueError,
    InterruptedWarning,
)

CLOSE = 1e-12  # bounds are rounded outwards by a few units in the last place


def curve_of(X, **options) -> geodim.SupportCurve:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DegenerateDataWarning)
        return geodim.support_curve(X, **options)


def dimension(counts, X) -> float:
    objects, m = np.shape(X)
    total = int(np.sum(counts))
    return np.inf if total == 0 else float((m * objects / total) ** 2)


class TestDefinition:
    @pytest.mark.parametrize("seed", range(3))
    def test_every_support_of_small_contexts(self, seed):
        """All concepts by brute force: the truth, and what those of a support alone prove."""
        for X in oracles.contexts(30, 40 + seed):
            supports = list(range(len(X) + 1, 0, -1))[-12:]
            curve = curve_of(X, supports=supports)
            truth = dimension(oracles.phi_counts(X), X)
            half = X.shape[1] // 2
            for row in curve.rows():
                least = row["support"]
                frequent = oracles.phi_counts(X, least)
                possible = np.maximum(frequent[-half:], least - 1) if half else np.zeros(0, int)
                assert row["lower"] * (1 - CLOSE) <= truth <= row["upper"] * (1 + CLOSE)
                assert row["frequent_upper"] == pytest.approx(dimension(frequent, X), rel=CLOSE)
                assert row["frequent_lower"] == pytest.approx(dimension(possible, X), rel=CLOSE)
                assert row["frequent_lower"] <= row["lower"] * (1 + CLOSE)
                assert row["upper"] <= row["frequent_upper"] * (1 + CLOSE)
            assert curve.exact[-1]
            assert curve.lower[-1] == curve.upper[-1] == geodim.paper.intrinsic_dimension(
                float(oracles.delta(X))
            )  # fmt: skip

    def test_bounds_never_widen_as_the_support_falls(self):
        for X in oracles.contexts(20, 7):
            curve = curve_of(X)
            assert curve.lower == sorted(curve.lower)
            assert curve.upper == sorted(curve.upper, reverse=True)

    def test_as_close_as_each_support_on_its_own(self):
        X = np.random.default_rng(3).random((300, 40)) < 0.2
        curve = curve_of(X, supports=[60, 30, 15, 5, 1])
        for row in curve.rows():
            alone = geodim.binary_dimension(X, min_support=row["support"])
            assert (row["lower"], row["upper"]) == (alone.lower, alone.upper)

    def test_what_is_settled_is_not_searched_again(self):
        X = np.random.default_rng(3).random((300, 40)) < 0.2
        work = [front.work for front in descend(as_context(X), [5, 1, 1, 1], Driver())]
        assert work[1] == work[2] == work[3]


class TestClosedForms:
    def test_nominal(self):
        curve = curve_of(np.eye(12, dtype=bool), supports=[3, 1])
        assert curve.lower[-1] == pytest.approx(12**4, rel=CLOSE)
        assert curve.frequent_upper == [np.inf, curve.lower[-1]]  # no concept of three objects counts

    def test_contranominal(self):
        """Of support s or more are the sets of up to n - s attributes: Q_s(t) = n - t down to s, then 0."""
        n = 20
        curve = curve_of(~np.eye(n, dtype=bool), supports=[15, 12, 1])
        for least, found in zip(curve.supports, curve.frequent_upper, strict=True):
            total = sum(n - t for t in range(1, n // 2 + 1) if n - t >= least)
            assert found == pytest.approx((n * n / total) ** 2, rel=CLOSE)
        assert curve.exact == [True] * 3  # by a flow
        assert curve.settled == 15

    def test_half_of_the_attributes(self):
        assert curve_of([[1, 1, 0, 0]] * 5).lower == [4.0, 4.0, 4.0]


class TestArguments:
    X = np.random.default_rng(0).random((40, 10)) < 0.5

    def test_shares_and_numbers_in_any_order(self):
        assert curve_of(self.X, supports=(1, 0.25, np.int64(20), 20)).supports == [20, 10, 1]
        assert curve_of(self.X, supports=np.array([5, 3])).supports == [5, 3]

    def test_by_default_all_halves(self):
        most = int(self.X.sum(axis=0).max())
        assert curve_of(self.X).supports == [most >> k for k in range(most.bit_length())]

    def test_scale(self):
        shared = curve_of(self.X, scale="global")
        assert shared.lower[-1] == geodim.binary_dimension(self.X, scale="global").dimension
        assert shared.normalized
        with pytest.raises(InputValueError, match="'none' or 'global'"):
            curve_of(self.X, scale="rank")

    @pytest.mark.parametrize(
        ("supports", "error"),
        [([], InputValueError), ([-1], InputValueError), ([1.5], InputValueError), ("12", InputTypeError),
         (3, InputTypeError), ([None], InputTypeError)],
    )  # fmt: skip
    def test_no_supports(self, supports, error):
        with pytest.raises(error, match="support"):
            curve_of(self.X, supports=supports)

    def test_nothing_to_tell_apart(self):
        with pytest.warns(DegenerateDataWarning, match="infinite"):
            curve = geodim.support_curve([[1, 1], [0, 0]])
        assert curve.lower[-1] == np.inf
        assert "inf" in curve.to_json()
        assert type(curve).from_json(curve.to_json()).lower == curve.lower
        curve.plot().figure.canvas.draw()

    def test_ctrl_c_keeps_what_is_known(self):
        X = np.random.default_rng(1).random((300, 40)) < 0.3
        seen = []

        def progress(*now):
            seen.append(now)
            if len(seen) == 45:  # with the third of the supports, of twenty sizes each
                signal.raise_signal(signal.SIGINT)

        with pytest.warns(InterruptedWarning, match="interrupted"):
            curve = geodim.support_curve(X, progress=progress)
        assert curve.stopped == "interrupted"
        assert seen[0] == (1, 20 * len(curve.parameters["supports"]))
        given = curve.parameters["supports"]
        assert curve.supports == given[: len(curve.supports)]
        assert 3 <= len(curve.supports) < len(given)
        truth = geodim.binary_dimension(X).dimension
        assert curve.lower[-1] <= truth <= curve.upper[-1]
        assert curve.frequent_upper[-1] == curve.frequent_upper[-2]

    def test_out_of_time(self):
        X = np.random.default_rng(0).random((500, 40)) < 0.9
        with pytest.warns(InterruptedWarning, match="minimum support of"):
            curve = geodim.support_curve(X, time_limit=0.3)
        assert curve.stopped == "time limit"
        assert curve.lower[-1] < curve.upper[-1]
        assert "stopped (time limit)" in curve.text
        again = type(curve).from_json(curve.to_json())
        assert again.stopped == "time limit"

    def test_supports_that_do_not_fall_are_refused(self):
        values = curve_of(self.X).to_dict()
        with pytest.raises(DataFileError, match="do not fall at entry 1"):
            geodim.SupportCurve.from_dict({**values, "supports": values["supports"][::-1]})
        with pytest.raises(DataFileError, match="different lengths"):
            geodim.SupportCurve.from_dict({**values, "exact": values["exact"][1:]})
