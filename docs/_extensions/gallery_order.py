"""The order of the cards in the gallery and among the tutorials."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
TUTORIALS = ["table.py", "graph.py", "embedding.py"]  # as a newcomer takes them


def place_of(name: str) -> int:
    """Where a file stands: tutorials first, examples as examples/README.md lists them."""
    listed = (ROOT / "examples" / "README.md").read_text(encoding="utf-8")
    return [*TUTORIALS, *re.findall(r"^\| \[(plot_\w+\.py)", listed, re.MULTILINE)].index(name)
