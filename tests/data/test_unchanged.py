"""What is read while somebody writes to it has no answer.

The data is changed between two passes, at a known moment.
"""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse as sp

import geodim
from data.changing import LONG_AGO, aged
from geodim.data.duplicates import count_indistinguishable_points
from geodim.data.sources import ArraySource, as_source
from geodim.data.tables import read_table
from geodim.data.unchanged import Watch
from geodim.errors import DataChangedError, DataFileError

X = np.random.default_rng(0).standard_normal((300, 5)) + np.arange(5)
X.flags.writeable = False  # tests that change data change copies


@pytest.fixture
def points(tmp_path):
    path = tmp_path / "points.npy"
    np.save(path, X)
    return aged(path)


def overwrite_in_place(path):
    """The same size, and the same header: all values become 0."""
    with path.open("r+b") as stream:
        stream.seek(-X.nbytes, os.SEEK_END)
        stream.write(bytes(X.nbytes))


def change_and_change_back(path):
    content = path.read_bytes()
    overwrite_in_place(path)
    with path.open("r+b") as stream:
        stream.write(content)


def replace(path):
    other = path.with_suffix(".new")
    other.write_bytes(path.read_bytes())
    os.utime(other, (LONG_AGO, LONG_AGO))
    other.replace(path)


def append(path):
    with path.open("ab") as stream:
        stream.write(bytes(8))
    aged(path)


CHANGES = [
    (overwrite_in_place, "was written to"),
    (change_and_change_back, "was written to"),
    (replace, "another file"),
    (append, "bytes"),
    (lambda path: path.unlink(), "gone"),
]


class Once:
    """A progress callback that does something the first time, which is after the first pass."""

    def __init__(self, action):
        self.action, self.done = action, False

    def __call__(self, *_):
        if not self.done:
            self.done = True
            self.action()


@pytest.mark.parametrize(("change", "what"), CHANGES)
@pytest.mark.parametrize("opened", [read_table, lambda path: np.load(path, mmap_mode="r")[:, ::-1]])
def test_a_mapped_file_that_changes_between_two_passes(points, change, what, opened):
    with pytest.raises(DataChangedError, match=f"points.npy.*{what}"):
        geodim.intrinsic_dimension(opened(points), progress=Once(lambda: change(points)))


@pytest.mark.parametrize("options", [{}, {"rtol": 0.01}, {"weights": np.arange(300)}, {"n_threads": 2}])
def test_whatever_is_asked_for(points, options):
    with pytest.raises(DataChangedError, match=r"points.npy"):
        geodim.intrinsic_dimension(
            read_table(points), progress=Once(lambda: overwrite_in_place(points)), **options
        )


def test_a_file_that_changed_after_it_was_opened(points):
    data = read_table(points)
    overwrite_in_place(points)
    with pytest.raises(DataChangedError, match=r"points.npy"):
        geodim.intrinsic_dimension(data)


def test_who_opened_a_file_may_write_to_it_between_two_calls(points):
    data = np.load(points, mmap_mode="r+")
    first = geodim.intrinsic_dimension(data)
    data[:] = 2.0 * X
    assert geodim.intrinsic_dimension(data, normalize=False).dimension == pytest.approx(
        geodim.intrinsic_dimension(2.0 * X, normalize=False).dimension, rel=1e-14
    )
    assert first.dimension == geodim.intrinsic_dimension(X).dimension


def test_a_file_that_was_cut_off_does_not_end_the_process(points):
    """To read past the end of a mapped file would."""
    program = f"""
import os
import geodim
from geodim.data.tables import read_table
from geodim.errors import DataChangedError
def cut(*_):
    os.truncate({str(points)!r}, 100)
try:
    geodim.intrinsic_dimension(read_table({str(points)!r}), progress=cut)
except DataChangedError as error:
    print("refused:", error)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done
    assert "refused:" in done.stdout
    assert "12,128 bytes and has 100" in done.stdout


def change_in_memory(data):
    """As another thread would."""
    if sp.issparse(data):
        data.data[:] = 1.0
    elif isinstance(data, np.ndarray):
        data[:] = 0.0
    else:
        data.iloc[:, :] = 0.0


def frame():
    pandas = pytest.importorskip("pandas")
    return pandas.DataFrame(X.copy(), columns=list("abcde"))  # pandas before 3 would write to X itself


@pytest.mark.parametrize("make", [X.copy, lambda: np.asfortranarray(X), lambda: sp.csc_array(X)])
@pytest.mark.parametrize("rtol", [0.0, 0.05])
def test_data_in_memory_that_becomes_impossible(make, rtol):
    """Values outside of the range that the first pass found, or none at its ends."""
    data = make()
    with pytest.raises(DataChangedError, match=r"changed while it was read|did the data change"):
        geodim.intrinsic_dimension(data, rtol=rtol, progress=Once(lambda: change_in_memory(data)))


def test_a_frame_that_is_written_to_gives_the_old_answer_or_none():
    """pandas copies before it writes to what others still see: then the columns here stay as they were."""
    data = frame()
    try:
        result = geodim.intrinsic_dimension(data, progress=Once(lambda: change_in_memory(data)))
    except DataChangedError:
        return
    assert result.discriminability == geodim.intrinsic_dimension(X).discriminability


@pytest.mark.parametrize("value", [1e9, -1e9, np.nan, np.inf])
@pytest.mark.parametrize("rtol", [0.0, 0.05])
@pytest.mark.parametrize("n", [300, 20_000])
def test_a_single_value_far_away_points_nowhere(value, rtol, n):
    """By sorting, by counting, and by counting few values."""
    data = np.random.default_rng(1).standard_normal((n, 2))
    data[:, 1] = np.arange(n) % 7

    def change():
        data[n // 2] = value

    with pytest.raises(DataChangedError):
        geodim.intrinsic_dimension(data, rtol=rtol, progress=Once(change))


def test_hops_of_attributes_that_change(tmp_path, monkeypatch):
    """After the first block of attributes."""
    monkeypatch.setattr("geodim.planning.hops.default_columns", lambda *_: 16)
    wide = np.random.default_rng(3).standard_normal((300, 64))
    path = tmp_path / "wide.npy"
    np.save(path, wide)
    aged(path)
    edges = np.stack([np.arange(299), np.arange(1, 300)])
    with pytest.raises(DataChangedError, match=r"wide.npy"):
        geodim.khop_dimensions(read_table(path), edges, 1, progress=Once(lambda: os.utime(path)))
    with pytest.raises(DataChangedError, match="column"):
        geodim.khop_dimensions(wide, edges, 1, progress=Once(lambda: change_in_memory(wide)))


@pytest.mark.parametrize("explain", [geodim.feature_ranking, geodim.select_features, geodim.WhatIf])
@pytest.mark.parametrize("mapped", [True, False])
def test_explanations_of_data_that_changes(points, monkeypatch, explain, mapped):
    data = np.load(points, mmap_mode="r") if mapped else X.copy()
    read = ArraySource.read

    def changed(self, columns, out):
        if mapped:
            overwrite_in_place(points)
        else:
            change_in_memory(data)
        read(self, columns, out)

    monkeypatch.setattr(ArraySource, "read", changed)
    options = {"n_features_to_select": 2} if explain is geodim.select_features else {}
    with pytest.raises(DataChangedError):
        explain(data, **options)


@pytest.mark.parametrize("baseline", ["mle", "two_nn"])
def test_baselines_of_a_file_that_changes(points, monkeypatch, baseline):
    from geodim import baselines
    from geodim.baselines import mle, two_nn  # noqa: F401 - so that the modules are there

    def changed(*arguments, **options):
        found = nearest(*arguments, **options)
        overwrite_in_place(points)
        return found

    module = sys.modules[f"geodim.baselines.{baseline}"]
    nearest = module.nearest
    monkeypatch.setattr(module, "nearest", changed)
    with pytest.raises(DataChangedError, match=r"points.npy"):
        getattr(baselines, baseline)(np.load(points, mmap_mode="r"))


def test_a_raw_file_that_changes_while_it_is_converted(tmp_path):
    from geodim.data.datasets.cache import build

    raw = aged_text(tmp_path / "raw.csv")

    def write(folder):
        np.save(folder / "x.npy", X)
        os.utime(raw)
        return {}

    with pytest.raises(DataChangedError, match=r"raw.csv"):
        build([tmp_path / "cache"], "recipe", tmp_path, [raw], write)
    assert not (tmp_path / "cache").exists()


def aged_text(path):
    path.write_text("1,2\n")
    return aged(path)


def test_equal_rows_of_a_file_that_changes(points, monkeypatch):
    data = np.load(points, mmap_mode="r")
    chunk = ArraySource.chunk

    def changed(self, rows, columns):
        values = chunk(self, rows, columns)
        overwrite_in_place(points)
        return values

    monkeypatch.setattr(ArraySource, "chunk", changed)
    with pytest.raises(DataChangedError, match=r"points.npy"):
        count_indistinguishable_points(data)


@pytest.mark.parametrize("part", ["data", "indices", "indptr"])
def test_sparse_matrices_of_mapped_arrays(tmp_path, part):
    matrix = sp.csc_array(np.where(X > 1.0, X, 0.0))
    path = tmp_path / f"{part}.npy"
    np.save(path, getattr(matrix, part))
    aged(path)
    setattr(matrix, part, np.load(path, mmap_mode="r"))
    source = as_source(matrix)
    source.read_runs(0)
    os.utime(path)
    with pytest.raises(DataChangedError, match=part):
        source.read_runs(0)


@pytest.mark.parametrize("kind", ["csv", "npz", "parquet", "npy"])
def test_files_that_change_while_they_are_opened(tmp_path, monkeypatch, kind):
    path = tmp_path / f"points.{kind}"
    if kind == "npz":
        np.savez(path, X)
    elif kind == "npy":
        np.save(path, X)
    else:
        pytest.importorskip("pyarrow")
        frame().to_csv(path, index=False) if kind == "csv" else frame().to_parquet(path)
    aged(path)
    assert np.shape(read_table(path)) == X.shape
    where = {
        "csv": "geodim.data.tables.frames._checked_frame",
        "parquet": "geodim.data.tables.frames._checked_frame",
    }
    name = where.get(kind, "geodim.data.tables.read.from_array")
    module, _, attribute = name.rpartition(".")
    true = getattr(sys.modules[module], attribute)

    def changing(*arguments):
        os.utime(path)
        return true(*arguments)

    monkeypatch.setattr(name, changing)
    with pytest.raises(DataChangedError, match=path.name):
        read_table(path)


def test_folders_are_watched_with_all_that_is_in_them(tmp_path):
    inner = tmp_path / "a.zarr" / "c"
    inner.mkdir(parents=True)
    aged_file = inner / "0"
    aged_file.write_bytes(b"1")
    aged(aged_file)
    with Watch.of(tmp_path / "a.zarr"):
        pass
    with pytest.raises(DataChangedError, match="c/0"), Watch.of(tmp_path / "a.zarr"):
        aged_file.write_bytes(b"2")


def test_a_change_explains_what_went_wrong_before_it_was_noticed(points):
    def fail():
        overwrite_in_place(points)
        raise ValueError("a consequence")

    with pytest.raises(DataChangedError) as caught, Watch.of(points):
        fail()
    assert isinstance(caught.value.__context__, ValueError)
    assert isinstance(caught.value, DataFileError)


def test_the_command_line_gives_no_number(points, monkeypatch):
    typer_testing = pytest.importorskip("typer.testing")
    from geodim.cli.app import app

    solve = geodim.dimension._Solver.run

    def changing(solver):
        overwrite_in_place(points)
        return solve(solver)

    monkeypatch.setattr("geodim.dimension._Solver.run", changing)
    done = typer_testing.CliRunner().invoke(app, ["compute", str(points)])
    assert done.exit_code == 4, done.output
    assert "points.npy changed while it was read" in " ".join(done.output.split())
    assert "dimension" not in done.stdout


def test_what_the_workers_of_a_cluster_read_is_watched_here(tmp_path):
    pytest.importorskip("pyarrow")
    pytest.importorskip("dask.dataframe")
    from geodim.cli.tables import opened

    path = tmp_path / "points.parquet"
    frame().to_parquet(path)
    aged(path)
    with pytest.raises(DataChangedError, match="parquet"), opened(path, None, None, lazily=True):
        os.utime(path)
