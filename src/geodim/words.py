"""Numbers, shares, counts and names as people write them: in pages, plots, findings and on the terminal."""

from __future__ import annotations

import math
from decimal import ROUND_UP, Decimal
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = [
    "MOST_LISTED", "at_most", "counted", "feature_label", "fine_percent", "listed", "number", "percent",
    "scale_words", "short", "within",
]  # fmt: skip

NAME_LENGTH = 24  # characters of a name in a plot
MOST_LISTED = 8  # items of a list in a message


def number(value: float, digits: int = 4) -> str:
    """Return a number as text for people: a few digits, commas in large ones, ∞.

    >>> number(45780.4), number(3.90918), number(float("inf"))
    ('45,780', '3.909', '∞')
    """
    if not math.isfinite(value):
        return "∞" if value > 0 else "−∞" if value < 0 else "?"
    if value != 0.0 and not 1e-4 <= abs(value) < 1e9:
        mantissa, exponent = f"{value:.{digits - 1}e}".split("e")
        return f"{mantissa.rstrip('0').rstrip('.') if '.' in mantissa else mantissa}e{int(exponent)}"
    if abs(value) >= 10.0 ** (digits - 1):
        return f"{value:,.0f}"
    return f"{value:.{digits}g}"


def percent(share: float) -> str:
    """Return a share in percent as people write it.

    >>> percent(0.4284), percent(0.00002), percent(0.0)
    ('42.8 %', '< 0.1 %', '0 %')
    """
    if 0.0 < share < 0.001:
        return "< 0.1 %"
    if 0.9995 < share < 1.0 - 1e-9:
        return "> 99.9 %"
    return f"{100.0 * share:.1f} %" if share else "0 %"


def fine_percent(share: float) -> str:
    """Return a share in percent with two digits after the point.

    >>> fine_percent(0.125774), fine_percent(0.00001), fine_percent(0.0)
    ('12.58 %', '< 0.01 %', '0 %')
    """
    if 0.0 < share < 0.00005:
        return "< 0.01 %"
    return f"{100.0 * share:.2f} %" if share else "0 %"


def at_most(value: float) -> str:
    """Return a bound with one digit, rounded up: what is shown must hold as well.

    >>> at_most(1.42e-06), at_most(0.0123), at_most(0.0), at_most(math.inf)
    ('2e-06', '0.02', '0', 'inf')
    """
    if not 0.0 < value < math.inf:
        return f"{value:g}"
    exact = Decimal(value)
    return f"{float(exact.quantize(Decimal((0, (1,), exact.adjusted())), rounding=ROUND_UP)):.1g}"


def within(error: float) -> str:
    """Return how exact numbers are, as the end of a line that holds them; nothing where they are exact.

    >>> within(1.42e-06), within(0.0)
    ('; relative error at most 2e-06', '')
    """
    return f"; relative error at most {at_most(error)}" if error > 0.0 else ""


def counted(count: int, noun: str) -> str:
    """Return a count with its noun.

    >>> counted(1, "point"), counted(1797, "point")
    ('1 point', '1,797 points')
    """
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def listed(items: Sequence[str], *, of: int | None = None) -> str:
    """List the first of some items and how many more there are, out of ``of`` if these are not all.

    >>> listed(["a", "b"]), listed(["a"], of=3)
    ('a, b', 'a and 2 more')
    """
    shown = items[:MOST_LISTED]
    more = (len(items) if of is None else of) - len(shown)
    return ", ".join(shown) + (f" and {more:,} more" if more else "")


def short(name: str, length: int = NAME_LENGTH) -> str:
    """Return a name from the data on one line of at most ``length`` characters, for labels in a plot.

    >>> short("a very long name of a column in some table")
    'a very long na…some table'
    """
    name = (
        " ".join("".join(letter if letter.isprintable() else " " for letter in name).split()) or "(no name)"
    )
    if len(name) > length:
        tail = length // 2 - 2
        name = f"{name[: length - tail]}…{name[-tail:]}"
    return name


def feature_label(name: str, length: int = NAME_LENGTH) -> str:
    """Return what a plot calls a feature: its name, or its number if it has none.

    >>> feature_label("12"), feature_label("age")
    ('feature 12', 'age')
    """
    return f"feature {name}" if name.isascii() and name.isdigit() else short(name, length)


def scale_words(scale: object) -> str:
    """Say what columns were divided by; ``scale`` is as in the parameters of a result."""
    words = {
        "global": "all columns by the largest range",
        "none": "columns as they are",
        "range": "each column by its range",
        "iqr": "each column by its interquartile range",
        "std": "each column by its standard deviation",
        "rank": "ranks in each column",
    }
    if isinstance(scale, str):
        return words.get(scale, "each column by a given unit")
    return "each column by a given unit" if isinstance(scale, list) else f"all columns by {scale:g}"
