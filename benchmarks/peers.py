"""geodim beside other programs for intrinsic dimensions, on the same points, one thread each.

    python benchmarks/peers.py [--points 20000] [--columns 32] [--python dadapy=ENVIRONMENT/bin/python ...]
    python benchmarks/peers.py --table     # only the table of the paper, from the results

obsdim and idim compute the same number by the definition, and must agree to 1e-12.  scikit-dimension, DADApy
and torchid estimate another one, the dimension of a manifold: their values are shown, not compared.  Each
runs in a process of its own, by the interpreter of an environment that has it, since their requirements
exclude each other; one that is not there is left out, and the results say so.  Processor seconds of the call
alone are taken, the best of four, or of two if they take long: the first may compile.  Results go to
``benchmarks/results/peers.json``, and as a table to ``paper/paper.md``.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np

HERE = Path(__file__).parent
RESULTS = HERE / "results" / "peers.json"
PAPER = HERE.parent / "paper" / "paper.md"
BEGIN, END = "<!-- made by benchmarks/peers.py -->\n\n", "\n<!-- until here -->"
CLOSE = 1e-12
LONG = 5.0  # seconds after which a call is not repeated
ONE_THREAD = dict.fromkeys(
    ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"), "1"
)
Call = Callable[[np.ndarray], float]


def geodim_exact() -> Call:
    import geodim

    return lambda X: geodim.intrinsic_dimension(X, n_threads=1).dimension


def geodim_two_nn() -> Call:
    from geodim import baselines

    return lambda X: baselines.two_nn(X).dimension


def obsdim_exact() -> Call:
    import obsdim

    return lambda X: obsdim.compute_dimension(X.T, normalize="diameter", exact=True, cap=None).dimension


def idim_exact() -> Call:
    import idim

    return lambda X: idim.calculate_intrinsic_dimension(X, exact=True, disable_tqdm=True)[0]


def skdim_two_nn() -> Call:
    import skdim

    return lambda X: skdim.id.TwoNN().fit(X).dimension_


def skdim_mle() -> Call:
    import skdim

    return lambda X: skdim.id.MLE().fit(X).dimension_


def dadapy_two_nn() -> Call:
    from dadapy import IdEstimation

    return lambda X: IdEstimation(X, n_jobs=1).compute_id_2NN()[0]


def torchid_two_nn() -> Call:
    import torch
    from torchid.estimators import TwoNN

    torch.set_num_threads(1)
    return lambda X: TwoNN().fit(torch.from_numpy(X)).dimension_


def torchid_mle() -> Call:
    import torch
    from torchid.estimators import MLE

    torch.set_num_threads(1)
    return lambda X: MLE().fit(torch.from_numpy(X)).dimension_


# What is run: the package, as PyPI calls it, the quantity, and how to call it.
EXACT = "observable-diameter dimension, exact"
JOBS: dict[str, tuple[str, str, Callable[[], Call]]] = {
    "geodim": ("geodim", EXACT, geodim_exact),
    "obsdim": ("obsdim", EXACT, obsdim_exact),
    "idim": ("idim", EXACT, idim_exact),
    "geodim-twonn": ("geodim", "TwoNN", geodim_two_nn),
    "skdim-twonn": ("scikit-dimension", "TwoNN", skdim_two_nn),
    "dadapy-twonn": ("dadapy", "TwoNN", dadapy_two_nn),
    "torchid-twonn": ("torchid", "TwoNN", torchid_two_nn),
    "skdim-mle": ("scikit-dimension", "MLE", skdim_mle),
    "torchid-mle": ("torchid", "MLE", torchid_mle),
}


def work(name: str, data: Path) -> None:
    """In the process of one program: print what it took, and the value, as a line of JSON."""
    package, _, make = JOBS[name]
    X = np.load(data)
    call = make()
    best = float("inf")
    for at in range(4):
        started = time.process_time()
        value = float(call(X))
        best = min(best, time.process_time() - started)
        if at and best > LONG:
            break
    print(json.dumps({"version": metadata.version(package), "processor_s": best, "value": value}))


def measured(name: str, interpreter: str, data: Path) -> dict[str, Any]:
    command = [interpreter, str(Path(__file__).resolve()), "--work", name, "--data", str(data)]
    done = subprocess.run(
        command, env=os.environ | ONE_THREAD, capture_output=True, encoding="utf-8", check=False
    )
    if done.returncode != 0:
        return {"left_out": done.stderr.strip().rpartition("\n")[2]}
    found: dict[str, Any] = json.loads(done.stdout.strip().rpartition("\n")[2])
    return found


def table(report: dict[str, Any]) -> str:
    """The table of the paper."""
    ours = report["geodim"]["processor_s"]
    size = f"{report['points']:,} points with {report['columns']} columns"
    lines = [
        "| program | quantity | value | processor seconds | times the first row's |",
        "|---|---|---:|---:|---:|",
    ]
    for name, (package, quantity, _) in JOBS.items():
        row = report.get(name, {"left_out": ""})
        if "left_out" in row:
            lines.append(f"| {package} | {quantity} | not measured | | |")
            continue
        seconds = row["processor_s"]
        value = row["dimension" if "dimension" in row else "value"]
        numbers = f"{value:.4f} | {seconds:.3g} | {seconds / ours:.3g}"
        lines.append(f"| {package} {row['version']} | {quantity} | {numbers} |")
    lines += ["", f"Table: {size} of standard normal values, one thread of {report['machine']['cpu']}."]
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--points", type=int, default=20_000)
    parser.add_argument("--columns", type=int, default=32)
    parser.add_argument(
        "--python", action="append", default=[], metavar="PACKAGE=PATH", help="who has that package"
    )
    parser.add_argument("--table", action="store_true")
    parser.add_argument("--work", help=argparse.SUPPRESS)
    parser.add_argument("--data", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.work:
        work(options.work, options.data)
        return
    if not options.table:
        RESULTS.write_text(json.dumps(compared(options), indent=1) + "\n", encoding="utf-8")
    before, _, rest = PAPER.read_text(encoding="utf-8").partition(BEGIN)
    after = rest.partition(END)[2]
    made = table(json.loads(RESULTS.read_text(encoding="utf-8")))
    PAPER.write_text(before + BEGIN + made + END + after, encoding="utf-8")


def compared(options: argparse.Namespace) -> dict[str, Any]:
    from engine import machine

    interpreters = dict(one.split("=", 1) for one in options.python)
    report: dict[str, Any] = {"machine": machine(), "points": options.points, "columns": options.columns}
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder, "points.npy")
        np.save(data, np.random.default_rng(0).normal(size=(options.points, options.columns)))
        for name, (package, quantity, _) in JOBS.items():
            row = measured(name, interpreters.get(package, sys.executable), data)
            if "value" in row and quantity == EXACT:
                row["dimension"] = row.pop("value")
                difference = abs(row["dimension"] / report.get("geodim", row)["dimension"] - 1.0)
                assert difference <= CLOSE, (name, row)
                if name != "geodim":
                    row["times_as_fast"] = row["processor_s"] / report["geodim"]["processor_s"]
                    row["relative_difference"] = difference
            report[name] = row
            print(name, row, flush=True)
    return report


if __name__ == "__main__":
    main()
