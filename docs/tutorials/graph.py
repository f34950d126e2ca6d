"""
A graph
=======

Your points are the nodes of a graph, and each node has attributes.  A graph neural network would aggregate
them over neighbourhoods.  In this lesson you will find out how many rounds of aggregation are worth it,
before you train anything.

The graph is Cora: 2,708 scientific papers with 1,433 words as attributes.  Two papers are joined if one
cites the other.  Cora comes with geodim, so nothing is downloaded.
"""

# %%
# Load the graph
# --------------
# Your own graph can be a list of edges in an array or a file, a sparse matrix, or a graph of PyTorch
# Geometric or networkx.

import matplotlib.pyplot as plt

import geodim

cora = geodim.load_dataset("cora")
print(f"{cora.x.shape[0]:,} nodes with {cora.x.shape[1]:,} attributes")

# %%
# All hops at once
# ----------------
# With k hops, the features of a node are its own attributes, and these attributes averaged over its
# neighbours once, twice, up to k times.  One call computes the intrinsic dimension for every k, with
# certified bounds.

result = geodim.khop_dimensions(cora.x, cora.edge_index, hops=5)
for k, dimension in enumerate(result.dimensions):
    print(f"k = {k}: {dimension:.4f}")

# %%
# The paper prints the same values for Cora.  The lower the dimension, the better the features tell the nodes
# apart: by their own words many papers look alike, and the words of their neighbours help.

figure, ax = plt.subplots(layout="constrained")
result.plot(ax=ax)
plt.show()

# %%
# How many hops?
# --------------
# The first hop brings most of the drop, the second a little more, and the rest next to nothing.
# ``advise`` puts this into words.  It also says what the advice is based on, and where it may fail.

print(geodim.advise(result))

# %%
# Which words do the work?
# ------------------------
# The result for a single k is like the result for a table: it has shares, a curve and a JSON form.  The
# published files of Cora number the words and do not spell them, so the names are numbers: ``1177`` is the
# attribute itself, and ``hop 1: 1177`` is its average over the neighbours.

one_hop = result[1]
for name, share in list(one_hop.shares.items())[:5]:
    print(f"{share:6.1%}  {name}")

# %%
# Where to go next
# ----------------
# * :doc:`embedding`: vectors whose axes have no meaning of their own.
# * :doc:`/gallery/plot_choose_hops` trains networks and compares the advice with their accuracy.
# * ``geodim hops cora --report cora.html`` does the same on the command line, and writes a report (this
#   needs the extra ``report``).
