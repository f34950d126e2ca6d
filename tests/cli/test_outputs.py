"""What commands write: never over what they read, never over one another, devices and links as they are."""

from __future__ import annotations

import json
import os
import stat
import subprocess
from pathlib import Path

import numpy as np
import pytest

from cli.running import PROGRAM, called, environment

COMMANDS = {
    "compute": (["in.npy"], ["--json", "--plot", "--report"]),
    "select": (["in.npy"], ["--json", "--report"]),
    "estimators": (["in.npy", "--estimators", "twonn"], ["--json", "--report"]),
    "hops": (["--features", "in.npy", "--edges", "edges.npy"], ["--json", "--report"]),
}
ENDINGS = {"--json": "json", "--plot": "png", "--report": "html"}


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    np.save("in.npy", np.random.default_rng(0).random((30, 3)))
    np.save("edges.npy", np.arange(30).reshape(2, 15))
    return tmp_path


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("link", ["same", "symbolic", "hard"])
def test_an_input_is_never_overwritten(folder, command, link):
    arguments, options = COMMANDS[command]
    before = (folder / "in.npy").read_bytes()
    for option in options:
        target = folder / f"out.{ENDINGS[option]}"
        if link == "same":
            if option != "--json":
                continue
            target = folder / "in.npy"
        elif link == "hard":
            target.hardlink_to("in.npy")
        else:
            target.symlink_to("in.npy")
        done = called(command, *arguments, option, target)
        assert done.code == 4, done.err
        assert f"{option} would overwrite in.npy" in done.err
        assert (folder / "in.npy").read_bytes() == before


def test_nor_are_the_edges_and_the_results_a_report_reads(folder):
    done = called("hops", "--features", "in.npy", "--edges", "edges.npy", "--json", "edges.npy")
    assert (done.code, "would overwrite edges.npy" in done.err) == (4, True)
    assert np.load("edges.npy").shape == (2, 15)
    (folder / "result.html").write_text("{}")
    done = called("report", "result.html", "-o", "result.html")
    assert (done.code, "would overwrite result.html" in done.err) == (4, True)
    assert (folder / "result.html").read_text() == "{}"


def test_nor_is_an_array_of_an_archive(folder):
    np.savez("in.npz", a=np.eye(5))
    done = called("compute", "in.npz:a", "--json", "in.npz")
    assert (done.code, "would overwrite in.npz:a" in done.err) == (4, True)
    assert np.load("in.npz")["a"].shape == (5, 5)


def test_nor_are_the_files_of_a_data_set_or_a_checkpoint(folder):
    raw = folder / "Cora" / "raw"
    raw.mkdir(parents=True)
    (raw / "ind.cora.x").write_text("data")
    for command in (["hops", "cora"], ["estimators", "cora"]):
        done = called(*command, "--root", folder, "--json", raw / "ind.cora.x")
        assert (done.code, "--json would overwrite" in done.err) == (4, True)
    assert (raw / "ind.cora.x").read_text() == "data"
    (folder / "state").mkdir()
    done = called("hops", "digits", "--checkpoint", "state", "--json", "state/layers.npz")
    assert (done.code, "--json would overwrite state" in done.err) == (4, True)


@pytest.mark.parametrize("command", COMMANDS)
def test_two_outputs_to_one_file(folder, command):
    arguments, _ = COMMANDS[command]
    done = called(command, *arguments, "--json", "a.html", "--report", "./a.html")
    assert (done.code, "--json and --report are the same file" in done.err) == (4, True)
    assert not (folder / "a.html").exists()


@pytest.mark.unix
@pytest.mark.parametrize("command", ["compute", "select", "hops"])
def test_devices_links_and_modes(folder, command):
    arguments, _ = COMMANDS[command]
    before = Path("/dev/null").stat()
    assert called(command, *arguments, "--json", "/dev/null").code == 0
    assert Path("/dev/null").stat().st_ino == before.st_ino
    assert stat.S_ISCHR(Path("/dev/null").stat().st_mode)
    (folder / "real.json").write_text("old")
    (folder / "real.json").chmod(0o600)
    (folder / "link.json").symlink_to("real.json")
    assert called(command, *arguments, "--json", "link.json").code == 0
    assert (folder / "link.json").is_symlink()
    assert stat.S_IMODE((folder / "real.json").stat().st_mode) == 0o600
    assert json.loads((folder / "real.json").read_text())
    (folder / "real.json").chmod(0o400)
    old = (folder / "real.json").read_text()
    done = called(command, *arguments, "--json", "real.json")
    assert (done.code, "it is read-only" in done.err) == (4, True)
    assert (folder / "real.json").read_text() == old


@pytest.mark.linux
def test_a_full_device_is_named(folder):
    done = called("compute", "in.npy", "--json", "/dev/full")
    assert (done.code, done.err) == (4, "error: cannot write /dev/full: the disk is full\n")


def test_the_demo_writes_to_no_folder_in_place_of_a_file(folder):
    (folder / "out" / "digits.json").mkdir(parents=True)
    done = called("demo", "--output", "out")
    assert (done.code, "digits.json: it is a folder" in done.err) == (4, True)


@pytest.mark.unix
def test_process_substitution(folder):
    read, write = os.pipe()
    done = subprocess.run(
        [*PROGRAM, "compute", "in.npy", "--json", f"/dev/fd/{write}"],
        pass_fds=[write],
        capture_output=True,
        env=environment(),
        check=False,
    )
    os.close(write)
    with os.fdopen(read) as stream:
        assert json.loads(stream.read())["n_points"] == 30
    assert done.returncode == 0
