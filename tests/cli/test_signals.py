"""SIGTERM, SIGHUP and kill: a clean stop with what is known.

No children are left, and no temporary files for ever.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from cli.running import PROGRAM, called, environment, on_terminal, save_slow
from data.datasets.layouts import write_ogb_csv
from geodim.cli import main

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")


SLOW_CONVERSION = """
import time, numpy as np
import geodim.data.datasets.load as load
def slow(spec, folder, target, chunk_bytes):
    np.save(target / "x.npy", np.zeros(10**5))
    print("ready", flush=True)
    time.sleep(60)
load._WRITERS["ogb-csv"] = slow
from geodim.cli import main
main()
"""


def children(process):
    path = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    return [int(word) for word in path.read_text(encoding="utf-8").split()] if path.exists() else []


def alive(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def wait_until(condition, seconds=30.0):
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        found = condition()
        if found:
            return found
        time.sleep(0.01)
    raise AssertionError("waited in vain")


@pytest.mark.turns(4)
@pytest.mark.parametrize(
    ("number", "code"),
    [(signal.SIGTERM, 143), (signal.SIGHUP, 129), (signal.SIGINT, 130), (signal.SIGKILL, -9)],
)
def test_estimators_leave_no_child(tmp_path, number, code):
    """There is time for it, since the child has to compile everything first."""
    np.save(tmp_path / "slow.npy", 0.1 * np.arange(600_000)[:, np.newaxis])
    with subprocess.Popen(
        [*PROGRAM, "estimators", str(tmp_path / "slow.npy")],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(NUMBA_CACHE_DIR=str(tmp_path / "nothing yet")),
    ) as process:
        (child,) = wait_until(lambda: children(process))
        # Until it has asked the system to tell it.
        wait_until(lambda: b"geodim.cli.estimators_child" in Path(f"/proc/{child}/cmdline").read_bytes())
        time.sleep(1.0)
        process.send_signal(number)
        process.communicate(timeout=20)
        assert process.returncode == code
        wait_until(lambda: not alive(child))


def test_sigterm_keeps_the_bounds(tmp_path):
    path = tmp_path / "slow.npy"
    save_slow(path)
    sent = []

    def terminate(shown, process):
        if "solving" in shown and not sent:
            sent.append(process.send_signal(signal.SIGTERM))

    done = on_terminal(
        "compute", path, "--last-bit", "--json", tmp_path / "a.json", pipe_out=True, watch=terminate
    )
    assert done.code == 5
    assert done.json["stopped"] == "interrupted"
    assert 0.0 < float(done.json["lower"]) <= 4.0 <= 1.001 * float(done.json["upper"])
    assert json.loads((tmp_path / "a.json").read_text())["stopped"] == "interrupted"


@pytest.mark.turns(2)
@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGKILL, -9)])
def test_conversions_leave_nothing_for_ever(tmp_path, number, code):
    write_ogb_csv(tmp_path)
    process = subprocess.Popen(
        [sys.executable, "-c", SLOW_CONVERSION, "datasets", "convert", "ogbn-arxiv", "--root", str(tmp_path)],
        stdout=subprocess.PIPE,
        env=environment(),
    )
    assert process.stdout is not None
    assert process.stdout.readline() == b"ready\n"
    folder = tmp_path / "ogbn_arxiv"
    assert len(list(folder.glob(".geodim-*"))) == 1
    # Another one at the same time: what a running one has made is left alone.
    assert called("datasets", "convert", "ogbn-arxiv", "--root", tmp_path).code == 0
    assert len(list(folder.glob(".geodim-*"))) == 1
    process.send_signal(number)
    process.communicate(timeout=20)
    assert process.returncode == code
    assert len(list(folder.glob(".geodim-*"))) == (0 if number == signal.SIGTERM else 1)
    next_one = [*PROGRAM, "datasets", "convert", "ogbn-arxiv", "--root", str(tmp_path)]
    subprocess.run(next_one, check=True, capture_output=True, env=environment())
    assert not list(folder.glob(".geodim-*"))


def test_what_is_ignored_stays_ignored(tmp_path):
    """As under nohup."""
    np.save(tmp_path / "a.npy", np.random.default_rng(0).random((2000, 3)))
    code = (
        "import os, signal; from geodim.cli import app;"
        "import geodim.cli.compute as c; old = c.with_provenance;"
        "c.with_provenance = lambda *a: (os.kill(os.getpid(), signal.SIGHUP), old(*a))[1]; app.main()"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, "compute", str(tmp_path / "a.npy")],
        preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN),
        capture_output=True,
        env=environment(),
        check=False,
    )
    assert done.returncode == 0, done.stderr
    heard = subprocess.run(
        [sys.executable, "-c", code, "compute", str(tmp_path / "a.npy")],
        capture_output=True,
        text=True,
        env=environment(),
        check=False,
    )
    assert (heard.returncode, heard.stderr) == (129, "error: terminated before there was a result\n")


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_before_there_is_a_command(monkeypatch, number, code):
    """While the commands are put together, which takes a moment."""

    def interrupted(**_options):
        os.kill(os.getpid(), number)
        time.sleep(5.0)

    monkeypatch.setattr("geodim.cli.app.app", interrupted)
    with pytest.raises(SystemExit) as left:
        main()
    assert left.value.code == code
