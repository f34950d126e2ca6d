"""docs/selecting.md."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.stats import kurtosis

import geodim
from geodim.experiments.experiment import Options
from geodim.experiments.selection import METHODS, RELATIVE, ROUNDS
from geodim.experiments.selection_data import DATASETS, MOST_POINTS, open_table
from geodim.experiments.selection_questions import by_dataset, over, support_errors
from geodim.experiments.study_questions import LEVEL
from prose.sources import rows

if TYPE_CHECKING:
    from collections.abc import Iterator

    from prose.pages import Page

SHOWN = ("all", "random", "variance", "resilience", "resilience, decorrelated", "uniform", "greedy",
         "Laplacian score", "F-test")  # fmt: skip
COMPARED = {
    ("resilience", "random"): "resilience over random features",
    ("resilience", "variance"): "resilience over variance",
    ("resilience", "Laplacian score"): "resilience over the Laplacian score",
    ("resilience", "uniform"): "resilience over uniform, all k counting alike",
    ("resilience", "greedy"): "resilience over greedy",
    ("resilience, decorrelated", "resilience"): "decorrelated by our rule, over resilience",
    (
        "resilience, decorrelated by column",
        "resilience",
    ): "decorrelated by their rule, over resilience",
    ("F-test", "resilience"): "the F-test, which knows labels, over resilience",
}


def table() -> Iterator[tuple[str, list[str]]]:
    """The accuracies, a line for each data set."""
    for name, some in by_dataset(rows("selection")).items():
        values = [f"{100 * some[method]['accuracy']:.1f}" for method in SHOWN]
        size = f"{some['all']['points']:,} × {some['all']['features']:,}"
        yield f"| {name} | {size} | " + " | ".join(["{}"] * len(SHOWN)) + " |", values


def answers() -> Iterator[tuple[str, list[str]]]:
    """The mean differences over data sets of all kinds of numbers."""
    for (method, other), words in COMPARED.items():
        yield f"| {words} | {{}} |", [over(rows("selection"), method, other, binary=False).percent()]


def support() -> Iterator[tuple[str, list[str]]]:
    """How far rankings from few k are off."""
    for size in RELATIVE:
        for kind in ("towards n", "towards 2"):
            some = [row for row in support_errors(rows("selection"), size, kind) if not row["binary"]]
            tau, wrong, overlap = (
                np.array([row[key] for row in some]) for key in ("tau", "wrong_pairs", "overlap")
            )
            yield f"| {kind} | {size:g} n | {{}}, {{}} | {{}} %, {{}} % | {{}}, {{}} |", [
                f"{tau.mean():.2f}", f"{tau.min():.2f}", f"{100 * wrong.mean():.1f}",
                f"{100 * wrong.max():.1f}", f"{overlap.mean():.2f}", f"{overlap.min():.2f}",
            ]  # fmt: skip


def check(page: Page) -> None:
    found = by_dataset(rows("selection"))
    assert set(found) == set(DATASETS)
    assert len(DATASETS) == 14
    assert sum(kind.binary for kind in DATASETS.values()) == 5
    assert all(row["rounds"] == ROUNDS for row in rows("selection"))
    assert set(SHOWN) < set(METHODS)
    page.allows("(C = 1, at most 1,000 steps, columns as they are)", "the settings of the scripts")
    page.allows("with 50 features or more", "the least that the authors take")
    page.says("thinned out to {} points", f"{MOST_POINTS:,}")
    page.says("with an interval of {} % from resamples", f"{100 * LEVEL:.0f}")
    page.allows("H_n = 1 + 1/2 + … + 1/n", "a definition")
    page.allows("(k − 1)/k = 1 − 1/k", "a proof")
    page.allows("φ_{k,f} = (k − 1) h", "a proof")
    page.allows("each falls strictly as m\ngrows from n/2", "a proof")
    page.allows("Values 0 and 1", "a definition")
    page.allows("into a window of width 0", "a proof")
    page.allows("columns of 0 and 1", "a definition")
    page.allows("those of the last five 0 and 1", "a definition")
    page.allows("constant columns score 0", "a definition")
    page.allows("its dimension is 1/(Δ*_f)²", "a definition")
    for lines in (table(), answers(), support()):
        for line, values in lines:
            page.says(line, *values)
    for line, _ in support():
        page.allows(line.partition("{}")[0], "a length")
    verdicts(page)
    tails(page)
    on_zeros_and_ones()


def verdicts(page: Page) -> None:
    """What the sentences below the tables rest on."""
    found = by_dataset(rows("selection"))
    other = {name: some for name, some in found.items() if not some["all"]["binary"]}
    page.allows("tables of 0 and 1", "a definition")
    better = {name for name, some in found.items() if some["resilience"]["over_random"] > 0.0}
    assert better == set(DATASETS) - {"chameleon_filtered"}
    hard = found["chameleon_filtered"]
    rivals = set(hard) - {"all", "random"}
    assert all(hard[method]["over_random"] < hard[method]["half_random"] for method in rivals)
    wins = [name for name, some in other.items() if some["resilience"]["over_variance"] > 0.0]
    page.says("It beats variance on {} of nine", len(wins))
    clear = {
        name: np.sign(some["resilience"]["over_variance"])
        for name, some in other.items()
        if abs(some["resilience"]["over_variance"]) > some["resilience"]["half_variance"]
    }
    assert {name for name, sign in clear.items() if sign < 0} == {"digits", "cora_ml"}
    assert {name for name, sign in clear.items() if sign > 0} == {
        "breast cancer, products", "wine, products", "pubmed",
    }  # fmt: skip
    products = [some["resilience"]["over_variance"] for name, some in other.items() if "products" in name]
    page.says("by {} and {} points", *(f"{100 * value:.0f}" for value in products))
    page.says("(beyond the {} % interval over the rounds)", f"{100 * LEVEL:.0f}")
    gains = {
        name: some["resilience, decorrelated"]["accuracy"] - some["resilience"]["accuracy"]
        for name, some in other.items()
    }
    assert max(gains, key=gains.__getitem__) == "generated"
    assert min(gains, key=gains.__getitem__) == "madelon-like"
    page.says(
        "it brings {} points on `generated`, where copies of good columns take up places, and costs {} on",
        f"{100 * gains['generated']:.1f}", f"{-100 * gains['madelon-like']:.1f}",
    )  # fmt: skip
    estimates = {
        (method, against): over(rows("selection"), method, against, binary=False)
        for method, against in COMPARED
    }
    assert estimates["resilience", "random"].lower > 0.0
    assert estimates["F-test", "resilience"].lower > 0.0
    for method, against in list(COMPARED)[1:4] + list(COMPARED)[5:7]:
        assert estimates[method, against].lower < 0.0 < estimates[method, against].upper
    tables = {name: some["all"]["points"] for name, some in other.items()}
    assert min(tables, key=tables.__getitem__) == "wine, products"
    worst = {
        size: min(row["overlap"] for row in support_errors(rows("selection"), size) if not row["binary"])
        for size in RELATIVE
    }
    assert worst[0.01] == 0.0
    assert worst[0.05] > 0.95
    (short,) = (row for row in support_errors(rows("selection"), 0.01) if row["dataset"] == "wine, products")
    page.says("of the {} points of the smallest table such a sequence has only {} elements",
              short["points"], short["support"])  # fmt: skip
    digits = found["digits"]
    assert digits["variance"]["accuracy"] > digits["greedy"]["accuracy"]  # as docs/explanation.md says
    assert estimates["resilience", "greedy"].lower > -0.01


def tails(page: Page) -> None:
    """Which columns are kept of the tables of products."""
    found = []
    for name in ("breast cancer, products", "wine, products"):
        x = open_table(name, Options()).x
        kept = geodim.top_features(x).columns
        widest = np.argsort(-x.var(axis=0), kind="stable")[: len(kept)]
        assert not set(kept) & set(widest.tolist())
        found.append([f"{np.median(kurtosis(x[:, some])):.0f}" for some in (widest, kept)])
    (cancer_by_variance, cancer), (wine_by_variance, wine) = found
    page.says(
        "is {} (breast cancer) and {} (wine), of those that resilience keeps {} and {};",
        cancer_by_variance, wine_by_variance, cancer, wine,
    )  # fmt: skip


def on_zeros_and_ones() -> None:
    """Resilience, the uniform score and variance keep the same columns."""
    for some in by_dataset(rows("selection")).values():
        if some["all"]["binary"]:
            known = some["variance"]["accuracy"]
            assert some["resilience"]["accuracy"] == some["uniform"]["accuracy"] == known
