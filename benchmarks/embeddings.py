"""Three embeddings of the same points, by columns, distances and directions, rotated and not.

The digits of scikit-learn, embedded in 32 dimensions by their principal components, by a random projection,
and by the hidden layer of a network that was trained to tell them apart.  docs/features.md quotes the
numbers.
"""

from __future__ import annotations

import json
import warnings
from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA
from sklearn.exceptions import ConvergenceWarning
from sklearn.neural_network import MLPClassifier
from sklearn.random_projection import GaussianRandomProjection

import geodim

RESULTS = Path(__file__).parent / "results" / "embeddings.json"
WIDTH = 32
EPOCHS = 150


def hidden_layer(X: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, float]:
    """What a network's hidden layer makes of the points, and how well the network tells them apart."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        network = MLPClassifier((WIDTH,), max_iter=EPOCHS, random_state=0).fit(X, y)
    return np.maximum(X @ network.coefs_[0] + network.intercepts_[0], 0.0), float(network.score(X, y))


def rounded(value: float) -> float:
    return float(f"{value:.4g}")


def measured(X: np.ndarray) -> dict[str, object]:
    directions = geodim.intrinsic_dimension(X, features="directions")
    return {
        "columns": rounded(geodim.intrinsic_dimension(X).dimension),
        "distances": rounded(geodim.intrinsic_dimension(X, features="distances").dimension),
        "angles": rounded(geodim.intrinsic_dimension(X, features="distances", metric="cosine").dimension),
        "directions": [rounded(directions.lower), rounded(directions.upper)],
    }


def main() -> None:
    X, y = load_digits(return_X_y=True)
    X = X / 16.0
    layer, accuracy = hidden_layer(X, y)
    embeddings = {
        "principal components": PCA(WIDTH, random_state=0).fit_transform(X),
        "random projection": GaussianRandomProjection(WIDTH, random_state=0).fit_transform(X),
        "hidden layer": layer,
    }
    rotation = np.linalg.qr(np.random.default_rng(0).normal(size=(WIDTH, WIDTH)))[0]
    found = {
        "accuracy of the network in training": rounded(accuracy),
        "embeddings": {
            name: {"as it is": measured(points), "rotated": measured(points @ rotation)}
            for name, points in embeddings.items()
        },
    }
    RESULTS.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    print(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
