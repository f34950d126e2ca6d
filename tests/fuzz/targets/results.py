"""What geodim itself wrote, as strangers might send it.

Results, rows of experiments, checkpoints and certificates.
"""

from __future__ import annotations

import io
import json
import zipfile
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

import geodim
from fuzz.harness import Target
from fuzz.mutations import on_json
from geodim.certificate import Certificate
from geodim.display.html.document import render_report
from geodim.display.html.sources import as_result, read_item
from geodim.engine.kernels.dominated import running_best
from geodim.errors import CertificateError, DataFileError
from geodim.experiments import get_experiment
from geodim.experiments.store import Store

if TYPE_CHECKING:
    import random
    from pathlib import Path

    from fuzz.mutations import Input

X = np.random.default_rng(1).normal(size=(40, 3)).round(3)
EDGES = np.random.default_rng(2).integers(0, 40, (2, 70))
ONE = {"n_threads": 1}
BEYOND: tuple[Any, ...] = (
    "inf",
    "-inf",
    "nan",
    -0.5,
    1e-320,
    [1, 2],
    [0.5],
    {"a": 1},
    False,
    2**53 + 1,
    "geodim.IDResult/1",
)


def make_results(folder: Path) -> None:
    results = {
        "exact": geodim.intrinsic_dimension(X, **ONE),
        "bounds": geodim.intrinsic_dimension(X, rtol=0.1, **ONE),
        "flat": geodim.intrinsic_dimension(X[:, :1], normalize=False, count_indistinguishable=True, **ONE),
        "hops": geodim.khop_dimensions(X, EDGES, 2, **ONE),
        "selection": geodim.select_features(X, 2, **ONE),
    }
    for name, result in results.items():
        values = result.to_dict()
        _without_time(values)
        (folder / f"{name}.json").write_text(json.dumps(values))


def _without_time(values: Any) -> None:
    """The same bytes every day."""
    for key, value in values.items() if isinstance(values, dict) else enumerate(values):
        if key == "seconds":
            values[key] = 0.25
        elif key == "happened":  # what was taken differs from run to run, and nobody may know it
            values[key] = {**value, "memory": 123_456, "seconds": 0.25}
        elif isinstance(value, dict | list):
            _without_time(value)


def report(path: Path) -> None:
    """Read a result, and do with it what a report does; it must come back from its own JSON as it is."""
    item = read_item(path)
    again = as_result(json.loads(item.result.to_json()))
    assert again.to_json() == item.result.to_json()
    render_report([item]).encode("utf-8")


def make_rows(folder: Path) -> None:
    place = folder / "rows"
    store = Store(place, get_experiment("statistics"))
    row = {"dataset": "cora", "nodes": 2708, "edges": 5278, "attributes": 1433}
    store.entries = [
        {
            "key": {"dataset": "cora"}, "version": geodim.__version__, "recipe": store.experiment.recipe,
            "status": "done", "note": "", "seconds": 0.5, "machine": {"cores": 2}, "rows": [row],
        }
    ]  # fmt: skip
    store.write()
    (place / "statistics.csv").unlink()


def merge(path: Path) -> None:
    here = Store(path / "here", get_experiment("statistics"))
    here.adopt(Store(path, get_experiment("statistics")))


def make_checkpoint(folder: Path) -> None:
    # A state may hold widths within a tolerance: the kernel that these take is loaded before any is read.
    running_best(np.zeros(2), np.zeros(2, np.int32), np.empty(2), np.empty(2, np.int32))
    for rtol in (0.0, 0.05):
        place = folder / f"state{rtol}"
        geodim.khop_dimensions(X, EDGES, 1, rtol=rtol, checkpoint=place, **ONE)
        for path in place.iterdir():
            if path.suffix != ".npz":
                path.unlink()
        _rewrite(place / "layers.npz")


def _rewrite(path: Path, **changes: Any) -> None:
    """Without the time of writing, and with other arrays."""
    with np.load(path) as saved:
        arrays = dict(saved) | changes
    with zipfile.ZipFile(path, "w") as archive:
        for name, array in arrays.items():
            stream = io.BytesIO()
            np.save(stream, array)
            archive.writestr(zipfile.ZipInfo(f"{name}.npy"), stream.getvalue())


def go_on(path: Path) -> None:
    rtol = float(path.name.removeprefix("state"))
    geodim.khop_dimensions(X, EDGES, 1, rtol=rtol, checkpoint=path, **ONE)


def saved_number(made: Input, rng: random.Random) -> None:
    """Another number in an array of the state, its checksum that of the new content."""
    with np.load(io.BytesIO(made.files["layers.npz"])) as saved:
        arrays = dict(saved)
    name = rng.choice(sorted(arrays))
    array = np.atleast_1d(np.array(arrays[name])).copy()
    array[rng.randrange(array.size)] = rng.choice((0, 1, 3, 100))
    if array.dtype.kind == "f" and rng.random() < 0.5:
        array[rng.randrange(array.size)] = rng.choice((np.nan, np.inf, -1.0, 1e308, -0.0))
    if rng.random() < 0.3:
        array = array.astype(rng.choice(("f4", "i8", "?", "u1", "f8")))
    arrays[name] = array.reshape(arrays[name].shape) if rng.random() < 0.8 else array[: array.size // 2]
    stream = io.BytesIO()
    np.savez(stream, **arrays)
    made.files["layers.npz"] = stream.getvalue()


@cache
def _proofs() -> dict[str, str]:
    results = {
        "points": geodim.intrinsic_dimension(X, **ONE),
        "hops": geodim.khop_dimensions(X, EDGES, 1, **ONE),
    }
    return {name: json.dumps(result.certificate().to_dict()) for name, result in results.items()}


def make_certificates(folder: Path) -> None:
    for name, text in _proofs().items():
        (folder / f"{name}.json").write_text(text)


def verify(path: Path) -> None:
    """As `geodim verify` does; what is refuted is refused, and what is not must be true."""
    graph = EDGES if path.stem == "hops" else None
    try:
        proved = Certificate.from_json(path).verify(X, graph)
    except CertificateError as error:  # says what is wrong; the command says of which file
        raise DataFileError(f"{path}: {error}") from error
    true = geodim.khop_dimensions(X, EDGES, 1, **ONE).dimensions if graph is not None else [_dimension()]
    assert all(low <= value <= high for (low, high), value in zip(proved, true, strict=False))


@cache
def _dimension() -> float:
    return geodim.intrinsic_dimension(X, **ONE).dimension


SINGLE = (on_json(("",), BEYOND),) * 3
TARGETS = [
    Target("results", make_results, report, mutations=SINGLE),
    Target("rows", make_rows, merge, mutations=(on_json(("statistics.json",), BEYOND),), share=0.5),
    Target("checkpoints", make_checkpoint, go_on, mutations=(saved_number,), share=0.5),
    Target("certificates", make_certificates, verify, mutations=SINGLE, share=0.5),
]
