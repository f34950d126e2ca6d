"""What ``geodim compute`` reads that is no table of numbers: texts, images and graphs."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any

import typer

from geodim.errors import InputTypeError, InputValueError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

Blur = Annotated[
    int | None,
    typer.Option(metavar="N", min=0, help="For pixels: blur by so many hops on the pixel grid."),
]
PatchSize = Annotated[
    int | None, typer.Option(metavar="N", min=1, help="For patches: rows and columns of one, 3 by default.")
]
Weighting = Annotated[
    str | None, typer.Option(metavar="NAME", help="For terms: tfidf (by default), count or binary.")
]
EdgeWeights = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN",
        help="For shortest_path: lengths of the edges, from this column of FILE; 2 is the third one.",
    ),
]
Disconnected = Annotated[
    str | None,
    typer.Option(
        metavar="RULE",
        help="For shortest_path, if some nodes have no path between them: component (the largest alone), "
        "beyond (an edge farther apart than any others), or their distance.",
    ),
]
VALUES = ("pixels", "patches", "terms")


def is_table(family: str, metric: str | None, file: Path | None) -> bool:
    """Whether a file holds a table of numbers, rather than texts, images or a graph."""
    from geodim.data.tables.read import SUFFIXES

    if family in VALUES:
        return False
    if metric == "jaccard" and file is not None:  # of rows of zeros and ones, or of lines of text
        return str(file).lower().partition(":")[0].endswith(SUFFIXES)
    return metric not in ("edit", "shortest_path")


def only_for_tables(given: dict[str, Any]) -> None:
    """Raise for an option that tables have, and texts, images and graphs do not."""
    for option, value in given.items():
        if value is not None and value is not False:
            raise typer.BadParameter("this is for tables of numbers only", param_hint=option)


def asked_for(
    family: str,
    metric: str | None,
    landmarks: int | None,
    *,
    blur: int | None,
    patch_size: int | None,
    weighting: str | None,
    edge_weights: str | None,
    disconnected: str | None,
) -> dict[str, Any]:
    """Arguments of `intrinsic_dimension` for the features that are meant."""
    for option, value, taker, takes in (
        ("--blur", blur, "--features pixels", family == "pixels"),
        ("--patch-size", patch_size, "--features patches", family == "patches"),
        ("--weighting", weighting, "--features terms", family == "terms"),
        ("--edge-weights", edge_weights, "--metric shortest_path", metric == "shortest_path"),
        ("--disconnected", disconnected, "--metric shortest_path", metric == "shortest_path"),
    ):
        if value is not None and not takes:
            raise typer.BadParameter(f"only {taker} takes it", param_hint=option)
    from geodim.families import Distances, Patches, Pixels, Terms

    features: Any = family
    if blur is not None:
        features = Pixels(blur=blur)
    elif patch_size is not None:
        features = Patches(size=patch_size)
    elif weighting is not None:
        features = Terms(weighting=weighting)
    elif family == "distances" and (edge_weights is not None or disconnected is not None):
        weights = True if edge_weights == "2" else edge_weights
        rule = _number(disconnected or "error")
        features = Distances(metric=metric, landmarks=landmarks, edge_weights=weights, disconnected=rule)
        metric = landmarks = None
    return {"features": features, "metric": metric, "landmarks": landmarks}


@contextmanager
def opened_objects(file: Path) -> Iterator[tuple[str, None]]:
    """What to hand to `intrinsic_dimension`: it reads the file, or the folder; errors within name it."""
    try:
        yield str(file), None  # of a graph it may be the name of a data set
    except (InputValueError, InputTypeError) as error:
        if str(file) in str(error):
            raise
        raise type(error)(f"{file}: {error}") from error


def _number(text: str) -> str | float:
    try:
        return float(text)
    except ValueError:
        return text
