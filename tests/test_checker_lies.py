"""Every kind of lie in a certificate, and what the checker says of it."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
import pytest

import geodim
from certified import all_of, changed, check, every, hopped, plain, put, recomputed
from geodim import checker

if TYPE_CHECKING:
    from certified import Change

# Every field, and every way in which it can be malformed; the reason names the field.
MALFORMED: dict[str, dict[str, Change]] = {
    "geodim.Certificate/2 with its fourteen fields": {
        "another version": put("format", to="geodim.Certificate/1"),
        "no format": lambda c: c.pop("format"),
        "a field too many": put("approved", to=True),
        "a field too few": lambda c: c.pop("unit"),
    },
    "n_points": {
        "a float": put("n_points", to=300.0),
        "a bool": put("n_points", to=True),
        "none": put("n_points", to=0),
        "negative": put("n_points", to=-300),
        "too many": put("n_points", to=2**31 + 1),
        "huge": put("n_points", to=2**70),
        "a list": put("n_points", to=[300]),
        "null": put("n_points", to=None),
        "an object": put("n_points", to={"a": 1}),
    },
    "n_features": {"none": put("n_features", to=0), "text": put("n_features", to="3")},
    "hops": {
        "too many": put("hops", to=2**20),
        "a bool": put("hops", to=False),
        "negative": put("hops", to=-1),
    },
    "operator": {
        "one without hops": put("operator", to="sym"),
        "a list": put("operator", to=["sym"]),
    },
    "normalized": {"a number": put("normalized", to=1), "text": put("normalized", to="false")},
    "d_max": {
        "text": put("d_max", to="inf"),
        "a whole number": put("d_max", to=7),
        "not a number": put("d_max", to=float("nan")),
        "infinite": put("d_max", to=float("inf")),
        "negative": put("d_max", to=-1.0),
    },
    "unit": {
        "overflows": put("unit", to=972),
        "below all numbers": put("unit", to=-1075),
        "a float": put("unit", to=-9.0),
    },
    "sizes": {
        "text": put("sizes", to="all"),
        "a number": put("sizes", to=300),
        "an object": put("sizes", to={"2": 3}),
        "a bool": put("sizes", 0, to=True),
        "nested": put("sizes", 0, to=[2]),
        "1": put("sizes", 0, to=1),
        "beyond n": put("sizes", -1, to=301),
        "huge": put("sizes", -1, to=2**70),
        "descending": lambda c: c["sizes"].sort(reverse=True),
        "one twice": lambda c: c["sizes"].__setitem__(1, c["sizes"][0]),
        "not to n": all_of(*[put(*path, to=lambda row: row[:-1]) for path in
                             (("sizes",), ("lower", 0), ("upper", 0), ("by", 0))]),
        "none": all_of(put("sizes", to=[]), *[put(name, to=[[]]) for name in ("lower", "upper", "by")]),
    },
    "lower": {
        "too few": lambda c: c["lower"][0].pop(),
        "a float": put("lower", 0, 5, to=1.5),
        "a whole float": put("lower", 0, 5, to=1.0),
        "negative": put("lower", 0, 5, to=-1),
        "missing": put("lower", 0, 5, to=None),
        "no table": put("lower", to=lambda table: table[0]),
    },
    "upper": {
        "too many": lambda c: c["upper"][0].append(1),
        "a bool": put("upper", 0, 5, to=True),
        "beyond floats": put("upper", 0, -1, to=2**53),
        "beyond int64": put("upper", 0, -1, to=2**63),
        "of another layer": lambda c: c["upper"].append(c["upper"][0]),
        "text": put("upper", 0, 5, to="7"),
    },
    "by": {
        "a feature that is not there": put("by", 0, 5, to=3),
        "a negative feature": put("by", 0, 5, to=-1),
        "ragged": put("by", to=lambda table: [*table, [0]]),
    },
    "starts": {
        "an object": put("starts", to={}),
        "empty": put("starts", to=[]),
        "without ranks": lambda c: c["starts"].pop(),
        "uneven": lambda c: c["starts"][2].pop(),
        "negative": put("starts", 2, 0, to=-1),
        "huge": put("starts", 2, 0, to=2**80),
        "a float": put("starts", 1, 0, to=5.5),
    },
    "claims": {
        "no interval": put("claims", to=0.2),
        "three numbers": put("claims", 0, to=[1.0, 2.0, 3.0]),
        "bools": put("claims", 0, to=[False, True]),
        "not a number": put("claims", 0, to=[float("nan"), 1.0]),
        "infinite": put("claims", 0, 1, to=float("inf")),
        "text": put("claims", 0, to=["0", "inf"]),
        "negative": put("claims", 0, 0, to=-1.0),
        "whole numbers": put("claims", 0, to=[0, 1]),
        "none": put("claims", to=[]),
        "too many": lambda c: c["claims"].append([0.0, 1.0]),
    },
}  # fmt: skip


@pytest.mark.parametrize(
    ("field", "lie"), [(field, lie) for field, lies in MALFORMED.items() for lie in lies]
)
def test_malformed(field: str, lie: str) -> None:
    certificate, *data = plain()
    with pytest.raises(checker.RefutedError, match=rf"{field}|malformed"):
        check(changed(certificate, MALFORMED[field][lie]), *data)


AT_LEAST = r"Phi\(\d+\) is said to be at least .* by feature \d, but its window from rank \d+ on is .* wide"
AT_MOST = (
    r"Phi\(\d+\) is said to be at most .*, but the window named for feature \d, from rank \d+ on, is .* wide"
)
FALSE_STATEMENTS: dict[str, tuple[Change, str]] = {
    "more points": (
        all_of(put("n_points", to=301), put("sizes", -1, to=301)),
        r"about 301 points and 3 features, the data has the shape \(300, 3\)",
    ),
    "more features": (put("n_features", to=4), "about 300 points and 4 features"),
    "a larger d_max": (put("d_max", to=lambda value: float(np.nextafter(value, 9.0))), "d_max is said to be"),
    "a smaller d_max": (put("d_max", to=lambda value: 0.5 * value), "but the largest range is"),
    "no d_max": (put("d_max", to=0.0), "but the largest range is"),
    "a lower bound above Phi": (put("lower", 0, 40, to=lambda value: value + 2000), AT_LEAST),
    "all lower bounds above Phi": (every("lower", 0, add=2000), AT_LEAST),
    "an upper bound below Phi": (put("upper", 0, 40, to=lambda value: value - 2000), AT_MOST),
    "an upper bound of 0": (put("upper", 0, 0, to=0), "at most 0.0"),
    "all bounds lower": (put("unit", to=lambda value: value - 1), AT_MOST),
    "all bounds higher": (put("unit", to=lambda value: value + 1), AT_LEAST),
    "a feature that does not reach so far": (every("by", 0, to=2), "by feature 2"),
    "windows elsewhere": (every("starts", 2, to=0), r"window named for feature \d, from rank 0"),
    "no windows": (put("starts", to=[[], [], []]), AT_MOST),
    "windows of other features": (every("starts", 0, to=2), "named for feature"),
    "windows of no feature": (every("starts", 0, to=2**31), AT_MOST),
    "windows in disorder": (put("starts", to=lambda table: [row[::-1] for row in table]), AT_MOST),
    "windows beyond the end": (every("starts", 2, to=299), AT_MOST),
    "windows far beyond the end": (every("starts", 2, to=2**31), AT_MOST),
    "windows before the beginning": (put("starts", to=[[0, 0, 1], [250, 100, 2**31], [0, 2**31, 2**31]]),
                                     AT_MOST),
    "other sizes": (
        put("sizes", to=lambda values: [value - (value > 2) for value in values[:-1]] + values[-1:]),
        "Phi|sizes",
    ),
    "sizes left out": (
        all_of(
            put("sizes", to=lambda values: values[:40:2] + values[-1:]),
            *[put(name, 0, to=lambda row: row[1:41:2] + row[-1:]) for name in ("lower", "upper", "by")],
        ),
        "Phi",
    ),
}  # fmt: skip

NEXT = {
    "up": lambda value: float(np.nextafter(value, 9.0)),
    "down": lambda value: float(np.nextafter(value, 0.0)),
}
DELTA = r"Delta after 0 hops: claimed \[.*\], proved \[.*\]"
TOO_MUCH_CLAIMED: dict[str, Change] = {
    "Delta from higher up": put("claims", 0, 0, to=NEXT["up"]),
    "Delta from lower down": put("claims", 0, 1, to=NEXT["down"]),
    "no Delta at all": put("claims", 0, to=[0.0, 0.0]),
    "a claim upside down": put("claims", 0, to=lambda claim: claim[::-1]),
    "not normalised": put("normalized", to=False),
    "bounds wider than the claim": every("lower", 0, to=0),
    "bounds beyond all floats": all_of(put("unit", to=971), every("lower", 0, to=0),
                                       every("upper", 0, to=2**53 - 1)),
    "fewer sizes than the claim": all_of(
        put("sizes", to=lambda values: values[-1:]),
        *[put(name, 0, to=lambda row: row[-1:]) for name in ("lower", "upper", "by")],
    ),
}  # fmt: skip


@pytest.mark.parametrize("claims", ["as they were", "to match"])
@pytest.mark.parametrize("lie", FALSE_STATEMENTS)
def test_false_statements(lie: str, claims: str) -> None:
    """Not only does the claim not follow: the false statement itself is found."""
    certificate, *data = plain()
    change, reason = FALSE_STATEMENTS[lie]
    false = changed(certificate, change)
    with pytest.raises(checker.RefutedError, match=reason):
        check(recomputed(false) if claims == "to match" else false, *data)


@pytest.mark.parametrize("lie", TOO_MUCH_CLAIMED)
def test_claims_of_more_than_is_proved(lie: str) -> None:
    certificate, *data = plain()
    with pytest.raises(checker.RefutedError, match=DELTA):
        check(changed(certificate, TOO_MUCH_CLAIMED[lie]), *data)


HOP_LIES: dict[str, tuple[Change, str]] = {
    "fewer hops": (put("hops", to=1), "lower|upper|by|claims"),
    "fewer layers": (
        all_of(
            put("hops", to=1), *[put(name, to=lambda table: table[:2]) for name in ("lower", "upper", "by")]
        ),
        "claims",
    ),
    "another operator": (put("operator", to="rw"), "Phi|Delta"),
    "an unknown operator": (put("operator", to="ppr"), "operator"),
    "no operator": (put("operator", to=None), "operator"),
    "a feature of a later hop": (put("by", 0, 0, to=2), "by is not"),
    "Phi that falls with the hops": (every("upper", 1, to=0), "at most 0.0"),
    "layers exchanged": (
        all_of(*[lambda c, name=name: c[name].reverse() for name in ("lower", "upper")]), "Phi",
    ),
    "more after a hop": (every("lower", 2, add=3000), "at least"),
    "more before the hops": (every("lower", 0, add=3000), "at least"),
    "less before the hops": (put("upper", 0, to=lambda row: [value // 2 for value in row]), "at most"),
}  # fmt: skip


@pytest.mark.parametrize("lie", HOP_LIES)
def test_lies_about_hops(lie: str) -> None:
    certificate, *data = hopped()
    change, reason = HOP_LIES[lie]
    with pytest.raises(checker.RefutedError, match=reason):
        check(changed(certificate, change), *data)


@pytest.mark.parametrize("end", [0, 1])
def test_claims_leave_room_for_the_rounding_of_hops(end: int) -> None:
    certificate, *data = hopped()
    tight = recomputed(certificate)["claims"][2][end]
    with pytest.raises(checker.RefutedError, match="Delta after 2 hops"):
        check(changed(certificate, put("claims", 2, end, to=tight)), *data)


def test_the_rounding_is_that_of_the_largest_column() -> None:
    """Not of the last one."""
    _, X, edges = hopped()
    X = X * [1.0, 1e-6]
    certificate = geodim.khop_dimensions(X, edges, 2).certificate().to_dict()
    check(certificate, X, edges)
    tables = certificate | {name: np.array(certificate[name]) for name in ("sizes", "lower", "upper")}
    degree = checker.hop_function(edges, 40, "sym")[1]
    error = Fraction(checker.hop_error(2, degree, 0.1 * float(X.max())))
    claim = [float(end) for end in checker.proved(tables, 2, error, Fraction(certificate["d_max"]))]
    with pytest.raises(checker.RefutedError, match="Delta after 2 hops"):
        check(changed(certificate, put("claims", 2, to=claim)), X, edges)


def test_features_of_fewer_hops_belong_to_later_layers() -> None:
    """Where all nodes are neighbours, nothing is left after a hop; but Phi is over X and AX together."""
    edges = np.array([(i, j) for i in range(4) for j in range(i)]).T
    X = np.arange(4.0)[:, np.newaxis]
    certificate = geodim.khop_dimensions(X, edges, 1, operator="rw").certificate().to_dict()
    check(certificate, X, edges)
    false = changed(certificate, all_of(every("upper", 1, to=0), every("lower", 1, to=0)))
    with pytest.raises(checker.RefutedError, match=r"at most 0.0, but the window named for feature 0"):
        check(changed(false, put("claims", 1, to=[0.0, 1e-12])), X, edges)
