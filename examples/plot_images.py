"""
Images: pixels, blurred pixels, patches
========================================

We place 1,000 handwritten digits in a frame and change them in four ways: we move each digit to another
place, permute the pixels in the same way in all images, permute them differently in each image, and add
noise.  Which features notice which change?
"""

# %%
# Five sets of images
# -------------------

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

import geodim

digits = load_digits().images[:1000]
rng = np.random.default_rng(0)
framed, moved = np.zeros((2, len(digits), 12, 12))
framed[:, 2:10, 2:10] = digits
for i, (row, column) in enumerate(rng.integers(0, 5, (len(digits), 2))):
    moved[i, row : row + 8, column : column + 8] = digits[i]
flat = framed.reshape(len(digits), -1)
SETS = {
    "digits": framed,
    "each moved": moved,
    "permuted, all the same": flat[:, rng.permutation(144)].reshape(framed.shape),
    "permuted, each differently": rng.permuted(flat, axis=1).reshape(framed.shape),
    "noise added": np.clip(framed + rng.normal(0, 4, framed.shape), 0, 16),
}

# %%
# What each kind of features notices
# ----------------------------------
# *Pixels* notice when digits move.  They do not notice when all images are permuted in the same way, because
# they ignore which pixels are neighbours.
#
# *Blurred pixels* are means over neighbourhoods, repeated for every hop.  They notice both changes.  Strokes
# thin out, images look more similar, and the dimension grows with every hop.
#
# *Patches* are the means over all squares of an image, in descending order.  They do not notice when digits
# move: no bit changes.  They notice a permutation a little, unless a patch is a single pixel; then only the
# number of pixels of each value is left.
#
# *Distances* between images see all features together: here those of the pixels, of the blurred pixels, and
# of the patches.

FAMILIES = {
    "pixels": geodim.Pixels(),
    "blurred, 1 hop": geodim.Pixels(blur=1),
    "blurred, 4 hops": geodim.Pixels(blur=4),
    "patches of 1 x 1": geodim.Patches(size=1),
    "patches of 3 x 3": geodim.Patches(size=3),
}
table = {
    name: [geodim.intrinsic_dimension(images, features=family).dimension for images in SETS.values()]
    for name, family in FAMILIES.items()
}
MATRICES = {
    "distances of pixels": geodim.features.pixels,
    "distances, blurred 4": lambda images: geodim.features.pixels(images, blur=4),
    "distances of patches": geodim.features.patches,
}
for name, matrix in MATRICES.items():
    table[name] = [
        geodim.intrinsic_dimension(matrix(images), features="distances").dimension for images in SETS.values()
    ]
for at, name in enumerate(SETS):
    print(f"{chr(65 + at)}: {name}")
print(" " * 22 + "".join(f"{chr(65 + at):>9s}" for at in range(len(SETS))))
for name, row in table.items():
    print(f"{name:22s}" + "".join(f"{value:9.3f}" for value in row))

# %%
# Which features carry it
# -----------------------
# Among the patches, the darkest carries nearly everything: how dark the darkest square is says most about a
# digit that may be anywhere.  Among the pixels, it is those where a stroke is either present or absent.

for features in ("pixels", "patches"):
    shares = geodim.intrinsic_dimension(framed, features=features).shares
    print(f"{features}: " + ", ".join(f"{name} ({share:.0%})" for name, share in list(shares.items())[:3]))

# %%
# The picture
# -----------
# The pixels give about 4 as soon as some pixel is dark in half of the images, which is often the case, and
# they hardly show noise.  Distances by pixels show noise well, and also that digits were moved.  Patches see
# what is in the image, wherever it is, but hardly how it is arranged.

figure, axes = plt.subplots(2, len(SETS), figsize=(11, 4.6), layout="constrained", height_ratios=(1, 1.4))
for ax, (name, images) in zip(axes[0], SETS.items(), strict=True):
    ax.imshow(images[3], cmap="Greys")
    ax.set_title(name, fontsize="small", loc="left")
    ax.set(xticks=[], yticks=[])
for at, ax in enumerate(axes[1]):
    values = [row[at] for row in table.values()]
    ax.barh(range(len(values)), values, color=["C0"] * 3 + ["C2"] * 2 + ["C1"] * 3)
    ax.set(xscale="log", xlim=(1, 250))
    ax.set_yticks(range(len(values)), list(table) if at == 0 else [""] * len(values), fontsize="small")
    ax.invert_yaxis()
    ax.spines[["top", "right"]].set_visible(False)
figure.supxlabel("intrinsic dimension")
plt.show()
