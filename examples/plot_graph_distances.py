"""
Distances along a graph: unrolled rolls and small worlds
=========================================================

The nodes of a graph have a metric of their own: the length of shortest paths.  Here are two uses.  One is
points on a curved sheet, whose distances along the sheet are found by walking from neighbour to neighbour.
The other is a ring that becomes a small world as shortcuts are added.
"""

# %%
# A rolled sheet
# --------------
# 800 points lie on a rectangle that is rolled up in space.  Straight through space, points on neighbouring
# turns are close; along the sheet they are far apart.  We join each point to its eight nearest neighbours, by
# edges as long as they are in space.  The shortest paths then follow the sheet, and the dimension is nearly
# that of the rectangle before it was rolled up, which we know only because we made it.  The number of hops
# alone comes close to it, too.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_swiss_roll
from sklearn.neighbors import kneighbors_graph

import geodim

along = geodim.Distances(metric="shortest_path", edge_weights=True)
NOISE = (0.0, 0.4, 0.8, 1.2)
rows = []
for noise in NOISE:
    points, angle = make_swiss_roll(800, noise=noise, random_state=0)
    near = kneighbors_graph(points, 8, mode="distance")
    near = near.maximum(near.T)
    sheet = np.column_stack(
        [0.5 * (angle * np.sqrt(1 + angle**2) + np.arcsinh(angle)), points[:, 1]]
    )  # its arc length
    rows.append(
        [
            geodim.intrinsic_dimension(points, features="distances").dimension,
            geodim.intrinsic_dimension(sheet, features="distances").dimension,
            geodim.intrinsic_dimension(near, features=along).dimension,
            geodim.intrinsic_dimension(near, features="distances", metric="shortest_path").dimension,
        ]
    )
    through, flat, paths, hops = rows[-1]
    print(
        f"noise {noise:.1f}: through space {through:.2f}, on the sheet {flat:.2f}, "
        f"along the graph {paths:.2f}, in hops {hops:.2f}"
    )

# %%
# Noise blurs the sheet until some points have neighbours on the next turn.  A single such shortcut brings
# whole turns close together, and the dimension jumps to that of space.  What is measured is the graph, so it
# matters how the graph is built.

# %%
# A ring and its shortcuts
# ------------------------
# On a ring, the distances from any node are spread evenly, and the dimension is 4, that of a single evenly
# spread feature.  Each shortcut between two random nodes brings other nodes closer together.  With a hundred
# shortcuts, the 600 nodes are at most 20 hops apart.  Most of them are then about equally far apart, and hard
# to tell apart by distance.

n, rng = 600, np.random.default_rng(0)
node = np.arange(n)
ring = np.column_stack([np.tile(node, 2), np.concatenate([(node + 1) % n, (node + 2) % n])])
SHORTCUTS = (0, 10, 30, 100, 300)
world = []
for count in SHORTCUTS:
    edges = np.concatenate([ring, rng.integers(0, n, (count, 2))])
    result = geodim.intrinsic_dimension(edges, features="distances", metric="shortest_path")
    world.append(result.dimension)
    print(f"{count:5d} shortcuts: dimension {result.dimension:.2f}, {result.d_max:.0f} hops at most")

# %%
# More than one component
# -----------------------
# Without a path there is no distance.  By default this is an error, and its message lists what you can
# choose: the largest component alone, or a distance to use in place of the missing ones.  geodim does not
# choose silently, because the choice is part of the question.

broken = np.concatenate([ring, [[n, n + 1]]])  # two more nodes, joined to each other
try:
    geodim.intrinsic_dimension(broken, features="distances", metric="shortest_path")
except geodim.errors.InputValueError as error:
    print(f"error: {str(error)[:97]}")
for rule in ("component", "beyond"):
    family = geodim.Distances(metric="shortest_path", disconnected=rule)
    print(f"{rule}: {geodim.intrinsic_dimension(broken, features=family).dimension:.2f}")

# %%
# The picture
# -----------

figure, (left, right) = plt.subplots(1, 2, figsize=(10, 3.8), layout="constrained")
labels = ("through space", "on the sheet", "along the graph", "in hops")
for label, values, style in zip(labels, np.transpose(rows), ("C1s-", "k.:", "C0o-", "C2v-"), strict=True):
    left.plot(NOISE, values, style, label=label)
left.set(xlabel="noise", ylabel="intrinsic dimension", ylim=(0, None))
left.set_title("a rolled sheet", fontsize="medium", loc="left")
left.legend(frameon=False)
right.plot(SHORTCUTS, world, "C0o-")
right.set(xscale="symlog", xlabel="shortcuts", ylabel="intrinsic dimension", ylim=(0, None))
right.set_title("a ring of 600 nodes", fontsize="medium", loc="left")
for ax in (left, right):
    ax.spines[["top", "right"]].set_visible(False)
plt.show()
