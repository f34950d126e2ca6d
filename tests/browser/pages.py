"""Reports of every kind, for the browser to open."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

import geodim
from geodim.display.html.document import report
from geodim.display.html.sources import Item

if TYPE_CHECKING:
    from pathlib import Path

RNG = np.random.default_rng(3)
# Of feature j the first m_j points are 0 and the others h_j, both growing with j: each
# attains Phi after its own m_j.
X = np.where(np.arange(300)[:, np.newaxis] < 150 + 3 * np.arange(40), 0.0, (1 + np.arange(40)) / 40)
X += 1e-3 * RNG.random(X.shape)
NAMES = [f"column {i}" for i in range(40)]
EDGES = RNG.integers(0, 300, (2, 600))
HOSTILE = [
    "</script><script>window.hacked = 1</script>",
    "<img src=x onerror=window.hacked=1>",
    "<b>bold</b> & %{x}",
    "<a href='javascript:window.hacked=1'>click</a>",
]


def write_reports(folder: Path) -> dict[str, Path]:
    """Reports of every kind, as files."""
    dimension = geodim.intrinsic_dimension(X, feature_names=NAMES)
    hops = geodim.khop_dimensions(X, EDGES, hops=3, feature_names=NAMES)
    hostile = geodim.intrinsic_dimension(X[:, ::10], feature_names=HOSTILE)
    hostile_hops = geodim.khop_dimensions(X[:, ::10], EDGES, hops=1, feature_names=HOSTILE)
    chosen = geodim.select_features(X, 5, feature_names=NAMES)
    bounds = geodim.intrinsic_dimension(X, rtol=0.1, feature_names=NAMES)
    typo = geodim.intrinsic_dimension(np.vstack([X[:, :4], 1e4 + X[:1, :4]]), feature_names=HOSTILE)
    written = {
        "typo": [Item("a typo", typo)],
        "dimension": [Item("some data", dimension)],
        "removal": [Item("some data", geodim.intrinsic_dimension(X, feature_names=NAMES, removal=True))],
        "hops": [Item("some graph", hops)],
        "selection": [Item("some choice", chosen)],
        "bounds": [Item("some bounds", bounds)],
        "hostile": [
            Item(HOSTILE[0], hostile),
            Item(HOSTILE[1], hostile_hops),
            Item(HOSTILE[3], geodim.select_features(X[:, ::10], 4, feature_names=HOSTILE)),
        ],
        "all": [Item("data", dimension), Item("graph", hops), Item("another", hops), Item("choice", chosen),
                Item("near", bounds)],
        "large": [Item("large", large())],
    }  # fmt: skip
    for name, items in written.items():
        report(items, folder / f"{name}.html")
    compared = geodim.compare({"all columns": X, "half of them": X[:, ::2]}, repeats=5)
    pair = [Item(*pair) for pair in zip(compared.names, compared.results, strict=True)]
    report(pair, folder / "compared.html", comparison=compared)
    return {name: folder / f"{name}.html" for name in (*written, "compared")}


def large():
    """A result with 10,000 features, all of which have a share."""
    n, d = 20_000, 10_000
    support = np.arange(2, n + 1)
    phi = ((support - 1) / (n - 1)) ** 2
    starts = np.unique(np.linspace(2, n, 2048).astype(np.int64))
    shares = np.sort(RNG.dirichlet(np.full(d, 0.3)))[::-1]
    delta = float(phi.sum()) / n
    return geodim.IDResult(
        n_points=n, n_features=d, normalized=True, d_max=1.0, discriminability=delta,
        discriminability_lower=delta, discriminability_upper=delta, support=support, phi_lower=phi,
        phi_upper=phi, exact=True,
        shares={f"feature number {i}": float(share) for i, share in enumerate(shares)},
        attained_from=starts, attained_by=RNG.integers(0, d, starts.size),
    )  # fmt: skip
