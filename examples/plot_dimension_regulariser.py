"""
The dimension of a hidden layer as a regulariser
=================================================

A loss with a gradient can be added to another one.  Does it help a small network if we also ask for a hidden
layer of small dimension, or of large dimension?  We use few labels and several seeds.  We fix the strengths
of the regulariser in advance, and show all of them.
"""

# %%
# The network
# -----------
# There are 150 labelled digits, one hidden layer, and batches of 50.  The regulariser is the logarithm of the
# dimension of the hidden units on the batch, times a strength.

import time

import matplotlib.pyplot as plt
import numpy as np
import torch
from sklearn.datasets import load_digits

from geodim.torch import intrinsic_dimension_loss

torch.set_num_threads(1)  # the network is tiny
images, labels = load_digits(return_X_y=True)
STRENGTHS = (0.0, 0.1, -0.1)
SEEDS, EPOCHS, TRAIN = range(5), 15, 150


def learn(strength, seed):
    """Accuracy on the rest, and the dimension of the hidden layer there."""
    order = np.random.default_rng(seed).permutation(len(images))
    X = torch.tensor(images[order] / 16, dtype=torch.float32)
    y = torch.tensor(labels[order])
    torch.manual_seed(seed)
    hidden = torch.nn.Sequential(torch.nn.Linear(64, 16), torch.nn.Tanh())
    output = torch.nn.Linear(16, 10)
    optimizer = torch.optim.Adam([*hidden.parameters(), *output.parameters()], lr=1e-2)
    for _ in range(EPOCHS):
        for batch in torch.randperm(TRAIN).split(50):
            inside = hidden(X[batch])
            loss = torch.nn.functional.cross_entropy(output(inside), y[batch])
            if strength:
                loss = loss + strength * intrinsic_dimension_loss(inside, log=True, n_threads=1)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    with torch.no_grad():
        inside = hidden(X[TRAIN:])
        right = (output(inside).argmax(1) == y[TRAIN:]).float().mean()
        return float(right), float(intrinsic_dimension_loss(inside))


# %%
# With and without
# ----------------
# For each seed, all strengths use the same digits, the same initial weights and the same batches, so we can
# compare them seed by seed.

started = time.perf_counter()
runs = {strength: np.array([learn(strength, seed) for seed in SEEDS]) for strength in STRENGTHS}
base = runs[0.0][:, 0]
print(f"{len(STRENGTHS) * len(SEEDS)} networks in {time.perf_counter() - started:.1f} s")
for strength, found in runs.items():
    gain = found[:, 0] - base
    error = gain.std(ddof=1) / np.sqrt(len(gain))
    print(
        f"strength {strength:+.2f}: accuracy {found[:, 0].mean():.3f}, dimension {found[:, 1].mean():.1f}; "
        f"gain {100 * gain.mean():+.2f} ± {100 * error:.2f} points"
    )

# %%
# What it shows
# -------------
# It does not help.  If we ask for a small dimension, the layer ends with about the same dimension as without
# the regulariser, and the accuracy falls.  If we ask for a large dimension, we get it, and the accuracy falls
# as much.  Five seeds of one small network on one data set prove nothing in general, but they are a reason
# not to expect much.

figure, axes = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
at = sorted(STRENGTHS)
for ax, index, label in zip(axes, (1, 0), ("dimension of the hidden layer", "accuracy"), strict=True):
    for seed in SEEDS:
        ax.plot(at, [runs[strength][seed, index] for strength in at], marker="o", alpha=0.5)
    ax.set_xticks(at)
    ax.set_xlabel("strength of the regulariser")
    ax.set_ylabel(label)
plt.show()
