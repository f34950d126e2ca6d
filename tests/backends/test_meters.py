"""What a computation took is told in bytes, or not at all; never as less than nothing."""

from __future__ import annotations

import pytest

from geodim.backends import meters
from geodim.backends.meters import ProcessMeter


@pytest.mark.parametrize(
    ("held", "peaks", "taken"),
    [
        (100, (120, 170), 70),
        (100, (120, 120), None),  # an earlier peak hides this one
        (100, (80, 90), None),  # two counters of the system that do not agree
        (None, (80, 90), None),
        (100, (None, None), None),
    ],
)
def test_beyond_what_was_held(monkeypatch, held, peaks, taken):
    told = iter(peaks)
    monkeypatch.setattr(meters, "resident_memory", lambda: held)
    monkeypatch.setattr(meters, "peak_resident_memory", lambda: next(told))
    assert ProcessMeter().taken() == taken
