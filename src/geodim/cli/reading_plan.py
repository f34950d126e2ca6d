"""How long it takes to read a file, and how much of it a plan has to examine.

The time is measured on the beginning of a long text, and on the first group of rows of a Parquet file, which
are read as the whole would be.  Other files are mapped, or read whole.
"""

from __future__ import annotations

import gzip
import os
import tempfile
import time
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from geodim.memory import in_bytes
from geodim.temporary import temporary_folder
from geodim.waiting import Counted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from geodim.planning.reading import Reading

TEXTS = (".csv", ".tsv", ".csv.gz", ".tsv.gz")
WHOLE, HEAD = 32 << 20, 8 << 20  # bytes: texts up to the first are read whole, of longer ones the second


@dataclass
class Beginning:
    """The first lines of a text, or all of it.

    Attributes
    ----------
    path : Path
        The file with these lines.
    times : float
        How many times as long the whole is.
    text : float
        Bytes of the whole text, unpacked.
    seconds : float
        Seconds to unpack the whole.
    """

    path: Path
    times: float = 1.0
    text: float = 0.0
    seconds: float = 0.0

    @property
    def note(self) -> str:
        """What is only estimated."""
        if self.times == 1.0:
            return ""
        return f"the number of points is estimated from the first {in_bytes(HEAD)}"

    def reading(self, seconds: float, table: float) -> Reading:
        """Plan the reading of a whole table of this size, given the seconds that its beginning took."""
        from geodim.planning.reading import Reading, text_memory

        memory = text_memory(self.text, table) if self.text else int(table)
        return Reading(self.seconds + seconds * self.times, memory, self.note)


@contextmanager
def beginning(file: Path, *, whole: bool = False) -> Iterator[Beginning]:
    """Provide the file, or the beginning of a long text as a file of its own."""
    name = file.name.lower()
    if not name.endswith(TEXTS) or not file.is_file():
        yield Beginning(file)
        return
    size, packed = file.stat().st_size, name.endswith(".gz")
    if whole or (size <= WHOLE and not packed):
        yield Beginning(file, text=float(size))
        return
    started = time.perf_counter()
    with Counted(file) as raw:
        head = (gzip.GzipFile(fileobj=raw) if packed else raw).read(HEAD + 1)
        used = min(raw.tell(), size) if packed else len(head)
    seconds = time.perf_counter() - started
    lines = head[: head.rfind(b"\n") + 1]
    if len(head) <= HEAD or not lines:  # packed, and not long after all
        yield Beginning(file, text=float(len(head)))
        return
    times = size / used * (len(head) / len(lines))
    with temporary_folder(Path(tempfile.gettempdir()), 0o700) as folder:
        part = folder / os.path.basename(name.removesuffix(".gz"))  # noqa: PTH119 - a name
        part.write_bytes(lines)
        yield Beginning(part, times, len(lines) * times, seconds * times if packed else 0.0)


def ready(file: Path) -> None:
    """Import the packages that read the file, so that this is not measured as reading."""
    from geodim.optional import require

    if file.name.lower().endswith(TEXTS):
        require("pyarrow.csv", "frames", "reading CSV files")
    elif file.suffix == ".parquet":
        require("pyarrow.parquet", "frames", "reading Parquet files")


def first_group(file: Path, names: list[str]) -> tuple[Any, Reading]:
    """Return the first group of rows of a Parquet file, and what reading all of them takes."""
    from geodim.data.boundary import boundary
    from geodim.optional import require
    from geodim.planning.reading import Reading, parquet_memory

    parquet = require("pyarrow.parquet", "frames", "reading Parquet files")
    with boundary(file, "Parquet file"), parquet.ParquetFile(file) as opened:
        groups = [opened.metadata.row_group(at) for at in range(opened.metadata.num_row_groups)]
        started = time.perf_counter()
        values = opened.read_row_group(0, columns=names) if groups else opened.read(columns=names)
        seconds = time.perf_counter() - started
        rows = max(values.num_rows, 1)
        times = max(opened.metadata.num_rows, 1) / rows
        share = len(names) / max(len(opened.schema_arrow.names), 1)
        # Sizes of groups in the file include all columns, but only some are read.
        largest = max((group.total_byte_size for group in groups), default=0) * share
    return values, Reading(seconds * times, parquet_memory(largest, values.nbytes * times))
