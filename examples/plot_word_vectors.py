"""
Word vectors: how many dimensions, and what a unit length does
===============================================================

We make word vectors from a small corpus that comes with every Python, the language reference behind
``help()``.  We count which words occur near each other, weight the counts by positive pointwise mutual
information, and reduce them by a singular value decomposition.  How does the intrinsic dimension change with
the number of components that we keep, if we scale the vectors to unit length, and if frequent words count
more?
"""

# %%
# From text to vectors
# --------------------

import re
from collections import Counter
from pydoc_data.topics import topics

import matplotlib.pyplot as plt
import numpy as np
from scipy import sparse
from sklearn.decomposition import TruncatedSVD
from sklearn.preprocessing import normalize

import geodim

texts = [re.findall(r"[a-z]+", text.lower()) for text in topics.values()]
counts = Counter(word for text in texts for word in text)
words = [word for word, count in counts.most_common() if count >= 5]
place = {word: i for i, word in enumerate(words)}

near = sparse.csr_array((len(words), len(words)))
for text in texts:
    ids = np.array([place.get(word, -1) for word in text])
    for distance in range(1, 6):  # five words to either side
        one, other = ids[:-distance], ids[distance:]
        both = (one >= 0) & (other >= 0)
        near += sparse.csr_array((np.ones(both.sum()), (one[both], other[both])), shape=near.shape)
near = (near + near.T).tocoo()
often = near.sum(axis=1)
smooth = often**0.75
information = np.log(near.data * smooth.sum() / (often[near.row] * smooth[near.col]))
ppmi = sparse.csr_array((np.maximum(information, 0.0), (near.row, near.col)), shape=near.shape)

svd = TruncatedSVD(128, random_state=0).fit(ppmi)
vectors = svd.transform(ppmi) / np.sqrt(svd.singular_values_)
unit = normalize(vectors)
print(f"{sum(counts.values()):,} words of text, {len(words):,} of them different and not rare")
for word in ("exception", "integer", "class"):
    nearest = np.argsort(-(unit @ unit[place[word]]))[1:6]
    print(f"{word}: {', '.join(words[i] for i in nearest)}")

# %%
# How many components?
# --------------------
# More features never raise the dimension if all are measured on the same scale.  By default, features are
# divided by d_max, the largest range of a feature.  A new component with a larger range changes the scale of
# all features, so the dimension may rise.  ``normalize=False`` keeps the scale of the vectors.  Either way,
# little happens beyond the first components: they decide this kind of dimension.

SIZES = (1, 2, 4, 8, 16, 32, 64, 128)
divided = [geodim.intrinsic_dimension(vectors[:, :m]).dimension for m in SIZES]
as_they_are = [geodim.intrinsic_dimension(vectors[:, :m], normalize=False).dimension for m in SIZES]
print(f"\n{'components kept':36s}" + "".join(f"{m:>8d}" for m in SIZES))
print(f"{'vectors, divided by d_max':36s}" + "".join(f"{value:8.2f}" for value in divided))
print(f"{'vectors, as they are':36s}" + "".join(f"{value:8.2f}" for value in as_they_are))

# %%
# Unit length
# -----------
# Most applications compare only directions, so we scale the vectors to length 1 after we have chosen the
# components.  The coordinates are then cosines, with a scale of their own.  The more components there are,
# the smaller each coordinate must be: measure concentrates on spheres of high dimension, and the intrinsic
# dimension of random directions grows in proportion to their number of coordinates.  Word vectors do not
# follow this law, because a few components still tell many words apart.

rng = np.random.default_rng(0)
directions = [normalize(vectors[:, :m]) for m in SIZES]
random = [normalize(rng.standard_normal(chosen.shape)) for chosen in directions]
on_sphere = [geodim.intrinsic_dimension(chosen, normalize=False).dimension for chosen in directions[1:]]
at_random = [geodim.intrinsic_dimension(chosen, normalize=False).dimension for chosen in random[1:]]
print(f"{'word directions':44s}" + "".join(f"{value:8.2f}" for value in on_sphere))
print(f"{'random directions':44s}" + "".join(f"{value:8.2f}" for value in at_random))

# %%
# Words as often as they occur
# ----------------------------
# A word that occurs a thousand times can count as a thousand points: whole ``weights`` are multiplicities.
# With few components, frequent words are harder to tell apart than rare ones; with many components, they are
# easier.  So the two curves cross.

frequency = [counts[word] for word in words]
weighted = [
    geodim.intrinsic_dimension(chosen, normalize=False, weights=frequency).dimension
    for chosen in directions[1:]
]
print(f"{'word directions, weighted by frequency':44s}" + "".join(f"{value:8.2f}" for value in weighted))

# %%
# Which components carry it
# -------------------------

names = [f"component {i + 1}" for i in range(unit.shape[1])]
result = geodim.intrinsic_dimension(unit, normalize=False, feature_names=names)
print("\nof the directions with 128 components:")
for name, share in list(result.shares.items())[:3]:
    ends = np.argsort(unit[:, names.index(name)])
    low, high = (", ".join(words[i] for i in some) for some in (ends[:5], ends[:-6:-1]))
    print(f"{name} carries {share:.1%}; it has {low} at one end and {high} at the other")

# %%
# Which features?
# ---------------
# The features are the coordinates, not arbitrary directions.  If we rotate the space, the distances stay the
# same, but the dimension changes.  In a random basis no coordinate is special, and word directions look like
# random ones.

rotation = np.linalg.qr(rng.standard_normal((unit.shape[1], unit.shape[1])))[0]
rotated = geodim.intrinsic_dimension(unit @ rotation, normalize=False).dimension
print(
    f"\nrotated at random: {rotated:.2f} instead of {result.dimension:.2f} (random "
    f"directions: {at_random[-1]:.2f})"
)

# %%
# The picture
# -----------

figure, (left, right) = plt.subplots(1, 2, figsize=(10, 3.8), layout="constrained")
left.plot(SIZES, divided, "C0o-", label="divided by $d_{\\max}$")
left.plot(SIZES, as_they_are, "C1s-", label="as they are")
left.set_title("word vectors: the first components decide", fontsize="medium", loc="left")
right.plot(SIZES[1:], at_random, "k.:", label="random directions")
right.plot([SIZES[-1]], [rotated], "C3*", markersize=10, label="words, rotated at random")
right.plot(SIZES[1:], on_sphere, "C0o-", label="words")
right.plot(SIZES[1:], weighted, "C2v-", label="words, weighted by frequency")
right.set(yscale="log")
right.set_yticks((1, 2, 5, 10, 20, 50), ("1", "2", "5", "10", "20", "50"))
right.set_title("unit length: concentration on the sphere, resisted", fontsize="medium", loc="left")
for ax in (left, right):
    ax.set(xscale="log", xlabel="components kept", ylabel="intrinsic dimension")
    ax.set_xticks(SIZES, [str(m) for m in SIZES])
    ax.minorticks_off()
    ax.legend(frameon=False)
    ax.spines[["top", "right"]].set_visible(False)
plt.show()
