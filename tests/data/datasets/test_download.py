"""Downloads from a server on this machine, through the real pooch."""

from __future__ import annotations

import json
import re
import sys
import zipfile
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from data.datasets import oracles
from data.datasets.http_server import Server, zipped
from data.datasets.layouts import write_mag, write_ogb_csv, write_planetoid
from geodim.data.datasets import (
    ChecksumError,
    DatasetNotFoundError,
    MissingEmbeddingError,
    fetch,
    load_dataset,
    registry,
)
from geodim.data.datasets.download import ResumingDownloader
from geodim.errors import DataFileError, MissingExtraError
from published import published_root

if TYPE_CHECKING:
    from pathlib import Path


def test_archive_is_fetched_unpacked_and_loaded(tmp_path: Path, server: Server) -> None:
    truth = write_ogb_csv(tmp_path / "made")
    server.files["arxiv.zip"] = zipped(tmp_path / "made" / "ogbn_arxiv", "arxiv")
    root = tmp_path / "root"
    assert fetch("ogbn-arxiv", root, mirror=server.url) == root / "ogbn_arxiv"
    oracles.check_mapped(load_dataset("ogbn-arxiv", root), truth)
    ledger = json.loads((root / "geodim-checksums.json").read_text())
    assert ledger["arxiv.zip"]["size"] == len(server.files["arxiv.zip"])
    assert {path.name for path in root.iterdir()} == {"geodim-checksums.json", "ogbn_arxiv"}
    # What is there is not fetched again.
    fetch("ogbn-arxiv", root, mirror=server.url)
    assert len(server.requests) == 1


def test_archive_can_be_kept(tmp_path: Path, server: Server) -> None:
    write_ogb_csv(tmp_path / "made")
    server.files["arxiv.zip"] = zipped(tmp_path / "made" / "ogbn_arxiv", "arxiv")
    fetch("ogbn-arxiv", tmp_path / "root", mirror=server.url, keep_archive=True)
    assert (tmp_path / "root" / "arxiv.zip").read_bytes() == server.files["arxiv.zip"]


def test_first_checksum_is_enforced_afterwards(tmp_path: Path, server: Server) -> None:
    write_ogb_csv(tmp_path / "made")
    write_ogb_csv(tmp_path / "other", seed=1)
    server.files["arxiv.zip"] = zipped(tmp_path / "made" / "ogbn_arxiv", "arxiv")
    root = tmp_path / "root"
    fetch("ogbn-arxiv", root, mirror=server.url)
    (root / "ogbn_arxiv" / "raw" / "edge.csv.gz").unlink()
    good, server.files["arxiv.zip"] = (
        server.files["arxiv.zip"],
        zipped(tmp_path / "other" / "ogbn_arxiv", "arxiv"),
    )
    with pytest.raises(ChecksumError, match=r"if the record in .* is wrong") as caught:
        fetch("ogbn-arxiv", root, mirror=server.url)
    assert str(root / "geodim-checksums.json") in str(caught.value)
    assert not (root / "ogbn_arxiv" / "raw" / "edge.csv.gz").exists()
    assert {path.name for path in root.iterdir()} == {"geodim-checksums.json", "ogbn_arxiv"}
    server.files["arxiv.zip"] = good
    fetch("ogbn-arxiv", root, mirror=server.url)
    assert (root / "ogbn_arxiv" / "raw" / "edge.csv.gz").exists()


def test_known_checksums_are_enforced(tmp_path: Path, server: Server) -> None:
    write_planetoid(tmp_path / "made")
    for path in (tmp_path / "made" / "Cora" / "raw").iterdir():
        server.files[path.name] = path.read_bytes()
    with pytest.raises(ChecksumError, match=registry.get_spec("cora").remotes[0].sha256):
        fetch("cora", tmp_path / "root", mirror=server.url)
    assert not list((tmp_path / "root" / "Cora" / "raw").iterdir())


@pytest.mark.published
def test_published_files_pass_their_checksums(tmp_path: Path, server: Server) -> None:
    for path in (published_root() / "Cora" / "raw").iterdir():
        server.files[path.name] = path.read_bytes()
    fetch("cora", tmp_path, mirror=server.url)
    assert load_dataset("cora", tmp_path).provenance["as_in_paper"]
    (tmp_path / "Cora" / "raw" / "ind.cora.x").unlink()
    server.requests.clear()
    fetch("cora", tmp_path, mirror=server.url)
    assert server.requests == [("ind.cora.x", None, 200)]


def test_load_downloads_by_itself(tmp_path: Path, server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    truth, embedding = write_mag(tmp_path / "made")
    server.files["mag.zip"] = zipped(tmp_path / "made" / "ogbn_mag", "mag")
    torch = oracles.load("torch")
    place = tmp_path / "mag_metapath2vec_emb.pt"
    torch.save({kind: torch.from_numpy(vectors) for kind, vectors in embedding.items()}, place)
    with zipfile.ZipFile(tmp_path / "emb.zip", "w") as archive:
        archive.write(place, place.name)
    server.files["mag_metapath2vec_emb.zip"] = (tmp_path / "emb.zip").read_bytes()
    spec = registry.get_spec("ogbn-mag")
    remotes = [
        registry.Remote(server.url + remote.filename, remote.provides, None, remote.strip, remote.into)
        for remote in spec.remotes
    ]
    monkeypatch.setitem(
        registry.SPECS, "ogbn-mag", registry.DatasetSpec(**{**vars(spec), "remotes": tuple(remotes)})
    )
    oracles.check_mapped(load_dataset("ogbn-mag", tmp_path / "root"), truth)


CONTENT = np.random.default_rng(0).bytes(3_000_000)


def download(server: Server, tmp_path: Path, **options: Any) -> bytes:
    server.files.setdefault("big.bin", CONTENT)
    target = tmp_path / "target.bin"
    ResumingDownloader(tmp_path / "big.bin.part", limit=2 * len(CONTENT), **options)(
        server.url + "big.bin", str(target)
    )
    assert not (tmp_path / "big.bin.part").exists()
    assert not (tmp_path / "big.bin.part.json").exists()
    return target.read_bytes()


def test_broken_connections_are_continued(tmp_path: Path, server: Server) -> None:
    server.breaks = [1_200_000, 1_000_000, 0]
    assert download(server, tmp_path) == CONTENT
    starts = [wanted for _, wanted, _ in server.requests]
    assert starts[0] is None
    offsets = [int(re.sub(r"\D", "", wanted)) for wanted in starts[1:] if wanted]
    assert len(offsets) == 3
    assert 0 < offsets[0] < offsets[1] == offsets[2] < len(CONTENT)
    assert [status for *_, status in server.requests] == [200, 206, 206, 206]


def test_only_failures_in_a_row_count(tmp_path: Path, server: Server) -> None:
    server.breaks = [300_000] * 9
    assert download(server, tmp_path, retries=1) == CONTENT
    assert len(server.requests) > 9
    server.breaks = [300_000, 0, 0]
    with pytest.raises(DataFileError, match="continues"):
        download(server, tmp_path, retries=1)


def test_a_later_attempt_continues(tmp_path: Path, server: Server) -> None:
    server.breaks = [2_000_000]
    with pytest.raises(DataFileError, match=r"the next attempt continues") as caught:
        download(server, tmp_path, retries=0)
    assert str(tmp_path / "big.bin.part") in str(caught.value)
    have = (tmp_path / "big.bin.part").stat().st_size
    assert 0 < have <= 2_000_000
    assert download(server, tmp_path) == CONTENT
    assert server.requests[-1] == ("big.bin", f"bytes={have}-", 206)


def start_and_break(tmp_path: Path, server: Server) -> None:
    server.breaks = [2_000_000]
    with pytest.raises(DataFileError):
        download(server, tmp_path, retries=0)


def test_a_changed_file_starts_over(tmp_path: Path, server: Server) -> None:
    start_and_break(tmp_path, server)
    server.files["big.bin"], server.mark = CONTENT[::-1], '"second"'
    assert download(server, tmp_path) == CONTENT[::-1]
    assert server.requests[-1][2] == 200


def test_a_server_without_ranges_starts_over(tmp_path: Path, server: Server) -> None:
    server.ranges = False
    start_and_break(tmp_path, server)
    assert download(server, tmp_path) == CONTENT
    assert server.requests[-1][2] == 200


@pytest.mark.parametrize(("header", "mark", "resumes"), [
    ("Last-Modified", "Wed, 21 Oct 2015 07:28:00 GMT", True),
    ("ETag", 'W/"weak"', False),
    ("X-Nothing", "none", False),
])  # fmt: skip
def test_marks(tmp_path: Path, server: Server, header: str, mark: str, resumes: bool) -> None:
    """Without a strong mark nothing tells whether the rest belongs to the same file: start over."""
    server.mark_header, server.mark = header, mark
    start_and_break(tmp_path, server)
    assert download(server, tmp_path) == CONTENT
    assert server.requests[-1][2] == (206 if resumes else 200)


def test_a_complete_part_is_accepted(tmp_path: Path, server: Server) -> None:
    start_and_break(tmp_path, server)
    (tmp_path / "big.bin.part").write_bytes(CONTENT)
    assert download(server, tmp_path) == CONTENT
    assert server.requests[-1][2] == 416


def test_a_part_that_is_too_long_starts_over(tmp_path: Path, server: Server) -> None:
    start_and_break(tmp_path, server)
    (tmp_path / "big.bin.part").write_bytes(CONTENT + b"more")
    assert download(server, tmp_path) == CONTENT
    assert [status for *_, status in server.requests[-2:]] == [416, 200]


def test_a_damaged_mark_starts_over(tmp_path: Path, server: Server) -> None:
    start_and_break(tmp_path, server)
    (tmp_path / "big.bin.part.json").write_text("{")
    assert download(server, tmp_path) == CONTENT
    assert server.requests[-1][1:] == (None, 200)


def test_an_unexpected_range_is_refused(tmp_path: Path, server: Server) -> None:
    start_and_break(tmp_path, server)
    server.wrong_range = True
    with pytest.raises(DataFileError, match="not asked for"):
        download(server, tmp_path)


def test_not_there(tmp_path: Path, server: Server) -> None:
    with pytest.raises(DataFileError, match="404"):
        fetch("ogbn-arxiv", tmp_path, mirror=server.url)
    downloader = ResumingDownloader(tmp_path / "part", limit=1000)
    assert downloader(server.url + "none", "", check_only=True) is False
    server.files["some"] = b"x"
    assert downloader(server.url + "some", "", check_only=True) is True


def test_nobody_answers(tmp_path: Path, server: Server) -> None:
    with pytest.raises(DataFileError, match="failed"):
        ResumingDownloader(tmp_path / "part", limit=1000, retries=1)(
            "http://127.0.0.1:9/none", str(tmp_path / "target")
        )


def test_progress_bar(tmp_path: Path, server: Server, capsys: pytest.CaptureFixture[str]) -> None:
    assert download(server, tmp_path, progress=True) == CONTENT
    captured = capsys.readouterr()
    assert "big.bin" in captured.err
    assert captured.out == ""


def test_quiet_without_a_terminal(tmp_path: Path, server: Server, capsys: pytest.CaptureFixture[str]) -> None:
    write_ogb_csv(tmp_path / "made")
    server.files["arxiv.zip"] = zipped(tmp_path / "made" / "ogbn_arxiv", "arxiv")
    fetch("ogbn-arxiv", tmp_path / "root", mirror=server.url)
    captured = capsys.readouterr()
    assert captured.out == captured.err == ""


def test_incomplete_archive(tmp_path: Path, server: Server) -> None:
    write_ogb_csv(tmp_path / "made")
    (tmp_path / "made" / "ogbn_arxiv" / "raw" / "edge.csv.gz").unlink()
    server.files["arxiv.zip"] = zipped(tmp_path / "made" / "ogbn_arxiv", "arxiv")
    with pytest.raises(DataFileError, match=r"does not contain raw/edge\.csv\.gz"):
        fetch("ogbn-arxiv", tmp_path / "root", mirror=server.url)


def test_damaged_ledger(tmp_path: Path, server: Server) -> None:
    for content in ("{", "[]"):
        (tmp_path / "geodim-checksums.json").write_text(content)
        with pytest.raises(DataFileError, match="repair or delete"):
            fetch("ogbn-arxiv", tmp_path, mirror=server.url)


# Without a server.


def test_offline(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(DatasetNotFoundError, match="GEODIM_OFFLINE") as caught:
        fetch("ogbn-arxiv", tmp_path)
    assert str(tmp_path / "ogbn_arxiv") in str(caught.value)
    assert "https://snap.stanford.edu/ogb/data/nodeproppred/arxiv.zip" in str(caught.value)
    monkeypatch.delenv("GEODIM_OFFLINE")
    with pytest.raises(DatasetNotFoundError, match="offline=True"):
        fetch("ogbn-arxiv", tmp_path, offline=True)


def test_nothing_to_fetch(tmp_path: Path) -> None:
    assert fetch("digits", tmp_path) == tmp_path
    write_planetoid(tmp_path)
    assert fetch("cora", tmp_path) == tmp_path / "Cora"


def test_vectors_of_ones_own_are_not_fetched(tmp_path: Path) -> None:
    _, embedding = write_mag(tmp_path)
    with pytest.raises(MissingEmbeddingError, match="train_metapath2vec"):
        fetch("ogbn-mag", tmp_path)
    np.savez(tmp_path / "ogbn_mag" / "raw" / "mag_metapath2vec_emb.npz", **embedding)
    assert fetch("ogbn-mag", tmp_path) == tmp_path / "ogbn_mag"


def test_pooch_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GEODIM_OFFLINE")
    monkeypatch.setitem(sys.modules, "pooch", None)
    with pytest.raises(MissingExtraError, match=r"geodim\[data\]") as caught:
        load_dataset("ogbn-arxiv", tmp_path)
    assert str(tmp_path / "ogbn_arxiv") in str(caught.value)
