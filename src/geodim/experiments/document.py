"""A report as a list of blocks, written as self-contained HTML or as Markdown with the same words.

All text is plain: whatever a data set is called, it is shown and never interpreted.
"""

from __future__ import annotations

import base64
import html
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["Document", "Figure", "Heading", "Items", "Paragraph", "Table", "to_html", "to_markdown"]


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
class Table:
    """A table; numbers are set right, and a row may have a class that HTML gives a colour."""

    head: list[str]
    rows: list[list[str]]
    numeric: frozenset[int] = frozenset()
    classes: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Figure:
    """A picture beside the report."""

    path: Path
    caption: str


@dataclass(frozen=True)
class Document:
    """Title and blocks."""

    title: str
    blocks: list[Heading | Paragraph | Items | Table | Figure]


STYLE = """
:root { color-scheme: light dark; --ink: #1b1b1b; --soft: #5b5b5b; --paper: #ffffff; --line: #d9d9d9;
  --band: #f6f6f4; --good: #00694d; --near: #0b5c93; --bad: #a3420a; --none: #6b6b6b; }
@media (prefers-color-scheme: dark) { :root { --ink: #e8e6e3; --soft: #a8a5a0; --paper: #171717;
  --line: #3a3a3a; --band: #202020; --good: #53c7a0; --near: #74b9ea; --bad: #f0a06a; --none: #9a9a9a; } }
body { font: 16px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper); max-width: 62rem;
  margin: 2.5rem auto; padding: 0 1.2rem; }
h1 { font-size: 1.9rem; line-height: 1.2; margin-bottom: 0.3rem; }
h2 { font-size: 1.3rem; margin-top: 2.4rem; border-bottom: 1px solid var(--line); padding-bottom: 0.2rem; }
h3 { font-size: 1.05rem; margin-top: 1.6rem; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: 0.86rem; }
th, td { text-align: left; padding: 0.28rem 0.6rem; border-bottom: 1px solid var(--line);
  vertical-align: top; }
th { color: var(--soft); font-weight: 600; }
tbody tr:nth-child(even) { background: var(--band); }
.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
.equal td:last-child { color: var(--good); } .near td:last-child { color: var(--near); }
.different td:last-child { color: var(--bad); } .absent, .absent td:last-child { color: var(--none); }
figure { margin: 1.2rem 0; } figure img { max-width: 100%; background: #ffffff; border-radius: 4px; }
figcaption { color: var(--soft); font-size: 0.88rem; }
@media print { body { margin: 0; max-width: none; font-size: 10pt; } h2, h3 { break-after: avoid; }
  tr, figure { break-inside: avoid; } .wide { overflow: visible; } }
""".strip()


def to_html(document: Document) -> str:
    """One file that asks nobody for anything: figures are in it, and there is no script.

    Examples
    --------
    >>> "&lt;b&gt;" in to_html(Document("t", [Paragraph("<b>")]))
    True
    """
    title = html.escape(document.title)
    body = "\n".join(_block_html(block) for block in document.blocks)
    policy = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{title}</title>\n<style>\n{STYLE}\n</style>\n</head>\n"
        f"<body>\n<h1>{title}</h1>\n{body}\n</body>\n</html>\n"
    )


def _block_html(block: Heading | Paragraph | Items | Table | Figure) -> str:
    match block:
        case Heading():
            return f"<h{block.level}>{html.escape(block.text)}</h{block.level}>"
        case Paragraph():
            return f"<p>{html.escape(block.text)}</p>"
        case Items():
            return "<ul>" + "".join(f"<li>{html.escape(text)}</li>" for text in block.texts) + "</ul>"
        case Figure():
            data = base64.b64encode(block.path.read_bytes()).decode()
            caption = html.escape(block.caption)
            return (
                f'<figure><img alt="{caption}" src="data:image/png;base64,{data}">'
                f"<figcaption>{caption}</figcaption></figure>"
            )
        case Table():
            return _table_html(block)


def _table_html(table: Table) -> str:
    def cells(texts: list[str], tag: str) -> str:
        marks = [' class="number"' if at in table.numeric else "" for at in range(len(texts))]
        return "".join(
            f"<{tag}{mark}>{html.escape(text)}</{tag}>" for mark, text in zip(marks, texts, strict=True)
        )

    classes = table.classes or [""] * len(table.rows)
    rows = "\n".join(
        f'<tr class="{html.escape(kind)}">{cells(row, "td")}</tr>' if kind else f"<tr>{cells(row, 'td')}</tr>"
        for kind, row in zip(classes, table.rows, strict=True)
    )
    head = cells(table.head, "th")
    return f'<div class="wide"><table><thead><tr>{head}</tr></thead>\n<tbody>\n{rows}\n</tbody></table></div>'


def to_markdown(document: Document) -> str:
    r"""The same words for a reader without a browser.

    Examples
    --------
    >>> print(to_markdown(Document("t", [Paragraph("a*b")])), end="")
    # t
    <BLANKLINE>
    a\*b
    """
    return "\n\n".join([f"# {_plain(document.title)}", *map(_block_markdown, document.blocks)]) + "\n"


def _block_markdown(block: Heading | Paragraph | Items | Table | Figure) -> str:
    match block:
        case Heading():
            return f"{'#' * block.level} {_plain(block.text)}"
        case Paragraph():
            return _plain(block.text)
        case Items():
            return "\n".join(f"* {_plain(text)}" for text in block.texts)
        case Figure():
            return f"![{_plain(block.caption)}]({block.path.name})\n\n{_plain(block.caption)}"
        case Table():
            rules = ["---:" if at in block.numeric else "---" for at in range(len(block.head))]
            lines = [list(map(_plain, block.head)), rules, *(list(map(_plain, row)) for row in block.rows)]
            return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _plain(text: str) -> str:
    """Text that Markdown shows as it is, on one line."""
    return re.sub(r"([\\`*_\[\]<>|#~$])", r"\\\1", " ".join(text.split()))
