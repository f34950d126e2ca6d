"""The files of Cora, CiteSeer and PubMed as they were published, which only tests marked ``published`` read.

They are no part of the repository: Cora and CiteSeer come with the package in a form of their own, PubMed as
the words that matter (`golden.pubmed_core`), and what these can show is tested in every run.  The mark is for
the rest: `make test-data` runs it, with the files in the folder that GEODIM_DATA names.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from geodim.data.datasets.bundled import is_bundled

# Read before conftest.py names an empty folder instead, in which everybody else finds nothing.
FOLDER = os.environ.get("GEODIM_DATA")


def published(*values: object) -> object:
    """Parameters that only `make test-data` runs."""
    return pytest.param(*values, marks=pytest.mark.published)


def published_root() -> Path:
    """The folder with the published files; whoever asks for these tests is told where it is missing."""
    if not FOLDER or not (Path(FOLDER) / "Cora" / "raw" / "ind.cora.graph").is_file():
        pytest.fail(f"GEODIM_DATA names no folder with the published files: {FOLDER!r}", pytrace=False)
    return Path(FOLDER)


def root_of(name: str) -> Path | None:
    """Where a data set is read from: None, for the package's own, where that has it."""
    return None if is_bundled(name.lower()) else published_root()
