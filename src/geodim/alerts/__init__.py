"""Alerts: what a result does not show by itself, and what would mislead a reader of the number alone.

`find_alerts` looks at the ranges of the columns, at a few rows and at the result, all of which are available:
nothing is read or sorted again.  Each finding has a code, a severity, a sentence, the numbers it rests on,
and a way out.
"""

from __future__ import annotations

from geodim.alerts.alert import CODES, NOTE, WARNING, Alert
from geodim.alerts.find import find_alerts

__all__ = ["CODES", "NOTE", "WARNING", "Alert", "find_alerts"]
