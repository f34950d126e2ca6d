"""The next process removes temporaries of dead ones, not of running ones or other machines."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest

from geodim import temporary
from geodim.output import write_text
from geodim.temporary import sweep, temporary_file, temporary_folder

HOLD = """
import sys, time
from pathlib import Path
from geodim.temporary import temporary_file, temporary_folder
with temporary_file(Path(sys.argv[1])), temporary_folder(Path(sys.argv[1])) as folder:
    (folder / "large.npy").write_text("x")
    print("ready", flush=True)
    time.sleep(60)
"""


@pytest.fixture(autouse=True)
def forget_what_was_swept(monkeypatch):
    monkeypatch.setattr(temporary, "_swept", set())


@pytest.fixture
def holder(tmp_path):
    process = subprocess.Popen([sys.executable, "-c", HOLD, str(tmp_path)], stdout=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stdout.readline() == b"ready\n"
    yield process
    process.kill()
    process.communicate()


@pytest.mark.unix
def test_those_of_a_killed_process_are_removed_by_the_next_writer(tmp_path, holder):
    assert len(list(tmp_path.iterdir())) == 2
    sweep(tmp_path)
    assert len(list(tmp_path.iterdir())) == 2  # it lives
    holder.send_signal(signal.SIGKILL)
    holder.wait()
    assert len(list(tmp_path.iterdir())) == 2
    write_text(tmp_path / "a", "x")
    assert [path.name for path in tmp_path.iterdir()] == ["a"]


def test_those_of_another_machine_stay(tmp_path, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr("socket.gethostname", lambda: "elsewhere")
        name = temporary.new_name()
    (tmp_path / name).mkdir()
    sweep(tmp_path)
    assert (tmp_path / name).is_dir()


@pytest.mark.unix
def test_other_files_and_links_stay(tmp_path):
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "x").write_text("x")
    (tmp_path / temporary.new_name()).symlink_to(tmp_path / "data")
    (tmp_path / ".geodim-notes").write_text("mine")
    os.mkfifo(tmp_path / temporary.new_name())
    before = sorted(tmp_path.iterdir())
    sweep(tmp_path)
    assert sorted(tmp_path.iterdir()) == before
    assert (tmp_path / "data" / "x").read_text() == "x"


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root may give files away")
def test_those_of_another_user_stay(tmp_path):
    path = tmp_path / temporary.new_name()
    path.write_text("x")
    os.chown(path, 1234, 1234)
    sweep(tmp_path)
    assert path.exists()


def test_where_nothing_can_be_locked_nothing_is_swept(tmp_path, monkeypatch):
    monkeypatch.setattr(temporary, "try_lock", lambda _descriptor: None)
    path = tmp_path / temporary.new_name()
    path.write_text("x")
    sweep(tmp_path)
    assert path.exists()
    write_text(tmp_path / "a", "written all the same")
    assert (tmp_path / "a").exists()


@pytest.mark.parametrize("make", [temporary_file, temporary_folder])
def test_one_that_is_swept_before_it_is_locked_is_made_again(tmp_path, monkeypatch, make):
    lock, calls = temporary.try_lock, []

    def late(descriptor):
        calls.append(descriptor)
        if len(calls) == 1:
            for path in tmp_path.iterdir():
                path.rmdir() if path.is_dir() else path.unlink()
        return lock(descriptor)

    monkeypatch.setattr(temporary, "try_lock", late)
    with make(tmp_path):
        assert len(list(tmp_path.iterdir())) == 1
    assert len(calls) == 2
    assert not list(tmp_path.iterdir())


def test_gone_afterwards_whatever_happens(tmp_path):
    with pytest.raises(KeyboardInterrupt), temporary_folder(tmp_path) as folder:  # noqa: PT012
        (folder / "a").write_text("x")
        raise KeyboardInterrupt
    with pytest.raises(KeyboardInterrupt), temporary_file(tmp_path):
        raise KeyboardInterrupt
    assert not list(tmp_path.iterdir())
