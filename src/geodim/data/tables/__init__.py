"""Files of points by features: .npy, .npz, .csv, .tsv and .parquet, with a choice of columns.

`read_table` gives back what `geodim.intrinsic_dimension` accepts, as lazily as the format allows: .npy files
are memory-mapped, of CSV and Parquet files only the chosen columns are read.  Nothing is ever unpickled.
"""

from geodim.data.tables.columns import Table, choose_columns
from geodim.data.tables.read import SUFFIXES, open_table, read_table

__all__ = ["SUFFIXES", "Table", "choose_columns", "open_table", "read_table"]
