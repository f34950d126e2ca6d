"""Some hundred damaged files per run; `make fuzz` takes a million."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from costs import slow
from fuzz.harness import Target, fuzz, mutated
from fuzz.registry import targets

TESTS = Path(__file__).parents[1]

pytestmark = pytest.mark.skipif(
    not Path("/proc/self/statm").exists(), reason="memory is limited as Linux does"
)


@pytest.mark.parametrize("number", [150, slow(5000)])  # of all targets together
def test_damaged_files_are_read_or_refused_by_name(number):
    """In a process of its own: what is forked should have no threads."""
    command = [sys.executable, "-m", "fuzz.run", "--number", str(number), "--processes", "1"]
    paths = os.pathsep.join([str(TESTS), *filter(None, sys.path)])
    done = subprocess.run(
        command, capture_output=True, text=True, env={**os.environ, "PYTHONPATH": paths}, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert all(name in done.stdout for name in targets())


@pytest.mark.parametrize("name", sorted(targets()))
def test_two_numbers_repeat_an_input(name):
    target = targets()[name]
    for index in (0, 17):
        one, two = (mutated(target, target.seeds(), 3, index) for _ in range(2))
        assert (one.name, one.files, one.done) == (two.name, two.files, two.done)


def _attempt_badly(path: Path) -> None:
    """Does on the first byte what no reader may do."""
    first = path.read_bytes()[:1]
    if first == b"c":
        os.abort()
    if first == b"h":
        while True:
            pass
    if first == b"u":
        raise KeyError(path.name)
    if first == b"r":
        os.system("true")
    if first == b"m":
        bytearray(1 << 33)


BAD = Target("bad", lambda folder: (folder / "fine").write_bytes(b"fine"), _attempt_badly)


# That it has threads, which the worker does not need.
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_the_harness_notices_what_it_is_for(monkeypatch):
    def first_byte(_target, seeds, _seed, index):
        made = seeds[0].copy()
        made.files[""] = (b"c", b"h", b"u", b"r", b"m", b"f")[index : index + 1][0]
        return made

    monkeypatch.setattr("fuzz.harness.mutated", first_byte)
    monkeypatch.setattr("fuzz.harness.SECONDS", 0.7)
    tally = fuzz(BAD, 6, processes=1)
    assert [kind for _, kind, _ in tally.findings] == ["crash", "hang", "untyped", "code ran", "untyped"]
    assert tally.outcomes["read"] == 1
    assert sum("FINDING" in line for line in tally.lines()) == 5
