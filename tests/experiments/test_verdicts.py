"""Verdicts: printed digits are strings, rounding is not a difference, and a difference has a reason."""

from __future__ import annotations

import math

import pytest

from geodim.errors import InputValueError
from geodim.experiments.printed import count_printed, printed
from geodim.experiments.verdicts import (
    Comparison,
    Verdict,
    absent,
    count_verdicts,
    judge,
    rounds_to,
    spread_tolerance,
)


@pytest.mark.parametrize(
    ("value", "text", "expected"),
    [
        (6.2523, "6.2523", True),
        (6.25225, "6.2523", True),
        (6.252249, "6.2523", False),
        (6.25235, "6.2523", True),
        (6.25236, "6.2523", False),
        (83.916, "83.9160", True),
        (83.91604, "83.9160", True),
        (83.9161, "83.9160", False),
        (19717.0, "19717", True),
        (19718.0, "19717", False),
        (2.5517e-4, "2.55e-4", True),
        (2.544e-4, "2.55e-4", False),
        (0.00035, "0.0004", True),
        (0.00034, "0.0004", False),
        (math.nan, "1.0", False),
        (math.inf, "1.0", False),
    ],
)
def test_rounds_to(value, text, expected):
    assert rounds_to(value, text) is expected


def made(text: str, ours: float, **options: object) -> Comparison:
    return judge("khop", "ID", "PubMed", "k = 1", text, ours, because="of the data", **options)


def test_equal():
    assert made("2336.6611", 2336.66108).verdict is Verdict.EQUAL
    assert made("2336.6611", 2336.66108).sentence == "equal to printed digits"


def test_rounding_reports_the_difference():
    one = made("2336.6611", 2336.6607975)
    assert one.verdict is Verdict.ROUNDING
    assert one.sentence == "equal up to float32 rounding: relative difference 1.3e-07"
    assert one.difference == pytest.approx(-3.025e-4)


def test_rounding_ends_at_one_millionth():
    assert made("1000.0000", 1000.0009).verdict is Verdict.ROUNDING
    assert made("1000.0000", 1000.0011).verdict is Verdict.DIFFERENT


def test_different_says_why():
    assert made("6.2523", 6.3).sentence == "different, because of the data"


@pytest.mark.parametrize("because", ["", "  "])
def test_a_difference_without_a_reason_is_refused(because):
    with pytest.raises(InputValueError, match="reason"):
        judge("khop", "ID", "Cora", "k = 0", "6.2523", 6.2523, because=because)


def test_spread():
    accuracy = {"printed_spread": "0.0120", "our_spread": 0.01, "tolerance": spread_tolerance("0.0120")}
    assert made("0.5329", 0.5560, **accuracy).verdict is Verdict.SPREAD  # two deviations
    assert made("0.5329", 0.5580, **accuracy).verdict is Verdict.DIFFERENT
    narrow = {"printed_spread": "0.0016", "tolerance": spread_tolerance("0.0016")}
    assert made("0.5969", 0.6110, **narrow).verdict is Verdict.SPREAD  # one and a half points
    assert made("0.5969", 0.6130, **narrow).verdict is Verdict.DIFFERENT
    # A spread alone does not excuse anything: it is the experiment that says so.
    assert made("2.55e-4", 2.5e-4, printed_spread="1.13e-8").verdict is Verdict.DIFFERENT


def test_all_verdicts_are_counted():
    some = [
        made("6.2523", 6.2523),
        made("6.2523", 7.0),
        absent("mle", "MLE", "ogbn-mag", "k = 0", "30.7024", "how"),
    ]
    assert count_verdicts(some) == {
        "equal to printed digits": 1,
        "equal up to float32 rounding": 0,
        "within the paper's own spread": 0,
        "different": 1,
        "not at hand": 1,
    }
    assert some[2].difference is None
    assert some[2].to_dict()["verdict"] == "not at hand"


def test_printed_numbers_are_strings_with_their_digits():
    values = printed()
    assert values["khop_id"]["ogbn-arxiv"][0] == "83.9160"
    assert values["statistics"]["PubMed"]["nodes"] == "19717"
    assert values["random_data"]["error"]["1000000"]["10"] == {"mean": "2.55e-4", "std": "1.13e-8"}
    assert sum(count_printed().values()) == 156
