"""Names in single backticks, as docstrings have them: public ones become links, all else is code."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING

from docutils import nodes
from sphinx.addnodes import pending_xref

import geodim

if TYPE_CHECKING:
    from docutils.parsers.rst.states import Inliner
    from sphinx.application import Sphinx


@cache
def public_names() -> dict[str, str]:
    """Every public name, with and without its module, and the full name that the reference knows it by."""
    found = {}
    for name in geodim.__all__:
        one = getattr(geodim, name)
        if isinstance(one, ModuleType):
            found |= {f"geodim.{name}.{inner}": f"geodim.{name}.{inner}" for inner in one.__all__}
        else:
            found |= {name: f"geodim.{name}", f"geodim.{name}": f"geodim.{name}"}
    for module in ("torch", "pyg"):
        inside = import_module(f"geodim.{module}").__all__
        found |= {f"geodim.{module}.{name}": f"geodim.{module}.{name}" for name in inside}
    return found


def name_or_code(
    _role: str, rawtext: str, text: str, _line: int, _inliner: Inliner, *_: object
) -> tuple[list[nodes.Node], list[nodes.system_message]]:
    """Link to a public name, and show anything else as code."""
    literal = nodes.literal(rawtext, text, classes=["py"])
    target = public_names().get(text.removesuffix("()"))
    if target is None:
        return [literal], []
    target_of = {"refdomain": "py", "reftype": "obj", "reftarget": target, "refexplicit": True}
    return [pending_xref("", literal, refwarn=True, **target_of)], []


def _signature(_app: Sphinx, _what: str, _name: str, found: object, *_: object) -> tuple[str, None] | None:
    """Results are returned, not made: how their classes are called is of no interest."""
    return ("", None) if isinstance(found, type) and hasattr(found, "from_dict") else None


def setup(app: Sphinx) -> dict[str, object]:
    """Offer the role; `default_role` of the configuration chooses it."""
    app.connect("autodoc-process-signature", _signature)
    app.add_role("name-or-code", name_or_code)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
