"""Mutants of the kernels, bounds and hops: which small changes of the code does the suite not notice?  ``make mutants``.

Cosmic Ray changes an operator, a comparison or a number at a time, in a copy of the source, and runs quick comparisons with the
oracles, with kernels interpreted.  A sample is drawn from every module.  What survives is listed for a person to judge:
docs/results/mutants.md says what they are.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import subprocess
import sys
import warnings
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).parents[1]
MODULES = [
    *(f"engine/kernels/{name}.py" for name in ("cells", "columns", "gaps", "grid", "pyramid", "reading", "runs", "sorting", "tiles")),
    "engine/profile.py", "engine/cells.py", "engine/steps.py", "data/checks.py", "features/_kernels.py",
    "features/operators.py", "khop.py",
]  # fmt: skip
CASES = {
    "dense": 50,
    "sparse": 12,
    "rtol": 25,
    "stopped": 25,
    "weights": 12,
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
CONFIG = """
[cosmic-ray]
module-path = {modules}
timeout = {timeout}.0
excluded-modules = []
test-command = "{python} tests/mutants.py --check"

[cosmic-ray.distributor]
name = "local"
"""


def prepared(folder: Path, timeout: int) -> Path:
    """A copy of what is needed, and the configuration."""
    shutil.rmtree(folder, ignore_errors=True)
    ignored = shutil.ignore_patterns("__pycache__")
    for name in ("src", "tests"):
        shutil.copytree(ROOT / name, folder / name, ignore=ignored)
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


def check() -> None:
    """What a mutant must get past: quick comparisons with the oracles, with kernels interpreted."""
    import interpreted

    interpreted.replace_vectors()
    warnings.simplefilter("ignore")
    import pytest
    from hypothesis import settings

    from engine import test_cells, test_kernels as kernels
    from oracles.cases import run_case
    from oracles.comparing import Tally
    from oracles.test_campaign import NOT_YET

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
    for operator, d in (("sym", 19), ("rw", 8), ("ppr", 3), ("heat", 3), ("matrix", 8)):
        kernels.test_hop_features(operator, np.float64, d)
    kernels.test_means_of_equal_values_are_those_values()
    for kind, count in CASES.items():
        for number in range(count):
            run_case(1, number, Tally(), NOT_YET, kind)
    settings.register_profile("mutants", max_examples=15, deadline=None, database=None, derandomize=True)
    settings.load_profile("mutants")
    for name, test in vars(test_cells).items():
        if name.startswith("test_") and hasattr(test, "hypothesis"):
            settings(max_examples=15, deadline=None, database=None, derandomize=True)(test)()


def main() -> int:
    """Run it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--number", type=int, default=20, help="mutants of every module (default: 20)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--timeout", type=int, default=90, help="seconds after which a mutant counts as noticed"
    )
    parser.add_argument("--folder", type=Path, default=ROOT / "build" / "mutants")
    parser.add_argument("--report", action="store_true", help="only say what an earlier run found so far")
    parser.add_argument("--check", action="store_true", help="what a mutant must get past")
    options = parser.parse_args()
    if options.check:
        check()
        return 0
    session = options.folder / "session.sqlite"
    if not options.report:
        config = prepared(options.folder, options.timeout)
        environment = {
            **os.environ,
            "NUMBA_DISABLE_JIT": "1",
            "PYTHONPATH": f"{options.folder / 'src'}:{options.folder / 'tests'}",
        }
        cosmic = [sys.executable, "-m", "cosmic_ray.cli"]
        subprocess.run(
            [*cosmic, "init", config.name, session.name], cwd=options.folder, env=environment, check=True
        )
        sample(session, options.number, options.seed)
        subprocess.run(
            [*cosmic, "exec", config.name, session.name], cwd=options.folder, env=environment, check=True
        )
    found = outcome(session)
    print(json.dumps(found, indent=1))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
