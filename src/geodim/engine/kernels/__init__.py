"""The compiled inner loops: plain arrays in, plain arrays out, each based on one stated fact.

Importing this package imports Numba.  Nothing is compiled before the first call, and compiled code is cached
on disk.

Names with the same meaning everywhere:

* ``l``: a sorted column, float64, in the units of the data, often padded with PADDING infinities.
* ``n``: its number of points.  A window of k points has the size d = k - 1, from its first point to its last.
* ``phi``, ``known``, ``best``: widths in the units of the column, indexed by d ("over d").  Where points are
  counted in steps, the index is w, a number of steps, and the values are slope w - N(w), or -N(w).
* ``ranges``: half-open intervals of the index at which ``phi`` was written.
* ``c``: a trend, in units of the column per index; ``e``: a size relative to the first one of its gap.
* ``work``: the counters of `geodim.engine.kernels.counters`.
"""
