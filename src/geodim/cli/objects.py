"""Inputs of ``geodim compute`` other than tables of numbers: texts, images and graphs."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

from geodim.arguments import one_of
from geodim.cli.dash import EDGES, is_dash, readable
from geodim.cli.panels import FEATURES
from geodim.cli.wording import usage
from geodim.errors import InputTypeError, InputValueError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from geodim.families.protocol import Family

Blur = Annotated[
    int | None,
    typer.Option(
        rich_help_panel=FEATURES,
        metavar="N",
        min=0,
        help="For pixels: blur by N hops on the pixel grid.",
    ),
]
PatchSize = Annotated[
    int | None,
    typer.Option(
        rich_help_panel=FEATURES,
        metavar="N",
        min=1,
        help="For patches: the height and width of a patch in pixels; 3 by default.",
    ),
]
Weighting = Annotated[
    str | None,
    typer.Option(
        rich_help_panel=FEATURES, metavar="NAME", help="For terms: tfidf (the default), count or binary."
    ),
]
EdgeWeights = Annotated[
    str | None,
    typer.Option(
        rich_help_panel=FEATURES,
        metavar="COLUMN",
        help="For shortest_path: the column of FILE with the lengths of the edges; 2 is the third column.",
    ),
]
Disconnected = Annotated[
    str | None,
    typer.Option(
        rich_help_panel=FEATURES,
        metavar="RULE",
        help="For shortest_path, if no path joins some nodes: component (keep the largest component only), "
        "beyond (the largest distance plus one longest edge), or a number to use as their distance.",
    ),
]


def with_options(
    family: Family | None,
    *,
    blur: int | None,
    patch_size: int | None,
    weighting: str | None,
    edge_weights: str | None,
    disconnected: str | None,
) -> Family | None:
    """Return the family or union whose members have these options; a member must take each option."""
    from geodim.families import Distances, Patches, Pixels, Terms, Union
    from geodim.families.terms import WEIGHTINGS

    lengths = True if edge_weights == "2" else edge_weights
    rule = None if disconnected is None else _number(disconnected)
    with usage():
        if isinstance(rule, str):
            one_of(rule, "disconnected", ("component", "beyond", "error"))
        if weighting is not None:
            one_of(weighting, "weighting", WEIGHTINGS)
    members = family.families() if isinstance(family, Union) else [family]
    for option, field, value, kind, needs in (
        ("--blur", "blur", blur, Pixels, "--features pixels"),
        ("--patch-size", "size", patch_size, Patches, "--features patches"),
        ("--weighting", "weighting", weighting, Terms, "--features terms"),
        ("--edge-weights", "edge_weights", lengths, Distances, "--metric shortest_path"),
        ("--disconnected", "disconnected", rule, Distances, "--metric shortest_path"),
    ):
        if value is None:
            continue
        takes = [
            isinstance(member, kind) and getattr(member, "metric", "shortest_path") == "shortest_path"
            for member in members
        ]
        if not any(takes):
            raise typer.BadParameter(f"only {needs} takes it", param_hint=option)
        members = [
            replace(member, **{field: value}) if taken else member  # type: ignore[type-var]
            for member, taken in zip(members, takes, strict=True)
        ]
    return Union(members, family.by) if isinstance(family, Union) else members[0]


def is_table(family: Family | None, file: Path | None) -> bool:
    """Return whether a file holds a table of numbers, rather than texts, images or a graph."""
    from geodim.data.tables.read import SUFFIXES
    from geodim.families import Union

    name = "" if file is None else str(file).lower()
    named = name.endswith(SUFFIXES) or ".npz:" in name  # not the colon of a drive such as C:
    for member in family.families() if isinstance(family, Union) else [family]:
        # Sets are rows of zeros and ones, or lines of text.
        sets = getattr(member, "metric", None) == "jaccard" and named
        if not getattr(member, "takes_tables", True) and not sets:
            return False
    return True


def only_for_tables(given: dict[str, object]) -> None:
    """Raise for an option that only applies to tables, not to texts, images and graphs."""
    for option, value in given.items():
        if value is not None and value is not False:
            raise typer.BadParameter("this is for tables of numbers only", param_hint=option)


@contextmanager
def opened_objects(file: Path, family: Family | None) -> Iterator[tuple[str, None]]:
    """Provide the path for `intrinsic_dimension`, which reads the file or folder; errors name it."""
    from geodim.families import Patches, Pixels, Union

    members = family.families() if isinstance(family, Union) else [family]
    graph = any(getattr(member, "metric", None) == "shortest_path" for member in members)
    if is_dash(file) and any(isinstance(member, Pixels | Patches) for member in members):
        raise typer.BadParameter("images are read from a folder, not from a stream", param_hint="FILE")
    suffix = EDGES if graph else ".txt"
    try:
        with readable(file, suffix) as path:
            yield str(path), None  # for a graph, it may be the name of a data set
    except (InputValueError, InputTypeError) as error:
        if str(file) in str(error):
            raise
        raise type(error)(f"{file}: {error}") from error


def _number(text: str) -> str | float:
    try:
        return float(text)
    except ValueError:
        return text
