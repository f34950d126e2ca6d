"""``geodim estimators``: our dimension beside MLE, TwoNN and scikit-dimension, with time and memory."""

from __future__ import annotations

import json as json_
import signal
import subprocess
import sys
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

from geodim.arguments import MOST_HOPS, MOST_SECONDS, MOST_THREADS
from geodim.cli.completing import among, files_and_data_sets
from geodim.cli.console import err, out, print_error, print_json
from geodim.cli.dash import EDGES, TABLE, answered, check_files, is_dash, readable, writable
from geodim.cli.datasets import Root, dataset_folder
from geodim.cli.estimators_child import ESTIMATORS, READY
from geodim.cli.exits import ExitCode
from geodim.cli.panels import OUTPUT, RUNNING
from geodim.cli.reporting import Json, Report, check_report, print_all_written, with_provenance
from geodim.cli.tables import Columns, DropMissing, Exclude, Header  # noqa: TC001 - typer looks at the annotations
from geodim.errors import InputValueError, MissingExtraError
from geodim.output import json_text
from geodim.text import visible

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rich.console import Console

FORMAT = "geodim.estimators/1"
PATIENCE = 1.0  # seconds: ours stops by itself when the time is over, and then returns bounds
INTERRUPTED = (-signal.SIGINT, 0xC000013A)  # exit codes of Unix and Windows after Ctrl-C
CODES = {"extra": ExitCode.EXTRA, "file": ExitCode.FILE, "data": ExitCode.DATA}


def compare_estimators(
    data: Annotated[
        str,
        typer.Argument(
            metavar="DATA",
            autocompletion=files_and_data_sets,
            help="One point per row: .npy, .npz, .csv, .tsv, .parquet; or the name of a graph from "
            "`geodim datasets list`.",
        ),
    ],
    estimators: Annotated[
        str,
        typer.Option(
            metavar="NAMES",
            autocompletion=among("mle", "twonn", "lPCA", "FisherS", "CorrInt", "KNN", "DANCo", "ESS"),
            help="mle, twonn, or any estimator of scikit-dimension by name: lPCA, FisherS, skdim:MLE, ...",
        ),
    ] = "mle,twonn",
    hops: Annotated[
        int | None,
        typer.Option(
            metavar="K",
            min=0,
            max=MOST_HOPS,
            help="For graphs: the attributes together with those after 1, ..., K hops.",
        ),
    ] = None,
    root: Root = None,
    edges: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Edges between the rows of DATA, as pairs of row numbers counted from 0."
        ),
    ] = None,
    columns: Columns = None,
    exclude: Exclude = None,
    drop_missing: DropMissing = False,
    header: Header = None,
    neighbors: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=2,
            help="Neighbours per point; by default, 5 for mle, and what every other estimator prefers.",
        ),
    ] = None,
    rtol: Annotated[
        float,
        typer.Option(metavar="E", min=0.0, help="For geodim: how close the bounds must be; 0 means exact."),
    ] = 0.0,
    seed: Annotated[
        int, typer.Option(metavar="N", min=0, help="The seed of samples and random methods.")
    ] = 0,
    threads: Annotated[
        int | None,
        typer.Option(
            rich_help_panel=RUNNING,
            metavar="N",
            min=1,
            max=MOST_THREADS,
            help="Threads per estimator; by default, all cores.",
        ),
    ] = None,
    time_limit: Annotated[
        float | None,
        typer.Option(
            rich_help_panel=RUNNING,
            metavar="SECONDS",
            min=0.0,
            help="Limit for each estimator; geodim then gives the bounds found so far.",
        ),
    ] = None,
    json: Json = None,
    report: Report = None,
    quiet: Annotated[
        bool,
        typer.Option(
            "--quiet",
            "-q",
            rich_help_panel=OUTPUT,
            help="No progress; on a terminal, only names and numbers.",
        ),
    ] = False,
) -> None:
    """Compare geodim with other estimators of dimension, with time and memory.

    They answer different questions. geodim computes how well the features still tell the points apart, with
    certified bounds. The others estimate, from distances between neighbours, how many coordinates would
    describe the points.

    The estimators run one after the other, each in a process of its own. The time starts once the data is
    read and the code is compiled. The memory is the peak of the process above what it holds at that moment.
    An estimator that fails gets a row that says why. In a pipe the answer is one line of JSON.

    **Examples**

    * `geodim estimators embeddings.npy`
    * `geodim estimators iris.csv --exclude species --estimators mle,twonn,lPCA,FisherS --json iris.json`
    * `geodim estimators cora --hops 2`
    * `geodim estimators points.parquet | jq '.rows[] | {estimator, value}'`
    """
    check_report(report)
    names = parse_estimators(estimators)
    job: dict[str, Any] = {
        **_where(data, hops, root, edges, columns, exclude),
        "header": header,
        "drop_missing": drop_missing or None,
        "neighbors": neighbors,
        "rtol": rtol,
        "seed": seed,
        "threads": threads,
        "time_limit": time_limit,
    }
    if drop_missing and (job["file"] is None or edges is not None):
        raise typer.BadParameter("nodes of a graph cannot be left out", param_hint="--drop-missing")
    inputs = [edges, data if job["file"] else dataset_folder(data, root)]
    check_files({"--json": json, "--report": report}, inputs)
    with (
        readable(None if job["file"] is None else Path(data), TABLE) as file,
        readable(edges, EDGES) as pairs,
    ):
        read = {"file": None if file is None else str(file), "edges": None if pairs is None else str(pairs)}
        rows, interrupted = _all_rows({**job, **read}, names, quiet=quiet)
    ours = rows[0].pop("result", None)
    document = _document(job, rows)
    if json is not None:
        with writable(json, ".json") as path:
            json_text(document, path)
    if report is not None and ours is not None:
        from geodim.display.html.document import report as write_report
        from geodim.display.html.sources import as_result

        with writable(report, ".html") as page:
            write_report([with_provenance(as_result(ours), data)], page, estimates=rows)
    terminal = out()
    if answered(json, report):
        pass
    elif not terminal.is_terminal:
        print_json(document)
    elif quiet:
        print(*(f"{row['estimator']} {_number(row['value'])}" for row in rows), sep="\n")
    else:
        _show(rows, data if hops is None else f"{data}, hops 0 to {hops}", terminal)
        print_all_written(terminal, json, report if ours is not None else None)
    if interrupted or any(row["stopped"] for row in rows):
        raise typer.Exit(int(ExitCode.STOPPED))
    failed = [row["error"] for row in rows if row["error"] is not None]
    if len(failed) == len(rows):
        raise typer.Exit(int(CODES.get(failed[0]["kind"], ExitCode.UNEXPECTED)))


def parse_estimators(text: str) -> list[str]:
    """Return names in full, ours first, each once; one that does not exist is a wrong argument.

    >>> parse_estimators("TwoNN, mle")
    ['geodim', 'twonn', 'mle']
    """
    names = ["geodim"]
    for word in filter(None, (word.strip() for word in text.split(","))):
        if word.lower() in ESTIMATORS:
            names.append(word.lower())
            continue
        name = word[len("skdim:") :] if word.lower().startswith("skdim:") else word
        try:
            from geodim.baselines.skdim import find_skdim_name

            names.append(f"skdim:{find_skdim_name(name)}")
        except MissingExtraError:
            names.append(f"skdim:{name}")  # its row will report what is missing
        except InputValueError as error:
            ours = ", ".join(list(ESTIMATORS)[1:])
            raise typer.BadParameter(f"{error}; here are {ours}", param_hint="--estimators") from error
    return list(dict.fromkeys(names))


def _where(
    data: str,
    hops: int | None,
    root: Path | None,
    edges: Path | None,
    columns: str | None,
    exclude: str | None,
) -> dict[str, Any]:
    """Return where the data is: a file with its columns, two files of a graph, or a name."""
    from pathlib import Path

    from geodim.data.tables import SUFFIXES

    plain = data.partition(".npz:")[0] + ".npz" if ".npz:" in data else data
    is_file = is_dash(data) or plain.lower().endswith(SUFFIXES) or Path(plain).exists() or "/" in data
    choosing = columns is not None or exclude is not None
    if not is_file and (edges is not None or choosing):
        option = "--edges" if edges is not None else "--columns and --exclude"
        raise typer.BadParameter(f"{option} go with a file, not with the name {data!r}", param_hint="DATA")
    if is_file and edges is None and hops is not None:
        raise typer.BadParameter(f"hops need a graph: give the --edges of {data}", param_hint="--hops")
    if edges is not None and choosing:
        raise typer.BadParameter("together with --edges all columns are used", param_hint="--columns")
    if not is_file:
        from geodim.cli.datasets import describe

        describe(data, root, "DATA")
    return {
        "file": data if is_file else None,
        "name": None if is_file else data,
        "root": None if root is None else str(root),
        "edges": None if edges is None else str(edges),
        "hops": hops or 0,
        "columns": columns,
        "exclude": exclude,
    }


def _all_rows(job: dict[str, Any], names: Sequence[str], *, quiet: bool) -> tuple[list[dict[str, Any]], bool]:
    """Run one estimator after the other; Ctrl-C keeps the rows so far."""
    rows: list[dict[str, Any]] = []
    with _progress(quiet=quiet) as say:
        for at, name in enumerate(names):
            keeps = ", Ctrl-C keeps the rows so far" if rows else ""
            say(f"{name} ({at + 1} of {len(names)}{keeps})")
            try:
                rows.append(_one_row({**job, "estimator": name}))
            except KeyboardInterrupt:
                if not rows:
                    raise
                left = {"kind": "interrupted", "message": "not run: interrupted"}
                rows.extend(_row(other, {"error": left}) for other in names[at:])
                return rows, True
    return rows, False


def _one_row(job: dict[str, Any]) -> dict[str, Any]:
    name = job["estimator"]
    with subprocess.Popen(
        [sys.executable, "-m", "geodim.cli.estimators_child"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        errors="replace",  # what libraries print before Python starts may be in any encoding
    ) as child:
        try:
            return _row(name, _listen(child, job))
        except BaseException:
            child.kill()
            raise


def _listen(child: subprocess.Popen[str], job: dict[str, Any]) -> dict[str, Any]:
    """Send the job, wait for the data to be read, then for the answer as long as the limit allows."""
    from threading import Thread

    assert child.stdin is not None
    assert child.stdout is not None
    assert child.stderr is not None
    said: list[str] = []  # drained continuously: a full pipe would block the child
    listener = Thread(target=said.extend, args=(child.stderr,), daemon=True)
    listener.start()
    try:
        child.stdin.write(f"{json_.dumps(job)}\n")
        child.stdin.flush()  # stays open until either process ends: see `geodim.cli.lifeline`
    except OSError:  # the child has already ended
        with suppress(OSError):
            child.stdin.close()
    limit = None if job["time_limit"] is None else min(job["time_limit"], MOST_SECONDS)
    first = child.stdout.readline().strip()
    answers: list[str] = []
    if first == READY:
        reader = Thread(
            target=lambda: answers.append(child.stdout.read() if child.stdout else ""), daemon=True
        )
        reader.start()
        patience = PATIENCE if job["estimator"] == "geodim" else 0.0
        reader.join(None if limit is None else limit + patience)
        if reader.is_alive():
            child.kill()
            reader.join()
            return {"stopped": "time limit", "seconds": limit, "note": f"stopped after {limit:g} s"}
        first = answers[0].strip()
    code = child.wait()
    listener.join()
    if first:
        found: dict[str, Any] = json_.loads(first)
        if found.get("stage") == "load":
            _raise(found["error"])
        return found
    if code in INTERRUPTED:
        raise KeyboardInterrupt
    reason = f"killed by signal {-code}, perhaps for lack of memory" if code < 0 else f"exit status {code}"
    last = "".join(said).strip().rpartition("\n")[2]
    return {"error": {"kind": "unexpected", "message": f"ended without an answer ({reason}) {last}".strip()}}


def _raise(error: dict[str, str]) -> NoReturn:
    """Exit with the code that `compute` would have: no estimator could read or use this data."""
    print_error(error["message"])
    raise typer.Exit(int(CODES.get(error["kind"], ExitCode.UNEXPECTED)))


def _row(name: str, found: dict[str, Any]) -> dict[str, Any]:
    keys = ("value", "lower", "upper", "seconds", "peak_bytes", "n_used", "n_zero", "n_neighbors", "seed")
    row = {"estimator": name, **{key: found.get(key) for key in keys}}
    row |= {"note": found.get("note", ""), "stopped": found.get("stopped"), "error": found.get("error")}
    for key in ("n_points", "n_features", "parameters", "versions", "result"):
        if key in found:
            row[key] = found[key]
    return row


def _document(job: dict[str, Any], rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Return everything as one document, with sizes and versions once."""
    sizes: dict[str, Any] = {}
    versions: dict[str, str] = {}
    for row in rows:
        sizes |= {key: row.pop(key) for key in ("n_points", "n_features") if key in row}
        versions |= row.pop("versions", {})
    source = {
        key: job[key]
        for key in ("file", "name", "edges", "columns", "exclude", "header", "drop_missing")
        if job[key] is not None
    }
    if job["file"] is None or job["edges"] is not None:
        source["hops"] = job["hops"]
    options = {key: job[key] for key in ("neighbors", "rtol", "seed", "threads", "time_limit")}
    return {"format": FORMAT, **source, **sizes, "options": options, "rows": rows, "versions": versions}


@contextmanager
def _progress(*, quiet: bool) -> Iterator[Any]:
    """Say which estimator runs, if there is a terminal."""
    console = err()
    if quiet or not console.is_terminal:
        with nullcontext():
            yield lambda text: None  # noqa: ARG005
        return
    with console.status("") as status:
        yield status.update


def _number(value: object) -> str:
    if value is None:
        return "-"
    return f"{value:.6g}" if isinstance(value, (int, float)) else str(value)


def _show(rows: list[dict[str, Any]], title: str, terminal: Console) -> None:
    from rich.table import Table
    from rich.text import Text

    table = Table(
        title=Text(visible(title), style="bold"), title_justify="left", box=None, header_style="bold"
    )
    for heading in ("estimator", "dimension", "bounds", "time", "memory"):
        table.add_column(heading, justify="left" if heading == "estimator" else "right", no_wrap=True)
    table.add_column("note", overflow="fold")
    for row in rows:
        bounds = ""
        if row["lower"] is not None:
            low, high = _number(row["lower"]), _number(row["upper"])
            bounds = "equal" if row["lower"] == row["upper"] else f"{low} .. {high}"
        failed = row["error"] is not None
        table.add_row(
            Text(row["estimator"]),
            Text(_number(row["value"]), style="bold green" if row["estimator"] == "geodim" else ""),
            bounds,
            "" if row["seconds"] is None else f"{row['seconds']:.3g} s",
            "" if row["peak_bytes"] is None else f"{row['peak_bytes'] / 1e6:.3g} MB",
            Text(
                visible(row["error"]["message"] if failed else row["note"]), style="red" if failed else "dim"
            ),
        )
    terminal.print(table)
