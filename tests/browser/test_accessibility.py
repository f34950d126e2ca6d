"""Everyone can read the report: contrast, dark and light, phones, keyboard, no scripts, paper."""

from __future__ import annotations

import base64
from itertools import pairwise

import pytest

from costs import slow

pytest.importorskip("selenium", reason="selenium is not installed: pip install 'geodim[browser]'")
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.keys import Keys

VERDICTS = ("equal", "different", "absent")


def contrast(window, selector):
    """Contrast of an element's text with the page, by the formula of WCAG 2."""
    script = """
        const of = c => {
          const v = c.match(/[\\d.]+/g).slice(0, 3).map(x => x / 255)
            .map(x => x <= 0.04045 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4);
          return 0.2126 * v[0] + 0.7152 * v[1] + 0.0722 * v[2]; };
        const e = document.querySelector(arguments[0]);
        let b = e; while (getComputedStyle(b).backgroundColor === 'rgba(0, 0, 0, 0)') { b = b.parentElement; }
        const s = getComputedStyle(e), one = of(s.color || s.fill);
        const other = of(getComputedStyle(b).backgroundColor);
        return (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05);"""
    return window.js(script, selector)


@pytest.mark.turns(2)
@pytest.mark.parametrize("dark", [False, True])
def test_contrast(window, reports, dark):
    window.open(reports["hops"], dark=dark)
    for selector in (
        "h1",
        "main p",
        ".lead .note",
        "figcaption",
        ".advice .small",
        "thead button",
        "td",
        "#theme",
        "dt",
        "footer p",
    ):
        assert contrast(window, selector) >= 4.5, selector


@pytest.mark.turns(2)
@pytest.mark.parametrize("dark", [False, True])
def test_contrast_of_alerts_and_gauge(window, reports, dark):
    window.open(reports["typo"], dark=dark)
    for selector in (".alert.warning p", ".alert.warning strong", ".alert .small", ".verdict"):
        assert contrast(window, selector) >= 4.5, selector
    for selector in (".gauge .here-text", ".gauge .tick", ".gauge text"):
        colours = "const s = getComputedStyle(document.querySelector(arguments[0])); return [s.fill, s.color]"
        fill, _ = window.js(colours, selector)
        window.js("document.querySelector(arguments[0]).style.color = arguments[1]", selector, fill)
        assert contrast(window, selector) >= 4.5, selector


@pytest.mark.turns(2)
@pytest.mark.parametrize("width", [390, 1400])
@pytest.mark.parametrize("name", ["typo", slow("dimension"), "bounds", slow("hops")])
def test_the_gauge_fits(window, reports, name, width):
    """All of it is on the screen, its texts touch no other and can be read."""
    window.open(reports[name], width=width, height=800)
    boxes = window.js(
        "return Array.from(document.querySelectorAll('.gauge text'), e => { const b = "
        "e.getBoundingClientRect(); return [e.textContent, b.left, b.right, b.top, b.bottom] })"
    )
    assert len(boxes) >= 6
    for text, left, right, top, bottom in boxes:
        assert left >= 0
        assert right <= width, text
        assert bottom - top >= 9, text
    for at, (one, left, right, top, bottom) in enumerate(boxes):
        for other, left2, right2, top2, bottom2 in boxes[at + 1 :]:
            apart = right <= left2 or right2 <= left or bottom <= top2 + 3 or bottom2 <= top + 3
            assert apart, (one, other)
    label = window.find(".gauge svg").get_attribute("aria-label")
    assert "evenly spaced 4" in label


def test_dark_and_light(window, reports):
    """The colours follow the system, and the button; plots change with the page."""

    def colours():
        return window.js(
            "return [getComputedStyle(document.body).backgroundColor, "
            "getComputedStyle(document.querySelector('#r0-curve .main-svg')).backgroundColor, "
            "getComputedStyle(document.querySelector('#r0-curve .xtick text')).fill]"
        )

    window.open(reports["hops"], dark=True)
    dark = colours()
    window.open(reports["hops"])
    light = colours()
    assert dark[0] == dark[1] == "rgb(22, 22, 24)"
    assert light[0] == light[1] == "rgb(255, 255, 255)"
    assert dark[2] != light[2]
    button = window.find("#theme")
    assert button.text == "Dark"
    button.click()
    assert colours() == dark
    assert (button.text, button.get_attribute("aria-label")) == ("Light", "Switch to the light colours")
    button.click()
    assert colours() == light
    window.prefer("dark")
    assert colours() == light  # chosen by hand


@pytest.mark.turns(2)
@pytest.mark.parametrize("name", ["all", "hostile", "large", "typo"])
def test_a_small_screen(window, reports, name):
    """Every kind of section is on the first of them."""
    window.open(reports[name], width=360, height=740)
    assert window.js("return document.documentElement.scrollWidth") <= 360
    assert window.js("return document.body.scrollWidth") <= 360
    for box in window.find_all(".js-plotly-plot"):
        assert (
            280
            <= window.js("return arguments[0].querySelector('.main-svg').getBoundingClientRect().width", box)
            <= 360
        )
    assert (
        window.js(
            "return Math.min(...Array.from(document.querySelectorAll('td, p, dd'), e => "
            "parseFloat(getComputedStyle(e).fontSize)))"
        )
        >= 13
    )
    if name == "all":  # hostile names are as long as they like
        cut = window.js(
            "return Array.from(document.querySelectorAll('.wide'))"
            ".filter(e => e.scrollWidth > e.clientWidth + 1).map(e => e.innerText)"
        )
        assert cut == []  # no number ends in the middle
    assert window.console() == []


@pytest.mark.turns(2)
@pytest.mark.parametrize(("width", "dark"), [(1400, False), (360, True)])
def test_the_report_on_the_experiments(window, reproduction, width, dark):
    """The same page around other contents: no scripts, no requests, wide tables scroll by themselves."""
    window.open(reproduction, width=width, height=740, dark=dark, ready=False)
    assert window.js("return document.documentElement.scrollWidth") <= width
    assert window.js("return getComputedStyle(document.body).backgroundColor") == (
        "rgb(22, 22, 24)" if dark else "rgb(255, 255, 255)"
    )
    for selector in ("h1", "main p", "footer p", *(f".{kind} td:last-child" for kind in VERDICTS)):
        assert contrast(window, selector) >= 4.5, selector
    regions = window.find_all(".wide")
    assert len(regions) > 5
    assert all(one.get_attribute("tabindex") == "0" and one.get_attribute("aria-label") for one in regions)
    assert window.console() == []
    assert window.requests() == [reproduction.as_uri()]


def test_comparisons_fit_a_phone(window, reports):
    """Every value of every result is in sight, beside the name of the result."""
    window.open(reports["all"], width=390, height=800)
    for table in window.find_all("#comparison table"):
        region = window.js(
            "const r = arguments[0].parentElement; return [r.scrollWidth, r.clientWidth]", table
        )
        assert region[0] <= region[1]
    cells = window.js(
        "return Array.from(document.querySelectorAll('#comparison td'), e => { const b = "
        "e.getBoundingClientRect(), fits = e.scrollWidth <= e.clientWidth; "
        "return [b.left, b.right, e.dataset.label, fits] })"
    )
    assert len(cells) > 40
    assert all(left >= 0 and right <= 390 and label and whole for left, right, label, whole in cells)
    roles = window.js("return document.querySelector('#comparison tbody tr').getAttribute('role')")
    assert roles == "row"
    window.open(reports["all"], width=1400)
    assert (
        window.js("return getComputedStyle(document.querySelector('#comparison td')).display") == "table-cell"
    )


def test_turning_the_screen_draws_again(window, reports):
    window.open(reports["dimension"], width=740, height=360)
    width = window.js("return document.querySelector('#r0-curve .main-svg').getBoundingClientRect().width")
    window.command(
        "Emulation.setDeviceMetricsOverride", width=360, height=740, deviceScaleFactor=1, mobile=True
    )
    window.wait("return document.querySelector('#r0-curve .main-svg').getBoundingClientRect().width < 360")
    assert width > 600


def test_keyboard_only(window, reports):
    """Everything can be reached and used with the keyboard, in the order of the page.

    One sees where one is.
    """
    window.open(reports["hops"])
    reached = []
    for _ in range(60):
        ActionChains(window.driver).send_keys(Keys.TAB).perform()
        found = window.js(
            "const e = document.activeElement, s = getComputedStyle(e);"
            "return [e.tagName, e.id, e.textContent.slice(0, 40), s.outlineStyle, "
            "e.getBoundingClientRect().top + scrollY]"
        )
        if found[0] == "BODY":
            break
        reached.append(found)
    words = [(tag, key or text) for tag, key, text, _, _ in reached]
    assert words[0] == ("A", "Skip to the content")
    assert words[1] == ("BUTTON", "theme")
    for wanted in (
        ("INPUT", "r0-hop"),
        ("INPUT", "r0-alpha"),
        ("BUTTON", "feature"),
        ("BUTTON", "Next"),
        ("SUMMARY", "What the words mean"),
    ):
        assert wanted in words
    assert all(style != "none" for _, _, _, style, _ in reached)
    tops = [top for *_, top in reached[1:]]
    assert tops == sorted(tops)
    window.find("#r0-table thead button").send_keys(Keys.ENTER)
    assert window.find("#r0-table thead th").get_attribute("aria-sort") == "ascending"
    after = window.find_all("#r0-table .pager button")[1]
    after.send_keys(Keys.SPACE)
    assert window.texts("#r0-table .pager .count")[0].startswith("Page 2")


def test_the_skip_link(window, reports):
    window.open(reports["all"])
    ActionChains(window.driver).send_keys(Keys.TAB).perform()
    link = window.driver.switch_to.active_element
    assert link.is_displayed()
    assert link.location["y"] >= 0
    link.send_keys(Keys.ENTER)
    assert window.js("return document.activeElement.id") == "main"


def test_names_roles_and_order(window, reports):
    """Landmarks once each, no heading level left out, every control with a name."""
    window.open(reports["all"])
    for name in ("header", "main", "nav", "footer", "h1"):
        assert len(window.find_all(name)) == 1
    levels = window.js(
        "return Array.from(document.querySelectorAll('h1, h2, h3, h4'), e => Number(e.tagName[1]))"
    )
    assert levels[0] == 1
    assert all(later - earlier <= 1 for earlier, later in pairwise(levels))
    nameless = window.js(
        "return Array.from(document.querySelectorAll('input, button:not([data-title])')).filter(e => "
        "!e.closest('.js-plotly-plot')).filter(e => !(e.labels && e.labels.length) && "
        "!e.getAttribute('aria-label') && !e.textContent.trim()).length"
    )
    assert nameless == 0
    assert all(box.get_attribute("aria-label") for box in window.find_all(".js-plotly-plot"))
    assert window.js("return document.documentElement.lang") == "en"


def test_without_scripts(window, reports):
    """Fixed pictures and the first rows, as in the preview of an e-mail."""
    window.command("Emulation.setScriptExecutionDisabled", value=True)
    try:
        window.open(reports["all"], ready=False)
        assert window.find(".no-scripts").is_displayed()
        assert len(window.find_all("svg.static .line")) == 7
        assert len(window.find_all("#r0-table tbody tr")) == 25
    finally:
        window.command("Emulation.setScriptExecutionDisabled", value=False)


def test_print(window, reports):
    window.open(reports["hops"], dark=True)
    dark = [{"name": "prefers-color-scheme", "value": "dark"}]
    window.command("Emulation.setEmulatedMedia", media="print", features=dark)
    assert window.js("return getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert not window.find("#theme").is_displayed()
    window.command("Emulation.setEmulatedMedia", media="", features=[])
    pdf = base64.b64decode(window.command("Page.printToPDF", printBackground=True)["data"])
    assert pdf.startswith(b"%PDF")
    assert pdf.count(b"/Type /Page\n") + pdf.count(b"/Type /Page ") + pdf.count(b"/Type /Page/") >= 2
    assert window.console() == []
