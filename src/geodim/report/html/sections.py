"""The parts of the page for one result: words, plots with controls, tables, and how it was made."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from geodim.explain.advice import advise
from geodim.khop_result import KHopResult
from geodim.report.html import figures, text
from geodim.report.html.figures import Names
from geodim.report.html.markup import Html, definition_list, paragraph, table, tag
from geodim.report.html.static import curve_svg, line_svg
from geodim.report.style import counted, number, percent
from geodim.result import IDResult

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from geodim.explain.select import FeatureSelection
    from geodim.report.html.markup import Child
    from geodim.report.html.sources import Item

__all__ = ["Page", "made_section", "result_section"]

ROWS = 25  # of a table without scripts; the scripts page through all of them


@dataclass
class Page:
    """What the page's scripts are told, gathered while the sections are written."""

    names: Names = field(default_factory=Names)
    items: list[dict[str, Any]] = field(default_factory=list)

    def data(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {"names": self.names.to_list(), "items": self.items}


def result_section(item: Item, at: int, page: Page, *, alone: bool) -> Html:
    """Everything about one result."""
    key = f"r{at}"
    if isinstance(item.result, KHopResult):
        body = _hops(item.result, key, page, item.title)
    elif isinstance(item.result, IDResult):
        body = _dimension(item.result, key, page, item.title)
    else:
        body = _selection(item.result, key, page, item.title)
    head = tag("h2", "In short" if alone else item.title, id=f"{key}-title")
    return tag("section", head, *body, class_="result", id=key, aria_labelledby=f"{key}-title", data_item=at)


# ---------------------------------------------------------------- one result of each kind


def _dimension(result: IDResult, key: str, page: Page, title: str) -> list[Html]:
    curve, features = figures.curve(result, page.names), figures.features(result, page.names)
    page.items.append({"kind": "dimension", "title": title, "curves": [curve], "features": [features]})
    words = text.describe_dimension(result)
    return [
        _lead(text.dimension_text(result), "intrinsic dimension", text.kind_text(result)),
        *map(paragraph, words),
        *_steps(text.next_steps(result)),
        tag("h3", "How wide the points are spread"),
        *_curve(result, key, curve),
        tag("h3", "Which features carry it"),
        paragraph(text.features_words(result)),
        *_features(result, key, hops=False),
    ]


def _hops(result: KHopResult, key: str, page: Page, title: str) -> list[Html]:
    curves = [figures.curve(one, page.names) for one in result]
    rows = figures.hop_rows(result)
    page.items.append(
        {
            "kind": "hops",
            "title": title,
            "curves": curves,
            "features": [figures.features(one, page.names) for one in result],
            "hops": rows,
            "sentences": [text.hop_sentence(result, k) for k in range(len(result))],
            "featureWords": [text.features_words(one, hops=True) for one in result],
        }
    )
    last = result.hops
    steps = text.next_steps(result[last], hops=True)
    return [
        _lead(
            text.dimension_text(result[last]),
            f"intrinsic dimension with {counted(last, 'hop')}",
            _range(result),
        ),
        *map(paragraph, text.describe_hops(result)),
        *_advice(result),
        *_steps(steps),
        tag("h3", "The dimension, hop by hop"),
        _figure(
            f"{key}-hops",
            "hops",
            line_svg(
                range(len(result)),
                rows["dimension"],
                "k, number of hops",
                "intrinsic dimension",
                "Intrinsic dimension against the number of hops; the numbers are in the table below.",
            ),
            "The intrinsic dimension of the attributes and their mixtures up to k "
            "hops. Bars are certified bounds.",
        ),
        _hop_table(result),
        tag("h3", "How wide the nodes are spread"),
        _hop_slider(key, last, text.hop_sentence(result, last)),
        *_curve(result[last], key, curves[last]),
        tag("h3", "Which features carry it"),
        paragraph(text.features_words(result[last], hops=True), id=f"{key}-feature-words"),
        *_features(result[last], key, hops=True),
    ]


def _selection(selection: FeatureSelection, key: str, page: Page, title: str) -> list[Html]:
    rows = figures.selection_rows(selection, page.names)
    page.items.append({"kind": "selection", "title": title, "selection": rows})
    shown = selection.rows()[:ROWS]
    fixed = table(
        _fixed_caption("Chosen features", len(shown), len(selection.names)),
        ["feature", "choice", "adds", "together", "dimension"],
        [
            [
                row["feature"],
                str(row["rank"]),
                percent(gain or 0.0),
                text.fine_percent(row["fraction"]),
                number(row["dimension"]),
            ]
            for row, gain in zip(shown, rows["gain"], strict=False)
        ],
        frozenset({1, 2, 3, 4}),
    )
    reached = text.fine_percent(selection.fractions[-1])
    chosen = f"reached by {counted(len(selection.names), 'feature')} of {selection.n_features:,}"
    return [
        _lead(reached, "of the discriminability", chosen),
        *map(paragraph, text.describe_selection(selection)),
        tag("h3", "What each choice adds"),
        _figure(
            f"{key}-greedy",
            "greedy",
            line_svg(
                range(len(selection.names) + 1),
                [0.0, *rows["fraction"]],
                "features chosen",
                "part of Δ",
                "Part of the discriminability reached against the number of features chosen.",
                zero=True,
            ),
            "The part of the discriminability of all features that the first 1, 2, "
            "… chosen ones reach together.",
        ),
        tag("div", fixed, class_="grid", id=f"{key}-table", data_table="selection"),
    ]


# ---------------------------------------------------------------- pieces


def _lead(value: str, label: str, note: str) -> Html:
    return tag(
        "p",
        tag("strong", value, class_="value"),
        " ",
        tag("span", label),
        " ",
        tag("span", note, class_="note"),
        class_="lead",
    )


def _small(line: str) -> Html:
    return paragraph(line, class_="small")


def _steps(steps: list[str]) -> list[Html]:
    if not steps:
        return []
    listed = tag("ul", *(tag("li", step) for step in steps))
    return [tag("div", tag("h3", "What to do next"), listed, class_="advice")]


def _advice(result: KHopResult) -> list[Html]:
    """How many hops are worth it; bounds of a pass that was stopped say too little for that."""
    if result[0].stopped:
        return []
    first, *rest = advise(result).text.split("\n")
    return [tag("div", tag("h3", "Advice"), paragraph(first), *map(_small, rest), class_="advice")]


def _range(result: KHopResult) -> str:
    return f"{text.dimension_text(result[0])} without the graph; {text.kind_text(result[result.hops])}"


def _figure(key: str, kind: str, fixed: Html, caption: str) -> Html:
    canvas = tag("div", fixed, class_="canvas", id=key, data_plot=kind)
    return tag("figure", canvas, tag("figcaption", caption), class_=f"plot {kind}")


def _curve(result: IDResult, key: str, curve: dict[str, Any]) -> list[Html]:
    described = (
        "Observable diameter against the share of points left out; the slider below "
        "reads values from the curve."
    )
    probe = tag(
        "div",
        tag("label", "Read the curve at α", for_=f"{key}-alpha"),
        tag(
            "input",
            type="range",
            id=f"{key}-alpha",
            min=0,
            max=1000,
            step=1,
            value=250,
            aria_describedby=f"{key}-read",
        ),
        tag("output", "", id=f"{key}-read", for_=f"{key}-alpha"),
        class_="control probe",
    )
    return [_figure(f"{key}-curve", "curve", curve_svg(curve, described), text.curve_words(result)), probe]


def _hop_slider(key: str, last: int, sentence: str) -> Html:
    return tag(
        "div",
        tag("label", "Hops k", for_=f"{key}-hop"),
        tag("input", type="range", id=f"{key}-hop", min=0, max=last, step=1, value=last, disabled=last == 0),
        tag("output", sentence, id=f"{key}-hop-words", for_=f"{key}-hop", aria_live="polite"),
        class_="control hop",
    )


def _hop_table(result: KHopResult) -> Html:
    rows: list[list[Child]] = [
        [
            str(row["k"]),
            text.dimension_text(result[row["k"]]),
            text.kind_text(result[row["k"]])
            if result[row["k"]].one_number
            else f"{number(row['lower'], 6)} – {number(row['upper'], 6)}",
            "" if row["drop"] is None or result[row["k"]].stopped else text.fine_percent(row["drop"]),
            number(row["discriminability"]),
        ]
        for row in result.rows()
    ]
    head = ["hops k", "intrinsic dimension", "certified bounds", "drop", "discriminability Δ"]
    return table("Dimensions by number of hops", head, rows, frozenset({1, 2, 3, 4}))


def _features(result: IDResult, key: str, *, hops: bool) -> list[Html]:
    if not result.shares:
        return []
    shown = list(result.shares.items())[:ROWS]
    rows: list[list[Child]] = []
    total = 0.0
    for at, (name, share) in enumerate(shown, 1):
        hop, attribute = figures.hop_of(name) if hops else (0, name)
        total += share
        where: list[Child] = [str(hop)] if hops else []
        rows.append([attribute, str(at), *where, percent(share), percent(total)])
    head = ["feature", "rank", *(["hop"] if hops else []), "share", "together"]
    caption = _fixed_caption("Features by share of the discriminability", len(shown), len(result.shares))
    fixed = table(caption, head, rows, frozenset(range(1, len(head))))
    bars = _figure(f"{key}-shares", "shares", Html(""), "The largest shares of the discriminability.")
    return [bars, tag("div", fixed, class_="grid", id=f"{key}-table", data_table="features")]


def _fixed_caption(what: str, shown: int, total: int) -> str:
    return f"{what} (all {total:,})" if shown == total else f"{what} (the first {shown:,} of {total:,})"


def made_section(items: Iterable[Item]) -> Html:
    """Parameters, versions and commands, so that everything can be made again."""
    parts: list[Html] = []
    for item in items:
        command = item.parameters.get("command")
        rows = [
            (_words(name), _value(value))
            for name, value in item.parameters.items()
            if name not in ("command", "data") and value is not None
        ]
        if isinstance(item.result, KHopResult):
            rows += [
                (f"operator: {_words(name)}", _value(value)) for name, value in item.result.operator.items()
            ]
            rows += [(f"graph: {_words(name)}", _value(value)) for name, value in item.result.graph.items()]
        rows.append(("time", f"{number(item.seconds, 3)} s"))
        rows.append(("versions", ", ".join(f"{name} {version}" for name, version in item.versions.items())))
        parts.append(tag("h3", item.title))
        if isinstance(command, str) and command:
            parts.append(tag("pre", tag("code", command), tabindex=0, aria_label="command"))
        parts.append(definition_list(rows))
    return tag(
        "section",
        tag("h2", "How it was made", id="made-title"),
        *parts,
        id="made",
        aria_labelledby="made-title",
    )


def _words(name: str) -> str:
    return str(name).replace("_", " ")


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def glossary() -> Html:
    """What the words mean, folded away."""
    terms = [
        ("feature", "A column of the data, or any function that gives each point a number."),
        ("φ(k, f)", "The width of the narrowest interval of values of f that holds k points."),
        (
            "Φ(k)",
            (
                "The largest φ(k, f) of all features: how wide the best feature still "
                "spreads its closest k points."
            ),
        ),
        ("α", "The share of points left out: α = 1 − k/n."),
        (
            "observable diameter",
            "Φ(k), divided by the largest range of a feature unless the features are taken as they are.",
        ),
        ("discriminability Δ", "The mean of the observable diameter over all k: the area under the curve."),
        (
            "intrinsic dimension",
            "1/Δ². It grows as the features concentrate: the curse of dimensionality, in one number.",
        ),
        (
            "share",
            "The part of Δ at the sizes k where a feature attains Φ(k); of several, the first column counts.",
        ),
        ("certified bounds", "Proven to enclose the true value; nothing is estimated."),
    ]
    return tag("details", tag("summary", "What the words mean"), definition_list(terms))


def estimates_section(rows: Sequence[Mapping[str, Any]]) -> Html:
    """What other estimators say of the same data, as `geodim compare` found it."""
    cells: list[list[Child]] = []
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
    return tag(
        "section",
        tag("h2", "Beside other estimates", id="estimates-title"),
        paragraph(
            "They answer another question: ours says how little the features still tell the points apart, "
            "and is computed; the others estimate, from distances between neighbours, of how many "
            "coordinates the points are a function."
        ),
        table(
            "Dimensions of the same data, with the time and the memory that each took.",
            ["estimator", "dimension", "time", "memory", "note"],
            cells,
            frozenset({1, 2, 3}),
        ),
        id="estimates",
        aria_labelledby="estimates-title",
    )


def contents(items: list[Item]) -> Html:
    """Links to the parts, where there are several results."""
    links = [tag("a", "Comparison", href="#comparison")]
    links += [tag("a", item.title, href=f"#r{at}") for at, item in enumerate(items)]
    links.append(tag("a", "How it was made", href="#made"))
    return tag("nav", tag("ul", *(tag("li", link) for link in links)), aria_label="Contents")
