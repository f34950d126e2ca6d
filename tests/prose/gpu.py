"""docs/gpu.md: what the logs of the GPU say."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from geodim.engine.hard import places_to_look
from geodim.engine.ways import COARSE_FROM
from geodim.planning.device import COEFFICIENTS, SHORT_BATCH, SHORT_FROM
from prose.sources import benchmark, between, constant, found, section, text, units

if TYPE_CHECKING:
    from prose.pages import Page

LEFT = "docs/results/gpu-slow-inputs.log"
COARSE_BITS = constant("src/geodim/backends/cuda/alike.py", "COARSE_BITS")
LOG, SECOND = "docs/results/gpu.log", "docs/results/gpu-papers.log"


def numbers(pattern: str, where: str) -> list[float]:
    return [float(one) for one in found(pattern, where)]


def check(page: Page) -> None:
    sorting(page)
    normal(page)
    graph(page)
    random_data(page)
    constants(page)
    left_to_the_cores(page)


def sorting(page: Page) -> None:
    measured = benchmark("gpu-sorting")
    for name, case in measured["cases"].items():
        runs = [case[what] for what in ("before", "after", "after, with CuPy") if what in case]
        page.says(
            f"| {name} | {{}} s |"
            + " – |" * (3 - len(runs))
            + " {} s = {} × |" * len(runs)
            + " {} × | {} GiB |",
            f"{runs[0]['sort_seconds']:.3f}",
            *(part for run in runs for part in (f"{run['seconds']:.2f}", f"{run['ratio']:.1f}")),
            f"{case['goal']:g}",
            f"{runs[-2]['peak_gpu_gib']:.0f}",
        )
        assert runs[-1]["ratio"] <= case["goal"] < runs[-2]["ratio"]
    profile = measured["profile"]["normal 10^7 x 128"]
    page.says("one call spends {} s on the device", f"{profile['milliseconds'] / 1000:.2f}")
    assert 0.3 < profile["kernels"]["sorting"] / profile["milliseconds"] < 0.36
    earlier = measured["earlier"]["normal 10^8 x 128"]
    page.says(
        "an earlier version took {} times `torch.sort`, and {} times with CuPy",
        *(f"{earlier[what]['ratio']:.1f}" for what in ("after", "after, with CuPy")),
    )
    narrow = constant("src/geodim/backends/cuda/layout.py", "NARROW")
    page.says("of fewer than {} steps are all evaluated", narrow)
    page.allows("one NVIDIA H200 with 16 CPU cores, against", "the machine")
    page.allows("a 64-bit place along with every value", "types")
    page.allows("`torch.sort` alone takes 1 ×", "a ratio to itself")


def normal(page: Page) -> None:
    for power in ("07", "08"):
        log = section(LOG, f"== normal 1e+{power} x 128")
        host, device = numbers(r"(?:from host memory|on the device), exact: ([\d.]+) s", log)
        sorting, windows = numbers(r"sorting ([\d.]+) s", log), numbers(r"windows ([\d.]+) s", log)
        peaks = numbers(r"peak GPU memory ([\d.]+) GiB", log)
        form = ".2f" if power == "07" else ".1f"
        page.says(
            f"| normal 10^{int(power)} x 128 float32 on the device, exact | {{}} | {{}} | {{}} | | {{}} GiB",
            format(device, form),
            f"{sorting[1]:.2f}",
            f"{windows[1]:.2f}",
            f"{peaks[1]:.0f}",
        )
        page.says(
            "| the same from host memory | {} | {} | {} | | {} GiB |",
            format(host, form),
            f"{sorting[0]:.2f}",
            f"{windows[0]:.2f}",
            f"{peaks[0]:.0f}",
        )
    (data,) = numbers(r"drawn, ([\d.]+) GB in host memory", log)
    page.says("GiB, {} of them the data |", f"{data:.0f}")
    copies, waiting = numbers(r"copies ([\d.]+) s", log), numbers(r"waiting for data ([\d.]+) s", log)
    page.says("Copies take {} s of the run of 10^8 points on the device", f"{copies[1]:.1f}")
    page.says("The rest of the {} s is columns cut", f"{device:.1f}")
    page.says("{} of the {} s are waiting for columns", f"{waiting[0]:.1f}", f"{host:.1f}")
    (sort,) = numbers(r"torch.sort of all columns: ([\d.]+) s", log)
    page.says(
        "`torch.sort` of the {} columns of 10^8 values alone, from the row-major array, takes {} s",
        128,
        f"{sort:.1f}",
    )


def graph(page: Page) -> None:
    first, second = (section(log, "== R-MAT") for log in (LOG, SECOND))
    took = [numbers(r"hops 0..5, rtol 0.0: ([\d.]+) s", log)[0] for log in (first, second)]
    sorting, products, copies, waiting = (
        numbers(rf"{what} ([\d.]+) s", first)[0]
        for what in ("sorting", "products", "copies", "waiting for data")
    )
    windows = [numbers(r"windows ([\d.]+) s", log)[0] for log in (first, second)]
    page.says(
        "no tolerance | {} and {} | {} | {} and {} | {} | {} GiB |",
        *(f"{one:.0f}" for one in took),
        f"{sorting:.1f}",
        *(f"{one:.0f}" for one in windows),
        f"{products:.1f}",
        f"{numbers(r'peak GPU memory ([0-9.]+) GiB', first)[1]:.0f}",
    )
    with_bounds = {
        what: numbers(rf"{what} ([\d.]+) s", second)[1] for what in ("sorting", "windows", "products")
    }
    page.says(
        "| the same, rtol 1e-4 ([a second log](results/gpu-papers.log)) | {} | {} | {} | {} | {} GiB |",
        f"{numbers(r'rtol 0.0001: ([0-9.]+) s', second)[0]:.0f}",
        *(f"{one:.1f}" for one in with_bounds.values()),
        f"{numbers(r'peak GPU memory ([0-9.]+) GiB', second)[-1]:.0f}",
    )
    page.says("on the device, {} s with hops: Phi on its way", f"{copies:.1f}")
    page.says("With hops, {} s are waiting for attributes", f"{waiting:.1f}")
    (attributes,) = numbers(r"attributes, ([\d.]+) GB in host memory", first)
    page.says("the first pass over {} GB of them", f"{attributes:.0f}")
    page.says("Products take {} s because", f"{products:.0f}")
    page.says(
        "allows for {} % in the dimensions", f"{100 * numbers(r'largest error ([0-9.]+)', first)[0]:.1f}"
    )
    hosts = numbers(r"host ([\d.]+) GiB", second)
    page.says(
        "Host memory: {} GiB, the {} GB of attributes included; {} GiB with bounds.",
        f"{hosts[1]:.0f}",
        f"{attributes:.0f}",
        f"{hosts[2]:.0f}",
    )
    edges, entries = found(r"([\d,]+) undirected edges, ([\d,]+) entries", first)[0]
    page.says("{} edges ({} billion entries", edges, f"{int(entries.replace(',', '')) / 1e9:.2f}")
    page.says("built on the device in {} s", f"{numbers(r'on the device: ([0-9.]+) s', first)[0]:.0f}")
    page.allows("papers100M, 128 float32 attributes", "the graph")


def random_data(page: Page) -> None:
    log = section(LOG, "== random data")
    took = numbers(r"with drawing 200 GB: ([\d.]+) s", log)
    sorting, windows = numbers(r"sorting ([\d.]+) s", log), numbers(r"windows ([\d.]+) s", log)
    page.says(
        "drawn on the CPU meanwhile | {} to {} | {} | {} | | {} GiB |",
        *between(took),
        f"{sum(sorting) / 3:.1f}",
        f"{sum(windows) / 3:.1f}",
        f"{numbers(r'peak GPU memory ([0-9.]+) GiB', log)[0]:.0f}",
    )
    errors = numbers(r"E = ([\d.]+), dimension", log)
    assert len({f"{one:.3e}" for one in errors}) == 1
    page.says("give E = {};", f"{errors[0]:.3e}".replace("e-04", "e-4"))
    page.says(
        "each took {} to {} s on 16 cores",
        *between([unit["seconds"] for unit in units("random", n=10**8, d=250)]),
    )


def constants(page: Page) -> None:
    page.says(
        "rows of more than {} neighbours are summed in pieces",
        f"{constant('src/geodim/backends/cuda/operators.py', 'SPLIT'):,}",
    )
    page.says("up to {} MiB of coefficients", COEFFICIENTS * 8 >> 20)
    page.says("**Many short columns** ({} and more", SHORT_FROM)
    page.says("is solved in batches of {}.", SHORT_BATCH)
    page.allows("blocks of 32 columns through pinned buffers", "how data is fed")
    page.allows("Up to 16 sorted columns together", "how columns are batched")
    page.allows("pieces of 128 blocks", "how work is cut")
    page.allows("rows of 32-bit ids with 64-bit offsets", "types")
    page.allows("(4 bytes per entry, 8 per node,", "types")
    page.allows("Batches shrink from 16 columns to 1", "how columns are batched")


def left_to_the_cores(page: Page) -> None:
    now, before = (section(LEFT, f"== {part}") for part in ("now", "before"))
    for name, exponent, wide in re.findall(r"^\| (.*), 10\^(\d)( x 8)? \|", page.text, re.MULTILINE):
        n = 10 ** int(exponent)
        ms, ratio, error = took(name, n, now)
        cells, numbers = "{} ms = {} ×", [ms, ratio]
        old = "–"
        if n == 10**6:
            old, numbers = cells, [*took(name, n, before)[:2], *numbers]
        shown = f"| {name}, 10^{exponent}{wide} | {old} | {cells} | {'{}' if error else 'exact'} |"
        page.says(shown, *numbers, *([error] if error else []))
    launches = found(r"normal float64 +1000000 x 1 +([0-9.]+)", now)[0]
    page.says("10^6 points takes {} ms", f"{float(launches):.0f}")
    page.says("from {} points on they are left", f"{COARSE_FROM:,}")
    page.says("some {} of their places", f"{round(places_to_look(2 * COARSE_FROM).size, -2):,}")
    page.allows("50 trillion for 10^7", "n^2 / 2")
    assert COARSE_BITS == 3  # "an eighth"
    assert found(r"HUGE = 2\.0\*\*1000\b", text("src/geodim/backends/cuda/solver.py"))
    waves = [took("a wave of four hundred spacings", 10**6, log) for log in (before, now)]
    assert float(waves[0][0]) < float(waves[1][0])  # "was faster on the device"
    assert waves[0][2] == ""  # "and exact"


def took(name: str, n: int, log: str) -> tuple[str, str, str]:
    """Milliseconds, times normal data, and the error unless it was exact."""
    pattern = rf"(?m)^{re.escape(name)} +{n} x \d +([\d.]+) ms +([\d.]+) x normal exact (\w+) error (\S+) "
    ms, ratio, exact, error = found(pattern, log)[0]
    return f"{float(ms):,.0f}", f"{float(ratio):.0f}", "" if exact == "True" else error.replace("e-0", "e-")
