"""The stand-alone checker: it accepts what is true, and names every lie."""

from __future__ import annotations

import ast
import copy
import json
import subprocess
import sys
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import geodim
from exact_delta import GRANTED, exact_deltas, exact_hops, holds
from geodim import checker

if TYPE_CHECKING:
    from collections.abc import Callable

    Certified = tuple[dict[str, Any], Any, Any]

RNG = np.random.default_rng(7)
EDGES = RNG.integers(0, 40, (2, 60))


@pytest.fixture(scope="module")
def plain() -> Certified:
    """A certificate, its data, no edges."""
    X = np.random.default_rng(1).normal(size=(300, 3)) * [1.0, 0.9, 0.2]
    return geodim.intrinsic_dimension(X).certificate().to_dict(), X, None


@pytest.fixture(scope="module")
def hopped() -> Certified:
    rng = np.random.default_rng(2)
    X = np.where(rng.random((40, 2)) < 0.2, rng.random((40, 2)), 0.0)
    return geodim.khop_dimensions(X, EDGES, 2).certificate().to_dict(), X, EDGES


def check(certificate: Any, X: Any, edges: Any = None) -> Any:
    return checker.verify(certificate, checker.columns_of(X), X.shape, edges)


def recomputed(certificate: dict[str, Any]) -> dict[str, Any]:
    """With the claim that its table would prove, if it were true: the best of lies."""
    sizes = np.array(certificate["sizes"])
    for layer in certificate["layers"]:
        table = np.array([layer["lower"], layer["upper"]])
        scale = Fraction(certificate["d_max"]) if certificate["normalized"] else Fraction(1)
        unit = Fraction(2) ** certificate["unit"] / scale
        low, high = checker.proved(table, sizes, certificate["n_points"], unit, Fraction(0))
        layer["discriminability"] = [
            float(low * (1 - Fraction(1, 2**51))),
            float(high * (1 + Fraction(1, 2**51))),
        ]
        layer["dimension"] = [float(1 / high**2) * (1 - 1e-14), float(1 / low**2) * (1 + 1e-14)]
    return certificate


def test_valid(plain: Certified, hopped: Certified) -> None:
    for certificate, X, edges in (plain, hopped):
        claims = check(certificate, X, edges)
        deltas = exact_deltas(X, [] if edges is None else edges.T.tolist(), certificate["hops"])
        assert len(claims) == certificate["hops"] + 1
        for (delta, dimension), exact in zip(claims, deltas, strict=True):
            assert holds(exact, delta, GRANTED)
            assert holds(1 / exact**2, dimension, GRANTED)
            assert dimension[1] <= 1.001 * dimension[0]


def test_recomputed_claims_pass_where_the_table_is_true(plain: Certified) -> None:
    check(recomputed(copy.deepcopy(plain[0])), *plain[1:])  # so that the lies below fail for what they say


# Every field, and every way in which it can be wrong: what is done to the certificate, and what the reason says.


def put(*path: Any, to: Any) -> Callable[[Any], None]:
    """Set the value at a path to ``to``, or to what ``to`` makes of it."""

    def change(certificate: Any) -> None:
        at = certificate
        for step in path[:-1]:
            at = at[step]
        at[path[-1]] = to(at[path[-1]]) if callable(to) else to

    return change


def layer(*path: Any, to: Any) -> Callable[[Any], None]:
    return put("layers", 0, *path, to=to)


def all_of(*changes: Callable[[Any], None]) -> Callable[[Any], None]:
    def change(certificate: Any) -> None:
        for one in changes:
            one(certificate)

    return change


FORMAL_LIES: dict[str, tuple[Callable[[Any], None], str]] = {
    "another version": (put("format", to="geodim.Certificate/2"), "format geodim.Certificate/1"),
    "no format": (lambda c: c.pop("format"), "not a certificate"),
    "a field too many": (put("approved", to=True), "with the fields"),
    "a field too few": (lambda c: c.pop("unit"), "with the fields"),
    "points as a float": (put("n_points", to=300.0), "not a whole number"),
    "points as a bool": (put("n_points", to=True), "not a whole number"),
    "no points": (put("n_points", to=0), "not possible"),
    "negative points": (put("n_points", to=-300), "not a whole number"),
    "too many points": (put("n_points", to=2**40), "not a whole number"),
    "no features": (put("n_features", to=0), "not possible"),
    "features as text": (put("n_features", to="3"), "not a whole number"),
    "normalized as a number": (put("normalized", to=1), "not possible"),
    "d_max as text": (put("d_max", to="inf"), "not possible"),
    "d_max as a whole number": (put("d_max", to=7), "not possible"),
    "too many hops": (put("hops", to=2**20), "not possible"),
    "hops as a bool": (put("hops", to=False), "not a whole number"),
    "hops without layers": (all_of(put("hops", to=1), put("operator", to="sym")), "a layer for every number"),
    "an operator without hops": (put("operator", to="sym"), "operator 'sym'"),
    "a unit that overflows": (put("unit", to=972), "unit"),
    "a unit below all numbers": (put("unit", to=-1075), "unit"),
    "a unit as a float": (put("unit", to=-9.0), "unit"),
    "sizes as text": (put("sizes", to="all"), "sizes: not a list"),
    "a size as a bool": (put("sizes", 0, to=True), "sizes: True"),
    "a size of 1": (put("sizes", 0, to=1), "from 2 to 300"),
    "a size beyond n": (put("sizes", -1, to=301), "from 2 to 300"),
    "a size that is huge": (put("sizes", -1, to=2**70), "from 2 to 300"),
    "sizes that do not ascend": (lambda c: c["sizes"].sort(reverse=True), "do not ascend"),
    "a size twice": (lambda c: c["sizes"].__setitem__(1, c["sizes"][0]), "do not ascend"),
    "no size n": (lambda c: c["sizes"].pop(), "do not ascend to n"),
    "no sizes": (put("sizes", to=[]), "do not ascend to n"),
    "layers as a table": (put("layers", to={}), "layers is not a list"),
    "no layers": (put("layers", to=[]), "a layer for every number"),
    "a layer too many": (lambda c: c["layers"].append(c["layers"][0]), "a layer for every number"),
    "a layer that is none": (put("layers", 0, to=[]), "layer 0 does not have the fields"),
    "a layer without bounds": (lambda c: c["layers"][0].pop("upper"), "layer 0 does not have the fields"),
    "a layer with more": (layer("proved", to=True), "layer 0 does not have the fields"),
    "too few lower bounds": (lambda c: c["layers"][0]["lower"].pop(), "lower of layer 0: not a list of"),
    "too many upper bounds": (lambda c: c["layers"][0]["upper"].append(1), "upper of layer 0: not a list of"),
    "a bound as a float": (layer("lower", 5, to=1.5), "lower of layer 0: 1.5"),
    "a bound as a bool": (layer("upper", 5, to=True), "upper of layer 0: True"),
    "a negative bound": (layer("lower", 5, to=-1), "lower of layer 0: -1"),
    "a bound beyond floats": (layer("upper", -1, to=2**53), "upper of layer 0"),
    "a bound that is missing": (layer("lower", 5, to=None), "lower of layer 0: None"),
    "by a feature that is not there": (layer("by", 5, to=3), "by of layer 0: 3"),
    "by a negative feature": (layer("by", 5, to=-1), "by of layer 0: -1"),
    "starts as a table": (put("starts", to={}), "starts is not a list"),
    "starts of nothing": (put("starts", 0, to=[]), "do not give a feature once"),
    "starts of another feature": (put("starts", 0, 0, to=3), "do not give a feature once"),
    "starts of a feature twice": (lambda c: c["starts"].append(c["starts"][0]), "do not give a feature once"),
    "starts without a rank": (lambda c: c["starts"][0].pop(), "do not give a feature once"),
    "starts that do not ascend": (put("starts", 0, to=[0, 100, 5, 90, 5]), "do not ascend"),
    "starts at n": (put("starts", 0, to=[0, 300, 0]), "do not ascend"),
    "starts at size 0": (put("starts", 0, to=[0, 0, 0]), "do not ascend"),
    "a start without room": (put("starts", 0, to=[0, 100, 201]), "no room"),
    "a negative start": (put("starts", 0, to=[0, 100, -1]), "starts: -1"),
    "a huge start": (put("starts", 0, to=[0, 100, 2**80]), "starts: "),
    "a claim that is no interval": (layer("discriminability", to=0.2), "not an interval"),
    "a claim of three numbers": (layer("dimension", to=[1.0, 2.0, 3.0]), "not an interval"),
    "a claim upside down": (layer("dimension", to=lambda value: value[::-1]), "not an interval"),
    "a claim of bools": (layer("discriminability", to=[False, True]), "not an interval"),
    "a claim of NaN": (layer("discriminability", to=[float("nan"), 1.0]), "not an interval"),
    "a claim of text": (layer("dimension", to=["0", "inf"]), "not an interval"),
    "a negative claim": (layer("discriminability", to=[-1.0, 1.0]), "not an interval"),
}  # fmt: skip

FALSE_STATEMENTS: dict[str, tuple[Callable[[Any], None], str]] = {
    "more points": (
        all_of(put("n_points", to=301), put("sizes", -1, to=301)),
        r"about 301 points and 3 features, the data has 300 and 3",
    ),
    "more features": (put("n_features", to=4), "about 300 points and 4 features"),
    "a larger d_max": (put("d_max", to=lambda value: float(np.nextafter(value, 9.0))), "d_max"),
    "a smaller d_max": (put("d_max", to=lambda value: 0.5 * value), "d_max"),
    "d_max that is infinite": (put("d_max", to=float("inf")), "d_max"),
    "a lower bound above Phi": (
        layer("lower", 40, to=lambda value: value + 2000),
        r"Phi\(\d+\) is said to be at least .* by feature \d, but its window from rank \d+ on is .* wide",
    ),
    "all lower bounds above Phi": (layer("lower", to=lambda values: [value + 2000 for value in values]), "at least"),
    "an upper bound below Phi": (
        layer("upper", 40, to=lambda value: value - 2000),
        r"Phi\(\d+\) is said to be at most .*, but the window named for feature \d, from rank \d+ on, is .* wide",
    ),
    "an upper bound of 0": (layer("upper", 0, to=0), "at most 0.0"),
    "all bounds lower": (put("unit", to=lambda value: value - 1), "at most"),
    "all bounds higher": (put("unit", to=lambda value: value + 1), "at least"),
    "a feature that does not reach so far": (layer("by", to=lambda values: [2] * len(values)), "by feature 2"),
    "windows elsewhere": (put("starts", 0, to=[0, 100, 0]), "window named for feature 0, from rank 0"),
    "no windows": (put("starts", to=[]), "at most"),
    "windows of another feature": (
        all_of(put("starts", 0, 0, to=1), put("starts", 1, 0, to=0)), "named for feature",
    ),
    "other sizes": (put("sizes", to=lambda values: [value - 1 for value in values[:-1]] + values[-1:]), "Phi"),
    "sizes left out": (
        all_of(
            put("sizes", to=lambda values: values[:40:2] + values[-1:]),
            *[layer(name, to=lambda values: values[1:41:2] + values[-1:]) for name in ("lower", "upper", "by")],
        ),
        "Phi",
    ),
}  # fmt: skip

TOO_MUCH_CLAIMED: dict[str, tuple[Callable[[Any], None], str]] = {
    "Delta from higher up": (
        layer("discriminability", 0, to=lambda value: float(np.nextafter(value, 9.0))),
        r"Delta is said to lie in \[.*\], proved is \[.*\]",
    ),
    "Delta from lower down": (layer("discriminability", 1, to=lambda value: float(np.nextafter(value, 0.0))), "Delta"),
    "no Delta at all": (layer("discriminability", to=[0.0, 0.0]), "Delta"),
    "a dimension from higher up": (
        layer("dimension", 0, to=lambda value: float(np.nextafter(value, np.inf))),
        r"dimension is said to lie in .*, more than is proved",
    ),
    "a dimension from lower down": (
        layer("dimension", 1, to=lambda value: float(np.nextafter(value, 0.0))), "more than is proved",
    ),
    "an infinite dimension": (layer("dimension", to=["inf", "inf"]), "more than is proved"),
    "no dimension": (layer("dimension", to=[0.0, 0.0]), "more than is proved"),
    "not normalised": (put("normalized", to=False), "Delta"),
    "bounds wider than the claim": (layer("lower", to=lambda values: [0] * len(values)), "Delta"),
    "fewer sizes than the claim": (
        all_of(
            put("sizes", to=lambda values: values[-1:]),
            *[layer(name, to=lambda values: values[-1:]) for name in ("lower", "upper", "by")],
        ),
        "Delta",
    ),
}  # fmt: skip


@pytest.mark.parametrize("lie", [*FORMAL_LIES, *FALSE_STATEMENTS, *TOO_MUCH_CLAIMED])
def test_every_lie_is_named(lie: str, plain: Certified) -> None:
    change, reason = {**FORMAL_LIES, **FALSE_STATEMENTS, **TOO_MUCH_CLAIMED}[lie]
    certificate = copy.deepcopy(plain[0])
    change(certificate)
    with pytest.raises(checker.RefutedError, match=reason):
        check(certificate, *plain[1:])


@pytest.mark.parametrize("lie", FALSE_STATEMENTS)
def test_lies_with_claims_to_match(lie: str, plain: Certified) -> None:
    """Not only does the claim not follow: the false statement itself is found."""
    certificate = copy.deepcopy(plain[0])
    FALSE_STATEMENTS[lie][0](certificate)
    if np.isfinite(certificate["d_max"]):
        certificate = recomputed(certificate)
    with pytest.raises(checker.RefutedError, match=FALSE_STATEMENTS[lie][1]):
        check(certificate, *plain[1:])


HOP_LIES: dict[str, tuple[Callable[[Any], None], str]] = {
    "fewer hops": (all_of(put("hops", to=1), lambda c: c["layers"].pop()), "by of layer|starts|feature"),
    "another operator": (put("operator", to="rw"), "Phi|Delta"),
    "an unknown operator": (put("operator", to="ppr"), "operator 'ppr'"),
    "no operator": (put("operator", to=None), "operator None"),
    "a feature of a later hop": (layer("by", 0, to=2), "by of layer 0: 2"),
    "Phi that falls with the hops": (
        put("layers", 1, "upper", to=lambda values: [0] * len(values)), "upper falls",
    ),
    "layers exchanged": (lambda c: c["layers"].reverse(), "by of layer 0|upper falls"),
    "more after a hop": (
        put("layers", 2, "lower", to=lambda values: [value + 3000 for value in values]), "at least",
    ),
    "more before the hops": (layer("lower", to=lambda values: [value + 3000 for value in values]), "at least"),
    "less before the hops": (layer("upper", to=lambda values: [value // 2 for value in values]), "at most"),
    "a claim that leaves no room for rounding": (
        lambda c: recomputed(c)["layers"][2].update(dimension=[0.0, "inf"]), "after [12] hops Delta",
    ),
}  # fmt: skip


@pytest.mark.parametrize("lie", HOP_LIES)
def test_lies_about_hops(lie: str, hopped: Certified) -> None:
    certificate = copy.deepcopy(hopped[0])
    HOP_LIES[lie][0](certificate)
    with pytest.raises(checker.RefutedError, match=HOP_LIES[lie][1]):
        check(certificate, *hopped[1:])


def of_two_points(lower: int, upper: int, unit: int, claim: list[Any]) -> dict[str, Any]:
    """A certificate by hand: Phi(2) of one feature, not normalised."""
    layer = {
        "discriminability": claim,
        "dimension": [0.0, "inf"],
        "lower": [lower],
        "upper": [upper],
        "by": [0],
    }
    return {
        "format": checker.FORMAT, "n_points": 2, "n_features": 1, "normalized": False, "d_max": 1.0, "hops": 0,
        "operator": None, "unit": unit, "sizes": [2], "starts": [], "layers": [layer],
    }  # fmt: skip


def test_differences_that_are_rounded() -> None:
    """The width is less than 1, or more than 1 - 2^-53, but float64 has nothing in between."""
    ulp = 2.0**-53
    X = np.array([[0.25 * ulp], [1.0]])
    assert X[1] - X[0] == 1.0
    for low in (0.5, np.nextafter(0.5, 0.0)):
        with pytest.raises(checker.RefutedError, match="Delta"):
            check(of_two_points(1, 1, 0, [float(low), 0.6]), X)
    check(of_two_points(1, 1, 0, [0.5 * (1.0 - 4.0 * ulp), 0.6]), X)
    X = np.array([[0.75 * ulp], [1.0]])
    assert X[1] - X[0] == 1.0 - ulp
    units = 2**53 - 1  # of 2^-53
    certificate = of_two_points(0, units, -53, [0.0, 0.5 * (1.0 - ulp)])
    certificate["d_max"] = 1.0 - ulp
    with pytest.raises(checker.RefutedError, match="Delta"):
        check(certificate, X)
    certificate["layers"][0]["discriminability"][1] = 0.5 * (1.0 + 4.0 * ulp)
    check(certificate, X)


@pytest.mark.parametrize("operator", ["sym", "rw"])
@pytest.mark.parametrize("scale", [1.0, 2.0**-1070, 1e300])
def test_how_far_hops_are_off(operator: str, scale: float) -> None:
    """Computed values against 60 digits, on graphs with long and short sums."""
    rng = np.random.default_rng(13)
    for n, m in ((30, 400), (30, 20), (1, 0)):
        edges = rng.integers(0, n, (2, m))
        x = rng.normal(size=n) * scale
        hop, degree = checker.hop_function(edges, n, operator)
        errors = checker.hop_errors(hop, n, 4, degree, float(np.abs(x).max()))
        exact = exact_hops(x[:, np.newaxis], edges.T.tolist(), 4, operator)
        assert errors[0] == 0.0
        for error, ((values,), computed) in zip(
            errors,
            zip(exact, (x, hop(x), hop(hop(x)), hop(hop(hop(x))), hop(hop(hop(hop(x))))), strict=True),
            strict=True,
        ):
            off = max(abs(Fraction(a) - Fraction(b)) for a, b in zip(values, computed.tolist(), strict=True))
            assert off <= Fraction(error) + GRANTED * Fraction(scale)
            assert error <= 1e-12 * scale + 2.0**-1050


def test_claims_leave_room_for_the_rounding_of_hops(hopped: Certified) -> None:
    certificate, X, edges = hopped
    tight = recomputed(copy.deepcopy(certificate))["layers"][2]["discriminability"]
    for claim in ([tight[0], "inf"], [0.0, tight[1]]):
        other = copy.deepcopy(certificate)
        other["layers"][2] |= {"discriminability": claim, "dimension": [0.0, "inf"]}
        with pytest.raises(checker.RefutedError, match="after 2 hops Delta"):
            check(other, X, edges)


def test_other_data(plain: Certified) -> None:
    certificate, X, _ = plain

    def moved(row: int, column: int, value: float) -> Any:
        other = X.copy()
        other[row, column] = value
        return other

    for other, reason in (
        (X[::-1] * 1.01, "at most"),
        (X[:, ::-1].copy(), "named for feature|by feature"),
        (X[:, [1, 0, 2]], "named for feature|by feature"),
        (X[:-1], "the data has 299 and 3"),
        (X[:, :2], "the data has 300 and 2"),
        (moved(0, 0, 100.0), "at most"),
        (moved(0, 0, np.nan), "column 0 is not finite"),
        (moved(5, 2, -np.inf), "column 2 is not finite"),
        (X.astype(complex), "column 0 is complex128"),
        (X.astype(str), "column 0 is <U32"),
        ((X * 2**54).astype(np.int64), "whole numbers beyond"),
        (X.astype(np.longdouble), "64 bits or less"),
    ):
        with pytest.raises(checker.RefutedError, match=reason):
            check(certificate, other)
    check(certificate, X[::-1])  # the order of the points does not count
    with pytest.raises(checker.RefutedError, match=r"column 0 is float64 of shape \(299,\)"):
        checker.verify(certificate, iter(X[:-1].T), X.shape)
    with pytest.raises(checker.RefutedError, match=r"said are 3 columns .* found are 2"):
        checker.verify(recomputed(copy.deepcopy(certificate)), iter(X.T[:2]), X.shape)


def test_other_graphs(hopped: Certified) -> None:
    certificate, X, edges = hopped
    for other, reason in (
        (None, "hops need the edges"),
        (edges[:, :30], "Phi|Delta"),
        (np.concatenate([edges, [[1], [2]]], axis=1), "Phi|Delta"),
        (edges[:1], "hops need the edges"),
        (edges + 0.0, "hops need the edges"),
        (np.array([[0], [40]]), "an edge leads to a node that is not one of 0, ..., 39"),
        (np.array([[-1], [3]]), "an edge leads to a node"),
    ):
        with pytest.raises(checker.RefutedError, match=reason):
            check(certificate, X, other)
    twice = np.concatenate([edges, edges[::-1], np.tile(np.arange(40), (2, 1))], axis=1)
    check(certificate, X, twice)  # directions, repetitions and loops do not count


def test_the_work_is_limited(plain: Certified, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checker, "MOST_COMPARISONS", 1000)
    with pytest.raises(checker.RefutedError, match="more than 1000 comparisons"):
        check(*plain)


def test_many_ranges_are_compared_in_parts(plain: Certified, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = check(*plain)
    monkeypatch.setattr(checker, "TOGETHER", 4)
    assert check(*plain) == whole
    lie = copy.deepcopy(plain[0])
    lie["layers"][0]["lower"][7] += 3000
    with pytest.raises(checker.RefutedError, match="at least"):
        check(lie, *plain[1:])


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (b"", "not valid JSON"),
        (b"{", "not valid JSON"),
        (b"\xff\xfe\xff", "not valid JSON"),
        (b'{"d_max": NaN}', "NaN"),
        (b'{"d_max": 1, "d_max": 2}', "occurs twice"),
        (b"[" * 100_000, "not valid JSON"),
        (b'{"n_points": ' + b"9" * 5000 + b"}", "not valid JSON"),
        (b"[1]", "not a certificate"),
        (b"null", "not a certificate"),
    ],
)
def test_files_that_are_no_certificates(text: bytes, reason: str, tmp_path: Path) -> None:
    path = tmp_path / "c.json"
    path.write_bytes(text)
    with pytest.raises(checker.RefutedError, match=reason):
        check(checker.read(path), np.eye(3))


def test_truncated_and_too_long_files(
    plain: Certified, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = json.dumps(plain[0])
    path = tmp_path / "c.json"
    for length in (10, len(text) // 2, len(text) - 1):
        path.write_text(text[:length])
        with pytest.raises(checker.RefutedError, match="not valid JSON"):
            checker.read(path)
    path.write_text(text)
    assert checker.read(path) == plain[0]
    monkeypatch.setattr(checker, "MOST_BYTES", len(text) - 1)
    with pytest.raises(checker.RefutedError, match="bytes"):
        checker.read(path)


def run(*arguments: object) -> tuple[int, str, str]:
    """Run the file as a program in an empty folder, where geodim cannot be imported."""
    done = subprocess.run(
        [sys.executable, "-I", "-W", "error", checker.__file__, *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    return done.returncode, done.stdout, done.stderr


def test_as_a_program(plain: Certified, hopped: Certified, tmp_path: Path) -> None:
    files = {}
    for name, (certificate, X, edges) in (("plain", plain), ("hopped", hopped)):
        (tmp_path / f"{name}.json").write_text(json.dumps(certificate))
        np.save(tmp_path / f"{name}.npy", X)
        files[name] = [tmp_path / f"{name}.json", tmp_path / f"{name}.npy"]
        if edges is not None:
            np.save(tmp_path / "edges.npy", edges.T)
            files[name].append(tmp_path / "edges.npy")
    code, out, err = run(*files["plain"])
    low, high = plain[0]["layers"][0]["dimension"]
    assert (code, err) == (0, "")
    assert out.startswith(f"VERIFIED: the intrinsic dimension lies in [{low!r}, {high!r}]\n900 values in ")
    code, out, err = run(*files["hopped"])
    assert (code, err, out.count("VERIFIED")) == (0, "", 3)
    code, out, err = run(files["plain"][0], files["hopped"][1])
    assert (code, err) == (1, "")
    assert out == "REFUTED: it is about 300 points and 3 features, the data has 40 and 2\n"
    for arguments in (
        [],
        files["plain"][:1],
        [tmp_path / "gone", files["plain"][1]],
        [*files["plain"], files["plain"][1]],
    ):
        code, out, err = run(*arguments)
        assert (code, out) == (2, "")
        assert err


def test_it_stands_alone() -> None:
    """It imports numpy and the standard library alone."""
    tree = ast.parse(Path(checker.__file__).read_text(encoding="utf-8"))
    modules = {
        (node.module or "") if isinstance(node, ast.ImportFrom) else alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
        for alias in node.names
    }
    tops = {module.partition(".")[0] for module in modules}
    assert tops <= {"numpy", *sys.stdlib_module_names}
