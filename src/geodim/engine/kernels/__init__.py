"""The compiled inner loops: plain arrays in, plain arrays out, each resting on one stated fact.

Importing this package imports Numba; nothing is compiled before the first call, and what is
compiled is cached on disk.

Names that mean the same everywhere:

* ``l``, a sorted column: float64, in the data's own units, often padded with PADDING infinities.
* ``n``, its points.  A window of k points has the size d = k - 1, from its first point to its last.
* ``phi``, ``known``, ``best``: widths in the units of the column, indexed by d ("over d").  Where points are
  counted in steps, the index is w, a number of steps, and the values are slope w - N(w), or -N(w).
* ``ranges``: half-open intervals of the index at which ``phi`` was written.
* ``c``, a trend: units of the column per index; ``e``, a size counted from the first of its gap.
* ``work``: the counters of `geodim.engine.kernels.counters`.
"""
