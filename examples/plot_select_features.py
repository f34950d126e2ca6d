"""
Selecting features by discriminability, and by other means
===========================================================

`geodim.DiscriminabilitySelector` keeps the features that tell the points apart, and uses no labels.  Does
that help classification?  Here we compare it with selectors of scikit-learn on the handwritten digits: 1,797
images of 64 pixels.

What to expect: selectors that see the labels (``f_classif``, mutual information, recursive elimination) know
which features separate the *classes*.  Discriminability and variance only know which features separate the
*points*.  The comparison is fair in the sense that every selector sees only the training folds.
"""

# %%
# The curve: how much of the discriminability the first features keep
# -------------------------------------------------------------------
# Every value is exact.  Each choice is greedy, so it has at least 1 - 1/e of the discriminability of the best
# choice of the same number of features.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.feature_selection import RFE, VarianceThreshold, f_classif, mutual_info_classif
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import geodim

X, y = load_digits(return_X_y=True)
names, curve = geodim.select_features(X, fraction=1.0)
for rank, (name, delta) in enumerate(zip(names, curve, strict=True), 1):
    print(f"{rank}. pixel {name:>2s}: {delta / curve[-1]:.2%} of the discriminability of all 64 pixels")

# %%
# In a pipeline it is a transformer like any other
# ------------------------------------------------

pipeline = make_pipeline(
    geodim.DiscriminabilitySelector(16), StandardScaler(), LogisticRegression(max_iter=500)
)
print(f"accuracy with 16 of 64 pixels: {cross_val_score(pipeline, X, y, cv=3).mean():.3f}")

# %%
# The comparison
# --------------
# Every method ranks the features of a training fold, and the classifier uses the first m.  For
# discriminability there are two rankings: the greedy one, and the plain one by the discriminability of each
# feature on its own.  When the greedy ranking has nothing left to gain, it continues with the plain one.

SIZES = (1, 2, 4, 8, 16, 32)


def classifier():
    return make_pipeline(StandardScaler(), LogisticRegression(max_iter=500, tol=1e-2))


def by_score(scores):
    return np.argsort(-np.nan_to_num(scores), kind="stable")


def greedy(X, _y):
    return np.array(geodim.select_features(X, max(SIZES)).columns)


def own(X, _y):
    return np.array([int(name) for name in geodim.feature_ranking(X)])


def variance(X, _y):
    return by_score(VarianceThreshold().fit(X).variances_)


def f_test(X, y):
    varied = np.ptp(X, axis=0) > 0  # the test is undefined for constant pixels
    scores = np.zeros(X.shape[1])
    scores[varied] = f_classif(X[:, varied], y)[0]
    return by_score(scores)


def mutual_information(X, y):
    return by_score(mutual_info_classif(X, y, discrete_features=True))


def elimination(X, y):
    ranking = RFE(LogisticRegression(max_iter=100, tol=1e-2), n_features_to_select=1, step=4)
    return np.argsort(ranking.fit(StandardScaler().fit_transform(X), y).ranking_, kind="stable")


METHODS = {
    "discriminability, greedy": (greedy, "C0o-"),
    "discriminability, plain ranking": (own, "C0o:"),
    "variance": (variance, "C7s--"),
    "f_classif (sees labels)": (f_test, "C1^-"),
    "mutual information (sees labels)": (mutual_information, "C2v-"),
    "recursive elimination (sees labels)": (elimination, "C3d-"),
}

accuracy = {name: {m: [] for m in SIZES} for name in METHODS}
random = {m: [] for m in SIZES}  # three draws per fold
rng = np.random.default_rng(0)
for train, test in StratifiedKFold(3, shuffle=True, random_state=0).split(X, y):
    for name, (rank, _) in METHODS.items():
        order = rank(X[train], y[train])
        for m in SIZES:
            model = classifier().fit(X[train][:, order[:m]], y[train])
            accuracy[name][m].append(model.score(X[test][:, order[:m]], y[test]))
    for m in SIZES:
        for _ in range(3):
            order = rng.permutation(64)[:m]
            random[m].append(classifier().fit(X[train][:, order], y[train]).score(X[test][:, order], y[test]))

print(f"\n{'accuracy with m pixels':36s}" + "".join(f"{m:>8d}" for m in SIZES))
for name in [*METHODS, "random pixels"]:
    values = random if name == "random pixels" else accuracy[name]
    print(f"{name:36s}" + "".join(f"{np.mean(values[m]):8.3f}" for m in SIZES))

# %%
# What it shows
# -------------
# Recursive elimination, which trains the classifier again and again, is the best at nearly every size, and
# mutual information leads for few pixels.  Labels help, as they should.  Without labels, discriminability is
# well ahead of variance and of random pixels, and from eight pixels on about as good as the F-test.
#
# For two to four pixels the greedy choice does worse than the plain ranking.  It looks for pixels that spread
# the points *where the others do not*, and these need not be the pixels that tell digits apart.  Eight pixels
# have all of the discriminability, but a classifier can use more: a selection that keeps the discriminability
# does not keep everything.  Use it to learn which features carry a data set without labels.  If you have
# labels, use them.

figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4), layout="constrained")
left.plot(range(1, len(curve) + 1), np.array(curve) / curve[-1], "C0o-")
left.axhline(0.95, color="0.7", linestyle="--")
left.set(
    xlabel="pixels chosen", ylabel="part of the discriminability", title="The first pixels carry most of it"
)
for name, (_, style) in METHODS.items():
    right.plot(SIZES, [np.mean(accuracy[name][m]) for m in SIZES], style, label=name, markersize=4)
right.plot(SIZES, [np.mean(random[m]) for m in SIZES], "k.:", label="random pixels")
right.set(xscale="log", xlabel="pixels used", ylabel="accuracy", title="Logistic regression on digits")
right.set_xticks(SIZES, [str(m) for m in SIZES])
right.legend(frameon=False, fontsize=8)
plt.show()
