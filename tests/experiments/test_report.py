"""The report: every printed number, verdicts and claims, the same in HTML and Markdown.

Nothing in a name is interpreted.
"""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser

import numpy as np
import pytest

from geodim.display.table import ReportTable
from geodim.experiments import NAMES, get_experiment
from geodim.experiments.document import (
    Document,
    Figure,
    Heading,
    Items,
    Paragraph,
    to_html,
    to_markdown,
)
from geodim.experiments.experiment import Cost, Unit
from geodim.experiments.printed import count_printed, printed
from geodim.experiments.report import build_report, compare_all, draw_figures, write_reproduction
from geodim.experiments.store import Store
from geodim.experiments.verdicts import Verdict

pytest.importorskip("jinja2", reason="the page of the report needs jinja2: pip install 'geodim[report]'")

HOSTILE = '_<img src=x onerror="alert(1)">|`*_[a](http://x)&amp;$\\nothing{$\n# no'
VOID = {"meta", "img"}


class Reader(HTMLParser):
    """Checks that tags are closed in order, and collects texts, tags and addresses."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[str] = []
        self.texts: list[str] = []
        self.addresses: list[str] = []
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.addresses += [value for name, value in attrs if name in ("src", "href")]
        assert not any(name.startswith("on") for name, _ in attrs)
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if "style" not in self.open:
            self.texts.append(data)


@pytest.fixture
def folder(tmp_path):
    """Results with some rows: right, nearly right and wrong, and a data set with a hostile name."""
    khop = Store(tmp_path, get_experiment("khop"))
    values = {name: [float(number) for number in numbers] for name, numbers in printed()["khop_id"].items()}
    values["PubMed"][1] *= 1.0 + 2e-7
    values["Cora"][5] *= 1.1
    for name in ("PubMed", "Cora", HOSTILE):
        rows = [{"k": k, "dimension": value} for k, value in enumerate(values.get(name, values["Cora"]))]
        khop.put(unit({"dataset": name, "hops": 5}), rows, seconds=1.0)
    khop.put(unit({"dataset": "ogbn-mag", "hops": 5}), [], status="not at hand", note="fetch ogbn-mag")
    random = Store(tmp_path, get_experiment("random"))
    random.put(unit({"n": 10**6, "d": 10, "repetition": 0}), [{"error": 2.5517e-4}], seconds=2.0)
    study = Store(tmp_path, get_experiment("support"))
    rows = [
        {
            "points": 1000, "relative_size": i / 1000, "length": 100 + i, "error": 0.1 / i,
            "expected_error": 0.1 / i, "saved_costs": 0.99,
        }
        for i in range(1, 51)
    ]  # fmt: skip
    study.put(unit({"dataset": HOSTILE, "hops": 2}), rows, seconds=3.0)
    return tmp_path


def unit(key: dict) -> Unit:
    return Unit(key, Cost(1.0, 1), lambda _context: [])


def cells(markdown: str) -> list[list[str]]:
    """Rows of all tables, unescaped."""
    rows = [line[2:-2].split(" | ") for line in markdown.splitlines() if line.startswith("| ")]
    return [[re.sub(r"\\(.)", r"\1", cell) for cell in row] for row in rows]


def test_every_printed_number_is_there(folder):
    _, markdown, _ = write_reproduction(folder)
    tables = [row for row in cells(markdown.read_text()) if len(row) == 7 and row[0] != "quantity"]
    expected = count_printed()
    numbers = [row for row in tables if not set(row[0]) <= set("-:")]
    assert len(numbers) == sum(expected.values()) == 156
    shown = [row[3] for row in numbers]
    values = printed()
    for key in ("khop_id", "khop_mle"):
        for some in values[key].values():
            assert all(shown.count(number) >= some.count(number) for number in some)
    for name, some in values["sign_accuracy_mean"].items():
        for number, spread in zip(some, values["sign_accuracy_std"][name], strict=True):
            assert f"{number} ± {spread}" in shown
    for table in values["random_data"]["error"].values():
        for one in table.values():
            assert f"{one['mean']} ± {one['std']}" in shown
    for one in values["statistics"].values():
        assert all(number in shown for number in one.values())
    for key in ("lower", "upper", "error"):
        assert all(number in shown for number in values["papers100M"][key])
    assert all(row[6] for row in numbers)


def test_verdicts(folder):
    found = {(one.experiment, one.dataset, one.case): one for one in compare_all(folder)}
    assert found["khop", "PubMed", "k = 0"].verdict is Verdict.EQUAL
    assert found["khop", "PubMed", "k = 1"].verdict is Verdict.ROUNDING
    assert found["khop", "Cora", "k = 5"].sentence.startswith("different, because")
    assert found["khop", "ogbn-mag", "k = 3"].sentence == "not at hand: fetch ogbn-mag"
    assert "geodim reproduce khop" in found["khop", "CiteSeer", "k = 0"].reason
    assert "geodim reproduce sign" in found["sign", "Cora", "k = 0"].reason
    values = json.loads(write_reproduction(folder)[2].read_text())
    assert sum(values["summary"].values()) == 156
    assert values["summary"]["different"] == 1
    assert len(values["comparisons"]) == 156


def test_html_is_whole_escaped_and_asks_nobody(folder):
    draw_figures(folder)
    html = write_reproduction(folder)[0].read_text()
    reader = Reader(html)
    assert "script" not in reader.tags
    assert "onerror=" not in re.sub(r"onerror=&#34;", "", html)
    skip, *figures = reader.addresses
    assert skip == "#main"
    assert all(address.startswith("data:image/png;base64,") for address in figures)
    assert len(figures) == 2  # of khop and support
    assert reader.tags.count("h1") == 1
    text = "".join(reader.texts)
    assert '<img src=x onerror="alert(1)">' in text  # shown as it is called
    assert "prefers-color-scheme: dark" in html
    assert "@media print" in html


def test_markdown_has_the_same_words(folder):
    document, _ = build_report(folder)
    html, markdown = to_html(document), to_markdown(document)
    rows = [row for row in cells(markdown) if not set("".join(row)) <= set("-: ")]
    tables = [block for block in document.blocks if isinstance(block, ReportTable)]
    # A bar inside of a cell is escaped and does not split it; here it would, after unescaping.
    expected = [row for table in tables for row in (table.head, *table.rows)]
    assert len(rows) == len(expected)
    for row in expected:
        if HOSTILE not in row[0]:
            assert all(cell in "".join(Reader(html).texts) for cell in row)
            break
    assert "onerror" in markdown
    assert not re.search(r"(?<!\\)<img", markdown)
    assert not any(line.startswith("# no") for line in markdown.splitlines())


def test_empty_folder(tmp_path):
    paths = write_reproduction(tmp_path / "new")
    assert [path.name for path in paths] == ["report.html", "report.md", "report.json"]
    values = json.loads(paths[2].read_text())
    assert values["summary"]["not at hand"] == 156
    assert {one["holds"] for one in values["claims"] if "as printed" not in one["text"]} == {None}
    assert draw_figures(tmp_path / "new") == []


def test_correlations_of_the_printed_numbers_are_in_it(folder):
    values = json.loads(write_reproduction(folder)[2].read_text())
    rows = [one for one in values["correlations"] if one["numbers"] == "printed"]
    assert len(rows) == 21
    assert {one["n"] for one in rows} == {5, 30}


@pytest.mark.slow
def test_figures_are_the_same_bytes_again(folder):
    first = {path: path.read_bytes() for path in draw_figures(folder)}
    assert {path.name for path in first} == {"khop.png", "khop.pdf", "support.png", "support.pdf"}
    assert {path: path.read_bytes() for path in draw_figures(folder)} == first


def test_no_data_set_is_left_out_of_a_figure():
    """More of them than there are colours."""
    rows = [{"dataset": f"data {at}", "k": k, "dimension": 2.0 - k / 9} for at in range(9) for k in range(3)]
    (ax,) = get_experiment("khop").draw(rows)["khop"].axes
    assert [line.get_label() for line in ax.lines] == [f"data {at}" for at in range(9)]
    assert len({(line.get_color(), line.get_marker(), line.get_linestyle()) for line in ax.lines}) == 9


def test_blocks(tmp_path):
    picture = tmp_path / "a.png"
    picture.write_bytes(b"\x89PNG")
    document = Document(
        HOSTILE,
        [
            Heading(HOSTILE),
            Paragraph(HOSTILE),
            Items([HOSTILE]),
            Figure(picture, HOSTILE),
            ReportTable([HOSTILE], [[HOSTILE]]),
        ],
    )
    reader = Reader(to_html(document))
    assert reader.tags.count("img") == 1
    assert sum('onerror="alert(1)"' in text for text in reader.texts) == 8
    markdown = to_markdown(document)
    assert re.sub(r"\\(.)", r"\1", markdown.splitlines()[0][2:]) == " ".join(HOSTILE.split())
    assert len([line for line in markdown.splitlines() if line.startswith("|")]) == 3


def test_every_experiment_makes_something_of_no_rows():
    for name in NAMES:
        experiment = get_experiment(name)
        assert len(experiment.compare([])) == count_printed().get(name, 0)
        assert experiment.draw([]) == {}
        assert experiment.notes([]) == []
        assert all(claim.holds is None for claim in experiment.claims([]))
        assert np.all([one.verdict is Verdict.ABSENT for one in experiment.compare([])])
