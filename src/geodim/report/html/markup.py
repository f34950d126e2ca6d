"""HTML elements whose texts are always escaped: a column called ``<script>`` is shown, not run."""

from __future__ import annotations

from html import escape
from typing import TypeAlias

from geodim.text import boxed

__all__ = ["Html", "definition_list", "join", "paragraph", "table", "tag"]


class Html(str):
    """Text that is HTML already; any other text is escaped when it becomes part of an element."""

    __slots__ = ()


Child: TypeAlias = "str | Html | None"
VOID = frozenset({"input", "meta", "br", "link"})


def tag(name: str, *children: Child, **attributes: str | int | bool | None) -> Html:
    """One element; an underscore at the end of an attribute's name is dropped, others become hyphens.

    Attributes that are None or False are left out, True gives one without a value.

    >>> tag("p", "a < b", class_="note")
    '<p class="note">a &lt; b</p>'
    """
    written = []
    for key, value in attributes.items():
        if value is None or value is False:
            continue
        label = key.rstrip("_").replace("_", "-")
        written.append(
            f" {label}" if value is True else f' {label}="{escape(boxed(str(value)), quote=True)}"'
        )
    start = f"<{name}{''.join(written)}>"
    return Html(start) if name in VOID else Html(f"{start}{join(*children)}</{name}>")


def join(*children: Child) -> Html:
    """Elements and texts one after the other."""
    return Html(
        "".join(
            child if isinstance(child, Html) else escape(boxed(child), quote=False)
            for child in children
            if child is not None
        )
    )


def paragraph(text: Child, **attributes: str | None) -> Html:
    """A paragraph."""
    return tag("p", text, **attributes)


def definition_list(rows: list[tuple[str, str]]) -> Html:
    """Terms and what they are."""
    return tag("dl", *(tag("div", tag("dt", term), tag("dd", text)) for term, text in rows), class_="facts")


def table(
    caption: str, head: list[str], rows: list[list[Child]], numeric: frozenset[int] = frozenset()
) -> Html:
    """A table in a frame that scrolls where it is too wide; the first cell of each row is its heading."""

    def cell(name: str, at: int, child: Child, **more: str) -> Html:
        return tag(name, child, class_="number" if at in numeric else None, **more)

    body = [
        tag(
            "tr",
            *(
                cell("th", 0, child, scope="row") if at == 0 else cell("td", at, child)
                for at, child in enumerate(row)
            ),
        )
        for row in rows
    ]
    heading = tag("tr", *(cell("th", at, text, scope="col") for at, text in enumerate(head)))
    whole = tag("table", tag("thead", heading), tag("tbody", *body), aria_label=caption)
    scroll = tag("div", whole, class_="wide", tabindex=0, role="region", aria_label=caption)
    return join(paragraph(caption, class_="caption"), scroll)  # outside: it must not scroll away
