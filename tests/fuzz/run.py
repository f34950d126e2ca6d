"""``make fuzz``: a million damaged files, or one of them again.

python -m fuzz.run --number 1000000 --log docs/results/fuzz.log
python -m fuzz.run npy --number 20000
python -m fuzz.run npy --seed 0 --index 17 --keep here
"""

from __future__ import annotations

import os

for threads in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ.setdefault(threads, "1")  # before numpy starts any: workers are forked

import argparse
import platform
import sys
import tempfile
import time
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING

import geodim
from fuzz.harness import MEMORY, SECONDS, Guard, Target, fuzz, mutated, outcome
from fuzz.registry import targets

if TYPE_CHECKING:
    from collections.abc import Iterator

PACKAGES = ("numpy", "scipy", "pyarrow", "zarr", "numcodecs", "torch", "pillow")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("target", nargs="*", help="which readers (default: all)")
    parser.add_argument("--number", type=int, default=10_000, help="inputs in all")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--log", type=Path, help="write the counts here, too")
    parser.add_argument("--index", type=int, help="try this input alone, and show what becomes of it")
    parser.add_argument("--keep", type=Path, help="with --index: leave the file in this folder")
    options = parser.parse_args()
    known = targets()
    chosen = [known[name] for name in options.target or known]
    if options.index is not None:
        for target in chosen:
            show(target, options.seed, options.index, options.keep)
        return
    total = sum(target.share for target in chosen)
    lines, good = list(heading(options)), True
    print("\n".join(lines), flush=True)
    for target in chosen:
        tally = fuzz(target, round(options.number * target.share / total), options.seed, options.processes)
        good = good and not tally.findings
        lines += tally.lines()
        print("\n".join(tally.lines()), flush=True)
        if options.log:
            options.log.write_text("\n".join(lines) + "\n", encoding="utf-8")
    sys.exit(0 if good else 1)


def heading(options: argparse.Namespace) -> Iterator[str]:
    yield (
        f"Damaged files: {options.number:,} inputs, seed {options.seed}, "
        f"{time.strftime('%Y-%m-%d')}, geodim {geodim.__version__}"
    )
    yield f"Python {platform.python_version()}, {platform.system()}; {', '.join(_versions())}"
    yield (
        "Each was read, or refused by a typed error that names it, but for the findings; "
        f"{options.processes} processes, {MEMORY >> 20} MiB beyond what valid files "
        f"take, {SECONDS:g} s per input"
    )


def _versions() -> Iterator[str]:
    for name in PACKAGES:
        try:
            yield f"{name} {version(name)}"
        except PackageNotFoundError:
            yield f"no {name}"


def show(target: Target, seed: int, index: int, keep: Path | None) -> None:
    """Try one input and say what became of it; not in a worker, so that a debugger can be used."""
    made = mutated(target, target.seeds(), seed, index)
    with tempfile.TemporaryDirectory() as folder:
        where = keep or Path(folder)
        where.mkdir(parents=True, exist_ok=True)
        path = made.write(where)
        print(f"{path}: {', '.join(made.done)}")
        for name, content in made.files.items():
            print(f"  {name or made.name}: {len(content):,} bytes {content[:120]!r}")
        print(*outcome(target, path, Guard(target.globals)), flush=True)


if __name__ == "__main__":
    main()
