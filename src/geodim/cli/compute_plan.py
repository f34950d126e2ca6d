"""``geodim compute --dry-run``: sizes and a sample of a file, or sizes alone, and the plan for them."""

from __future__ import annotations

import time
from contextlib import nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import typer

from geodim.arguments import MOST_SIZE
from geodim.cli.dash import TABLE, readable
from geodim.cli.families import named_features
from geodim.cli.objects import is_table
from geodim.cli.planning import BackendName, planned, show
from geodim.cli.reading_plan import beginning, first_group, ready

if TYPE_CHECKING:
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray

    from geodim.families.protocol import Family
    from geodim.planning.reading import Reading
    from geodim.plans import CoreRates, Problem

FEW, TRIED_POINTS, TRIED_VALUES = 64, 3000, 1 << 22  # for trials of computed features
RUN = 1000  # neighbouring points of a sample: a page of a file is read once for all of them


def family_or_width(features: str, by: str | None) -> tuple[Any, float | None]:
    """Return what ``--features`` means: families, or a number of columns for a plan without a file."""
    from geodim.families.choose import FAMILIES

    named = named_features(features, by, "--features")
    if named is not None:
        return named, None
    try:
        width = float(features)
    except ValueError:
        width = 0.0
    if not 1.0 <= width <= MOST_SIZE:
        raise typer.BadParameter(
            f"{features!r} is neither {', '.join(FAMILIES)} nor a number of columns, 1 or more",
            param_hint="--features",
        )
    return "coordinates", width


def check_sizes(
    file: Path | None,
    points: float | None,
    features: float | None,
    coordinates: float | None,
    *,
    dry_run: bool,
    made: bool,
) -> None:
    """Check that there is a file, or with --dry-run the sizes of one."""
    if file is None and not dry_run:
        raise typer.BadParameter("name a file of points", param_hint="FILE")
    wanted = "--coordinates" if made else "--features"
    if file is None and (points is None or (coordinates if made else features) is None):
        raise typer.BadParameter(
            f"name a file, or give both --points and {wanted}",
            param_hint="FILE" if points is None else wanted,
        )
    sizes = {"--points": points, "--features": features, "--coordinates": coordinates}
    given = [name for name, value in sizes.items() if value is not None]
    if file is not None and given:
        raise typer.BadParameter("the file determines the sizes", param_hint=given[0])
    if coordinates is not None and not made:
        raise typer.BadParameter("it is for features that are made from points", param_hint="--coordinates")


def show_plan(
    file: Path | None,
    columns: str | None,
    exclude: str | None,
    *,
    header: bool | None,
    drop_missing: bool,
    points: float | None,
    features: float | None,
    coordinates: float | None,
    family: Family | None,
    rtol: float,
    budget: int | None,
    threads: int | None,
    backend: BackendName,
    scheduler: str | None,
    workers: int | None,
    worker_memory: str | None,
    json: Path | None = None,
) -> None:
    """Print the plan, or write it to a file as well; exit code 3 if it does not fit."""
    from geodim.planning.reading import with_reading
    from geodim.plans import machine_memory

    reading: Reading | None = None
    on_cpu = backend in (BackendName.auto, BackendName.cpu) and not (scheduler or workers or worker_memory)
    if file is None:
        assert points is not None
        width = features if family is None else coordinates
        assert width is not None
        problem, rates = sizes_alone(int(points), int(width), rtol, family)
        title = f"{problem.n_points:,} x {int(width):,} points"
    else:
        with readable(file, TABLE) if is_table(family, file) else nullcontext(file) as path:
            problem, rates, reading = look_at(
                path, columns, exclude, rtol, header, family, drop_missing=drop_missing
            )
        title = str(file)
    source = {} if file is None else {"file": str(file)}
    if family is not None:
        from geodim.families.protocol import label_of

        title += f", {label_of(family)}"
    if budget is None and on_cpu:
        budget = machine_memory()
    plan = planned(
        problem, rates, backend=backend, threads=threads, budget=budget, scheduler=scheduler, workers=workers,
        worker_memory=worker_memory,
    )  # fmt: skip
    plan = with_reading(plan, reading)
    show(plan, title, source, {"loaded": file is not None}, json=json)


def sizes_alone(
    n_points: int, n_features: int, rtol: float, family: Family | None = None
) -> tuple[Problem, CoreRates]:
    """Return normal float32 columns, or points, of these sizes, and rates from a trial on some."""
    from geodim.plans import CORE, Problem, calibrate, calibrate_family, family_problem, normal_sample

    if family is not None:
        import numpy as np

        n = tried_points(n_points, n_features)
        normal = np.random.default_rng(0).standard_normal((n, n_features), np.float32)
        rates = calibrate_family(normal, family, f"a trial on {n:,} normal points")
        return family_problem(family, n_points, n_features, itemsize=4, rtol=rtol), rates
    problem = Problem(n_points, n_features, rtol=rtol)
    if problem.every_window:  # as below
        return problem, CORE
    sample = normal_sample(n_points, n_features, problem.itemsize)
    return problem, calibrate(sample, f"a trial on {len(sample):,} normal points")


def tried_points(n_points: int, n_coordinates: int) -> int:
    """Return how many points to try a family on: enough to be like more of them, and soon done."""
    return min(n_points, max(FEW, min(TRIED_POINTS, TRIED_VALUES // n_coordinates)))


def look_at(
    file: Path,
    columns: str | None,
    exclude: str | None,
    rtol: float,
    header: bool | None = None,
    family: Family | None = None,
    *,
    drop_missing: bool = False,
) -> tuple[Problem, CoreRates, Reading | None]:
    """Return sizes of the file, rates from a trial on a sample of it, and what reading it takes.

    Of Parquet and zarr no more than the sample is read, and of long texts the beginning.
    """
    from geodim.plans import CORE, Problem, calibrate, normal_spread

    found: dict[str, Any]
    ready(file)
    if not is_table(family, file):
        assert family is not None
        return objects_in(file, family, rtol)
    if family is not None:
        return _family_in(file, columns, exclude, rtol, header, family, drop_missing=drop_missing)
    if file.suffix in (".parquet", ".zarr") and file.exists() and not drop_missing:
        found, sample, reading = _chunked(file, columns, exclude)
    else:
        found, sample, reading = _opened(file, columns, exclude, header, drop_missing=drop_missing)
    n, d = found["n_points"], found["n_features"]
    small = Problem(**found, rtol=rtol).every_window  # a trial would load the compiler, and that does not
    rates = CORE if small else calibrate(sample, f"a trial on {len(sample):,} of these points")
    problem = Problem(**found, rtol=rtol, spread=None if small else _spread(sample))
    if problem.spread is not None:  # more points reach farther
        grown = normal_spread(n, d) / normal_spread(*sample.shape)
        problem = replace(problem, spread=problem.spread * max(grown, 1.0))
    return problem, rates, reading


def _family_in(
    file: Path,
    columns: str | None,
    exclude: str | None,
    rtol: float,
    header: bool | None,
    family: Family,
    *,
    drop_missing: bool,
) -> tuple[Problem, CoreRates, Reading | None]:
    """Return features of the points in a file, and rates from a trial on some of these points."""
    import numpy as np

    from geodim.cli.tables import opened
    from geodim.data.sources import as_source
    from geodim.plans import calibrate_family, family_problem

    square = getattr(family, "metric", None) == "precomputed"
    with beginning(file, whole=square) as part:
        started = time.perf_counter()
        with opened(part.path, columns, exclude, header=header, drop_missing=drop_missing) as (data, _):
            seconds = time.perf_counter() - started
            source = as_source(data)
            n, d = source.n_points, source.n_features
            rows = np.unique(np.linspace(0, n - 1, tried_points(n, d)).astype(np.intp))
            sample = source.sample(rows if square else np.arange(d), rows)
            _check_finite(file, sample)
            held = not isinstance(data, np.memmap)
            n = round(n * part.times)
            problem = family_problem(family, n, d, itemsize=source.dtype.itemsize, rtol=rtol, held=held)
            reading = part.reading(seconds, n * d * source.dtype.itemsize) if held else None
            rates = calibrate_family(sample, family, f"a trial on {len(sample):,} of these points")
            return problem, rates, reading


def objects_in(file: Path, family: Family, rtol: float) -> tuple[Problem, CoreRates, Reading]:
    """Return problem, rates and reading for texts, images or graphs, after a trial on some features."""
    import numpy as np

    from geodim.backends.local import LocalBackend
    from geodim.cli.objects import opened_objects
    from geodim.families.opening import open_family
    from geodim.families.protocol import is_made
    from geodim.planning.reading import Reading
    from geodim.plans import SAMPLE, TRIED, best_of, calibrate

    with opened_objects(file, family) as (data, _):
        started = time.perf_counter()
        source = open_family(family, data).source
        seconds = time.perf_counter() - started
        problem = LocalBackend().problem(source, rtol)
        n, d = source.n_points, source.n_features
        some = np.unique(np.linspace(0, d - 1, min(d, TRIED)).astype(np.intp))
        rows = np.unique(np.linspace(0, n - 1, min(n, SAMPLE)).astype(np.intp))
        sample = np.ascontiguousarray(source.sample(some, rows))
        rates = calibrate(sample, f"a trial on {len(some):,} of these features")
        if is_made(source):
            made = np.empty((len(some), n), source.dtype)
            each = best_of(lambda: source.read(some.tolist(), made), 2) / made.size
            rates = replace(
                rates, first=rates.first + each, later=rates.later + each, made=rates.later + each, making=0.0
            )
        return problem, rates, Reading(seconds, int(getattr(source, "held", 0)))


def _opened(
    file: Path, columns: str | None, exclude: str | None, header: bool | None, *, drop_missing: bool
) -> tuple[dict[str, Any], Any, Reading | None]:
    """Return a file that is mapped or read whole, or the beginning of a text."""
    import numpy as np

    from geodim.cli.tables import opened
    from geodim.data.sources import as_source
    from geodim.plans import SAMPLE, TRIED

    with beginning(file) as part:
        started = time.perf_counter()
        with opened(part.path, columns, exclude, header=header, drop_missing=drop_missing) as (data, _):
            seconds = time.perf_counter() - started
            source = as_source(data)
            n, d = source.n_points, source.n_features
            some = np.unique(np.linspace(0, d - 1, min(d, TRIED)).astype(np.intp))
            runs = max(SAMPLE // RUN, 1)
            starts = np.linspace(0, max(n - RUN, 0), runs if n > SAMPLE else 1).astype(np.intp)
            rows = np.unique((starts[:, np.newaxis] + np.arange(RUN)).ravel()) if n > SAMPLE else np.arange(n)
            sample = np.ascontiguousarray(source.sample(some, rows), source.dtype)
            _check_finite(file, sample)
            mapped = isinstance(data, np.memmap)
            n = round(n * part.times)
            reading = None if mapped else part.reading(seconds, n * d * source.dtype.itemsize)
            return {
                "n_points": n,
                "n_features": d,
                "itemsize": source.dtype.itemsize,
                "row_major": bool(source.row_major),
                "held": not mapped,
                "apart": False,
            }, sample, reading  # fmt: skip


def _chunked(
    file: Path, columns: str | None, exclude: str | None
) -> tuple[dict[str, Any], Any, Reading | None]:
    """Return a file whose first chunk is enough for a sample."""
    import numpy as np

    from geodim.data.sources import as_source
    from geodim.data.tables.columns import choose_columns
    from geodim.optional import require
    from geodim.planning.reading import Reading
    from geodim.plans import SAMPLE, TRIED

    chunks: int | None
    reading: Reading | None = None
    if file.suffix == ".zarr":
        from geodim.data.tables.lazy import open_zarr

        array = open_zarr(file)
        n, names = int(array.shape[0]), [str(number) for number in range(array.shape[1])]
        chosen = choose_columns(names, columns, exclude, where=str(file))
        started = time.perf_counter()
        values: Any = np.asarray(array[:SAMPLE])[:, chosen]
        times = n / max(len(values), 1)
        reading = Reading((time.perf_counter() - started) * times, int(values.nbytes * times))
        chunks = -(-n // int(array.chunks[0]))
    else:
        from geodim.data.tables.frames import column_names

        names = column_names(file)
        chosen = choose_columns(names, columns, exclude, where=str(file))
        table = require("pyarrow.dataset", "frames", "reading Parquet files").dataset(file, format="parquet")
        n, chunks, wanted = table.count_rows(), len(table.files), [names[at] for at in chosen]
        if file.is_dir():  # which only the workers of a cluster read
            values = table.head(SAMPLE, columns=wanted)
        else:
            values, reading = first_group(file, wanted)
            values = values.slice(0, SAMPLE)
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
    }, sample, reading  # fmt: skip


def _check_finite(file: Path, sample: NDArray[np.floating]) -> None:
    """Raise unless the trial has finite numbers; the computation itself names the wrong ones."""
    import numpy as np

    from geodim.errors import NonFiniteError

    if not np.all(np.isfinite(sample)):
        raise NonFiniteError(f"{file}: there is NaN or infinity among the points; drop these or fill them in")


def _spread(sample: object) -> float | None:
    """Return the ratio of the widest range to Delta, from the sample."""
    import warnings

    from geodim.dimension import intrinsic_dimension
    from geodim.errors import GeodimWarning

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GeodimWarning)
        found = intrinsic_dimension(sample, rtol=0.01, n_threads=1).discriminability
    return 1.0 / found if found > 0.0 else None
