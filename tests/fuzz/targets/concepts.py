"""Binary data: files of transactions and of contexts."""

from __future__ import annotations

import gzip
from typing import TYPE_CHECKING

from fuzz.harness import Target
from geodim.concepts import read_context

if TYPE_CHECKING:
    from pathlib import Path

TRANSACTIONS = "1 2 5\n2 5\n\n1000000007 3 1\n7\t8 9\r\n" * 3
ANIMALS = (
    "B\nanimals\n4\n3\n\nduck\ndog\nswan\nkéa\nflies\nbarks\nswims\nX.X\n.X.\nX.X\nX..\n"  # with a title
)


def make_contexts(folder: Path) -> None:
    (folder / "plain.dat").write_text(TRANSACTIONS, encoding="utf-8")
    (folder / "packed.dat.gz").write_bytes(gzip.compress(TRANSACTIONS.encode(), mtime=0))
    (folder / "animals.cxt").write_text(ANIMALS, encoding="utf-8")
    (folder / "untitled.cxt").write_text(ANIMALS.replace("animals\n", ""), encoding="utf-8")
    (folder / "packed.cxt.gz").write_bytes(gzip.compress(ANIMALS.encode(), mtime=0))


TARGETS = [Target("contexts", make_contexts, read_context)]
