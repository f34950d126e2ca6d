"""The page on alerts names every code, with its severity, and nothing else."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from geodim.alerts import CODES
from geodim.alerts.alert import SEVERITIES

PAGE = Path(__file__).parents[2] / "docs" / "alerts.md"


@pytest.mark.skipif(not PAGE.is_file(), reason="the documentation is not beside the tests")
def test_every_code_has_a_row():
    rows = re.findall(r"^\| `([a-z-]+)` \| (\w+) \|", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    assert sorted(code for code, _ in rows) == sorted(CODES)
    assert {severity for _, severity in rows} == set(SEVERITIES)
