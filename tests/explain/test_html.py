"""Explanation, selection and advice in a notebook: well-formed HTML that says what each holds.

Names are escaped.
"""

from __future__ import annotations

from dataclasses import replace
from html.parser import HTMLParser
from typing import Any

import numpy as np
import pytest

import geodim
from geodim.errors import DegenerateDataWarning

EVIL = "<script>alert('&')</script>"


class Reader(HTMLParser):
    """Tags in the order of opening, each closed by its own, and the pieces of text."""

    def __init__(self, markup: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.texts: list[str] = []
        self.open: list[str] = []
        self.feed(markup)
        self.close()
        assert not self.open

    def handle_starttag(self, tag: str, attrs: Any) -> None:  # noqa: ARG002 - the parser's signature
        self.tags.append(tag)
        self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append(data)

    @property
    def text(self) -> str:
        return "\n".join(self.texts)


def read(shown: Any) -> Reader:
    return Reader(shown._repr_html_())


@pytest.fixture
def points() -> np.ndarray:
    return np.random.default_rng(5).normal(size=(200, 14)) * np.arange(1, 15)


def names(count: int) -> list[str]:
    return [f"{EVIL}{i}" for i in range(count)]


class TestSelection:
    def test_says_what_was_chosen(self, points: np.ndarray) -> None:
        selection = geodim.select_features(points, 3, feature_names=names(14))
        page = read(selection)
        assert "script" not in page.tags
        assert page.tags.count("tr") == 4
        for row in selection.rows():
            assert row["feature"] in page.texts
            assert f"{row['fraction']:.2%}" in page.texts
            assert f"{row['dimension']:.6g}" in page.texts
        assert f"3 of 14 features; dimension of all {selection.dimension:.6g}" in page.text

    def test_half_a_character(self, points: np.ndarray) -> None:
        """A name that UTF-8 cannot hold: the notebook must still be saved."""
        selection = geodim.select_features(points, 3, feature_names=[f"\udcff{i}" for i in range(14)])
        selection._repr_html_().encode("utf-8")

    def test_many(self, points: np.ndarray) -> None:
        page = read(geodim.select_features(points, 14))
        assert page.tags.count("tr") == 12
        assert "and 4 more" in page.texts

    def test_constant(self) -> None:
        with pytest.warns(DegenerateDataWarning):
            selection = geodim.select_features(np.ones((5, 3)), 1)
        assert "inf" in read(selection).texts


class TestExplanation:
    def test_says_who_carries_it(self, points: np.ndarray) -> None:
        explanation = geodim.explain_dimension(points, feature_names=names(14))
        page = read(explanation)
        assert "script" not in page.tags
        assert f"{explanation.result.dimension:.6g}" in page.texts
        for name, share in list(explanation.shares.items())[:3]:
            assert f"{name} {share:.1%}" in page.text
        assert f"core of {len(explanation.core)}" in page.texts
        assert "by hops" not in page.texts

    def test_hops(self, points: np.ndarray) -> None:
        edges = np.stack([np.arange(199), np.arange(1, 200)])
        explanation = geodim.explain_hops(points, edges, 1)
        page = read(explanation)
        assert "by hops" in page.texts
        assert f"hop 1 {explanation.hop_shares[1]:.1%}" in page.text

    def test_constant(self) -> None:
        with pytest.warns(DegenerateDataWarning):
            explanation = geodim.explain_dimension(np.ones((5, 3)))
        assert "carried by 0 of 3 features" in read(explanation).texts


def test_advice() -> None:
    result = geodim.khop_dimensions(np.eye(6), [(i, i + 1) for i in range(5)], hops=2)
    advice = geodim.advise(result)
    page = read(advice)
    assert page.text == advice.text
    assert page.tags.count("p") == len(advice.text.splitlines())
    assert "script" not in read(replace(advice, text=EVIL)).tags
    assert EVIL in read(replace(advice, text=EVIL)).texts
