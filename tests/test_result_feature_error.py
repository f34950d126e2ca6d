"""Results of features that are off by a known amount: their bounds hold every data set as close."""

from __future__ import annotations

import itertools
import json

import numpy as np
import pytest

import geodim
from geodim import paper


class TestFeatureError:
    """Features that were rounded: Phi is exact for them, and the bounds hold the value of the definition."""

    def make(self, error: float) -> geodim.IDResult:
        from geodim.data.checks import scan_ranges
        from geodim.data.sources import as_source
        from geodim.engine.solve import compute_profile
        from geodim.summary import summarise

        source = as_source(np.array([[0.0], [1.0], [3.0], [7.0]]))
        ranges = scan_ranges(source)
        profile = compute_profile(source, ranges=ranges)
        return summarise(
            profile,
            ranges,
            normalize=False,
            names=None,
            rtol=0.0,
            seconds=0.0,
            n_threads=1,
            feature_error=error,
        )

    def test_bounds_hold_every_data_set_that_is_as_close(self) -> None:
        error = 0.125
        result = self.make(error)
        assert not result.exact
        assert result.phi_exact
        for signs in itertools.product((-1.0, 1.0), repeat=4):
            moved = np.array([[0.0], [1.0], [3.0], [7.0]]) + error * np.array(signs)[:, np.newaxis]
            true = paper.intrinsic_dimension(paper.algorithm_1(moved))
            assert result.lower <= true <= result.upper
        # Three widths, each wider or narrower by two errors, over four points.
        assert result.discriminability_upper == pytest.approx(result.discriminability + 0.75 * 2 * error)
        assert result.discriminability_lower == pytest.approx(result.discriminability - 0.75 * 2 * error)

    def test_an_error_beyond_everything_leaves_no_upper_bound(self) -> None:
        result = self.make(100.0)
        assert result.discriminability_lower == 0.0
        assert result.upper == np.inf
        assert not result.one_number

    def test_json_keeps_it_and_older_files_have_none(self) -> None:
        result = self.make(0.125)
        values = json.loads(result.to_json())
        again = geodim.IDResult.from_dict(values)
        assert (again.feature_error, again.exact, again.phi_exact) == (0.125, False, True)
        del values["feature_error"]
        values["format"] = "geodim.IDResult/2"
        assert geodim.IDResult.from_dict(values).feature_error == 0.0
