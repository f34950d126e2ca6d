"""
The intrinsic dimension of a network's layers during training
==============================================================

`geodim.torch.LayerDimension` watches layers.  Whenever the model is evaluated, it keeps their outputs, and
``measure`` turns these into dimensions with certified bounds.  Here a small network learns the digits twice:
once with their labels, and once with shuffled labels, which it can only memorise.  Can we see the difference
on test images, without looking at test labels?
"""

# %%
# The training loop, with two more lines
# --------------------------------------
# The ``with`` statement attaches the hooks and removes them at the end; it does not change the model.
# ``measure`` follows the evaluation, which the loop has anyway.  With ``every=5`` it measures after every
# fifth epoch only.

import matplotlib.pyplot as plt
import numpy as np
import torch
from sklearn.datasets import load_digits

import geodim
from geodim.torch import LayerDimension

EPOCHS = 45
torch.set_num_threads(1)  # the network is tiny

images, labels = load_digits(return_X_y=True)
order = np.random.default_rng(0).permutation(len(images))
X = torch.tensor(images[order] / 16, dtype=torch.float32)
y = torch.tensor(labels[order])
train, test = slice(0, 500), slice(500, None)


def accuracy(model, part, targets):
    with torch.inference_mode():
        return (model(X[part]).argmax(dim=1) == targets[part]).float().mean().item()


def learn(targets, seed):
    torch.manual_seed(seed)
    model = torch.nn.Sequential(
        torch.nn.Linear(64, 128),
        torch.nn.ReLU(),
        torch.nn.Linear(128, 64),
        torch.nn.ReLU(),
        torch.nn.Linear(64, 10),
    )
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    with LayerDimension(model, ["1", "3", "4"], every=5) as watch:  # one line
        for epoch in range(EPOCHS + 1):
            model.train()
            for batch in torch.randperm(500).split(50) if epoch else ():  # epoch 0: as it was initialised
                optimizer.zero_grad()
                torch.nn.functional.cross_entropy(model(X[batch]), targets[batch]).backward()
                optimizer.step()
            model.eval()
            tested = accuracy(model, test, targets)
            watch.measure(epoch)  # and the other
    return watch, accuracy(model, train, targets), tested


# %%
# Learning and memorising
# -----------------------

shuffled = y[torch.from_numpy(np.random.default_rng(1).permutation(len(y)))]
SEEDS = (0, 1, 2)
runs = {
    name: [learn(targets, seed) for seed in SEEDS]
    for name, targets in (("true labels", y), ("shuffled labels", shuffled))
}

print(f"dimension of the test images themselves: {geodim.intrinsic_dimension(X[test]).dimension:.2f}")
LAYERS = {"1": "first hidden layer", "3": "second hidden layer", "4": "output"}
for name, trained in runs.items():
    for seed, (watch, learned, tested) in zip(SEEDS, trained, strict=True):
        ends = ", ".join(f"{LAYERS[row['layer']]} {row['dimension']:.1f}" for row in watch.rows[-3:])
        print(f"{name}, seed {seed}: accuracy {learned:.2f} in training, {tested:.2f} in the test; {ends}")
for layer in ("3", "4"):
    true, false = (
        [row["dimension"] for watch, *_ in trained for row in watch.rows[-3:] if row["layer"] == layer]
        for trained in runs.values()
    )
    print(
        f"{LAYERS[layer]}: at most {max(true):.1f} with true labels, at least "
        f"{min(false):.1f} with shuffled ones"
    )

# %%
# The results allow a closer look.  Which units carry the dimension of the second hidden layer at the end?

watch = runs["true labels"][0][0]
for unit, share in list(watch.results["3"].shares.items())[:3]:
    print(f"unit {unit} of the second hidden layer carries {share:.1%}")

# %%
# What it shows
# -------------
# With true labels, the dimension of the second hidden layer falls to about half within the first epochs and
# stays there.  That of the output falls, too.  With shuffled labels, both end at about twice as much or more,
# for every seed.  A plausible explanation: units that have learned the classes send test images to one end or
# the other, while units that single out memorised images leave most test images close together.  We needed no
# test label to see this.
#
# Note what this does *not* show.  Three seeds of one small network do not make a law.  The dimension never
# falls to that of the images themselves.  After five epochs the output does not yet tell the two cases apart.
# And activations are divided by their largest range, so their growth is left out on purpose;
# ``normalize=False`` would show little else.

figure, axes = plt.subplots(1, 2, figsize=(10, 3.8), sharey=True, layout="constrained")
for ax, (name, trained) in zip(axes, runs.items(), strict=True):
    watch, learned, tested = trained[0]
    watch.plot(ax, title=f"{name}: accuracy {learned:.0%} in training, {tested:.0%} in the test")
    ax.set_xlabel("epoch")
plt.show()
