"""The documentation site in a browser: no errors, nothing from other hosts, and it fits a phone."""

from __future__ import annotations

from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest

from built_site import built_site
from geodim import __version__

PAGES = {
    "front": "index.html",
    "gallery": "gallery/index.html",
    "tutorial": "tutorials/table.html",
    "function": "reference/api/geodim.intrinsic_dimension.html",
    "class": "reference/api/geodim.IDResult.html",
    "command": "reference/commands/geodim-compute.html",
    "page": "reading.html",
}


class QuietHandler(SimpleHTTPRequestHandler):
    """Serves a folder, and says nothing about it."""

    def log_message(self, *words):
        pass


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


def test_pictures_of_cards_keep_away_from_their_borders(opened):
    window = opened("gallery")
    sides = "return Array.from(document.querySelectorAll('.sphx-glr-thumbcontainer img'), e => {"
    sides += "const s = getComputedStyle(e); return [s.paddingLeft, s.paddingRight].map(parseFloat) })"
    found = window.js(sides)
    assert len(found) > 9
    assert min(min(pair) for pair in found) >= 8


@pytest.fixture
def served(site):
    """The address of the site on this machine, for what works over http only."""
    handler = partial(QuietHandler, directory=str(site))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()
        thread.join()


@pytest.mark.parametrize("page", ["", "how-to/", "how-to/index.html"])
def test_versions_are_offered(window, served, page):
    window.driver.get(served + page)
    window.wait("return document.querySelectorAll('.version-switcher__menu a').length")
    shown = "return document.querySelector('.version-switcher__button').innerText"
    assert window.js(shown) == __version__
    (address,) = window.js(
        "return Array.from(document.querySelectorAll('.version-switcher__menu a.active'), a => a.href)"
    )
    assert address.endswith(f"/geodim/{page.removesuffix('index.html')}index.html")
    assert [entry for entry in window.driver.get_log("browser") if entry["level"] == "SEVERE"] == []


def test_a_search_finds_the_page_of_a_function(window, served):
    window.driver.get(f"{served}search.html?q=khop_dimensions")
    addresses = "Array.from(document.querySelectorAll('#search-results li a'), e => e.getAttribute('href'))"
    page = "reference/api/geodim.khop_dimensions"
    assert window.wait(f"return {addresses}.filter(address => address.includes('{page}')).length")
    window.wait("return document.querySelectorAll('#search-results li p.context').length")  # with its words
    assert [entry for entry in window.driver.get_log("browser") if entry["level"] == "SEVERE"] == []


def test_a_page_in_a_folder_names_its_version(opened):
    window = opened("function")
    assert window.js("return document.querySelector('.version-switcher__button').innerText") == __version__
