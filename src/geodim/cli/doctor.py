"""``geodim doctor``: whether everything that geodim needs or could use is installed."""

from __future__ import annotations

import importlib
import importlib.util
import os
import platform
import re
import tempfile
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from geodim._version import __version__
from geodim.cli.console import out
from geodim.cli.exits import ExitCode
from geodim.cli.reporting import Json, json_instead
from geodim.memory import free_memory, machine_memory
from geodim.text import visible

if TYPE_CHECKING:
    from rich.console import Console

REQUIRED = ("numpy", "scipy", "numba", "scikit-learn", "typer", "rich")
FOR_DEVELOPERS = {"browser", "dev", "docs", "mutation", "oracles", "test"}


def doctor(
    json: Json = None,
) -> None:
    """Check the installation: versions, cores, memory, compiler cache, optional packages, GPU.

    The exit code is 1 if something that geodim needs is missing. Missing optional packages are no error. In a
    pipe the answer is one line of JSON.
    """
    report = examine()
    if not json_instead(report, json):
        _show(report, out())
    if not report["healthy"]:
        raise typer.Exit(int(ExitCode.UNEXPECTED))


def examine() -> dict[str, Any]:
    """Examine everything, importing as little as possible."""
    from geodim.engine.parts import available_threads

    required = {name: _version(name) for name in REQUIRED}
    return {
        "format": "geodim.doctor/1",
        "healthy": all(required.values()),
        "geodim": __version__,
        "python": platform.python_version(),
        "platform": platform.platform(),
        "required": required,
        "extras": {
            extra: {
                "packages": packages,
                "complete": all(packages.values()),
                "install": f"pip install 'geodim[{extra}]'",
            }
            for extra, packages in _extras().items()
        },
        "threads": available_threads(),
        "memory_bytes": _memory(),
        "compiler_cache": _compiler_cache(),
        "gpu": _gpu(),
    }


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def _extras() -> dict[str, dict[str, str | None]]:
    """List optional packages by extra, as the installed geodim declares them."""
    extras: dict[str, dict[str, str | None]] = {}
    for line in metadata.requires("geodim") or []:
        found = re.match(r"([A-Za-z0-9._-]+).*;.*extra == ['\"]([A-Za-z0-9._-]+)['\"]", line)
        if found and found[2] not in FOR_DEVELOPERS and found[1] != "geodim":
            extras.setdefault(found[2], {})[found[1]] = _version(found[1])
    return extras


def _memory() -> dict[str, int] | None:
    total, free = machine_memory(), free_memory()
    return None if total is None or free is None else {"total": total, "available": free}


def _compiler_cache() -> dict[str, Any]:
    """Return where Numba caches compiled kernels: without a cache they are compiled at every start."""
    spec = importlib.util.find_spec("geodim.engine.kernels")
    beside = Path(spec.origin).parent / "__pycache__" if spec and spec.origin else Path("__pycache__")
    folder = Path(os.environ.get("NUMBA_CACHE_DIR") or beside)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError:
        return {"folder": str(folder), "writable": False}
    return {"folder": str(folder), "writable": True}


def _gpu() -> str | None:
    """Return the name of the first CUDA device, if an installed torch sees one."""
    if importlib.util.find_spec("torch") is None:
        return None
    cuda = importlib.import_module("torch").cuda
    return str(cuda.get_device_name(0)) if cuda.is_available() else None


def _show(report: dict[str, Any], terminal: Console) -> None:
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0))

    def row(good: bool | None, label: str, text: str) -> None:
        mark = {True: ("ok", "green"), False: ("missing", "bold red"), None: ("optional", "yellow")}[good]
        table.add_row(Text(mark[0], style=mark[1]), Text(label), Text(visible(text)))

    row(True, "geodim", f"{report['geodim']}, Python {report['python']}, {report['platform']}")
    for name, version in report["required"].items():
        row(version is not None, name, version or f"pip install {name}")
    for extra, state in report["extras"].items():
        there = ", ".join(f"{name} {version}" for name, version in state["packages"].items() if version)
        absent = ", ".join(name for name, version in state["packages"].items() if not version)
        text = "; ".join(filter(None, [there, absent and f"without {absent}: {state['install']}"]))
        row(True if state["complete"] else None, f"extra {extra}", text)
    row(True, "threads", str(report["threads"]))
    memory = report["memory_bytes"]
    row(
        True,
        "memory",
        f"{memory['available'] / 2**30:.1f} of {memory['total'] / 2**30:.1f} GiB free"
        if memory
        else "unknown",
    )
    cache = report["compiler_cache"]
    advice = "" if cache["writable"] else " cannot be written: first calls stay slow, set NUMBA_CACHE_DIR"
    row(True if cache["writable"] else None, "compiler cache", cache["folder"] + advice)
    row(True if report["gpu"] else None, "GPU", report["gpu"] or "none seen; not needed")
    terminal.print(table)
    verdict = (
        "Everything geodim needs is here." if report["healthy"] else "Something geodim needs is missing."
    )
    terminal.print(f"\n{verdict}")
