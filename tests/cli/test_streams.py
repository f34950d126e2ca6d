"""Closed streams, readers that are gone, full disks: an exit code and no traceback.

Nothing is written that a terminal obeys.
"""

from __future__ import annotations

import os
import re
import subprocess

import numpy as np
import pandas as pd
import pytest

from cli.running import PROGRAM, called, called_on_terminal, environment

EVIL = "\x1b]0;owned\x07\x1b[2J\u202enam\x9b31me"
SHOWN = r"\x1b]0;owned\x07\x1b[2J\u202enam\x9b31me"


@pytest.fixture
def points(tmp_path):
    path = tmp_path / "points.npy"
    np.save(path, np.random.default_rng(0).random((30, 3)))
    return path


def shell(line, *arguments, cwd=None):
    """Run a line of shell in which "$@" is the program with the arguments."""
    return subprocess.run(
        ["bash", "-c", line, "bash", *PROGRAM, *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        cwd=cwd,
        env=environment(),
    )


@pytest.mark.linux
@pytest.mark.parametrize(
    ("line", "code", "message"),
    [
        ('"$@" >&-', 0, ""),
        # No file takes the place of a stream.
        (
            '"$@" <&- >&- 2>&- --json a.json && grep -q "^{" a.json',
            0,
            "",
        ),
        ('"$@" > /dev/full', 4, "error: cannot print the answer: the disk is full\n"),
        ('"$@" | head -c 0; exit ${PIPESTATUS[0]}', 141, ""),
    ],
)
def test_streams_that_are_not_there(points, line, code, message):
    done = shell(line, "compute", points, cwd=points.parent)
    assert (done.returncode, done.stderr) == (code, message)


@pytest.mark.unix
@pytest.mark.parametrize("arguments", [["--help"], ["datasets", "list"]])
def test_readers_of_other_commands(arguments):
    done = shell('"$@" | (exec 0<&-); exit ${PIPESTATUS[0]}', *arguments)
    assert (done.returncode, done.stderr) == (141, "")


@pytest.mark.linux
def test_errors_where_nobody_listens(tmp_path):
    done = shell('"$@" >&- 2>&-', "compute", tmp_path / "absent.npy")
    assert done.returncode == 4
    done = shell('"$@" > /dev/full 2> /dev/full', "compute", tmp_path / "absent.npy")
    assert done.returncode == 4


# ---------------------------------------------------------------- names from strangers


@pytest.fixture
def evil_table(tmp_path):
    path = tmp_path / f"t{EVIL}\n.parquet"
    pd.DataFrame(np.random.default_rng(0).random((30, 2)), columns=[EVIL, "b\nc"]).to_parquet(path)
    return path


@pytest.mark.turns(2)
@pytest.mark.parametrize(
    "arguments",
    [
        ["compute"],
        ["compute", "--dry-run"],
        ["select"],
        ["select", "-m", "2", "--quiet"],
        ["estimators", "--estimators", ""],
    ],
    ids=" ".join,
)
def test_tables_on_a_terminal(evil_table, arguments):
    command, *rest = arguments
    done = called_on_terminal(command, evil_table, *rest, raw=True)
    assert done.code == 0
    assert r"\x1b]0;owned\x07" in re.sub(r"\s", "", harmless(done.err))  # long titles are folded


def harmless(shown):
    """What was sent, without the colours and cursor movements that Rich sends.

    The rest is only text.
    """
    rest = re.sub(r"\x1b\[([0-9;]*m|\?25[lh]|2K|1A)", "", shown)
    assert not [character for character in rest if character not in "\n\r" and not character.isprintable()]
    return rest


def test_errors_and_wrong_arguments(tmp_path):
    absent = tmp_path / f"{EVIL}.npy"
    for arguments in (["compute", absent], ["compute", "x.npy", EVIL], ["compute", f"--{EVIL}"], [EVIL]):
        done = called(*arguments)
        assert done.code in (2, 4)
        assert not [c for c in done.out + done.err if c != "\n" and not c.isprintable()]


def test_a_column_that_is_bad(tmp_path):
    path = tmp_path / "a.parquet"
    pd.DataFrame({EVIL: [1.0, np.nan, 2.0]}).to_parquet(path)
    done = called("compute", path)
    assert done.code == 3
    assert "\x1b" not in done.err
    assert "\u202e" not in done.err


def test_progress_with_a_name_that_is_a_title(tmp_path):
    features = tmp_path / f"f{EVIL}.npy"
    np.save(features, np.random.default_rng(0).random((200, 40)))
    np.save(tmp_path / "e.npy", np.arange(200).reshape(2, 100))
    done = called_on_terminal("hops", "--features", features, "--edges", tmp_path / "e.npy", "--hops", "1")
    assert done.code == 0
    assert "owned\x07" not in done.err
    assert "\u202e" not in done.err
    assert SHOWN in done.err.replace("\n", "")


def test_json_in_a_pipe_is_plain_ascii(tmp_path):
    path = tmp_path / "a.parquet"
    name = f"{EVIL}\x7f"
    pd.DataFrame({name: [1.0, 5.0, 2.0], "y": [1.0, 2.0, 3.0]}).to_parquet(path)
    done = called("compute", path)
    assert done.out.rstrip("\n").isprintable()
    assert done.out.isascii()
    assert name in done.json["shares"]


def test_names_of_another_encoding(tmp_path):
    path = os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9.npy")
    np.save(path, np.eye(4))
    shown = called_on_terminal(
        "compute", path, "--json", tmp_path / "a.json", "--report", tmp_path / "a.html"
    )
    assert shown.code == 0
    assert r"caf\udce9.npy" in shown.err


@pytest.mark.parametrize("variable", ["FORCE_COLOR", "TTY_COMPATIBLE", "PY_COLORS"])
def test_json_in_a_pipe_whatever_asks_for_colours(points, variable):
    """Whether a stream is a terminal is for the stream to say."""
    for arguments in (["compute", points], ["datasets", "list"], ["compute", points, "--dry-run"]):
        ended = called(*arguments, **{variable: "1"})
        assert (ended.code, ended.err) == (0, "")
        assert ended.json["format"].startswith("geodim.")
    refused = called("compute", "absent.npy", **{variable: "1"})
    assert refused.err == "error: there is no file absent.npy\n"
