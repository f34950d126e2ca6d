"""
Digits and their neighbour graph, from zero to advice
======================================================

1,797 handwritten digits of 8 by 8 pixels, and the graph that joins each image with its ten nearest ones.
How far do the pixels tell the images apart?  Which pixels do the work?  Would a graph neural network gain
anything from the neighbours, and from how many hops of them?  What would spoil the data?  No labels are
used and nothing is trained.
"""

# %%
# One number
# ----------
# A single feature that spreads its points evenly from one end to the other has the intrinsic dimension 4,
# and so has one that puts half of them at either end.  It grows the more the points huddle together in
# every feature, without bound; several features that complement each other bring it below 4.  The 64
# pixels do, but only just.

import matplotlib.pyplot as plt
import numpy as np

import geodim

data = geodim.load_dataset("digits", n_neighbors=10)
pixels = [f"row {row} column {column}" for row in range(8) for column in range(8)]
result = geodim.intrinsic_dimension(data.x, feature_names=pixels)
print(f"intrinsic dimension {result.dimension:.4f}, exact, in {result.seconds:.2f} s")

# %%
# In a notebook the result shows itself as a table; ``result.to_json("digits.json")`` keeps it.

result  # noqa: B018

# %%
# Which pixels carry it
# ---------------------
# At every size k the dimension looks at the pixel whose narrowest window of k images is widest.  Shares say
# how much of the sum each pixel contributes.  The core is a set of pixels that has the same dimension to the
# last bit and none to spare: the others only tie with it, or are never the widest.

explanation = geodim.explain_dimension(data.x, feature_names=pixels)
print(f"{len(explanation.shares)} of 64 pixels carry it; a core of {len(explanation.core)} suffices:")
for name, share in explanation.core_shares.items():
    print(f"  {name}: {share:.1%}")
core = data.x[:, explanation.core_columns]
print(f"the core alone has the dimension {geodim.intrinsic_dimension(core).dimension:.4f}")

# %%
# What the graph adds
# -------------------
# Every hop adds the pixels averaged over the neighbours as further features.  All are divided by one number,
# the largest range of a pixel, so that more features can only lower the dimension; and all k come out of one
# pass.

hops = geodim.khop_dimensions(data.x, data.edge_index, hops=5, feature_names=pixels)
for row in hops.rows():
    drop = "" if row["drop"] is None else f", {row['drop']:.2%} lower than without the last hop"
    print(f"k = {row['k']}: {row['dimension']:.4f}{drop}")

# %%
# Advice
# ------
# The smallest k that is within a percent of the last one, with what this advice rests on
# and where it failed before.

advice = geodim.advise(hops, tolerance=0.01)
print(advice)
by_hop = geodim.explain_hops(data.x, data.edge_index, advice.hops, feature_names=pixels).hop_shares
print(
    "\nof the discriminability "
    + ", ".join(f"{share:.0%} is carried by hop {hop}" for hop, share in by_hop.items())
)

# %%
# What if
# -------
# The two best pixels at every k are known, so that such questions are answered without measuring everything
# again.  The pixel with the largest share can go: others tie with it.  A single broken value in one pixel is
# another matter.  It stretches that pixel's range, by which all are divided, and everything else looks
# huddled together: the dimension tells that something is wrong, and d_max tells what.

what_if = geodim.WhatIf(data.x, feature_names=pixels)
leading = next(iter(result.shares))
print(f"without {leading}: {what_if.remove(leading).dimension:.4f} instead of {result.dimension:.4f}")

broken = what_if.values(leading)
broken[7] = 1000.0
spoilt = what_if.replace(leading, broken)
print(f"with one value of 1000 in {leading}: {spoilt.dimension:,.0f}, and d_max is {spoilt.d_max:g}")
mended = what_if.replace(leading, np.minimum(broken, 16.0))
print(f"clipped to the 16 levels of grey: {mended.dimension:.4f}")

# %%
# All of it in one picture
# ------------------------
# Left, the definition: leave out a share alpha of the images, and see how wide the best pixel spreads
# the others; the area is the discriminability.  In the middle, whose area that is: pixels where
# strokes are either there or not, right of the middle above all, the core framed.  On the right, the
# first hop, and then little.

figure, (left, middle, right) = plt.subplots(1, 3, figsize=(13, 3.8), layout="constrained")
result.plot(left)
shares = [explanation.shares.get(name, 0.0) for name in pixels]
image = middle.imshow(np.reshape(shares, (8, 8)), cmap="Blues")
figure.colorbar(image, ax=middle, format=lambda share, _: f"{share:.0%}")
for column in explanation.core_columns:
    middle.add_patch(
        plt.Rectangle((column % 8 - 0.45, column // 8 - 0.45), 0.9, 0.9, fill=False, edgecolor="C1", lw=2)
    )
middle.set_title(
    f"share of each pixel\ncore of {len(explanation.core)} framed", fontsize="medium", loc="left"
)
middle.set(xlabel="column", ylabel="row")
hops.plot(right)
plt.show()
