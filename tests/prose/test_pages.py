"""The mechanism notices what it is for; and what pages name and link to is there."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from prose.pages import ROOT, Page, prose_of
from prose.test_prose import PAGES, checked

if TYPE_CHECKING:
    from pathlib import Path

TEXTS = {name: (ROOT / name).read_text(encoding="utf-8") for name in PAGES}


def test_a_number_that_changes_is_noticed() -> None:
    page = Page("a page", "It takes 2.5 s on\ntwo cores.")
    page.says("It takes {} s on two cores.", "2.5")
    assert page.missing == []
    assert page.uncovered() == []
    page.says("It takes {} s on two cores.", "2.6")
    assert page.missing == ["It takes 2.6 s on two cores."]


def test_a_number_that_is_new_is_noticed() -> None:
    page = Page("a page", "It takes 2.5 s, and 17 MB.")
    page.says("It takes {} s", "2.5")
    assert [one.text for one in page.uncovered()] == ["17"]
    page.allows("and 17 MB", "an example")
    assert page.uncovered() == []


def test_only_what_fills_a_gap_is_covered() -> None:
    page = Page("a page", "From 20 columns on it takes 2.5 s.")
    page.says("From 20 columns on it takes {} s.", "2.5")
    assert [one.text for one in page.uncovered()] == ["20"]


def test_an_allowance_does_not_outlive_its_text() -> None:
    page = Page("a page", "Nothing of the kind.")
    page.allows("some 500 cells", "a constant")
    page.allows_section("Cost", "a formula")
    assert page.missing == ["some 500 cells", "Cost"]


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("1,797 images, 3.9 and 5e-9", ["1,797", "3.9", "5e-9"]),
        ("five of 6, k = 5, F12, float32, 10^6 x 32, 2^-53", []),
        ("in 4 s, by 8 %, 3 times", ["4", "8", "3"]),
        ("`0.5` and [a page](x-20.md), but 42", ["42"]),
        ("```python\nx = 12  # about 34\n```\n", ["34"]),
        (">>> 3 + 39\n42\n\nthen 43", ["43"]),
        ("text\n\n    y = 55\n\nmore 56", ["56"]),
        ("* an item of 61\n  that goes on with 62", ["61", "62"]),
    ],
)
def test_which_numbers_are_seen(text: str, numbers: list[str]) -> None:
    assert [one.text for one in Page("a page", text).numbers()] == numbers


@pytest.mark.parametrize("name", PAGES)
def test_places_stay_the_same(name: str) -> None:
    assert len(prose_of(TEXTS[name])) == len(TEXTS[name])


@pytest.mark.turns(4)  # it is the rules that are tested, on one page or another
@pytest.mark.parametrize("name", PAGES)
def test_a_change_of_any_covered_number_is_noticed(name: str) -> None:
    """Change the numbers of the page one by one (some of them): its module must complain."""
    spans = checked(name).claimed
    numbers = [one for one in Page.read(name).numbers() if len(one.text) > 2]
    covered = [one for one in numbers if any(start <= one.start < end for start, end in spans)]
    for one in covered[:: max(len(covered) // 5, 1)]:
        digit = next(at for at, letter in enumerate(one.text) if letter.isdigit())
        other = one.text[:digit] + str((int(one.text[digit]) + 1) % 10) + one.text[digit + 1 :]
        text = TEXTS[name][: one.start] + other + TEXTS[name][one.start + len(one.text) :]
        assert checked(name, text).missing, f"{one} became {other}, and nobody noticed"


@pytest.mark.parametrize("name", PAGES)
def test_links_lead_somewhere(name: str) -> None:
    for target in re.findall(r"\]\(([^)\s]+)\)", prose_without_code(TEXTS[name])):
        if target.startswith(("http://", "https://")):
            continue
        path, _, anchor = target.partition("#")
        there = (ROOT / name).parent / path if path else ROOT / name
        assert there.exists(), f"{name} links to {target}"
        if anchor and there.suffix == ".md":
            assert anchor in anchors(there.read_text(encoding="utf-8")), f"{name} links to {target}"


def prose_without_code(text: str) -> str:
    return re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL)


def anchors(text: str) -> set[str]:
    """The names of headings, as GitHub makes them."""
    headings = re.findall(r"^#+ (.+)$", prose_without_code(text), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("name", PAGES)
def test_files_that_are_named_exist(name: str) -> None:
    for word in re.findall(r"`((?:tests|src|docs|benchmarks|examples)/[\w./-]*)`", TEXTS[name]):
        assert (ROOT / word).exists(), f"{name} names {word}"


def test_every_page_is_listed() -> None:
    """Whoever reads README.md, or walks through the site, finds all of them."""
    listed = set(re.findall(r"\((docs/[\w-]+\.md)", TEXTS["README.md"]))
    for index in (ROOT / "docs").glob("*/index.md"):
        listed |= {
            f"docs/{name}.md"
            for name in re.findall(r"^\.\./([\w-]+)$", index.read_text(encoding="utf-8"), re.MULTILINE)
        }
    assert set(PAGES) - {"README.md", "docs/index.md"} <= listed


@pytest.mark.parametrize("path", sorted((ROOT / "docs").glob("*/*.md")), ids=lambda path: path.parent.name)
def test_pages_that_lead_to_others_quote_no_numbers(path: Path) -> None:
    """Nobody would answer for them."""
    if path.parent.name != "results":
        assert Page(path.name, path.read_text(encoding="utf-8")).uncovered() == []
