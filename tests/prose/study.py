"""docs/study.md."""

from __future__ import annotations

from typing import TYPE_CHECKING

from geodim.experiments.study import NEIGHBOURS, SAMPLE
from geodim.experiments.study_graphs import GRAPHS, PER_CLASS, SPLITS, TEST, VALID
from geodim.experiments.study_questions import LEVEL, RESAMPLES

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
