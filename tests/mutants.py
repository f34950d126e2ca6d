"""Which small changes of the kernels, bounds and hops does the suite not notice?  ``make mutants``.

Cosmic Ray changes an operator, a comparison or a number at a time, in a copy of the source.  First come the
contracts of the kernels and quick comparisons with the oracles, with kernels interpreted; what gets past
these is compiled, for the tests of its module.  More time or memory than a check may take counts as
noticed.  A sample is drawn from every module.  What survives is listed for a person to judge:
docs/results/mutants.md says what they are.
"""

from __future__ import annotations

import argparse
import difflib
import functools
import json
import os
import random
import resource
import shutil
import subprocess
import sys
import tempfile
import warnings
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest

ROOT = Path(__file__).parents[1]
MODULES = [
    *(f"engine/kernels/{name}.py" for name in ("cells", "columns", "dealing", "gaps", "pyramid",
                                               "reading", "runs", "sorting", "straight", "tiles")),
    "engine/profile.py", "engine/cells.py", "engine/steps.py", "data/checks.py", "features/_kernels.py",
    "features/operators.py", "khop.py",
]  # fmt: skip
# Of the oracle campaign.
CASES = {
    "dense": 30,
    "sparse": 8,
    "rtol": 20,
    "stopped": 20,
    "weights": 8,
    "hops": 25,
}
COLUMNS = (
    "normal", "exponential", "two_clusters", "rounded", "half_zero", "sparse_both_signs", "grid_jitter_third",
    "linspace", "duplicates", "two_scales", "heavy_offset", "signed_zeros_32", "constant_but_a_few",
    "integers_below_n",
)  # fmt: skip
# Changes that a person might make: others, as of + into <<, of < into is, or of how a kernel
# is compiled, say nothing.
OPERATORS = (
    "Add_Sub", "Sub_Add", "Mul_Div", "Div_Mul", "Mul_Add", "ReplaceComparisonOperator", "NumberReplacer",
    "AddNot", "ReplaceAndWithOr", "ReplaceOrWithAnd", "ReplaceBreakWithContinue", "ReplaceContinueWithBreak",
    "ReplaceUnaryOperator", "ReplaceTrueWithFalse", "ReplaceFalseWithTrue",
)  # fmt: skip
ENGINE = [
    f"tests/engine/test_{name}.py"
    for name in ("exact", "rounding", "tolerance", "anytime", "profile", "sorter", "cells")
]
HOPS = [
    "tests/features/test_operators.py",
    "tests/features/test_rounding.py",
    "tests/features/test_hops.py",
    "tests/test_khop.py",
]
TESTS = {  # of a module, by how its name begins
    "engine/": ENGINE,
    "data/checks": [
        "tests/data/test_checks.py",
        "tests/data/test_sources.py",
        "tests/engine/test_anytime.py",
        *ENGINE[:2],
    ],
    "features/": HOPS,
    "khop": [*HOPS, "tests/test_khop_stops.py", "tests/test_khop_definition.py"],
}
MEMORY = 4 << 30  # bytes of data that a check may take: one mutant asked for twenty thousand million
CONFIG = """
[cosmic-ray]
module-path = {modules}
timeout = 1.0
excluded-modules = []
test-command = "not run by Cosmic Ray, which only makes the mutants"

[cosmic-ray.distributor]
name = "local"
"""


def prepared(folder: Path) -> Path:
    """A copy of what is needed, and the mutants."""
    shutil.rmtree(folder, ignore_errors=True)
    ignored = shutil.ignore_patterns("__pycache__")
    for name in ("src", "tests"):
        shutil.copytree(ROOT / name, folder / name, ignore=ignored)
    shutil.copy(ROOT / "pyproject.toml", folder)
    modules = json.dumps([f"src/geodim/{name}" for name in MODULES])
    (folder / "mutants.toml").write_text(CONFIG.format(modules=modules), encoding="utf-8")
    session = folder / "session.sqlite"
    command = [sys.executable, "-m", "cosmic_ray.cli", "init", "mutants.toml", session.name]
    subprocess.run(command, cwd=folder, check=True)
    return session


def sample(session: Path, number: int, seed: int) -> list[Any]:
    """So many mutants of every module; further seeds give others."""
    from cosmic_ray.work_db import use_db

    by_module = defaultdict(list)
    with use_db(str(session)) as database:
        for item in database.work_items:
            mutation = item.mutations[0]
            name = mutation.operator_name
            line = lines_of(session.parent / mutation.module_path)[mutation.start_pos[0] - 1].lstrip()
            if any(one in name for one in OPERATORS) and "_Is" not in name and not line.startswith("@"):
                by_module[str(mutation.module_path)].append(mutation)
    draw = random.Random(seed)
    return [one for items in by_module.values() for one in draw.sample(items, min(number, len(items)))]


@functools.cache
def lines_of(path: Path) -> list[str]:
    """The lines of a module."""
    return path.read_text(encoding="utf-8").splitlines()


def judge(mutation: Any, folder: Path, options: argparse.Namespace) -> dict[str, Any]:
    """Put a mutant in its place, and see what notices it."""
    from cosmic_ray.mutating import use_mutation
    from cosmic_ray.plugins import get_operator

    module = str(mutation.module_path).partition("geodim/")[2]
    operator = get_operator(mutation.operator_name)(**getattr(mutation, "operator_args", {}))
    with use_mutation(folder / mutation.module_path, operator, mutation.occurrence) as (before, after):
        lines = difflib.unified_diff(before.splitlines(), after.splitlines(), lineterm="", n=0)
        change = [line.strip() for line in lines if line[:1] in "+-" and line[:3] not in ("+++", "---")]
        noticed = noticed_by(module, folder, options)
    return {"module": module, "line": mutation.start_pos[0], "change": change, "noticed": noticed}


def noticed_by(module: str, folder: Path, options: argparse.Namespace) -> str:
    """What notices the mutant: the quick check, the tests of its module, or nothing."""
    environment = {**os.environ, "PYTHONPATH": f"{folder / 'src'}:{folder / 'tests'}"}
    quick = [sys.executable, "tests/mutants.py", "--quick", module]
    if not passes(quick, folder, {**environment, "NUMBA_DISABLE_JIT": "1"}, options.timeout):
        return "the quick check"
    tests = next((tests for name, tests in TESTS.items() if module.startswith(name)), [])
    if not tests or options.only_quick:
        return ""
    # An empty cache: kernels are not compiled anew by themselves where one of another module
    # that they call has changed.
    with tempfile.TemporaryDirectory() as cache:
        command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", "-m", "", *tests]
        passed = passes(command, folder, {**environment, "NUMBA_CACHE_DIR": cache}, 10 * options.timeout)
    return "" if passed else "the tests of its module"


def passes(command: list[str], folder: Path, environment: dict[str, str], timeout: int) -> bool:
    """Whether a command ends well; more time or memory than it may take is no good end."""

    def limited() -> None:
        resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))

    try:
        done = subprocess.run(
            command,
            cwd=folder,
            env=environment,
            timeout=timeout,
            preexec_fn=limited,
            capture_output=True,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return False
    return done.returncode == 0


def quick_check(module: str) -> None:
    """Contracts, and quick comparisons with the oracles, that reach the module.

    The kernels are interpreted.
    """
    import interpreted

    interpreted.replace_vectors()
    if not module.startswith(("features/", "khop")):
        contracts = map(str, (ROOT / "tests" / "engine").glob("test_contracts*.py"))
        if pytest.main(["-x", "-q", "-p", "no:cacheprovider", *contracts]):
            raise SystemExit(1)
        warnings.simplefilter("ignore")
        check_columns()
    warnings.simplefilter("ignore")
    if not module.startswith("engine/"):
        check_hops()


def check_cases(*kinds: str) -> None:
    """Some cases of the oracle campaign."""
    from oracles.cases import run_case
    from oracles.comparing import Tally

    for kind in kinds:
        for number in range(CASES[kind]):
            run_case(1, number, Tally(), frozenset(), kind)


def check_columns() -> None:
    """Columns of all kinds, by all ways to solve them."""
    from hypothesis import settings

    from engine import test_cells, test_kernels as kernels

    for name in COLUMNS:
        kernels.test_every_kind_of_column(name)
    kernels.test_alike_columns()
    kernels.test_sparse_and_weighted()
    kernels.test_grid_like_columns()
    with pytest.MonkeyPatch.context() as patch:
        kernels.test_radix_sort_of_short_columns(patch, np.float32)
        kernels.test_radix_sort_of_short_columns(patch, np.float64)
    with pytest.MonkeyPatch.context() as patch:
        kernels.test_every_gap_a_piece(patch, "normal")
    check_cases("dense", "sparse", "rtol", "stopped", "weights")
    for name, test in vars(test_cells).items():
        if name.startswith("test_") and hasattr(test, "hypothesis"):
            settings(max_examples=15, deadline=None, database=None, derandomize=True)(test)()


def check_hops() -> None:
    """Hops of all kinds."""
    from engine import test_kernels as kernels

    for operator, d in (("sym", 19), ("rw", 8), ("ppr", 3), ("heat", 3), ("matrix", 8)):
        kernels.test_hop_features(operator, np.float64, d)
    kernels.test_means_of_equal_values_are_those_values()
    check_cases("hops")


def main() -> int:
    """Run it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--number", type=int, default=8, help="mutants of every module (default: 8)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--timeout",
        type=int,
        default=90,
        help="seconds of the quick check after which a mutant counts as noticed",
    )
    parser.add_argument("--folder", type=Path, default=ROOT / "build" / "mutants")
    parser.add_argument("--only-quick", action="store_true", help="without the tests of the module, compiled")
    parser.add_argument("--quick", metavar="MODULE", help="what a mutant must get past first, interpreted")
    options = parser.parse_args()
    if options.quick is not None:
        quick_check(options.quick)
        return 0
    session = prepared(options.folder)
    for module in ("engine/", "khop"):
        if noticed_by(module, options.folder, options):  # or all mutants would seem to be noticed
            print(f"the unchanged code does not pass the check of {module}", file=sys.stderr)
            return 1
    with (options.folder / "judged.jsonl").open("w", encoding="utf-8") as log:
        for mutation in sample(session, options.number, options.seed):
            judged = judge(mutation, options.folder, options)
            log.write(json.dumps(judged) + "\n")
            log.flush()
            print(
                judged["module"],
                judged["line"],
                judged["noticed"] or "NOT NOTICED",
                *judged["change"],
                sep="\n  ",
                flush=True,
            )
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
