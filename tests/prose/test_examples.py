"""The examples in the pages are Python; `make docs-check` runs those that show what they print."""

from __future__ import annotations

import ast
import re

import pytest

from prose.pages import ROOT
from prose.test_prose import PAGES

TEXTS = {name: (ROOT / name).read_text(encoding="utf-8") for name in PAGES}
BLOCKS = [
    pytest.param(block, id=f"{name}-{number}")
    for name, text in TEXTS.items()
    for number, block in enumerate(re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL))
    if ">>>" not in block
]
RUNNABLE = ["docs/explanation.md"]  # whole pages of examples that need no files, clusters or devices


@pytest.mark.parametrize("block", BLOCKS)
def test_other_examples_are_python(block: str) -> None:
    ast.parse(block)


@pytest.mark.parametrize("name", RUNNABLE)
def test_other_examples_run(name: str) -> None:
    names: dict[str, object] = {}
    for block in re.findall(r"^```python\n(.*?)^```", TEXTS[name], re.MULTILINE | re.DOTALL):
        exec(compile(block, name, "exec"), names)  # noqa: S102 - our own page


def test_there_are_examples_on_the_new_pages() -> None:
    assert {"docs/reading.md", "docs/concepts.md", "docs/certificates.md"} <= {
        name for name, text in TEXTS.items() if ">>>" in text
    }
