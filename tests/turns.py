"""Families of many cases take turns: a share of them in every run, others every day, all before a release.

The mark ``turns(n)`` is for cases that ask the same of other numbers: each has its turn within days.  What
asks every file, name or option for itself has none: whoever changes one of them should hear of it at once.
"""

from __future__ import annotations

import zlib
from collections import defaultdict

import numpy as np
import pytest


class Turns:
    """The plugin: leaves out the cases whose turn it is not."""

    @pytest.hookimpl(trylast=True)  # what is slow is left out already
    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        if "not slow" not in config.getoption("-m"):  # as for `make test-all`
            return
        families = defaultdict(list)
        for item in items:
            if item.get_closest_marker("turns"):
                families[item.nodeid.partition("[")[0]].append(item)
        resting = {
            case
            for name, cases in families.items()
            for case in _resting(name, cases, config.getoption("--seed"))
        }
        if resting:
            config.hook.pytest_deselected(items=list(resting))
            items[:] = [item for item in items if item not in resting]


def _resting(name: str, cases: list[pytest.Item], seed: int) -> list[pytest.Item]:
    """All but one in n, the same in every process of a run; of one that is asked for by its name, none."""
    mark = cases[0].get_closest_marker("turns")
    assert mark is not None
    (every,) = mark.args
    order = np.random.default_rng([seed, zlib.crc32(name.encode())]).permutation(len(cases))
    return [cases[at] for at in order[-(-len(cases) // every) :]]
