"""Files of the repository that lie outside docs: some are pages of the site, others are linked to.

On GitHub, ``../examples/plot_images.py`` opens the file.  Here an example leads to its page in the gallery, a
file of `PAGES` to the page that it becomes, and any other file is offered for download.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sphinx.application import Sphinx

DOCS = Path(__file__).parents[1]
ROOT = DOCS.parent
# Text in brackets, which may hold brackets; the path; the anchor.
LINK = re.compile(r"\[((?:[^\[\]]|\[[^\[\]]*\])*)\]\(([^)\s#:]+)(#[\w-]*)?\)")
PAGES = {
    "CHANGELOG.md": "project/changelog",
    "CONTRIBUTING.md": "project/contributing",
    "SECURITY.md": "project/security",
    "GOVERNANCE.md": "project/governance",
    "CODE_OF_CONDUCT.md": "project/conduct",
    "benchmarks/results/engine.md": "project/benchmark",
    "benchmarks/results/distances.md": "project/benchmark-distances",
}
FROM = {page: name for name, page in PAGES.items()}
INSTEAD = {"README.md": "index.md", "examples/README.md": "gallery/index.rst"}


def replace_links(text: str, page: str, site: Path) -> str:
    """The text of a page with links that lead somewhere on the site, whose pages lie in a folder."""
    folder = (ROOT / FROM[page] if page in FROM else DOCS / page).parent
    here = (site / page).parent

    def replace(match: re.Match[str]) -> str:
        words, target, anchor = match[1], match[2], match[3] or ""
        path = Path(os.path.normpath(folder / target))
        if not path.is_file() or not path.is_relative_to(ROOT):
            return match[0]
        name = path.relative_to(ROOT).as_posix()
        if path.is_relative_to(DOCS):
            there = path.relative_to(DOCS).as_posix()
        elif name in PAGES:
            there = f"{PAGES[name]}.md"
        elif name in INSTEAD:
            there = INSTEAD[name]
        elif name.startswith("examples/plot_"):
            there = f"gallery/{path.stem}.rst"
        else:
            return f"{{download}}`{words.replace('`', '')} <{os.path.relpath(path, here)}>`"
        return f"[{words}]({os.path.relpath(site / there, here)}{anchor})"

    return LINK.sub(replace, text)


def _write_pages(app: Sphinx) -> None:
    for name, page in PAGES.items():
        (Path(app.srcdir) / f"{page}.md").write_text(
            (ROOT / name).read_text(encoding="utf-8"), encoding="utf-8"
        )


def _read(app: Sphinx, page: str, content: list[str]) -> None:
    if app.env.doc2path(page).suffix == ".md":
        content[0] = replace_links(content[0], page, Path(app.srcdir))


def setup(app: Sphinx) -> dict[str, object]:
    """Write the pages before Sphinx looks for pages, and look at every page before it is parsed."""
    app.connect("config-inited", lambda app, _: _write_pages(app))
    app.connect("source-read", _read)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
