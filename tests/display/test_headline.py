"""The top of the report: gauge, verdict, alerts, the advised number of hops, title and date."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest

import geodim
from geodim.display.html.gauge import GaugePicture, gauge_picture
from geodim.display.html.sources import Item
from geodim.gauge import Gauge, Mark
from geodim.words import number

pytest.importorskip("plotly", reason="the report needs plotly: pip install 'geodim[report]'")
pytest.importorskip("jinja2", reason="the report needs jinja2: pip install 'geodim[report]'")
from geodim.display.html.document import render_report

RNG = np.random.default_rng(8)
X = RNG.normal(size=(120, 4))
RING = np.stack([np.arange(120), np.roll(np.arange(120), 1)])


def page_of(*items: Item) -> str:
    """The page without scripts."""
    return re.sub(r"<script.*?</script>", "", render_report(items), flags=re.DOTALL)


@pytest.mark.parametrize("dimension", [1.01, 3.9, 4.0, 24.0, 87.0, 2542.0, 1e8])
@pytest.mark.parametrize("width", [1.0, 1.3, 40.0])
def test_labels_are_inside_and_apart(dimension, width):
    marks = {"evenly spaced": 4.0, "uniform": 4.003, "normal": 24.2, "Laplace": 86.6}
    gauge = Gauge(dimension, dimension, dimension * width, tuple(Mark(*pair) for pair in marks.items()), 9, 9)
    picture = gauge_picture(gauge)
    assert [mark.x for mark in picture.marks] == sorted(mark.x for mark in picture.marks)
    boxes = [
        (mark.text_x - 3 * len(mark.text), mark.text_x + 3 * len(mark.text), mark.text_y)
        for mark in picture.marks
    ]
    for at, (left, right, y) in enumerate(boxes):
        assert left >= 0
        assert right <= GaugePicture.WIDTH
        assert y < picture.height
        assert all(y != y2 or right < left2 or right2 < left for left2, right2, y2 in boxes[at + 1 :])
    assert GaugePicture.LEFT <= picture.here_from <= picture.here.x <= GaugePicture.WIDTH - GaugePicture.LEFT
    assert (picture.here_to > picture.here_from) == (width > 1.0)


def test_alerts_stand_at_the_top_and_are_texts():
    typo = X.copy()
    typo[5, 1] = 1e5
    result = geodim.intrinsic_dimension(typo, feature_names=["a", "<script>b</script>", "c", "d"])
    page = page_of(Item("typo", result))
    assert page.index('class="alert warning"') < page.index('class="verdict"') < page.index('id="r0-curve"')
    assert "&lt;script&gt;b&lt;/script&gt;" in page
    assert "<script>b" not in page
    assert 'class="alert' not in page_of(Item("plain", geodim.intrinsic_dimension(X)))


def test_a_result_of_an_earlier_version():
    """It has no alerts, and the advice that there was instead."""
    result = replace(geodim.intrinsic_dimension(X * [1000, 1, 1, 1]), alerts=())
    page = page_of(Item("old", result))
    assert 'class="alert' not in page
    assert "other units or outliers" in page


def test_the_advised_hop_is_the_headline():
    result = geodim.khop_dimensions(RNG.integers(0, 2, (120, 4)), RING, 4)
    k = geodim.advise(result).hops
    page = page_of(Item("ring", result))
    lead = re.search(r'<p class="lead">(.*?)</p>', page, re.DOTALL)[1]
    assert number(result[k].dimension) in lead
    assert ("which is what we advise" in lead) == (k < 4)


def test_title_and_date():
    result = geodim.intrinsic_dimension(X)
    dated = replace(result, parameters={**result.parameters, "date": "2026-11-16"})
    page = page_of(Item("one", dated), Item("two", result))
    assert "<h1>one and two</h1>" in page
    assert "geodim report, 2026-11-16" in page
    assert "geodim report</p>" in page_of(Item("two", result))
