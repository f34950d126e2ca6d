"""Formulas as MathML, which browsers draw themselves: no script, and in the colour of the text."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from docutils.nodes import SkipNode
from docutils.utils.math import toplevel_code
from docutils.utils.math.latex2mathml import tex2mathml

if TYPE_CHECKING:
    from docutils import nodes
    from sphinx.application import Sphinx
    from sphinx.writers.html5 import HTML5Translator


def _mathml(code: str, *, as_block: bool = False) -> str:
    # Unknown to docutils: another name of the ellipsis, and sizes of brackets, which browsers stretch anyway.
    known = re.sub(r"\\[Bb]igg?[lr]?(?![A-Za-z])", "", code.replace(r"\dots", r"\ldots"))
    return tex2mathml(known, as_block=as_block)


def _inline(self: HTML5Translator, node: nodes.math) -> None:
    self.body.append(_mathml(node.astext()))
    raise SkipNode  # the text of the formula is not to follow


def _block(self: HTML5Translator, node: nodes.math_block) -> None:
    code = node.astext()
    if r"\\" in toplevel_code(code):
        code = rf"\begin{{aligned}}{code}\end{{aligned}}"
    self.body.append(f'<div class="formula">{_mathml(code, as_block=True)}</div>')
    raise SkipNode


def setup(app: Sphinx) -> dict[str, object]:
    """Offer it; `html_math_renderer` of the configuration chooses it."""
    app.add_html_math_renderer("mathml", inline_renderers=(_inline, None), block_renderers=(_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
