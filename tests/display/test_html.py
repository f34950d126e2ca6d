"""The report as a file: whole, small, well-formed, without requests, with every name shown and none run."""

from __future__ import annotations

import base64
import gzip
import json
import re
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest

import geodim
from geodim.display.html.document import render_report, report
from geodim.display.html.sources import Item, as_items, read_item
from geodim.errors import (
    DataFileError,
    DegenerateDataWarning,
    InputTypeError,
    InputValueError,
    InterruptedWarning,
)

pytest.importorskip("plotly", reason="the report needs plotly")
pytest.importorskip("jinja2", reason="the report needs jinja2")

RNG = np.random.default_rng(3)
X = np.abs(RNG.normal(size=(200, 6))) ** np.linspace(0.4, 2.0, 6)
EDGES = RNG.integers(0, 200, (2, 500))
HOSTILE = [
    "</script><script>window.hacked = 1</script>",
    "<img src=x onerror=window.hacked=1>",
    "'\"><b>bold</b>",
    "&lt;i&gt;",
    "%{x}<a href='https://example.org'>link</a>",
    "$\\alpha$\u2028\x00\x1b",
]
VOID = {"meta", "input", "br", "link", "img", "hr"}


class Reader(HTMLParser):
    """Checks that elements are closed in order, and collects them."""

    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.open, self.tags, self.text, self.errors = [], [], [], []

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.errors.append(f"</{tag}> at {self.getpos()}")

    def handle_data(self, data):
        if "script" not in self.open and "style" not in self.open:
            self.text.append(data)


def read(page):
    reader = Reader()
    reader.feed(page)
    reader.close()
    assert reader.errors == []
    assert reader.open == []
    return reader


def data_of(page):
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)
    return json.loads(found[1])


def results():
    with pytest.warns(DegenerateDataWarning):
        flat = geodim.intrinsic_dimension(np.ones((4, 2)))
    with pytest.warns(InterruptedWarning):
        stopped = geodim.intrinsic_dimension(X, time_limit=0)
    with pytest.warns(InterruptedWarning):
        stopped_hops = geodim.khop_dimensions(X, EDGES, hops=2, operator="heat", time_limit=0)
    return {
        "exact": geodim.intrinsic_dimension(X, feature_names=HOSTILE),
        "raw": geodim.intrinsic_dimension(X, normalize=False, count_indistinguishable=True),
        "rtol": geodim.intrinsic_dimension(X, rtol=0.05),
        "flat": flat,
        "stopped": stopped,
        "two points": geodim.intrinsic_dimension([[0.0], [1.0]]),
        "hops": geodim.khop_dimensions(X, EDGES, hops=3, feature_names=HOSTILE),
        "hops rtol": geodim.khop_dimensions(X, EDGES, hops=2, rtol=0.05, operator="ppr"),
        "no hops": geodim.khop_dimensions(X, EDGES, hops=0),
        "stopped hops": stopped_hops,
        "selection": geodim.select_features(X, 3, feature_names=HOSTILE),
        "one": geodim.select_features(X, 1),
    }


@pytest.fixture(scope="module")
def found():
    return results()


KINDS = (
    "exact", "raw", "rtol", "flat", "stopped", "two points", "hops", "hops rtol", "no hops", "stopped hops",
    "selection", "one",
)  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_result(found, kind):
    page = render_report([Item(kind, found[kind])])
    reader = read(page)
    assert page.startswith("<!DOCTYPE html>")
    assert len(page.encode()) < 6_000_000
    names = [tag for tag, _ in reader.tags]
    assert names.count("h1") == names.count("main") == names.count("header") == names.count("footer") == 1
    ids = [attributes["id"] for _, attributes in reader.tags if "id" in attributes]
    assert len(ids) == len(set(ids))
    assert kind in "".join(reader.text)
    (item,) = data_of(page)["items"]
    assert item["title"] == kind
    assert render_report([Item(kind, found[kind])]) == page  # the same bytes every time


def test_all_together(found):
    page = render_report([Item(kind, result) for kind, result in found.items()], title="Everything")
    reader = read(page)
    words = "".join(reader.text)
    assert "Everything" in words
    assert "Comparison" in words
    links = [attributes["href"] for tag, attributes in reader.tags if tag == "a"]
    targets = {attributes.get("id") for _, attributes in reader.tags}
    assert all(link[0] == "#" and link[1:] in targets for link in links)


def test_nothing_is_asked_of_anyone(found):
    """No element refers to anything outside; the policy forbids it besides."""
    page = render_report([Item(kind, result) for kind, result in found.items()])
    reader = read(page)
    for tag, attributes in reader.tags:
        assert tag not in {"link", "iframe", "object", "embed", "img", "base", "form"}
        assert not any(name.startswith("on") for name in attributes)
        assert "src" not in attributes
        assert "style" not in attributes
    (policy,) = [
        attributes["content"]
        for _, attributes in reader.tags
        if attributes.get("http-equiv") == "Content-Security-Policy"
    ]
    assert "default-src 'none'" in policy
    assert not re.search(r"https?:", policy)
    outside = re.sub(r'<script type="(application/json|text/plain)".*?</script>', "", page, flags=re.DOTALL)
    style = outside[outside.index("<style>") : outside.index("</style>")]
    assert "url(" not in style
    assert "@import" not in style


def test_every_script_has_the_nonce_of_the_policy(found):
    page = render_report([found["exact"]])
    nonce = re.search(r"nonce-([0-9a-f]{32})", page)[1]
    scripts = [attributes for tag, attributes in read(page).tags if tag == "script"]
    run = [attributes for attributes in scripts if "type" not in attributes]
    assert [attributes["nonce"] for attributes in run] == [nonce]
    assert nonce not in render_report([found["rtol"]])


def test_hostile_names_are_shown(found):
    for kind in ("exact", "hops", "selection"):
        page = render_report([Item(HOSTILE[0], found[kind])], title=HOSTILE[1])
        reader = read(page)
        assert [tag for tag, _ in reader.tags].count("script") == 3
        assert not any(tag in {"img", "b", "i"} for tag, _ in reader.tags)
        words = "".join(reader.text)
        assert HOSTILE[1] in words
        names = data_of(page)["names"]
        assert set(found["selection"].names) <= set(names) if kind == "selection" else HOSTILE[0] in words
        assert "\x00" not in page
        assert page.count("window.hacked = 1</script") == 0


def test_half_a_character(found):
    """A lone surrogate cannot be written as UTF-8; it must not stop the report."""
    result = found["exact"]
    shares = {f"\ud800{name}": share for name, share in result.shares.items()}
    render_report([replace(result, shares=shares)], title="\udfff").encode("utf-8")
    page = render_report([Item("\udcff", result)])  # a file whose name is no text
    page.encode("utf-8")
    assert data_of(page)["items"][0]["title"] == "\udcff"


def test_plotly_is_in_the_file(found):
    import plotly.offline

    page = render_report([found["exact"]])
    packed = re.search(r'<script type="text/plain" id="plotly">(.*?)</script>', page)[1]
    assert gzip.decompress(base64.b64decode(packed)).decode() == plotly.offline.get_plotlyjs()


def test_numbers_are_the_results(found):
    result = found["exact"]
    page = render_report([result])
    assert f"{result.dimension:.4g}" in "".join(read(page).text)
    (item,) = data_of(page)["items"]
    (curve,) = item["curves"]
    assert np.dot(np.diff(curve["alpha"]), curve["width"]) == pytest.approx(result.discriminability, rel=1e-4)
    (features,) = item["features"]
    names = data_of(page)["names"]
    assert [names[at] for at in features["name"]] == list(result.shares)
    assert features["share"] == pytest.approx(list(result.shares.values()), rel=1e-5)
    assert sum(features["leads"]) == pytest.approx(1.0, abs=1e-5)
    n = result.n_points
    for (first, last), width, owner in zip(curve["k"], curve["width"], curve["owner"], strict=True):
        assert first <= last
        if last > 1:
            at = last - 2
            assert width == pytest.approx(result.phi[at] / result.scale, rel=1e-5)
            run = np.searchsorted(result.attained_from, last, side="right") - 1
            assert names[owner] == list(result.shares)[result.attained_by[run]]
    assert curve["k"][0] == [n, n]


def test_hops_are_the_results(found):
    result = found["hops"]
    (item,) = data_of(render_report([result]))["items"]
    assert item["hops"]["dimension"] == pytest.approx(result.dimensions, rel=1e-5)
    assert len(item["curves"]) == len(item["features"]) == len(item["sentences"]) == 4
    words = "".join(read(render_report([result])).text)
    assert geodim.advise(result).text.split("\n")[0] in words


def test_many_features_and_points():
    """10,000 features: the page holds no rows for them; 10^6 points: no more vertices than a screen has."""
    n, d = 10**6, 10_000
    support = np.arange(2, n + 1)
    phi = (support - 1.0) / (n - 1)
    shares = np.sort(RNG.dirichlet(np.full(d, 0.5)))[::-1]
    result = geodim.IDResult(
        n_points=n, n_features=d, normalized=True, d_max=1.0, discriminability=0.5,
        discriminability_lower=0.5, discriminability_upper=0.5, support=support, phi_lower=phi,
        phi_upper=phi, exact=True, shares={f"column {i}": float(share) for i, share in enumerate(shares)},
        attained_from=np.arange(2, 2002), attained_by=np.arange(2000),
    )  # fmt: skip
    page = render_report([result])
    assert len(page.encode()) < 6_000_000
    assert [tag for tag, _ in read(page).tags].count("tr") < 100
    (item,) = data_of(page)["items"]
    assert len(item["curves"][0]["width"]) < 1000
    assert len(item["features"][0]["name"]) == d


class TestWriting:
    def test_whole_or_not_at_all(self, found, tmp_path):
        report([found["exact"]], tmp_path / "report.html")
        assert [path.name for path in tmp_path.iterdir()] == ["report.html"]
        assert read((tmp_path / "report.html").read_text(encoding="utf-8"))

    def test_errors(self, found, tmp_path):
        with pytest.raises(InputValueError, match=r"\.html"):
            report([found["exact"]], tmp_path / "report.pdf")
        with pytest.raises(DataFileError, match="no folder"):
            report([found["exact"]], tmp_path / "none" / "report.html")
        (tmp_path / "folder.html").mkdir()
        with pytest.raises(DataFileError, match="it is a folder"):
            report([found["exact"]], tmp_path / "folder.html")
        with pytest.raises(InputValueError, match="nothing to report"):
            render_report([])
        with pytest.raises(InputTypeError, match="cannot report a float"):
            render_report([3.0])


class TestReading:
    @pytest.mark.parametrize("kind", KINDS)
    def test_every_kind(self, found, kind, tmp_path):
        found[kind].to_json(tmp_path / "some name.json")
        item = read_item(tmp_path / "some name.json")
        assert item.title == "some name"
        assert type(item.result) is type(found[kind])
        assert read(render_report([item]))

    def test_the_name_of_the_data(self, found, tmp_path):
        replace(found["exact"], parameters={"data": "iris.csv"}).to_json(tmp_path / "a.json")
        assert read_item(tmp_path / "a.json").title == "iris.csv"

    @pytest.mark.parametrize(
        ("text", "words"),
        [
            ("{}", "not a geodim result"),
            ("[1]", "not a geodim result"),
            ('{"format": 4}', "not a geodim result"),
            ('{"format": "other/1"}', "'other/1'"),
            ('{"format": "geodim.compute/1"}', "--json"),
            ('{"format": "geodim.IDResult/9"}', "IDResult/9"),
            ('{"format": "geodim.IDResult/2"}', "lacks the field"),
            ('{"format": "geodim.KHopResult/1", "results": [], "operator": {}, "graph": {}}', "no hops"),
            ('{"format": "geodim.FeatureSelection/1"}', "lacks the field"),
            ('{"format": "geodim.FeatureSelection/9"}', "later geodim"),
            ("not json", "not valid JSON"),
        ],
    )
    def test_other_files(self, text, words, tmp_path):
        (tmp_path / "odd.json").write_text(text)
        with pytest.raises(DataFileError, match=re.escape(words)) as caught:
            read_item(tmp_path / "odd.json")
        assert "odd.json" in str(caught.value)

    def test_an_edited_selection(self, found, tmp_path):
        values = found["selection"].to_dict()
        for field, value in (("curve", [1.0]), ("n_points", "x"), ("total", "many"), ("columns", None)):
            (tmp_path / "edited.json").write_text(json.dumps({**values, field: value}))
            with pytest.raises(DataFileError, match="wrong kind"):
                read_item(tmp_path / "edited.json")

    def test_names_that_are_the_same_are_numbered(self, found):
        titles = [
            item.title
            for item in as_items([Item("a", found["exact"]), Item("a", found["rtol"]), found["raw"]])
        ]
        assert titles == ["a", "a (2)", "result 3"]
