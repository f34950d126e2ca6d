"""
Distances along a graph: unrolled rolls and small worlds
=========================================================

The nodes of a graph have a metric of their own, the length of shortest paths.  Two uses: points on a curved
sheet, whose distances along the sheet are found by walking from neighbour to neighbour; and a ring that
becomes a small world as shortcuts are added.
"""

# %%
# A rolled sheet
# --------------
# 800 points on a rectangle that is rolled up in space.  Straight through space, points of neighbouring
# turns are close; along the sheet they are far.  Joined to its eight nearest neighbours each, with edges as
# long as they are in space, the points have shortest paths that follow the sheet, and the dimension is
# nearly that of the rectangle before it was rolled, which only its inventor knows.  Numbers of hops alone
# come near it, too.

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
# Noise blurs the sheet until neighbours of one turn are found on the next: one such shortcut, and whole
# turns are near each other.  The dimension then jumps to that of space.  It is the graph that is measured,
# and the choice was made when the graph was built.

# %%
# A ring and its shortcuts
# ------------------------
# On a ring the distances from any node are spread evenly, and the dimension is 4, that of a single evenly
# spread feature.  Each shortcut between two random nodes brings others near each other; with a hundred of
# them 600 nodes are no more than 20 hops apart, most of them about equally far, and hard to tell apart by
# distance.

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
# Without a path there is no distance.  By default that is an error, which says what there is to choose
# from: the largest component alone, or a distance to be put in place of the missing ones.  The choice is
# part of the question, so that it is not made silently.

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
