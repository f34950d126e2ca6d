"""docs/study.md."""

from __future__ import annotations

from typing import TYPE_CHECKING

from geodim.experiments.study import NEIGHBOURS, SAMPLE, WIDEST
from geodim.experiments.study_graphs import GRAPHS, PER_CLASS, SPLITS, TEST, VALID
from geodim.experiments.study_questions import (
    CANDIDATES,
    LEVEL,
    RESAMPLES,
    RULES,
    across,
    ahead_of,
    best_trivial,
    falls_all_the_same,
    graphs,
    halves,
    regrets,
    within,
)
from prose.sources import rows

if TYPE_CHECKING:
    from prose.pages import Page


def check(page: Page) -> None:
    assert len(GRAPHS) == 18
    assert sum(kind.heterophilous for kind in GRAPHS.values()) == 7
    page.says("maximum likelihood estimate ({} neighbours) and TwoNN of {} nodes", NEIGHBOURS, f"{SAMPLE:,}")
    page.says("test accuracies of SIGN, {} trainings", SPLITS)
    page.says("({} nodes of each class to train, {} to validate, {} to test)", PER_CLASS, VALID, f"{TEST:,}")
    page.says("interval of {} % from {} resamples", f"{100 * LEVEL:.0f}", f"{RESAMPLES:,}")
    page.says("the interval of {} % of the difference", f"{100 * LEVEL:.0f}")
    page.allows("from k = 0 to 5", "the hops that are looked at")
    page.allows("always 0, always 1, always 2 and always 5", "the trivial rules")
    page.says("Attributes above {} were too many", f"{WIDEST:,}")
    page.allows("where 80 % have one class", "of minesweeper: four in five cells have no mine")
    answers(page)
    advice(page)


def answers(page: Page) -> None:
    some = graphs(rows("study"))
    assert len(some) == len(GRAPHS)
    inside, between = within(some), across(some)
    ours, hops = inside["intrinsic dimension"], inside["number of hops (-k)"]
    page.says("mean rank correlation {}; MLE {}, TwoNN {} |", ours, inside["MLE"], inside["TwoNN"])
    page.says("−k has {}; the difference is {} |", hops, inside["dimension less number of hops"])
    page.says(
        "**no** | {}; MLE {}, TwoNN {}; homophily, which needs labels, {} |",
        between["intrinsic dimension"], between["MLE"], between["TwoNN"], between["homophily"],
    )  # fmt: skip
    assert ours.lower > 0.0 > inside["dimension less number of hops"].lower
    assert between["intrinsic dimension"].lower < 0.0
    assert falls_all_the_same(some) == (["actor", "wisconsin"], ["actor", "wisconsin"])
    found = regrets(some, RULES)
    assert best_trivial(some) == "always 5"
    page.says(
        "mean regret {} points, always 5 hops {}; the difference is {} |",
        found["advise"].percent(), found["always 5"].percent(),
        ahead_of(some, RULES["advise"], RULES["always 5"]).percent(),
    )  # fmt: skip
    for rule in ("always 1", "always 2"):
        assert ahead_of(some, RULES["advise"], RULES[rule]).upper < 0.0


def advice(page: Page) -> None:
    some = graphs(rows("study"))
    develop, test = halves(some)
    name = "advise where the class ratio falls"
    shown = {
        "validation accuracy": "validation accuracy of six trained models",
        name: "`advise` where the class ratio falls with the first hop, else 0",
        "advise": "`advise`",
        **{f"always {k}": f"always {k}" for k in (5, 2, 1, 0)},
    }
    rules = {**RULES, **CANDIDATES}
    kinds = [regrets(part, rules) for part in (some, develop, test)]
    for rule, label in shown.items():
        page.says(f"| {label} | {{}} | {{}} | {{}} |", *(kind[rule].percent() for kind in kinds))
    assert min(CANDIDATES, key=lambda rule: kinds[1][rule].value) == name
    lead = ahead_of(test, CANDIDATES[name], RULES[best_trivial(test)]).percent()
    page.says("by {} points, {}, and no higher", lead.split()[0].removeprefix("-"), lead)
    difference = ahead_of(test, CANDIDATES[name], RULES["advise"]).percent()
    page.says("`advise`: the difference is {}. It needs", difference)
