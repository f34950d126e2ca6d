"""The driver: when passes end, who is told, what is kept."""

from __future__ import annotations

import math
import os
import signal
import time

import numpy as np
import pytest

import geodim
from geodim.engine.checkpoint import Checkpoint, checkpoint_for
from geodim.engine.driver import Driver
from geodim.engine.profile import Profile
from geodim.errors import DataFileError, InputValueError, InterruptedWarning


def test_the_first_reason_to_stop_stays():
    driver = Driver(deadline=time.monotonic() - 1.0)
    assert driver.stopped is None  # nobody asked yet
    assert driver.late()
    driver.halt("interrupted")
    assert driver.stopped == "time limit"


def test_without_a_deadline_nothing_ends():
    driver = Driver()
    assert not driver.late()
    assert driver.deadline_everywhere is None
    driver.report(1, 2)  # to nobody
    assert not driver.keeps
    assert not driver.due()


def test_a_deadline_for_other_machines():
    driver = Driver(deadline=time.monotonic() + 100.0)
    assert driver.deadline_everywhere == pytest.approx(time.time() + 100.0, abs=5.0)


@pytest.mark.unix
def test_an_interrupt_is_heard_once():
    driver = Driver()
    with driver.heeding():
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(0.01)
        assert driver.late()
    assert driver.stopped == "interrupted"
    impatient = Driver()
    with impatient.heeding():
        raise KeyboardInterrupt
    assert impatient.stopped == "interrupted"


def test_other_errors_pass():
    driver = Driver()
    with pytest.raises(OSError, match="gone"), driver.heeding():
        raise OSError("gone")
    assert driver.stopped is None


def test_progress_reaches_who_asked():
    seen = []
    Driver(progress=lambda *how_far: seen.append(how_far)).report(3, 7)
    assert seen == [(3, 7)]


def test_state_is_kept_when_it_is_due(tmp_path):
    profile = Profile.empty(5, 3)
    profile.phi[:] = [0.0, 1.0, 2.0, 3.0, 4.0]
    profile.done[1] = True
    with Checkpoint(tmp_path, {"a": 1}) as store:
        assert not Driver(store=store).due()
        driver = Driver(store=store, save_every=0.0)
        assert driver.due()
        driver.keep([profile])
        again = Profile.empty(5, 3)
        driver.resume([again])
    assert again.phi.tolist() == profile.phi.tolist()
    assert again.done.tolist() == [False, True, False]


def test_no_folder_no_checkpoint():
    with checkpoint_for(None, lambda: pytest.fail("nobody needs a job")) as store:
        assert store is None


# ---------------------------------------------------------------- columns that are kept

RNG = np.random.default_rng(5)


def interrupted_after(columns):
    """Progress that ends a run once so many columns are done."""

    def progress(done, _total):
        if done >= columns:
            os.kill(os.getpid(), signal.SIGINT)

    return progress


@pytest.mark.turns(3)
@pytest.mark.unix
@pytest.mark.parametrize("rtol", [0.0, 1e-2, 1e-9])
@pytest.mark.parametrize("n_threads", [1, 2])
def test_columns_go_on_where_they_were_interrupted(tmp_path, rtol, n_threads):
    X = RNG.normal(size=(4000, 60))
    whole = geodim.intrinsic_dimension(X, rtol=rtol, n_threads=n_threads)
    options = {"rtol": rtol, "n_threads": n_threads, "checkpoint": tmp_path / "state"}
    with pytest.warns(InterruptedWarning, match="stopped early"):
        part = geodim.intrinsic_dimension(X, **options, progress=interrupted_after(3))
    assert part.lower <= whole.lower <= whole.upper <= part.upper
    seen = []
    result = geodim.intrinsic_dimension(X, **options, progress=lambda done, _total: seen.append(done))
    assert seen[0] >= 3
    assert (result.lower, result.upper) == (whole.lower, whole.upper)
    assert np.array_equal(result.phi_lower, whole.phi_lower)
    assert result.shares == whole.shares
    again = geodim.intrinsic_dimension(X, **options, progress=lambda done, _total: seen.append(done))
    assert seen[-1] == 60
    assert again.dimension == whole.dimension


def test_other_data_is_refused(tmp_path):
    X = RNG.normal(size=(100, 5))
    geodim.intrinsic_dimension(X, checkpoint=tmp_path)
    with pytest.raises(DataFileError, match="another computation"):
        geodim.intrinsic_dimension(X + 1.0, checkpoint=tmp_path)
    with pytest.raises(DataFileError, match="another computation"):
        geodim.intrinsic_dimension(X, rtol=0.1, checkpoint=tmp_path)


@pytest.mark.parametrize("rtol", [0.0, 1e-2])
def test_an_edited_state_is_refused(tmp_path, rtol):
    X = RNG.normal(size=(4000, 12))
    geodim.intrinsic_dimension(X, rtol=rtol, checkpoint=tmp_path)
    path = tmp_path / "layers.npz"
    with np.load(path) as saved:
        arrays = dict(saved)
    for wrong in (math.nan, math.inf, -0.5):
        np.savez(path, **{**arrays, "phi0": np.full_like(arrays["phi0"], wrong)})
        with pytest.raises(DataFileError, match="edited or damaged"):
            geodim.intrinsic_dimension(X, rtol=rtol, checkpoint=tmp_path)


def test_only_this_machine_keeps_columns(tmp_path, monkeypatch):
    pytest.importorskip("triton")
    monkeypatch.setenv("TRITON_INTERPRET", "1")
    with pytest.raises(InputValueError, match="need backend='cpu', not 'cuda'"):
        geodim.intrinsic_dimension(np.eye(4), backend="cuda", checkpoint=tmp_path)
