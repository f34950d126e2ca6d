"""What the page says about each result, as plain values for its template.

Words, pictures, tables, and how it was made.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from geodim.display.html import figures, text
from geodim.display.html.gauge import gauge_picture
from geodim.display.html.static import curve_picture, line_picture
from geodim.display.table import ReportTable
from geodim.explain.advice import advise
from geodim.khop_result import KHopResult
from geodim.removal import TIE_RULE
from geodim.result import IDResult
from geodim.words import counted, fine_percent, number, percent

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from geodim.display.html.figures import Names
    from geodim.display.html.sources import Item
    from geodim.explain.select import FeatureSelection

__all__ = ["estimates_table", "how_made", "result_values"]

ROWS = 25  # rows of a table without scripts; the scripts page through all of them


def result_values(item: Item, key: str, names: Names) -> dict[str, Any]:
    """Return everything about one result; the values for its scripts are under ``data``."""
    if isinstance(item.result, KHopResult):
        found = _hops(item.result, names)
    elif isinstance(item.result, IDResult):
        found = _dimension(item.result, names)
    else:
        found = _selection(item.result, names)
    return {"key": key, "title": item.title, **found, "data": {"title": item.title, **found["data"]}}


def _dimension(result: IDResult, names: Names) -> dict[str, Any]:
    curve, features = figures.curve(result, names), figures.features(result, names)
    return {
        "data": {"kind": "dimension", "curves": [curve], "features": [features]},
        "value": text.dimension_text(result),
        "label": "intrinsic dimension",
        "note": text.kind_text(result),
        **_standing(result),
        "alerts": result.alerts,
        "words": text.describe_dimension(result),
        "advice": [],
        "hops": None,
        **_carried(result, curve, hops=False),
    }


def _hops(result: KHopResult, names: Names) -> dict[str, Any]:
    curves = [figures.curve(one, names) for one in result]
    rows, last = figures.hop_rows(result), result[result.hops]
    # Advice on the number of hops; the bounds of a stopped pass are not enough for that.
    advice = None if result[0].stopped else advise(result)
    k = result.hops if advice is None else advice.hops
    return {
        "data": {
            "kind": "hops",
            "curves": curves,
            "features": [figures.features(one, names) for one in result],
            "hops": rows,
            "sentences": [text.hop_sentence(result, k) for k in range(len(result))],
            "featureWords": [text.features_words(one, hops=True) for one in result],
        },
        "value": text.dimension_text(result[k]),
        "label": f"intrinsic dimension with {text.hops_label(result, k)}",
        "note": text.hops_note(result, k),
        **_standing(result[k]),
        "alerts": result.alerts,
        "words": text.describe_hops(result),
        "advice": [] if advice is None else advice.text.split("\n"),
        "hops": {
            "last": result.hops,
            "sentence": text.hop_sentence(result, result.hops),
            "table": _hop_table(result),
            "picture": line_picture(
                rows["dimension"],
                "k, number of hops",
                "intrinsic dimension",
                "Intrinsic dimension against the number of hops; the numbers are in the table below.",
            ),
        },
        **_carried(last, curves[-1], hops=True),
    }


def _standing(result: IDResult) -> dict[str, Any]:
    """Return where the number stands among those of known columns, as a picture and in words."""
    gauge = result.gauge
    if gauge is None:
        return {"gauge": None, "verdict": ""}
    return {"gauge": gauge_picture(gauge), "verdict": gauge.verdict}


def _carried(result: IDResult, curve: dict[str, Any], *, hops: bool) -> dict[str, Any]:
    """Return what follows from the curve, and which features carry it."""
    return {
        "steps": text.next_steps(result, hops=hops),
        "picture": curve_picture(curve),
        "curve_words": text.curve_words(result),
        "features_words": text.features_words(result, hops=hops),
        "features": _feature_table(result, hops=hops) if result.shares else None,
    }


def _selection(selection: FeatureSelection, names: Names) -> dict[str, Any]:
    rows = figures.selection_rows(selection, names)
    cells = [
        [
            row["feature"],
            str(row["rank"]),
            percent(gain or 0.0),
            fine_percent(row["fraction"]),
            number(row["dimension"]),
        ]
        for row, gain in zip(selection.rows()[:ROWS], rows["gain"], strict=False)
    ]
    return {
        "data": {"kind": "selection", "selection": rows},
        "value": fine_percent(selection.fractions[-1]),
        "label": "of the discriminability",
        "note": f"reached by {counted(len(selection.names), 'feature')} of {selection.n_features:,}",
        "gauge": None,
        "verdict": "",
        "alerts": selection.alerts,
        "steps": [],
        "words": text.describe_selection(selection),
        "picture": line_picture(
            [0.0, *rows["fraction"]],
            "features chosen",
            "part of Δ",
            "Part of the discriminability reached against the number of features chosen.",
            zero=True,
        ),
        "features": ReportTable(
            ["feature", "choice", "adds", "together", "dimension"],
            cells,
            {1, 2, 3, 4},
            _caption("Chosen features", len(cells), len(selection.names)),
        ),
    }


def _hop_table(result: KHopResult) -> ReportTable:
    rows = []
    for row, one in zip(result.rows(), result, strict=True):
        bounds = f"{number(one.lower, 6)} – {number(one.upper, 6)}"
        drop = "" if row["drop"] is None or one.stopped else fine_percent(row["drop"])
        known = text.kind_text(one) if one.one_number else bounds
        rows.append(
            [str(row["k"]), text.dimension_text(one), known, drop, number(one.discriminability)],
        )
    head = ["hops k", "intrinsic dimension", "certified bounds", "drop", "discriminability Δ"]
    return ReportTable(head, rows, {1, 2, 3, 4}, "Dimensions by number of hops", stacked=True)


def _feature_table(result: IDResult, *, hops: bool) -> ReportTable:
    rows = []
    total = 0.0
    removal = result.removal
    for at, (name, share) in enumerate(list(result.shares.items())[:ROWS], 1):
        hop, attribute = figures.hop_of(name) if hops else (0, name)
        total += share
        worth = [] if removal is None else [number(removal.without[name], 6), percent(removal.alone[name])]
        rows.append(
            [attribute, str(at), *([str(hop)] if hops else []), *worth[:1], percent(share), *worth[1:],
             percent(total)]
        )  # fmt: skip
    head = ["feature", "rank", *(["hop"] if hops else []), "share", "together"]
    if removal is not None:
        at = head.index("share")
        head[at : at + 1] = ["dimension without it", "share", "of it alone"]
    caption = _caption("Features by share of the discriminability", len(rows), len(result.shares))
    if len(result.shares) > 1 and result.phi_exact:
        caption += f"; {TIE_RULE}"
    return ReportTable(head, rows, set(range(1, len(head))), caption)


def _caption(what: str, shown: int, total: int) -> str:
    return f"{what} (all {total:,})" if shown == total else f"{what} (the first {shown:,} of {total:,})"


def how_made(item: Item) -> dict[str, Any]:
    """Return parameters, versions and the command, so that the result can be reproduced."""
    command = item.parameters.get("command")
    kept = {name: value for name, value in item.parameters.items() if name not in ("command", "data")}
    facts = [(_words(name), _value(value)) for name, value in kept.items() if value is not None]
    if isinstance(item.result, KHopResult):
        for what, values in (("operator", item.result.operator), ("graph", item.result.graph)):
            facts += [(f"{what}: {_words(name)}", _value(value)) for name, value in values.items()]
    facts.append(("time", f"{number(item.seconds, 3)} s"))
    facts.append(("versions", ", ".join(f"{name} {version}" for name, version in item.versions.items())))
    return {"title": item.title, "command": command if isinstance(command, str) else "", "facts": facts}


def _words(name: str) -> str:
    return str(name).replace("_", " ")


def _value(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def estimates_table(rows: Sequence[Mapping[str, Any]]) -> ReportTable:
    """Return what other estimators say about the same data, as `geodim estimators` found it."""
    cells = []
    for row in rows:
        error, seconds, memory = row.get("error"), row.get("seconds"), row.get("peak_bytes")
        value = row.get("value")
        cells.append(
            [
                str(row["estimator"]),
                number(float(value)) if value is not None else "-",
                f"{seconds:.3g} s" if seconds is not None else "-",
                f"{memory / 2**20:.0f} MiB" if memory is not None else "-",
                str(error["message"] if error else row.get("note", "")),
            ]
        )
    return ReportTable(
        ["estimator", "dimension", "time", "memory", "note"],
        cells,
        {1, 2, 3},
        "Dimensions of the same data, with the time and the memory that each took.",
        stacked=True,
    )
