"""The site is built without a warning, and all that it links to is there: pages, anchors, pictures, files."""

from __future__ import annotations

import json
import os
import re
import sys
from html import unescape
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from geodim import __version__

ROOT = Path(__file__).parents[2]
LINK = re.compile(r'<(?!link rel="canonical")[^>]*?\b(?:href|src)="([^"]*)"')
IDENTIFIER = re.compile(r'\bid="([^"]*)"')
KINDS = ("tutorials", "how-to", "explanations", "reference", "gallery", "project")


@pytest.fixture(scope="session")
def pages(site: Path) -> dict[Path, str]:
    found = {
        path: path.read_text(encoding="utf-8")
        for path in site.rglob("*.html")
        if not {"_static", "_downloads"} & set(path.relative_to(site).parts)
    }
    assert len(found) > 150
    return found


def test_links_lead_somewhere(site: Path, pages: dict[Path, str]) -> None:
    identifiers = {path: set(IDENTIFIER.findall(text)) for path, text in pages.items()}
    wrong = []
    for path, text in pages.items():
        for link in set(LINK.findall(text)):
            parts = urlsplit(unescape(link))
            if parts.scheme in ("http", "https", "mailto", "data"):
                continue
            there = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if not there.is_file():
                wrong.append(f"{path.relative_to(site)}: no file for {link}")
            elif parts.fragment and unquote(parts.fragment) not in identifiers.get(there, {parts.fragment}):
                wrong.append(f"{path.relative_to(site)}: no anchor for {link}")
    assert not wrong, "\n".join(wrong[:40])


def test_nothing_comes_from_other_hosts(site: Path, pages: dict[Path, str]) -> None:
    script = r'<(?:script|img|iframe|source)[^>]*\bsrc="(?:https?:)?//'
    style = r'<link(?! rel="canonical")[^>]*href="(?:https?:)?//'
    loaded = re.compile(f"{script}|{style}")
    assert [path.relative_to(site) for path, text in pages.items() if loaded.search(text)] == []


def test_no_path_of_this_machine_is_shown(site: Path, pages: dict[Path, str]) -> None:
    folders = {str(ROOT), sys.prefix, str(site), str(Path.home()) + os.sep} - {"/", os.sep}
    for path, text in pages.items():
        assert [folder for folder in folders if folder in text] == [], path


@pytest.mark.parametrize("kind", KINDS)
def test_pages_are_kept_apart_by_kind(site: Path, pages: dict[Path, str], kind: str) -> None:
    front = pages[site / "index.html"]
    assert f'href="{kind}/index.html"' in front
    assert (site / kind / "index.html").exists()


def test_every_page_is_reached_from_the_front_page(site: Path, pages: dict[Path, str]) -> None:
    reached, ahead = set(), [site / "index.html"]
    while ahead:
        path = ahead.pop()
        if path in reached or path not in pages:
            continue
        reached.add(path)
        for link in LINK.findall(pages[path]):
            parts = urlsplit(unescape(link))
            if not parts.scheme and parts.path:
                ahead.append((path.parent / unquote(parts.path)).resolve())
    assert {str(path.relative_to(site)) for path in set(pages) - reached} == set()


def test_front_page_has_picture_search_version_and_preview(site: Path, pages: dict[Path, str]) -> None:
    front = pages[site / "index.html"]
    assert "_images/digits.png" in front
    assert 'href="search.html"' in front or "search-button" in front
    assert __version__ in front
    for name in ("og:title", "og:description", "og:image", "twitter:card"):
        assert re.search(rf'<meta (?:property|name)="{name}" content="[^"]+"', front), name
    assert (site / "_static" / "social.png").stat().st_size > 5_000


def test_search_finds_what_people_look_for(site: Path) -> None:
    index = (site / "searchindex.js").read_text(encoding="utf-8")
    known = json.loads(index[index.index("{") : index.rindex("}") + 1])
    assert {"intrinsic_dimension", "khop_dimensions"} <= {
        name for names in known["objects"].values() for _, _, _, _, name in names
    }
    assert "weight" in known["terms"]


def test_every_card_has_a_picture_of_its_own(site: Path) -> None:
    """Of a site whose gallery was executed; the others have none."""
    pictures = {
        name: (site / folder / "index.html").read_text(encoding="utf-8").count("sphx-glr-thumbcontainer")
        for name, folder in (("gallery", "gallery"), ("tutorials", "tutorials"))
    }
    assert pictures["gallery"] == len(list((ROOT / "examples").glob("plot_*.py")))
    assert pictures["tutorials"] == 3
    if "GEODIM_SITE" not in os.environ:
        pytest.skip("the gallery is executed by `make docs` alone")
    thumbnails = list((site / "_images").glob("sphx_glr_*_thumb.png"))
    assert len(thumbnails) == sum(pictures.values())
    assert len({path.read_bytes() for path in thumbnails}) == len(thumbnails)
