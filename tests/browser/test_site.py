"""The documentation site in a browser: no errors, nothing from other hosts, and it fits a phone."""

from __future__ import annotations

import pytest

from built_site import built_site

PAGES = {
    "front": "index.html",
    "gallery": "gallery/index.html",
    "tutorial": "tutorials/table.html",
    "function": "reference/api/geodim.intrinsic_dimension.html",
    "class": "reference/api/geodim.IDResult.html",
    "command": "reference/commands/geodim-compute.html",
    "page": "reading.html",
}


@pytest.fixture(scope="session")
def site(tmp_path_factory):
    return built_site(tmp_path_factory)


@pytest.fixture
def opened(window, site):
    def open_page(name, **options):
        window.open(site / PAGES[name], ready=False, **options)
        window.wait("return document.readyState === 'complete'")
        return window

    return open_page


@pytest.mark.turns(2)
@pytest.mark.parametrize("width", [390, 1300])
@pytest.mark.parametrize("name", PAGES)
def test_fits_without_errors_or_strangers(opened, name, width):
    window = opened(name, width=width)
    assert window.js("return document.documentElement.scrollWidth") <= width
    assert [
        entry for entry in window.driver.get_log("browser") if entry["level"] not in ("INFO", "DEBUG")
    ] == []
    assert [address for address in window.requests() if not address.startswith("file:")] == []
    broken = "return Array.from(document.images).filter(i => i.complete && !i.naturalWidth).map(i => i.src)"
    assert window.js(broken) == []


@pytest.mark.parametrize("dark", [False, True])
def test_dark_mode_follows_the_system(opened, dark):
    window = opened("front", dark=dark)
    assert window.js("return document.documentElement.dataset.theme") == ("dark" if dark else "light")
    light = "const c = getComputedStyle(document.body).backgroundColor.match(/\\d+/g); return c[0] > 128"
    assert window.js(light) is not dark


def test_formulas_are_drawn(opened):
    window = opened("function")
    assert window.js("return document.querySelectorAll('math').length") > 0
    assert window.js("return document.querySelector('.formula math').getBoundingClientRect().height") > 20


def test_cards_lead_to_pages(opened):
    window = opened("front")
    window.js("document.querySelector('.kinds a').click()")
    window.wait("return location.pathname.endsWith('tutorials/index.html')")
