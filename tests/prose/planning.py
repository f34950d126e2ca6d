"""docs/planning.md: its two tables, and what the model says."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from geodim.engine.steps import MOST_STEPS
from geodim.planning.device import bytes_for
from geodim.planning.problem import PROCESS_BYTES
from geodim.planning.rates import H200, SPEED_UP
from geodim.plans import CORE, Problem, plan
from prose.sources import benchmark, found

if TYPE_CHECKING:
    from prose.pages import Page

PLANNING = benchmark("planning")
GIB = 1 << 30


def check(page: Page) -> None:
    for template, values in [*regimes(), *compared()]:
        page.says(template, *values)
    for row in PLANNING["regimes"]:
        page.allows(f"| {row['machine']} |", "the machine that is planned for")
    page.allows("| 0.001 |", "the tolerance that is asked for")
    page.allows("| 0.00001 |", "the tolerance that is asked for")
    for part in PLANNING["compared"].values():
        for row in part:
            page.allows(f"| {name(row['what'])} |", "the case")
    page.allows("64 float32 features, all columns identically distributed", "the case")
    rates(page)
    devices(page)
    formulas(page)
    counted(page)
    starting(page)


def starting(page: Page) -> None:
    cases = {row["case"]: row for row in benchmark("starting")["rows"]}
    page.says("| `import numpy` | {} | |", f"{cases['import numpy']['warm']['cpu_s']:.2g}")
    for call, case in (
        ("`intrinsic_dimension`, 1,000 x 16", "intrinsic_dimension, 1,000 x 16 float64"),
        ("`geodim compute`, 1,000 x 16", "geodim compute, 1,000 x 16 float64"),
        ("`intrinsic_dimension`, 100,000 x 16", "intrinsic_dimension, 100,000 x 16 float64"),
    ):
        warm, cold = (f"{cases[case][kind]['cpu_s']:.2g}" for kind in ("warm", "cold"))
        page.says(f"| {call} | {{}} | {{}} |", warm, cold)
        page.allows(f"| {call} |", "the case")
        assert cases[case].get("ok", True)
    assert cases["intrinsic_dimension, 100,000 x 16 float64"]["cold"]["compiler"]["share"] > 0.5
    page.says("whose import alone takes {} s", f"{cases['import sklearn.base']['warm']['cpu_s']:.2g}")


def rates(page: Page) -> None:
    ns, gb = 1e9, 1e-9
    page.says(
        "| {}, {}, {}, {} ns per value and core |",
        *(f"{one * ns:g}" for one in (CORE.first, CORE.later, CORE.count, CORE.scan)),
    )
    page.says("| T threads | T^{} times as fast", SPEED_UP)
    page.says("| rows in memory that pass by to give some columns | {} GB/s |", f"{CORE.rows * gb:g}")
    page.says(
        "| {} GB/s, {} GB/s, {} ms per task | assumed |",
        f"{CORE.storage * gb:g}",
        f"{CORE.network * gb:g}",
        f"{CORE.task * 1e3:g}",
    )
    page.says(
        "| {} and {} ps per float32 value, {} and {} per float64; {} ms per batch |",
        *(f"{rate[size] * 1e12:.0f}" for size in (4, 8) for rate in (H200.sort, H200.window)),
        f"{H200.batch * 1e3:.0f}",
    )
    page.says("| GPU: products | {} ps per entry and column |", f"{H200.product * 1e12:.0f}")
    page.says(
        "| {} GB/s by columns, {} GB/s for hops; {} GB/s, {} ns per point |",
        *(f"{one * gb:g}" for one in (H200.feed, H200.copy, H200.scan)),
        f"{H200.finish * ns:g}",
    )
    page.says("read from disk at {} GB/s", f"{CORE.storage * gb:g}")
    page.says("about {} ms each", f"{CORE.task * 1e3:g}")
    page.says("are slower than {} GB/s each", f"{CORE.network * gb:g}")
    page.allows("on 200,000 points of the data", "the trial")


def devices(page: Page) -> None:
    """How many points a GPU takes."""
    most = []
    for memory in (24, 80, 139):
        why = plan(Problem(10**10, 64), "cuda", memory=memory * GIB).why_not or ""
        most.append(int(found(r"up to about ([\d,]+) points", why)[0].replace(",", "")))
    page.says(
        "A GPU of {}, {} or {} GiB takes up to about {} 10^8, {} 10^8 or {} 10^9 points",
        24,
        80,
        139,
        f"{most[0] / 1e8:.1f}",
        f"{most[1] / 1e8:.1f}",
        f"{most[2] / 1e9:.1f}",
    )
    page.says("{} bytes per point on a GPU", math.ceil(bytes_for(10**9, 4, 1, 1) / 10**9))
    ample = [plan(Problem(10**9, 64), "cpu", n_threads=threads, memory=10**15) for threads in (1, 2)]
    page.says(
        "{} with one thread on one machine and {} with two", *(round(one.memory / 10**9) for one in ample)
    )


def formulas(page: Page) -> None:
    """Bytes of arrays, which tests/test_plan_record.py holds against runs."""
    held = "a formula that tests/test_plan_record.py holds against runs"
    for piece in (
        "about 18 bytes per point (26 for float64)",
        "The profile takes 12",
        "the blocks being read take 4 bytes per point and thread",
        "61 (73 for float64) in a third of a worker's memory",
        "that is workers of 175 GB",
        "takes 20 bytes per point where the answer is wanted while it is made, 20 GB, and 8 afterwards",
        (
            "One column is 40 GB of float32, 80 GB sorted in float64, 610 GB in work "
            "on a worker: exact values need a worker of 1.8 TB, and 200 GB"
        ),
        "A column takes 73 S bytes",
        "can hold neither 73 S bytes nor its share of the cells, 80 bytes each",
        "T n (8 + 2 b + 2.6) + 12 n + B w n b, and 56 n T for columns close to a line (20 n T from",
        "and up to 56 more while it solves a column that stays close to a line, or 20 from",
        (
            "12 n + 13.8 n c + 2 n b c + 4 n b w + 24 n where there is room; "
            "12 n + 13.8 n c + 3 n b c + 24 n is needed"
        ),
        "230 MiB + 2 n d b / workers + 61 n (73 n) for each column in work",
        "230 MiB + 2 chunks per thread + 73 S for each column in work",
        "| 64 columns or more of at most 131,072 points | 36 n T more",
        "8 n d in the place of n m b, and 36 n T (15 n T for more points)",
        "| client | 20 n exact, 28 S counted |",
    ):
        page.allows(piece, held)
    page.says("| one machine, exact | {} MiB +", PROCESS_BYTES >> 20)


def counted(page: Page) -> None:
    """Histograms, the way past 10^9 points."""
    page.allows("h <= 0.23 rtol Delta", "geodim.engine.steps.resolution")
    steps = [row["steps"] for row in PLANNING["regimes"] if row["steps"] and row["rtol"] == 1e-3]
    page.says(
        "for normal columns and rtol = 1e-3 some {} at any number of points", f"{round(max(steps), -4):,}"
    )
    assert round(min(steps), -4) >= 60_000
    page.allows("in some 400 / rtol cells", "a rule of the plan")
    page.allows("workers of 64 GiB certify rtol = 2e-7, of 16 GiB 9e-7", "what 73 S bytes leave room for")
    assert MOST_STEPS == 2**21
    tasks = {row["machine"]: row["tasks"] for row in PLANNING["regimes"]}
    page.says(
        "Chunks of 128 MiB are {} million tasks; chunks of 1 GB are {}.",
        f"{tasks['64 workers, chunks of 128 MiB'] / 1e6:.1f}",
        f"{round(tasks['64 workers, chunks of 1 GB'], -4):,}",
    )
    page.allows("Chunks of 128 MiB are", "the case")
    page.allows("chunks of 1 GB are", "the case")
    page.allows("with chunks of 1 GB at about rtol = 2e-5", "where 8 d S bytes are a gigabyte")
    drawn = [row for row in PLANNING["compared"]["cluster"] if "drawn" in row["what"]]
    values = [2 * float(row["what"].split()[0]) for row in drawn]
    page.says(
        "Core seconds per value are {}, {} and {} ns at the three sizes",
        *(f"{row['measured']['core_seconds'] / n * 1e9:.0f}" for row, n in zip(drawn, values, strict=True)),
    )
    page.allows("by two workers of 600 MiB", "the case")
    page.allows("the width of a counter (8 bytes from 2^31 points on)", "a type")
    ratios = [row["core_ratio"] for row in PLANNING["compared"]["cluster"]]
    page.says("(the row at {})", f"{min(ratios):.2f}")


def amount(count: float) -> str:
    """Bytes, to two digits or whole numbers of their unit."""
    unit, power = next(
        (unit, power) for unit, power in (("TB", 12), ("GB", 9), ("MB", 6)) if count >= 10**power
    )
    value = count / 10**power
    return f"{value:.{0 if value >= 10 else 1}f} {unit}"


def duration(seconds: float) -> str:
    if seconds >= 120.0:
        return f"{seconds / 60.0:.0f} min"
    return f"{seconds:.0f} s" if seconds >= 10.0 else f"{seconds:.2g} s"


def regimes() -> list[tuple[str, list[object]]]:
    """The rows of the way up."""
    found = []
    for row in PLANNING["regimes"]:
        power = round(math.log10(row["n_points"]))
        asked = "exact" if row["rtol"] == 0.0 else f"{row['rtol']:f}".rstrip("0")
        words = f"| 10^{power} | {row['machine']} | {asked} | {{}} |"
        if row["fits"]:
            moved = [amount(row["bytes_moved"])] if row["bytes_moved"] else []
            template = f"{words} {{}} | {'{} ' if moved else ''}| {{}} |"
            found.append((template, [amount(row["memory"]), row["passes"], *moved, duration(row["seconds"])]))
        else:
            found.append((f"{words} | | does not fit |", [amount(row["memory"])]))
    return found


def compared() -> list[tuple[str, list[object]]]:
    """The rows of what was predicted and measured."""
    found = []
    for part in ("cpu", "hops", "cluster", "gpu", "stored"):
        for row in PLANNING["compared"][part]:
            predicted, measured = row["predicted"], row["measured"]
            values: list[object] = [
                duration(predicted["seconds"]),
                duration(measured["seconds"]),
                f"{row['time_ratio']:.2f}",
            ]
            template = f"| {name(row['what'])} | {row['backend']} | {{}} | {{}} | {{}} |"
            if "core_ratio" in row:
                values.append(f"{row['core_ratio']:.2f}")
            template += " {} |" if "core_ratio" in row else " |"
            if measured.get("memory"):
                values += [
                    amount(predicted["memory"]),
                    amount(measured["memory"]),
                    f"{row['memory_ratio']:.2f}",
                ]
                template += " {} | {} | {} |"
            else:
                template += " | | |"
            found.append((template, values))
    return found


def name(what: str) -> str:
    """As the page has it: 10^7 for 1e+07."""
    for digit, power in (("1", 7), ("1", 8), ("1", 9), ("5", 7), ("2", 8)):
        what = what.replace(f"{digit}e+0{power}", f"10^{power}" if digit == "1" else f"{digit} 10^{power}")
    return what
