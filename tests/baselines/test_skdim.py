"""scikit-dimension by name: the same numbers as calling it, and clear words for wrong names and options."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from geodim import errors
from geodim.baselines import skdim_estimate, skdim_names

skdim = pytest.importorskip("skdim.id", reason="the extra compare is not installed")

X = np.random.default_rng(0).normal(size=(300, 8)) * np.arange(1, 9)


def test_names():
    names = skdim_names()
    assert {"lPCA", "MLE", "TwoNN", "FisherS"} <= set(names)
    assert all(hasattr(skdim, name) for name in names)


@pytest.mark.parametrize("name", ["lPCA", "MLE", "TwoNN", "MOM"])
def test_same_as_calling_it(name):
    found = skdim_estimate(name.lower(), X)
    assert found.dimension == getattr(skdim, name)().fit(X).dimension_
    assert found.name == f"skdim:{name}"
    assert found.versions["scikit-dimension"]


def test_options_are_handed_on():
    found = skdim_estimate("MLE", sp.csr_array(X), n_neighbors=7)
    assert found.dimension == skdim.MLE().fit(X, n_neighbors=7).dimension_
    assert found.n_neighbors == 7
    assert skdim_estimate("lPCA", X, ver="ratio").dimension == skdim.lPCA(ver="ratio").fit(X).dimension_
    seeded = skdim_estimate("KNN", X, seed=3)
    assert seeded.dimension == skdim.KNN(random_state=3).fit(X).dimension_
    assert seeded.seed == 3
    assert skdim_estimate("TwoNN", X, seed=3).seed is None  # draws nothing


def test_wrong_names_and_options():
    with pytest.raises(errors.InputValueError, match="did you mean lPCA"):
        skdim_estimate("PCA", X)
    with pytest.raises(errors.InputValueError, match="TwoNN has no parameter 'colour'"):
        skdim_estimate("TwoNN", X, colour="red")
    with pytest.raises(errors.InputValueError, match="ask for fewer"):
        skdim_estimate("MLE", X, n_neighbors=300)
    with pytest.raises(errors.NonFiniteError):
        skdim_estimate("MLE", np.full((5, 2), np.nan))


def test_data_it_refuses():
    with pytest.raises(errors.InputValueError, match="cannot use this data"):
        skdim_estimate("MLE", [[1.0], [2.0], [3.0]])
