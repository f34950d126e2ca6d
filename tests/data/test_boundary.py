"""What is no file is not waited for, and failures of the libraries below get a type and a path."""

from __future__ import annotations

import os
import socket
import tokenize

import pytest

from geodim.data.boundary import boundary, check_regular
from geodim.data.tables import SUFFIXES, read_table
from geodim.errors import DataFileError, MachineMemoryError, ShapeError

needs_pipes = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="named pipes are of Unix")


@needs_pipes
@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_pipe_that_nobody_writes_to_is_refused(tmp_path, suffix):
    path = tmp_path / f"pipe{suffix}"
    os.mkfifo(path)
    with pytest.raises(DataFileError, match=r"is a pipe, which cannot be read twice|is not a folder"):
        read_table(path)


@pytest.mark.unix
def test_sockets_and_devices(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # the paths of sockets are short
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("s.npy")
        with pytest.raises(DataFileError, match="is a socket"):
            read_table("s.npy")
    (tmp_path / "zero.csv").symlink_to("/dev/zero")
    with pytest.raises(DataFileError, match="is a device"):
        read_table(tmp_path / "zero.csv")


def test_links_to_files_are_files(tmp_path):
    (tmp_path / "real.csv").write_text("1,2\n3,4\n")
    (tmp_path / "link.csv").symlink_to("real.csv")
    assert read_table(tmp_path / "link.csv", header=False).num_rows == 2


def test_names_that_no_file_can_have():
    with pytest.raises(DataFileError):
        check_regular(__import__("pathlib").Path("a\x00b"))


@pytest.mark.parametrize(
    "error", [tokenize.TokenError("EOF"), RecursionError(), AttributeError("x"), OverflowError(), EOFError()]
)
def test_every_failure_names_the_file(error):
    with (
        pytest.raises(DataFileError, match=r"some\.npy is not a complete .npy file"),
        boundary("some.npy", ".npy file"),
    ):
        raise error


def test_memory_errors_interrupts_and_our_own_errors():
    with pytest.raises(MachineMemoryError, match=r"some\.npy does not fit"), boundary("some.npy"):
        raise MemoryError
    with pytest.raises(KeyboardInterrupt), boundary("some.npy"):
        raise KeyboardInterrupt
    with pytest.raises(ShapeError, match=r"^mine$"), boundary("some.npy"):
        raise ShapeError("mine")
    with pytest.raises(DataFileError, match=r"cannot read some\.npy: Permission"), boundary("some.npy"):
        raise PermissionError(13, "Permission denied")
