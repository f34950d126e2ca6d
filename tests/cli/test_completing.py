"""What the shell offers: names of data sets and of everything else that has a name."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from cli.running import called
from geodim.cli import completing
from geodim.data.datasets import list_datasets
from geodim.data.scales import Scale
from geodim.experiments import NAMES
from geodim.families import choose, metrics

if TYPE_CHECKING:
    from pathlib import Path


def offered(line: str) -> list[str]:
    """What bash is told when Tab is pressed at the end of the line."""
    words = line.split(" ")
    ended = called(_GEODIM_COMPLETE="complete_bash", COMP_WORDS=line, COMP_CWORD=str(len(words) - 1))
    return ended.out.split()


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("geodim hops c", ["cora", "citeseer"]),
        ("geodim hops ogbn-p", ["ogbn-products", "ogbn-papers100M"]),
        ("geodim datasets info pub", ["pubmed"]),
        ("geodim datasets fetch ", [info.name for info in list_datasets()]),
        ("geodim hops --operator p", ["ppr"]),
        ("geodim compute x.npy --features dist", ["distances"]),
        ("geodim compute x.npy --features coordinates,dir", ["coordinates,directions"]),
        ("geodim select x.npy --metric sh", ["shortest_path"]),
        ("geodim subsample x.npy --scale r", ["range", "rank"]),
        ("geodim reproduce kh", ["khop"]),
        ("geodim reproduce ", ["all", *NAMES]),
        ("geodim datasets in", ["info"]),
    ],
)
def test_offers(line: str, found: list[str]) -> None:
    assert offered(line) == found


def test_files_beside_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "data.npy").write_bytes(b"")
    (tmp_path / "digits-folder").mkdir()
    (tmp_path / ".hidden").write_bytes(b"")
    monkeypatch.chdir(tmp_path)
    for command in ("estimators", "verify proof.json", "compute"):
        assert offered(f"geodim {command} d") == ["data.npy", "digits-folder/", "digits"]
    assert offered("geodim compute digits-folder/") == []
    assert ".hidden" not in offered("geodim compute ")
    assert offered(f"geodim compute {tmp_path}/da") == [f"{tmp_path}/data.npy"]
    assert offered("geodim compute /no/such/folder/") == []


def test_the_words_are_those_of_the_library() -> None:
    assert tuple(choose.FAMILIES) == completing.FAMILIES
    assert set(completing.METRICS) == set(metrics.NAMES) - {"minkowski", "angle"}  # a parameter; a synonym
    for scale in completing.SCALES:
        Scale.of(scale)
