"""docs/examples.md; tests/test_examples.py runs the examples."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sklearn.datasets import load_digits

import geodim

if TYPE_CHECKING:
    from prose.pages import Page


def check(page: Page) -> None:
    X = load_digits().data
    page.allows(
        "into a small world of dimension 34",
        "tests/test_examples.py compares it with what the example prints",
    )
    found = geodim.explain_dimension(X)
    page.says(
        "The dimension of {} images, which pixels carry it ({} of {}, a core of {})",
        f"{len(X):,}",
        len(found.shares),
        X.shape[1],
        len(found.core),
    )
