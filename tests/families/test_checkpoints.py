"""Checkpoints of families: whatever interrupts them, continuing gives the bits of an undisturbed run."""

from __future__ import annotations

import numpy as np
import pytest

import geodim
import geodim.backends.local
import geodim.planning.problem  # both read what is patched below when they are imported
from cli.running import called
from engine.checkpoints import saved_attributes
from families.cases import points
from geodim.engine.checkpoint import NAME
from geodim.errors import DataFileError, InterruptedWarning
from geodim.families.sources import MadeColumns
from geodim.features import Directions, Distances, Union, Values

X = points("normal", 120)
SETS = (np.random.default_rng(0).random((120, 30)) < 0.2).astype(float)
D = np.abs(X[:, :1] - X[:, 0])


def first_differs(x, y):
    return float(abs(x[0] - y[0]))


FAMILIES = {
    "distances": (X, Distances()),
    "landmarks": (X, Distances(landmarks=40)),
    "other landmarks": (X, Distances(landmarks=X[:40] + 0.1)),
    "sets": (SETS, Distances(metric="jaccard")),
    "a function": (X, Distances(metric=first_differs)),
    "a matrix": (D, Distances(metric="precomputed")),
    "directions": (X, Directions()),
    "values": (X, Values(matrix=np.asfortranarray(np.tile(X, 6) * np.arange(1, 43)))),
    "union": (X, Union(["coordinates", Distances(landmarks=30), Distances(metric="manhattan")])),
    "divided": (X, Union(["coordinates", Distances(landmarks=50), Directions(random=9)], by="diameter")),
}


@pytest.fixture(autouse=True)
def narrow_blocks(monkeypatch):
    monkeypatch.setattr(MadeColumns, "at_once", 4)
    monkeypatch.setattr("geodim.engine.solve.MOST_COLUMNS", 4)
    monkeypatch.setattr("geodim.engine.ways.MOST_COLUMNS", 4)


def interrupted(data, family, folder, columns, **options):
    """Run until so many more columns are done, then press Ctrl-C."""
    before = saved_attributes(folder)

    def progress(done, _):
        if done >= before + columns:
            raise KeyboardInterrupt

    with pytest.warns(InterruptedWarning, match="interrupted"):
        return geodim.intrinsic_dimension(
            data, features=family, checkpoint=folder, progress=progress, n_threads=1, **options
        )


def assert_same(result, reference):
    np.testing.assert_array_equal(result.phi_lower, reference.phi_lower)
    np.testing.assert_array_equal(result.phi_upper, reference.phi_upper)
    for name in ("dimension", "lower", "upper", "d_max", "shares", "exact", "stopped", "feature_error"):
        assert getattr(result, name) == getattr(reference, name), name
    assert result.attained_by.tolist() == reference.attained_by.tolist()


@pytest.mark.turns(3)
@pytest.mark.parametrize(("data", "family"), FAMILIES.values(), ids=FAMILIES)
def test_interrupted_again_and_again(tmp_path, data, family):
    reference = geodim.intrinsic_dimension(data, features=family)
    for columns in (3, 20):
        stopped = interrupted(data, family, tmp_path, columns)
        assert stopped.lower <= reference.lower <= reference.upper <= stopped.upper
    done, seen = saved_attributes(tmp_path), []
    assert done >= 20
    result = geodim.intrinsic_dimension(
        data, features=family, checkpoint=tmp_path, progress=lambda *state: seen.append(state[0]), n_threads=2
    )
    assert_same(result, reference)
    assert seen[0] >= done  # what was done is not done again
    assert_same(geodim.intrinsic_dimension(data, features=family, checkpoint=tmp_path), reference)


@pytest.mark.parametrize(
    "options", [{"rtol": 1e-2}, {"weights": np.arange(120) % 3}], ids=["rtol", "weights"]
)
def test_with_the_options_of_columns(tmp_path, options):
    for at, family in enumerate((Distances(), Union([Distances(landmarks=50), "coordinates"]))):
        reference = geodim.intrinsic_dimension(X, features=family, **options)
        interrupted(X, family, tmp_path / str(at), 9, **options)
        assert_same(
            geodim.intrinsic_dimension(X, features=family, checkpoint=tmp_path / str(at), **options),
            reference,
        )


def test_no_time_at_all_then_enough(tmp_path):
    with pytest.warns(InterruptedWarning, match="time limit"):
        geodim.intrinsic_dimension(X, features="distances", checkpoint=tmp_path, time_limit=0.0)
    result = geodim.intrinsic_dimension(X, features="distances", checkpoint=tmp_path)
    assert_same(result, geodim.intrinsic_dimension(X, features="distances"))


def test_normalize_may_change(tmp_path):
    interrupted(X, Distances(), tmp_path, 30)
    raw = geodim.intrinsic_dimension(X, features="distances", checkpoint=tmp_path, normalize=False)
    assert_same(raw, geodim.intrinsic_dimension(X, features="distances", normalize=False))


OTHER = X.copy()
OTHER[5, 3] += 1e-9


@pytest.mark.parametrize(
    ("data", "family", "options"),
    [
        (OTHER, Distances(landmarks=40), {}),
        (X, Distances(landmarks=40, metric="manhattan"), {}),
        (X, Distances(landmarks=40, rng=1), {}),
        (X, Distances(landmarks=X[:40]), {}),
        (X, Distances(), {}),
        (X, Directions(), {}),
        (X, Union([Distances(landmarks=40)]), {}),
        (X, Distances(landmarks=40), {"rtol": 0.1}),
        (X, Distances(landmarks=40), {"weights": np.ones(120, int)}),
        (X, "coordinates", {}),
    ],
)
def test_another_computation_is_refused(tmp_path, data, family, options):
    interrupted(X, Distances(landmarks=40), tmp_path, 8)
    with pytest.raises(DataFileError, match="another computation"):
        geodim.intrinsic_dimension(data, features=family, checkpoint=tmp_path, **options)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (Union(["coordinates", "distances"]), Union(["distances", "coordinates"])),
        (Union(["coordinates", "distances"]), Union(["coordinates", "distances"], by="diameter")),
        (Distances(metric=first_differs), Distances(metric=lambda x, y: float(abs(x[1] - y[1])))),
        (Directions(random=7), Directions(random=7, rng=1)),
    ],
)
def test_other_options_are_refused(tmp_path, one, other):
    interrupted(X, one, tmp_path, 2)
    with pytest.raises(DataFileError, match="another computation"):
        geodim.intrinsic_dimension(X, features=other, checkpoint=tmp_path)


@pytest.mark.parametrize("features", ["coordinates", "distances"])
def test_other_weights_are_another_computation(tmp_path, features):
    weights = np.ones(120, int)
    weights[3] = 5
    geodim.intrinsic_dimension(X, features=features, weights=weights, checkpoint=tmp_path)
    with pytest.raises(DataFileError, match="another computation"):
        geodim.intrinsic_dimension(X, features=features, weights=weights[::-1], checkpoint=tmp_path)


@pytest.mark.parametrize("wrong", [np.nan, -1.0, 1e9])
def test_ranges_that_were_edited_are_refused(tmp_path, wrong):
    interrupted(X, Distances(), tmp_path, 30)
    with np.load(tmp_path / NAME) as saved:
        arrays = dict(saved)
    arrays["note ends"][int(np.flatnonzero(arrays["done"])[0]), 1] = wrong
    np.savez(tmp_path / NAME, **arrays)
    with pytest.raises(DataFileError, match="edited or damaged"):
        geodim.intrinsic_dimension(X, features="distances", checkpoint=tmp_path)


def test_on_the_command_line(tmp_path):
    """Out of time, and continued, the command says what it says undisturbed."""
    np.save(tmp_path / "x.npy", X)
    command = ["compute", tmp_path / "x.npy", "--features", "coordinates,distances", "--metric", "manhattan"]
    keeping = [*command, "--by", "diameter", "--checkpoint", tmp_path / "state"]
    assert called(*keeping, "--time-limit", 0).code == 5
    results = [called(*line).json for line in (keeping, [*command, "--by", "diameter"])]
    for name in ("dimension", "lower", "upper", "d_max", "shares"):
        assert results[0][name] == results[1][name]
    assert called(*command, "--checkpoint", tmp_path / "state").code == 4
