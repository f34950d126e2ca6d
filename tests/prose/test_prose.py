"""Every number in README.md and docs/*.md is that of a committed result, or no finding at all.

`prose.pages` says how; a module for every page says what its numbers are.
"""

from __future__ import annotations

import importlib

import pytest

from prose.pages import ROOT, Page

PAGES = ["README.md", *sorted(f"docs/{path.name}" for path in (ROOT / "docs").glob("*.md"))]


def checked(name: str, text: str | None = None) -> Page:
    """The page, or another text in its place, with all that is claimed of it."""
    page = Page.read(name) if text is None else Page(name, text)
    module = name.removeprefix("docs/").removesuffix(".md").lower().replace("-", "_")
    there = (ROOT / "tests" / "prose" / f"{module}.py").exists()
    assert there, (
        f"nobody answers for the numbers of {name}: write tests/prose/{module}.py, as for other pages"
    )
    importlib.import_module(f"prose.{module}").check(page)
    return page


@pytest.mark.parametrize("name", PAGES)
def test_numbers_are_those_of_the_results(name: str) -> None:
    page = checked(name)
    assert not page.missing, f"{name} does not say:\n" + "\n".join(page.missing)


@pytest.mark.parametrize("name", PAGES)
def test_somebody_answers_for_every_number(name: str) -> None:
    alone = checked(name).uncovered()
    assert not alone, (
        f"{name} quotes numbers that no claim or allowance of tests/prose covers:\n"
        + "\n".join(map(str, alone))
    )
