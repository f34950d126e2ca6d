"""
Digits and their neighbour graph, from zero to advice
======================================================

The data are 1,797 handwritten digits of 8 by 8 pixels, and the graph that joins each image to its ten
nearest neighbours.  How well do the pixels tell the images apart?  Which pixels do the work?  Would a graph
neural network gain anything from the neighbours, and from how many hops?  What would spoil the data?  We use
no labels and train nothing.
"""

# %%
# One number
# ----------
# A single feature that spreads its points evenly from one end to the other has the intrinsic dimension 4.
# So has a feature that puts half of the points at each end.  The more every feature crowds the points
# together, the larger the dimension, without limit.  Several features that complement each other bring it
# below 4.  The 64 pixels do, but only just.

import matplotlib.pyplot as plt
import numpy as np

import geodim

data = geodim.load_dataset("digits", n_neighbors=10)
pixels = [f"row {row} column {column}" for row in range(8) for column in range(8)]
result = geodim.intrinsic_dimension(data.x, feature_names=pixels)
print(f"intrinsic dimension {result.dimension:.4f}, exact, in {result.seconds:.2f} s")

# %%
# A notebook shows the result as a table.  ``result.to_json("digits.json")`` saves it.

result  # noqa: B018

# %%
# Which pixels carry it
# ---------------------
# For every size k, geodim takes the pixel whose narrowest window of k images is the widest.  The share of a
# pixel is its part of the sum of these widths.  The core is a set of pixels that has the same dimension to
# the last bit, and from which none can be dropped.  The other pixels only tie with it, or are never the
# widest.

explanation = geodim.explain_dimension(data.x, feature_names=pixels)
print(f"{len(explanation.shares)} of 64 pixels carry it; a core of {len(explanation.core)} suffices:")
for name, share in explanation.core_shares.items():
    print(f"  {name}: {share:.1%}")
core = data.x[:, explanation.core_columns]
print(f"the core alone has the dimension {geodim.intrinsic_dimension(core).dimension:.4f}")

# %%
# What the graph adds
# -------------------
# Every hop adds further features: the pixels averaged over the neighbours.  All features are divided by the
# same number, the largest range of a pixel, so more features can only lower the dimension.  One pass gives
# the dimension for every k.

hops = geodim.khop_dimensions(data.x, data.edge_index, hops=5, feature_names=pixels)
for row in hops.rows():
    drop = "" if row["drop"] is None else f", {row['drop']:.2%} lower than without the last hop"
    print(f"k = {row['k']}: {row['dimension']:.4f}{drop}")

# %%
# Advice
# ------
# The advice is the smallest k whose dimension is within one percent of that of the last k.  It also says
# what it is based on, and where it has failed.

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
# ``WhatIf`` knows the two best pixels at every k, so it answers such questions without measuring everything
# again.  We can remove the pixel with the largest share at no cost, because others tie with it.  A single
# broken value is another matter.  It stretches the range of its pixel, by which all pixels are divided, so
# that everything else looks crowded together.  The dimension shows that something is wrong, and d_max shows
# what.

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
# On the left is the definition: leave out a part alpha of the images, and see how widely the best pixel
# spreads the others.  The area is the discriminability.  The middle shows which pixels contribute to it:
# those where a stroke is either present or absent, most of all right of the centre; the core is framed.  On
# the right, the first hop lowers the dimension, and the others hardly do.

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
