"""Run the real program in a child process or, quicker, in this one.

Its streams are pipes, files or terminals.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import select
import subprocess
import sys
import threading
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from unittest import mock

import numpy as np
import pytest

from geodim.cli.app import main

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

PROGRAM = [sys.executable, "-W", "error", "-m", "geodim.cli"]
ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


def opened_terminal() -> tuple[int, int]:
    """Both ends of a terminal, where the system has them."""
    pty = pytest.importorskip("pty", reason="Windows has no such terminals")
    ends: tuple[int, int] = pty.openpty()
    return ends


def environment(**more: str) -> dict[str, str]:
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("GEODIM_", "PYTEST", "NO_COLOR"))
    }
    return {**kept, "COLUMNS": "100", "TERM": "xterm", **more}


def save_slow(path: Path) -> None:
    """Save a column of which the last bit (``--last-bit``) takes minutes: a line that was rounded twice."""
    n = 3_000_000
    np.save(path, (2.0 * np.pi * np.arange(n) / n)[:, np.newaxis])


@dataclass
class Ended:
    """How a run of the program ended."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> dict[str, Any]:
        """The one line of JSON on stdout."""
        assert self.out.count("\n") == 1
        return json.loads(self.out)


def piped(*arguments: object, program: list[str] | None = None, **variables: str) -> Ended:
    """Run with both streams piped, as in a script."""
    done = subprocess.run(
        [*(program or PROGRAM), *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env=environment(**variables),
    )
    return Ended(done.returncode, done.stdout, done.stderr)


@contextlib.contextmanager
def as_program(words: list[str], **variables: str) -> Iterator[None]:
    """Let this process have the arguments, which are written into results, and the variables of a child."""
    with (
        mock.patch.object(sys, "argv", ["geodim", *words]),
        mock.patch.dict(os.environ, environment(**variables), clear=True),
    ):
        yield


def called(*arguments: object, stdin: bytes = b"", **variables: str) -> Ended:
    """As ``piped``, but in this process, which has imported everything.

    For what does not depend on a new process: starting one takes longer than most commands.
    """
    words = list(map(str, arguments))
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8") for _ in range(2))
    with (
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
        mock.patch.object(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin), encoding="utf-8")),
        as_program(words, **variables),
        pytest.raises(SystemExit) as left,
    ):
        main()
    shown = (stream.buffer.getvalue().decode(errors="backslashreplace") for stream in (out, err))
    return Ended(left.value.code, *shown)


def called_on_terminal(*arguments: object, raw: bool = False) -> Ended:
    """As ``on_terminal``, but in this process; ``raw`` keeps the escapes.

    For what does not depend on a new process.
    """
    words = list(map(str, arguments))
    master, slave = opened_terminal()
    shown: list[bytes] = []

    def read() -> None:
        with contextlib.suppress(OSError):  # Linux reports the end of a terminal as an error
            while more := os.read(master, 1 << 16):
                shown.append(more)

    reader = threading.Thread(target=read)
    reader.start()
    try:
        with (
            open(slave, "w", encoding="utf-8") as terminal,  # noqa: PTH123 - it has no path
            contextlib.redirect_stdout(terminal),
            contextlib.redirect_stderr(terminal),
            as_program(words),
            pytest.raises(SystemExit) as left,
        ):
            main()
    finally:
        reader.join()
        os.close(master)
    sent = b"".join(shown)
    return Ended(left.value.code, "", sent.decode() if raw else as_text(sent))


def as_text(shown: bytes) -> str:
    """What a terminal was sent, without escapes."""
    return ESCAPES.sub("", shown.decode()).replace("\r\n", "\n")


def without(*modules: str) -> list[str]:
    """Make a program in which some packages cannot be imported, as if not installed."""
    code = f"import sys; sys.modules.update(dict.fromkeys({modules!r})); from geodim.cli import main; main()"
    return [sys.executable, "-W", "error", "-c", code]


@contextlib.contextmanager
def lacking(*packages: str) -> Iterator[None]:
    """As ``without``, but in this process: for packages that are imported only where they are needed."""
    hidden = {name: module for name, module in sys.modules.items() if name.partition(".")[0] in packages}
    sys.modules.update(dict.fromkeys([*packages, *hidden]))  # type: ignore[arg-type] # None: cannot be imported
    try:
        yield
    finally:
        for name in packages:
            del sys.modules[name]
        sys.modules.update(hidden)


def on_terminal(
    *arguments: object,
    pipe_out: bool = False,
    watch: Callable[[str, subprocess.Popen[bytes]], None] | None = None,
) -> Ended:
    """Run with stderr, and stdout unless piped, on one terminal; what it shows is ``err`` (escapes removed).

    ``watch`` is called with the text so far whenever there is more.
    """
    master, slave = opened_terminal()
    process = subprocess.Popen(
        [*PROGRAM, *map(str, arguments)],
        stdin=slave,
        stdout=subprocess.PIPE if pipe_out else slave,
        stderr=slave,
        env=environment(),
    )
    os.close(slave)
    shown = b""
    deadline = time.monotonic() + 60
    with contextlib.suppress(OSError):  # Linux reports the end of a terminal as an error
        while time.monotonic() < deadline:
            if not select.select([master], [], [], 0.5)[0]:
                continue
            more = os.read(master, 1 << 16)
            if not more:
                break
            shown += more
            if watch is not None:
                watch(ESCAPES.sub("", shown.decode(errors="replace")), process)
    os.close(master)
    try:
        out, _ = process.communicate(timeout=30)
    finally:
        process.kill()  # if it has not ended by now
    return Ended(process.returncode, (out or b"").decode(), as_text(shown))
