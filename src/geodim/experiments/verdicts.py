"""Verdicts on printed numbers beside ours.

Printed numbers are kept as the strings that the paper prints: "6.2523" claims four decimals, so that ours is
equal if it rounds to these digits.  Sums of float32 features differ from machine to machine by about 1e-7 of
their size, which can change the last printed digit; the relative difference of the computed numbers
distinguishes that from a real difference.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from typing import Any

from geodim.errors import InputValueError

__all__ = [
    "ROUNDING",
    "Claim",
    "Comparison",
    "Verdict",
    "absent",
    "count_verdicts",
    "judge",
    "rounds_to",
    "spread_tolerance",
]

ROUNDING = 1e-6  # relative difference that sums of float32 values may have
SPREADS, POINTS = 2.0, 0.015  # accuracies agree within two standard deviations or one and a half points


class Verdict(StrEnum):
    """What can be said about a printed number."""

    EQUAL = "equal to printed digits"
    ROUNDING = "equal up to float32 rounding"
    SPREAD = "within the paper's own spread"
    DIFFERENT = "different"
    ABSENT = "not at hand"


@dataclass(frozen=True)
class Comparison:
    """One printed number.

    Attributes
    ----------
    experiment, quantity, dataset, case : str
        What the number is: of which experiment, which quantity, of which data, and for which k or size.
    printed : str
        As the paper prints it.
    printed_spread : str or None
        The standard deviation printed beside it.
    ours, our_spread : float or None
        The same, computed here.
    verdict : Verdict
        The verdict.
    reason : str
        Why it is different or missing; otherwise anything worth knowing.
    """

    experiment: str
    quantity: str
    dataset: str
    case: str
    printed: str
    ours: float | None
    verdict: Verdict
    reason: str = ""
    printed_spread: str | None = None
    our_spread: float | None = None

    @property
    def difference(self) -> float | None:
        """Return our value minus the printed one."""
        return None if self.ours is None else self.ours - float(self.printed)

    @property
    def sentence(self) -> str:
        """The verdict in words, with its reason."""
        if self.verdict is Verdict.DIFFERENT:
            return f"different, because {self.reason}"
        return f"{self.verdict.value}: {self.reason}" if self.reason else self.verdict.value

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON."""
        values = {name: getattr(self, name) for name in self.__dataclass_fields__}
        return values | {"verdict": self.verdict.value, "difference": self.difference}


@dataclass(frozen=True)
class Claim:
    """A sentence of the paper, whether the rows confirm it, and the evidence.

    None if there is nothing to test it with.  ``words`` says it more exactly than yes or no.
    """

    text: str
    holds: bool | None
    evidence: str
    words: str = ""

    @property
    def sentence(self) -> str:
        """Return the verdict in words."""
        return self.words or {True: "holds", False: "does not hold", None: "not tested"}[self.holds]

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON."""
        return {
            "text": self.text,
            "holds": self.holds,
            "verdict": self.sentence,
            "evidence": self.evidence,
        }


def rounds_to(value: float, printed: str) -> bool:
    """Return whether a value, rounded to as many digits, has the printed ones.

    Examples
    --------
    >>> rounds_to(6.25227, "6.2523")
    True
    >>> rounds_to(2.5499e-4, "2.55e-4"), rounds_to(2.5449e-4, "2.55e-4")
    (True, False)
    """
    if not math.isfinite(value):
        return False
    target = Decimal(printed)
    # Not rounded and compared: at a tie either digit may be printed, depending on the rounding.
    half = Decimal(5).scaleb(int(target.as_tuple().exponent) - 1)
    return abs(Decimal(repr(float(value))) - target) <= half


def judge(
    experiment: str,
    quantity: str,
    dataset: str,
    case: str,
    printed: str,
    ours: float,
    *,
    because: str,
    printed_spread: str | None = None,
    our_spread: float | None = None,
    tolerance: float = 0.0,
    note: str = "",
) -> Comparison:
    """Compare a number with the printed one.

    Parameters
    ----------
    experiment, quantity, dataset, case, printed, ours, printed_spread, our_spread
        As for `Comparison`.
    because : str
        What explains a difference; only used if there is one, and never empty.
    tolerance : float
        How far apart two numbers may be that the paper's own spread explains; see `spread_tolerance`.
    note : str
        What to add if there is none.

    Examples
    --------
    >>> judge("khop", "ID", "Cora", "k = 0", "6.2523", 6.25228, because="it is not").sentence
    'equal to printed digits'
    >>> judge("khop", "ID", "Cora", "k = 0", "6.2523", 7.0, because="of other data").sentence
    'different, because of other data'
    """
    if not because.strip():
        raise InputValueError("a difference needs a reason: because is empty")
    verdict, reason = Verdict.DIFFERENT, because
    distance = abs(ours - float(printed))
    if rounds_to(ours, printed):
        verdict, reason = Verdict.EQUAL, note
    elif distance <= tolerance:
        verdict, reason = Verdict.SPREAD, note
    elif distance <= ROUNDING * abs(float(printed)):
        verdict = Verdict.ROUNDING
        reason = f"relative difference {distance / abs(float(printed)):.1e}" + (f"; {note}" if note else "")
    return Comparison(
        experiment, quantity, dataset, case, printed, ours, verdict, reason, printed_spread, our_spread
    )


def spread_tolerance(printed_spread: str) -> float:
    """Return how far apart two accuracies may be: two of the paper's standard deviations, or 1.5 points.

    Examples
    --------
    >>> spread_tolerance("0.0362"), spread_tolerance("0.0045")
    (0.0724, 0.015)
    """
    return max(SPREADS * float(printed_spread), POINTS)


def absent(
    experiment: str,
    quantity: str,
    dataset: str,
    case: str,
    printed: str,
    how: str = "",
    printed_spread: str | None = None,
) -> Comparison:
    """Return a printed number that was not computed here, and how it could be; the report adds details."""
    return Comparison(experiment, quantity, dataset, case, printed, None, Verdict.ABSENT, how, printed_spread)


def count_verdicts(comparisons: list[Comparison]) -> dict[str, int]:
    """Return how many numbers have each verdict.

    Examples
    --------
    >>> count_verdicts([absent("khop", "ID", "ogbn-mag", "k = 0", "2311.3509", "fetch it")])["not at hand"]
    1
    """
    return {verdict.value: sum(one.verdict is verdict for one in comparisons) for verdict in Verdict}
