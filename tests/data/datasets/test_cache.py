from __future__ import annotations

import json
import logging
import os
import shutil
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from data.datasets import oracles
from data.datasets.layouts import write_csv, write_ogb_csv
from geodim.data.datasets import cache, load_dataset
from geodim.data.datasets.streaming import NpyWriter
from geodim.errors import DataFileError, InputValueError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@pytest.fixture(autouse=True)
def fresh_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """Forget what was verified: each load stands for one in a new process."""
    monkeypatch.setattr(cache, "_verified", set())


def forget() -> None:
    cache._verified.clear()


def flip(path: Path, offset: int = -1, *, keep_time: bool = True) -> None:
    """Change one byte, and by default put the file's time back."""
    stat = path.stat()
    data = bytearray(path.read_bytes())
    data[offset] ^= 1
    path.write_bytes(data)
    if keep_time:
        os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))


def edit(folder: Path, change: Callable[[dict[str, Any]], object]) -> None:
    manifest = json.loads((folder / "manifest.json").read_text())
    change(manifest)
    (folder / "manifest.json").write_text(json.dumps(manifest))


DAMAGES: dict[str, Callable[[Path], object]] = {
    "altered array": lambda folder: flip(folder / "x.npy"),
    "altered header": lambda folder: flip(folder / "x.npy", 20),
    "altered split": lambda folder: flip(folder / "train.npy"),
    "truncated": lambda folder: os.truncate(folder / "edge_index.npy", 200),
    "longer": lambda folder: (folder / "y.npy").open("ab").write(b"12345678"),
    "missing array": lambda folder: (folder / "y.npy").unlink(),
    "no manifest": lambda folder: (folder / "manifest.json").unlink(),
    "half a manifest": lambda folder: (folder / "manifest.json").write_text('{"format": 1, "arr'),
    "not a manifest": lambda folder: (folder / "manifest.json").write_text("[]"),
    "empty manifest": lambda folder: (folder / "manifest.json").write_text("{}"),
    "other format": lambda folder: edit(folder, lambda manifest: manifest.update(format=99)),
    "other recipe": lambda folder: edit(folder, lambda manifest: manifest.update(recipe="ogb-csv/0")),
    "wrong shape": lambda folder: edit(
        folder, lambda manifest: manifest["arrays"]["x"].update(shape=[5, 60])
    ),
    "wrong hash": lambda folder: edit(
        folder, lambda manifest: manifest["arrays"]["x"].update(sha256="0" * 64)
    ),
    "empty folder": lambda folder: [path.unlink() for path in folder.iterdir()],
}


@pytest.mark.filterwarnings("ignore:unclosed file:ResourceWarning")
@pytest.mark.parametrize("damage", DAMAGES)
def test_damage_is_noticed_and_repaired(tmp_path: Path, damage: str) -> None:
    truth = write_ogb_csv(tmp_path)
    load_dataset("ogbn-arxiv", tmp_path)
    folder = tmp_path / "ogbn_arxiv" / "geodim"
    good = {path.name: path.read_bytes() for path in folder.glob("*.npy")}
    forget()
    DAMAGES[damage](folder)
    oracles.check_mapped(load_dataset("ogbn-arxiv", tmp_path), truth)
    assert {path.name: path.read_bytes() for path in folder.glob("*.npy")} == good
    assert not list(folder.parent.glob(".geodim*"))


def test_damage_without_sources_is_an_error(tmp_path: Path) -> None:
    write_ogb_csv(tmp_path)
    load_dataset("ogbn-arxiv", tmp_path)
    forget()
    shutil.rmtree(tmp_path / "ogbn_arxiv" / "raw")
    flip(tmp_path / "ogbn_arxiv" / "geodim" / "x.npy")
    with pytest.raises(DataFileError, match=r"raw/edge\.csv\.gz"):
        load_dataset("ogbn-arxiv", tmp_path)


def test_the_log_says_why(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    write_ogb_csv(tmp_path)
    load_dataset("ogbn-arxiv", tmp_path)
    forget()
    flip(tmp_path / "ogbn_arxiv" / "geodim" / "x.npy")
    with caplog.at_level(logging.WARNING, logger="geodim"):
        load_dataset("ogbn-arxiv", tmp_path)
    assert "x.npy does not match its checksum" in caplog.text


def times(folder: Path) -> dict[str, int]:
    return {path.name: path.stat().st_mtime_ns for path in folder.iterdir()}


def test_nothing_is_written_twice(tmp_path: Path) -> None:
    write_ogb_csv(tmp_path)
    load_dataset("ogbn-arxiv", tmp_path)
    before = times(tmp_path / "ogbn_arxiv" / "geodim")
    forget()
    load_dataset("ogbn-arxiv", tmp_path)
    assert times(tmp_path / "ogbn_arxiv" / "geodim") == before


def test_changed_sources(tmp_path: Path) -> None:
    write_ogb_csv(tmp_path)
    load_dataset("ogbn-arxiv", tmp_path)
    truth = write_ogb_csv(tmp_path / "new", seed=9)
    raw = tmp_path / "ogbn_arxiv" / "raw"
    shutil.copy(tmp_path / "new" / "ogbn_arxiv" / "raw" / "node-label.csv.gz", raw)
    oracles.same(load_dataset("ogbn-arxiv", tmp_path).y, truth.y)
    # The same size, another content.
    label = raw / "node-label.csv.gz"
    size, labels = label.stat().st_size, truth.y
    for shift in range(1, 500):
        labels = np.roll(truth.y, shift) if shift < 60 else np.random.default_rng(shift).permutation(truth.y)
        write_csv(label, labels[:, None])
        if label.stat().st_size == size and not np.array_equal(labels, truth.y):
            break
    assert label.stat().st_size == size
    oracles.same(load_dataset("ogbn-arxiv", tmp_path).y, labels)


def test_a_copied_data_set_is_not_converted_again(tmp_path: Path) -> None:
    truth = write_ogb_csv(tmp_path / "one")
    load_dataset("ogbn-arxiv", tmp_path / "one")
    # copyfile keeps the content and not the times.
    shutil.copytree(tmp_path / "one", tmp_path / "two", copy_function=shutil.copyfile)
    before = times(tmp_path / "two" / "ogbn_arxiv" / "geodim")
    oracles.check_mapped(load_dataset("ogbn-arxiv", tmp_path / "two"), truth)
    assert times(tmp_path / "two" / "ogbn_arxiv" / "geodim") == before


def test_how_thoroughly(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Above the limit files are sampled, unless they were touched or everything is asked for."""
    write_ogb_csv(tmp_path, nodes=500, width=8)
    load_dataset("ogbn-arxiv", tmp_path)
    folder = tmp_path / "ogbn_arxiv" / "geodim"
    monkeypatch.setattr(cache, "FULL_CHECK_BYTES", 100)
    monkeypatch.setattr(cache, "SAMPLES", 2)
    monkeypatch.setattr(cache, "SAMPLE_BYTES", 128)
    sampled = {path.name: cache.sampled_hash(path) for path in folder.glob("*.npy")}
    edit(
        folder,
        lambda manifest: [
            record.update(sampled=sampled[record["file"]]) for record in manifest["arrays"].values()
        ],
    )
    hashed: list[str] = []
    whole = cache.file_hash
    monkeypatch.setattr(cache, "file_hash", lambda path: (hashed.append(path.name), whole(path))[1])
    load_dataset("ogbn-arxiv", tmp_path)
    assert not hashed
    load_dataset("ogbn-arxiv", tmp_path, verify="full")
    assert len(hashed) == 6
    load_dataset("ogbn-arxiv", tmp_path, verify="full")
    assert len(hashed) == 6, "once per process"

    def unusable(verify: Any) -> bool:
        forget()
        return cache.open_cache([folder], "ogb-csv/1", folder.parent, [], verify) is None

    middle = (folder / "x.npy").stat().st_size // 2
    flip(folder / "x.npy", middle)
    assert not unusable("size")
    assert not unusable("auto")
    assert unusable("full")
    os.utime(folder / "x.npy")
    assert unusable("auto"), "touched: checked whole"
    assert not unusable("size")
    flip(folder / "x.npy", middle)
    os.utime(folder / "x.npy")
    assert not unusable("auto")
    flip(folder / "y.npy")
    assert unusable("auto"), "the last bytes are among the samples"


def test_verify_is_checked(tmp_path: Path) -> None:
    with pytest.raises(InputValueError, match="auto, full, size"):
        load_dataset("digits", verify="maybe")  # type: ignore[arg-type]


def test_read_only_source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the data set's own folder cannot be written, the user's cache takes the arrays."""
    truth = write_ogb_csv(tmp_path)
    real = type(tmp_path).mkdir

    def mkdir(path: Path, *args: Any, **options: Any) -> None:
        # Running as root, permissions forbid nothing.
        if path.parent == tmp_path / "ogbn_arxiv":
            raise PermissionError(13, "Permission denied")
        real(path, *args, **options)

    monkeypatch.setattr(type(tmp_path), "mkdir", mkdir)
    dataset = load_dataset("ogbn-arxiv", tmp_path)
    oracles.check_mapped(dataset, truth)
    assert dataset.provenance["converted"].startswith(str(tmp_path / "user-cache" / "geodim" / "converted"))
    before = times(tmp_path / dataset.provenance["converted"])
    oracles.check_mapped(load_dataset("ogbn-arxiv", tmp_path), truth)
    assert times(tmp_path / dataset.provenance["converted"]) == before


def test_no_place_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_ogb_csv(tmp_path)
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    monkeypatch.setattr("geodim.temporary.new_name", lambda: "missing/folder")
    with pytest.raises(DataFileError, match="no folder for converted data"):
        load_dataset("ogbn-arxiv", tmp_path)


def test_interruption_leaves_nothing(tmp_path: Path) -> None:
    def write(folder: Path) -> dict[str, Any]:
        np.save(folder / "x.npy", np.eye(2))
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        cache.build([tmp_path / "geodim"], "r/1", tmp_path, [], write)
    assert not list(tmp_path.iterdir())


def test_another_process_was_faster(tmp_path: Path) -> None:
    place = tmp_path / "geodim"

    def write(folder: Path) -> dict[str, Any]:
        np.save(folder / "x.npy", np.eye(2))
        if not place.exists():
            cache.build([place], "r/1", tmp_path, [], lambda inner: np.save(inner / "x.npy", np.eye(2)) or {})
        return {}

    cache.build([place], "r/1", tmp_path, [], write)
    entry = cache.open_cache([place], "r/1", tmp_path, [])
    assert entry is not None
    oracles.same(entry.arrays["x"], np.eye(2))
    assert [path.name for path in tmp_path.iterdir()] == ["geodim"]


def test_manifest_cannot_point_elsewhere(tmp_path: Path) -> None:
    write_ogb_csv(tmp_path)
    load_dataset("ogbn-arxiv", tmp_path)
    folder = tmp_path / "ogbn_arxiv" / "geodim"
    (tmp_path / "outside.npy").write_bytes((folder / "x.npy").read_bytes())
    edit(folder, lambda manifest: manifest["arrays"]["x"].update(file="../../outside.npy"))
    assert cache.open_cache([folder], "ogb-csv/1", folder.parent, []) is None


def test_folders_are_readable_by_others(tmp_path: Path) -> None:
    write_ogb_csv(tmp_path)
    load_dataset("ogbn-arxiv", tmp_path)
    mask = os.umask(0)
    os.umask(mask)
    assert (tmp_path / "ogbn_arxiv" / "geodim").stat().st_mode & 0o777 == 0o777 & ~mask


@pytest.mark.linux
def test_a_full_disk_names_the_folder(tmp_path: Path) -> None:
    def write(folder: Path) -> dict[str, Any]:
        (folder / "x.npy").symlink_to("/dev/full")
        with NpyWriter(folder / "x.npy", (1000, 1000), np.float64) as writer:
            writer.append(np.zeros(10**6))
        return {}

    with pytest.raises(DataFileError, match=rf"cannot write {tmp_path}/geodim: the disk is full"):
        cache.build([tmp_path / "geodim"], "r/1", tmp_path, [], write)
    assert not list(tmp_path.iterdir())
