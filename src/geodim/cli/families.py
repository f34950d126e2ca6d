"""The command-line options that choose features, and what they mean."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from geodim.cli.completing import FAMILIES, METRICS, among
from geodim.cli.panels import FEATURES
from geodim.cli.wording import usage

if TYPE_CHECKING:
    from geodim.families.protocol import Family

FAMILY_HELP = (
    "coordinates (the columns), distances (from every point), directions, pixels, patches or terms. Several "
    "names, separated by commas, form a union."
)
OF_OTHER_THINGS = ("jaccard", "edit", "shortest_path", "precomputed")  # metrics without coordinates
TableFeatures = Annotated[
    str,
    typer.Option(
        rich_help_panel=FEATURES,
        metavar="FAMILY",
        autocompletion=among(*FAMILIES[:3]),
        help="coordinates (the columns), distances (from every point) or directions. Several names, "
        "separated by commas, form a union.",
    ),
]
Metric = Annotated[
    str | None,
    typer.Option(
        rich_help_panel=FEATURES,
        metavar="NAME",
        autocompletion=among(*METRICS),
        help="For distances: euclidean, manhattan, chebyshev, cosine, chord, hamming, jaccard, edit, "
        "shortest_path, precomputed.",
    ),
]
Landmarks = Annotated[
    int | None,
    typer.Option(
        rich_help_panel=FEATURES,
        metavar="N",
        min=1,
        help="Measure distances from N points only; the bounds hold for all points.",
    ),
]
By = Annotated[
    str | None,
    typer.Option(
        rich_help_panel=FEATURES,
        metavar="diameter",
        autocompletion=among("diameter"),
        help="For a union: divide each family by its own diameter first.",
    ),
]


def named_features(text: str, by: str | None, option: str) -> str | list[str] | None:
    """Return the features of these names; None if there are none.

    One name stands for itself, several are a union.
    """
    from geodim.families import choose

    names = [name.strip() for name in text.split(",")]
    if not all(name in choose.FAMILIES for name in names):
        return None
    if by is not None and by != "diameter":
        raise typer.BadParameter(f"the only value is diameter, not {by!r}", param_hint="--by")
    if len(names) == 1:
        if by is not None:
            raise typer.BadParameter(f"it is for several families: {option} coordinates,distances",
                                     param_hint="--by")  # fmt: skip
        return names[0]
    return names


def chosen_family(
    features: object, metric: str | None, landmarks: int | None, by: str | None
) -> Family | None:
    """Return the family that these options mean; None for the columns."""
    from geodim.families.choose import family_of
    from geodim.families.metrics import metric_of
    from geodim.families.union import Union

    with usage():
        family = family_of(features, metric, landmarks)
        if metric is not None and metric not in OF_OTHER_THINGS:
            metric_of(metric)
    return Union(family.members, by) if isinstance(family, Union) else family


def table_features(features: str, metric: str | None, landmarks: int | None) -> Family | str:
    """Return what a command for tables measures: the columns, or families of features made from them."""
    from geodim.families import choose

    named = named_features(features, None, "--features")
    if named is None:
        words = f"{features!r} is not one of {', '.join(choose.FAMILIES)}"
        raise typer.BadParameter(words, param_hint="--features")
    family = chosen_family(named, metric, landmarks, None)
    if not getattr(family, "takes_tables", True):
        raise typer.BadParameter(
            "texts, images and graphs are measured by `geodim compute`; this takes tables of numbers",
            param_hint="--features" if metric is None else "--metric",
        )
    return family or "coordinates"


def check_family_options(family: object, scale: object, *, count_duplicates: bool = False) -> None:
    """Raise for options that features made from points do not support."""
    from geodim.data.scales import Scale

    if family is None or family == "coordinates":
        return
    if count_duplicates:
        raise typer.BadParameter(
            "equal points are counted by their coordinates: --features coordinates",
            param_hint="--count-duplicates",
        )
    if Scale.of(scale).own:
        raise typer.BadParameter(
            "it divides columns of a table; features that are made from points have one unit: leave it out, "
            "scale the points first, or name several families and give --by diameter",
            param_hint="--scale",
        )
