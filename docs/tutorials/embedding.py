"""
An embedding
============

Your points are vectors that a model computed for words, sentences, images or nodes.  A single axis of such
a space means nothing; only distances and directions do.  In this lesson you will measure an embedding
without relying on its axes.

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
# By default the features are the columns.  Rotate the space: every distance stays the same, but every column
# changes, and so does the answer.

rotation = ortho_group.rvs(16, random_state=0)
rotated = vectors @ rotation
print(f"as computed: {geodim.intrinsic_dimension(vectors).dimension:.3f}")
print(f"rotated:     {geodim.intrinsic_dimension(rotated).dimension:.3f}")

# %%
# Distances do not
# ----------------
# With ``features="distances"`` there is one feature for every point: the distance from it.  A rotation
# changes only the last digits, by rounding.

by_distance = geodim.intrinsic_dimension(vectors, features="distances")
again = geodim.intrinsic_dimension(rotated, features="distances")
print(f"as computed: {by_distance.dimension:.3f}")
print(f"rotated:     {again.dimension:.3f}")

# %%
# Directions are the other choice: all linear functions of unit length.  There are infinitely many of them,
# so the answer is a pair of bounds that hold for all directions together.

by_direction = geodim.intrinsic_dimension(vectors, features="directions")
print(f"directions:  between {by_direction.lower:.3f} and {by_direction.upper:.3f}")

# %%
# Compare with noise
# ------------------
# A number on its own says little.  Compare it with vectors without structure: the same number of points and
# components, and the same variance in each component.  Both sides need the same family of features and the
# same number of points.

rng = np.random.default_rng(0)
noise = rng.standard_normal(vectors.shape) * vectors.std(axis=0)
without = geodim.intrinsic_dimension(noise, features="distances")
print(f"digits {by_distance.dimension:.2f}, noise {without.dimension:.2f}")

# %%
# The embedding spreads the digits more widely than noise of the same shape.  The curves show that this holds
# for every part of the points that is left out.

figure, ax = plt.subplots(layout="constrained")
for result, label in ((by_distance, "digits"), (without, "noise")):
    alpha = 1.0 - result.support / result.n_points
    ax.plot(alpha, result.phi / result.d_max, label=f"{label}: dimension {result.dimension:.1f}")
ax.set(xlabel="part of the points left out", ylabel="observable diameter")
ax.legend()
plt.show()

# %%
# Where to go next
# ----------------
# * :doc:`/features` compares all families of features and says which to choose.
# * :doc:`/gallery/plot_word_vectors` and :doc:`/gallery/plot_layer_dimension` study larger embeddings.
# * On the command line, save the vectors first: ``np.save("vectors.npy", vectors)``.  Then
#   ``geodim compute vectors.npy --features distances`` measures them.
