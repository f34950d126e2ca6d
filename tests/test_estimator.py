"""The scikit-learn estimator: its conventions, and the same numbers as the function."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

import geodim
from geodim import IntrinsicDimension
from geodim.errors import (
    DegenerateDataWarning,
    InputValueError,
    InterruptedWarning,
    NonFiniteError,
    ShapeError,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

X = np.random.default_rng(11).normal(size=(120, 4))


# A single point is one of the checks.
@pytest.mark.filterwarnings("ignore::geodim.errors.DegenerateDataWarning")
@parametrize_with_checks([IntrinsicDimension(), IntrinsicDimension(rtol=0.05, normalize=False, n_threads=1)])
def test_scikit_learn_conventions(estimator: IntrinsicDimension, check: Callable[[Any], None]) -> None:
    check(estimator)


@pytest.mark.parametrize("rtol", [0.0, 0.05])
@pytest.mark.parametrize("normalize", [True, False])
def test_same_as_the_function(rtol: float, normalize: bool) -> None:
    model = IntrinsicDimension(rtol=rtol, normalize=normalize).fit(X)
    result = geodim.intrinsic_dimension(X, rtol=rtol, normalize=normalize)
    assert (model.dimension_, model.lower_, model.upper_) == (result.dimension, result.lower, result.upper)
    assert (model.error_, model.discriminability_) == (result.error, result.discriminability)
    assert model.result_.parameters["rtol"] == rtol
    assert model.n_features_in_ == 4


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame, pa.table], ids=["pandas", "polars", "pyarrow"])
def test_frames_keep_their_names(frame: Any) -> None:
    model = IntrinsicDimension().fit(frame({name: X[:, i] for i, name in enumerate("wxyz")}))
    assert model.feature_names_in_.tolist() == list("wxyz")
    assert model.n_features_in_ == 4
    assert set(model.result_.shares) <= set("wxyz")
    assert model.discriminability_ == geodim.intrinsic_dimension(X).discriminability


def test_weights_are_multiplicities() -> None:
    weights = np.arange(120) % 3
    model = IntrinsicDimension().fit(X, sample_weight=weights)
    assert (
        model.discriminability_ == IntrinsicDimension().fit(np.repeat(X, weights, axis=0)).discriminability_
    )


def test_sparse_is_not_densified() -> None:
    """Four billion cells would not fit as numbers, 4,000 non-zeros do."""
    n, d = 200_000, 20_000
    rng = np.random.default_rng(0)
    matrix = sp.csr_array(
        (rng.normal(size=4000), (rng.integers(0, n, 4000), rng.integers(0, d, 4000))), shape=(n, d)
    )
    assert IntrinsicDimension(n_threads=1).fit(matrix[:, :50]).n_features_in_ == 50
    assert IntrinsicDimension(time_limit=60.0)._validated(matrix) is matrix


def test_memory_maps_are_handed_on_as_they_are(tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", X.astype(np.float32))
    mapped = np.load(tmp_path / "x.npy", mmap_mode="r")
    model = IntrinsicDimension()
    assert model._validated(mapped) is mapped
    assert model.fit(mapped).n_features_in_ == 4


def test_clone_keeps_parameters() -> None:
    model = IntrinsicDimension(rtol=0.1, normalize=False, n_threads=2, time_limit=9.0).fit(X)
    copy = clone(model)
    given = {"rtol": 0.1, "scale": None, "normalize": False, "n_threads": 2, "time_limit": 9.0}
    given["last_bit"] = False
    assert copy.get_params() == {"features": "coordinates", "metric": None, "landmarks": None, **given}
    assert not hasattr(copy, "dimension_")


def test_errors_and_warnings_are_geodim_s_own() -> None:
    with pytest.raises(InputValueError, match="rtol"):
        IntrinsicDimension(rtol=-1.0).fit(X)
    with pytest.raises(NonFiniteError, match="row 1, column 0"):
        IntrinsicDimension().fit([[1.0], [np.nan]])
    with pytest.raises(ShapeError, match="weights"):
        IntrinsicDimension().fit(X, sample_weight=[1, 2])
    with pytest.warns(DegenerateDataWarning):
        assert IntrinsicDimension().fit(np.ones((3, 2))).dimension_ == np.inf
    with pytest.warns(InterruptedWarning):
        model = IntrinsicDimension(time_limit=0.0).fit(X)
    assert model.lower_ < model.upper_


def test_no_warning_for_good_data() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        IntrinsicDimension().fit(X)
