"""Shell completion: names of data sets, families, metrics and experiments.

The shell calls it at every Tab, so nothing heavy is imported.  ``geodim --install-completion`` sets it up.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

FAMILIES = ("coordinates", "distances", "directions", "pixels", "patches", "terms")
METRICS = (
    "euclidean", "manhattan", "chebyshev", "cosine", "chord", "hamming", "jaccard", "edit", "shortest_path",
    "precomputed",
)  # fmt: skip
SCALES = ("global", "range", "iqr", "std", "rank", "none")


def among(*words: str) -> Callable[[str], list[str]]:
    """Complete some words; of several separated by commas, the last one."""

    def complete(incomplete: str) -> list[str]:
        before, comma, last = incomplete.rpartition(",")
        return [f"{before}{comma}{word}" for word in _beginning(words, last)]

    return complete


def data_sets(incomplete: str) -> list[str]:
    """Complete names of data sets; case does not matter."""
    from geodim.data.datasets.registry import SPECS

    return _beginning(SPECS, incomplete)


def experiments(incomplete: str) -> list[str]:
    """Complete names of experiments, and "all"."""
    from geodim.experiments import NAMES

    return _beginning(["all", *NAMES], incomplete)


def files_and_data_sets(incomplete: str) -> list[str]:
    """Complete files and folders, and names of data sets."""
    return [*_files(incomplete), *data_sets(incomplete)]


def _beginning(words: Iterable[str], incomplete: str) -> list[str]:
    return [word for word in words if word.lower().startswith(incomplete.lower())]


def _files(incomplete: str) -> list[str]:
    head, slash, tail = incomplete.rpartition("/")
    try:
        found = sorted(Path(head + slash or ".").expanduser().iterdir())
    except OSError:
        return []
    return [
        f"{head}{slash}{path.name}{'/' if path.is_dir() else ''}"
        for path in found
        if path.name.startswith(tail) and (tail or not path.name.startswith("."))
    ]
