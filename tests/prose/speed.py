"""docs/speed.md."""

from __future__ import annotations

from typing import TYPE_CHECKING

from geodim.engine.ways import MANY_COLUMNS
from prose.sources import benchmark, between, found, section, units

if TYPE_CHECKING:
    from prose.pages import Page

GPU = "docs/results/gpu.log"


def check(page: Page) -> None:
    speed(page)
    processors(page)
    larger(page)


def speed(page: Page) -> None:
    engine = benchmark("engine")
    cases: dict[str, list[dict[str, float]]] = {}
    for case in engine["cases"]:
        cases.setdefault(case["case"], []).append(case)
    first = cases["normal 10^6 x 32 float32, exact"][0]
    page.says("scalar and takes {} ns per value", f"{first['sort_s'] / 32e6 * 1e9:.0f}")
    for name, (one, two) in cases.items():
        if f"| {name} |" in page.text:
            form = ".0f" if name.startswith("grid") else ".2f"
            page.says(
                f"| {name} | {{}} s = {{}} × sort | {{}} s = {{}} × sort |",
                *(
                    format(case[key], form if key == "ratio" else ".2f")
                    for case in (one, two)
                    for key in ("ours_s", "ratio")
                ),
            )
    page.allows("| grid + N(0, 0.3) 10^6 float32 |", "the data of the case")
    slower = [1.0 / grid["ratio"] for grid in engine["float_grids"]]
    page.says("takes {} to {} times as long at 10^5 points", *between(slower, ".1f"))
    page.says(
        "exact: {} to {} s on 16 cores, {} to {} s with a GPU",
        *between([unit["seconds"] for unit in units("random", n=10**8, d=250)]),
        *between(
            [float(one) for one in found(r"with drawing 200 GB: ([\d.]+) s", section(GPU, "== random data"))]
        ),
    )
    page.says("took {} s together on two cores", f"{sum(unit['seconds'] for unit in units('khop')):.1f}")
    cpu = {row["what"]: row for row in benchmark("planning")["compared"]["cpu"]}
    page.says("(2.6 GB) takes {} MB of memory", f"{cpu['10^7 x 64, exact']['measured']['memory'] / 1e6:.0f}")
    page.allows("10^7 × 64 float32 values (2.6 GB)", "10^7 · 64 · 4 bytes")


def processors(page: Page) -> None:
    """A row for each case, a column for each machine, and what the yardsticks are."""
    machines = list(benchmark("yardsticks").values())
    cases = [{case["case"]: case for case in machine["cases"]} for machine in machines]
    for name in cases[-1]:
        found = [some[name] for some in cases if name in some]
        page.says(
            f"| {name} |" + "".join(" {} ns = {} × sort |" if name in some else " – |" for some in cases),
            *(f"{case['now'][key]:.1f}" for case in found for key in ("ns", "to_sort")),
        )
    page.says(
        "reading by all cores |" + " {}, {}, {} ns |" * len(machines),
        *(
            figure
            for machine in machines
            for figure in (
                f"{machine['cases'][0]['sort_ns']:.1f}", f"{machine['radix_ns']:.1f}",
                f"{machine['reading_ns']:.2f}",
            )
        ),
    )  # fmt: skip
    page.says("| data | {} cores of an AMD EPYC", machines[0]["machine"]["cores"])
    page.says("| {} cores of an Intel Xeon, AVX-512 |", machines[-1]["machine"]["cores"])
    page.says("of a newer AMD EPYC (Zen {})", 5)
    ratios = [
        case["before"]["ns"] / case["now"]["ns"]
        for machine in machines[2:]
        for case in machine["cases"]
        if case["threads"] == 1
    ]
    page.says("it took {} to {} times as long", *between(ratios, ".2f"))
    page.allows("On 16 cores the first of the last two rows", "the machine of the last column")
    short, long = (case["now"]["ns"] / case["before"]["ns"] for case in machines[-1]["cases"][-2:])
    assert abs(short - 1.0) < 0.02  # "nothing"
    assert abs(1.0 - long - 1.0 / 7.0) < 0.01  # "a seventh"
    page.says("{} times a vectorised sort for the first row", machines[0]["cases"][0]["goal"])
    page.allows("Among 32 columns of one kind the maximum is raised", "the columns of the case")
    windows = [
        row["evaluations_per_value"]
        for row in benchmark("slow-inputs")["now"]["rows"]
        if (row["input"], row["columns"]) == ("normal", 1)
    ]
    assert all(round(one, -2) == 200 for one in windows)  # "two hundred"
    slow_inputs(page)
    page.says("H_32 ≈ {} times", round(sum(1 / k for k in range(1, 33))))
    page.says("from {} columns on they are dropped", MANY_COLUMNS)
    for machine in machines:
        first = machine["cases"][0]
        # Sorting is the smaller part, by whichever sort is faster there.
        assert min(machine["radix_ns"], first["sort_ns"]) < first["now"]["ns"] / 2


GOAL = 10.0  # times as long as normal data, at most
SLOW = {  # what misses the goal by little,
    "10 Hz with gaps",
    "a pattern of three, in tenths",
    "a pattern of three, in tenths, float32",
    "months with jitter",
    "one_huge_among_small",
    "three slopes with jitter",
    "weekdays with jitter, float32",
}
SLOWEST = {  # and what grows quadratically, or nearly so
    "angles in float32",
    "two clocks",
    "two clocks with jitter",
    "two grids, float32",
    "two slopes, float32",
}


def slow_inputs(page: Page) -> None:
    rows = benchmark("slow-inputs")["now"]["rows"]
    found = {row["input"]: row for row in rows if row["n"] == 10**6}
    within = [row for name, row in found.items() if name not in SLOW | SLOWEST]
    assert all(row["over_normal"] <= GOAL and not row["stopped"] for row in within)
    assert all(row["exact"] or row["error"] < 1.5e-14 for row in within)
    page.says("Of {} inputs, every kind of column", len({row["input"] for row in rows}))
    page.says("slow once and their relatives, {} take at most", len(within))
    page.says("take at most {} times as long as normal", f"{max(row['over_normal'] for row in within):.1f}")
    page.says("a certified error of {}", "1e-14")
    page.says("The goal of {} times for all", f"{GOAL:.0f}")
    page.says("is missed: {} kinds take longer", len(SLOW | SLOWEST))
    little = sorted(found[name]["over_normal"] for name in SLOW)
    assert little[0] > GOAL
    page.says("Seven of these take {} to {} times", f"{little[0]:.1f}", f"{little[-1]:.1f}")
    assert (len(SLOW), len(SLOWEST)) == (7, 5)  # "seven" and "five"
    page.says(
        "Five take more than {} times",
        10 * int(min(found[name]["over_normal"] for name in SLOWEST) / 10),
    )
    grids, weekdays = (found[name]["over_normal"] for name in ("two grids", "weekdays with jitter"))
    page.says("Two grids side by side take {} times as long", f"{grids:.1f}")
    page.says("jitter {} times. The goal", f"{weekdays:.1f}")


def larger(page: Page) -> None:
    last = benchmark("scaling")["rows"][-1]
    page.says("| {}, {} times as fast as one core |", f"{last['seconds']:.1f}", f"{last['speed_up']:.1f}")
    case = benchmark("gpu-sorting")["cases"]["normal 10^7 x 128"]
    on_device = [case["after"], case["after, with CuPy"]]
    page.says(
        "on the device | {}, or {} where CuPy is loaded, that is {} and {} times `torch.sort`",
        *(f"{one['seconds']:.2f}" for one in on_device),
        *(f"{one['ratio']:.1f}" for one in on_device),
    )
    took = [
        float(found(r"hops 0..5, rtol 0.0: ([\d.]+) s", section(log, "== R-MAT", "\n=="))[0])
        for log in (GPU, "docs/results/gpu-papers.log")
    ]
    page.says("rounding of the features | {} and {} (two runs) |", *(f"{one:.0f}" for one in took))
    page.allows("(1.6 billion edges, 128 attributes)", "the graph of the job")
