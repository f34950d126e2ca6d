"""``geodim compute --dry-run``: sizes and a sample of a file, or sizes alone, and the plan for them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import typer

from geodim.arguments import MOST_SIZE
from geodim.cli.planning import BackendName, planned, show

if TYPE_CHECKING:
    from pathlib import Path

    from geodim.plan import CoreRates, Problem

RUN = 1000  # neighbouring points of a sample: a page of a file is read once for all of them


def family_or_width(features: str) -> tuple[str, float | None]:
    """What ``--features`` means: a family, or for a plan without a file a number of columns."""
    from geodim.families.choose import FAMILIES

    if features in FAMILIES:
        return features, None
    try:
        width = float(features)
    except ValueError:
        width = 0.0
    if not 1.0 <= width <= MOST_SIZE:
        raise typer.BadParameter(
            f"{features!r} is neither {', '.join(FAMILIES)} nor a number of columns from 1 on",
            param_hint="--features",
        )
    return "coordinates", width


def check_sizes(file: Path | None, points: float | None, features: float | None, *, dry_run: bool) -> None:
    """A file, or with --dry-run the sizes of one."""
    if file is None and not dry_run:
        raise typer.BadParameter("name a file of points", param_hint="FILE")
    if file is None and (points is None or features is None):
        raise typer.BadParameter(
            "name a file, or give both --points and --features",
            param_hint="FILE" if points is None else "--features",
        )
    if file is not None and (points is not None or features is not None):
        raise typer.BadParameter(
            "the file has its own sizes", param_hint="--points" if points else "--features"
        )


def show_plan(
    file: Path | None,
    columns: str | None,
    exclude: str | None,
    *,
    header: bool | None,
    points: float | None,
    features: float | None,
    rtol: float,
    budget: int | None,
    threads: int | None,
    backend: BackendName,
    **where: Any,
) -> None:
    """Print the plan; exit code 3 if it does not fit."""
    from geodim.plan import machine_memory

    if file is None:
        assert points is not None
        assert features is not None
        problem, rates = sizes_alone(int(points), int(features), rtol)
        title, source = f"{problem.n_points:,} x {problem.n_features:,} points", {}
    else:
        problem, rates = look_at(file, columns, exclude, rtol, header)
        title, source = str(file), {"file": str(file)}
    on_cpu = backend in (BackendName.auto, BackendName.cpu) and not any(where.values())
    if budget is None and on_cpu:
        budget = machine_memory()
    plan = planned(problem, rates, backend=backend, threads=threads, budget=budget, **where)
    show(plan, title, source, {"loaded": file is not None})


def sizes_alone(n_points: int, n_features: int, rtol: float) -> tuple[Problem, CoreRates]:
    """Normal float32 columns of these sizes, and rates from a trial on some."""
    from geodim.plan import Problem, calibrate, normal_sample

    problem = Problem(n_points, n_features, rtol=rtol)
    sample = normal_sample(n_points, n_features, problem.itemsize)
    return problem, calibrate(sample, f"a trial on {len(sample):,} normal points")


def look_at(
    file: Path, columns: str | None, exclude: str | None, rtol: float, header: bool | None = None
) -> tuple[Problem, CoreRates]:
    """Sizes of the file, and rates from a trial on a sample of it.

    Of Parquet and zarr no more than the sample is read.
    """
    from geodim.plan import Problem, calibrate, normal_spread

    found: dict[str, Any]
    if file.suffix in (".parquet", ".zarr") and file.exists():
        found, sample = _chunked(file, columns, exclude)
    else:
        found, sample = _opened(file, columns, exclude, header)
    n, d = found["n_points"], found["n_features"]
    rates = calibrate(sample, f"a trial on {len(sample):,} of these points")
    problem = Problem(**found, rtol=rtol, spread=_spread(sample))
    if problem.spread is not None:  # more points reach farther
        grown = normal_spread(n, d) / normal_spread(*sample.shape)
        problem = replace(problem, spread=problem.spread * max(grown, 1.0))
    return problem, rates


def _opened(
    file: Path, columns: str | None, exclude: str | None, header: bool | None
) -> tuple[dict[str, Any], Any]:
    """A file that is mapped or read whole."""
    import numpy as np

    from geodim.cli.tables import opened
    from geodim.data.sources import as_source
    from geodim.plan import SAMPLE, TRIED

    with opened(file, columns, exclude, header=header) as (data, _):
        source = as_source(data)
        n, d = source.n_points, source.n_features
        some = np.unique(np.linspace(0, d - 1, min(d, TRIED)).astype(np.intp))
        runs = max(SAMPLE // RUN, 1)
        starts = np.linspace(0, max(n - RUN, 0), runs if n > SAMPLE else 1).astype(np.intp)
        rows = np.unique((starts[:, np.newaxis] + np.arange(RUN)).ravel()) if n > SAMPLE else np.arange(n)
        sample = np.ascontiguousarray(source.sample(some, rows), source.dtype)
        _check_finite(file, sample)
        mapped = isinstance(data, np.memmap)
        return {
            "n_points": n,
            "n_features": d,
            "itemsize": source.dtype.itemsize,
            "row_major": bool(source.row_major),
            "held": not mapped,
            "apart": False,
        }, sample


def _chunked(file: Path, columns: str | None, exclude: str | None) -> tuple[dict[str, Any], Any]:
    """A file whose first chunk is enough for a sample."""
    import numpy as np

    from geodim.data.sources import as_source
    from geodim.data.tables.columns import choose_columns
    from geodim.optional import require
    from geodim.plan import SAMPLE, TRIED

    chunks: int | None
    if file.suffix == ".zarr":
        from geodim.data.tables.lazy import open_zarr

        array = open_zarr(file)
        n, names = int(array.shape[0]), [str(number) for number in range(array.shape[1])]
        chosen = choose_columns(names, columns, exclude, where=str(file))
        values: Any = np.asarray(array[:SAMPLE])[:, chosen]
        chunks = -(-n // int(array.chunks[0]))
    else:
        from geodim.data.tables.frames import column_names

        names = column_names(file)
        chosen = choose_columns(names, columns, exclude, where=str(file))
        table = require("pyarrow.dataset", "frames", "reading Parquet files").dataset(file, format="parquet")
        n = table.count_rows()
        values = table.head(SAMPLE, columns=[names[at] for at in chosen])
        chunks = len(table.files)
    source = as_source(values)
    some = np.unique(np.linspace(0, source.n_features - 1, min(source.n_features, TRIED)).astype(np.intp))
    sample = np.ascontiguousarray(source.sample(some, np.arange(source.n_points)), source.dtype)
    _check_finite(file, sample)
    return {
        "n_points": n,
        "n_features": source.n_features,
        "itemsize": source.dtype.itemsize,
        "row_major": file.suffix == ".zarr",
        "held": True,
        "chunks": chunks,
    }, sample


def _check_finite(file: Path, sample: Any) -> None:
    """A trial needs numbers; where they are wrong, the computation will say."""
    import numpy as np

    from geodim.errors import NonFiniteError

    if not np.all(np.isfinite(sample)):
        raise NonFiniteError(f"{file}: there is NaN or infinity among the points; drop these or fill them in")


def _spread(sample: Any) -> float | None:
    """The widest range over Delta, from the sample."""
    import warnings

    from geodim.dimension import intrinsic_dimension
    from geodim.errors import GeodimWarning

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GeodimWarning)
        found = intrinsic_dimension(sample, rtol=0.01, n_threads=1).discriminability
    return 1.0 / found if found > 0.0 else None
