"""A few faults of each kind; ``make faults`` injects many."""

from __future__ import annotations

import random
import sys

import pytest

from faults.inject import Tally, full_disks, kills, references
from faults.jobs import half_written, jobs

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals and limits of Unix")


def test_killed_and_on_a_full_disk(tmp_path):
    which = [job for job in jobs() if job.name == "hops"]
    tally = Tally()
    references(tmp_path, which)
    kills(tmp_path, which, 2, random.Random(0), tally)
    full_disks(tmp_path, which, tally)
    assert tally.wrong == []
    assert tally.done["hits"] == 2
    assert tally.done["answers the same as undisturbed"] >= 2  # also where the signal came too late
    assert tally.done["size limit: old outputs kept"] == 1


def test_what_is_not_whole_is_seen(tmp_path):
    (tmp_path / "a.json").write_text('{"a": 1')
    (tmp_path / "b.json").write_text('{"a": 1}\n')
    (tmp_path / "c.npz").write_bytes(b"PK\x03\x04")
    (tmp_path / "d.html").write_text("<html>")
    assert sorted(half_written(tmp_path)) == ["a.json", "c.npz", "d.html"]
