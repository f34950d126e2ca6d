"""Speed of the engine: wall time over `np.sort` of the same columns with the same threads, in one run.

    python benchmarks/engine.py              # everything, about five minutes on two cores
    python benchmarks/engine.py --only mixed # one case

Every case is run several times, ours and the reference alternately; the best time of each counts.  Results go
to ``benchmarks/results/engine.json`` and ``engine.md`` with a description of the machine.
"""

from __future__ import annotations

import argparse
import json
import platform
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

import geodim
from geodim.engine.parts import available_threads

if TYPE_CHECKING:
    from collections.abc import Callable

RESULTS = Path(__file__).parent / "results"


@dataclass(frozen=True)
class Case:
    """One line of the table: data, tolerance, and the ratio that must not be exceeded."""

    name: str
    make: Callable[[np.random.Generator], np.ndarray]
    bar: float
    rtol: float = 0.0
    repeat: int = 3


def normal(n: int, d: int) -> Callable[[np.random.Generator], np.ndarray]:
    return lambda rng: rng.standard_normal((n, d), dtype=np.float32)


def mixed(rng: np.random.Generator, n: int = 10**6, d: int = 128) -> np.ndarray:
    """Columns of different shapes and scales: most never attain the maximum."""
    shapes = [
        rng.standard_normal,
        rng.random,
        rng.exponential,
        rng.lognormal,
        lambda size: rng.standard_t(3, size),
        lambda size: rng.beta(0.5, 0.5, size),
        lambda size: rng.gamma(2.0, size=size),
        rng.laplace,
    ]
    data = np.empty((n, d), np.float32)
    for j in range(d):
        data[:, j] = shapes[j % len(shapes)](size=n) * np.exp(rng.normal())
    return data


def column(
    make: Callable[[np.random.Generator, int], np.ndarray], n: int
) -> Callable[[np.random.Generator], np.ndarray]:
    return lambda rng: make(rng, n)[:, np.newaxis]


def jittered(sd: float, kind: type) -> Callable[[np.random.Generator, int], np.ndarray]:
    return lambda rng, n: (np.arange(n) + sd * rng.standard_normal(n)).astype(kind)


CASES = [
    Case("normal 10^6 x 32 float32, exact", normal(10**6, 32), 1.8),
    Case("normal 10^6 x 32 float32, rtol 1e-4", normal(10**6, 32), 0.3, rtol=1e-4, repeat=7),
    Case("mixed 10^6 x 128 float32, exact", mixed, 0.6),
    Case("mixed 10^6 x 128 float32, rtol 1e-4", mixed, 0.3, rtol=1e-4),
    Case("normal 10^7 x 1 float32, exact", normal(10**7, 1), 2.5),
    Case("exact grid 10^6 float32", column(lambda _rng, n: np.arange(n, dtype=np.float32), 10**6), 3.0),
    Case("grid + N(0, 0.3) 10^6 float64", column(jittered(0.3, np.float64), 10**6), 60.0, repeat=1),
    Case("grid + N(0, 0.3) 10^6 float32", column(jittered(0.3, np.float32), 10**6), 60.0, repeat=1),
    Case("grid + N(0, 0.01) 10^6 float64", column(jittered(0.01, np.float64), 10**6), 60.0, repeat=1),
    Case("integers 0..99 10^6 x 8", lambda rng: rng.integers(0, 100, (10**6, 8)).astype(np.float32), 1.5),
    Case("0/1 10^6 x 8", lambda rng: (rng.random((10**6, 8)) < 0.3).astype(np.float32), 1.5),
    Case("0/1 10^6 x 8, 1 % ones", lambda rng: (rng.random((10**6, 8)) < 0.01).astype(np.float32), 1.5),
    Case(
        "rounded to 0.01 10^6 x 8",
        lambda rng: np.round(rng.standard_normal((10**6, 8)), 2).astype(np.float32),
        1.5,
    ),
]


def sort_time(columns: list[np.ndarray], threads: int) -> float:
    with ThreadPoolExecutor(threads) as pool:
        started = time.perf_counter()
        list(pool.map(np.sort, columns))
        return time.perf_counter() - started


def our_time(data: np.ndarray, rtol: float, threads: int) -> tuple[float, geodim.IDResult]:
    started = time.perf_counter()
    result = geodim.intrinsic_dimension(data, rtol=rtol, n_threads=threads)
    return time.perf_counter() - started, result


def run_case(case: Case, threads: int) -> dict[str, object]:
    data = case.make(np.random.default_rng(0))
    columns = [np.ascontiguousarray(c) for c in data.T]
    sorts, ours = [], []
    for _ in range(case.repeat):
        sorts.append(sort_time(columns, threads))
        seconds, result = our_time(data, case.rtol, threads)
        ours.append(seconds)
    ratio = min(ours) / min(sorts)
    return {
        "case": case.name, "threads": threads, "sort_s": min(sorts), "ours_s": min(ours), "ratio": ratio,
        "bar": case.bar, "ok": ratio <= case.bar, "dimension": result.dimension, "error": result.error,
    }  # fmt: skip


def algorithm_2_vectorised(values: np.ndarray) -> float:
    """The paper's algorithm on one feature: every k, one vectorised pass each.

    One feature leaves nothing to skip.
    """
    ordered = np.sort(values).astype(np.float64)
    n = ordered.size
    return sum(float((ordered[k - 1 :] - ordered[: n - k + 1]).min()) for k in range(2, n + 1)) / n


def float_grids(n: int = 10**5) -> list[dict[str, object]]:
    """Float grids defeat every bound: all windows are evaluated, but faster than by the paper's algorithm."""
    rows: list[dict[str, object]] = []
    for name, values in (
        ("0.1 i, float64", 0.1 * np.arange(n)),
        ("0.1 i, float32", (0.1 * np.arange(n)).astype(np.float32)),
        ("linspace, float64", np.linspace(0.0, 1.0, n)),
    ):
        started = time.perf_counter()
        reference = algorithm_2_vectorised(values)
        reference_s = time.perf_counter() - started
        ours_s, result = our_time(values[:, np.newaxis], 0.0, 1)
        assert np.isclose(result.discriminability * result.d_max, reference, rtol=1e-12)
        rows.append(
            {"case": f"{name}, 10^5", "algorithm_2_s": reference_s, "ours_s": ours_s,
             "ratio": ours_s / reference_s, "bar": 1.0, "ok": ours_s <= reference_s}
        )  # fmt: skip
        print(
            f"{rows[-1]['case']:42s} Algorithm 2 {reference_s:7.2f} s   ours {ours_s:7.2f} s   "
            f"ratio {ours_s / reference_s:.3f}"
        )
    return rows


def scaling() -> list[dict[str, object]]:
    """Seconds per point for one column of growing length, one thread: near-linear means nearly constant."""
    rows: list[dict[str, object]] = []
    for name, make in (
        ("normal", lambda rng, n: rng.standard_normal(n, dtype=np.float32)),
        ("uniform", lambda rng, n: rng.random(n, dtype=np.float32)),
        ("log-normal", lambda rng, n: rng.lognormal(size=n).astype(np.float32)),
    ):
        for n in (10**4, 10**5, 10**6, 10**7):
            values = make(np.random.default_rng(1), n)[:, np.newaxis]
            ours = min(our_time(values, 0.0, 1)[0] for _ in range(2))
            sort = min(sort_time([values[:, 0]], 1) for _ in range(2))
            rows.append(
                {"shape": name, "n": n, "ours_s": ours, "sort_s": sort, "ns_per_point": ours / n * 1e9}
            )
            print(f"{name:12s} n = {n:>9,}  {ours / n * 1e9:7.1f} ns per point  ({ours / sort:.2f} x sort)")
    return rows


def plot_scaling(rows: list[dict[str, object]], path: Path) -> None:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(5.5, 3.6), layout="constrained")
    axes = figure.add_subplot()
    for name, marker in (("normal", "o"), ("uniform", "s"), ("log-normal", "^")):
        mine = [row for row in rows if row["shape"] == name]
        axes.loglog(
            [r["n"] for r in mine], [r["ours_s"] for r in mine], marker=marker, label=f"geodim, exact, {name}"
        )
    mine = [row for row in rows if row["shape"] == "normal"]
    axes.loglog([r["n"] for r in mine], [r["sort_s"] for r in mine], "k--", label="np.sort")
    axes.set(
        xlabel="points n", ylabel="seconds, one thread", title="One column, exact: cost grows with n, not n²"
    )
    axes.grid(visible=True, which="major", alpha=0.3)
    axes.legend(frameon=False)
    figure.savefig(path, dpi=150)


def machine() -> dict[str, object]:
    model = platform.processor()
    info = Path("/proc/cpuinfo")
    if info.exists():
        names = [
            line.split(":")[1].strip()
            for line in info.read_text(encoding="utf-8").splitlines()
            if line.startswith("model name")
        ]
        model = names[0] if names else model
    return {
        "cpu": model, "cores": available_threads(), "system": platform.system(),
        "python": platform.python_version(), "numpy": np.__version__, "geodim": geodim.__version__,
        "date": time.strftime("%Y-%m-%d"),
    }  # fmt: skip


def markdown(report: dict[str, object]) -> str:
    where = report["machine"]
    lines = [
        "# Engine benchmark", "",
        (
            f"{where['cpu']}, {where['cores']} cores, Python {where['python']}, numpy {where['numpy']}, "
            f"{where['date']}. Wall time over `np.sort` of the same (contiguous) columns with the same "
            "threads; ours includes reading the row-major array, all checks, sorting and everything else."
        ), "",
        "| data | threads | np.sort | geodim | ratio | bar |", "|---|---|---|---|---|---|",
    ]  # fmt: skip
    lines += [
        f"| {row['case']} | {row['threads']} | {row['sort_s']:.3f} s | {row['ours_s']:.3f} s "
        f"| **{row['ratio']:.2f}** | {row['bar']} |"
        for row in report["cases"]
    ]
    lines += [
        "",
        "| float grid (nothing can be pruned) | Algorithm 2, vectorised | geodim | ratio |",
        "|---|---|---|---|",
    ]
    for row in report["float_grids"]:
        lines.append(
            f"| {row['case']} | {row['algorithm_2_s']:.2f} s | {row['ours_s']:.2f} s | {row['ratio']:.2f} |"
        )
    lines += ["", "| one column, one thread | n | ns per point | over np.sort |", "|---|---|---|---|"]
    for row in report["scaling"]:
        ratio = row["ours_s"] / row["sort_s"]
        lines.append(f"| {row['shape']} | {row['n']:,} | {row['ns_per_point']:.0f} | {ratio:.2f} |")
    lines += ["", "![cost against n](engine-scaling.png)", ""]
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", help="run only cases whose name contains this; nothing is written")
    parser.add_argument("--threads", type=int, nargs="*", default=None)
    options = parser.parse_args()
    for kind in (np.float32, np.float64):  # compile before anything is timed
        warm = np.random.default_rng(0).random((4096, 3)).astype(kind)
        geodim.intrinsic_dimension(warm)
        geodim.intrinsic_dimension(warm, rtol=1e-2)
        geodim.intrinsic_dimension(
            (np.arange(5000) + 0.3 * np.random.default_rng(0).random(5000)).astype(kind)[:, None]
        )
    rows = []
    for case in CASES:
        if options.only and options.only not in case.name:
            continue
        for threads in options.threads or sorted({1, available_threads()}):
            rows.append(run_case(case, threads))
            row = rows[-1]
            print(
                f"{row['case']:42s} threads {threads}  sort {row['sort_s']:7.3f} s  ours "
                f"{row['ours_s']:7.3f} s  ratio {row['ratio']:6.3f}  bar {row['bar']:5.1f}  "
                f"{'ok' if row['ok'] else 'MISSED'}",
                flush=True,
            )
    if options.only:
        return
    report = {"machine": machine(), "cases": rows, "float_grids": float_grids(), "scaling": scaling()}
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / "engine.json").write_text(json.dumps(report, indent=1) + "\n")
    (RESULTS / "engine.md").write_text(markdown(report))
    plot_scaling(report["scaling"], RESULTS / "engine-scaling.png")


if __name__ == "__main__":
    main()
