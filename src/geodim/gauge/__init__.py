"""The gauge: an intrinsic dimension beside those of well-known columns of the same size.

`reference_marks` gives those of evenly spaced, uniform, normal and Laplace columns; `Gauge` places a result
among them and says in words where it stands.
"""

from __future__ import annotations

from geodim.gauge.gauge import Gauge
from geodim.gauge.marks import Mark, reference_marks

__all__ = ["Gauge", "Mark", "reference_marks"]
