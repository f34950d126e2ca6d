"""`Alert`: one finding."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

__all__ = ["CODES", "NOTE", "SEVERITIES", "WARNING", "Alert", "finite"]

WARNING, NOTE = "warning", "note"
SEVERITIES = (WARNING, NOTE)
CODES = {
    "all-equal": "no feature tells any two points apart",
    "few-points": "so few points that each of them matters",
    "wide-bounds": "the bounds are too far apart to conclude anything",
    "outliers": "a handful of points set d_max, by which everything is divided",
    "row-number": "a column that counts the rows, or names them, decides",
    "timestamp": "a column of dates or times decides",
    "units": "ranges differ so much that the unit of a few columns decides",
    "one-column": "one column decides",
    "constant-columns": "columns with one value only",
    "equal-columns": "columns that repeat another",
    "equal-rows": "many points that equal another",
    "ties": "columns tie, and the shares follow a rule instead of the data",
    "row-normalised": "attributes of every node were divided by their sum",
}


def finite(value: float) -> float | str:
    """Return a number as the evidence holds it: JSON has no infinity."""
    return value if math.isfinite(value) else "inf"


@dataclass(frozen=True)
class Alert:
    """A finding to consider before the number is trusted.

    Attributes
    ----------
    code : str
        The kind of finding, one of `CODES`; stable across versions.
    severity : {"warning", "note"}
        "warning": the number is probably not what was wanted. "note": it is correct but easily misread.
    message : str
        What was found, with the numbers.
    evidence : dict
        The same numbers and names, for programs.
    way_out : str
        What to do about it.

    Examples
    --------
    >>> import numpy as np
    >>> import geodim
    >>> X = np.column_stack([np.arange(100) % 7, 1e6 * np.arange(100)])
    >>> for alert in geodim.intrinsic_dimension(X).alerts:
    ...     print(alert.code, alert.severity)
    row-number warning
    """

    code: str
    severity: str
    message: str
    evidence: dict[str, Any] = field(default_factory=dict)
    way_out: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON."""
        return {
            "code": self.code,
            "severity": self.severity,
            "message": self.message,
            "evidence": self.evidence,
            "way_out": self.way_out,
        }

    def __str__(self) -> str:
        return f"{self.severity}: {self.message}" + (f" {self.way_out}" if self.way_out else "")
