"""
A table
=======

You have a table of measurements: one row per object, one column per feature.  In this lesson you will
measure how well the columns tell the objects apart, find out which columns do the work, and keep only
those that matter.

The table is the wine data that comes with scikit-learn: 178 wines, 13 chemical measurements of each.
"""

# %%
# Load the data
# -------------
# Any table will do: a NumPy array, a pandas, polars or pyarrow frame, a CSV or Parquet file.  The names of
# the columns are kept wherever the table has them.

from textwrap import fill

import matplotlib.pyplot as plt
from sklearn.datasets import load_wine

import geodim

wines = load_wine(as_frame=True).data
print(wines.iloc[:3, :5])

# %%
# The first number
# ----------------
# One call computes the intrinsic dimension, exactly.

result = geodim.intrinsic_dimension(wines)
print(f"intrinsic dimension {result.dimension:.2f}")
for alert in result.alerts:
    print(fill(f"{alert.severity}: {alert.message} {alert.way_out}", 80))

# %%
# A result watches for the ways in which it could be misread, and here it raises an alert.  By default all
# columns are divided by the largest range of any of them.  Proline has by far the largest
# numbers, so proline decides alone, and this first number is about proline.
#
# Columns in different units need units of their own.  ``scale="range"`` divides each column by its own
# range.

result = geodim.intrinsic_dimension(wines, scale="range")
print(f"intrinsic dimension {result.dimension:.2f}; alerts: {len(result.alerts)}")

# %%
# Is that low or high?
# --------------------
# A low number means that the features spread the points widely; a high number means that they crowd them
# together.  It is not a count of coordinates.  The gauge sets the result among tables of the same size
# whose columns have a known shape.

print(result.gauge)

# %%
# The wines are spread better than they would be by normally distributed columns, and not as well as by
# uniform ones.

# %%
# Which columns do the work?
# --------------------------
# What a column is worth is what its removal costs: the dimension of all others together.

removal = geodim.explain_dimension(wines, scale="range").removal
for name, cost in removal.costs.items():
    print(f"{cost:+6.2f}  without {name}")

# %%
# For every number of points k, one column spreads its narrowest k points the widest.  The share of a
# column says how much of the whole it contributes that way; where several are equally wide, the first of
# them has the share.

for name, share in result.shares.items():
    print(f"{share:6.1%}  {name}")

# %%
# The curve shows the same.  Its height is how widely the best column still spreads a given fraction of the
# points; the area under it is the discriminability :math:`\Delta`, and the dimension is
# :math:`1/\Delta^2`.

figure, ax = plt.subplots(layout="constrained")
result.plot(ax=ax)
plt.show()

# %%
# Keep what matters
# -----------------
# Selection adds one column at a time, always the one that gains the most.

selection = geodim.select_features(wines, 4, scale="range")
for name, kept in zip(selection.names, selection.fractions, strict=True):
    print(f"{kept:6.1%} of the discriminability with {name}")

# %%
# Four of the thirteen columns keep nearly all of it.
#
# Where to go next
# ----------------
# * :doc:`graph`: points that are the nodes of a graph.
# * :doc:`/reading` explains what moves the number, and what it cannot tell you.
# * ``geodim compute wines.csv --scale range --report wines.html`` does all of this on the command line,
#   for a file.
