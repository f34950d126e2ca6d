"""A real browser for the report: headless Chromium, driven by selenium.

Without one the tests are skipped with a reason.
"""

from __future__ import annotations

import json
import os
import shutil
import time
from pathlib import Path

import pytest

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


class Window:
    """One window: opens files, waits for the plots, and keeps what the console and the network saw."""

    def __init__(self, driver):
        self.driver = driver

    def open(self, path, *, width=1100, height=900, dark=False, ready=True):
        """Open a file at a size and in a scheme of colours, and wait until everything is drawn."""
        self.command(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=width < 500,
        )
        self.prefer("dark" if dark else "light")
        self.driver.get_log("browser")
        self.driver.get_log("performance")
        self.driver.get(Path(path).as_uri())
        if ready:
            self.wait(
                "return document.documentElement.dataset.drawn || document.documentElement.dataset.failed"
            )
            assert self.js("return document.documentElement.dataset.failed") is None
        return self

    def prefer(self, scheme):
        """What the system asks for; less motion always, so that nothing moves while it is clicked."""
        wishes = {"prefers-color-scheme": scheme, "prefers-reduced-motion": "reduce"}
        features = [{"name": name, "value": value} for name, value in wishes.items()]
        self.command("Emulation.setEmulatedMedia", media="", features=features)

    def command(self, name, **options):
        return self.driver.execute_cdp_cmd(name, options)

    def js(self, script, *arguments):
        return self.driver.execute_script(script, *arguments)

    def wait(self, script, *arguments, seconds=30.0):
        """Wait until a script returns something true."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            value = self.js(script, *arguments)
            if value:
                return value
            time.sleep(0.03)
        pytest.fail(f"still not so after {seconds} s: {script}")

    def find(self, selector):
        return self.driver.find_element("css selector", selector)

    def find_all(self, selector):
        return self.driver.find_elements("css selector", selector)

    def texts(self, selector):
        return self.js(
            "return Array.from(document.querySelectorAll(arguments[0]), e => e.textContent)", selector
        )

    def centre(self, element):
        self.js("arguments[0].scrollIntoView({block: 'center', behavior: 'instant'})", element)
        return element

    def console(self):
        """Warnings and errors, violations of the policy among them."""
        return [entry["message"] for entry in self.driver.get_log("browser")]

    def requests(self):
        """Addresses of what the page asked others for, and not of what it holds itself (data:)."""
        found = []
        for entry in self.driver.get_log("performance"):
            message = json.loads(entry["message"])["message"]
            if message["method"] == "Network.requestWillBeSent":
                found.append(message["params"]["request"]["url"])
        return [address for address in found if not address.startswith("data:")]


@pytest.fixture(scope="session")
def driver():
    selenium = pytest.importorskip(
        "selenium.webdriver", reason="selenium is not installed: pip install 'geodim[browser]'"
    )
    from selenium.common.exceptions import WebDriverException

    binary = next(filter(None, map(shutil.which, BROWSERS)), None)
    service = shutil.which("chromedriver")
    if binary is None or service is None:
        pytest.skip("no chromium and chromedriver here: apt-get install chromium chromium-driver")
    options = selenium.ChromeOptions()
    options.binary_location = binary
    for argument in (
        "--headless=new",
        "--disable-gpu",
        "--disable-dev-shm-usage",
        "--hide-scrollbars",
        "--lang=en",
    ):
        options.add_argument(argument)
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        options.add_argument("--no-sandbox")  # which root cannot have
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    try:
        driver = selenium.Chrome(options=options, service=selenium.ChromeService(service))
    except WebDriverException as error:
        pytest.skip(f"the browser does not start here: {error.msg}")
    yield driver
    driver.quit()


@pytest.fixture
def window(driver):
    return Window(driver)


@pytest.fixture(scope="session")
def reports(tmp_path_factory):
    """Reports of every kind, as files."""
    for package in ("plotly", "jinja2"):
        pytest.importorskip(package, reason=f"the report needs {package}: pip install 'geodim[report]'")
    from browser.pages import write_reports

    return write_reports(tmp_path_factory.mktemp("reports"))


@pytest.fixture(scope="session")
def reproduction(tmp_path_factory):
    """The report on the paper's experiments, of which none was run."""
    pytest.importorskip("jinja2", reason="the report needs jinja2: pip install 'geodim[report]'")
    from geodim.experiments.report import write_reproduction

    return write_reproduction(tmp_path_factory.mktemp("reproduction"))[0]
