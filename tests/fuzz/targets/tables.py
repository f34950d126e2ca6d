"""Tables in files: .npy, .npz (dense and sparse), .csv, .parquet and .zarr."""

from __future__ import annotations

import contextlib
import gzip
import io
from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sp

from fuzz.harness import Target
from fuzz.mutations import NUMBERS, on_json
from geodim.data.checks import scan_ranges
from geodim.data.sources import as_source
from geodim.data.tables import read_table
from geodim.errors import NonFiniteError, RangeOverflowError

if TYPE_CHECKING:
    import random
    from pathlib import Path

    from fuzz.mutations import Input

VALUES = np.random.default_rng(5).normal(size=(20, 3)).round(4)
FEW = 1 << 15
KINDS = ("<f8", "<f4", ">f8", "<i8", "|u1", "|b1", "|O", "<c16", "<U4", "<M8[s]", "<f16", "|V8", "f", "<f2")


def measured(path: Path) -> None:
    """Read a table and look at all of its values, as the first pass does."""
    source = as_source(read_table(path))
    if source.n_points * source.n_features > FEW:
        # Lawful: some 50 us for each column, or compiled code, which numba unpickles from its own cache.
        return
    # Which name rows and columns; data has no path.
    with contextlib.suppress(NonFiniteError, RangeOverflowError):
        scan_ranges(source)


def make_npy(folder: Path) -> None:
    for kind in ("f8", "f4", "i8", "u1", "bool"):
        np.save(folder / f"{kind}.npy", (VALUES * 50).astype(kind))
    np.save(folder / "fortran.npy", np.asfortranarray(VALUES))


def npy_header(made: Input, rng: random.Random) -> None:
    """Another header before the same values."""
    values = np.load(io.BytesIO(made.files[""]))
    made.files[""] = _header(rng) + values.tobytes()


def _header(rng: random.Random) -> bytes:
    shape = tuple(rng.choice((*NUMBERS, 20, 3, -1)) for _ in range(rng.choice((0, 1, 2, 2, 2, 3))))
    text = repr({"descr": rng.choice(KINDS), "fortran_order": rng.random() < 0.5, "shape": shape}).encode()
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text


def make_npz(folder: Path) -> None:
    np.savez(folder / "stored.npz", VALUES)
    np.savez_compressed(folder / "packed.npz", points=VALUES.astype("f4"))


def make_sparse(folder: Path) -> None:
    thin = np.where(np.abs(VALUES) > 1.0, VALUES, 0.0)
    for kind in ("csr", "csc", "coo", "dia"):
        sp.save_npz(folder / f"{kind}.npz", sp.csr_matrix(thin).asformat(kind), compressed=kind != "csr")
    sp.save_npz(folder / "bsr.npz", sp.bsr_matrix(thin, blocksize=(2, 3)))
    sp.save_npz(folder / "array.npz", sp.coo_array(thin))


def npz_member(made: Input, rng: random.Random) -> None:
    """Other values, another type, or another size of one array of an archive."""
    with np.load(io.BytesIO(made.files[""])) as archive:
        members = dict(archive)
    name = rng.choice(sorted(members))
    array = members[name]
    turn = rng.randrange(7)
    if turn == 0:
        del members[name]
    elif turn == 1:
        members[name] = array.astype(rng.choice(("f8", "i8", "u8", "i4", "u1", "f4", "S3", "c16")))
    elif turn == 2:
        members[name] = array[: rng.randrange(array.size + 1)] if array.ndim else np.append(array, array)
    elif turn == 3:
        members[name] = np.append(array, array)
    elif turn == 4:
        members[name] = members[rng.choice(sorted(members))]
    elif array.dtype.kind in "iuf" and array.size:
        array = array.copy()
        for _ in range(rng.choice((1, 1, 3))):
            value = rng.choice((*NUMBERS, -1, -(2**31), 2, 3, 4, 19, 20, 21))
            array.flat[rng.randrange(array.size)] = np.array(value % 2**64, np.uint64).astype(array.dtype)
        members[name] = array
    stream = io.BytesIO()
    (np.savez if rng.random() < 0.7 else np.savez_compressed)(stream, **members)
    made.files[""] = stream.getvalue()


def npz_header(made: Input, rng: random.Random) -> None:
    """Another header of one array of an archive, whose checksum is right all the same."""
    import zipfile

    stream = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(made.files[""])) as old, zipfile.ZipFile(stream, "w") as new:
        chosen = rng.choice(old.namelist())
        for name in old.namelist():
            content = old.read(name)
            new.writestr(zipfile.ZipInfo(name), _header(rng) + content[128:] if name == chosen else content)
    made.files[""] = stream.getvalue()


def make_csv(folder: Path) -> None:
    rows = "".join(f"{x},{y},{int(z * 9)}\n" for x, y, z in VALUES)
    (folder / "plain.csv").write_text(rows)
    (folder / "named.csv").write_text(f"a,b,c\n{rows}")
    (folder / "comment.csv").write_text(f"# a,b,c\n\n{rows}")
    (folder / "quoted.tsv").write_text('"a"\t"b c"\n' + "".join(f'"{x}"\t{y}\n' for x, y, _ in VALUES))
    (folder / "packed.csv.gz").write_bytes(gzip.compress(f"a,b,c\n{rows}".encode(), mtime=0))


def csv_cell(made: Input, rng: random.Random) -> None:
    """Another cell somewhere in the text."""
    packed = made.name.endswith(".gz")
    lines = (gzip.decompress(made.files[""]) if packed else made.files[""]).split(b"\n")
    at = rng.randrange(len(lines))
    cells = lines[at].split(b",")
    odd = (
        b"",
        b"x",
        b"nan",
        b"inf",
        b'"',
        b"1e999",
        b"9" * 400,
        b"true",
        b"2020-01-01",
        b"\xff\xfe",
        b"\x00",
        b",,,",
    )
    cells[rng.randrange(len(cells))] = rng.choice(
        (*odd, b"1" * 70_000, b"\r", b"0x1", b"9223372036854775808")
    )
    lines[at] = b",".join(cells)
    text = b"\n".join(lines)
    made.files[""] = gzip.compress(text, mtime=0) if packed else text


def make_parquet(folder: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    table = pa.table({"a": VALUES[:, 0], "b": (VALUES[:, 1] * 50).astype("i4"), "c": VALUES[:, 2] > 0})
    pq.write_table(table, folder / "snappy.parquet")
    pq.write_table(table, folder / "plain.parquet", compression="none", use_dictionary=False)
    pq.write_table(table, folder / "groups.parquet", compression="zstd", row_group_size=7)
    missing = pa.table({"a": pa.array([None, 1.5] * 10), "d": pa.array(range(20), pa.uint64())})
    pq.write_table(missing, folder / "missing.parquet", compression="gzip", data_page_version="2.0")


def make_zarr_2(folder: Path) -> None:
    import zarr

    for name, chunks in (("small", (7, 2)), ("whole", (20, 3))):
        array = zarr.create_array(
            folder / f"{name}.zarr", shape=VALUES.shape, chunks=chunks, dtype="f8", zarr_format=2
        )
        array[:] = VALUES


def make_zarr_3(folder: Path) -> None:
    import zarr

    for name, more in (("plain", {}), ("shards", {"shards": (14, 4)}), ("raw", {"compressors": None})):
        array = zarr.create_array(
            folder / f"{name}.zarr", shape=VALUES.shape, chunks=(7, 2), dtype="f4", **more
        )
        array[:] = VALUES


ZARR_2 = (
    "|O", "<f4", "<i8", "|S8", [["a", "<f8"]], "gzip", "pickle", {"id": "pickle"}, [{"id": "pickle"}],
    {"id": "zlib", "level": 1}, {"id": "json2"}, {"id": "delta", "dtype": "|O"},
    {"id": "blosc", "cname": "lz4", "clevel": 5, "shuffle": 1}, [10**12, 10**12],
)  # fmt: skip
ZARR_3 = (
    "object", "float64", "int8", "string", {"name": "pickle"},
    {"name": "numcodecs.pickle", "configuration": {}}, "gzip",
    {"name": "gzip", "configuration": {"level": 1}}, {"name": "vlen-utf8"},
    {"name": "numcodecs.zlib", "configuration": {"level": 1}}, [{"name": "bytes"}], [10**12, 10**12],
    "rectilinear", "NaN",
)  # fmt: skip

TARGETS = [
    Target("npy", make_npy, measured, (npy_header,)),
    Target("npz", make_npz, measured, (npz_member, npz_header)),
    Target("sparse", make_sparse, measured, (npz_member, npz_member, npz_header)),
    Target("csv", make_csv, measured, (csv_cell,), needs=("pyarrow", "narwhals")),
    Target("parquet", make_parquet, measured, needs=("pyarrow", "narwhals")),
    Target("zarr2", make_zarr_2, measured, (on_json((".zarray",), ZARR_2),), needs=("zarr",), share=0.5),
    Target("zarr3", make_zarr_3, measured, (on_json(("zarr.json",), ZARR_3),), needs=("zarr",), share=0.5),
]
