"""Locks: one run at a time, gone with the process that holds them."""

from __future__ import annotations

import signal
import socket
import subprocess
import sys

import pytest

from geodim import locks
from geodim.errors import DataFileError, GeodimWarning
from geodim.locks import FolderLock

HOLD = """
import sys, time
from pathlib import Path
from geodim.locks import FolderLock
with FolderLock(Path(sys.argv[1]), "folder"):
    print("ready", flush=True)
    time.sleep(60)
"""


@pytest.mark.unix
def test_a_killed_holder_holds_nothing(tmp_path):
    holder = subprocess.Popen([sys.executable, "-c", HOLD, str(tmp_path)], stdout=subprocess.PIPE)
    try:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"ready\n"
        who = f"process {holder.pid} on {socket.gethostname()}"
        with pytest.raises(DataFileError, match=f"the state folder .* is in use by {who}: wait for it"):
            FolderLock(tmp_path, "state folder").__enter__()
    finally:
        holder.send_signal(signal.SIGKILL)
        holder.communicate()
    with FolderLock(tmp_path, "state folder"):
        pass
    assert not list(tmp_path.iterdir())


def test_a_file_that_its_holder_removes_is_made_again(tmp_path, monkeypatch):
    """Opened before it was removed, locked after: that lock would keep nobody out."""
    lock, calls = locks.try_lock, []

    def late(descriptor):
        calls.append(descriptor)
        if len(calls) == 1:
            (tmp_path / locks.LOCK_FILE).unlink()
        return lock(descriptor)

    monkeypatch.setattr(locks, "try_lock", late)
    with FolderLock(tmp_path, "folder"):
        assert len(calls) == 2
        monkeypatch.undo()
        with pytest.raises(DataFileError, match="in use"):
            FolderLock(tmp_path, "folder").__enter__()


def test_a_disk_without_locks_is_used_with_a_warning(tmp_path, monkeypatch):
    monkeypatch.setattr(locks, "try_lock", lambda _descriptor: None)
    with pytest.warns(GeodimWarning, match="cannot be locked on this disk"), FolderLock(tmp_path, "folder"):
        pass
    assert not list(tmp_path.iterdir())


def test_a_folder_that_cannot_be_written(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(DataFileError, match="cannot use the folder of runs"):
        FolderLock(tmp_path / "file", "folder of runs").__enter__()
