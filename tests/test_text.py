"""What a terminal obeys is written out."""

from __future__ import annotations

import csv
import io

import pytest
from hypothesis import given, strategies as st

from geodim.data.files import csv_text
from geodim.data.tables import read_table
from geodim.errors import DataFileError, GeodimError, GeodimWarning, InputValueError, NonFiniteError
from geodim.text import html_table, spreadsheet_cell, visible, visible_lines

OBEYED = [
    *map(chr, range(0x20)), *map(chr, range(0x7F, 0xA0)), "\u2028", "\u2029",
    *map(chr, range(0x202A, 0x202F)), *map(chr, range(0x2066, 0x206A)), "\udcff",
]  # fmt: skip


@pytest.mark.parametrize("character", OBEYED, ids=ascii)
def test_every_one_of_them(character):
    text = visible(f"a{character}b")
    assert character not in text
    assert text.isascii()
    assert len(visible_lines(character)) == (1 if character in "\n\t" else len(text) - 2)


@given(st.text())
def test_nothing_obeyed_is_left_and_nothing_else_is_changed(text):
    shown = visible(text)
    assert not set(shown) & set(OBEYED)
    assert visible(shown) == shown
    if not set(text) & set(OBEYED):
        assert shown == text
    shown.encode()


@pytest.mark.parametrize("kind", [GeodimError, DataFileError, InputValueError, NonFiniteError, GeodimWarning])
def test_errors_and_warnings_are_safe_to_print(kind):
    assert str(kind("column \x1b[2J\u202e\n is bad")) == r"column \x1b[2J\u202e\n is bad"


@pytest.mark.parametrize("name", ["=1+1", "+a", "-a", "@SUM(A1)", '=HYPERLINK("x")'])
def test_formulas(name):
    text = csv_text([name, "x"], [{name: name, "x": -1.5}, {name: "-1.5", "x": "a-b"}])
    rows = list(csv.reader(io.StringIO(text, newline="")))
    assert rows == [["'" + name, "x"], ["'" + name, "-1.5"], ["-1.5", "a-b"]]


@pytest.mark.parametrize("name", ["\t=1", "\r=1", "a\r=1", "a\nb", "a\x1b[2J"])
def test_lines_and_tabs_in_names(name):
    rows = list(csv.reader(io.StringIO(csv_text([name], [{name: name}]), newline="")))
    assert rows == [[visible(name)], [visible(name)]]
    assert not rows[0][0].startswith(("=", "+", "-", "@", "\t", "\r"))


@pytest.mark.parametrize("value", [None, -1.5, 3, True, "-1.5", "+2", "-inf", "-1e-3", "a", ""])
def test_what_is_no_formula_stays(value):
    assert spreadsheet_cell(value) is value


def test_our_tables_are_read_back(tmp_path):
    (tmp_path / "a.csv").write_text(csv_text(["=x", "y"], [{"=x": -1.5, "y": 2.0}, {"=x": 3.0, "y": -4.0}]))
    found = read_table(tmp_path / "a.csv")
    assert [found.column(name).to_pylist() for name in ("'=x", "y")] == [[-1.5, 3.0], [2.0, -4.0]]


@pytest.mark.parametrize("character", [*OBEYED, "<", "&"], ids=ascii)
def test_tables_for_notebooks_hold_texts(character):
    """Everywhere in the table, and such as a notebook can save."""
    name = f"a{character}b"
    for head in ((), (name, name)):
        table = html_table(name, [(name, name)], head)
        table.encode("utf-8")
        assert (name in table) == (character in "\n\t")
        assert table.count("<tr>") == 1 + bool(head)
        assert table.count("<th") == (2 if head else 1)
