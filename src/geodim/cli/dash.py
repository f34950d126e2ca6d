"""``-`` for standard input and standard output, wherever a command names a file.

Files are read more than once, and mapped, so standard input is first copied to a temporary file, whose kind
is recognised by its first bytes.  Standard output is also written to a temporary file, and copied when
complete; it replaces the answer.
"""

from __future__ import annotations

import re
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import typer

from geodim.output import check_outputs, naming
from geodim.temporary import temporary_folder
from geodim.waiting import current

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

DASH = Path("-")
STDIN, STDOUT = "standard input", "standard output"
PIECE = 1 << 20  # bytes at a time; the first ones show the kind of file
MAGIC = {b"\x93NUMPY": ".npy", b"PK\x03\x04": ".npz", b"PAR1": ".parquet"}
TABLE, EDGES = "table", "edges"
SEEN_AS: dict[str | None, dict[str, str]] = {
    TABLE: {".dat": ".csv", ".cxt": ".csv", ".json": ".csv"},
    EDGES: {".dat": ".txt", ".cxt": ".txt", ".json": ".txt"},
}
P = TypeVar("P", Path, Path | None)
_spooled: dict[str, str] = {}  # temporary files, and what messages call them


def is_dash(path: object) -> bool:
    """Return whether this names a standard stream; a file of that name is ``./-``."""
    return path is not None and str(path) == "-"


def answered(*paths: Path | None) -> bool:
    """Return whether one of the files is standard output, so that nothing else belongs there."""
    return any(map(is_dash, paths))


def as_named(text: str) -> str:
    """Return a message without names of temporary files."""
    for path, name in _spooled.items():
        text = text.replace(path, name)
    return text


def check_files(outputs: Mapping[str, Path | None], inputs: Iterable[object] = ()) -> None:
    """Raise unless outputs can be written and differ from inputs; at most one is standard output."""
    here = [option for option, path in outputs.items() if is_dash(path)]
    if len(here) > 1:
        raise typer.BadParameter(f"{here[0]} goes to {STDOUT} already: name a file", param_hint=here[1])
    given = list(inputs)
    if sum(map(is_dash, given)) > 1:
        raise typer.BadParameter(f"{STDIN} (-) can be read once: name a file for one of them")
    named = {option: path for option, path in outputs.items() if not is_dash(path)}
    check_outputs(named, [str(path) for path in given if path is not None and not is_dash(path)])


@contextmanager
def readable(path: P, suffix: str | None = None) -> Iterator[P]:
    """Provide a file to read: the one named, or for ``-`` a temporary one with all of standard input.

    Its name ends in ``suffix``, or as its first bytes say: `TABLE` and `EDGES` narrow that down.
    """
    if not is_dash(path):
        yield path
        return
    with _temporary() as folder:
        yield _spool(folder, suffix)


def _spool(folder: Path, suffix: str | None) -> Path:
    """Write all of standard input to a file in a folder, and return it."""
    with naming(STDIN, "read"):
        stream = sys.stdin.buffer
        piece = stream.read(PIECE)
        found = kind_of(piece)
        ending = SEEN_AS.get(suffix, {}).get(found, found) if suffix in (None, TABLE, EDGES) else suffix
        spooled = folder / f"stdin{ending}"
        _spooled[str(spooled)] = STDIN
        with spooled.open("wb") as file:
            while piece:
                current().check(f"reading {STDIN}")
                file.write(piece)
                piece = stream.read(PIECE)
    return spooled


@contextmanager
def writable(path: Path, suffix: str) -> Iterator[Path]:
    """Provide a file to write: the one named, or for ``-`` a temporary one copied to standard output."""
    if not is_dash(path):
        yield path
        return
    with _temporary() as folder:
        file = folder / f"stdout{suffix}"
        yield file
        sys.stdout.flush()
        sys.stdout.buffer.write(file.read_bytes())
        sys.stdout.flush()


@contextmanager
def _temporary() -> Iterator[Path]:
    with temporary_folder(Path(tempfile.gettempdir()), 0o700) as folder:
        yield folder


def kind_of(head: bytes) -> str:
    r"""Return the ending of a file that begins like this.

    >>> kind_of(b"a,b\n1,2\n"), kind_of(b"a\tb\n"), kind_of(b"PAR1..."), kind_of(b"1 2 3\n4 5\n")
    ('.csv', '.tsv', '.parquet', '.dat')
    """
    if head.startswith(b"\x1f\x8b"):
        return ".csv.gz"
    for magic, suffix in MAGIC.items():
        if head.startswith(magic):
            return suffix
    first = next((line for line in head.splitlines() if line.strip() and not line.startswith(b"#")), b"")
    if first.strip() == b"B":
        return ".cxt"  # of formal contexts
    if re.fullmatch(rb"\s*\d+(\s+\d+)+\s*", first) and b"\t" not in first:
        return ".dat"  # of transactions, or edges
    if head.lstrip().startswith(b"{"):
        return ".json"
    return ".tsv" if b"\t" in first else ".csv"
