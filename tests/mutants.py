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
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
MODULES = [
    *(f"engine/kernels/{name}.py" for name in ("cells", "columns", "gaps", "grid", "pyramid", "reading", "runs", "sorting", "tiles")),
    "engine/profile.py", "engine/cells.py", "engine/steps.py", "data/checks.py", "features/_kernels.py",
    "features/operators.py", "khop.py",
]  # fmt: skip
TESTS = "tests/engine/test_kernels.py tests/oracles/test_campaign.py tests/engine/test_cells.py"
CHOSEN = "not dask and not frames and not short and not what-if and not select and not explain and not json"
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
test-command = "{python} -m pytest -x -q -p no:cacheprovider --seed 1 {tests} -k '{chosen}'"

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
    text = CONFIG.format(modules=modules, timeout=timeout, python=sys.executable, tests=TESTS, chosen=CHOSEN)
    config.write_text(text, encoding="utf-8")
    return config


def sample(session: Path, number: int, seed: int) -> None:
    """Keep so many mutants of every module; the others are marked as skipped."""
    from cosmic_ray.work_db import use_db
    from cosmic_ray.work_item import WorkerOutcome, WorkResult

    with use_db(str(session)) as database:
        by_module = defaultdict(list)
        for item in database.work_items:
            mutation = item.mutations[0]
            if any(name in mutation.operator_name for name in OPERATORS):
                by_module[str(mutation.module_path)].append(item.job_id)
        draw = random.Random(seed)
        kept = {
            job for jobs in by_module.values() for job in draw.sample(sorted(jobs), min(number, len(jobs)))
        }
        skipped = WorkResult(output=None, test_outcome=None, diff=None, worker_outcome=WorkerOutcome.SKIPPED)
        for item in list(database.work_items):
            if item.job_id not in kept:
                database.set_result(item.job_id, skipped)


def outcome(session: Path) -> dict[str, Any]:
    """Counts for every module, and the survivors."""
    from cosmic_ray.work_db import use_db
    from cosmic_ray.work_item import WorkerOutcome

    counts: dict[str, Counter[str]] = defaultdict(Counter)
    survivors = []
    with use_db(str(session), mode=use_db.__globals__["WorkDB"].Mode.open) as database:
        items = {item.job_id: item.mutations[0] for item in database.work_items}
        for job, result in database.results:
            if result.worker_outcome == WorkerOutcome.SKIPPED:
                continue
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
    options = parser.parse_args()
    session = options.folder / "session.sqlite"
    if not options.report:
        config = prepared(options.folder, options.timeout)
        environment = {**os.environ, "NUMBA_DISABLE_JIT": "1", "PYTHONPATH": str(options.folder / "src")}
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
