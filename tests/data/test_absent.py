"""Names of files that are not there: one error everywhere, with what may have been meant."""

from pathlib import Path

import pytest

import geodim
from cli.running import called
from geodim.certificate import Certificate
from geodim.data.absent import is_there, no_file
from geodim.data.texts import read_lines
from geodim.errors import DataFileError

READERS = [
    geodim.read_table,
    geodim.as_graph,
    geodim.binary_dimension,
    geodim.IDResult.from_json,
    Certificate.from_json,
    read_lines,
]


@pytest.mark.parametrize("read", READERS)
@pytest.mark.parametrize("name", ["cora", "CiteSeer", "ogbn_arxiv"])
def test_the_name_of_a_graph_leads_to_its_command(read, name: str, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    known = name.lower().replace("_", "-")
    with pytest.raises(DataFileError, match=f"there is no file {name}: .*'geodim hops {known}'"):
        read(name)


@pytest.mark.parametrize("read", READERS)
@pytest.mark.parametrize("name", ["x" * 5000, "a\0b", "absent.npy", "cora.npy"])
def test_what_can_be_no_name_is_a_file_that_cannot_be_read(read, name: str, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(DataFileError) as raised:
        read(name)
    assert "geodim hops" not in str(raised.value)


@pytest.mark.parametrize(
    "words",
    [
        ["compute", "cora"],
        ["compute", "cora", "--dry-run"],
        ["select", "cora"],
        ["compare", "cora", "citeseer"],
        ["subsample", "cora"],
        ["binary", "cora"],
        ["report", "cora"],
        ["hops", "--features", "cora", "--edges", "cora"],
    ],
)
def test_every_command_says_so(words: list[str], tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    ended = called(*words)
    assert (ended.code, ended.out) == (4, "")
    assert "geodim hops cora" in " ".join(ended.err.split())


def test_a_file_of_that_name_is_a_file(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("cora").write_text("", encoding="utf-8")
    with pytest.raises(DataFileError, match="what kind of file is this"):
        geodim.read_table("cora")


def test_spreadsheets_are_saved_as_csv_first(tmp_path: Path) -> None:
    (tmp_path / "sheet.xlsx").write_bytes(b"PK")
    with pytest.raises(DataFileError, match=r"save the sheet as \.csv"):
        geodim.read_table(tmp_path / "sheet.xlsx")


def test_hints(tmp_path: Path) -> None:
    (tmp_path / "points.csv").write_text("")
    assert str(no_file(tmp_path / "pionts.csv")).endswith(f"did you mean {tmp_path / 'points.csv'}?")
    assert str(no_file(tmp_path / "absent" / "x", "write it first")).endswith("x: write it first")
    assert str(no_file("nowhere")) == "there is no file nowhere"
    assert len(str(no_file("x" * 5000))) < 300
    assert not is_there("x" * 5000)
    assert is_there(tmp_path)


def test_a_folder_that_may_not_be_listed(tmp_path: Path, monkeypatch) -> None:
    def refuse(self: Path) -> None:
        raise PermissionError(self)

    monkeypatch.setattr(Path, "iterdir", refuse)
    with pytest.raises(DataFileError, match="there is no file"):
        geodim.read_table(tmp_path / "points.npy")
