"""Certificates of results: always true, as narrow as asked for, and refused where they cannot be made."""

from __future__ import annotations

import copy
import gc
import pickle
import warnings
import weakref
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_digits

import geodim
from distributions import COLUMNS, column, random_matrix
from exact_delta import GRANTED, exact_deltas, holds
from geodim import checker
from geodim.errors import (
    CertificateError,
    DegenerateDataWarning,
    InputTypeError,
    InputValueError,
    InterruptedWarning,
    NonFiniteError,
    ShapeError,
)
from geodim.paper import algorithm_1, d_max, phi_all

LONG = ("unsigned_64",)  # beyond 2^53
CONSTANT = ("constant", "signed_zeros")


def measured(X: Any, **options: Any) -> geodim.IDResult:
    """Its result, without a warning where all values are alike."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DegenerateDataWarning)
        return geodim.intrinsic_dimension(X, **options)


def assert_narrow(interval: tuple[float, float], rtol: float) -> None:
    low, high = interval
    assert high <= low * (1.0 + rtol) * (1.0 + 1e-15) or low in (np.inf, 0.0)


@pytest.mark.turns(5)
@pytest.mark.parametrize("name", [name for name in COLUMNS if name not in (*LONG, *CONSTANT)])
def test_columns_of_every_kind(name: str) -> None:
    for n in (2, 3, 40, 700):
        X = column(name, n)[:, np.newaxis]
        result = measured(X)
        certificate = result.certificate()
        (interval,) = certificate.verify(X)
        assert_narrow(interval, 1e-3)
        assert interval[0] <= result.dimension <= interval[1]
        if n <= 40:
            (exact,) = exact_deltas(X.astype(np.float64))
            assert holds(exact, certificate.discriminabilities[0])
        else:
            total = sum(map(Fraction, phi_all(X.astype(np.float64)).tolist()))
            delta = total / n / Fraction(d_max(X.astype(np.float64)))
            assert holds(delta, certificate.discriminabilities[0])
            assert holds(1 / delta**2, interval)


@pytest.mark.turns(4)
@pytest.mark.parametrize("seed", range(12))
def test_random_data_of_any_accuracy(seed: int) -> None:
    rng = np.random.default_rng(seed)
    X = random_matrix(rng, int(rng.integers(1, 30)), int(rng.integers(1, 6)))
    for rtol in (1e-7, 1e-4, 0.05):
        normalize = bool(rng.integers(2))
        result = measured(X, normalize=normalize)
        certificate = result.certificate(rtol=rtol)
        (interval,) = certificate.verify(X)
        assert_narrow(interval, rtol)
        (exact,) = exact_deltas(X, normalize=normalize)
        assert holds(exact, certificate.discriminabilities[0])


def test_digits() -> None:
    X = load_digits().data
    certificate = geodim.intrinsic_dimension(X).certificate()
    (interval,) = certificate.verify(X)
    assert_narrow(interval, 1e-3)
    assert interval[0] <= (d_max(X) / algorithm_1(X)) ** 2 <= interval[1]
    assert len(certificate.to_json()) < 4000


@pytest.mark.parametrize(
    "X", [np.ones((1, 3)), np.ones((5, 2)), np.zeros((2, 1)), np.full((4, 2), 1e300)], ids=str
)
def test_infinite_dimensions(X: Any) -> None:
    with pytest.warns(DegenerateDataWarning):
        certificate = geodim.intrinsic_dimension(X).certificate(X)
    assert certificate.verify(X) == [(np.inf, np.inf)]
    assert certificate.discriminabilities == [(0.0, 0.0)]


@pytest.mark.turns(4)
@pytest.mark.parametrize("operator", ["sym", "rw"])
@pytest.mark.parametrize("seed", range(6))
def test_hops(operator: str, seed: int) -> None:
    rng = np.random.default_rng([seed, 5])
    n = int(rng.integers(2, 20))
    X = (
        rng.integers(0, 3, (n, 2)).astype(float)
        if seed % 2
        else np.where(rng.random((n, 2)) < 0.4, rng.normal(size=(n, 2)), 0)
    )
    X[0] = [3.0, -1.5]  # not all alike
    edges = rng.integers(0, n, (2, 2 * n))
    for kind in (np.float64, np.float32):
        given = X.astype(kind)
        result = geodim.khop_dimensions(given, edges, 3, operator=operator)
        certificate = result.certificate()
        deltas = exact_deltas(given, edges.T.tolist(), 3, operator)
        for interval in certificate.verify(given, edges):
            assert_narrow(interval, 1e-3)
        for exact, interval in zip(deltas, certificate.discriminabilities, strict=True):
            assert holds(exact, interval, GRANTED if operator == "sym" else Fraction(0))


def test_hops_that_leave_nothing_to_tell_apart() -> None:
    """On a complete graph all nodes have the same mean.

    What float64 leaves of it is no wider than its errors.
    """
    n = 6
    edges = np.array([(i, j) for i in range(n) for j in range(i)]).T
    with pytest.warns(DegenerateDataWarning):
        result = geodim.khop_dimensions(np.full((n, 1), 0.1), edges, 2)
    certificate = result.certificate(np.full((n, 1), 0.1), edges)
    assert certificate.verify(np.full((n, 1), 0.1), edges)[0] == (np.inf, np.inf)
    assert all(low == 0.0 and high < 1e-13 for low, high in certificate.discriminabilities)


def same_data(X: Any) -> dict[str, Any]:
    pd, pl, torch, da = (pytest.importorskip(name) for name in ("pandas", "polars", "torch", "dask.array"))
    names = [str(j) for j in range(X.shape[1])]  # as columns without names are called
    return {
        "fortran": np.asfortranarray(X),
        "list": X.tolist(),
        "csr": sp.csr_array(X),
        "pandas": pd.DataFrame(X, columns=names),
        "polars": pl.DataFrame(X, schema=names),
        "torch": torch.from_numpy(X),
        "dask": da.from_array(X, chunks=(30, 2)),
        "unknown chunks": da.from_array(X, chunks=(30, 2))[da.from_array(np.ones(len(X), bool), chunks=30)],
        "dask frame": pytest.importorskip("dask.dataframe").from_pandas(pd.DataFrame(X, columns=names), 3),
    }


def test_data_in_any_form() -> None:
    X = np.where(
        np.random.default_rng(3).random((100, 5)) < 0.5, 0.0, np.random.default_rng(4).normal(size=(100, 5))
    )
    result = geodim.intrinsic_dimension(X)
    reference = result.certificate().to_dict()
    for name, data in same_data(X).items():
        certificate = result.certificate(data)
        assert certificate.to_dict() == reference, name
        certificate.verify(data)


def test_a_tensor_on_a_device_comes_by_columns() -> None:
    """Stands in for a GPU: the same way of asking, which is all that is seen of one."""
    torch = pytest.importorskip("torch")
    from geodim.certificate import columns

    class Tensor:
        __module__ = "torch"
        device = type("device", (), {"type": "cuda"})

        def __init__(self, tensor: Any) -> None:
            self.tensor, self.shape, self.dtype = tensor, tensor.shape, tensor.dtype

        def detach(self) -> Any:
            return self

        def __getitem__(self, at: Any) -> Any:
            return self.tensor[at]

    X = np.random.default_rng(5).normal(size=(50, 20)).astype(np.float32)
    far = columns.Columns(Tensor(torch.from_numpy(X)))
    np.testing.assert_array_equal(np.stack(list(far), axis=1), X)


def test_types_of_numbers() -> None:
    rng = np.random.default_rng(6)
    for kind in (bool, np.int8, np.uint16, np.int64, np.uint64, np.float16, np.float32):
        X = rng.integers(0, 2 if kind is bool else 50, (60, 3)).astype(kind)
        result = geodim.intrinsic_dimension(X)
        (interval,) = result.certificate(X).verify(X)
        assert interval[0] <= result.dimension <= interval[1]
    for big in (2**53 + 1, -(2**60)):
        X = np.array([[big], [0], [5]])
        result = geodim.intrinsic_dimension(X)
        with pytest.raises(InputValueError, match="column 0 holds whole numbers of 2\\^53 and more"):
            result.certificate()
        frame = pytest.importorskip("pandas").DataFrame({"a": [0.5, 1e300, 2.0], "b": [1, 2, big]})
        with pytest.raises(InputValueError, match="column 1 holds"):
            geodim.intrinsic_dimension(frame).certificate()


def test_results_with_tolerances_stopped_or_from_json() -> None:
    X = np.random.default_rng(7).normal(size=(5000, 4))
    exact = geodim.intrinsic_dimension(X)
    with pytest.warns(InterruptedWarning):
        stopped = geodim.intrinsic_dimension(X, time_limit=0.0)
    for result in (
        geodim.intrinsic_dimension(X, rtol=0.1),
        geodim.IDResult.from_json(exact.to_json()),
        geodim.IDResult.from_json(exact.to_json(max_support=5)),
        stopped,
    ):
        (interval,) = result.certificate(X).verify(X)
        assert_narrow(interval, 1e-3)
        assert interval[0] <= exact.dimension <= interval[1]


def test_the_result_knows_its_data_as_long_as_it_lives() -> None:
    X = np.random.default_rng(8).normal(size=(100, 2))
    edges = np.array([[0, 1], [1, 2]])
    result, hopped = geodim.intrinsic_dimension(X), geodim.khop_dimensions(X, edges, 1)
    result.certificate().verify(X)
    hopped.certificate().verify(X, edges)
    for copied in (pickle.loads(pickle.dumps(result)), copy.copy(result)):
        with pytest.raises(
            CertificateError, match=r"the data .* no longer available: call result.certificate\(X\)"
        ):
            copied.certificate()
        copied.certificate(X)
    alive = weakref.ref(X)
    del X
    gc.collect()
    assert alive() is None  # the results do not keep it
    with pytest.raises(CertificateError, match="the data"):
        result.certificate()
    with pytest.raises(CertificateError, match="the data"):
        hopped.certificate()
    del edges
    gc.collect()
    with pytest.raises(CertificateError, match=r"the graph .* result.certificate\(X, graph\)"):
        hopped.certificate(np.zeros((100, 2)))
    with pytest.raises(CertificateError, match="call result"):
        geodim.intrinsic_dimension([[1.0], [2.0]]).certificate()  # there are no weak references to lists


def test_other_data_than_that_of_the_result() -> None:
    X = np.random.default_rng(9).normal(size=(100, 2))
    result = geodim.intrinsic_dimension(X)
    with pytest.raises(ShapeError, match="100 points and 2 features, the data has 99 and 2"):
        result.certificate(X[:-1])
    with pytest.raises(CertificateError, match="d_max"):
        result.certificate(2.0 * X)
    other = np.sort(X, axis=0)
    other[20:80] = other[20]
    with pytest.raises(CertificateError, match="the data proves that it lies between"):
        result.certificate(other)
    X[3, 1] = np.nan
    with pytest.raises(NonFiniteError, match="row 3, column 1"):
        result.certificate()
    hopped = geodim.khop_dimensions(other, [(0, 1)], 1)
    with pytest.raises(ShapeError, match="ask the KHopResult"):
        hopped[1].certificate(other)


def test_what_cannot_be_certified() -> None:
    X = np.random.default_rng(10).normal(size=(20, 2))
    edges = np.array([[0, 1, 2], [1, 2, 3]])
    with pytest.raises(CertificateError, match=r"weighted points .* np.repeat\(X, weights, axis=0\)"):
        geodim.intrinsic_dimension(X, weights=np.full(20, 2)).certificate(np.repeat(X, 2, axis=0))
    with pytest.raises(CertificateError, match="'ppr' cannot be certified yet"):
        geodim.khop_dimensions(X, edges, 1, operator="ppr").certificate()
    with pytest.raises(CertificateError, match="'sym' with edge weights cannot be certified yet"):
        geodim.khop_dimensions(X, edges, 1, edge_weights=np.ones(3)).certificate()
    result = geodim.intrinsic_dimension(X)
    for wrong, error in (
        (0.0, InputValueError),
        (2.0, InputValueError),
        ("x", InputTypeError),
        (True, InputTypeError),
    ):
        with pytest.raises(error, match="rtol"):
            result.certificate(rtol=wrong)


def test_an_accuracy_that_takes_too_many_sizes(monkeypatch: pytest.MonkeyPatch) -> None:
    from geodim.certificate import make

    X = np.random.default_rng(11).normal(size=(500, 1))
    result = geodim.intrinsic_dimension(X)
    monkeypatch.setattr(make, "MOST_SIZES", 100)
    with pytest.raises(InputValueError, match="more than 100 sizes"):
        result.certificate(rtol=1e-4)
    monkeypatch.undo()
    monkeypatch.setattr(checker, "MOST_COMPARISONS", 100)
    with pytest.raises(InputValueError, match="too many comparisons"):
        result.certificate(rtol=1e-4)
    monkeypatch.undo()
    monkeypatch.setattr(make, "SIZES", 50.0)
    monkeypatch.setattr(make, "ROUNDS", 1)
    with pytest.raises(InputValueError, match="was not reached"):
        result.certificate()
