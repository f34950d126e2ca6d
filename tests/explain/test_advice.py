"""Advice on hops: the rule, the bounds, and words that agree with the paper's tables."""

from __future__ import annotations

import json
import math
import re
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import geodim
from geodim.data.datasets import load_dataset
from geodim.errors import InputTypeError, InputValueError
from geodim.explain.advice import BASIS, CAVEATS
from geodim.khop_result import KHopResult

# paper.tex, tab:k_hop_ids, dimensions exactly as printed.
PRINTED = {
    "PubMed": [2542.3425, 2336.6611, 2077.5821, 2077.0953, 2077.0886, 2077.0848],
    "Cora": [6.2523, 3.8324, 3.6689, 3.6627, 3.6624, 3.6623],
    "CiteSeer": [22.3337, 11.3166, 10.2347, 9.8134, 9.5491, 9.3795],
    "ogbn-arxiv": [83.9160, 31.4731, 31.4731, 31.4730, 30.7370, 30.3767],
    "ogbn-products": [1169323.2496, 1169044.4736, 1169044.2216, 1169044.2216, 1169044.2216, 1169044.2216],
    "ogbn-mag": [2311.3509, 2284.0290, 2284.0290, 2284.0290, 2284.0290, 2284.0290],
}

# The same table, mean SIGN accuracies.
ACCURACY = {
    "PubMed": [0.6850, 0.7191, 0.7378, 0.7565, 0.7615, 0.7571],
    "Cora": [0.5329, 0.7223, 0.7766, 0.7870, 0.7917, 0.7951],
    "CiteSeer": [0.4975, 0.6165, 0.6530, 0.6677, 0.6695, 0.6734],
    "ogbn-arxiv": [0.5341, 0.6572, 0.6903, 0.6917, 0.6901, 0.6890],
    "ogbn-products": [0.5969, 0.7204, 0.7590, 0.7660, 0.7678, 0.7687],
    "ogbn-mag": [0.2712, 0.3635, 0.3879, 0.3959, 0.3983, 0.4012],
}


def hops_of(dimensions: list[float], error: float = 0.0) -> KHopResult:
    """A result with these dimensions, known within a relative error."""
    one = geodim.intrinsic_dimension(np.eye(3))
    results = []
    for dimension in dimensions:
        delta = 0.0 if dimension == math.inf else dimension**-0.5
        results.append(
            replace(
                one,
                discriminability=delta,
                discriminability_lower=delta / math.sqrt(1.0 + error),
                discriminability_upper=delta * math.sqrt(1.0 + error),
                exact=error == 0.0,
            )
        )
    return KHopResult(results=results)


@pytest.mark.parametrize(
    ("name", "tolerance", "hops"),
    [
        ("PubMed", 0.01, 2),
        ("Cora", 0.01, 2),
        ("Cora", 0.05, 1),
        ("CiteSeer", 0.01, 5),
        ("CiteSeer", 0.02, 4),
        ("ogbn-arxiv", 0.05, 1),
        ("ogbn-arxiv", 0.01, 5),
        ("ogbn-products", 0.01, 0),
        ("ogbn-mag", 0.01, 1),
        ("ogbn-mag", 0.02, 0),
    ],
)
def test_smallest_within_the_tolerance(name: str, tolerance: float, hops: int) -> None:
    """Read off the printed table by hand."""
    advice = geodim.advise(hops_of(PRINTED[name]), tolerance)
    assert advice.hops == hops
    assert advice.certain
    assert advice.computed == 5
    assert advice.excess[-1] == 0.0
    for k, drop in enumerate(advice.drops, 1):
        assert drop == pytest.approx(1 - PRINTED[name][k] / PRINTED[name][k - 1], abs=1e-9)


class TestEvidence:
    """What the words say about the paper's tables, checked against them."""

    def test_first_hop(self) -> None:
        for name, dimensions in PRINTED.items():
            drops = -np.diff(dimensions) / dimensions[:-1]
            assert np.argmax(np.diff(ACCURACY[name])) == 0
            assert np.argmax(drops) == (1 if name == "PubMed" else 0)
        assert BASIS.count("on all six graphs") == BASIS.count("on five of them") == 1

    def test_the_study(self) -> None:
        """See docs/study.md."""
        from geodim.experiments.study_questions import RULES, ahead_of, graphs, regrets
        from prose.sources import rows

        some = graphs(rows("study"))
        lost = regrets(some, RULES)["advise"].value
        assert f"lost {100 * lost:.1f} points of accuracy" in CAVEATS
        assert all(ahead_of(some, RULES["advise"], RULES[f"always {k}"]).upper < 0.0 for k in (1, 2))

    @pytest.mark.parametrize(
        ("name", "k", "words"),
        [
            ("Cora", 1, "dimension -39 %, accuracy 53 % to 72 %"),
            ("PubMed", 1, "(dimension -8 %, then -11 %)"),
            ("ogbn-products", 1, "dimension -0.02 %, accuracy 60 % to 72 %"),
            ("ogbn-arxiv", 2, "dimension unchanged, accuracy 66 % to 69 %"),
        ],
    )
    def test_numbers(self, name: str, k: int, words: str) -> None:
        assert words in BASIS + CAVEATS
        drops = [100.0 * (1.0 - b / a) for a, b in pairwise(PRINTED[name])]
        numbers = [float(number) for number in re.findall(r"-?[\d.]+(?= %)", words)]
        if words.startswith("dimension unchanged"):
            assert drops[k - 1] == 0.0
            numbers.insert(0, -0.0)
        digits = 2 if abs(numbers[0]) < 1 else 0
        assert round(drops[k - 1], digits) == -numbers[0]
        if "then" in words:
            assert round(drops[k]) == -numbers[1]
        else:
            before, after = (round(100 * ACCURACY[name][hop]) for hop in (k - 1, k))
            assert [before, after] == numbers[1:]


class TestWords:
    def test_basis_and_caveats_are_always_there(self) -> None:
        for dimensions in PRINTED.values():
            text = str(geodim.advise(hops_of(dimensions)))
            assert "Basis:" in text
            assert "Caveats:" in text
            assert "bounds" not in text, "exact values need no word about them"

    def test_kinds_of_advice(self) -> None:
        assert "Consider 2 hops: " in geodim.advise(hops_of(PRINTED["Cora"])).text
        assert "Consider 1 hop: " in geodim.advise(hops_of(PRINTED["ogbn-mag"])).text
        assert "compute more" in geodim.advise(hops_of(PRINTED["CiteSeer"])).text
        assert "hardly lowers" in geodim.advise(hops_of(PRINTED["ogbn-products"])).text
        assert "nothing can be said" in geodim.advise(hops_of([5.0])).text
        assert "hop 1: 38.70 %" in geodim.advise(hops_of(PRINTED["Cora"])).text

    def test_json(self) -> None:
        values = json.loads(json.dumps(geodim.advise(hops_of(PRINTED["Cora"])).to_dict(), allow_nan=False))
        assert values["hops"] == 2
        assert values["format"] == "geodim.HopAdvice/1"
        infinite = geodim.advise(hops_of([math.inf, 4.0])).to_dict()
        assert infinite["dimensions"] == ["inf", 4.0]
        assert json.dumps(infinite, allow_nan=False)


class TestBounds:
    def test_certain_or_not(self) -> None:
        dimensions = [10.0, 5.0, 4.02, 4.0]
        narrow = geodim.advise(hops_of(dimensions, 1e-4), 0.01)
        assert (narrow.hops, narrow.certain) == (2, True)
        assert "certain in spite" in narrow.text
        wide = geodim.advise(hops_of(dimensions, 0.02), 0.01)
        assert (wide.hops, wide.certain) == (3, False)
        assert "not certain" in wide.text

    def test_constant(self) -> None:
        advice = geodim.advise(hops_of([math.inf, math.inf]))
        assert advice.hops == 0
        assert advice.drops == [0.0]

    @pytest.mark.parametrize(
        ("tolerance", "error"),
        [(-0.1, InputValueError), (math.inf, InputValueError), (math.nan, InputValueError),
         ("1%", InputTypeError), (True, InputTypeError)],
    )  # fmt: skip
    def test_tolerance(self, tolerance: Any, error: type[Exception]) -> None:
        with pytest.raises(error, match="tolerance"):
            geodim.advise(hops_of([2.0, 1.0]), tolerance)

    def test_zero_tolerance(self) -> None:
        assert geodim.advise(hops_of([3.0, 2.0, 2.0]), 0.0).hops == 1


def test_real_graph() -> None:
    data = load_dataset("cora", offline=True)
    advice = geodim.advise(geodim.khop_dimensions(data.x, data.edge_index, 3))
    assert advice.hops == 2
    rough = geodim.advise(geodim.khop_dimensions(data.x, data.edge_index, 3, rtol=1e-3))
    assert (rough.hops, rough.certain) == (2, True)
