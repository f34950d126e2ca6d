"""The one writer: whole or not at all, and nothing else is harmed."""

from __future__ import annotations

import errno
import io
import os
import stat
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

from geodim.errors import DataFileError
from geodim.output import check_output, check_outputs, make_folder, write_text, writing

ROOT = hasattr(os, "geteuid") and os.geteuid() == 0


def names(folder):
    return sorted(path.name for path in folder.iterdir())


# ---------------------------------------------------------------- what is there stays what it is


def test_a_new_file_is_an_ordinary_one(tmp_path):
    before = os.umask(0o027)
    try:
        write_text(tmp_path / "a", "x")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == 0o640
    assert names(tmp_path) == ["a"]


@pytest.mark.unix
@pytest.mark.parametrize("mode", [0o600, 0o644, 0o666, 0o755])
def test_the_mode_is_kept(tmp_path, mode):
    path = tmp_path / "a"
    path.write_text("old")
    path.chmod(mode)
    write_text(path, "new")
    assert path.read_text() == "new"
    assert stat.S_IMODE(path.stat().st_mode) == mode


@pytest.mark.skipif(not ROOT, reason="only root may give files away")
def test_the_owner_is_kept(tmp_path):
    path = tmp_path / "a"
    path.write_text("old")
    os.chown(path, 1234, 4321)
    path.chmod(0o4750)
    write_text(path, "new")
    found = path.stat()
    assert (found.st_uid, found.st_gid, stat.S_IMODE(found.st_mode)) == (1234, 4321, 0o4750)


@pytest.mark.parametrize("there", [True, False])
def test_symbolic_links_are_followed(tmp_path, there):
    (tmp_path / "real").mkdir()
    if there:
        (tmp_path / "real" / "a").write_text("old")
    (tmp_path / "one").symlink_to("real/a")
    (tmp_path / "two").symlink_to(tmp_path / "one")
    write_text(tmp_path / "two", "new")
    assert (tmp_path / "two").is_symlink()
    assert (tmp_path / "one").is_symlink()
    assert (tmp_path / "real" / "a").read_text() == "new"
    assert names(tmp_path / "real") == ["a"]


def test_other_names_of_a_file_keep_the_old_content(tmp_path):
    (tmp_path / "snapshot").write_text("old")
    (tmp_path / "a").hardlink_to(tmp_path / "snapshot")
    write_text(tmp_path / "a", "new")
    assert (tmp_path / "snapshot").read_text() == "old"
    assert (tmp_path / "a").read_text() == "new"


@pytest.mark.unix
def test_a_device_stays_a_device():
    before = Path("/dev/null").stat()
    write_text("/dev/null", "x")
    after = Path("/dev/null").stat()
    assert stat.S_ISCHR(after.st_mode)
    assert (before.st_ino, before.st_mode) == (after.st_ino, after.st_mode)


@pytest.mark.unix
def test_a_link_to_a_device(tmp_path):
    (tmp_path / "sink").symlink_to("/dev/null")
    write_text(tmp_path / "sink", "x")
    assert (tmp_path / "sink").is_symlink()
    assert stat.S_ISCHR(Path("/dev/null").stat().st_mode)


@pytest.mark.unix
def test_a_pipe_is_written_to(tmp_path):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    got = []
    reader = threading.Thread(target=lambda: got.append(path.read_bytes()))
    reader.start()
    with writing(path) as stream:
        np.savez(stream, a=np.arange(3))
    reader.join(10)
    assert stat.S_ISFIFO(path.stat().st_mode)
    assert np.load(io.BytesIO(got[0]))["a"].tolist() == [0, 1, 2]


@pytest.mark.unix
def test_our_own_output_is_continued(tmp_path):
    code = (
        "from geodim.output import write_text; print('one'); "
        "write_text('/dev/stdout', 'two\\n'); print('three')"
    )
    with (tmp_path / "a").open("wb") as file:
        subprocess.run([sys.executable, "-c", code], stdout=file, check=True)
    assert (tmp_path / "a").read_text() == "one\ntwo\nthree\n"
    piped = subprocess.run([sys.executable, "-c", code], stdout=subprocess.PIPE, check=True)
    assert piped.stdout == b"one\ntwo\nthree\n"


def test_the_file_that_our_output_goes_to_is_not_replaced(tmp_path):
    code = f"from geodim.output import write_text; write_text({str(tmp_path / 'a')!r}, 'x')"
    with (tmp_path / "a").open("wb") as file:
        done = subprocess.run([sys.executable, "-c", code], stdout=file, stderr=subprocess.PIPE, check=False)
    assert b"goes to the same file" in done.stderr


# ---------------------------------------------------------------- typed errors that name the path


@pytest.mark.unix
def test_read_only_is_respected(tmp_path):
    path = tmp_path / "a"
    path.write_text("old")
    path.chmod(0o444)
    for call in (check_output, lambda one: write_text(one, "new")):
        with pytest.raises(DataFileError, match=r"cannot write .*a: it is read-only; choose another name"):
            call(path)
    assert path.read_text() == "old"
    assert names(tmp_path) == ["a"]


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("missing/a", "there is no folder .*missing"),
        ("file/a", "there is no folder .*file"),
        (".", "it is a folder"),
        ("n" * 300, "the name is too long"),
        ("circle", "form a loop"),
    ],
)
def test_places_where_nothing_can_be_written(tmp_path, name, reason):
    (tmp_path / "file").write_text("x")
    (tmp_path / "circle").symlink_to("circle")
    for call in (check_output, lambda one: write_text(one, "new")):
        with pytest.raises(DataFileError, match=f"cannot write .*: .*{reason}"):
            call(tmp_path / name)
    assert names(tmp_path) == ["circle", "file"]


def test_a_name_as_long_as_can_be(tmp_path):
    write_text(tmp_path / ("n" * 255), "x")
    assert names(tmp_path) == ["n" * 255]


def test_a_folder_that_cannot_be_made(tmp_path):
    (tmp_path / "file").write_text("x")
    with pytest.raises(DataFileError, match=r"cannot make the folder .*file: File exists; choose another"):
        make_folder(tmp_path / "file")
    with pytest.raises(DataFileError, match=r"cannot make the folder .*file/a: Not a directory"):
        make_folder(tmp_path / "file" / "a")


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO])
def test_a_full_disk_keeps_the_old_file(tmp_path, monkeypatch, number):
    path = tmp_path / "a.npz"
    path.write_text("old")

    def fail(_self, _data):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr("geodim.output._File.write", fail_remembering(fail))
    with pytest.raises(DataFileError, match=r"cannot write .*a\.npz: "), writing(path) as stream:
        np.savez(stream, a=np.arange(10))
    assert path.read_text() == "old"
    assert names(tmp_path) == ["a.npz"]


def fail_remembering(fail):
    def write(self, data):
        try:
            fail(self, data)
        except OSError as error:
            self.failure = error
            raise

    return write


@pytest.mark.linux
def test_a_device_that_is_full():
    with pytest.raises(DataFileError, match="cannot write /dev/full: the disk is full"):
        write_text("/dev/full", "x")
    with (
        pytest.raises(DataFileError, match="cannot write /dev/full: the disk is full"),
        writing("/dev/full") as stream,
    ):
        np.savez(stream, a=np.zeros(100_000))


@pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError, SystemExit])
def test_whatever_is_raised_leaves_the_old_file_alone(tmp_path, error):
    path = tmp_path / "a"
    path.write_text("old")
    with pytest.raises(error), writing(path) as stream:  # noqa: PT012
        stream.write(b"x" * 10**6)
        raise error
    assert path.read_text() == "old"
    assert names(tmp_path) == ["a"]


def test_names_of_other_encodings(tmp_path):
    write_text(tmp_path / "a", os.fsdecode(b"caf\xe9"))
    assert (tmp_path / "a").read_bytes() == rb"caf\udce9"


# ---------------------------------------------------------------- outputs that are inputs, or one another


@pytest.mark.parametrize("link", ["same", "symbolic", "hard", "dots", "archive"])
def test_an_output_that_is_an_input(tmp_path, link):
    source = tmp_path / "in.npz"
    source.write_text("data")
    target = tmp_path / "out"
    if link == "symbolic":
        target.symlink_to(source)
    elif link == "hard":
        target.hardlink_to(source)
    else:
        target = tmp_path / "." / "in.npz" if link == "dots" else source
    given = f"{source}:key" if link == "archive" else source
    with pytest.raises(DataFileError, match=r"--json would overwrite .*in\.npz"):
        check_outputs({"--json": target}, [None, given])
    check_outputs({"--json": tmp_path / "other"}, [given, tmp_path / "absent"])


def test_an_output_in_a_folder_that_is_an_input(tmp_path):
    (tmp_path / "a.zarr" / "c").mkdir(parents=True)
    (tmp_path / "link").symlink_to("a.zarr/c")
    for target in (tmp_path / "a.zarr" / "new", tmp_path / "link" / "0"):
        with pytest.raises(DataFileError, match=r"would overwrite .*a\.zarr"):
            check_outputs({"--json": target}, [tmp_path / "a.zarr"])


@pytest.mark.unix
def test_two_outputs_to_one_file(tmp_path):
    (tmp_path / "link").symlink_to("a")
    for one, other in (("a", "a"), ("a", "link")):
        with pytest.raises(DataFileError, match="--json and --report are the same file"):
            check_outputs({"--json": tmp_path / one, "--report": tmp_path / other})
    check_outputs({"--json": tmp_path / "a", "--report": tmp_path / "b", "--plot": None})
    check_outputs({"--json": "/dev/null", "--report": "/dev/null"})
