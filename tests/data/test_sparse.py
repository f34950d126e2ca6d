"""Sparse matrices whose arrays do not fit together are refused before compiled code reads past their ends."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import geodim
from geodim.data.sparse import as_columns, checked_sparse
from geodim.data.tables import read_table
from geodim.errors import DataFileError, InputValueError, MachineMemoryError

THIN = np.where(np.random.default_rng(1).random((6, 4)) < 0.5, 1.5, 0.0) + np.eye(6, 4)
FORMATS = ("csr", "csc", "coo", "bsr", "dia", "lil", "dok")


def made(kind: str):
    return sp.csr_array(THIN).asformat(kind)


def put(matrix, name, at, value):
    array = getattr(matrix, name).copy()
    array[at] = value
    setattr(matrix, name, array)


DAMAGE = [
    pytest.param("csr", lambda m: put(m, "indices", 2, 4), r"indices\[2\] is 4, but there are 4 columns",
                 id="beyond"),
    pytest.param("csr", lambda m: put(m, "indices", 2, 10**9), "is 1000000000", id="far beyond"),
    pytest.param("csr", lambda m: put(m, "indices", 0, -1), "is -1", id="negative"),
    pytest.param("csc", lambda m: put(m, "indices", 1, 6), "but there are 6 rows", id="rows"),
    pytest.param("csr", lambda m: put(m, "indptr", -1, 10**6), "indptr ends with 1000000", id="too many"),
    pytest.param("csr", lambda m: put(m, "indptr", 0, 1), "begins with 1", id="begin"),
    pytest.param("csc", lambda m: put(m, "indptr", 1, 99), "falls from 99", id="falls"),
    pytest.param("csr", lambda m: put(m, "indptr", 2, -3), "falls", id="negative start"),
    pytest.param("csr", lambda m: setattr(m, "indptr", m.indptr[:-1]), "6 entries for 6 rows", id="short"),
    pytest.param("csr", lambda m: setattr(m, "data", m.data[:3]), "but there are 3 data", id="few values"),
    pytest.param("csc", lambda m: setattr(m, "indices", m.indices * 1.0), "float64", id="floats"),
    pytest.param("csr", lambda m: setattr(m, "indptr", m.indptr.astype("f4")), "float32", id="float starts"),
    pytest.param("bsr", lambda m: put(m, "indices", 0, 77), "columns of blocks", id="blocks"),
    pytest.param("bsr", lambda m: put(m, "indptr", -1, 77), "indptr ends with 77", id="block starts"),
    pytest.param("coo", lambda m: put(m, "row", 0, 6), r"row\[0\] is 6", id="coo row"),
    pytest.param("coo", lambda m: put(m, "col", 0, -2), r"col\[0\] is -2", id="coo col"),
    pytest.param("dia", lambda m: setattr(m, "offsets", m.offsets[:-1]), "diagonals", id="dia"),
    pytest.param("dia", lambda m: put(m, "offsets", 0, m.offsets[1]), "twice", id="dia twice"),
    pytest.param("lil", lambda m: m.rows[0].append(1), "row 0 has", id="lil"),
    pytest.param("lil", lambda m: m.rows[0].__setitem__(0, 400), "is 400", id="lil beyond"),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "damage", "message"), DAMAGE)
def test_arrays_changed_by_hand(kind, damage, message):
    matrix = made(kind)
    damage(matrix)
    with pytest.raises(InputValueError, match=message):
        geodim.intrinsic_dimension(matrix)


@pytest.mark.parametrize("kind", FORMATS)
def test_whole_matrices_pass(kind):
    assert np.array_equal(as_columns(made(kind)).toarray(), THIN)
    assert checked_sparse(made("csr")) is not None


@pytest.mark.parametrize("kind", ["csr", "csc", "coo", "bsr"])
def test_what_scipy_remembers_of_changed_arrays_is_not_believed(kind):
    """Twice the same place: the values add up, also if the matrix once had each place once."""
    matrix = sp.csc_array(np.array([[1.0, 0], [2, 0], [0, 3]])).asformat(kind)
    matrix.has_canonical_format = matrix.has_sorted_indices = True
    if kind == "coo":
        matrix.row[:2] = matrix.row[0]
        matrix.col[:2] = matrix.col[0]
    else:
        matrix.indices[:2] = matrix.indices[0]
    assert as_columns(matrix).nnz == len(set(zip(*np.nonzero(as_columns(matrix).toarray()), strict=True)))


def test_columns_that_no_memory_holds():
    with pytest.raises(MachineMemoryError, match=r"1,099,511,627,776 columns needs 8\.8 TB"):
        geodim.intrinsic_dimension(sp.coo_array(([1.0], ([0], [5])), shape=(3, 2**40)))


CHANGES = {
    "indices": [lambda a: a + 10**6, lambda a: a - 9, lambda a: a.astype("f8"), lambda a: a[:2],
                lambda a: a[None]],
    "indptr": [lambda a: a[::-1], lambda a: a + 1, lambda a: a.astype("f8"), lambda a: a[:-1],
               lambda a: a * 10**6],
    "data": [lambda a: a[:2], lambda a: a.astype("S3")],
    "shape": [lambda a: a * 0 - 1, lambda a: a.astype("f8"), lambda a: a[:1], lambda _: np.array([6, 1])],
    "format": [lambda _: np.array("xyz"), lambda _: np.array(7), lambda _: np.array("linalg")],
}  # fmt: skip


@pytest.mark.parametrize("kind", ["csr", "csc", "bsr"])
@pytest.mark.parametrize(
    ("member", "number"), [(name, at) for name, changes in CHANGES.items() for at in range(len(changes))]
)
def test_files_with_changed_arrays(tmp_path, kind, member, number):
    path = tmp_path / "thin.npz"
    sp.save_npz(path, made(kind))
    with np.load(path) as archive:
        members = dict(archive)
    members[member] = CHANGES[member][number](members[member])
    np.savez(path, **members)
    if member == "shape" and number == 3 and kind == "csc":
        members["shape"] = np.array([1, 4])
        np.savez(path, **members)
    with pytest.raises((DataFileError, geodim.errors.InputTypeError), match=r"thin\.npz"):
        read_table(path)


@pytest.mark.parametrize("shape", [(2**62, 3), (3, 2**62), (2**63 - 1, 2**63 - 1)])
@pytest.mark.parametrize("kind", ["dia", "coo", "csr", "csc", "bsr"])
def test_shapes_without_end(tmp_path, kind, shape):
    path = tmp_path / "thin.npz"
    sp.save_npz(path, made(kind))
    with np.load(path) as archive:
        np.savez(path, **(dict(archive) | {"shape": np.array(shape)}))
    with pytest.raises(DataFileError, match=r"thin\.npz"):
        read_table(path)
