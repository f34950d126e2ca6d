"""Files of transactions and contexts: read as they are meant, or refused with path and line."""

from __future__ import annotations

import gzip

import numpy as np
import pytest

import geodim
from geodim.concepts import read_context
from geodim.errors import DataFileError, MachineMemoryError

ANIMALS = "B\nanimals\n3\n2\n\nduck\ndog\nswan\nflies\nbarks\nX.\n.x\nX.\n"


@pytest.fixture
def write(tmp_path):
    def write(name: str, text: str | bytes):
        path = tmp_path / name
        raw = text.encode() if isinstance(text, str) else text
        path.write_bytes(gzip.compress(raw) if name.endswith(".gz") else raw)
        return path

    return write


class TestTransactions:
    @pytest.mark.parametrize("name", ["a.dat", "A.DAT", "a.dat.gz"])
    def test_lines_are_objects_and_items_attributes(self, write, name):
        context = read_context(write(name, "7 3\n 3\t\n\n1000000007 3 7\r\n"))
        assert context.attribute_names == ("3", "7", "1000000007")
        assert context.rows.toarray().astype(int).tolist() == [[1, 1, 0], [1, 0, 0], [0, 0, 0], [1, 1, 1]]

    def test_the_last_line_need_not_end(self, write):
        assert read_context(write("a.dat", "1 2\n2")).n_objects == 2

    def test_the_same_dimension_as_the_array(self, write):
        X = np.random.default_rng(0).random((300, 20)) < 0.3
        X[0] = True
        text = "".join(" ".join(map(str, np.flatnonzero(row))) + "\n" for row in X)
        result = geodim.binary_dimension(write("a.dat", text))
        assert result.dimension == geodim.binary_dimension(X).dimension
        assert result.shares == geodim.binary_dimension(X).shares

    @pytest.mark.parametrize(
        ("text", "words"),
        [
            ("1 2\n3 x4\n", r"line 2: expected item numbers, found 'x4' \(character 3\)"),
            ("1 2\n-3\n", r"line 2: expected item numbers, found '-3'"),
            ("1 2.5\n", r"line 1: expected item numbers, found '.5'"),
            ("1\n2\n3 \x1b[31m\n", r"line 3: expected item numbers"),
            ("1\n" + "9" * 19, "line 2: an item number has more than 18 digits"),
            ("1\n5 3 5\n", "line 2: item 5 occurs twice"),
            ("", "0 lines and no item"),
            ("\n\n", "2 lines and no item"),
            (b"1 2\n\x00\xff", "line 2: expected item numbers"),
        ],
    )
    def test_what_is_refused(self, write, text, words):
        path = write("a.dat", text)
        with pytest.raises(DataFileError, match=words) as refused:
            read_context(path)
        assert str(path) in str(refused.value)

    def test_memory(self, write, monkeypatch):
        paths = write("a.dat", "1 2\n" * 1000), write("b.dat.gz", "1 2\n" * 100_000)
        monkeypatch.setattr("geodim.memory.free_memory", lambda: 2000)
        for path in paths:
            with pytest.raises(MachineMemoryError, match=r"\.dat"):
                read_context(path)


class TestBurmeister:
    @pytest.mark.parametrize(
        "text",
        [
            ANIMALS,
            ANIMALS.replace("\n", "\r\n"),
            ANIMALS.replace("animals", ""),
            ANIMALS.replace("animals", "17"),
            ANIMALS.replace("animals\n", ""),
            ANIMALS.replace("2\n\n", "2\n"),
            "\ufeff" + ANIMALS + "\n\n",
        ],
    )
    @pytest.mark.parametrize("name", ["a.cxt", "a.cxt.gz"])
    def test_names_and_crosses(self, write, name, text):
        context = read_context(write(name, text))
        assert context.object_names == ("duck", "dog", "swan")
        assert context.attribute_names == ("flies", "barks")
        assert context.rows.toarray().astype(int).tolist() == [[1, 0], [0, 1], [1, 0]]

    def test_the_result_names_attributes(self, write):
        assert list(geodim.binary_dimension(write("a.cxt", ANIMALS)).shares) == ["{flies} in 2"]

    @pytest.mark.parametrize(
        ("before", "after", "words"),
        [
            ("B\n", "C\n", "line 1: expected the letter B"),
            ("\n3\n", "\nthree\n", "line 3: expected the number of objects, 1 or more, not 'three'"),
            ("\n3\n", "\n0\n", "line 3: expected the number of objects, 1 or more, not '0'"),
            ("\n2\n", "\n00\n", "line 4: expected the number of attributes, 1 or more, not '00'"),
            ("\n2\n", "\n-2\n", "line 4: expected the number of attributes, 1 or more, not '-2'"),
            ("swan", "dog", "line 8: the name 'dog' was given to another object on line 7"),
            ("barks", "flies", "line 10: the name 'flies' was given to another attribute on line 9"),
            ("dog\n", "  \n", "line 7: expected the name of object 2 of 3, found nothing"),
            ("X.\n.x", "X.\n.xX", "line 12: the object 'dog' needs 2 crosses and dots, and has 3"),
            ("X.\n.x", "X.\n.o", "line 12: expected X or a dot as character 2, not 'o'"),
            ("X.\n.x", "X.\n.é", "line 12: expected X or a dot as character 2, not 'é'"),
            ("x\nX.\n", "x\n", "characters or more|line 13: the object 'swan' needs 2 crosses"),
            (".x\n", ".x\nX.\nX.\n", "line 14: expected the end after 3 objects"),
            ("\n3\n", "\n3000000\n", "line 4: 3,000,000 objects and 2 attributes take 1.* cut off"),
            ("\n2\n", f"\n{10**14}\n", "cut off"),
            ("\n2\n", f"\n{10**30}\n", "line 4: expected the number of attributes"),
        ],
    )  # fmt: skip
    def test_what_is_refused(self, write, before, after, words):
        assert before in ANIMALS
        path = write("a.cxt", ANIMALS.replace(before, after, 1))
        with pytest.raises(DataFileError, match=words) as refused:
            read_context(path)
        assert str(path) in str(refused.value)

    @pytest.mark.parametrize("cut", range(0, len(ANIMALS) - 2, 3))
    def test_cut_off(self, write, cut):
        with pytest.raises(DataFileError):
            read_context(write("a.cxt", ANIMALS[:cut]))


def test_other_files(tmp_path, write):
    folder = tmp_path / "folder.cxt"
    folder.mkdir()
    packed = tmp_path / "b.dat.gz"
    packed.write_bytes(b"1 2 3\n")
    latin = write("c.cxt", ANIMALS.replace("duck", "kéa").encode("latin-1"))
    for path, words in (
        (write("a.xyz", b"1 2\n"), "Known endings are .dat"),
        (tmp_path / "none.dat", "none.dat"),
        (folder, "is a folder"),
        (packed, "b.dat.gz"),
        (latin, "not a complete context"),
    ):
        with pytest.raises(DataFileError, match=words):
            geodim.binary_dimension(path)
