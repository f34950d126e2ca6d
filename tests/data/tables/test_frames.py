"""CSV and Parquet files: names, delimiters, and values that are not numbers."""

from __future__ import annotations

import datetime as dt
import gzip
from typing import TYPE_CHECKING

import narwhals.stable.v2 as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import geodim
from data.tables.files import VALUES, dense, text_file
from geodim.data.tables import open_table, read_table
from geodim.errors import DataFileError, GeodimWarning, InputTypeError, NonFiniteError, ShapeError

if TYPE_CHECKING:
    from pathlib import Path


class TestText:
    @pytest.mark.parametrize(
        ("text", "names"),
        [
            ("x,y\n1,2\n3,4\n", ["x", "y"]),
            ("1,2\n3,4\n", ["0", "1"]),
            ("# x, y\n1,2\n3,4\n", ["x", "y"]),
            ("# made by me\n1,2\n3,4\n", ["0", "1"]),
            ("x;y\n1;2\n3;4\n", ["x", "y"]),
            ("x\ty\n1\t2\n3\t4\n", ["x", "y"]),
            ("\n x , y \n1, 2\n\n3, 4\n", ["x", "y"]),
            ("\ufeffx,y\r\n1,2\r\n3,4\r\n", ["x", "y"]),
            ('"x","y"\n"1","2"\n3,4\n', ["x", "y"]),
        ],
    )
    def test_headers_and_delimiters(self, tmp_path: Path, text: str, names: list[str]) -> None:
        table = open_table(text_file(tmp_path, text))
        assert table.names == names
        assert dense(table.data).tolist() == [[1, 2], [3, 4]]
        assert bool(table.note) is text.startswith(("1", "#"))  # names that are words need none

    @pytest.mark.parametrize(
        ("text", "header", "names", "points"),
        [
            ("0,1\n1,2\n3,4\n", True, ["0", "1"], 2),
            ("0,1\n1,2\n3,4\n", False, ["0", "1"], 3),
            ("0\n1\n3\n", False, ["0"], 3),
            ("2019,2020\n1,2\n3,4\n", True, ["2019", "2020"], 2),
            ("2019,2020\n1,2\n3,4\n", None, ["0", "1"], 3),
            ("1,0\n1,2\n3,4\n", None, ["0", "1"], 3),
            ("0,1,2,4\n1,2,3,4\n", None, ["0", "1", "2", "3"], 2),
            ("year,2020\n1,2\n", None, ["year", "2020"], 1),
            ("x,1.\n1,2\n", None, ["x", "1."], 1),
            ('"1,234",x\n1,2\n', True, ["1,234", "x"], 1),
        ],
    )
    def test_no_first_point_is_lost(
        self, tmp_path: Path, text: str, header: bool | None, names: list[str], points: int
    ) -> None:
        table = open_table(text_file(tmp_path, text), header=header)
        assert table.names == names
        assert len(dense(table.data)) == points
        told = "" if header is not None else "names of the columns" if names[0] != "0" else "is a point"
        assert told in table.note
        assert bool(table.note) is (header is None)

    @pytest.mark.parametrize(
        "text", ["0,1\n1,2\n", "0\n1\n2\n", "0;1;2;3;4;5\n1;2;3;4;5;6\n", "\n# hi\n0,1\n"]
    )
    def test_a_first_line_that_counts_must_be_explained(self, tmp_path: Path, text: str) -> None:
        with pytest.raises(DataFileError, match=r"first line, 0.* may be names or a point.*--no-header"):
            read_table(text_file(tmp_path, text))

    @pytest.mark.parametrize("cell", ['"1,234"', "12%", "€5", "1 000", "1.234.567"])
    def test_a_first_line_of_nearly_numbers_is_no_header(self, tmp_path: Path, cell: str) -> None:
        """Else the first point would be lost, and nothing said: all other values are plain numbers."""
        with pytest.raises(DataFileError, match="may be a name, or a number with separators"):
            read_table(text_file(tmp_path, f"{cell},2\n3,4\n"))

    def test_a_blank_line_of_a_single_column_is_a_missing_value(self, tmp_path: Path) -> None:
        with pytest.raises(NonFiniteError, match="row 1"):
            geodim.intrinsic_dimension(read_table(text_file(tmp_path, "x\n1\n\n3\n")))

    def test_comments_among_the_points_are_refused(self, tmp_path: Path) -> None:
        with pytest.raises(InputTypeError, match="'# later' in row 1"):
            read_table(text_file(tmp_path, "x,y\n1,2\n# later,3\n"))

    def test_an_index_that_was_saved_twice_is_pointed_out(self, tmp_path: Path) -> None:
        with pytest.warns(GeodimWarning, match="counts the rows"):
            read_table(text_file(tmp_path, "Unnamed: 0,x\n0,5\n1,7\n"))

    def test_a_late_fraction_in_a_column_of_integers(self, tmp_path: Path) -> None:
        rows = "1,2\n" * 400_000  # more than one of the reader's blocks
        data = read_table(text_file(tmp_path, f"x,y\n{rows}1.5,2\n"))
        assert data["x"][-1].as_py() == 1.5

    def test_an_index_without_a_name_is_pointed_out(self, tmp_path: Path) -> None:
        path = tmp_path / "indexed.csv"
        pd.DataFrame(VALUES).to_csv(path)
        with pytest.warns(GeodimWarning, match="first column has no name"):
            table = open_table(path)
        assert table.names == ["unnamed", "0", "1", "2", "3", "4"]

        assert open_table(path, exclude=0).names == ["0", "1", "2", "3", "4"]

    def test_text_columns_are_named_with_an_example(self, tmp_path: Path) -> None:
        path = text_file(tmp_path, "x,kind,y,when\n1,cat,2,2020-01-01\n3,dog,4,2020-01-02\n")
        with pytest.raises(InputTypeError, match=r"columns 'kind', 'when' \('kind' is 'cat' in row 0\)"):
            read_table(path)
        assert open_table(path, exclude="kind,when").names == ["x", "y"]

    def test_one_odd_cell_is_found(self, tmp_path: Path) -> None:
        path = text_file(tmp_path, "x,y\n1,2\n3,4\n5,six\n")
        with pytest.raises(InputTypeError, match="column 'y' \\('y' is 'six' in row 2\\)"):
            read_table(path)

    def test_an_empty_column(self, tmp_path: Path) -> None:
        with pytest.raises(InputTypeError, match="'y' has no values at all"):
            read_table(text_file(tmp_path, "x,y\n1,\n3,\n"))

    @pytest.mark.parametrize("cell", ["", "NA", "nan"])
    def test_missing_values_are_located(self, tmp_path: Path, cell: str) -> None:
        data = read_table(text_file(tmp_path, f"x,y\n1,2\n3,{cell}\n"))
        with pytest.raises(NonFiniteError, match=r"row 1, column .*y"):
            geodim.intrinsic_dimension(data)

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ("", "is empty"),
            ("\n\n", "is empty"),
            ("x,y\n1,2\n1,2,3\n", "not a table of 2 columns"),
            ("x,y\n1,2\n1\n", "not a table of 2 columns"),
            ("x,x\n1,2\n", "several columns named 'x'"),
        ],
    )
    def test_broken_files(self, tmp_path: Path, text: str, message: str) -> None:
        with pytest.raises(DataFileError, match=message) as caught:
            read_table(text_file(tmp_path, text))
        assert "points.csv" in str(caught.value)

    def test_only_names(self, tmp_path: Path) -> None:
        with pytest.raises(ShapeError, match=r"points\.csv has no points"):
            read_table(text_file(tmp_path, "x,y\n"))

    def test_other_encodings(self, tmp_path: Path) -> None:
        path = tmp_path / "latin.csv"
        path.write_bytes("größe,y\n1,2\n".encode("latin-1"))
        with pytest.raises(DataFileError, match="UTF-8"):
            read_table(path)

    def test_cut_gzip(self, tmp_path: Path) -> None:
        whole = gzip.compress(b"x,y\n" + np.random.default_rng(0).bytes(1000).hex().encode() + b",2\n")
        path = tmp_path / "cut.csv.gz"
        path.write_bytes(whole[: len(whole) // 2])
        with pytest.raises(DataFileError, match=r"cut\.csv\.gz"):
            read_table(path)


class TestParquet:
    def test_text_in_parquet(self, tmp_path: Path) -> None:
        path = tmp_path / "mixed.parquet"
        pl.DataFrame({"x": [1, 2], "digits": ["1", "2"]}).write_parquet(path)
        with pytest.raises(InputTypeError, match="column 'digits' \\('digits' is '1' in row 0\\)"):
            read_table(path)
        assert open_table(path, "x").names == ["x"]

    def test_parquet_with_two_columns_of_one_name(self, tmp_path: Path) -> None:
        table = pa.table([[1.0, 2.0], [3.0, 4.0]], names=["c", "c"])
        pq.write_table(table, tmp_path / "twice.parquet")
        with pytest.raises(DataFileError, match=r"twice\.parquet has several columns named 'c'"):
            read_table(tmp_path / "twice.parquet")

    def test_parquet_reads_only_the_chosen_columns(self, tmp_path: Path) -> None:
        path = tmp_path / "wide.parquet"
        pq.write_table(pa.table({f"f{i}": np.arange(4) * i for i in range(50)}), path)
        table = read_table(path, "f7,40-41")
        assert table.column_names == ["f7", "f40", "f41"]
        assert nw.from_native(table).shape == (4, 3)


class TestDecimalCommas:
    """1,5 is one and a half where columns are not separated by commas; it is told."""

    TOLD = "commas within numbers are read as decimal points"

    @pytest.mark.parametrize(
        ("text", "values"),
        [
            ("x;y\n1,5;2\n-3;4,25\n", [[1.5, 2], [-3, 4.25]]),
            ("1,5;2\n-3;4,25\n", [[1.5, 2], [-3, 4.25]]),
            ("x\ty\n1,5\t2\n-3\t1,234\n", [[1.5, 2], [-3, 1.234]]),
            ("x;y\n1,5e3;,5\n2;3\n", [[1500, 0.5], [2, 3]]),
            ('"x";"y"\n"1,5";"2"\n', [[1.5, 2]]),
            ("x;y\n1,234;2\n", [[1.234, 2]]),
            ("x;label\n1;a\n2,5;b\n", [[1], [2.5]]),
        ],
    )
    def test_recognised_and_told(self, tmp_path: Path, text: str, values: list[list[float]]) -> None:
        file = text_file(tmp_path, text)
        with pytest.warns(GeodimWarning, match=self.TOLD):
            table = open_table(file, exclude="label" if "label" in text else None)
        assert dense(table.data).tolist() == values

    def test_first_lines_without_decimals(self, tmp_path: Path) -> None:
        text = "x;y\n" + "1;2\n" * 500 + "1,5;2\n"
        with pytest.warns(GeodimWarning, match=self.TOLD):
            assert dense(read_table(text_file(tmp_path, text)))[-1].tolist() == [1.5, 2.0]

    @pytest.mark.parametrize("text", ["x,y\n1,5\n2,3\n", "x;y\n1;2\n", "x;y\n1.5;2\n", "x\ty\n1.5\t2\n"])
    def test_other_files_stay_what_they_are(self, tmp_path: Path, text: str) -> None:
        read_table(text_file(tmp_path, text))  # and no warning, which would be an error

    @pytest.mark.parametrize("text", ["x;y\n1,5;2.5\n", "x\ty\n1,234\t2\n", "x;y\n1.234,5;2\n"])
    def test_what_may_mean_either_is_refused_with_an_example(self, tmp_path: Path, text: str) -> None:
        with pytest.raises(InputTypeError, match=r"no numbers in column 'x' \('x' is '1.*--exclude"):
            read_table(text_file(tmp_path, text))


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_columns_without_numbers_have_a_way_out_of_their_own(tmp_path: Path, suffix: str) -> None:
    pa, parquet, csv = (pytest.importorskip(f"pyarrow{name}") for name in ("", ".parquet", ".csv"))
    day = dt.date(2024, 2, 29)
    for cells, way in (
        ([day, day], "turn dates into numbers"),
        (["x", "y"], "encode categories"),
        (["1,5", "2"], "decimal commas into numbers"),
        *(
            [(["1.5", "2"], "kept as text")] if suffix == "parquet" else []
        ),  # in a text file these are numbers
    ):
        file = tmp_path / f"table.{suffix}"
        (parquet.write_table if suffix == "parquet" else csv.write_csv)(
            pa.table({"a": [1, 2], "b": cells}), file
        )
        with pytest.raises(InputTypeError, match=r"no numbers in column 'b'") as raised:
            read_table(file)
        told = str(raised.value).partition("(--exclude), ")[2]
        assert way in told
        assert "encode" not in told or way == "encode categories"


def test_points_with_missing_values_are_left_out_on_demand(tmp_path: Path) -> None:
    file = text_file(tmp_path, "x,y\n1,2\n,3\n4,\n5,6\n")
    assert dense(read_table(file, drop_missing=True)).tolist() == [[1, 2], [5, 6]]
    note = open_table(file, drop_missing=True).note
    assert note.endswith(
        "2 points of 4 left out, because values are missing (in 2 of 2 columns: 'x' 1, 'y' 1)"
    )
    empty = text_file(tmp_path, "x,y\n1,\n,2\n")
    with pytest.raises(ShapeError, match=r"no point is left"):
        read_table(empty, drop_missing=True)
