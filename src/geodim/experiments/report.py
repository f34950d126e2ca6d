"""The report: every number of the paper beside ours, with the difference and a verdict.

Also claims, figures, and where it was computed.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from geodim._version import __version__
from geodim.display.table import ReportTable
from geodim.experiments import NAMES, get_experiment
from geodim.experiments.correlation import Correlation, Curves, claims_of, correlations, printed_curves
from geodim.experiments.document import (
    Block,
    Document,
    Figure,
    Heading,
    Items,
    Paragraph,
    to_html,
    to_markdown,
)
from geodim.experiments.store import Store
from geodim.experiments.verdicts import Claim, Comparison, Verdict, count_verdicts
from geodim.output import json_text, make_folder, write_text

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["build_report", "compare_all", "draw_figures", "write_reproduction"]

FORMAT = "geodim.report/1"
CLASSES = {
    Verdict.EQUAL: "equal",
    Verdict.ROUNDING: "near",
    Verdict.SPREAD: "near",
    Verdict.DIFFERENT: "different",
    Verdict.ABSENT: "absent",
}


def draw_figures(folder: Path) -> list[Path]:
    """Draw the figures of all experiments with rows in the folder, as .png and .pdf beside them."""
    from geodim.display.plots import save_figure  # noqa: PLC0415

    written = []
    for store in _stores(folder):
        for name, figure in store.experiment.draw(store.rows()).items():
            for ending in ("png", "pdf"):
                path = folder / f"{name}.{ending}"
                save_figure(figure, path)
                written.append(path)
    return written


def write_reproduction(folder: Path, *, page: bool = True) -> list[Path]:
    """Write report.html, unless that is not wanted, report.md and report.json from everything in the folder.

    Raises
    ------
    MissingExtraError
        jinja2 is not installed, which the page needs.
    """
    document, values = build_report(folder)
    texts = {"html": to_html(document)} if page else {}
    texts |= {"md": to_markdown(document), "json": json_text(values)}
    make_folder(folder)
    for ending, text in texts.items():
        write_text(folder / f"report.{ending}", text)
    return [folder / f"report.{ending}" for ending in texts]


def build_report(folder: Path) -> tuple[Document, dict[str, Any]]:
    """Return the report as blocks, and its numbers as plain values for JSON."""
    stores = {store.experiment.name: store for store in _stores(folder)}
    comparisons = compare_all(folder)
    found = correlations("printed", printed_curves()) + correlations("ours", _our_curves(stores))
    claims = [
        claim
        for name in NAMES
        for claim in get_experiment(name).claims(stores[name].rows() if name in stores else [])
    ]
    claims += claims_of("printed", found) + claims_of("ours", found)
    blocks: list[Block] = _overview(comparisons, claims, stores)
    for name in NAMES:
        blocks += _section(
            name, [one for one in comparisons if one.experiment == name], stores.get(name), folder
        )
    blocks += _correlation_section(found)
    blocks += _machines(stores)
    values = {
        "format": FORMAT,
        "version": __version__,
        "summary": count_verdicts(comparisons),
        "claims": [claim.to_dict() for claim in claims],
        "correlations": [one.to_dict() for one in found],
        "comparisons": [one.to_dict() for one in comparisons],
    }
    return Document("The paper's experiments, reproduced", blocks), values


def compare_all(folder: Path) -> list[Comparison]:
    """Return every printed number of the paper; those that are not computed say why."""
    stores = {store.experiment.name: store for store in _stores(folder)}
    found = []
    for name in NAMES:
        store = stores.get(name)
        notes = {key.get("dataset"): note for key, note in store.absent()} if store else {}
        for one in get_experiment(name).compare(store.rows() if store else []):
            if one.verdict is Verdict.ABSENT and (one.dataset in notes or not one.reason):
                how = notes.get(one.dataset) or f"not run yet: geodim reproduce {name}"
                found.append(replace(one, reason=how))
            else:
                found.append(one)
    return found


def _stores(folder: Path) -> list[Store]:
    return [Store(folder, get_experiment(name)) for name in NAMES if (folder / f"{name}.json").exists()]


def _our_curves(stores: dict[str, Store]) -> Curves:
    """Return our own numbers, if there are any."""
    from geodim.experiments import khop_ids, mle, sign  # noqa: PLC0415

    def rows(name: str) -> list[dict[str, Any]]:
        return stores[name].rows() if name in stores else []

    return Curves(
        khop_ids.dimensions(rows("khop")), mle.estimates(rows("mle")), sign.accuracies(rows("sign"))
    )


def _overview(comparisons: list[Comparison], claims: list[Claim], stores: dict[str, Store]) -> list[Block]:
    counts = count_verdicts(comparisons)
    computed = len(comparisons) - counts[Verdict.ABSENT.value]
    seconds = sum(store.seconds() for store in stores.values())
    return [
        Paragraph(
            f"geodim {__version__} computed {computed} of the {len(comparisons)} numbers in the paper's "
            f"tables, in {seconds / 60.0:.1f} minutes of work; the rest needs data that is not on the "
            "machine, or was not asked for."
        ),
        ReportTable(
            ["verdict", "numbers"],
            [[verdict, f"{count}"] for verdict, count in counts.items()],
            {1},
        ),
        Heading("The paper's claims, tested"),
        ReportTable(
            ["claim", "evidence", "verdict"],
            [[claim.text, claim.evidence or "-", claim.sentence] for claim in claims],
            classes=[{True: "equal", False: "different", None: "absent"}[claim.holds] for claim in claims],
            row_headings=False,
        ),
    ]


def _section(name: str, comparisons: list[Comparison], store: Store | None, folder: Path) -> list[Block]:
    experiment = get_experiment(name)
    blocks: list[Block] = [
        Heading(experiment.title),
        Paragraph(f"{experiment.source}. Rows: {name}.json, {name}.csv."),
    ]
    rows = store.rows() if store else []
    notes = experiment.notes(rows)
    if notes:
        blocks.append(Items(notes))
    if store is not None and not comparisons:  # where there is no table to say so
        blocks += [Paragraph(note) for note in dict.fromkeys(note for _, note in store.absent())]
    if not rows and not comparisons:
        blocks.append(Paragraph(f"Not run yet: geodim reproduce {name}"))
    blocks += [Figure(path, experiment.title) for path in [folder / f"{name}.png"] if path.exists() and rows]
    blocks += experiment.tables(rows)
    if comparisons:
        blocks.append(_comparison_table(comparisons))
    return blocks


def _comparison_table(comparisons: list[Comparison]) -> ReportTable:
    return ReportTable(
        ["quantity", "data", "case", "paper", "ours", "difference", "verdict"],
        [
            [
                one.quantity,
                one.dataset,
                one.case or "-",
                _printed(one),
                _ours(one),
                "-" if one.difference is None else "0" if one.difference == 0.0 else f"{one.difference:+.1e}",
                one.sentence,
            ]
            for one in comparisons
        ],
        {3, 4, 5},
        classes=[CLASSES[one.verdict] for one in comparisons],
        row_headings=False,
    )


def _printed(one: Comparison) -> str:
    return one.printed if one.printed_spread is None else f"{one.printed} ± {one.printed_spread}"


def _ours(one: Comparison) -> str:
    """Return a number with two more digits than the paper prints."""
    if one.ours is None:
        return "-"
    if "e" in one.printed:
        text = f"{one.ours:.4e}"
        return text if one.our_spread is None else f"{text} ± {one.our_spread:.1e}"
    decimals = len(one.printed.partition(".")[2])
    text = f"{one.ours:.{decimals + 2 if decimals else 0}f}"
    return text if one.our_spread is None else f"{text} ± {one.our_spread:.4f}"


def _correlation_section(found: list[Correlation]) -> list[Block]:
    def number(value: float, decimals: int) -> str:
        return "not defined" if math.isnan(value) else f"{value:.{decimals}f}"

    return [
        Heading("Rank correlation of the drop in dimension and the gain in accuracy"),
        Paragraph(
            "Spearman's correlation of the relative drop from k - 1 to k hops and the gain in accuracy, over "
            "k = 1, ..., 5. Five pairs are few: at random, 1 comes up once in 120 times, and at least 0.9 "
            "once in 24. p is the chance of a correlation at least as high, exact for single data sets. "
            "The number of hops stands for -k, which needs no data: gains shrink from hop to hop."
        ),
        ReportTable(
            ["numbers", "estimator", "data", "pairs", "correlation", "p"],
            [
                [
                    one.numbers,
                    one.estimator,
                    one.dataset,
                    str(one.n),
                    number(one.rho, 2),
                    "below 0.001" if one.p < 0.001 else number(one.p, 3),
                ]
                for one in found
            ],
            {3, 4, 5},
            row_headings=False,
        ),
    ]


def _machines(stores: dict[str, Store]) -> list[Block]:
    lines: dict[str, list[str]] = {}
    for name, store in stores.items():
        for machine in store.machines():
            text = (
                f"{machine['processor']}, {machine['cores']} cores, {machine['memory_gib']} "
                f"GiB, {machine['system']}, Python {machine['python']}, numpy "
                f"{machine['numpy']}, numba {machine['numba']}"
            )
            lines.setdefault(text, []).append(name)
    if not lines:
        return []
    return [
        Heading("Where it was computed"),
        Items([f"{text}: {', '.join(names)}" for text, names in lines.items()]),
    ]
