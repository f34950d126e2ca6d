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
# Any table will do: a NumPy array, a pandas, polars or pyarrow frame, or a CSV or Parquet file, which
# ``geodim.read_table`` reads.  If the columns have names, geodim uses them.

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
# An alert warns you that a number is easily misread.  Here it is about units.  By default geodim divides all
# columns by the largest range of any column.  Proline has by far the largest numbers, so it decides alone:
# this first number is about proline.
#
# Columns in different units need a scale.  ``scale="range"`` divides each column by its own range.

result = geodim.intrinsic_dimension(wines, scale="range")
print(f"intrinsic dimension {result.dimension:.2f}; alerts: {len(result.alerts)}")

# %%
# Is that low or high?
# --------------------
# A low number means that the features spread the points widely; a high number means that they crowd them
# together.  It is not a count of coordinates.  The gauge compares the result with tables of the same size
# whose columns have a known shape.

print(result.gauge)

# %%
# The measurements spread the wines better than normally distributed columns would, but not as well as
# uniform columns would.

# %%
# Which columns do the work?
# --------------------------
# A column is worth what its removal costs: how much the dimension rises without it.  Columns that are not
# listed cost nothing.

removal = geodim.explain_dimension(wines, scale="range").removal
for name, cost in removal.costs.items():
    print(f"{cost:+6.2f}  without {name}")

# %%
# Another view is the share of a column.  For every number of points k, geodim finds the narrowest window of
# k points in each column, and takes the column whose window is the widest.  The share of a column is its
# part of the sum of these widths.  If several columns tie, the first of them gets the share.

for name, share in result.shares.items():
    print(f"{share:6.1%}  {name}")

# %%
# The curve shows the same.  Its height says how widely the best column still spreads the points when some
# of them may be left out.  The area under the curve is the discriminability :math:`\Delta`, and the
# dimension is :math:`1/\Delta^2`.

figure, ax = plt.subplots(layout="constrained")
result.plot(ax=ax)
plt.show()

# %%
# Keep what matters
# -----------------
# Selection adds one column at a time, always the one that adds most to the discriminability.

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
# * On the command line, save the table first: ``wines.to_csv("wines.csv", index=False)``.  Then
#   ``geodim compute wines.csv --scale range --report wines.html`` measures it and writes a report (this
#   needs the extra ``report``), and ``geodim select wines.csv --scale range -m 4`` selects columns.
