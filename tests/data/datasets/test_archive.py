"""Zip archives: what reaches outside its folder is refused before anything is written."""

from __future__ import annotations

import stat
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from geodim.data.datasets.archive import extract
from geodim.errors import DataFileError

if TYPE_CHECKING:
    from collections.abc import Callable


def evil(name: str, mode: int = 0) -> zipfile.ZipInfo:
    member = zipfile.ZipInfo("top/good.txt")
    member.filename = name
    member.external_attr = mode << 16
    return member


@pytest.mark.parametrize(
    "member",
    [
        evil("../outside.txt"), evil("top/../../outside.txt"), evil("/tmp/outside.txt"),
        evil("top/..\\outside.txt"), evil("C:outside.txt"), evil("C:\\outside.txt"),
        evil("top/link", stat.S_IFLNK | 0o777),
    ],
    ids=lambda member: member.filename,
)  # fmt: skip
@pytest.mark.parametrize("strip", ["top", ""])
def test_archives_that_reach_outside(tmp_path: Path, member: zipfile.ZipInfo, strip: str) -> None:
    with zipfile.ZipFile(tmp_path / "evil.zip", "w") as archive:
        archive.writestr("top/first.txt", "good")
        archive.writestr(member, "evil")
    with pytest.raises(DataFileError, match="outside its folder"):
        extract(tmp_path / "evil.zip", tmp_path / "in" / "folder", strip)
    # Refused before anything was written.
    assert [path.name for path in tmp_path.rglob("*")] == ["evil.zip"]
    assert not Path("/tmp/outside.txt").exists()


def damage_crc(data: bytes) -> bytes:
    return data.replace(b"good content", b"evil content")


@pytest.mark.parametrize(
    "damage", [damage_crc, lambda data: data[:-30], lambda _data: b"", lambda _data: b"PK\x03\x04"]
)
def test_damaged_archives(tmp_path: Path, damage: Callable[[bytes], bytes]) -> None:
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("top/a.txt", "good content")
    (tmp_path / "a.zip").write_bytes(damage((tmp_path / "a.zip").read_bytes()))
    with pytest.raises(DataFileError, match="damaged"):
        extract(tmp_path / "a.zip", tmp_path / "out", "top")
    assert not [path for path in tmp_path.rglob("*") if path.is_file() and path.name != "a.zip"]


def test_extraction_replaces_and_strips(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.mkdir("top")
        archive.writestr("top/sub/a.txt", "new")
        archive.writestr("other/b.txt", "ignored")
        archive.writestr("top.txt", "ignored")
    (tmp_path / "out" / "sub").mkdir(parents=True)
    (tmp_path / "out" / "sub" / "a.txt").write_text("old")
    assert extract(tmp_path / "a.zip", tmp_path / "out", "top") == [tmp_path / "out" / "sub" / "a.txt"]
    assert (tmp_path / "out" / "sub" / "a.txt").read_text() == "new"
    assert [path.name for path in tmp_path.rglob("*.txt")] == ["a.txt"]
    with pytest.raises(DataFileError, match="no files under 'none'"):
        extract(tmp_path / "a.zip", tmp_path / "out", "none")
