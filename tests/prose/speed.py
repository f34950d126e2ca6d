"""docs/speed.md."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from distributions import COLUMNS
from geodim.engine.tolerant import ENOUGH, MANY
from geodim.engine.ways import MANY_COLUMNS
from prose.sources import benchmark, between, found, section, units

if TYPE_CHECKING:
    from prose.pages import Page

GPU = "docs/results/gpu.log"
VECTORISED = 8.0  # as in benchmarks/yardsticks.py


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
        for machine in machines
        for case in machine["cases"]
        if case["threads"] == 1
    ]
    page.says("it took {} to {} times as long", *between(ratios, ".2f"))
    page.allows("On 16 cores threads tell each other", "the machine of the last column")
    less = [
        f"{100.0 * (1.0 - case['now']['ns'] / case['before']['ns']):.0f}"
        for case in machines[-1]["cases"][-2:]
    ]
    page.says("the last two rows took {} % and {} % less time", *less)
    goals(page, machines)
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
    sorting = [
        100.0 * min(machine["radix_ns"], first["sort_ns"]) / first["now"]["ns"]
        for machine in machines
        for first in machine["cases"][:1]
    ]
    page.says("our radix sort takes {} to {} % of the time", *between(sorting, ".0f"))


def goals(page: Page, machines: list[Any]) -> None:
    """What is reached, and what is missed, on the processor with AVX2 and on that with 16 cores."""
    older, vectorised, many_cores = (
        [(case["now"]["to_yardstick"], case["goal"]) for case in machines[at]["cases"]] for at in (1, 3, -1)
    )
    page.says("or {} ns per value if that is less", f"{VECTORISED:.0f}")
    page.says(
        "On Zen 5, where `np.sort` uses AVX2, the rows on one thread take {}, {}, {}, {} and {} times",
        *(f"{took:.2f}" for took, _ in vectorised[:5]),
    )
    page.says("the goals are {}, {}, {}, {} and {}:", *(f"{goal:g}" for _, goal in vectorised[:5]))
    missed = [took > goal for took, goal in vectorised[:5]]
    assert missed == [False, False, True, True, False]  # "the third and the fourth are missed"
    page.says(
        "On the older EPYC with AVX2 they take {}, {}, {}, {} and {} times",
        *(f"{took:.2f}" for took, _ in older[:5]),
    )
    reached = [took <= goal for took, goal in older[:5]]
    assert reached == [False, False, False, False, True]  # "only the last goal is reached"
    page.says(
        "On the Xeon they take {}, {}, {}, {} and {} times", *(f"{took:.2f}" for took, _ in many_cores[:5])
    )
    page.says(
        "its 16 cores {} and {} times as long as {} threads that sort",
        *(f"{took:.2f}" for took, _ in many_cores[5:]), machines[-1]["machine"]["cores"],
    )  # fmt: skip
    page.allows("its 16 cores", "the machine of the last column")
    page.says("where the goals are {} and {}:", *(f"{goal:g}" for _, goal in many_cores[5:]))
    assert all(took > goal for took, goal in many_cores)  # "all of these are missed"
    page.allows("sorting itself is 1.", "the yardstick")


GOAL = 10.0  # times as long as normal data, at most
MISSES = "months with jitter"
TOLERANT = ("two clocks", "angles in float32", "two slopes, float32", "two grids, float32")
CERTIFIED = 1.2e-14  # the error of what is neither exact nor one of those


def slow_inputs(page: Page) -> None:
    saved = benchmark("slow-inputs")
    rows = saved["now"]["rows"]
    every, earlier = (
        {(row["input"], row["n"]): row for row in saved[label]["rows"]} for label in ("now", "before")
    )
    found = {name: row for (name, n), row in every.items() if n == 10**6}
    within = [row for name, row in found.items() if name != MISSES]
    assert not any(row["stopped"] for row in rows)
    assert all(row["over_normal"] <= GOAL for row in within)
    page.says("Of {} inputs, every kind of column", len({row["input"] for row in rows}))
    page.says("slow once and their relatives, {} take at most", len(within))
    page.says("take at most {} times as long as normal", f"{max(row['over_normal'] for row in within):.1f}")
    normal, before = (saved[label]["normal_ns_per_value"]["1"]["1000000"] for label in ("now", "before"))
    page.says("although normal data takes {} % less time", f"{100.0 * (1.0 - normal / before):.0f}")
    matrix = [found[name]["over_normal"] for name in COLUMNS if name in found]
    page.says("kinds of the test matrix take at most {} times", f"{max(matrix):.1f}")
    for words, name, n in (
        ("columns of ranks take {} times as long ({} before)", "eight ranks / n", 10**6),
        ("of a `linspace` {} times ({})", "eight permutations of a linspace", 10**6),
        ("a time axis with gaps {} times ({})", "10 Hz with gaps", 10**6),
        ("weekdays with jitter in float32 {} times ({})", "weekdays with jitter, float32", 10**6),
        ("two grids in float32 {} times ({})", "two grids, float32", 10**6),
        ("at 50,000 points {} times ({})", "ten thousand quantiles, uniform", 50_000),
        ("months with jitter {} times ({})", MISSES, 10**6),
    ):
        page.says(words, *(f"{some[name, n]['over_normal']:.1f}" for some in (every, earlier)))
    page.allows("ten thousand quantiles at 50,000 points", "the length of the case")
    page.says("One kind takes longer than {} times", f"{GOAL:.0f}")
    assert len({row["input"] for row in rows} - set(found)) == 1  # "one kind"
    page.says("more than {} windows per length and 2^{} in all", f"{MANY:,}", ENOUGH.bit_length() - 1)
    for words, name in zip(
        ("Two clocks take {} times as long", "angles in float32 {} times, with",
         "two slopes in float32 {} times"),
        TOLERANT[:3], strict=True,
    ):  # fmt: skip
        page.says(words, f"{found[name]['over_normal']:.1f}")
    for words, name in zip(
        ("with an `error` of {}; angles", "times, with {};\ntwo slopes", "times, with {}; two grids",
         "as above, with {}."),
        TOLERANT, strict=True,
    ):  # fmt: skip
        page.says(words, f"{found[name]['error']:.1e}".replace("e-0", "e-"))
    others = [row for name, row in found.items() if name not in (*TOLERANT, "two clocks with jitter")]
    assert all(row["exact"] or row["error"] <= CERTIFIED for row in others)
    page.says("exact, or certified to {}", f"{CERTIFIED:.1e}")
    page.says("Below those 2^{} windows", ENOUGH.bit_length() - 1)
    for n, name, words in (
        (50_000, "two clocks with jitter", "at {} points two clocks with jitter take {} times as long"),
        (200_000, "angles in float32", "at {} angles in float32\n{} times"),
    ):
        row = every[name, n]
        page.says(words, f"{n:,}", f"{row['over_normal']:.0f}")
        page.says(", {} s", f"{row['ns_per_value'] * n * 1e-9:.2f}")
    other_functions(page)


def other_functions(page: Page) -> None:
    """The table of `benchmarks/slow_ways.py`."""
    kept = benchmark("slow-ways")
    before, now = (
        {(row["way"], row["input"]): row for row in kept[label]["rows"]} for label in ("before", "now")
    )

    def short(error: float) -> str:
        return f"{error:.1e}".replace("e-0", "e-") if error else "0"

    page.says("At {} points, relative to normal data", f"{now['hops', 'angles']['n']:,}")
    for way, shown, kind in (
        ("64 columns", "{} columns", "the same two clocks"),
        ("64 columns", "{} columns", "two grids, float32"),
        ("64 columns", "{} columns", "two slopes, float32"),
        ("64 columns", "{} columns", "months with jitter"),
        ("hops", "hops of a ring, {} columns", "the same two clocks"),
        ("hops", "hops of a ring, {} columns", "two clocks"),
        ("hops", "hops of a ring, {} columns", "angles"),
        ("WhatIf", "`WhatIf`, {} columns", "the same two clocks"),
        ("explain_dimension", "`explain_dimension`, {} columns", "two grids, float32"),
    ):
        old, new = before[way, kind], now[way, kind]
        words = (
            "| " + shown + " | " + kind + (" | more than {}" if old["stopped"] else " | {}") + " | {} | {} |"
        )
        ratio = int(old["over_normal"]) if old["stopped"] else f"{old['over_normal']:.1f}"
        page.says(words, new["columns"], ratio, f"{new['over_normal']:.1f}", short(new["error"]))

    def ratios(*ways: str) -> list[float]:
        return [row["over_normal"] for (way, _), row in now.items() if way in ways]

    page.says("The same holds for {} columns and more", MANY_COLUMNS)
    page.says("Of {} normal columns most are dropped", MANY_COLUMNS)
    page.says("up to 2^{} windows, or {} for each length", ENOUGH.bit_length() - 1, f"{MANY:,}")
    page.says("features (up to {} times as long", f"{max(ratios('select_features', 'top_features')):.0f}")
    page.says("gradients (up to {} times at {} points)", f"{max(ratios('gradients')):.0f}",
              f"{now['gradients', 'angles']['n']:,}")  # fmt: skip
    page.says("take {} to {} times as long as normal data at {} points", f"{min(ratios('weights')):.1f}",
              f"{max(ratios('weights')):.1f}", f"{now['weights', 'angles']['n']:,}")  # fmt: skip


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
