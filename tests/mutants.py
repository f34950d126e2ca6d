"""Mutants of the kernels, bounds and hops: which small changes of the code does the suite not notice?  ``make mutants``.

Cosmic Ray changes an operator, a comparison or a number at a time, in a copy of the source.  First come the contracts of the kernels and
quick comparisons with the oracles, with kernels interpreted; what gets past these is compiled, for the tests of its module.  More time
or memory than a check may take counts as noticed.  A sample is drawn from every module.  What survives is listed for a person to
judge: docs/results/mutants.md says what they are.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import shutil
import subprocess
import sys
import tempfile
import time
import warnings
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest

ROOT = Path(__file__).parents[1]
MODULES = [
    *(f"engine/kernels/{name}.py" for name in ("cells", "columns", "gaps", "grid", "pyramid", "reading", "runs", "sorting", "tiles")),
    "engine/profile.py", "engine/cells.py", "engine/steps.py", "data/checks.py", "features/_kernels.py",
    "features/operators.py", "khop.py",
]  # fmt: skip
CASES = {
    "dense": 30,
    "sparse": 8,
    "rtol": 20,
    "stopped": 20,
    "weights": 8,
    "hops": 25,
}  # of the oracle campaign
COLUMNS = (
    "normal", "exponential", "two_clusters", "rounded", "half_zero", "sparse_both_signs", "grid_jitter_third", "linspace",
    "duplicates", "two_scales", "heavy_offset", "signed_zeros_32", "constant_but_a_few", "integers_below_n",
)  # fmt: skip
# Changes that a person might make: others, as of + into <<, fail at once and say nothing.
OPERATORS = (
    "Add_Sub", "Sub_Add", "Mul_Div", "Div_Mul", "Mul_Add", "ReplaceComparisonOperator", "NumberReplacer", "AddNot",
    "ReplaceAndWithOr", "ReplaceOrWithAnd", "ReplaceBreakWithContinue", "ReplaceContinueWithBreak",
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
timeout = {timeout}.0
excluded-modules = []
test-command = "{python} tests/mutants.py --check --timeout {timeout}"

[cosmic-ray.distributor]
name = "local"
"""


def prepared(folder: Path, timeout: int) -> Path:
    """A copy of what is needed, and the configuration."""
    shutil.rmtree(folder, ignore_errors=True)
    ignored = shutil.ignore_patterns("__pycache__")
    for name in ("src", "tests"):
        shutil.copytree(ROOT / name, folder / name, ignore=ignored)
    shutil.copytree(ROOT / "src", folder / "original", ignore=ignored)
    shutil.copy(ROOT / "pyproject.toml", folder)
    modules = json.dumps([f"src/geodim/{name}" for name in MODULES])
    config = folder / "mutants.toml"
    text = CONFIG.format(modules=modules, timeout=timeout, python=sys.executable)
    config.write_text(text, encoding="utf-8")
    return config


def sample(session: Path, number: int, seed: int) -> None:
    """Keep so many mutants of every module."""
    from cosmic_ray.work_db import use_db

    with use_db(str(session)) as database:
        by_module = defaultdict(list)
        for item in database.work_items:
            mutation = item.mutations[0]
            if any(name in mutation.operator_name for name in OPERATORS):
                by_module[str(mutation.module_path)].append(item)
        draw = random.Random(seed)
        database.clear()
        for items in by_module.values():
            database.add_work_items(draw.sample(items, min(number, len(items))))


def outcome(session: Path) -> dict[str, Any]:
    """Counts for every module, and the survivors."""
    from cosmic_ray.work_db import WorkDB, use_db

    counts: dict[str, Counter[str]] = defaultdict(Counter)
    survivors = []
    with use_db(str(session), mode=WorkDB.Mode.open) as database:
        items = {item.job_id: item.mutations[0] for item in database.work_items}
        for job, result in database.results:
            mutation = items[job]
            module = str(mutation.module_path).partition("geodim/")[2]
            survived = result.test_outcome is not None and result.test_outcome.value == "survived"
            counts[module]["survived" if survived else "killed"] += 1
            if survived:
                lines = [
                    line
                    for line in (result.diff or "").splitlines()
                    if line[:1] in "+-" and line[:3] not in ("+++", "---")
                ]
                survivors.append({"module": module, "line": mutation.start_pos[0], "change": lines})
    survivors.sort(key=lambda one: (one["module"], one["line"]))
    return {"modules": {name: dict(count) for name, count in sorted(counts.items())}, "survivors": survivors}


def changed_module(folder: Path) -> str:
    """The module that differs from the original; none where nothing was changed."""
    for name in MODULES if (folder / "original").exists() else []:
        if (folder / "original" / "geodim" / name).read_bytes() != (
            folder / "src" / "geodim" / name
        ).read_bytes():
            return name
    return ""


def check(timeout: int) -> None:
    """What a mutant must get past: the quick check, and then the tests of its module, compiled."""
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
    started = time.monotonic()
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1"}
    quick = [sys.executable, "tests/mutants.py", "--quick"]
    subprocess.run(quick, cwd=ROOT, env=environment, check=True, timeout=timeout)
    tests = next((tests for name, tests in TESTS.items() if changed_module(ROOT).startswith(name)), [])
    if not tests or os.environ.get("GEODIM_MUTANTS_QUICK"):
        return
    # An empty cache: kernels are not compiled anew by themselves where one of another module that they call has changed.
    with tempfile.TemporaryDirectory() as cache:
        command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *tests]
        left = timeout - (time.monotonic() - started)
        subprocess.run(
            command, cwd=ROOT, env={**os.environ, "NUMBA_CACHE_DIR": cache}, check=True, timeout=left
        )


def quick_check() -> None:
    """Contracts, and quick comparisons with the oracles, with kernels interpreted: those that reach the module."""
    import interpreted

    interpreted.replace_vectors()
    module = changed_module(ROOT)
    if not module.startswith(("features/", "khop")):
        contracts = str(ROOT / "tests" / "engine" / "test_contracts.py")
        if pytest.main(["-x", "-q", "-p", "no:cacheprovider", contracts]):
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
    parser.add_argument("--number", type=int, default=20, help="mutants of every module (default: 20)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--timeout", type=int, default=600, help="seconds after which a mutant counts as noticed"
    )
    parser.add_argument("--only-quick", action="store_true", help="without the tests of the module, compiled")
    parser.add_argument("--quick", action="store_true", help="what a mutant must get past first, interpreted")
    parser.add_argument("--folder", type=Path, default=ROOT / "build" / "mutants")
    parser.add_argument("--report", action="store_true", help="only say what an earlier run found so far")
    parser.add_argument("--check", action="store_true", help="what a mutant must get past")
    options = parser.parse_args()
    if options.quick:
        quick_check()
        return 0
    if options.check:
        check(options.timeout)
        return 0
    session = options.folder / "session.sqlite"
    if not options.report:
        config = prepared(options.folder, options.timeout)
        environment = {
            **os.environ,
            **({"GEODIM_MUTANTS_QUICK": "1"} if options.only_quick else {}),
            "PYTHONPATH": f"{options.folder / 'src'}:{options.folder / 'tests'}",
        }
        cosmic = [sys.executable, "-m", "cosmic_ray.cli"]
        subprocess.run(
            [*cosmic, "init", config.name, session.name], cwd=options.folder, env=environment, check=True
        )
        sample(session, options.number, options.seed)
        unchanged = [sys.executable, "tests/mutants.py", "--check"]
        subprocess.run(
            unchanged, cwd=options.folder, env=environment, check=True
        )  # or all would seem to be noticed
        subprocess.run(
            [*cosmic, "exec", config.name, session.name], cwd=options.folder, env=environment, check=True
        )
    found = outcome(session)
    print(json.dumps(found, indent=1))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
