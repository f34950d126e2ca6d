"""Bad downloads: none is recorded or kept, fills the disk, or leads anywhere but to the web."""

from __future__ import annotations

import io
import json
import os
import zipfile
from typing import TYPE_CHECKING

import pytest

from data.datasets.http_server import zipped
from data.datasets.layouts import write_ogb_csv
from geodim.data.datasets import ChecksumError, fetch
from geodim.data.datasets.archive import extract
from geodim.data.datasets.download import ResumingDownloader
from geodim.errors import DataFileError
from geodim.locks import FolderLock

if TYPE_CHECKING:
    from pathlib import Path

    from data.datasets.http_server import Server


@pytest.fixture
def good(tmp_path: Path) -> bytes:
    write_ogb_csv(tmp_path / "made")
    return zipped(tmp_path / "made" / "ogbn_arxiv", "arxiv")


def other_archive() -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as file:
        file.writestr("arxiv/readme", "nothing else")
    return content.getvalue()


@pytest.mark.parametrize(
    ("bad", "headers"),
    [
        (b"<html>Please log in</html>", {"Content-Type": "text/html; charset=utf-8"}),
        (b"<html>Please log in</html>", {}),
        ("cut", {}),
        (other_archive(), {}),
    ],
    ids=["portal", "portal without type", "cut off", "another archive"],
)
def test_a_bad_first_download_poisons_nothing(
    tmp_path: Path, server: Server, good: bytes, bad: bytes | str, headers: dict[str, str]
) -> None:
    server.files["arxiv.zip"] = good[: len(good) // 2] if isinstance(bad, str) else bad
    server.headers = headers
    root = tmp_path / "root"
    with pytest.raises(DataFileError) as caught:
        fetch("ogbn-arxiv", root, mirror=server.url)
    assert not isinstance(caught.value, ChecksumError)
    assert not (root / "geodim-checksums.json").exists()
    assert not (root / "arxiv.zip").exists()
    server.files["arxiv.zip"], server.headers = good, {}
    fetch("ogbn-arxiv", root, mirror=server.url)  # the same command again, now that the network is there
    assert list(json.loads((root / "geodim-checksums.json").read_text())) == ["arxiv.zip"]


def test_an_archive_is_kept_if_the_disk_was_full(
    tmp_path: Path, server: Server, good: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.files["arxiv.zip"] = good

    def full(*_arguments: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("geodim.data.datasets.archive.shutil.copyfileobj", full)
        with pytest.raises(DataFileError, match=r"cannot write .*: the disk is full"):
            fetch("ogbn-arxiv", tmp_path / "root", mirror=server.url)
    fetch("ogbn-arxiv", tmp_path / "root", mirror=server.url)
    assert len(server.requests) == 1


def test_no_body_without_an_end(tmp_path: Path, server: Server) -> None:
    server.files["a"], server.endless = b"x" * 10_000, True
    with pytest.raises(
        DataFileError, match=r"at least 1,\d\d\d,\d\d\d bytes, but no more than 1,000,000 are expected"
    ):
        ResumingDownloader(tmp_path / "part", limit=1_000_000)(server.url + "a", str(tmp_path / "a"))
    assert not list(tmp_path.iterdir())


def test_an_announced_size_is_enough(tmp_path: Path, server: Server) -> None:
    server.files["a"] = b"x" * 5000
    with pytest.raises(DataFileError, match="at least 5,000 bytes, but no more than 4,999 are expected"):
        ResumingDownloader(tmp_path / "part", limit=4999)(server.url + "a", str(tmp_path / "a"))
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("target", ["file:///etc/passwd", "ftp://127.0.0.1/a", "data:,x"])
def test_redirects_to_other_schemes(tmp_path: Path, server: Server, target: str) -> None:
    server.redirects["arxiv.zip"] = target
    with pytest.raises(
        DataFileError, match=r"redirects to .*, which is not followed: it is not http"
    ) as caught:
        fetch("ogbn-arxiv", tmp_path, mirror=server.url)
    assert not isinstance(caught.value, ChecksumError)


def test_redirects_within_the_web_are_followed(tmp_path: Path, server: Server) -> None:
    server.redirects["old"], server.files["new"] = "/new", b"content"
    ResumingDownloader(tmp_path / "part", limit=100)(server.url + "old", str(tmp_path / "a"))
    assert (tmp_path / "a").read_bytes() == b"content"


def test_a_mirror_that_is_no_address(tmp_path: Path, server: Server) -> None:
    for mirror in ("file:///etc", "nowhere"):
        with pytest.raises(DataFileError, match=r"downloading .* failed") as caught:
            fetch("ogbn-arxiv", tmp_path, mirror=mirror)
        assert not isinstance(caught.value, ChecksumError)


@pytest.mark.linux
def test_a_full_disk_is_named(tmp_path: Path, server: Server) -> None:
    (tmp_path / "part").symlink_to("/dev/full")
    server.files["a"] = b"x" * 100_000
    with pytest.raises(DataFileError, match=rf"cannot write {tmp_path}/part: the disk is full"):
        ResumingDownloader(tmp_path / "part", limit=10**6)(server.url + "a", str(tmp_path / "a"))


def test_two_at_once(tmp_path: Path, server: Server, good: bytes) -> None:
    server.files["arxiv.zip"] = good
    with (
        FolderLock(tmp_path, "test", ".arxiv.zip.lock"),
        pytest.raises(
            DataFileError, match=rf"download of arxiv.zip to .* is in use by process {os.getpid()}"
        ),
    ):
        fetch("ogbn-arxiv", tmp_path, mirror=server.url)


def test_an_archive_that_grows_without_measure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("geodim.data.datasets.archive.SMALLEST_LIMIT", 10_000)
    with zipfile.ZipFile(tmp_path / "a.zip", "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("top/zeros", bytes(10**7))
    with pytest.raises(DataFileError, match="unpacks to 10,000,000 bytes, more than"):
        extract(tmp_path / "a.zip", tmp_path / "out", "top")
    assert not (tmp_path / "out").exists()
