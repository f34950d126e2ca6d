"""Whoever waits hears of every kind of file how far it is, and gives up in time."""

from __future__ import annotations

import gzip
import io
import time
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest

import geodim
from geodim import waiting as waiting_
from geodim.concepts.files import read_context
from geodim.data.checks import scan_ranges
from geodim.data.graphs import as_graph
from geodim.data.images import images_of
from geodim.data.sources import as_source
from geodim.data.tables import open_table
from geodim.data.texts import texts_of
from geodim.errors import TimeLimitError
from geodim.waiting import Counted, waiting

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

RNG = np.random.default_rng(3)
X = RNG.integers(0, 2, (60_000, 12))


def write(path: Path, text: str) -> None:
    with (
        gzip.open(path, "wt", 1, "utf-8")
        if path.suffix == ".gz"
        else path.open("w", encoding="utf-8") as file
    ):
        file.write(text)


def csv_of(path: Path) -> object:
    write(path, ",".join(f"c{i}" for i in range(12)) + "\n" + "0,1,0,1,0,1,0,1,0,1,0,1\n" * 60_000)
    return open_table(path).data


def parquet_of(path: Path) -> object:
    pd.DataFrame(X, columns=[f"c{i}" for i in range(12)]).to_parquet(path, row_group_size=20_000)
    return open_table(path).data


def npz_of(path: Path) -> object:
    np.savez(path, RNG.random((60_000, 4)))
    return open_table(path).data


def lines_of(path: Path) -> object:
    path.write_text("some words in a line\n" * 100_000, encoding="utf-8")
    return texts_of(path)


def edges_of(path: Path) -> object:
    write(path, "100 200\n200 300\n" * 75_000)
    return as_graph(path, 1000)


def transactions_of(path: Path) -> object:
    path.write_text("1 2 3 4 5 6 7 8 9\n" * 100_000, encoding="utf-8")
    return read_context(path)


def images_in(path: Path) -> object:
    image = pytest.importorskip("PIL.Image")
    path.mkdir()
    for i in range(3):
        image.fromarray(np.full((4, 4), i, np.uint8)).save(path / f"{i}.png")
    return images_of(path)


KINDS: list[tuple[str, Callable[[Path], object]]] = [
    ("a.csv", csv_of),
    ("a.csv.gz", csv_of),
    ("a.parquet", parquet_of),
    ("a.npz", npz_of),
    ("a.txt", lines_of),
    ("edges.txt", edges_of),
    ("edges.txt.gz", edges_of),
    ("a.dat", transactions_of),
    ("images", images_in),
]


@pytest.mark.parametrize(("name", "read"), KINDS)
def test_readers_say_how_far_they_are(tmp_path: Path, name: str, read: Callable[[Path], object]) -> None:
    heard: list[tuple[str, int, int]] = []
    with waiting(told=lambda *how: heard.append(how)):
        read(tmp_path / name)
    ours = [(done, of) for doing, done, of in heard if doing == f"reading {tmp_path / name}"]
    assert ours
    assert ours[-1][0] == ours[-1][1] > 1
    if not name.endswith(".gz"):  # which is in one piece so small
        assert any(done < of for done, of in ours)


@pytest.mark.parametrize(("name", "read"), [kind for kind in KINDS if not kind[0].endswith(".gz")])
def test_readers_give_up(
    tmp_path: Path, name: str, read: Callable[[Path], object], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(waiting_, "GRACE", 0.0)
    with waiting(0.0), pytest.raises(TimeLimitError, match=r"limit of 0 s ran out .* while reading"):
        read(tmp_path / name)


def test_what_is_read_whole_is_not_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(waiting_, "GRACE", 0.0)
    (tmp_path / "a.csv").write_text("a,b\n1,2\n3,4\n")
    with waiting(0.0):
        assert open_table(tmp_path / "a.csv").data.num_rows == 2


def test_a_counted_file_is_a_file(tmp_path: Path) -> None:
    content = RNG.bytes(3_000_000)
    path = tmp_path / "file"
    path.write_bytes(content)
    heard: list[int] = []
    with (
        waiting(told=lambda _, done, of: heard.append(done if of == len(content) else -1)),
        Counted(path) as file,
    ):
        assert file.read(10) == content[:10]
        assert file.seek(-5, io.SEEK_END) == len(content) - 5
        assert file.read() == content[-5:]
        file.seek(0)
        assert file.read() == content
    assert max(heard) == len(content)
    assert min(heard) > 0


def test_outer_and_inner_limits_both_hold() -> None:
    with waiting(5.0, told=print), waiting(1000.0):
        assert waiting_.current().limit == 5.0
        assert waiting_.current().told is print
        with waiting(1.0):
            assert waiting_.current().limit == 1.0
    assert waiting_.current() == waiting_.Waiting()


class Slow:
    """Columns that take their time."""

    def __init__(self, seconds: float) -> None:
        self.source: Any = as_source(np.ones((4000, 5)))
        self.seconds, self.looked = seconds, 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self.source, name)

    def chunks(self) -> list[tuple[slice, slice]]:
        return [(slice(row, row + 100), slice(0, 5)) for row in range(0, 4000, 100)]

    def chunk(self, rows: slice, columns: slice) -> Any:
        time.sleep(self.seconds)
        self.looked += 1
        return self.source.chunk(rows, columns)


def test_first_passes_give_up() -> None:
    slow: Any = Slow(0.1)
    with waiting(0.0), pytest.raises(TimeLimitError, match="while looking through the values"):
        scan_ranges(slow, 2)
    assert 2 <= slow.looked < 40  # a moment is given, and no more


def test_time_limits_of_the_library_hold_for_first_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also that of a union by diameter, which looks at every column before the first bounds."""
    monkeypatch.setattr(waiting_, "GRACE", 0.0)
    data = RNG.random((2000, 30))
    edges = RNG.integers(0, 2000, (4000, 2))
    for call in (
        lambda: geodim.intrinsic_dimension(data, features=["distances", "coordinates"], time_limit=0.0),
        lambda: geodim.intrinsic_dimension(np.repeat(data, 50, 0), time_limit=0.0),
        lambda: geodim.khop_dimensions(np.repeat(data, 50, 0), edges, 1, time_limit=0.0),
        lambda: geodim.select_features(np.repeat(data, 50, 0), time_limit=0.0),
    ):
        with pytest.raises(TimeLimitError, match="limit of 0 s ran out before there was any result"):
            call()
