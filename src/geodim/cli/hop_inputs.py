"""The inputs of ``geodim hops``: sizes, operators, a named data set or files."""

from __future__ import annotations

import re
from contextlib import nullcontext
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any

import typer

from geodim.cli.dash import as_named
from geodim.cli.datasets import describe, naming_files
from geodim.cli.wording import usage
from geodim.errors import InputTypeError

UNITS = {"": 1, "B": 1} | {
    prefix + unit: base**power
    for power, prefix in enumerate("KMGT", start=1)
    for unit, base in (("B", 1000), ("IB", 1024))
}
MOST_BYTES = 1e18


class FeatureType(StrEnum):
    """The types that hops may be rounded to."""

    float32 = "float32"
    float64 = "float64"


class OperatorName(StrEnum):
    """The operators that one hop may apply."""

    sym = "sym"
    rw = "rw"
    ppr = "ppr"
    heat = "heat"


def parse_memory(text: str, option: str = "--memory") -> int:
    """Return bytes of "8GB" (powers of 1000), "8GiB" (powers of 1024) or plain bytes.

    >>> parse_memory("1.5 GiB")
    1610612736
    """
    found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([A-Za-z]*)\s*", text)
    if found and found[2].upper() in UNITS:
        size = float(found[1]) * UNITS[found[2].upper()]
        if 1.0 <= size <= MOST_BYTES:
            return int(size)
    raise typer.BadParameter(f"{text!r} is not a size: write 8GB, 8GiB, 500MB or bytes", param_hint=option)


def operator_parameters(
    operator: OperatorName, alpha: float | None, t: float | None, order: int | None
) -> dict[str, Any]:
    """Return the given parameters of the operator; raise for those of another one."""
    takers = {"alpha": ("ppr",), "t": ("heat",), "order": ("ppr", "heat")}
    given = {key: value for key, value in (("alpha", alpha), ("t", t), ("order", order)) if value is not None}
    for key in given:
        if operator.value not in takers[key]:
            hint = " or ".join(f"--operator {taker}" for taker in takers[key])
            raise typer.BadParameter(f"only {hint} takes it, not {operator.value}", param_hint=f"--{key}")
    if given:
        from geodim.data.graphs import as_graph
        from geodim.features import make_operator

        with usage():  # on the smallest graph, before a large one is read
            make_operator(as_graph([(0, 1)], 2), operator.value, **given)
    return given


def check_inputs(
    name: str | None, features: Path | None, edges: Path | None, edge_weights: str | None
) -> str | bool | None:
    """Check that either a name or both files are given; return the edge weights for `as_graph`."""
    if name is not None and (features is not None or edges is not None):
        raise typer.BadParameter("give either NAME or --features and --edges, not both", param_hint="NAME")
    if name is not None and Path(name).suffix and Path(name).is_file():
        raise typer.BadParameter(
            f"{name} is a file, not the name of a data set: give attributes with --features FILE, and edges "
            "with --edges FILE",
            param_hint="NAME",
        )
    if name is None and (features is None or edges is None):
        raise typer.BadParameter(
            "give the NAME of a data set, or both --features and --edges", param_hint="NAME"
        )
    if edge_weights is not None and edges is None:
        raise typer.BadParameter(
            "the named data sets have no weights: it needs --edges", param_hint="--edge-weights"
        )
    return True if edge_weights == "2" else edge_weights


@dataclass
class Given:
    """What to measure: attributes, edges, and their names."""

    x: object
    graph: object
    title: str
    source: dict[str, str]
    watch: Any = field(default_factory=nullcontext)  # watches the files that the workers of a cluster read


def load(
    name: str | None,
    root: Path | None,
    features: Path | None,
    edges: Path | None,
    *,
    header: bool | None = None,
    lazily: bool = False,
) -> Given:
    """Open the named data set, or the two files; ``lazily`` leaves attributes to the workers of a cluster."""
    if name is None:
        from geodim.cli.tables import told
        from geodim.data.boundary import check_regular
        from geodim.data.tables import open_table
        from geodim.data.tables.lazy import open_lazily
        from geodim.data.unchanged import Watch

        assert features is not None
        assert edges is not None
        check_regular(edges)  # before the features are read, which may take long
        source = {"features": as_named(str(features)), "edges": as_named(str(edges))}
        watch = Watch.of(features)
        table = open_lazily(features) if lazily else None
        title = ", ".join(source.values())
        if table is None:
            try:
                data = told(open_table(features, header=header)).data
            except InputTypeError as error:  # this command takes all columns
                raise InputTypeError(str(error).replace(" (exclude)", "")) from error
            return Given(data, edges, title, source)
        return Given(table.data, edges, title, source, watch)
    from geodim.data.datasets import load_dataset

    described = describe(name, root)
    with naming_files(described, root):
        data = load_dataset(described.name, root, offline=True)
    return Given(data.x, data.edge_index, data.name, {"name": data.name})
