"""`write_report`: one HTML file with everything in it, which asks nobody for anything.

The plots are drawn by plotly.js, which is most of the file: it is packed with gzip, a third of its size, and
unpacked by the browser.  A reader whose browser cannot do that, or runs no scripts, sees fixed pictures and
tables instead.  A policy in the head forbids every request, and every script but the page's own.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from geodim._version import __version__
from geodim.errors import InputValueError
from geodim.optional import require
from geodim.output import check_output, write_text
from geodim.report.html.comparison import comparison_section
from geodim.report.html.markup import Html, join, tag
from geodim.report.html.sections import (
    Page,
    contents,
    estimates_section,
    glossary,
    made_section,
    result_section,
)
from geodim.report.html.sources import as_items

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from geodim.report.html.sources import Item, Result

__all__ = ["check_report_path", "render_report", "write_report"]

SCRIPTS = ("figures.js", "tables.js", "page.js")
POLICY = (
    "default-src 'none'; script-src 'nonce-{nonce}'; style-src 'unsafe-inline'; img-src data: blob:; "
    "base-uri 'none'; form-action 'none'"
)


def check_report_path(path: str | Path) -> None:
    """Raise what `write_report` would raise, before anything is computed."""
    target = Path(path)
    if target.suffix.lower() not in (".html", ".htm"):
        msg = f"cannot report to {target}: the name must end in .html"
        raise InputValueError(msg)
    check_output(target)
    require("plotly.offline", "report", "the report")


def write_report(
    results: Sequence[Item | Result],
    path: str | Path,
    *,
    title: str | None = None,
    estimates: Sequence[Mapping[str, Any]] = (),
) -> None:
    """Write a report on one or several results to an HTML file, whole or not at all.

    Parameters
    ----------
    results : sequence of IDResult, KHopResult, FeatureSelection or Item
        What to report; several are compared.
    path : path
        The file, which must end in .html.
    title : str, optional
        The title; the name of the data by default.
    estimates : sequence of mappings
        What other estimators say, as rows of `geodim compare`.

    Raises
    ------
    MissingExtraError
        plotly is not installed.
    """
    check_report_path(path)
    write_text(path, render_report(results, title=title, estimates=estimates))


def render_report(
    results: Sequence[Item | Result],
    *,
    title: str | None = None,
    estimates: Sequence[Mapping[str, Any]] = (),
) -> str:
    """The report as text; the same results give the same text.

    Parameters
    ----------
    results : sequence of IDResult, KHopResult, FeatureSelection or Item
        What to report; several are compared.
    title : str, optional
        The title; the name of the data by default.
    estimates : sequence of mappings
        What other estimators say, as rows of `geodim compare`.

    Returns
    -------
    str
        HTML.

    Examples
    --------
    >>> import geodim
    >>> from geodim.report.html.document import render_report
    >>> page = render_report([geodim.intrinsic_dimension([[0.0], [1.0], [3.0]])], title="three points")
    >>> page.startswith("<!DOCTYPE html>")
    True
    """
    items = as_items(results)
    if not items:
        msg = "there is nothing to report: give at least one result"
        raise InputValueError(msg)
    alone = len(items) == 1
    page = Page()
    body = [result_section(item, at, page, alone=alone) for at, item in enumerate(items)]
    data = page.data()
    if not alone:
        comparison: dict[str, Any] = {}
        body.insert(0, comparison_section(items, comparison))
        data["comparison"] = comparison
    if estimates:
        body.append(estimates_section(estimates))
    heading = title if title is not None else items[0].title if alone else f"{len(items)} results"
    return _page(
        heading, contents(items) if not alone else None, [*body, glossary(), made_section(items)], data
    )


def _page(title: str, navigation: Html | None, parts: list[Html], data: dict[str, Any]) -> str:
    code = '(function () {\n"use strict";\n' + "\n".join(_asset(name) for name in SCRIPTS) + "\n})();"
    values = embedded(data)
    # Of the content, which cannot hold its own digest: no name in the data can know it.
    nonce = hashlib.sha256(f"{title}{values}{code}".encode("utf-8", "replace")).hexdigest()[:32]
    button = tag("button", "Dark", type="button", id="theme", hidden=True)
    header = tag(
        "header",
        tag("div", tag("p", "geodim report", class_="kicker"), tag("h1", title)),
        button,
    )
    note = tag(
        "p",
        "This report runs no scripts here: plots are fixed pictures, tables show their first "
        "rows. In a browser it does more.",
        class_="no-scripts",
        role="status",
    )
    footer = tag(
        "footer",
        tag("p", f"Made with geodim {__version__}. This file needs no connection and sends nothing."),
    )
    body = join(
        tag("a", "Skip to the content", href="#main", class_="skip"),
        header,
        navigation,
        tag("main", note, *parts, id="main", tabindex=-1),
        footer,
    )
    policy = POLICY.format(nonce=nonce)
    return "\n".join(
        [
            "<!DOCTYPE html>",
            '<html lang="en">',
            "<head>",
            '<meta charset="utf-8">',
            tag("meta", http_equiv="Content-Security-Policy", content=policy),
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            '<meta name="color-scheme" content="light dark">',
            tag("title", f"{title} · geodim"),
            f"<style>\n{_asset('style.css')}</style>",
            "</head>",
            "<body>",
            body,
            f'<script type="application/json" id="data">{values}</script>',
            f'<script type="text/plain" id="plotly">{packed_plotly()}</script>',
            f'<script nonce="{nonce}">\n{code}\n</script>',
            "</body>",
            "</html>",
            "",
        ]
    )


def embedded(values: Any) -> str:
    r"""JSON that stays inside its element, whatever names it holds.

    >>> print(embedded({"name": "</script>"}))
    {"name":"\u003c/script>"}
    """
    text = json.dumps(values, allow_nan=False, separators=(",", ":"), ensure_ascii=False)
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


@lru_cache(maxsize=1)
def packed_plotly() -> str:
    """plotly.js from the installed package, packed with gzip, as base64."""
    source: str = require("plotly.offline", "report", "the report").get_plotlyjs()
    return base64.b64encode(gzip.compress(source.encode(), 9, mtime=0)).decode()


def _asset(name: str) -> str:
    return (files("geodim.report.html") / "assets" / name).read_text(encoding="utf-8")
