"""The page on formats knows every format that the source writes, and every field of those of results."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

import geodim
from geodim import baselines, gnn

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "reference" / "formats.md").read_text(encoding="utf-8")
X = np.random.default_rng(0).random((80, 3))
EDGES = [(i, (i * i + 1) % 80) for i in range(80)]
MAKE: dict[str, Callable[[], dict[str, object]]] = {
    "IDResult": lambda: geodim.intrinsic_dimension(X).to_dict(),
    "KHopResult": lambda: geodim.khop_dimensions(X, EDGES, hops=1).to_dict(),
    "Explanation": lambda: geodim.explain_dimension(X).to_dict(),
    "FeatureSelection": lambda: geodim.select_features(X, 2).to_dict(),
    "TopFeatures": lambda: geodim.top_features(X, 1, drop_correlated=0.3).to_dict(),
    "HopAdvice": lambda: geodim.advise(geodim.khop_dimensions(X, EDGES, hops=1)).to_dict(),
    "Comparison": lambda: geodim.compare({"one": X, "other": X * X}, repeats=2).to_dict(),
    "SupportCurve": lambda: geodim.support_curve(X > 0.5).to_dict(),
    "BinaryCorrelation": lambda: geodim.binary_correlation_dimension(X > 0.5).to_dict(),
    "SampleCurve": lambda: geodim.subsampled_dimensions(X, repeats=2).to_dict(),
    "StreamingDimension": lambda: json.loads(geodim.StreamingDimension().partial_fit(X).to_json()),
    "Plan": lambda: geodim.plan(geodim.Problem(1000, 3), "cpu").to_dict(),
    "Gauge": lambda: geodim.Gauge.of(geodim.intrinsic_dimension(X)).to_dict(),
    "BaselineResult": lambda: baselines.two_nn(X).to_dict(),
    "SignCost": lambda: gnn.estimate_cost("cora").to_dict(),
    "SignFit": lambda: gnn.SignFit(None, 0.5, 0.5, 1, 1, [0.5], [0.5], 1.0, 1).to_dict(),
    "SignRun": lambda: gnn.SignRun("cora", 1, 0, 7, 0.5, 0.6, 20, 5, 9, 1.0, "cpu", 2, "2.13").to_dict(),
}


def section(kind: str) -> tuple[str, str]:
    """The heading and the text of what the page says of a kind of document."""
    found = re.search(rf"^### (geodim\.{kind}/\d+)\n(.*?)(?=^##)", PAGE, re.MULTILINE | re.DOTALL)
    assert found, kind
    return found[1], found[2]


@pytest.mark.parametrize("kind", MAKE)
def test_fields(kind: str) -> None:
    heading, text = section(kind)
    document = MAKE[kind]()
    assert document["format"] == heading
    cells = re.findall(r"^\| ((?:`\w+`(?:, )?)+) \|", text, re.MULTILINE)
    named = {name for cell in cells for name in re.findall(r"`(\w+)`", cell)}
    assert named == set(document)


def test_every_format_is_on_the_page() -> None:
    """The latest version of each."""
    latest: dict[str, int] = {}
    for path in (ROOT / "src" / "geodim").rglob("*.py"):
        for name, version in re.findall(r'"geodim\.(\w+)/(\d+)"', path.read_text(encoding="utf-8")):
            latest[name] = max(latest.get(name, 0), int(version))
    assert len(latest) > 15
    names = [f"geodim.{name}/{version}" for name, version in latest.items()]
    assert [name for name in names if name not in PAGE] == []
