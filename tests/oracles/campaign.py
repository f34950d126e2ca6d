"""Compare geodim with independent oracles, a million times: ``make oracle``.

Every case follows from the seed and its number.  The first result that is not true ends the campaign with
exit status 1, the call that returned it (made smaller where that is easy) and the command that repeats it.
"""

from __future__ import annotations

import argparse
import itertools
import json
import multiprocessing
import sys
import time
from collections import Counter
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, ThreadPoolExecutor, wait
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import geodim
from geodim.engine.parts import available_threads
from geodim.errors import GeodimError
from geodim.experiments.machine import describe_machine
from geodim.result import versions
from oracles.cases import SWITCHES, run_case
from oracles.comparing import LAST, Mismatch, Tally, Truth, compare, quietly

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

BATCH = 200  # cases that a process takes at once


@dataclass
class Batch:
    """What some cases found."""

    cases: int
    tally: dict[str, int]
    numbers: int
    failure: str | None = None


def run_batch(seed: int, first: int, count: int, without: frozenset[str]) -> Batch:
    """Some cases, up to the first that fails."""
    tally = Tally()
    for number in range(first, first + count):
        try:
            run_case(seed, number, tally, without)
        except Exception as error:  # noqa: BLE001 - whatever it is, it is reported with what led to it
            return Batch(number - first, dict(tally), tally.numbers, failure_of(error, seed, number, without))
    return Batch(count, dict(tally), tally.numbers)


def failure_of(error: Exception, seed: int, number: int, without: frozenset[str]) -> str:
    """What is wrong, the call that returned it, and how to repeat it."""
    function, arguments, options = LAST.function, LAST.arguments, LAST.options
    if function is geodim.intrinsic_dimension and isinstance(error, Mismatch) and is_plain(arguments[0]):
        arguments = (shrunk(arguments[0], options),)
    name = getattr(function, "__qualname__", repr(function))
    again = f"python -m oracles.campaign --seed {seed} --case {number}"
    switched = "".join(f" --without {kind}" for kind in sorted(without))
    with np.printoptions(threshold=10**6, floatmode="unique"):
        return (
            f"case {number}: {type(error).__name__}: {error}\n"
            f"the last call: {name}{arguments!r} with {options!r}\nrepeat it with: {again}{switched}"
        )


def is_plain(X: Any) -> bool:
    """Whether rows and columns can be left out."""
    return isinstance(X, np.ndarray)


def shrunk(X: NDArray[Any], options: dict[str, Any]) -> NDArray[Any]:
    """The same mismatch with fewer rows and columns, where leaving out one at a time keeps it."""
    if options.get("weights") is not None or "progress" in options:
        return X
    for axis in (1, 0):
        at = 0
        while at < X.shape[axis] and X.shape[axis] > 1:
            less = np.delete(X, at, axis=axis)
            X, at = (less, at) if is_wrong(less, options) else (X, at + 1)
    return X


def is_wrong(X: NDArray[Any], options: dict[str, Any]) -> bool:
    """Whether the result of these data is not true."""
    try:
        result = quietly(geodim.intrinsic_dimension, X, **options)
        compare(result, Truth.of(X, normalize=options.get("normalize", True)), options.get("rtol", 0.0))
    except Mismatch:
        return True
    except (GeodimError, ArithmeticError):
        return False
    return False


def batches(
    seed: int, number: int, minutes: float, processes: int, without: frozenset[str]
) -> Iterator[Batch]:
    """Batches of cases until there are enough comparisons, or no time is left.

    They run in this process if one will do.
    """
    ends, done = time.monotonic() + 60.0 * minutes, 0
    firsts = itertools.count(0, BATCH)
    context = multiprocessing.get_context("spawn")
    pool = ThreadPoolExecutor(1) if processes == 1 else ProcessPoolExecutor(processes, mp_context=context)
    with pool:
        running = {pool.submit(run_batch, seed, next(firsts), BATCH, without) for _ in range(processes)}
        while running:
            finished, running = wait(running, return_when=FIRST_COMPLETED)
            for future in finished:
                batch = future.result()
                done += sum(batch.tally.values())
                yield batch
                if batch.failure:
                    pool.shutdown(wait=False, cancel_futures=True)
                    return
                if done < number and time.monotonic() < ends:
                    running.add(pool.submit(run_batch, seed, next(firsts), BATCH, without))


def report(record: dict[str, Any]) -> str:
    """The table."""
    rows = sorted(record["comparisons_by_kind"].items(), key=lambda row: -row[1])
    wide = max([len(name) for name, _ in rows] + [len("numbers compared")])
    machine = record["machine"]
    head = [
        f"oracle campaign of {record['date']}, seed {record['seed']}, geodim {record['versions']['geodim']}",
        f"{machine['processor']}, {record['processes']} processes, {record['seconds']:,.0f} s; "
        + ", ".join(f"{name} {version}" for name, version in record["versions"].items() if name != "geodim"),
        *([f"switched off: {', '.join(record['without'])}"] if record["without"] else []),
        "",
    ]
    table = [f"{name:<{wide}}  {count:>11,}" for name, count in rows]
    foot = [
        "-" * (wide + 13),
        f"{'comparisons':<{wide}}  {record['comparisons']:>11,}",
        f"{'cases':<{wide}}  {record['cases']:>11,}",
        f"{'numbers compared':<{wide}}  {record['numbers']:>11,}",
        f"{'mismatches':<{wide}}  {record['mismatches']:>11,}",
        *record["failures"],
    ]
    return "\n".join([*head, *table, *foot])


def campaign(options: argparse.Namespace) -> dict[str, Any]:
    """Run it and say what was found; failures are printed as they come."""
    started = time.monotonic()
    tally: Counter[str] = Counter()
    cases = numbers = 0
    failures = []
    shown = started
    without = frozenset(options.without)
    for batch in batches(options.seed, options.number, options.minutes, options.processes, without):
        tally.update(batch.tally)
        cases, numbers = cases + batch.cases, numbers + batch.numbers
        if batch.failure:
            failures.append(batch.failure)
            print(batch.failure, file=sys.stderr)
        if time.monotonic() - shown > 30.0:
            shown = time.monotonic()
            print(f"{sum(tally.values()):,} comparisons in {shown - started:,.0f} s", flush=True)
    return {
        "date": f"{datetime.now(UTC):%Y-%m-%d}",
        "seed": options.seed,
        "without": sorted(without),
        "cases": cases,
        "comparisons": sum(tally.values()),
        "numbers": numbers,
        "mismatches": len(failures),
        "failures": failures,
        "comparisons_by_kind": dict(sorted(tally.items())),
        "seconds": round(time.monotonic() - started, 1),
        "processes": options.processes,
        "machine": describe_machine(),
        "versions": versions(),
    }


def parsed(arguments: list[str] | None = None) -> argparse.Namespace:
    """The options."""
    parser = argparse.ArgumentParser(description=__doc__)
    today = int(f"{datetime.now(UTC):%Y%m%d}")
    parser.add_argument("--number", type=int, default=1_000_000, help="comparisons (default: 1,000,000)")
    parser.add_argument("--seed", type=int, default=today, help="default: today's date, as in 20261116")
    parser.add_argument("--minutes", type=float, default=float("inf"), help="stop after so many minutes")
    parser.add_argument("--processes", type=int, default=available_threads())
    parser.add_argument(
        "--without",
        action="append",
        default=[],
        choices=SWITCHES,
        help="a kind of case, or check, to leave out",
    )
    parser.add_argument("--case", type=int, help="run this case alone, in this process")
    parser.add_argument("--output", type=Path, help="also write OUTPUT.json and OUTPUT.log")
    return parser.parse_args(arguments)


def main(arguments: list[str] | None = None) -> int:
    """Run the campaign; 1 if anything was not true."""
    options = parsed(arguments)
    if options.case is not None:
        batch = run_batch(options.seed, options.case, 1, frozenset(options.without))
        print(batch.failure or f"case {options.case}: {batch.tally}")
        return int(batch.failure is not None)
    record = campaign(options)
    text = report(record)
    print(text)
    if options.output is not None:
        options.output.with_suffix(".json").write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
        options.output.with_suffix(".log").write_text(text + "\n", encoding="utf-8")
    return int(record["mismatches"] > 0)


if __name__ == "__main__":
    raise SystemExit(main())
