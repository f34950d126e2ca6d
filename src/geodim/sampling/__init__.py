"""What may be compared: the dimension against the number of points, and data sets at equal numbers of them.

`subsampled_dimensions` measures random parts of the points, ever larger ones; `compare` says what differs
between data sets, measures all of them on equally many points, and only then which is lower.
"""

from __future__ import annotations

from geodim.sampling.comparison import Comparison, compare
from geodim.sampling.curve import SampleCurve, subsampled_dimensions

__all__ = ["Comparison", "SampleCurve", "compare", "subsampled_dimensions"]
