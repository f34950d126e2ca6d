"""A report as a list of blocks, written as self-contained HTML or as Markdown with the same words.

All text is plain: whatever a data set is called, it is shown and never interpreted.
"""

from __future__ import annotations

import base64
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from geodim.display.html.page import render_page
from geodim.display.table import ReportTable

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["Block", "Document", "Figure", "Heading", "Items", "Paragraph", "to_html", "to_markdown"]


@dataclass(frozen=True)
class Heading:
    """A heading below the title."""

    text: str
    level: int = 2


@dataclass(frozen=True)
class Paragraph:
    """A paragraph."""

    text: str


@dataclass(frozen=True)
class Items:
    """A list."""

    texts: list[str]


@dataclass(frozen=True)
class Figure:
    """A picture beside the report."""

    path: Path
    caption: str

    @property
    def base64(self) -> str:
        """The content of the file, in a form that a page can hold."""
        return base64.b64encode(self.path.read_bytes()).decode()


Block: TypeAlias = "Heading | Paragraph | Items | Figure | ReportTable"


@dataclass(frozen=True)
class Document:
    """Title and blocks."""

    title: str
    blocks: list[Block]


def to_html(document: Document) -> str:
    """Return one self-contained file: figures are in it, and there is no script.

    Examples
    --------
    >>> "&lt;b&gt;" in to_html(Document("t", [Paragraph("<b>")]))
    True
    """
    blocks = [(type(block).__name__, block) for block in document.blocks]
    return render_page("blocks.html", title=document.title, blocks=blocks, nonce=None)


def to_markdown(document: Document) -> str:
    r"""Return the same words for a reader without a browser.

    Examples
    --------
    >>> print(to_markdown(Document("t", [Paragraph("a*b")])), end="")
    # t
    <BLANKLINE>
    a\*b
    """
    return "\n\n".join([f"# {_plain(document.title)}", *map(_block_markdown, document.blocks)]) + "\n"


def _block_markdown(block: Block) -> str:
    match block:
        case Heading():
            return f"{'#' * block.level} {_plain(block.text)}"
        case Paragraph():
            return _plain(block.text)
        case Items():
            return "\n".join(f"* {_plain(text)}" for text in block.texts)
        case Figure():
            return f"![{_plain(block.caption)}]({block.path.name})\n\n{_plain(block.caption)}"
        case ReportTable():
            rules = ["---:" if at in block.numeric else "---" for at in range(len(block.head))]
            lines = [list(map(_plain, block.head)), rules, *(list(map(_plain, row)) for row in block.rows)]
            return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _plain(text: str) -> str:
    """Return text that Markdown shows as it is, on one line."""
    return re.sub(r"([\\`*_\[\]<>|#~$])", r"\\\1", " ".join(text.split()))
