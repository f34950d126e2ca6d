"""docs/speed.md."""

from __future__ import annotations

from typing import TYPE_CHECKING

from distributions import COLUMNS
from geodim.engine.kernels.pyramid import BLOCK
from geodim.engine.stepped import ENOUGH, MANY
from geodim.engine.ways import MANY_COLUMNS
from prose.sources import benchmark, between, found, section, units

if TYPE_CHECKING:
    from prose.pages import Page

GPU = "docs/results/gpu.log"
VECTORISED = 8.0  # as in benchmarks/yardsticks.py
ZEN_4, ZEN_5, XEON = (  # and how np.sort is dispatched there; the first as it comes
    ("AMD EPYC, np.sort with AVX-512", "AMD EPYC, np.sort with AVX2"),
    ("AMD EPYC (Zen 5), np.sort with AVX-512", "AMD EPYC (Zen 5), np.sort with AVX2"),
    ("Intel Xeon, np.sort with AVX-512", "Intel Xeon, np.sort with AVX2"),
)


def check(page: Page) -> None:
    speed(page)
    processors(page)
    shapes(page)
    larger(page)


def speed(page: Page) -> None:
    engine = benchmark("engine")
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
    """A row for each case, a column for each machine, and what sorting takes there."""
    machines = benchmark("yardsticks")
    assert tuple(machines) == (*ZEN_4, *ZEN_5, *XEON)
    for words, names in (
        ("| {} cores of an AMD EPYC (Zen 4) |", ZEN_4),
        ("| {} cores of a newer AMD EPYC (Zen 5) |", ZEN_5),
        ("| {} cores of an Intel Xeon |", XEON),
    ):
        machine = machines[names[0]]
        sorts = machine["sorts_ns"]
        page.says(
            words + " {} | {} | {} | {} | {} |", machine["machine"]["cores"],
            f"{sorts['all that NumPy finds']:.1f}", f"{sorts['AVX2']:.1f}", f"{sorts['none']:.0f}",
            f"{machine['radix_ns']:.1f}", f"{machine['reading_ns']:.2f}",
        )  # fmt: skip
        if names == ZEN_4:  # "slow there"
            assert sorts["all that NumPy finds"] > 4 * sorts["AVX2"]
        else:  # "fast"
            assert sorts["all that NumPy finds"] < sorts["AVX2"]
    cases = [{case["case"]: case for case in machine["cases"]} for machine in machines.values()]
    for name in cases[-1]:
        found = [some[name] for some in cases if name in some]
        page.says(
            f"| {name} |" + "".join(" {} ns = {} × sort |" if name in some else " – |" for some in cases),
            *(f"{case['now'][key]:.1f}" for case in found for key in ("ns", "to_sort")),
        )
    cores = [machines[names[0]]["machine"]["cores"] for names in (ZEN_4, ZEN_5, XEON)]
    page.says("| data | {} cores of an AMD EPYC (Zen {}),", cores[0], 4)
    page.says("| {} cores of a newer AMD EPYC (Zen {}), AVX-512 |", cores[1], 5)
    page.says("| {} cores of an Intel Xeon, AVX-512 |", cores[2])
    page.says("The columns of Zen {} are of an earlier version", 4)
    ratios = [
        case["before"]["ns"] / case["now"]["ns"]
        for name in (*ZEN_5, *XEON)
        for case in machines[name]["cases"]
    ]
    page.says("and took {} to {} times as long. Most", *between(ratios, ".2f"))
    machines = list(machines.values())
    several = [
        (case["now"], machine)
        for machine in machines
        for case in machine["cases"]
        if case["threads"] == 1 and case["case"] != "one column of 10^7, exact"
    ]
    page.says(
        "at most {} times as long as a vectorised sort of them",
        f"{max(one['to_yardstick'] for one, _ in several):.2f}",
    )
    page.says(
        "at most {} times as long as a sort without vectors",
        f"{max(one['ns'] / where['sorts_ns']['none'] for one, where in several if 'sorts_ns' in where):.2f}",
    )
    page.says(
        "A single column takes up to {} times as long as a vectorised sort",
        f"{max(some['one column of 10^7, exact']['now']['to_yardstick'] for some in cases):.1f}",
    )
    goals(page)
    page.allows("Of 65 ms for 10^6 x 32 on the Xeon", "a timeline of one run")
    page.allows("threads solve columns for 37, and compute for 31", "the same")
    page.allows("these alone take 1.4 times as long", "the same, of 10^7 x 64")
    page.allows("Among 32 columns of one kind the maximum is raised", "the columns of the case")
    page.says("H_32 ≈ {} times", round(sum(1 / k for k in range(1, 33))))
    page.says("A leaf of {} sizes", BLOCK)
    page.allows("about 120 promising starts", "counted with a copy of the kernel that counts them")
    page.says("from {} columns on they are dropped", MANY_COLUMNS)
    sorting = [
        100.0 * min(machine["radix_ns"], first["sort_ns"]) / first["now"]["ns"]
        for machine in machines
        for first in machine["cases"][:1]
    ]
    page.says("our radix sort takes {} to {} % of the time", *between(sorting, ".0f"))
    page.says(
        "sorting is 1 of {}", f"{cases[-1]['normal 10^7 x 64, exact, all cores']['now']['to_sort']:.1f}"
    )
    page.allows("sorting is 1 of", "the yardstick")
    slow_inputs(page)


def goals(page: Page) -> None:
    """What is reached, and what is missed; the goals are stated against a sort with AVX2."""
    page.says("or {} ns per value if that is less", f"{VECTORISED:.0f}")
    rows = {
        name: [(case["now"]["to_yardstick"], case["goal"]) for case in machine["cases"]]
        for name, machine in benchmark("yardsticks").items()
    }
    for words, name, reached in (
        ("On Zen 5 with AVX2 the rows on one thread take {}, {}, {}, {} and {} times", ZEN_5[1],
         [True, True, False, True, True]),
        ("On Zen 4 they take {}, {}, {}, {} and {} times", ZEN_4[1], [True, True, False, False, True]),
        ("On the Xeon they take {}, {}, {}, {} and {} times", XEON[1], [False] * 5),
    ):  # fmt: skip
        page.says(words, *(f"{took:.2f}" for took, _ in rows[name][:5]))
        assert [took <= goal for took, goal in rows[name][:5]] == reached
        page.allows(words[:9], "the processor")
    page.says("the goals are {}, {}, {}, {} and {}:", *(f"{goal:g}" for _, goal in rows[ZEN_5[1]][:5]))
    last, goal = rows[XEON[1]][4]
    assert last < 1.05 * goal  # "by little"
    many = rows[XEON[1]][5:]
    page.says("its 16 cores {} and {} times as long as 16 threads", *(f"{took:.2f}" for took, _ in many))
    page.allows("its 16 cores", "the machine")
    page.says("where the goals are {} and {}:", *(f"{goal:g}" for _, goal in many))
    assert all(took > goal for took, goal in many)  # "both are missed"
    assert many[0][0] < 1.05 * many[0][1]  # "by little"
    took, goal = rows[ZEN_5[1]][5]
    page.says(
        "Two cores of Zen {} take {} times as long, where the goal is {}.", 5, f"{took:.2f}", f"{goal:g}"
    )


def shapes(page: Page) -> None:
    """A row for each shape: before and now, by rows and by columns, and in half precision."""
    rows = {(row["n"], row["d"], row["kind"]): row for row in benchmark("shapes")["rows"]}
    kinds = ("float32, by rows", "float32, by columns", "float16, by rows")
    for n, d in {key[:2] for key in rows}:
        found = [rows[n, d, kind] for kind in kinds]
        page.says(
            f"| {n:,} x {d:,} |" + 3 * " {} → {} |",
            *(f"{row[version]:.1f}" for row in found for version in ("before", "now")),
        )
        page.allows(f"| {n:,} x {d:,} |", "the shape")
        assert found[1]["now"] < 1.3 * found[0]["now"]  # by columns hardly longer than by rows


GOAL = 10.0  # times as long as normal data, at most
MISSES = ("months with jitter",)
CERTIFIED = 1.2e-14  # the error of what is neither exact nor solved to within a tolerance


def slow_inputs(page: Page) -> None:
    saved = benchmark("slow-inputs")
    rows = saved["now"]["rows"]
    every, earlier = (
        {(row["input"], row["n"]): row for row in saved[label]["rows"]} for label in ("now", "before")
    )
    found = {name: row for (name, n), row in every.items() if n == 10**6}
    within = [row for name, row in found.items() if name not in MISSES]
    assert {name for name, row in found.items() if row["over_normal"] > GOAL} == set(MISSES)
    assert not any(row["stopped"] for row in rows)
    page.says("Of {} inputs, every kind of column", len({row["input"] for row in rows}))
    page.says("slow once and their relatives, {} take at most", len(within))
    page.says("take at most {} times as long as normal", f"{max(row['over_normal'] for row in within):.1f}")
    page.says("Months with jitter take {} times as long", f"{found['months with jitter']['over_normal']:.1f}")
    normal, before = (saved[label]["normal_ns_per_value"]["1"]["1000000"] for label in ("now", "before"))
    page.says("although normal data takes {} % less time", f"{100.0 * (1.0 - normal / before):.0f}")
    matrix = [found[name]["over_normal"] for name in COLUMNS if name in found]
    page.says("kinds of the test matrix take at most {} times", f"{max(matrix):.1f}")
    assert len({row["input"] for row in rows} - set(found)) == 1  # "one kind"

    def short(error: float) -> str:
        return f"{error:.1e}".replace("e-0", "e-") if error else "exact"

    for name, row in found.items():
        if name == "normal" or f"\n| {name} |" not in page.text:
            assert row["over_normal"] <= 6.0  # all that take longer are shown
            continue
        old = earlier.get((name, 10**6))
        if old is None:  # it was stopped with fewer points
            assert any(one["stopped"] for (kind, _), one in earlier.items() if kind == name)
            shown, words = [], "stopped"
        else:
            shown, words = [f"{old['ns_per_value']:,.0f}"], "more than {}" if old["stopped"] else "{}"
        shown += [f"{row['ns_per_value']:,.0f}", f"{row['over_normal']:.1f}"]
        shown += [short(row["error"])] if row["error"] else []
        page.says(f"| {name} | {words} | {{}} | {{}} | {'{}' if row['error'] else 'exact'} |", *shown)
    page.says("| normal | {} | {} | 1.0 | exact |", f"{before:.0f}", f"{normal:.0f}")
    page.allows("| 1.0 | exact |", "normal data itself")
    for n, words, digits in ((200_000, "at {} points, {} s", ".2f"), (50_000, "at {}, {} s", ".2f")):
        slowest = max((row for (_, m), row in every.items() if m == n), key=lambda row: row["over_normal"])
        name = slowest["input"].replace(", float32", " in float32")
        name = name if n == 50_000 else name[0].upper() + name[1:]
        page.says(
            f"{name} {'take ' if n > 50_000 else ''}{{}} times"
            + (" as long as normal data " if n > 50_000 else " ") + words,
            f"{slowest['over_normal']:.0f}", f"{n:,}", format(slowest["ns_per_value"] * n * 1e-9, digits),
        )  # fmt: skip
    tolerant_ones = [row for row in found.values() if not row["exact"] and row["error"] > CERTIFIED]
    page.says("the result says so ([numerics](numerics.md)): {} of these kinds, with an `error` of up to {}.",
              len(tolerant_ones), short(max(row["error"] for row in tolerant_ones)))  # fmt: skip
    page.says("exact, or certified to {}", f"{CERTIFIED:.1e}")
    page.says("more than {} windows per length and 2^{} in all", f"{MANY:,}", ENOUGH.bit_length() - 1)
    page.says("below those 2^{} windows", ENOUGH.bit_length() - 1)
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
    page.says("except for waves among {} columns and more", MANY_COLUMNS)
    page.says("Of {} normal columns most are dropped", MANY_COLUMNS)
    page.says("up to 2^{} windows, or {} for each length", ENOUGH.bit_length() - 1, f"{MANY:,}")
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
