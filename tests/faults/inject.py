"""Inject faults into every command that writes, and count what went wrong.

Run all by ``make faults``; the tests run a few.  Each fault must leave every output whole, old or new, and
the same command afterwards must give the answer of an undisturbed run.
"""

from __future__ import annotations

import argparse
import contextlib
import itertools
import os
import platform
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import geodim
from faults.jobs import (
    BEYOND,
    INPUTS,
    OLD,
    Job,
    Running,
    answer,
    half_written,
    jobs,
    leftovers,
    make_inputs,
    place_old,
    run,
)
from geodim.memory import PROFILE_BYTES

if TYPE_CHECKING:
    from collections.abc import Iterator

LARGE = 2**25  # points
SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT)
CODES = {signal.SIGKILL: {-9}, signal.SIGTERM: {0, 5, 143, -15}, signal.SIGINT: {0, 5, 130, -2}}


class Tally:
    """What was done and what went wrong."""

    def __init__(self) -> None:
        self.done: Counter[str] = Counter()
        self.wrong: list[str] = []

    def check(self, what: str, good: bool, detail: Any = "") -> None:
        self.done[what] += 1
        if not good:
            self.wrong.append(f"{what}: {detail}")


def forget(job: Job, folder: Path) -> None:
    """Begin anew, where the command would go on."""
    for path in ("state", "out"):
        shutil.rmtree(folder / job.name / path, ignore_errors=True)


def references(folder: Path, which: list[Job]) -> None:
    """The answer and the time of each undisturbed run."""
    run(Job("warm", ["--version"], [], ""), folder)  # starts the process that others are forked from
    for job in which:
        make_inputs(folder / job.name)
        began = time.monotonic()
        code, said = run(job, folder / job.name)
        job.seconds = time.monotonic() - began
        if code != 0:
            raise RuntimeError(f"{job.name} fails undisturbed: {said}")
        job.reference = answer(job, folder / job.name)
        forget(job, folder)


def kills(folder: Path, which: list[Job], count: int, rng: random.Random, tally: Tally) -> None:
    """Signals at random moments; commands that resume keep their state from kill to kill."""
    often = [job for job in which if not job.seldom] or which
    seldom = itertools.cycle([job for job in which if job not in often] or which)
    for at in itertools.takewhile(lambda _: tally.done["hits"] < count, itertools.count()):
        job, number = often[at % len(often)], SIGNALS[at // len(often) % len(SIGNALS)]
        if at % 13 == 12:
            job = next(seldom)
        place_old(job, folder / job.name)
        running = Running(job, folder / job.name)
        time.sleep(rng.uniform(0.05, 0.9) * job.seconds)
        hit = running.send(number)
        code, said = running.finish()
        print(f"{at + 1}: {job.name}, {number.name}, exit code {code}", file=sys.stderr, flush=True)
        tally.check(
            "signals", code in {*CODES[number], 0}, f"{job.name} {number!r}: exit code {code}, {said!r}"
        )
        if hit:
            tally.check("hits", True)
            tally.check(f"{number.name}: exit code {code}", True)
        else:
            job.seconds *= 0.9  # the machine was busy when it was measured
        _whole(job, folder / job.name, tally)
        if at % (3 * len(often)) >= 2 * len(often) and job.resumes:  # now and then to the end
            _finish(job, folder / job.name, tally)
            forget(job, folder)
    for job in which:
        _finish(job, folder / job.name, tally)


def _whole(job: Job, folder: Path, tally: Tally) -> None:
    tally.check("files whole after a fault", not half_written(folder), half_written(folder))
    for name in job.outputs:
        tally.check("outputs old or new", (folder / name).exists(), f"{job.name}: {name} is gone")


def _finish(job: Job, folder: Path, tally: Tally) -> None:
    """The same command again, undisturbed."""
    code, said = run(job, folder)
    tally.check("runs after a fault", code == 0, f"{job.name}: exit code {code}, {said}")
    if code == 0:
        tally.check("answers the same as undisturbed", answer(job, folder) == job.reference, job.name)
        tally.check("temporaries removed", not leftovers(folder), leftovers(folder))


@contextlib.contextmanager
def small_disk(size: str) -> Iterator[Path | None]:
    """A disk of so many bytes; None where only root could have one, and it is not root."""
    with tempfile.TemporaryDirectory() as place:
        made = subprocess.run(
            ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", place], capture_output=True, check=False
        )
        if made.returncode != 0:
            yield None
            return
        try:
            yield Path(place)
        finally:
            subprocess.run(["umount", "-l", place], check=True)


def full_disks(folder: Path, which: list[Job], tally: Tally) -> None:
    """A file system that is full, where one can be mounted; and a limit on the size of files."""
    for job in which:
        here = folder / job.name
        place_old(job, here)
        _refused(
            "size limit",
            job,
            here,
            run(job, here, {resource.RLIMIT_FSIZE: 3000}),
            tally,
            "larger than is allowed",
        )
        with small_disk("64k") as disk:
            if disk is None or not job.outputs:
                continue
            for name in INPUTS:
                (disk / name).symlink_to(here / name)
            place_old(job, disk)
            with contextlib.suppress(OSError):
                (disk / "filler").write_bytes(bytes(1 << 20))
            _refused("full disk", job, disk, run(job, disk), tally, "the disk is full")
    for job in which:
        forget(job, folder)
        _finish(job, folder / job.name, tally)


def _refused(kind: str, job: Job, folder: Path, ended: tuple[int, str], tally: Tally, reason: str) -> None:
    """A typed error with the path, and the old outputs as they were."""
    code, said = ended
    if code == 0 and kind == "size limit":  # small enough after all
        tally.check(f"{kind}: fits", True)
        return
    good = code in (3, 4) and reason in said and "Traceback" not in said
    tally.check(f"{kind}: a typed error", good, f"{job.name}: exit code {code}, {said!r}")
    for name in job.outputs:
        same = (folder / name).read_bytes() == OLD[Path(name).suffix]
        tally.check(
            f"{kind}: old outputs kept", same or (name.endswith("json") and not half_written(folder)), name
        )
    tally.check(f"{kind}: no temporaries", not leftovers(folder), leftovers(folder))


def read_only(folder: Path, which: list[Job], tally: Tally) -> None:
    """Outputs that are read-only files."""
    for job in which:
        place_old(job, folder / job.name)
        for name in job.outputs:
            (folder / job.name / name).chmod(0o444)
        if job.outputs:
            _refused(
                "read-only", job, folder / job.name, run(job, folder / job.name), tally, "it is read-only"
            )
        for name in job.outputs:
            (folder / job.name / name).chmod(0o644)


def memory_limits(folder: Path, count: int, rng: random.Random, tally: Tally) -> None:
    """Less address space than a large file needs: the command says so, and the old output stays as it is.

    The file, not the libraries, must be what does not fit: compilers and OpenBLAS, when they get nothing,
    abort or go round for ever.
    """
    job = Job("large", ["compute", "large.npy", "--json", "c.json"], ["c.json"], "c.json")
    here = folder / job.name
    here.mkdir(parents=True, exist_ok=True)
    # Holes, hardly on the disk.
    points = np.lib.format.open_memmap(here / "large.npy", "w+", np.float32, (LARGE, 1))
    points[:1000, 0] = np.arange(1000)
    del points
    for _ in range(count):
        place_old(job, here)
        most = int(rng.uniform(0.5, 0.9) * LARGE * PROFILE_BYTES)
        code, said = Running(job, here, {BEYOND: most}).finish(120.0)
        good = code in (1, 3) and "memory" in said and "Traceback" not in said and "unexpected" not in said
        detail = f"{job.name}, {most:,} bytes: exit code {code}, {said[-300:]!r}"
        tally.check("memory limits: an error that says so", good, detail)
        tally.check("memory limits: old outputs kept", (here / "c.json").read_bytes() == OLD[".json"])
        tally.check("memory limits: no temporaries", not leftovers(here), leftovers(here))
    (here / "large.npy").unlink()


def two_at_once(folder: Path, which: list[Job], count: int, tally: Tally) -> None:
    """Each ends with the answer, or says that the other one has the folder."""
    for job in which * count:
        place_old(job, folder / job.name)
        with ThreadPoolExecutor(2) as pool:
            ended = list(pool.map(lambda job: run(job, folder / job.name), [job, job]))
        good = all(code == 0 or (code == 4 and "in use by" in said) for code, said in ended)
        tally.check("two at once", good and any(code == 0 for code, _ in ended), f"{job.name}: {ended}")
        _whole(job, folder / job.name, tally)
        _finish(job, folder / job.name, tally)
        forget(job, folder)


def inject(count: int, seed: int, which: list[Job]) -> Tally:
    """Everything, ``count`` signals of it."""
    rng, tally = random.Random(seed), Tally()
    with tempfile.TemporaryDirectory(prefix="faults-") as place:
        folder = Path(place)
        references(folder, which)
        kills(folder, which, count, rng, tally)
        full_disks(folder, which, tally)
        read_only(folder, which, tally)
        memory_limits(folder, max(1, count // 20), rng, tally)
        two_at_once(folder, which, max(1, count // 100), tally)
    return tally


def main() -> None:
    """Print the counts; exit code 1 if anything went wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--log", type=Path)
    options = parser.parse_args()
    began = time.monotonic()
    tally = inject(options.kills, options.seed, jobs())
    lines = [
        (
            f"geodim {geodim.__version__}, Python {platform.python_version()}, "
            f"{platform.system()}, {os.cpu_count()} cores"
        ),
        f"{options.kills} signals, seed {options.seed}, {time.monotonic() - began:.0f} s",
        *(f"{number:5d}  {what}" for what, number in sorted(tally.done.items())),
        f"{len(tally.wrong):5d}  went wrong",
        *(f"       {line}" for line in tally.wrong),
    ]
    text = "\n".join(lines) + "\n"
    print(text, end="")
    if options.log is not None:
        options.log.write_text(text, encoding="utf-8")
    sys.exit(bool(tally.wrong))


if __name__ == "__main__":
    main()
