"""Pages from jinja2 templates that escape every text.

A column called ``<script>`` is shown, not run.  Only what comes from our own files is marked ``safe`` in the
templates: the style sheet, the scripts and plotly.js.
"""

from __future__ import annotations

from functools import lru_cache
from importlib.resources import files
from typing import TYPE_CHECKING

from geodim._version import __version__
from geodim.optional import require
from geodim.text import boxed

if TYPE_CHECKING:
    from jinja2 import Environment

__all__ = ["asset", "environment", "json_inside", "render_page"]


@lru_cache(maxsize=1)
def environment() -> Environment:
    """Load the templates of this package; a missing variable is an error, not an empty text."""
    jinja2 = require("jinja2", "report", "the report")
    made: Environment = jinja2.Environment(
        loader=jinja2.PackageLoader("geodim.display.html"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        finalize=_shown,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    made.globals.update(asset=asset, version=__version__)
    return made


def _shown(value: object) -> object:
    """Replace what HTML does not allow by a box; markup was made from texts treated here before."""
    return boxed(value) if isinstance(value, str) and not hasattr(value, "__html__") else value


def render_page(template: str, **values: object) -> str:
    """Render a page from one of the templates."""
    return environment().get_template(template).render(values)


def json_inside(values: object) -> str:
    r"""Return JSON as markup that stays inside its element, whatever names it holds.

    All but ASCII is escaped, so that a lone surrogate, which UTF-8 cannot hold, does no harm.

    >>> print(json_inside({"name": "</script>"}))
    {"name":"\u003c/script\u003e"}
    """
    utils = require("jinja2.utils", "report", "the report")
    made: str = utils.htmlsafe_json_dumps(values, allow_nan=False, separators=(",", ":"))
    return made


def asset(name: str) -> str:
    """Return the style sheet, or one of the scripts."""
    return (files("geodim.display.html") / "assets" / name).read_text(encoding="utf-8")
