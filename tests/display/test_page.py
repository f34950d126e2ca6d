"""The builder of pages: its templates are in the package, and no text that they are given becomes markup."""

from __future__ import annotations

import json
import re
import sys
from html.parser import HTMLParser
from importlib.resources import files

import pytest

from geodim.display.html.page import environment, json_inside, render_page
from geodim.display.table import ReportTable
from geodim.errors import MissingExtraError

jinja2 = pytest.importorskip("jinja2", reason="the report needs jinja2: pip install 'geodim[report]'")

TEMPLATES = {path.name: path.read_text() for path in (files("geodim.display.html") / "templates").iterdir()}
HOSTILE = ["</p><script>x</script>", "\"' onload=x", "&lt;", "{{ 7 * 6 }}", "{% endblock %}", "{# no #}"]


class Reader(HTMLParser):
    """Tags with their attributes, and texts."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(page)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data):
        self.text += data


def test_templates_are_in_the_package():
    assert (
        set(environment().list_templates()) == set(TEMPLATES) > {"page.html", "results.html", "blocks.html"}
    )
    for name in TEMPLATES:
        environment().get_template(name)  # compiles


def test_only_our_own_files_are_markup():
    found = re.findall(r"{{ ([^{}]*)\|\s*safe", "".join(TEMPLATES.values()))
    assert sorted(found) == ['asset("style.css")', "code", "plotly"]
    assert "autoescape" not in "".join(TEMPLATES.values())
    assert environment().autoescape is True


@pytest.mark.parametrize("name", HOSTILE)
def test_names_are_texts_in_elements_and_attributes(name):
    page = environment().from_string('<p title="{{ name }}">{{ name }}</p>').render(name=name)
    reader = Reader(page)
    assert reader.tags == [("p", {"title": name})]
    assert reader.text == name


@pytest.mark.parametrize("name", [*HOSTILE, "\x1b[31m", "\u202e", "\ud800", "\x00", "\u2028"])
def test_names_are_texts_in_a_page(name):
    """Through macros, attributes and the title; what HTML does not allow becomes a box."""
    table = ReportTable([name], [[name]], caption=name, classes=[name])
    page = render_page("blocks.html", title=name, blocks=[("ReportTable", table)], nonce=None)
    page.encode("utf-8")
    shown = re.sub("[\x00\x1b\u2028\u202e\ud800]", "\ufffd", name)
    reader = Reader(page)
    assert reader.text.count(shown) >= 5  # title, heading, caption, head and cell
    assert ("tr", {"class": shown}) in reader.tags
    assert "script" not in dict(reader.tags)
    assert not any(name.startswith("on") for _, attributes in reader.tags for name in attributes)
    if shown != name:
        assert name not in page


def test_a_value_that_is_not_there_is_an_error():
    with pytest.raises(jinja2.UndefinedError):
        render_page("blocks.html", title="no blocks", nonce=None)


@pytest.mark.parametrize("name", ["</script>", "<!--", "&amp;", "'", "\u2028", "\ud800", "größe"])
def test_json_stays_inside(name):
    text = str(json_inside({"name": name}))
    assert json.loads(text) == {"name": name}
    assert text.isascii()
    assert not set("<>&") & set(text)
    with pytest.raises(ValueError, match="JSON"):
        json_inside({"name": float("nan")})


def test_without_jinja2(monkeypatch):
    environment.cache_clear()
    monkeypatch.setitem(sys.modules, "jinja2", None)
    with pytest.raises(MissingExtraError, match=r"geodim\[report\]"):
        render_page("blocks.html", title="t", blocks=[], nonce=None)
