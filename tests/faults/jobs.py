"""Commands that write, what they write, and how to tell whether it is whole and right."""

from __future__ import annotations

import contextlib
import json
import multiprocessing
import os
import re
import resource
import shutil
import signal
import sys
import threading
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

import geodim
from data.datasets.layouts import write_ogb_csv
from geodim.cli import main

SPAWN = multiprocessing.get_context("forkserver")
SPAWN.set_forkserver_preload(
    [
        "faults.jobs",
        "geodim.engine.column",
        "geodim.khop",
        "geodim.explain",
        "geodim.experiments.runner",
        "matplotlib.figure",
        "scipy.linalg",
        "geodim.display.html.document",
    ]
)
OLD = {".json": b'{"old": true}\n', ".html": b"<!DOCTYPE html>old</html>\n", ".png": b"old, IEND\xaeB`\x82"}
INPUTS = ("x.npy", "f.npy", "e.npy", "r.json")
BEYOND = -1  # in the place of a limit: on the address space, beyond what is mapped when the command begins
NOT_OURS = {
    "seconds",
    "plan",  # with what it took
    "evaluations",
    "bytes_read",
    "command",
    "threads",
    "n_threads",
    "peak_bytes",
    "machine",
    "data",
    "mtime_ns",
}
PDF = re.compile(rb"%%EOF\s*$")


@dataclass
class Job:
    """One command.

    Attributes
    ----------
    name
        For the log.
    arguments
        What is typed; paths are relative to the folder it runs in.
    outputs
        Files that it replaces.
    answer
        The file that holds the answer.
    resumes
        Whether it goes on where it was stopped.
    seldom
        Whether it takes long: several processes, or much to draw.
    """

    name: str
    arguments: list[str]
    outputs: list[str]
    answer: str
    resumes: bool = False
    seldom: bool = False
    reference: Any = field(default=None, repr=False)
    seconds: float = 0.0


DEMO = ("digits.json", "digits.png", "report.html")


def jobs() -> list[Job]:
    """Every way to write: results, plots, reports, checkpoints, conversions, experiments.

    Downloads are left out, since they need a server.  Faults of these are injected by
    ``tests/data/datasets/test_download_faults.py``.
    """
    return [
        Job("compute", ["compute", "x.npy", "--json", "c.json", "--report", "c.html"], ["c.json", "c.html"],
            "c.json"),
        Job("select", ["select", "x.npy", "--json", "s.json"], ["s.json"], "s.json"),
        Job(
            "estimators", ["estimators", "x.npy", "--estimators", "twonn", "--json", "m.json"], ["m.json"],
            "m.json", seldom=True
        ),
        Job(
            "hops",
            [
                "hops", "--features", "f.npy", "--edges", "e.npy", "--hops", "3", "--checkpoint", "state",
                "--save-every", "0", "--memory", "60MB", "--json", "h.json",
            ],
            ["h.json"],
            "h.json",
            resumes=True,
        ),
        Job(
            "reproduce",
            ["reproduce", "random", "--points", "9000,20000", "--features", "2,3", "--repetitions", "2",
             "--output", "out"],
            [],
            "out/random.json",
            resumes=True,
        ),
        Job("plot", ["compute", "x.npy", "--plot", "p.png"], ["p.png"], "p.png"),
        Job("report", ["report", "r.json", "--output", "r.html"], ["r.html"], "r.html"),
        Job("convert", ["datasets", "convert", "ogbn-arxiv", "--root", "."], [],
            "ogbn_arxiv/geodim/manifest.json"),
        Job("demo", ["demo", "--output", "demo"], [f"demo/{name}" for name in DEMO], "demo/digits.json",
            seldom=True),
    ]  # fmt: skip


def make_inputs(folder: Path) -> None:
    """What the commands read."""
    rng = np.random.default_rng(0)
    folder.mkdir(parents=True, exist_ok=True)
    np.save(folder / "x.npy", rng.normal(size=(20_000, 8)))
    np.save(folder / "f.npy", rng.normal(size=(10_000, 48)).astype(np.float32))
    np.save(folder / "e.npy", rng.integers(0, 10_000, (2, 30_000)))
    geodim.intrinsic_dimension(rng.normal(size=(200, 5)), n_threads=1).to_json(folder / "r.json")
    write_ogb_csv(folder, nodes=3000, width=20)
    shutil.rmtree(folder / "ogbn_arxiv" / "processed")


def place_old(job: Job, folder: Path) -> None:
    """Files of an earlier run in the places of the outputs."""
    for name in job.outputs:
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_bytes(OLD[Path(name).suffix])


class Running:
    """The real program in a process of its own.

    It is forked from one that has imported it, so that faults hit the work.
    """

    def __init__(self, job: Job, folder: Path, limits: dict[int, int] | None = None) -> None:
        self._said, self._end = SPAWN.Pipe(duplex=False)
        self.process = SPAWN.Process(
            target=_program, args=(job.arguments, str(folder), limits or {}, self._end)
        )
        self.process.start()
        self._end.close()

    def send(self, number: int) -> bool:
        """A signal, and whether it still ran."""
        with contextlib.suppress(ProcessLookupError):
            if self.process.is_alive() and self.process.pid is not None:
                os.kill(self.process.pid, number)
                return True
        return False

    def finish(self, patience: float = 300.0) -> tuple[int, str]:
        """Exit code, and what it said."""
        heard: list[bytes] = []
        reader = threading.Thread(target=self._listen, args=(heard,))
        reader.start()
        self.process.join(patience)
        if self.process.is_alive():
            self.process.kill()
            self.process.join()
            heard.append(b" and then nothing for minutes")
        reader.join()
        code = self.process.exitcode
        self.process.close()
        assert code is not None
        return code, b"".join(heard).decode(errors="replace")

    def _listen(self, heard: list[bytes]) -> None:
        with open(self._said.fileno(), "rb", closefd=False) as stream:
            heard.append(stream.read())
        self._said.close()


def _program(arguments: list[str], folder: str, limits: dict[int, int], said: Any) -> None:
    signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored in the background of a shell
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    os.dup2(said.fileno(), 2)
    said.close()
    os.chdir(folder)
    for which, most in limits.items():
        mapped = (
            int(Path("/proc/self/statm").read_text(encoding="utf-8").split()[0]) * resource.getpagesize()
            if which == BEYOND
            else 0
        )
        resource.setrlimit(resource.RLIMIT_AS if which == BEYOND else which, (mapped + most,) * 2)
    sys.argv = ["geodim", *arguments]
    main()


def run(job: Job, folder: Path, limits: dict[int, int] | None = None) -> tuple[int, str]:
    """Run the command to its end, if it comes to that; exit code, and what it said."""
    return Running(job, folder, limits).finish()


def is_whole(path: Path) -> bool:
    """Whether a file is one that was written to its end."""
    content = path.read_bytes()
    if path.suffix == ".json":
        try:
            json.loads(content)
        except ValueError:
            return False
        return content.endswith(b"\n")
    if path.suffix == ".npz":
        try:
            with path.open("rb") as stream, np.load(stream) as saved:
                return all(saved[name] is not None for name in saved.files)
        except Exception:  # noqa: BLE001 - whatever it is, it is not whole
            return False
    if path.suffix == ".png":
        return content.endswith(b"IEND\xaeB`\x82")
    if path.suffix == ".pdf":
        return PDF.search(content) is not None
    return content.rstrip().endswith(b"</html>") if path.suffix == ".html" else True


def half_written(folder: Path) -> list[str]:
    """Files under their final names that are not whole."""
    return [
        str(path.relative_to(folder))
        for path in folder.rglob("*")
        if path.is_file() and not path.name.startswith(".geodim-") and not is_whole(path)
    ]


def leftovers(folder: Path) -> list[str]:
    """Temporaries and locks."""
    return [str(path.relative_to(folder)) for path in folder.rglob(".geodim-*")]


def answer(job: Job, folder: Path) -> Any:
    """What was computed, without times and machines."""
    path = folder / job.answer
    return _plain(json.loads(path.read_text())) if path.suffix == ".json" else path.read_bytes()


def _plain(value: Any) -> Any:
    if isinstance(value, dict) and {"columns", "values"} == set(value):  # rows under one heading
        rows = [dict(zip(value["columns"], row, strict=True)) for row in value["values"]]
        return _plain(rows)
    if isinstance(value, dict):
        return {key: _plain(one) for key, one in value.items() if key not in NOT_OURS}
    if isinstance(value, list):
        plain = [_plain(one) for one in value]
        return sorted(plain, key=str) if plain and isinstance(plain[0], dict) else plain
    return value
