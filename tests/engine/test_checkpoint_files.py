"""Checkpoints that are damaged, edited, foreign, or in use."""

from __future__ import annotations

import gc
import io
import os
import warnings
import zipfile
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import geodim
from engine.checkpoints import (  # noqa: F401 - one is a fixture
    EDGES,
    OTHER_X,
    X32,
    D,
    N,
    X,
    assert_same_result,
    interrupted,
    narrow_blocks,
    only_file,
    saved_attributes,
)
from engine.oracle import assert_same_bits
from geodim.engine.checkpoint import NAME, Checkpoint
from geodim.engine.layers import Layers
from geodim.errors import DataFileError

# ---------------------------------------------------------------- other jobs and broken files


@pytest.mark.parametrize(
    "change",
    [
        {"hops": 2},
        {"hops": 4},
        {"X": OTHER_X},
        {"X": X32[:, :-1]},
        {"graph": EDGES[:, :-1]},
        {"operator": "rw"},
        {"edge_weights": np.linspace(1.0, 2.0, 900)},
        {"rtol": 0.1},
        pytest.param(
            {"X": X32.astype(np.float64)},
        ),
    ],
    ids=["fewer hops", "more hops", "x", "columns", "graph", "operator", "weights", "rtol", "type"],
)
def test_another_job_is_refused(tmp_path, change):
    job = {"X": X32, "graph": EDGES, "hops": 3}
    geodim.khop_dimensions(**job, checkpoint=tmp_path)
    before = only_file(tmp_path).read_bytes()
    with pytest.raises(DataFileError, match="another computation"):
        geodim.khop_dimensions(**(job | change), checkpoint=tmp_path)
    assert only_file(tmp_path).read_bytes() == before


EMPTY = pytest.param(0.0)
LEAK = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")


def test_a_change_of_any_single_value_is_refused(tmp_path):
    rng = np.random.default_rng(0)
    values, edges = rng.normal(size=(5_000, 3)), rng.integers(0, 5_000, (2, 9_000))
    geodim.khop_dimensions(values, edges, hops=1, checkpoint=tmp_path)
    values[1] *= 100.0
    with pytest.raises(DataFileError, match="another computation"):
        geodim.khop_dimensions(values, edges, hops=1, checkpoint=tmp_path)


@LEAK
@pytest.mark.parametrize("share", [EMPTY, 0.01, 0.5, 0.99])
def test_a_truncated_file(tmp_path, share):
    geodim.khop_dimensions(X, EDGES, hops=2, checkpoint=tmp_path)
    content = only_file(tmp_path).read_bytes()
    only_file(tmp_path).write_bytes(content[: int(share * len(content))])
    with pytest.raises(DataFileError, match=NAME.replace(".", r"\.")):
        geodim.khop_dimensions(X, EDGES, hops=2, checkpoint=tmp_path)


def test_a_truncated_file_is_closed(tmp_path):
    (tmp_path / NAME).write_bytes(b"PK\x03\x04")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with pytest.raises(DataFileError):
            Checkpoint(tmp_path, {}).load(Layers(6, 2, hops=1).profiles)
        gc.collect()
    assert [str(one.message) for one in caught] == []


@LEAK
@pytest.mark.parametrize("content", [b"not a checkpoint", b"PK\x03\x04", b"\x93NUMPY\x01\x00"])
def test_another_file(tmp_path, content):
    (tmp_path / NAME).write_bytes(content)
    with pytest.raises(DataFileError, match="delete it to start over"):
        geodim.khop_dimensions(X, EDGES, hops=2, checkpoint=tmp_path)


def test_an_array_is_no_checkpoint(tmp_path):
    with (tmp_path / NAME).open("wb") as stream:
        np.save(stream, np.arange(3.0))
    with pytest.raises(DataFileError, match="delete it to start over"):
        geodim.khop_dimensions(X, EDGES, hops=2, checkpoint=tmp_path)


def test_a_flipped_byte_of_phi_is_noticed(tmp_path):
    geodim.khop_dimensions(X, EDGES, hops=2, checkpoint=tmp_path)
    content = bytearray(only_file(tmp_path).read_bytes())
    at = content.index(b"phi1.npy") + 1000
    content[at] ^= 0x10
    only_file(tmp_path).write_bytes(content)
    with pytest.raises(DataFileError, match="cannot be read"):
        geodim.khop_dimensions(X, EDGES, hops=2, checkpoint=tmp_path)


def test_a_folder_that_cannot_be_made(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(
        DataFileError, match=r"cannot make the folder .*: Not a directory; choose another for the checkpoint"
    ):
        geodim.khop_dimensions(X, EDGES, checkpoint=tmp_path / "file" / "folder")


# ---------------------------------------------------------------- the class itself


def filled(seed=0):
    layers = Layers(6, 2, hops=1)
    rng = np.random.default_rng(seed)
    for profile in layers.profiles:
        profile.phi[1:] = rng.random(5)
        profile.owner[:] = rng.integers(0, profile.done.size, 6)
    layers.finish([1])
    return layers


def test_saved_and_loaded(tmp_path):
    layers = filled()
    Checkpoint(tmp_path, {"a": 1}).save(layers.profiles)
    empty = Layers(6, 2, hops=1)
    assert Checkpoint(tmp_path, {"a": 1}).load(empty.profiles)
    for one, other in zip(empty.profiles, layers.profiles, strict=True):
        assert_same_bits(one.phi, other.phi)
        np.testing.assert_array_equal(one.owner, other.owner)
        np.testing.assert_array_equal(one.done, other.done)
        np.testing.assert_array_equal(one.work, other.work)
    assert empty.unfinished() == [0]


def test_nothing_saved_nothing_loaded(tmp_path):
    layers = Layers(6, 2, hops=1)
    store = Checkpoint(tmp_path, {})
    assert not store.load(layers.profiles)
    assert not layers.profiles[0].phi.any()


def test_a_failed_write_leaves_the_old_state(tmp_path, monkeypatch):
    store = Checkpoint(tmp_path, {})
    store.save(filled().profiles)
    before = only_file(tmp_path).read_bytes()

    def full(*_args, **_arrays):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(np, "savez", full)
    with pytest.raises(DataFileError, match=r"layers\.npz: the disk is full"):
        store.save(filled(1).profiles)
    assert only_file(tmp_path).read_bytes() == before


# ---------------------------------------------------------------- states that were edited


def edited(folder, **changes):
    """Change arrays of a state; its checksums are those of the new content."""
    with np.load(only_file(folder)) as saved:
        arrays = dict(saved)
    np.savez(folder / NAME, **(arrays | changes))


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"phi0": np.float64(0.5)}, "shape"),
        ({"phi1": np.zeros(1)}, "shape"),
        ({"phi1": np.zeros((N, 1))}, "shape"),
        ({"phi1": np.zeros(N, np.float32)}, "float32"),
        ({"phi0": np.full(N, np.nan)}, "not a width"),
        ({"phi0": np.full(N, np.inf)}, "not a width"),
        ({"phi0": np.full(N, -1.0)}, "not a width"),
        ({"phi0": np.ones(N)}, "not a width"),
        ({"owner0": np.full(N, D, np.int32)}, "not there"),
        ({"owner2": np.full(N, -2, np.int32)}, "not there"),
        ({"owner2": np.zeros(N, np.int64)}, "int64"),
        ({"work0": np.full(5, -1)}, "negative"),
        ({"work0": np.zeros(4, np.int64)}, "shape"),
        ({"done": np.ones(1, bool)}, "shape"),
        ({"done": np.ones(D)}, "float64"),
        ({"step": np.float64(0.25)}, "step"),
        ({"step": np.float64(np.nan)}, "step"),
        ({"step": np.zeros(1)}, "shape"),
    ],
    ids=str,
)
def test_an_edited_state_is_refused(tmp_path, changes, why):
    geodim.khop_dimensions(X, EDGES, hops=2, checkpoint=tmp_path)
    edited(tmp_path, **changes)
    with pytest.raises(DataFileError, match=f"was edited or damaged .*{why}.*: delete it to start over"):
        geodim.khop_dimensions(X, EDGES, hops=2, checkpoint=tmp_path)


@pytest.mark.parametrize("step", [np.nan, np.inf, -1.0, 1e300, 5e-324, 0.3])
def test_an_edited_step_does_not_go_on_for_ever(tmp_path, step):
    geodim.khop_dimensions(X, EDGES, hops=1, rtol=0.05, checkpoint=tmp_path)
    edited(tmp_path, step=np.float64(step))
    with pytest.raises(DataFileError, match=r"was edited or damaged .*step"):
        geodim.khop_dimensions(X, EDGES, hops=1, rtol=0.05, checkpoint=tmp_path)


@LEAK
def test_a_header_that_asks_for_all_memory(tmp_path):
    """Checked before memory is taken."""
    geodim.khop_dimensions(X, EDGES, hops=1, checkpoint=tmp_path)
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(header, {"descr": "<f8", "fortran_order": False, "shape": (10**15,)})
    with zipfile.ZipFile(only_file(tmp_path)) as old:
        members = {name: old.read(name) for name in old.namelist()} | {"phi0.npy": header.getvalue()}
    with zipfile.ZipFile(tmp_path / NAME, "w") as new:
        for name, content in members.items():
            new.writestr(name, content)
    with pytest.raises(DataFileError, match="was edited or damaged"):
        geodim.khop_dimensions(X, EDGES, hops=1, checkpoint=tmp_path)


def test_a_job_that_asks_for_all_memory(tmp_path):
    """Its size is looked at before it is read."""
    geodim.khop_dimensions(X, EDGES, hops=1, checkpoint=tmp_path)
    edited(tmp_path, job=np.zeros(1 << 21, np.uint8))
    with pytest.raises(DataFileError, match=r"was edited or damaged .*job"):
        geodim.khop_dimensions(X, EDGES, hops=1, checkpoint=tmp_path)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes on this system")
def test_a_pipe_in_the_place_of_the_state_does_not_hang(tmp_path):
    os.mkfifo(tmp_path / NAME)
    with pytest.raises(DataFileError, match="not a file"):
        geodim.khop_dimensions(X, EDGES, hops=1, checkpoint=tmp_path)


def test_a_state_whose_header_ends_in_mid_word(tmp_path):
    geodim.khop_dimensions(X, EDGES, hops=1, checkpoint=tmp_path)
    with zipfile.ZipFile(tmp_path / NAME, "w") as new:
        new.writestr("job.npy", b"\x93NUMPY\x01\x00\x10\x00{'descr': '|u1',(")
    with pytest.raises(DataFileError, match="delete it to start over"):
        geodim.khop_dimensions(X, EDGES, hops=1, checkpoint=tmp_path)


def test_another_version_is_refused(tmp_path, monkeypatch):
    geodim.khop_dimensions(X, EDGES, hops=1, checkpoint=tmp_path)
    before = only_file(tmp_path).read_bytes()
    monkeypatch.setattr("geodim.engine.checkpoint.__version__", "99.0")
    with pytest.raises(DataFileError, match=rf"was saved by geodim {geodim.__version__}, and this is 99\.0"):
        geodim.khop_dimensions(X, EDGES, hops=1, checkpoint=tmp_path)
    assert only_file(tmp_path).read_bytes() == before


# ---------------------------------------------------------------- one run at a time


def test_a_folder_in_use_is_refused(tmp_path):
    with (
        Checkpoint(tmp_path, {}),
        pytest.raises(DataFileError, match=rf"in use by process {os.getpid()} on "),
    ):
        geodim.khop_dimensions(X, EDGES, hops=1, checkpoint=tmp_path)
    geodim.khop_dimensions(X, EDGES, hops=1, checkpoint=tmp_path)
    only_file(tmp_path)


def test_two_threads_do_not_share_a_folder(tmp_path):
    """Each either finishes with the right answer or is told that the folder is in use.

    None harms the other.
    """
    reference = geodim.khop_dimensions(X, EDGES, hops=2)

    def run(_):
        try:
            assert_same_result(
                geodim.khop_dimensions(X, EDGES, hops=2, checkpoint=tmp_path, save_every=0.0), reference
            )
        except DataFileError as error:
            assert "in use by process" in str(error)  # noqa: PT017
            return False
        return True

    with ThreadPoolExecutor(4) as pool:
        assert any(pool.map(run, range(12)))
    assert_same_result(geodim.khop_dimensions(X, EDGES, hops=2, checkpoint=tmp_path), reference)
    only_file(tmp_path)
