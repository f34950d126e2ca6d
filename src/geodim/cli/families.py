"""Which features, on the command line: options, and what they mean."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from geodim.families.protocol import Family

FAMILY_HELP = (
    "coordinates (the columns), distances (from every point), directions, pixels, patches or terms; several, "
    "with commas, are a union"
)
Metric = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="For distances: euclidean, manhattan, chebyshev, cosine, chord, hamming, jaccard, edit, "
        "shortest_path, precomputed.",
    ),
]
Landmarks = Annotated[
    int | None,
    typer.Option(
        metavar="N", min=1, help="Measure distances from N points only, with bounds for all points."
    ),
]
By = Annotated[
    str | None,
    typer.Option(metavar="diameter", help="For a union: divide each family by its own diameter first."),
]


def named_features(text: str, by: str | None, option: str) -> str | list[str] | None:
    """The features of these names; None if it is none.

    One name stands for itself, several are a union.
    """
    from geodim.families.choose import FAMILIES

    names = [name.strip() for name in text.split(",")]
    if not all(name in FAMILIES for name in names):
        return None
    if by is not None and by != "diameter":
        raise typer.BadParameter(f"it is diameter or nothing, not {by!r}", param_hint="--by")
    if len(names) == 1:
        if by is not None:
            raise typer.BadParameter(f"it is for several families: {option} coordinates,distances",
                                     param_hint="--by")  # fmt: skip
        return names[0]
    return names


def chosen_family(
    features: object, metric: str | None, landmarks: int | None, by: str | None
) -> Family | None:
    """The family that these options mean; None for the columns."""
    from geodim.families.choose import family_of
    from geodim.families.union import Union

    family = family_of(features, metric, landmarks)
    return Union(family.members, by) if isinstance(family, Union) else family
