"""
A graph
=======

Your points are the nodes of a graph, and each node has attributes.  A graph neural network would aggregate
them over neighbourhoods.  In this lesson you will find out, before anything is trained, how many rounds of
aggregation are worth it.

The graph is Cora: 2,708 scientific papers, joined where one cites another, with 1,433 words as
attributes.  It comes with geodim, so nothing is downloaded.
"""

# %%
# Load the graph
# --------------
# Your own graph can be an edge list in an array or a file, a sparse matrix, or a PyTorch Geometric or
# networkx graph.

import matplotlib.pyplot as plt

import geodim

cora = geodim.load_dataset("cora")
print(f"{cora.x.shape[0]:,} nodes with {cora.x.shape[1]:,} attributes")

# %%
# All hops at once
# ----------------
# With k hops, the features of a node are its own attributes and those aggregated over one, two, up to k
# steps of its neighbourhood.  One call computes the intrinsic dimension for every k, each with certified
# bounds.

result = geodim.khop_dimensions(cora.x, cora.edge_index, hops=5)
for k, dimension in enumerate(result.dimensions):
    print(f"{k} hops: {dimension:.4f}")

# %%
# These are the values that the paper prints for Cora.  The lower the dimension, the better the features
# tell the nodes apart: the words alone leave many papers looking alike, and the words of their neighbours
# help.

figure, ax = plt.subplots(layout="constrained")
result.plot(ax=ax)
plt.show()

# %%
# How many hops?
# --------------
# The first hop brings most of the drop, the second a little more, and the rest next to nothing.
# ``advise`` puts this into words, together with what the advice rests on and where it may fail.

print(geodim.advise(result))

# %%
# Which words do the work?
# ------------------------
# Each result for a single k is like the result for a table: it has shares, a curve and a JSON form.
# Columns are named by the hop and the attribute.

one_hop = result[1]
for name, share in list(one_hop.shares.items())[:5]:
    print(f"{share:6.1%}  {name}")

# %%
# Where to go next
# ----------------
# * :doc:`embedding`: vectors whose axes have no meaning of their own.
# * :doc:`/gallery/plot_choose_hops` trains networks and compares the advice with their accuracy.
# * ``geodim hops cora --report cora.html`` does the same on the command line.
