"""Columns by name, number and range."""

from __future__ import annotations

import re
from typing import Any

import pytest

from data.tables.files import NAMES
from geodim.data.tables import choose_columns
from geodim.errors import InputValueError


class TestChoosingColumns:
    @pytest.mark.parametrize(
        ("columns", "expected"),
        [
            ("0-2", [0, 1, 2]),
            ("3-", [3, 4]),
            ("4, 0", [0, 4]),
            ("b,d", [1, 3]),
            ("a,2-3,3", [0, 2, 3]),
            (["c", 0], [0, 2]),
            (1, [1]),
            ("e", [4]),
        ],
    )
    def test_words(self, columns: Any, expected: list[int]) -> None:
        assert choose_columns(NAMES, columns) == expected

    def test_a_name_wins_over_a_number_and_may_hold_a_comma(self) -> None:
        assert choose_columns(["2", "0-1", "x,y"], "2") == [0]
        assert choose_columns(["2", "0-1", "x,y"], "0-1") == [1]
        assert choose_columns(["2", "0-1", "x,y"], "x,y") == [2]
        assert choose_columns(["2", "0-1", "x,y"], [2]) == [2]

    @pytest.mark.parametrize(
        ("columns", "message"),
        [
            ("hight", "no column 'hight': did you mean 'height'"),
            ("zzz", "no column 'zzz': its 3 columns are 'height', 'weight', 'age', or numbers"),
            ("3", "no column 3: they are numbered 0 to 2"),
            ("2-1", "no column 2-1"),
            ("-1", "no column '-1'"),
            ("", "no column ''"),
            ([], "no column is left of 3"),
        ],
    )
    def test_errors_help(self, columns: Any, message: str) -> None:
        with pytest.raises(InputValueError, match=re.escape(message)):
            choose_columns(["height", "weight", "age"], columns)

    def test_something_must_be_left(self) -> None:
        with pytest.raises(InputValueError, match="no column is left"):
            choose_columns(NAMES, "a", "0-")
