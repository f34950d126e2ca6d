"""Damaged files, by the million.

Each must be read, or refused by a typed error that names it; all else is a finding.  A target makes a few
valid files (or folders); every input is one of them, mutated.  Which and how follows from the name of the
target, a seed and an index alone, so that two numbers repeat an input.  Inputs are tried in forked workers
with little memory to spare, under a watchdog; a worker that dies names its input by the one that it did not
report, and another takes its place.
"""

from __future__ import annotations

import contextlib
import faulthandler
import importlib.util
import os
import random
import resource
import select
import shutil
import signal
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fuzz.mutations import BYTES, Input
from geodim.errors import GeodimError, InternalError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from fuzz.mutations import Mutation

MEMORY = 1 << 30  # what a worker may map beyond what it has once all valid files were read
SECONDS = 10.0  # for one input
CODE = ("os.system", "os.exec", "os.posix_spawn", "os.spawn", "os.fork", "subprocess.Popen", "socket.connect")
READ = "read"
FINDINGS = ("crash", "hang", "untyped", "code ran")


@dataclass(frozen=True)
class Target:
    """One reader.

    Parameters
    ----------
    name : str
        What to call it on the command line.
    make : callable
        Writes some valid files, or folders of files, into a folder, always with the
        same bytes; each is a seed.
    attempt : callable
        Reads one of them from its path, as a user would.
    mutations : tuple of callables
        What to do to an input besides what is done to bytes: ``(input, rng) -> None``, in place;
        may give up by any error.
    needs : tuple of str
        Packages without which the target is left out.
    globals : frozenset of str
        What a pickle may name, as ``module.name``.
    names_path : bool
        Whether errors must name the file.
    share : float
        Inputs, as a part of those of other targets.
    """

    name: str
    make: Callable[[Path], None]
    attempt: Callable[[Path], Any]
    mutations: tuple[Mutation, ...] = ()
    needs: tuple[str, ...] = ()
    globals: frozenset[str] = frozenset()
    names_path: bool = True
    share: float = 1.0

    @property
    def available(self) -> bool:
        return all(importlib.util.find_spec(name) is not None for name in self.needs)

    def seeds(self) -> list[Input]:
        with tempfile.TemporaryDirectory() as folder:
            self.make(Path(folder))
            return [Input.of(path) for path in sorted(Path(folder).iterdir())]


def mutated(target: Target, seeds: list[Input], seed: int, index: int) -> Input:
    """The input of that number; it knows what was done to it."""
    rng = random.Random(f"{target.name} {seed} {index}")
    made = rng.choice(seeds).copy()
    for _ in range(rng.choice((1, 1, 1, 2, 3, 5))):
        mutation = rng.choice(target.mutations if target.mutations and rng.random() < 0.5 else BYTES)
        with contextlib.suppress(Exception):  # what was done before may have left nothing to work on
            mutation(made, rng)
            made.done.append(mutation.__name__)
    return made


class CodeRan(BaseException):
    """Raised inside whatever tries to run code; no reader catches it by accident."""


class Guard:
    """Notes every attempt to run code, from now on and for the rest of the process."""

    def __init__(self, allowed: frozenset[str]) -> None:
        self.allowed, self.ran, self.on = allowed, "", False
        sys.addaudithook(self._hook)

    def _hook(self, event: str, args: tuple[Any, ...]) -> None:
        if not self.on or (event not in CODE and event != "pickle.find_class"):
            return
        if event == "pickle.find_class" and ".".join(map(str, args)) in self.allowed:
            return
        self.ran = f"{event} {args!r}"
        raise CodeRan(self.ran)


def outcome(target: Target, path: Path, guard: Guard) -> tuple[str, str]:
    """What became of an input, and details if that is a finding."""
    guard.ran, guard.on = "", True
    result, detail = READ, ""
    try:
        target.attempt(path)
    except InternalError as error:
        result, detail = "untyped", _place(error)
    except GeodimError as error:
        result = type(error).__name__
        if target.names_path and path.name not in str(error):
            result, detail = "untyped", f"the path is not named by {_place(error)}"
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:  # noqa: BLE001 - which is what is looked for
        result, detail = "untyped", _place(error)
    finally:
        guard.on = False
    return ("code ran", guard.ran) if guard.ran else (result, detail)


def _place(error: BaseException) -> str:
    """An error, and the last place in geodim on the way to it."""
    frames = traceback.extract_tb(error.__traceback__)
    ours = [frame for frame in frames if f"{os.sep}geodim{os.sep}" in frame.filename] or frames
    where = f"{Path(ours[-1].filename).name}:{ours[-1].lineno}" if ours else "?"
    return f"{type(error).__name__} at {where}: {error}"[:400]


@dataclass
class Tally:
    """What became of the inputs of one target."""

    target: str
    seed: int
    outcomes: Counter[str] = field(default_factory=Counter)
    findings: list[tuple[int, str, str]] = field(default_factory=list)
    peak: int = 0  # bytes
    slowest: tuple[float, int] = (0.0, -1)
    seconds: float = 0.0

    @property
    def inputs(self) -> int:
        return self.outcomes.total()

    def add(self, index: int, result: str, detail: str = "") -> None:
        self.outcomes[result] += 1
        if result in FINDINGS:
            self.findings.append((index, result, detail))

    def lines(self) -> Iterator[str]:
        """For the log; findings that differ in nothing but the input are told once."""
        wrong = ", ".join(f"{kind} {self.outcomes[kind]}" for kind in FINDINGS)
        refused = {
            name: count for name, count in self.outcomes.most_common() if name not in (READ, *FINDINGS)
        }
        yield (
            f"{self.target}: {self.inputs:,} inputs, read {self.outcomes[READ]:,}, refused "
            f"{sum(refused.values()):,}; {wrong}"
        )
        if refused:
            yield "  refused by " + ", ".join(f"{name} {count:,}" for name, count in refused.items())
        slow, index = self.slowest
        yield (
            f"  {self.seconds:.0f} s, slowest {slow:.2f} s (index {index}), peak "
            f"memory {self.peak / 2**20:.0f} MiB"
        )
        told: dict[tuple[str, str], list[int]] = {}
        for index, kind, detail in self.findings:
            told.setdefault((kind, detail.partition(": ")[0] or detail), []).append(index)
        for (kind, _), indices in told.items():
            detail = next(detail for index, _, detail in self.findings if index == indices[0])
            yield f"  FINDING {kind} x {len(indices)}, e.g. --seed {self.seed} --index {indices[0]}: {detail}"


def fuzz(target: Target, number: int, seed: int = 0, processes: int = 2) -> Tally:
    """Try so many inputs."""
    tally, began = Tally(target.name, seed), time.monotonic()
    seeds = target.seeds()
    workers = [_Worker(target, seeds, seed, range(at, number, processes)) for at in range(processes)]
    try:
        while workers:
            ready, _, _ = select.select(workers, [], [], 0.5)
            for worker in list(workers):
                if not (worker.listen(tally) if worker in ready else worker.watch(tally)):
                    workers.remove(worker)
    finally:
        for worker in workers:
            worker.kill()
    tally.seconds = time.monotonic() - began
    return tally


class _Worker:
    """A forked process that tries inputs in turn and writes one line about each."""

    def __init__(self, target: Target, seeds: list[Input], seed: int, indices: range) -> None:
        self.target, self.seeds, self.seed, self.indices = target, seeds, seed, indices
        self._start()

    def _start(self) -> None:
        self.said, self.heard = b"", time.monotonic()
        self.ready = False
        reading, writing = os.pipe()
        self.pid = os.fork()
        if self.pid == 0:  # pragma: no cover - ends without a word to coverage
            os.close(reading)
            code = 70
            try:
                _work(self.target, self.seeds, self.seed, self.indices, writing)
                code = 0
            except BaseException:  # noqa: BLE001 - told, and the process ends
                traceback.print_exc()
            finally:
                os._exit(code)
        os.close(writing)
        self.pipe = reading

    def fileno(self) -> int:
        return self.pipe

    def kill(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGKILL)
        os.close(self.pipe)
        os.waitpid(self.pid, 0)

    def listen(self, tally: Tally) -> bool:
        """Take in what was written; whether there is more to come."""
        text = os.read(self.pipe, 1 << 16)
        if not text:
            return self._ended(tally)
        *lines, self.said = (self.said + text).split(b"\n")
        self.heard = time.monotonic()
        for line in lines:
            kind, seconds, memory, detail = line.decode().split("\t", 3)
            tally.peak = max(tally.peak, int(memory))
            if kind == "ready":
                self.ready = True
                continue
            tally.slowest = max(tally.slowest, (float(seconds), self.indices[0]))
            tally.add(self.indices[0], kind, detail)
            self.indices = self.indices[1:]
        return True

    def _ended(self, tally: Tally) -> bool:
        os.close(self.pipe)
        status = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        if status == 0 and not self.indices:
            return False
        if not self.ready:
            raise RuntimeError(f"{self.target.name}: a worker fails with the valid files (exit {status})")
        what = signal.Signals(-status).name if status < 0 else f"exit {status}"
        return self._lost(tally, "crash", what)

    def watch(self, tally: Tally) -> bool:
        """End the worker if it says nothing for too long; whether there is more to come."""
        if not self.ready or time.monotonic() - self.heard < SECONDS:
            return True
        self.kill()
        return self._lost(tally, "hang", f"more than {SECONDS:g} s")

    def _lost(self, tally: Tally, kind: str, detail: str) -> bool:
        tally.add(self.indices[0], kind, detail)
        self.indices = self.indices[1:]
        if self.indices:
            self._start()
        return bool(self.indices)


def _work(target: Target, seeds: list[Input], seed: int, indices: range, pipe: int) -> None:
    """In a worker: try inputs in turn and say what became of each."""
    warnings.simplefilter("ignore")
    faulthandler.disable()  # a crash is told by its signal, in one line
    folder = Path(tempfile.mkdtemp(prefix="fuzz", dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None))
    try:
        # Must be readable; and whatever is imported or compiled on the way is not of the input's making.
        for valid in seeds:
            target.attempt(valid.write(folder))
        guard = Guard(target.globals)
        mapped = int(Path("/proc/self/statm").read_text(encoding="utf-8").split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (mapped + MEMORY,) * 2)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        os.write(pipe, f"ready\t0\t{_peak()}\t\n".encode())
        for index in indices:
            path = mutated(target, seeds, seed, index).write(folder)
            began = time.monotonic()
            result, detail = outcome(target, path, guard)
            seconds = time.monotonic() - began
            line = f"{result}\t{seconds:.4f}\t{_peak()}\t{ascii(detail)[1:-1]}\n"
            os.write(pipe, line.encode())
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
