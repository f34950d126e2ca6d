"""
An embedding
============

Your points are vectors from a model: words, sentences, images, nodes.  No single axis of such a space has
a meaning; only distances and directions do.  In this lesson you will measure an embedding in a way that
respects this.

The vectors are handwritten digits from scikit-learn, reduced to 16 components.
"""

# %%
# Make the vectors
# ----------------

import matplotlib.pyplot as plt
import numpy as np
from scipy.stats import ortho_group
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA

import geodim

images = load_digits().data[:1000]
vectors = PCA(16, random_state=0).fit_transform(images)
print(vectors.shape)

# %%
# Coordinates depend on the axes
# ------------------------------
# By default the features are the columns.  Rotate the space: every distance stays the same, every column
# changes, and so does the answer.

rotation = ortho_group.rvs(16, random_state=0)
rotated = vectors @ rotation
print(f"as computed: {geodim.intrinsic_dimension(vectors).dimension:.3f}")
print(f"rotated:     {geodim.intrinsic_dimension(rotated).dimension:.3f}")

# %%
# Distances do not
# ----------------
# With ``features="distances"`` there is one feature for every point: the distance from it.  A rotation
# changes nothing but the last digits, which are rounded.

by_distance = geodim.intrinsic_dimension(vectors, features="distances")
again = geodim.intrinsic_dimension(rotated, features="distances")
print(f"as computed: {by_distance.dimension:.3f}")
print(f"rotated:     {again.dimension:.3f}")

# %%
# Directions are the other choice: all linear functions of unit length.  There are infinitely many of them,
# so the answer comes as bounds that hold for all.

by_direction = geodim.intrinsic_dimension(vectors, features="directions")
print(f"directions:  between {by_direction.lower:.3f} and {by_direction.upper:.3f}")

# %%
# Compare with noise
# ------------------
# A number on its own says little, so compare it with vectors that have no structure: as many points, as
# many components, the same variance in each component.  Features must be the same on both sides, and so
# must the number of points.

rng = np.random.default_rng(0)
noise = rng.standard_normal(vectors.shape) * vectors.std(axis=0)
without = geodim.intrinsic_dimension(noise, features="distances")
print(f"digits {by_distance.dimension:.2f}, noise {without.dimension:.2f}")

# %%
# The embedding keeps the digits better apart than noise of the same shape would be.  The curves show
# where: at every fraction of the points, some distance spreads the digits more widely.

figure, ax = plt.subplots(layout="constrained")
for result, label in ((by_distance, "digits"), (without, "noise")):
    alpha = 1.0 - result.support / result.n_points
    ax.plot(alpha, result.phi / result.d_max, label=f"{label}: dimension {result.dimension:.1f}")
ax.set(xlabel="share of points left out", ylabel="widest distance, as part of the range")
ax.legend()
plt.show()

# %%
# Where to go next
# ----------------
# * :doc:`/features` compares all families of features and says which to choose.
# * :doc:`/gallery/plot_word_vectors` and :doc:`/gallery/plot_layer_dimension` study larger embeddings.
# * ``geodim compute vectors.npy --features distances`` does the same on the command line.
