"""Fair comparisons: the dimension against the number of points, and data sets at equal numbers of points.

`subsampled_dimensions` measures random parts of the points, of increasing size; `compare` says what differs
between data sets, measures all of them on equally many points, and only then which is lower;
`shuffled_reference` sets the data's own columns, shuffled, beside distances and directions.
"""

from __future__ import annotations

from geodim.sampling.comparison import Comparison, compare
from geodim.sampling.curve import SampleCurve, subsampled_dimensions
from geodim.sampling.shuffled import shuffled_reference

__all__ = ["Comparison", "SampleCurve", "compare", "shuffled_reference", "subsampled_dimensions"]
