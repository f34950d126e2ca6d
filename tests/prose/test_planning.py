"""The table of docs/planning.md is what is planned today."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


def test_the_saved_plans_are_those_of_now():
    """From 10^4 to 10^10 points, by stated rates: `python benchmarks/planning.py --only` saves them again.

    In a process of its own, since tests have a module of the same name as one of the benchmarks.
    """
    program = "import json, planning; print(json.dumps(planning.regimes()))"
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=BENCHMARKS, capture_output=True, text=True, check=True
    )
    saved = json.loads((BENCHMARKS / "results/planning.json").read_text(encoding="utf-8"))["regimes"]
    assert saved == json.loads(done.stdout)
