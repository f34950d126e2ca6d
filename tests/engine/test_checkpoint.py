"""Checkpoints: whatever interrupts a pass, continuing it gives the bits of an undisturbed one."""

from __future__ import annotations

import gc
import io
import json
import os
import signal
import subprocess
import sys
import time
import warnings
import zipfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

import geodim
from engine.oracle import assert_encloses, assert_same_bits
from geodim.engine.checkpoint import NAME, Checkpoint
from geodim.engine.layers import Layers
from geodim.errors import DataFileError, InterruptedWarning

RNG = np.random.default_rng(12)
N, D = 400, 30
X = np.where(RNG.random((N, D)) < 0.2, RNG.random((N, D)), 0.0)
EDGES = RNG.integers(0, N, (2, 900))
X32 = X.astype(np.float32)
OTHER_X = X32.copy()
OTHER_X[0, 0] += 1.0


@pytest.fixture(autouse=True)
def narrow_blocks(monkeypatch):
    """Several blocks, and so several moments between them."""
    monkeypatch.setattr("geodim.backends.hop_pass.HopPass.width_for", lambda *_: 4)


def assert_same_result(result, reference):
    for one, other in zip(result, reference, strict=True):
        assert_same_bits(one.phi_lower, other.phi_lower)
        assert_same_bits(one.phi_upper, other.phi_upper)
        assert one.dimension == other.dimension
        assert one.shares == other.shares
        assert one.stopped == other.stopped
        assert one.exact == other.exact


def saved_attributes(folder):
    """How many attributes the state in a folder holds."""
    if not (folder / NAME).exists():
        return 0
    with np.load(folder / NAME) as saved:
        return int(saved["done"].sum())


def interrupted(blocks, checkpoint, **options):
    """Run until so many more blocks are done, then press Ctrl-C."""
    before = saved_attributes(checkpoint)

    def progress(done, *_):
        if done >= before + 4 * blocks:
            raise KeyboardInterrupt

    with pytest.warns(InterruptedWarning, match="interrupted"):
        return geodim.khop_dimensions(X, EDGES, checkpoint=checkpoint, progress=progress, **options)


def only_file(folder):
    """The one file that may be there."""
    assert [path.name for path in folder.iterdir()] == [NAME]
    return folder / NAME


# ---------------------------------------------------------------- interrupted and continued


@pytest.mark.parametrize("save_every", [0.0, 1e9])
@pytest.mark.parametrize("n_threads", [1, 2])
def test_interrupted_again_and_again(tmp_path, n_threads, save_every):
    reference = geodim.khop_dimensions(X, EDGES, hops=3)
    options = {"hops": 3, "checkpoint": tmp_path, "n_threads": n_threads, "save_every": save_every}
    for blocks in (1, 2, 1):
        interrupted(blocks, **options)
    only_file(tmp_path)
    assert saved_attributes(tmp_path) == 16
    seen = []
    result = geodim.khop_dimensions(X, EDGES, progress=lambda *state: seen.append(state[0]), **options)
    assert_same_result(result, reference)
    assert seen[0] >= 16  # what was done is not done again
    assert seen[-1] == D
    only_file(tmp_path)


def test_no_time_at_all_then_enough(tmp_path):
    with pytest.warns(InterruptedWarning, match="time limit"):
        geodim.khop_dimensions(X, EDGES, hops=3, checkpoint=tmp_path, time_limit=0)
    reference = geodim.khop_dimensions(X, EDGES, hops=3)
    assert_same_result(geodim.khop_dimensions(X, EDGES, hops=3, checkpoint=tmp_path), reference)


def test_the_clock_then_more_time(tmp_path):
    """The time runs out in the third block."""
    reference = geodim.khop_dimensions(X, EDGES, hops=3)
    for _ in range(2):
        enough = saved_attributes(tmp_path) + 8

        def wait(done, *_, enough=enough):
            time.sleep(1.1 if done >= enough else 0.0)

        with pytest.warns(InterruptedWarning, match="time limit"):
            geodim.khop_dimensions(X, EDGES, hops=3, checkpoint=tmp_path, time_limit=1.0, progress=wait)
        only_file(tmp_path)
    assert_same_result(geodim.khop_dimensions(X, EDGES, hops=3, checkpoint=tmp_path), reference)


@pytest.mark.parametrize("call", range(1, 7))
def test_interrupted_at_any_call(tmp_path, call):
    """Also within a block, where some of its hops are merged and others not."""
    reference = geodim.khop_dimensions(X, EDGES, hops=3)
    interrupted(1, checkpoint=tmp_path, hops=3)
    calls = []

    def progress(*state):
        calls.append(state)
        if len(calls) == call:
            raise KeyboardInterrupt

    with pytest.warns(InterruptedWarning, match="interrupted"):
        stopped = geodim.khop_dimensions(X, EDGES, hops=3, checkpoint=tmp_path, progress=progress)
    for one, other in zip(stopped, reference, strict=True):
        assert_encloses(one, other)
    assert_same_result(geodim.khop_dimensions(X, EDGES, hops=3, checkpoint=tmp_path), reference)


def test_a_finished_pass_is_only_read(tmp_path):
    first = geodim.khop_dimensions(X, EDGES, hops=2, checkpoint=tmp_path / "new" / "folder")
    seen = []
    again = geodim.khop_dimensions(
        X, EDGES, hops=2, checkpoint=str(tmp_path / "new" / "folder"), progress=lambda *s: seen.append(s)
    )
    assert_same_result(again, first)
    assert seen == []


def test_normalize_may_change(tmp_path):
    """Phi is kept in the units of the data."""
    geodim.khop_dimensions(X * 3.0, EDGES, hops=2, checkpoint=tmp_path)
    raw = geodim.khop_dimensions(X * 3.0, EDGES, hops=2, checkpoint=tmp_path, normalize=False)
    assert_same_result(raw, geodim.khop_dimensions(X * 3.0, EDGES, hops=2, normalize=False))


def test_with_a_tolerance(tmp_path):
    reference = geodim.khop_dimensions(X, EDGES, hops=2, rtol=0.05)
    interrupted(3, hops=2, rtol=0.05, checkpoint=tmp_path)
    assert_same_result(geodim.khop_dimensions(X, EDGES, hops=2, rtol=0.05, checkpoint=tmp_path), reference)


def test_with_a_tolerance_that_needed_a_finer_step(tmp_path, monkeypatch):
    from geodim.engine import steps

    monkeypatch.setattr("geodim.khop.resolution", lambda *a: 16.0 * steps.resolution(*a))
    reference = geodim.khop_dimensions(X, EDGES, hops=2, rtol=0.05, checkpoint=tmp_path)
    assert_same_result(geodim.khop_dimensions(X, EDGES, hops=2, rtol=0.05, checkpoint=tmp_path), reference)


def test_with_a_tolerance_that_needed_the_exact_pass(tmp_path, monkeypatch):
    """What is saved of that has no step, whatever the first one was."""
    from geodim.engine import refine, steps

    monkeypatch.setattr(refine, "MOST_PASSES", 1)
    monkeypatch.setattr("geodim.khop.resolution", lambda *a: 16.0 * steps.resolution(*a))
    reference = geodim.khop_dimensions(X, EDGES, hops=2, rtol=0.05, checkpoint=tmp_path)
    assert reference.results[0].exact
    assert_same_result(geodim.khop_dimensions(X, EDGES, hops=2, rtol=0.05, checkpoint=tmp_path), reference)


# ---------------------------------------------------------------- killed

N_KILLS = 4  # `make faults` has a hundred
CHILD = """
import json, sys
import numpy as np
import geodim.khop
from geodim.backends.hop_pass import HopPass

HopPass.width_for = lambda *_: 1
rng = np.random.default_rng(3)
X = rng.normal(size=(40_000, 96)).astype(np.float32) * np.linspace(0.1, 1.0, 96, dtype=np.float32)
X[rng.random(X.shape) < 0.7] = 0.0
edges = rng.integers(0, 40_000, (2, 160_000))
result = geodim.khop.khop_dimensions(
    X, edges, hops=5, n_threads=2, checkpoint=sys.argv[1] or None, save_every=0,
    progress=lambda done, *_: print(done, flush=True),
)
np.save(sys.argv[2], np.stack([one.phi for one in result]))
with open(sys.argv[2] + ".json", "w") as stream:
    json.dump([one.shares for one in result], stream)
"""


def start(folder, target):
    return subprocess.Popen(
        [sys.executable, "-c", CHILD, str(folder), str(target)], stdout=subprocess.PIPE, text=True
    )


def finish(folder, target):
    with start(folder, target) as child:
        steps = [int(line) for line in child.stdout]
    assert child.returncode == 0
    return np.load(target), json.loads(Path(f"{target}.json").read_text()), steps


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs SIGKILL")
def test_killed_again_and_again(tmp_path):
    folder = tmp_path / "state"
    reference, shares, steps = finish("", tmp_path / "reference.npy")
    assert sorted({0, *steps}) == list(range(97))
    rng = np.random.default_rng(int(os.environ.get("GEODIM_KILL_SEED", "0")))
    first = []
    for _ in range(N_KILLS):
        with start(folder, tmp_path / "never.npy") as child:
            first.append(int(child.stdout.readline()))
            time.sleep(rng.uniform(0.0, 0.15))
            child.send_signal(signal.SIGKILL)
        assert child.returncode == -signal.SIGKILL, "the run ended before it was killed"
    assert first == sorted(first)
    assert first[-1] > first[0]
    phi, same, rest = finish(folder, tmp_path / "resumed.npy")
    assert rest[0] >= first[-1]
    assert rest[-1] == 96
    assert_same_bits(phi, reference)
    assert same == shares
    only_file(folder)


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
            Checkpoint(tmp_path, {}).load(Layers(6, 2, hops=1))
        gc.collect()
    assert [str(one.message) for one in caught] == []


@LEAK
@pytest.mark.parametrize("content", [b"not a checkpoint", b"PK\x03\x04", b"\x93NUMPY\x01\x00"])
def test_another_file(tmp_path, content):
    (tmp_path / NAME).write_bytes(content)
    with pytest.raises(DataFileError, match="delete it to start anew"):
        geodim.khop_dimensions(X, EDGES, hops=2, checkpoint=tmp_path)


def test_an_array_is_no_checkpoint(tmp_path):
    with (tmp_path / NAME).open("wb") as stream:
        np.save(stream, np.arange(3.0))
    with pytest.raises(DataFileError, match="delete it to start anew"):
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
    Checkpoint(tmp_path, {"a": 1}).save(layers)
    empty = Layers(6, 2, hops=1)
    assert Checkpoint(tmp_path, {"a": 1}).load(empty)
    for one, other in zip(empty.profiles, layers.profiles, strict=True):
        assert_same_bits(one.phi, other.phi)
        np.testing.assert_array_equal(one.owner, other.owner)
        np.testing.assert_array_equal(one.done, other.done)
        np.testing.assert_array_equal(one.work, other.work)
    assert empty.unfinished() == [0]


def test_nothing_saved_nothing_loaded(tmp_path):
    layers = Layers(6, 2, hops=1)
    store = Checkpoint(tmp_path, {})
    assert not store.load(layers)
    assert not layers.profiles[0].phi.any()


def test_a_failed_write_leaves_the_old_state(tmp_path, monkeypatch):
    store = Checkpoint(tmp_path, {})
    store.save(filled())
    before = only_file(tmp_path).read_bytes()

    def full(*_args, **_arrays):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(np, "savez", full)
    with pytest.raises(DataFileError, match=r"layers\.npz: the disk is full"):
        store.save(filled(1))
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
        ({"phi0": np.full(N, np.nan)}, "no width"),
        ({"phi0": np.full(N, np.inf)}, "no width"),
        ({"phi0": np.full(N, -1.0)}, "no width"),
        ({"phi0": np.ones(N)}, "no width"),
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
    with pytest.raises(DataFileError, match=f"was edited or damaged .*{why}.*: delete it to start anew"):
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
    with pytest.raises(DataFileError, match="no file"):
        geodim.khop_dimensions(X, EDGES, hops=1, checkpoint=tmp_path)


def test_a_state_whose_header_ends_in_mid_word(tmp_path):
    geodim.khop_dimensions(X, EDGES, hops=1, checkpoint=tmp_path)
    with zipfile.ZipFile(tmp_path / NAME, "w") as new:
        new.writestr("job.npy", b"\x93NUMPY\x01\x00\x10\x00{'descr': '|u1',(")
    with pytest.raises(DataFileError, match="delete it to start anew"):
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
