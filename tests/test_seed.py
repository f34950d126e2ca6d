"""The seed of the day: printed at the start and on failure, and enough to repeat a run."""

from __future__ import annotations

import os
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

TESTS = Path(__file__).parent
RANDOM = """
from hypothesis import given, strategies as st

def test_generator(rng):
    print("drawn", rng.integers(2**40))
    assert False

@given(st.integers(0, 2**40))
def test_examples(number):
    print("example", number)
    assert number < 1000

def test_without():
    assert False
"""


def run(folder: Path, *options: str, **environment: str) -> str:
    """What pytest prints about random tests that fail; only the plugin that they need is loaded."""
    (folder / "test_random.py").write_text(RANDOM)
    plugins = ["-p", "_hypothesis_pytestplugin", "-p", "conftest", "-p", "no:cacheprovider"]
    command = [sys.executable, "-m", "pytest", *plugins, "-rN", *options]
    kept = {**os.environ, "PYTHONPATH": str(TESTS), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    environment = {**kept, **environment}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 1, done.stdout + done.stderr
    return done.stdout


def lines(output: str, word: str) -> list[str]:
    return [line for line in output.splitlines() if line.startswith(word)]


def test_a_seed_repeats_a_run_and_is_today_by_default(tmp_path):
    """Where CI is set, too: there Hypothesis has a profile without a seed."""
    first, again = (run(tmp_path, "--seed", "17", CI=ci) for ci in ("", "true"))
    before = f"{datetime.now(UTC):%Y%m%d}"
    other = run(tmp_path, CI="true")
    assert any(f"--seed {day}" in other for day in (before, f"{datetime.now(UTC):%Y%m%d}"))
    assert "seed of the random tests: 17 (repeat them with --seed)" in first
    for word in ("drawn", "example"):
        assert lines(first, word)
        assert lines(first, word) == lines(again, word) != lines(other, word)
    repeat = lines(first, "repeat with")
    assert repeat == [
        f"repeat with: pytest 'test_random.py::{name}' --seed 17"
        for name in ("test_generator", "test_examples")
    ]
