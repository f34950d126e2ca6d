"""`report`: one self-contained HTML file, which makes no requests.

The plots are drawn by plotly.js, which is most of the file: it is packed with gzip, a third of its size, and
unpacked by the browser.  A reader whose browser cannot do that, or runs no scripts, sees fixed pictures and
tables instead.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from geodim.display.html.comparison import comparison_values
from geodim.display.html.figures import Names
from geodim.display.html.page import asset, environment, json_inside, render_page
from geodim.display.html.sections import estimates_table, how_made, result_values
from geodim.display.html.sources import as_items
from geodim.errors import InputValueError
from geodim.optional import require
from geodim.output import check_output, write_text
from geodim.sampling.comparison import Comparison
from geodim.words import short

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["check_report_path", "render_report", "report"]

SCRIPTS = ("figures.js", "tables.js", "page.js")


def check_report_path(path: str | Path) -> None:
    """Raise what `report` would raise, before anything is computed."""
    target = Path(path)
    if target.suffix.lower() not in (".html", ".htm"):
        msg = f"cannot report to {target}: the name must end in .html"
        raise InputValueError(msg)
    check_output(target)
    require("plotly.offline", "report", "the report")
    environment()


def report(
    results: object,
    path: str | Path,
    *,
    title: str | None = None,
    estimates: Sequence[Mapping[str, Any]] = (),
    comparison: Comparison | None = None,
) -> None:
    """Write a report on one or several results to an HTML file, whole or not at all.

    Parameters
    ----------
    results : IDResult, KHopResult, FeatureSelection or Comparison, or a sequence of the first three
        What to report; several are compared.
    path : path
        The file, which must end in .html.
    title : str, optional
        The title; the name of the data by default.
    estimates : sequence of mappings
        Results of other estimators, as rows of `geodim estimators`.
    comparison : Comparison, optional
        The same results at equal numbers of points, from `geodim.compare`.

    Raises
    ------
    MissingExtraError
        plotly or jinja2 is not installed.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> import geodim
    >>> result = geodim.intrinsic_dimension([[0.0], [1.0], [3.0]])
    >>> with TemporaryDirectory() as folder:
    ...     page = Path(folder, "points.html")
    ...     geodim.report(result, page)
    ...     page.read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    True
    """
    check_report_path(path)
    write_text(path, render_report(results, title=title, estimates=estimates, comparison=comparison))


def render_report(
    results: object,
    *,
    title: str | None = None,
    estimates: Sequence[Mapping[str, Any]] = (),
    comparison: Comparison | None = None,
) -> str:
    """Return the report as text; the same results give the same text.

    Parameters
    ----------
    results : IDResult, KHopResult, FeatureSelection or Comparison, or a sequence of the first three
        What to report; several are compared.
    title : str, optional
        The title; the name of the data by default.
    estimates : sequence of mappings
        Results of other estimators, as rows of `geodim estimators`.
    comparison : Comparison, optional
        The same results at equal numbers of points, from `geodim.compare`.

    Returns
    -------
    str
        HTML.

    Examples
    --------
    >>> import geodim
    >>> from geodim.display.html.document import render_report
    >>> page = render_report([geodim.intrinsic_dimension([[0.0], [1.0], [3.0]])], title="three points")
    >>> page.startswith("<!DOCTYPE html>")
    True
    """
    if comparison is None and isinstance(results, Comparison):
        comparison = results
    items = as_items(results)
    if not items:
        msg = "there is nothing to report: give at least one result"
        raise InputValueError(msg)
    names = Names()
    parts = [result_values(item, f"r{at}", names) for at, item in enumerate(items)]
    compared = comparison_values(items, comparison) if len(items) > 1 else None
    data: dict[str, Any] = {"names": names.to_list(), "items": [part["data"] for part in parts]}
    if compared:
        data["comparison"] = {name: compared[name] for name in ("curves", "hops")}
    if title is None:
        title = _title([item.title for item in items])
    code = '(function () {\n"use strict";\n' + "\n".join(map(asset, SCRIPTS)) + "\n})();"
    inside = json_inside(data)
    # A digest of the content, which cannot contain it: no name in the data can equal it.
    nonce = hashlib.sha256(f"{title}{inside}{code}".encode("utf-8", "replace")).hexdigest()[:32]
    return render_page(
        "results.html",
        title=title,
        date=", ".join(dict.fromkeys(item.date for item in items if item.date)),
        results=parts,
        comparison=compared,
        steps=list(dict.fromkeys(step for part in parts for step in part["steps"])),
        estimates=estimates_table(estimates) if estimates else None,
        made=[how_made(item) for item in items],
        nonce=nonce,
        data=inside,
        plotly=packed_plotly(),
        code=code,
    )


def _title(names: list[str]) -> str:
    """Return the title of the page: its data, by name.

    >>> _title(["a"]), _title(["a", "b"]), _title(["a", "b", "c", "d"])
    ('a', 'a and b', 'a and 3 others')
    """
    shown = [short(name, 60) for name in names]
    if len(shown) < 3:
        return " and ".join(shown)
    return f"{shown[0]} and {len(shown) - 1} others"


@lru_cache(maxsize=1)
def packed_plotly() -> str:
    """Return plotly.js from the installed package, packed with gzip, as base64."""
    source: str = require("plotly.offline", "report", "the report").get_plotlyjs()
    return base64.b64encode(gzip.compress(source.encode(), 9, mtime=0)).decode()
