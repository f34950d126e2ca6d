"""Unions: the definition on all features side by side, as they are or each member divided by its diameter."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given, settings, strategies as st
from sklearn.base import clone

import geodim
from families.cases import matrix_of, points
from geodim import paper
from geodim.errors import (
    DegenerateDataWarning,
    InputTypeError,
    InputValueError,
    InterruptedWarning,
    NonFiniteError,
    ShapeError,
)
from geodim.families.bounds import Whole
from geodim.families.protocol import opened
from geodim.families.sources import MadeColumns
from geodim.families.union import Member
from geodim.features import Coordinates, Directions, Distances, Union, Values

RNG = np.random.default_rng(7)
WHOLE = {  # families that are all there: an exact value is known
    "columns and distances": ["coordinates", "distances"],
    "three metrics": [Distances(), Distances(metric="manhattan"), Distances(metric="hamming")],
    "with values": [
        Distances(metric="chebyshev"),
        Values(functions=[lambda X: X.sum(axis=1)]),
        "coordinates",
    ],
    "columns only": ["coordinates", Values(functions=[lambda X: np.abs(X[:, 0])])],
    "alone": ["distances"],
}


def quietly(X, features, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DegenerateDataWarning)
        return geodim.intrinsic_dimension(X, features=features, **options)


def side_by_side(members, X, *, divided=False):
    """The values of all members as one matrix, made by each member itself, and the names of its columns."""
    found, names = [], []
    for member in members:
        named = {"coordinates": Coordinates(), "distances": Distances()}
        family = named[member] if isinstance(member, str) else member
        source = opened(family, X)
        values = np.empty((source.n_features, source.n_points), source.dtype)
        source.read(range(source.n_features), values)
        matrix = values.T.astype(float)
        most = np.ptp(matrix, axis=0).max()
        found.append(matrix / most if divided and most > 0.0 else matrix)
        own = source.names or [str(i) for i in range(source.n_features)]
        names += [(len(found) - 1, name) for name in own]
    return np.concatenate(found, axis=1), names


def assert_definition(result, matrix, **options):
    """Bit for bit the definition on the matrix, which lies between the bounds."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DegenerateDataWarning)
        reference = geodim.intrinsic_dimension(matrix, **options)
    np.testing.assert_array_equal(result.phi_lower, paper.phi_all(matrix))
    assert (result.d_max, result.discriminability) == (reference.d_max, reference.discriminability)
    assert result.lower <= reference.dimension <= result.upper
    assert list(result.shares.values()) == list(reference.shares.values())
    return reference


@pytest.mark.turns(3)
@pytest.mark.parametrize("by", [None, "diameter"])
@pytest.mark.parametrize("members", WHOLE.values(), ids=WHOLE)
def test_definition(members, by):
    for name in ("normal", "duplicates", "clusters", "lattice", "outlier", "all_equal"):
        X = points(name, 66, seed=4)
        result = quietly(X, Union(members, by))
        matrix, names = side_by_side(members, X, divided=by is not None)
        reference = assert_definition(result, matrix)
        assert result.n_features == matrix.shape[1]
        told = [names[int(column)][1] for column in reference.shares]
        assert [share.partition(": ")[2] for share in result.shares] == told


def test_lists_are_unions():
    X = points("normal", 60)
    listed = geodim.intrinsic_dimension(X, features=["coordinates", "distances"], metric="cosine")
    union = geodim.intrinsic_dimension(X, features=Union(["coordinates", Distances(metric="cosine")]))
    nested = geodim.intrinsic_dimension(X, features=[["coordinates"], Union([Distances(metric="cosine")])])
    assert listed.dimension == union.dimension == nested.dimension
    assert listed.parameters == union.parameters == nested.parameters
    assert listed.parameters["features"] == {
        "family": "union",
        "members": [{"family": "coordinates"}, {"family": "distances", "metric": "cosine"}],
    }
    assert geodim.IDResult.from_json(listed.to_json()).parameters == listed.parameters


def test_a_divided_union_within_another():
    X = points("outlier", 70)
    inner = ["coordinates", Distances(metric="manhattan")]
    result = quietly(X, [Union(inner, by="diameter"), "coordinates"])
    matrix = np.concatenate([side_by_side(inner, X, divided=True)[0], X], axis=1)
    assert_definition(result, matrix)
    assert all(name.startswith(("union: coordinates: ", "union: distances: ", "coordinates: ")) for name in
               result.shares)  # fmt: skip


@pytest.mark.parametrize("kind", ["float32", "sparse", "frame", "list", "integers"])
def test_kinds_of_data(kind):
    X = np.where(RNG.random((60, 4)) < 0.5, RNG.integers(0, 9, (60, 4)), 0).astype(float)
    given = {
        "float32": np.float32(X), "sparse": sp.csr_array(X), "frame": pd.DataFrame(X, columns=list("abcd")),
        "list": X.tolist(), "integers": X.astype(np.int64),
    }[kind]  # fmt: skip
    result = quietly(given, Union(["coordinates", Distances(metric="manhattan")], by="diameter"))
    assert_definition(
        result, side_by_side(["coordinates", Distances(metric="manhattan")], X, divided=True)[0]
    )
    if kind == "frame":
        assert {name for name in result.shares if name.startswith("coord")} <= {
            f"coordinates: {c}" for c in "abcd"
        }


def test_integers_that_float64_does_not_hold():
    base = 2**60
    X = np.array([[base, 0], [base + 1, 5], [base + 3, 2]])
    family = Union(["coordinates", Values(functions=lambda X: (X[:, 1]).astype(float))])
    assert_definition(quietly(X, family), np.array([[0, 0, 0], [1, 5, 5], [3, 2, 2.0]]))


@pytest.mark.turns(3)
@pytest.mark.parametrize("by", [None, "diameter"])
@pytest.mark.parametrize(("threads", "width"), [(1, 64), (2, 1), (3, 5)])
def test_threads_and_widths_change_no_bit(threads, width, by, monkeypatch):
    X = points("lattice", 300)
    family = Union(["coordinates", Distances(), Directions(random=9), Distances(landmarks=20)], by)
    reference = geodim.intrinsic_dimension(X, features=family, n_threads=1)
    monkeypatch.setattr(MadeColumns, "at_once", width)
    result = geodim.intrinsic_dimension(X, features=family, n_threads=threads)
    np.testing.assert_array_equal(result.phi_lower, reference.phi_lower)
    assert (result.lower, result.upper, result.dimension) == (
        reference.lower,
        reference.upper,
        reference.dimension,
    )
    assert result.shares == reference.shares
    assert result.attained_by.tolist() == reference.attained_by.tolist()


@pytest.mark.parametrize("unit", [1.0, 2.0**-20])
@pytest.mark.parametrize("by", [None, "diameter"])
def test_the_bounds_hold_exact_arithmetic(by, unit):
    """Of distances whose rounding is another: in the precision of long doubles."""
    X = unit * (points("normal", 60) * [1e3, 1.0, 1.0, 1e-3, 1.0, 7.0, 1.0] + 1e5)
    wide = X.astype(np.longdouble)
    distances = np.sqrt(np.square(wide[:, None] - wide).sum(axis=2))
    manhattan = np.abs(wide[:, None] - wide).sum(axis=2)
    members = [wide, distances, manhattan]
    if by:
        members = [member / np.ptp(member, axis=0).max() for member in members]
    matrix = np.sort(np.concatenate(members, axis=1), axis=0)
    n = len(X)
    phi = [(matrix[k - 1 :] - matrix[: n - k + 1]).min(axis=0).max() for k in range(2, n + 1)]
    delta = np.sum(phi) / n / np.ptp(matrix, axis=0).max()
    result = geodim.intrinsic_dimension(
        X, features=Union(["coordinates", Distances(), Distances(metric="manhattan")], by)
    )
    assert result.discriminability_lower <= delta <= result.discriminability_upper
    assert result.error < 1e-7


@pytest.mark.parametrize("normalize", [True, False])
def test_dividing_rounds_where_values_are_far_from_0(normalize):
    X = 1e9 + np.array([[0.0], [1.0], [3.0]])  # windows of 1 and 3, in units of 3
    result = quietly(X, Union(["coordinates"], by="diameter"), normalize=normalize)
    assert result.discriminability != pytest.approx(4 / 9, rel=1e-12)
    assert result.discriminability_lower <= 4 / 9 <= result.discriminability_upper
    assert result.error < 1e-5
    near = geodim.intrinsic_dimension(X - 1e9, features=Union(["coordinates"], by="diameter"))
    assert near.error < 1e-13


# ---------------------------------------------------------------- parts of larger families


PARTS = {
    "landmarks": ([Distances(landmarks=30)], [Distances()]),
    "landmarks and columns": (["coordinates", Distances(landmarks=12)], ["coordinates", Distances()]),
    "two kinds": (
        [Distances(landmarks=40), Distances(metric="manhattan", landmarks=[0, 3, 9])],
        [Distances(), Distances(metric="manhattan")],
    ),
    "other points": (
        [Distances(landmarks=np.linspace(-1, 1, 9).reshape(3, 3)), "coordinates"],
        [Distances(), "coordinates"],
    ),
}  # fmt: skip


WAYS = [(None, True), (None, False), ("diameter", True)]
OPTIONS = {"exactly": {}, "a tolerance": {"rtol": 1e-2}, "weights": {"weights": 1 + np.arange(70) % 3}}


@pytest.mark.turns(5)
@pytest.mark.parametrize(("by", "normalize"), WAYS)
@pytest.mark.parametrize("members", PARTS.values(), ids=PARTS)
@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
def test_bounds_for_the_whole_families(members, by, normalize, options):
    part, whole = members
    for name in ("sphere", "clusters"):
        X = points(name, 70, seed=2)
        some = quietly(X, Union(part, by), normalize=normalize, **options)
        every = quietly(X, Union(whole, by), normalize=normalize, weights=options.get("weights"))
        assert some.discriminability_lower <= every.discriminability_upper
        assert every.discriminability_lower <= some.discriminability_upper
        assert some.lower <= some.dimension <= some.upper
        assert not some.exact
        assert some.parameters["features"]["part_of"] == "all points"


def test_a_member_that_leads_everywhere_leaves_nothing_open():
    """Landmarks that tell less than the columns, all the way, do not widen the interval."""
    X = np.column_stack([1000.0 * np.arange(100.0), np.zeros(100)])
    few = np.column_stack([np.zeros(100), RNG.random(100)])
    family = Union([Values(matrix=X), Distances(landmarks=5)])
    result = geodim.intrinsic_dimension(few, features=family)
    assert result.lower < result.dimension * (1 + 1e-12)
    assert result.error < 1e-9


def test_landmarks_that_see_more_than_the_points():
    """Unit vectors are all equally far apart; a point elsewhere tells them apart."""
    X, others = np.eye(12), 0.3 * np.arange(12.0)[np.newaxis]
    every = geodim.intrinsic_dimension(X, features="distances", normalize=False)
    for features in (Distances(landmarks=others), [Distances(landmarks=others)]):
        some = geodim.intrinsic_dimension(X, features=features, normalize=False)
        assert some.lower <= every.dimension <= some.upper
    seen = matrix_of(Distances(landmarks=others).source(X))
    assert geodim.intrinsic_dimension(seen, normalize=False).dimension < every.dimension


@pytest.mark.parametrize("by", [None, "diameter"])
def test_a_landmark_that_sees_a_smaller_diameter(by):
    """In the middle of a circle, where half of the points are, all others are at distance 1."""
    angles = np.linspace(0.0, 2.0 * np.pi, 30, endpoint=False)
    X = np.concatenate([np.zeros((30, 2)), np.stack([np.cos(angles), np.sin(angles)], axis=1)])
    every = geodim.intrinsic_dimension(X, features="distances")
    some = geodim.intrinsic_dimension(X, features=Union([Distances(landmarks=[0])], by))
    assert some.lower <= every.dimension <= some.upper
    assert every.dimension > 2.0 * geodim.intrinsic_dimension(np.linalg.norm(X, axis=1)[:, None]).dimension


def test_a_whole_family_in_units_of_its_diameter():
    member = Member("x", Coordinates().source(np.eye(3)), {}, divided=True)
    found = member._divided(Whole(np.array([0.0, 1.0]), np.array([1.0, 3.0]), d_lower=2.0, d_upper=4.0))
    np.testing.assert_allclose(found.lower, [0.0, 0.25], rtol=1e-14)
    np.testing.assert_allclose(found.upper, [0.5, 1.0], rtol=1e-14)
    assert found.lower[1] < 0.25
    assert (found.d_lower, found.d_upper) == (1.0, 1.0)
    nothing = member._divided(Whole(np.zeros(2), np.zeros(2), 0.0, 0.0))
    assert nothing.upper.tolist() == [0.0, 0.0]


def test_with_directions():
    X = points("normal", 150)[:, :3] * [5.0, 1.0, 1.0]
    result = geodim.intrinsic_dimension(X, features=["directions", Distances(landmarks=10)], normalize=False)
    assert result.parameters["features"]["part_of"] == "all directions and all points"
    u = RNG.normal(size=(3, 500))
    u /= np.linalg.norm(u, axis=0)
    both = np.concatenate([X @ u, matrix_of(Distances().source(X))], axis=1)
    assert result.lower <= geodim.intrinsic_dimension(both, normalize=False).dimension * (1 + 1e-12)
    alone = geodim.intrinsic_dimension(X, features="directions", normalize=False)
    assert result.upper <= alone.upper


@pytest.mark.parametrize("by", [None, "diameter"])
def test_no_time_gives_bounds_that_hold(by):
    X = points("normal", 200)
    for part, whole in [*PARTS.values(), (["coordinates", Distances()], ["coordinates", Distances()])]:
        X = points("sphere", 200)
        every = quietly(X, Union(whole, by))
        with pytest.warns(InterruptedWarning):
            stopped = geodim.intrinsic_dimension(X, features=Union(part, by), time_limit=0.0)
        assert stopped.discriminability_lower <= every.discriminability_lower
        assert every.discriminability_upper <= stopped.discriminability_upper


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 40), st.integers(1, 8), st.sampled_from(WAYS))
def test_bounds_hold_the_whole(seed, n, m, way):
    by, normalize = way
    rng = np.random.default_rng(seed)
    X = rng.standard_cauchy((n, 2)) if seed % 2 else rng.integers(0, 4, (n, 2)).astype(float)
    part = quietly(X, Union([Distances(landmarks=m, rng=seed), "coordinates"], by), normalize=normalize)
    whole = quietly(X, Union([Distances(), "coordinates"], by), normalize=normalize)
    assert part.discriminability_lower <= whole.discriminability_upper
    assert whole.discriminability_lower <= part.discriminability_upper


# ---------------------------------------------------------------- options, names, errors


@pytest.mark.parametrize("by", [None, "diameter"])
def test_weights_are_multiplicities(by):
    X = points("lattice", 60)
    weights = 1 + np.arange(60) % 3
    members = ["coordinates", Distances(metric="manhattan")]
    result = quietly(X, Union(members, by), weights=weights)
    matrix = side_by_side(members, X, divided=by is not None)[0]
    repeated = geodim.intrinsic_dimension(np.repeat(matrix, weights, axis=0))
    assert (result.discriminability, result.d_max) == (repeated.discriminability, repeated.d_max)


def test_names():
    X = points("normal", 40)
    words = [f"w{i}" for i in range(40)]
    result = quietly(X, ["coordinates", Distances(), Distances(metric="cosine")], feature_names=words)
    source = Union(["coordinates", Distances(), Distances()]).source(X, names=words)
    assert source.names[0] == "coordinates: 0"
    assert source.names[7:9] == ["distances 1: w0", "distances 1: w1"]
    assert source.names[-1] == "distances 2: w39"
    assert len(list(source.names)) == source.n_features == 87
    with pytest.raises(IndexError):
        source.names[87]
    assert set(result.shares) <= {f"coordinates: {i}" for i in range(7)} | {
        f"distances {k}: {word}" for k in (1, 2) for word in words
    }


@pytest.mark.parametrize(
    ("features", "options", "error", "said"),
    [
        ([], {}, InputValueError, "name at least one family"),
        (Union("distances"), {}, InputTypeError, "a list of families"),
        (Union(["distances"], by="range"), {}, InputValueError, "by must be None or 'diameter'"),
        (["distances", "rows"], {}, InputValueError, "unknown features 'rows'"),
        (["distances", 3], {}, InputTypeError, "must be a name, a family"),
        (["coordinates"], {"metric": "cosine"}, InputValueError, "metric is for 'distances'"),
        (Union(["distances"]), {"metric": "cosine"}, InputValueError, "give metric and landmarks to it"),
        (["coordinates", "directions"], {"feature_names": "ab"}, InputValueError, "name the points"),
        (["distances"], {"feature_names": "ab"}, ShapeError, "30 points but 2 names"),
        (
            ["distances", Values(functions=lambda X: X[:, 0] * np.nan)],
            {}, NonFiniteError, "function 0 gives nan",
        ),
    ],
)  # fmt: skip
def test_bad_unions(features, options, error, said):
    with pytest.raises(error, match=said):
        geodim.intrinsic_dimension(points("normal", 30), features=features, **options)


class Fewer:
    def source(self, X, **_):
        return np.asarray(X)[:-1]


def test_members_are_about_the_same_points():
    with pytest.raises(ShapeError, match="fewer has 29 points and distances 30"):
        geodim.intrinsic_dimension(points("normal", 30), features=["distances", Fewer()])
    with pytest.raises(InputValueError, match="weight 0 would take part in the diameters"):
        geodim.intrinsic_dimension(np.eye(3), features=Union(["distances"], by="diameter"), weights=[1, 0, 2])


def test_estimators_with_lists():
    X = points("normal", 50)
    model = geodim.IntrinsicDimension(features=["coordinates", Distances(metric="cosine")])
    again = clone(model).fit(X)
    assert again.get_params()["features"][1] == Distances(metric="cosine")
    assert again.dimension_ == geodim.intrinsic_dimension(X, features=model.features).dimension
    union = clone(geodim.IntrinsicDimension(features=Union(["distances"], by="diameter"))).fit(X)
    assert union.result_.parameters["features"]["by"] == "diameter"


def test_estimators_of_things_that_are_no_table():
    words = ["cat", "cart", "dog", "do", "carts"]
    by_length = Values(functions=[len, lambda word: word.count("a")], each="point")
    by_both = Distances(metric=lambda a, b: abs(len(a) - len(b)))
    model = geodim.IntrinsicDimension(features=[by_length, by_both])
    assert model.fit(words).dimension_ == quietly(words, model.features).dimension
    assert not hasattr(model, "n_features_in_")
    ragged = [[1.0], [2.0, 3.0]]
    lengths = geodim.IntrinsicDimension(features=Values(functions=len, each="point")).fit(ragged)
    assert lengths.result_.d_max == 1.0
    with pytest.raises(ValueError, match="Expected 2D array"):
        geodim.IntrinsicDimension().fit(words)


def test_members_in_a_union_tell_no_less():
    """F2 and D0: more features, larger Delta; raw, it is that of no member alone that is larger."""
    X = points("clusters", 100)
    members = ["coordinates", "distances", Distances(metric="chebyshev")]
    alone = [quietly(X, member, normalize=False).discriminability for member in members]
    assert quietly(X, members, normalize=False).discriminability >= max(alone)
    assert quietly(X, members[:2], normalize=False).discriminability <= (
        quietly(X, members, normalize=False).discriminability
    )
