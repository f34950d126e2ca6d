"""The site is built without a warning, and all that it links to is there: pages, anchors, pictures, files."""

from __future__ import annotations

import json
import os
import re
import sys
from html import unescape
from importlib import import_module
from inspect import getmembers_static
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from geodim import __version__
from geodim.saved.document import Reported, SavedResult

ROOT = Path(__file__).parents[2]
LINK = re.compile(r'\b(?:href|src)="([^"]*)"')
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


@pytest.fixture(scope="session")
def links(pages: dict[Path, str]) -> dict[Path, set[tuple[Path, str]]]:
    """Where every page leads within the site: files, and anchors in them."""
    found: dict[Path, set[tuple[Path, str]]] = {path: set() for path in pages}
    for path, text in pages.items():
        for link in set(LINK.findall(text)):
            parts = urlsplit(unescape(link))
            if parts.scheme not in ("http", "https", "mailto", "data"):
                there = Path(os.path.normpath(path.parent / unquote(parts.path))) if parts.path else path
                found[path].add((there, unquote(parts.fragment)))
    return found


def test_links_lead_somewhere(
    site: Path, pages: dict[Path, str], links: dict[Path, set[tuple[Path, str]]]
) -> None:
    identifiers = {path: set(IDENTIFIER.findall(text)) for path, text in pages.items()}
    files = {path for path in site.rglob("*") if path.is_file()}
    wrong = []
    for path, targets in links.items():
        for there, anchor in targets:
            if there not in files:
                wrong.append(f"{path.relative_to(site)}: there is no {there}")
            elif anchor and anchor not in identifiers.get(there, {anchor}):
                wrong.append(f"{path.relative_to(site)}: no {anchor} in {there.relative_to(site)}")
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


def test_every_page_is_reached_from_the_front_page(
    site: Path, links: dict[Path, set[tuple[Path, str]]]
) -> None:
    reached: set[Path] = set()
    ahead = {site / "index.html"}
    while ahead:
        reached |= ahead
        ahead = {there for path in ahead for there, _ in links[path] if there in links} - reached
    assert {str(path.relative_to(site)) for path in set(links) - reached} == set()


def test_front_page_has_picture_search_version_and_preview(site: Path, pages: dict[Path, str]) -> None:
    front = pages[site / "index.html"]
    assert "_images/digits.png" in front
    assert 'href="search.html"' in front or "search-button" in front
    assert __version__ in front
    for name in ("og:title", "og:description", "og:image", "twitter:card"):
        assert re.search(rf'<meta (?:property|name)="{name}" content="[^"]+"', front), name
    assert (site / "_static" / "social.png").stat().st_size > 5_000


def test_the_reference_has_all_methods_of_results(site: Path, pages: dict[Path, str]) -> None:
    """Those that they inherit, too: `report` and `to_json` are looked for there."""
    modules = ("geodim", "geodim.baselines", "geodim.gnn")
    found = [(module, name) for module in modules for name in import_module(module).__all__]
    results = [(module, name) for module, name in found if is_result(getattr(import_module(module), name))]
    assert len(results) >= 15
    for module, name in results:
        kind = getattr(import_module(module), name)
        methods = {one for one, _ in getmembers_static(kind) if callable(getattr(kind, one))}
        for method in sorted(one for one in methods if not one.startswith("_")):
            page = pages[site / "reference" / "api" / f"{module}.{name}.html"]
            assert f'id="{module}.{name}.{method}"' in page, method


def is_result(one: object) -> bool:
    return isinstance(one, type) and issubclass(one, SavedResult | Reported)


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
