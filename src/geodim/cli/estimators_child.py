"""One estimator of ``geodim estimators``, in its own process: reads a job and writes the answer, as JSON.

It first prints the word "ready", when the data is read and checked, so that the time
limit does not count reading.
"""

from __future__ import annotations

import json
import os
import sys
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from geodim.cli.lifeline import end_with_parent
from geodim.errors import DataFileError, GeodimError, GeodimWarning, MissingExtraError

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TextIO

    from geodim.baselines.points import Points
    from geodim.baselines.result import BaselineResult

READY = "ready"
WARM_UP = (100, 8)  # imports and compiles, so that neither is measured


@dataclass
class Data:
    """What to measure: points, or attributes with a graph."""

    x: object
    graph: object = None
    hops: int = 0


def main() -> None:
    """Run the job; errors become a line of JSON, too."""
    answer = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what estimators print is not the answer
    line = sys.stdin.readline()
    if not line.endswith("\n"):  # the parent has ended
        return
    end_with_parent()
    job = json.loads(line)
    try:
        data, sizes = load(job)
    except Exception as error:  # noqa: BLE001 - reported, not hidden
        _say(answer, {"stage": "load", "error": describe(error)})
        return
    try:
        call = prepare(job, data)
        print(READY, file=answer, flush=True)
        _say(answer, {**sizes, **run(call)})
    except Exception as error:  # noqa: BLE001 - reported, not hidden
        _say(answer, {**sizes, "stage": "run", "error": describe(error)})


def _say(answer: TextIO, values: dict[str, Any]) -> None:
    from geodim.saved.document import to_json_value

    print(json.dumps({key: to_json_value(value) for key, value in values.items()}), file=answer, flush=True)


def describe(error: Exception) -> dict[str, str]:
    """Return the message of an error, and its kind, which decides the exit code."""
    text = str(error) or type(error).__name__
    if isinstance(error, MissingExtraError):
        return {"kind": "extra", "message": text}
    if isinstance(error, (DataFileError, OSError)):
        return {"kind": "file", "message": text}
    if isinstance(error, GeodimError):
        return {"kind": "data", "message": text}
    if isinstance(error, MemoryError):
        return {"kind": "unexpected", "message": f"not enough memory: {text}"}
    return {"kind": "unexpected", "message": f"{type(error).__name__}: {text}"}


def load(job: dict[str, Any]) -> tuple[Data, dict[str, Any]]:
    """Open the data and check its values once."""
    from geodim.data.checks import scan_ranges
    from geodim.data.sources import as_source

    if job["name"] is not None or job["edges"] is not None:
        from geodim.cli.hop_inputs import load as load_graph

        root = None if job["root"] is None else Path(job["root"])
        features, edges = (None if job[key] is None else Path(job[key]) for key in ("file", "edges"))
        given = load_graph(job["name"], root, features, edges, header=job["header"])
        data = Data(given.x, given.graph, job["hops"])
    else:
        from geodim.data.tables import read_table

        table = read_table(
            job["file"], job["columns"], exclude=job["exclude"], header=job["header"],
            drop_missing=bool(job["drop_missing"]),
        )  # fmt: skip
        data = Data(table)
    try:
        source = as_source(data.x)
        scan_ranges(source)
    except GeodimError as error:
        if job["file"] is None or isinstance(error, MissingExtraError):
            raise
        msg = f"{job['file']}: {error}"
        raise type(error)(msg) from error
    return data, {"n_points": source.n_points, "n_features": source.n_features * (data.hops + 1)}


def prepare(job: dict[str, Any], data: Data) -> Callable[[], dict[str, Any]]:
    """Make the call to measure.

    The same call on a few points comes first: it imports and compiles what is needed.
    """
    import numpy as np

    estimator = ESTIMATORS.get(job["estimator"], _skdim)
    kind = getattr(data.x, "dtype", None)
    points = np.random.default_rng(0).uniform(size=WARM_UP)
    points = points.astype(kind) if kind in (np.float32, np.float64) else points
    ring = np.stack([np.arange(len(points)), np.roll(np.arange(len(points)), 1)])
    sample = Data(points, None if data.graph is None else ring, min(data.hops, 1))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            estimator({**job, "time_limit": None, "neighbors": None}, sample)
        except MissingExtraError:
            raise
        except Exception:  # noqa: BLE001, S110 - what matters is the data, which comes next
            pass
    return lambda: estimator(job, data)


def run(call: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """Measure the call; warnings become notes."""
    from geodim.baselines.measure import measure
    from geodim.result import JSON_SUPPORT

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = measure(call)
    whole = found.value.pop("result", None)
    said = [str(one.message) for one in caught if issubclass(one.category, (GeodimWarning, UserWarning))]
    notes = [note for note in (found.value.pop("note"), *dict.fromkeys(said)) if note]
    return {
        **({} if whole is None else {"result": whole.to_dict(max_support=JSON_SUPPORT)}),
        **found.value,
        "seconds": found.seconds,
        "peak_bytes": found.peak_bytes,
        "note": "; ".join(notes),
    }


def _geodim(job: dict[str, Any], data: Data) -> dict[str, Any]:
    from geodim.dimension import intrinsic_dimension
    from geodim.khop import khop_dimensions

    options = {"rtol": job["rtol"], "n_threads": job["threads"], "time_limit": job["time_limit"]}
    whole: Any
    if data.graph is None:
        whole = result = intrinsic_dimension(data.x, **options)
    else:
        whole = khop_dimensions(data.x, data.graph, data.hops, **options)
        result = whole[data.hops]
    return {
        "result": whole,
        "value": result.dimension,
        "lower": result.lower,
        "upper": result.upper,
        "stopped": result.stopped,
        "note": "" if result.stopped else "exact" if result.exact else "certified bounds",
    }


def _points(job: dict[str, Any], data: Data) -> Points:
    """Return the points that estimators on distances see: for a graph attributes and hops side by side."""
    from geodim.baselines.khop import khop_points
    from geodim.baselines.points import as_points

    if data.graph is None:
        return as_points(data.x, job["threads"])
    return khop_points(data.x, data.graph, data.hops, n_threads=job["threads"]).points(data.hops)


def _mle(job: dict[str, Any], data: Data) -> dict[str, Any]:
    from geodim.baselines import mle

    neighbours = {} if job["neighbors"] is None else {"n_neighbors": job["neighbors"]}
    return _row(mle(_points(job, data), **neighbours, seed=job["seed"], n_threads=job["threads"]))


def _twonn(job: dict[str, Any], data: Data) -> dict[str, Any]:
    from geodim.baselines import two_nn

    return _row(two_nn(_points(job, data), seed=job["seed"], n_threads=job["threads"]))


def _skdim(job: dict[str, Any], data: Data) -> dict[str, Any]:
    from geodim.baselines import skdim_estimate

    name = job["estimator"].removeprefix("skdim:")
    points = data.x if data.graph is None else _points(job, data).values
    return _row(
        skdim_estimate(name, points, n_neighbors=job["neighbors"], seed=job["seed"], n_threads=job["threads"])
    )


def _row(result: BaselineResult) -> dict[str, Any]:
    notes = []
    if result.n_neighbors is not None:
        notes.append(f"{result.n_neighbors} neighbours")
    if result.seed is not None and result.parameters.get("n_samples", result.n_points) < result.n_points:
        notes.append(f"{result.parameters['n_samples']:,} points sampled")
    if result.n_zero:
        kind = "equal points" if result.name == "twonn" else "zero distances"
        notes.append(f"{result.n_zero:,} {kind} left out")
    return {
        "value": result.dimension,
        "n_used": result.n_used,
        "n_zero": result.n_zero,
        "n_neighbors": result.n_neighbors,
        "seed": result.seed,
        "parameters": result.parameters,
        "versions": result.versions,
        "note": ", ".join(notes),
    }


ESTIMATORS: dict[str, Callable[[dict[str, Any], Data], dict[str, Any]]] = {
    "geodim": _geodim,
    "mle": _mle,
    "twonn": _twonn,
}

if __name__ == "__main__":
    main()
