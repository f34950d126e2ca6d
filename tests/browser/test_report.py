"""The report in a real browser: it draws, answers mouse and keyboard, fits a phone, and runs nothing but its own script."""

from __future__ import annotations

import base64
from itertools import pairwise

import numpy as np
import pytest

import geodim
from geodim.report.html.document import write_report
from geodim.report.html.sources import Item

pytest.importorskip("plotly", reason="the report needs plotly: pip install 'geodim[report]'")
pytest.importorskip("selenium", reason="selenium is not installed: pip install 'geodim[browser]'")
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.keys import Keys

RNG = np.random.default_rng(3)
# Of feature j the first m_j points are 0 and the others h_j, both growing with j: each attains Phi after its own m_j.
X = np.where(np.arange(300)[:, np.newaxis] < 150 + 3 * np.arange(40), 0.0, (1 + np.arange(40)) / 40)
X += 1e-3 * RNG.random(X.shape)
NAMES = [f"column {i}" for i in range(40)]
EDGES = RNG.integers(0, 300, (2, 600))
HOSTILE = [
    "</script><script>window.hacked = 1</script>",
    "<img src=x onerror=window.hacked=1>",
    "<b>bold</b> & %{x}",
    "<a href='javascript:window.hacked=1'>click</a>",
]


@pytest.fixture(scope="session")
def reports(tmp_path_factory):
    """Reports of every kind, as files."""
    folder = tmp_path_factory.mktemp("reports")
    dimension = geodim.intrinsic_dimension(X, feature_names=NAMES)
    hops = geodim.khop_dimensions(X, EDGES, hops=3, feature_names=NAMES)
    hostile = geodim.intrinsic_dimension(X[:, ::10], feature_names=HOSTILE)
    hostile_hops = geodim.khop_dimensions(X[:, ::10], EDGES, hops=1, feature_names=HOSTILE)
    chosen = geodim.select_features(X, 5, feature_names=NAMES)
    bounds = geodim.intrinsic_dimension(X, rtol=0.1, feature_names=NAMES)
    written = {
        "dimension": [Item("some data", dimension)],
        "hops": [Item("some graph", hops)],
        "selection": [Item("some choice", chosen)],
        "bounds": [Item("some bounds", bounds)],
        "hostile": [
            Item(HOSTILE[0], hostile),
            Item(HOSTILE[1], hostile_hops),
            Item(HOSTILE[3], geodim.select_features(X[:, ::10], 4, feature_names=HOSTILE)),
        ],
        "all": [Item("data", dimension), Item("graph", hops), Item("another", hops), Item("choice", chosen), Item("near", bounds)],
        "large": [Item("large", large())],
    }  # fmt: skip
    for name, items in written.items():
        write_report(items, folder / f"{name}.html")
    return {name: folder / f"{name}.html" for name in written}


def large():
    """A result with 10,000 features, all of which have a share."""
    n, d = 20_000, 10_000
    support = np.arange(2, n + 1)
    phi = ((support - 1) / (n - 1)) ** 2
    starts = np.unique(np.linspace(2, n, 2048).astype(np.int64))
    shares = np.sort(RNG.dirichlet(np.full(d, 0.3)))[::-1]
    delta = float(phi.sum()) / n
    return geodim.IDResult(
        n_points=n, n_features=d, normalized=True, d_max=1.0, discriminability=delta, discriminability_lower=delta,
        discriminability_upper=delta, support=support, phi_lower=phi, phi_upper=phi, exact=True,
        shares={f"feature number {i}": float(share) for i, share in enumerate(shares)},
        attained_from=starts, attained_by=RNG.integers(0, d, starts.size),
    )  # fmt: skip


def column(window, key, at):
    """Texts of one column of a table."""
    return window.texts(f"#{key}-table tbody tr > :nth-child({at})")


# ---------------------------------------------------------------- drawing


@pytest.mark.parametrize(
    ("name", "plots"),
    [
        ("dimension", ["r0-curve", "r0-shares"]),
        ("hops", ["r0-hops", "r0-curve", "r0-shares"]),
        ("selection", ["r0-greedy"]),
        ("bounds", ["r0-curve", "r0-shares"]),
        (
            "all",
            ["compare-curves", "compare-hops", "r0-curve", "r1-hops", "r2-curve", "r3-greedy", "r4-curve"],
        ),
    ],
)
@pytest.mark.parametrize("dark", [False, True])
def test_plots_draw_without_errors_and_requests(window, reports, name, plots, dark):
    window.open(reports[name], dark=dark)
    for key in plots:
        box = window.find(f"#{key}")
        assert "js-plotly-plot" in box.get_attribute("class")
        marks = window.js(
            "return arguments[0].querySelectorAll('.scatterlayer path, .barlayer path').length", box
        )
        assert marks > 0
        assert box.size["width"] > 600
        assert box.size["height"] > 60
        drawn = window.js("return arguments[0].querySelector('.main-svg').getBoundingClientRect().width", box)
        assert abs(drawn - box.size["width"]) <= 1.0
    assert window.console() == []
    assert window.requests() == [reports[name].as_uri()]
    assert window.js("return document.querySelectorAll('svg.static').length") == 0
    assert not window.find(".no-scripts").is_displayed()


def test_hover_shows_alpha_size_feature_and_width(window, reports):
    window.open(reports["dimension"])
    area = window.centre(window.find("#r0-curve .nsewdrag"))
    ActionChains(window.driver).move_to_element_with_offset(area, -200, 40).perform()
    words = window.wait("return document.querySelector('#r0-curve .hoverlayer').textContent")
    assert "α = 0." in words
    assert "k = " in words
    assert "feature: column" in words
    assert "width 0." in words


def test_hover_on_hops_shows_the_dimension(window, reports):
    window.open(reports["hops"])
    point = window.centre(window.find("#r0-hops .scatterlayer .points path"))
    ActionChains(window.driver).move_to_element(point).perform()
    words = window.wait("return document.querySelector('#r0-hops .hoverlayer').textContent")
    result = geodim.khop_dimensions(X, EDGES, hops=0)
    assert words.startswith("k = 0dimension ")
    assert f"{result.dimensions[0]:.6g}"[:5].replace(",", "") in words.replace(",", "")


def test_legend_and_shares_name_the_features(window, reports):
    window.open(reports["dimension"])
    result = geodim.intrinsic_dimension(X, feature_names=NAMES)
    first = next(iter(result.shares))
    assert any(text.startswith(first) for text in window.texts("#r0-curve .legendtext"))
    assert window.texts("#r0-shares .yaxislayer-above text, #r0-shares .ytick text")[0] == first


# ---------------------------------------------------------------- tables and sliders


def test_sorting(window, reports):
    window.open(reports["dimension"])
    result = geodim.intrinsic_dimension(X, feature_names=NAMES)
    assert column(window, "r0", 1) == list(result.shares)[:25]
    heads = window.find_all("#r0-table thead th")
    assert [head.get_attribute("aria-sort") for head in heads] == ["none"] * 5
    window.centre(heads[0])
    heads[0].find_element("tag name", "button").click()
    names = sorted(result.shares, key=lambda name: int(name.split()[1]))
    assert column(window, "r0", 1) == names[:25]
    assert heads[0].get_attribute("aria-sort") == "ascending"
    heads[0].find_element("tag name", "button").click()
    assert column(window, "r0", 1) == names[::-1][:25]
    assert heads[0].get_attribute("aria-sort") == "descending"
    heads[2].find_element("tag name", "button").click()
    assert column(window, "r0", 1) == list(result.shares)[:25]
    assert [head.get_attribute("aria-sort") for head in heads] == [
        "none",
        "none",
        "descending",
        "none",
        "none",
    ]


def test_filtering_and_pages(window, reports):
    window.open(reports["large"])
    search = window.centre(window.find("#r0-table input[type=search]"))
    assert window.texts("#r0-table .count") == ["10,000 features", "Page 1 of 400"]
    before, after = window.find_all("#r0-table .pager button")
    assert not before.is_enabled()
    window.centre(after).click()
    assert column(window, "r0", 2)[0] == "26"
    search.send_keys("NUMBER 77")
    assert column(window, "r0", 1)[:2] == ["feature number 77", "feature number 770"]
    assert window.texts("#r0-table .count")[0] == "111 of 10,000 features"
    search.send_keys("nothing of this kind")
    assert column(window, "r0", 1) == []
    assert window.texts("#r0-table .count")[0] == "0 of 10,000 features"
    search.clear()
    search.send_keys(" ")
    assert len(column(window, "r0", 1)) == 25


def test_the_hop_slider_changes_everything(window, reports):
    window.open(reports["hops"])
    result = geodim.khop_dimensions(X, EDGES, hops=3, feature_names=NAMES)

    def seen():
        return (
            window.js("return document.querySelector('#r0-curve .scatterlayer .js-line').getAttribute('d')"),
            window.texts("#r0-hop-words")[0],
            window.texts("#r0-read")[0],
            column(window, "r0", 4),
        )

    last = seen()
    assert last[1].startswith("3 hops: intrinsic dimension")
    slider = window.centre(window.find("#r0-hop"))
    slider.send_keys(Keys.HOME)
    first = seen()
    assert first[1].startswith("0 hops")
    assert f"{result.dimensions[0]:.4g}" in first[1].replace(",", "")
    assert first[0] != last[0]
    assert first[3] != last[3]
    slider.send_keys(Keys.ARROW_RIGHT)
    assert seen()[1].startswith("1 hop:")
    assert slider.get_attribute("aria-valuetext") == seen()[1]
    attributes = [name.removeprefix("hop 1: ") for name in list(result[1].shares)[:25]]
    assert column(window, "r0", 1) == attributes
    slider.send_keys(Keys.END)
    assert seen() == last


def test_the_curve_can_be_read_with_a_slider(window, reports):
    window.open(reports["dimension"])
    result = geodim.intrinsic_dimension(X, feature_names=NAMES)
    slider = window.centre(window.find("#r0-alpha"))
    window.js("arguments[0].value = 500; arguments[0].dispatchEvent(new Event('input'))", slider)
    slider.send_keys(Keys.ARROW_LEFT)
    words = window.texts("#r0-read")[0]
    assert words.startswith("α = 0.499, k = ")
    assert f"{result.observable_diameter(0.499):.4g}" in words
    assert "by column" in words
    assert window.js("return document.querySelectorAll('#r0-curve .shapelayer path').length") == 1


# ---------------------------------------------------------------- everyone can read it


def contrast(window, selector):
    """Contrast of an element's text with the page, by the formula of WCAG 2."""
    script = """
        const of = c => { const v = c.match(/[\\d.]+/g).slice(0, 3).map(x => x / 255).map(x => x <= 0.04045 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4);
          return 0.2126 * v[0] + 0.7152 * v[1] + 0.0722 * v[2]; };
        const e = document.querySelector(arguments[0]);
        let b = e; while (getComputedStyle(b).backgroundColor === 'rgba(0, 0, 0, 0)') { b = b.parentElement; }
        const s = getComputedStyle(e), one = of(s.color || s.fill), other = of(getComputedStyle(b).backgroundColor);
        return (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05);"""
    return window.js(script, selector)


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


def test_dark_and_light(window, reports):
    """The colours follow the system, and the button; plots change with the page."""

    def colours():
        return window.js(
            "return [getComputedStyle(document.body).backgroundColor, getComputedStyle(document.querySelector('#r0-curve .main-svg')).backgroundColor,"
            " getComputedStyle(document.querySelector('#r0-curve .xtick text')).fill]"
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


@pytest.mark.parametrize("name", ["dimension", "hops", "selection", "bounds", "all", "hostile", "large"])
def test_a_small_screen(window, reports, name):
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
            "return Math.min(...Array.from(document.querySelectorAll('td, p, dd'), e => parseFloat(getComputedStyle(e).fontSize)))"
        )
        >= 13
    )
    assert window.console() == []


def test_turning_the_screen_draws_again(window, reports):
    window.open(reports["dimension"], width=740, height=360)
    width = window.js("return document.querySelector('#r0-curve .main-svg').getBoundingClientRect().width")
    window.command(
        "Emulation.setDeviceMetricsOverride", width=360, height=740, deviceScaleFactor=1, mobile=True
    )
    window.wait("return document.querySelector('#r0-curve .main-svg').getBoundingClientRect().width < 360")
    assert width > 600


def test_keyboard_only(window, reports):
    """Everything can be reached and used with the keyboard, in the order of the page, and one sees where one is."""
    window.open(reports["hops"])
    reached = []
    for _ in range(60):
        ActionChains(window.driver).send_keys(Keys.TAB).perform()
        found = window.js(
            "const e = document.activeElement, s = getComputedStyle(e);"
            "return [e.tagName, e.id, e.textContent.slice(0, 40), s.outlineStyle, e.getBoundingClientRect().top + scrollY]"
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
        "return Array.from(document.querySelectorAll('input, button:not([data-title])')).filter(e => !e.closest('.js-plotly-plot'))"
        ".filter(e => !(e.labels && e.labels.length) && !e.getAttribute('aria-label') && !e.textContent.trim()).length"
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


# ---------------------------------------------------------------- safety and speed


def test_hostile_names_are_inert(window, reports):
    window.open(reports["hostile"])
    assert window.js("return typeof window.hacked") == "undefined"
    assert window.find_all("img, b") == []
    assert window.js("return document.querySelectorAll('main a[href^=javascript], svg a').length") == 0
    shown = column(window, "r0", 1)
    result = geodim.intrinsic_dimension(X[:, ::10], feature_names=HOSTILE)
    assert shown == list(result.shares)
    assert HOSTILE[1] in window.texts("h2")
    ticks = window.texts("#r0-shares .ytick text")
    assert any("<" in text for text in ticks)
    area = window.centre(window.find("#r0-curve .nsewdrag"))
    ActionChains(window.driver).move_to_element(area).perform()
    window.wait("return document.querySelector('#r0-curve .hoverlayer').textContent")
    slider = window.centre(window.find("#r1-hop"))
    slider.send_keys(Keys.HOME)
    window.find("#r0-table input[type=search]").send_keys("<img")
    assert column(window, "r0", 1) == [name for name in result.shares if "<img" in name]
    assert window.js("return typeof window.hacked") == "undefined"
    assert window.console() == []
    assert window.requests() == [reports["hostile"].as_uri()]


def test_injected_scripts_do_not_run(window, reports):
    """Were a name ever written as markup, the policy would stop it."""
    window.open(reports["dimension"])
    window.js(
        "const s = document.createElement('div'); s.innerHTML = '<img src=x onerror=\"window.hacked=1\">'; document.body.append(s);"
        "const t = document.createElement('script'); t.textContent = 'window.hacked = 1'; document.body.append(t);"
    )
    window.wait("return document.querySelector('img').complete")
    assert window.js("return typeof window.hacked") == "undefined"
    assert any("Content Security Policy" in message for message in window.console())


def test_ten_thousand_features_open_soon(window, reports):
    """Until all plots are drawn; the best of three, since the machine may be busy with other things."""
    times = []
    for _ in range(3):
        window.open(reports["large"])
        times.append(int(window.js("return document.documentElement.dataset.drawn")))
    assert min(times) < 2000, times
    assert len(window.find_all("#r0-table tbody tr")) == 25
    assert window.js("return document.querySelectorAll('*').length") < 5000
    assert reports["large"].stat().st_size < 6_000_000
