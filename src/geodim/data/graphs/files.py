"""Edge lists in files: text (.csv, .tsv, .txt, also .gz), .parquet, .npy (memory-mapped) and .npz.

In text and parquet the first two columns are the ends of an edge, one edge to a line.
No file is ever unpickled.
"""

from __future__ import annotations

import gzip
import warnings
from dataclasses import dataclass
from io import TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from geodim.data.boundary import check_regular
from geodim.data.graphs.edges import CHUNK, EdgeChunk, PairEdges
from geodim.data.graphs.inputs import OpenedGraph, Orientation, from_array, from_scipy
from geodim.errors import DataFileError, GeodimError, InputValueError
from geodim.memory import check_bytes
from geodim.optional import require
from geodim.text import is_number
from geodim.waiting import Counted

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterator

    from numpy.lib.npyio import NpzFile
    from numpy.typing import NDArray

__all__ = ["open_file"]

SUFFIXES = (".csv", ".tsv", ".txt", ".csv.gz", ".tsv.gz", ".txt.gz", ".parquet", ".npy", ".npz")
LONGEST_LINE = 1 << 20  # characters


def open_file(path: str | os.PathLike[str], weights: bool | str, orientation: Orientation) -> OpenedGraph:
    """Open the edge list at `path`, in the format its suffix names."""
    path = Path(path)
    check_regular(path)
    if path.is_dir():
        raise DataFileError(f"{path} is a folder, not a list of edges")
    name = path.name.lower()
    plain = name.removesuffix(".gz")
    if plain.endswith((".csv", ".tsv", ".txt")):
        return OpenedGraph(_read_text(path, plain[-4:], weights))
    if name.endswith(".parquet"):
        return OpenedGraph(_open_parquet(path, weights))
    if name.endswith(".npy"):
        return from_array(np.load(path, mmap_mode="r", allow_pickle=False), weights, orientation)
    if name.endswith(".npz"):
        return _open_npz(path, weights, orientation)
    raise DataFileError(f"{path}: unknown kind of edge list; known are {', '.join(SUFFIXES)}")


def _open_npz(path: Path, weights: bool | str, orientation: Orientation) -> OpenedGraph:
    """Open a scipy sparse matrix, or an array ``edge_index``.

    Beside the latter there may be ``edge_weight`` and ``num_nodes``.
    """
    with np.load(path, allow_pickle=False) as archive:
        names = set(archive.files)
        check_bytes(
            sum(_declared(archive, name) for name in names), f"what {path} holds", "take a larger machine"
        )
        if "edge_index" not in names:
            if "format" not in names:
                raise DataFileError(
                    f"{path}: holds {sorted(names)}, but neither edge_index nor a scipy sparse matrix"
                )
            from scipy.sparse import load_npz  # noqa: PLC0415

            return from_scipy(load_npz(path), weights)
        opened = from_array(archive["edge_index"], weights=False, orientation=orientation)
        n_nodes = _count_of_nodes(path, archive["num_nodes"]) if "num_nodes" in names else None
        edges = opened.edges
        if weights is not False:
            name = weights if isinstance(weights, str) else "edge_weight"
            if name not in names:
                raise InputValueError(f"{path}: holds {sorted(names)}, but no {name!r} to take weights from")
            from geodim.data.graphs.edges import WeightedEdges  # noqa: PLC0415

            edges = WeightedEdges(edges, archive[name].reshape(-1))
    return OpenedGraph(edges, n_nodes)


def _declared(archive: NpzFile, name: str) -> int:
    """Return the bytes that an array of an archive claims to take: a small file may hold many zeros."""
    assert archive.zip is not None  # as long as it is open
    member = name if name in archive.zip.namelist() else f"{name}.npy"
    return int(archive.zip.getinfo(member).file_size)


def _count_of_nodes(path: Path, value: NDArray[Any]) -> int:
    if value.size != 1 or value.dtype.kind not in "iu" or int(value.item()) < 1:
        raise InputValueError(f"{path}: num_nodes must be one whole number, 1 or more, not {value!r:.80}")
    return int(value.item())


def _read_text(path: Path, suffix: str, weights: bool | str) -> PairEdges:
    """Read a text edge list into int64 arrays; ``#`` starts a comment, a first line of names is a header."""
    fields, delimiter = _first_fields(path, suffix)
    if fields is None:
        return PairEdges(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0) if weights else None)
    if len(fields) < 2:
        raise DataFileError(f"{path}: an edge needs two columns, the first line has {len(fields)}")
    header = _header(path, fields)
    columns = [0, 1]
    if weights is not False:
        columns.append(_weight_column(path, weights, header, len(fields)))
    # Ids are parsed as whole numbers, exactly. Only if that fails are they read as floats, so that the check
    # on whole numbers can name the edge; text that is no number at all fails here, with its row.
    for kind in (np.int64, np.float64):
        try:
            arrays = _parse(path, delimiter, header is not None, columns, kind)
            break
        except (ValueError, DeprecationWarning) as error:
            if isinstance(error, GeodimError | UnicodeDecodeError):
                raise
            if kind is np.float64:
                raise DataFileError(f"{path}: {error} (rows counted from the first edge)") from error
    return PairEdges(arrays[0], arrays[1], arrays[2] if len(arrays) > 2 else None)


def _lines(path: Path) -> Iterator[str]:
    """Yield the lines of a text file; raise if one is longer than in any list of edges.

    A file without line ends is not a list.
    """
    packed = path.name.lower().endswith(".gz")
    with (
        Counted(path) as raw,
        TextIOWrapper(gzip.GzipFile(fileobj=raw) if packed else raw, encoding="utf-8-sig") as file,
    ):
        number = 0
        while line := file.readline(LONGEST_LINE):
            number += 1
            if len(line) == LONGEST_LINE:
                raise DataFileError(
                    f"{path}: line {number:,} has more than {LONGEST_LINE:,} "
                    "characters: this is not a list of edges"
                )
            yield line


def _first_fields(path: Path, suffix: str) -> tuple[list[str] | None, str | None]:
    """Return the fields of the first line that is not blank or a comment, and the delimiter.

    None as the delimiter means white space.
    """
    for raw in _lines(path):
        line = raw.split("#", 1)[0].strip()
        if line:
            delimiter = {".csv": ",", ".tsv": "\t"}.get(suffix, "," if "," in line else None)
            return [part.strip() for part in line.split(delimiter)], delimiter
    return None, None


def _header(path: Path, fields: list[str]) -> list[str] | None:
    """Return the fields of the first line if they are names, None if they are the first edge.

    A line with a name and a number is refused.
    """
    numbers = [is_number(field.strip("\"'")) for field in fields[:2]]
    if numbers[0] != numbers[1]:
        raise DataFileError(
            f"{path}: the first line begins with {fields[0]!r} and {fields[1]!r}, which is "
            "neither an edge nor two names"
        )
    return None if numbers[0] else fields


def _weight_column(path: Path, weights: bool | str, header: list[str] | None, width: int) -> int:
    if isinstance(weights, str):
        if header is None or weights not in header:
            known = "no header line" if header is None else f"the columns {header}"
            raise InputValueError(f"{path}: no column {weights!r} to take weights from, the file has {known}")
        return header.index(weights)
    if width < 3:
        raise InputValueError(f"{path}: weights=True takes the third column, but the file has {width}")
    return 2


def _parse(
    path: Path, delimiter: str | None, header: bool, columns: list[int], kind: type
) -> list[NDArray[Any]]:
    """Parse the chosen columns, a chunk of lines at a time."""
    names = ("source", "target", "weight")[: len(columns)]
    kinds = (kind, kind, np.float64)[: len(columns)]
    parts: list[NDArray[Any]] = []
    lines, held = _lines(path), 0
    with warnings.catch_warnings():
        warnings.filterwarnings("error", category=DeprecationWarning)
        warnings.filterwarnings("ignore", message=".*input contained no data", category=UserWarning)
        warnings.filterwarnings("ignore", message=".*Input line .* contained no data", category=UserWarning)
        skip = _lines_to_skip(path) if header else 0
        while True:
            part = np.loadtxt(
                lines,
                dtype=list(zip(names, kinds, strict=True)),
                delimiter=delimiter,
                usecols=columns,
                skiprows=skip,
                max_rows=CHUNK,
                ndmin=1,
            )
            parts.append(part)
            held += part.nbytes
            check_bytes(
                held,
                f"{path}: more than {held:,} bytes of edges, read so far, which",
                "take a larger machine",
            )
            skip = 0
            if len(part) < CHUNK:
                break
    return [np.concatenate([part[name] for part in parts]) for name in names]


def _lines_to_skip(path: Path) -> int:
    """Count the lines up to and including the header, which is the first that is not blank or a comment."""
    for count, raw in enumerate(_lines(path), start=1):
        if raw.split("#", 1)[0].strip():
            return count
    return 0


@dataclass(frozen=True)
class _ParquetEdges:
    """Columns of a parquet file, read batch by batch on every pass."""

    open: Callable[[], Any]
    columns: list[str]
    n_edges: int

    def chunks(self) -> Iterator[EdgeChunk]:
        """Yield the record batches."""
        start = 0
        with self.open() as file:
            for batch in file.iter_batches(batch_size=CHUNK, columns=self.columns):
                # By name: parquet returns columns in the order of the file.
                arrays = [batch.column(name).to_numpy(zero_copy_only=False) for name in self.columns]
                yield EdgeChunk(start, arrays[0], arrays[1], arrays[2] if len(arrays) > 2 else None)
                start += batch.num_rows


def _open_parquet(path: Path, weights: bool | str) -> _ParquetEdges:
    parquet = require("pyarrow.parquet", "frames", "reading a parquet edge list")
    with parquet.ParquetFile(path) as file:
        names, count = list(file.schema_arrow.names), file.metadata.num_rows
    if len(names) < 2:
        raise DataFileError(f"{path}: an edge needs two columns, the file has {names}")
    columns = names[:2]
    if weights is not False:
        columns.append(names[_weight_column(path, weights, names, len(names))])
    return _ParquetEdges(lambda: parquet.ParquetFile(path), columns, count)
