"""The stand-alone checker accepts what is true and refuses other data, graphs and hostile files."""

from __future__ import annotations

import ast
import functools
import io
import json
import math
import re
import subprocess
import sys
import tokenize
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from certified import changed, check, hopped, plain, put, recomputed
from exact_delta import GRANTED, exact_deltas, exact_hops, holds
from geodim import checker

SOURCE = Path(checker.__file__).read_text(encoding="utf-8")
ROOT = Path(__file__).parents[1]


@pytest.mark.parametrize("certified", [plain, hopped])
def test_valid(certified: Any) -> None:
    certificate, X, edges = certified()
    claims = check(certificate, X, edges)
    deltas = exact_deltas(X, [] if edges is None else edges.T.tolist(), certificate["hops"])
    assert len(claims) == certificate["hops"] + 1
    for delta, exact in zip(claims, deltas, strict=True):
        low, high = checker.dimension(*delta)
        assert holds(exact, delta, GRANTED)
        assert holds(1 / exact**2, (low, high), GRANTED)
        assert high <= 1.001 * low


def test_recomputed_claims_pass_where_the_tables_are_true() -> None:
    certificate, *data = plain()
    check(recomputed(certificate), *data)  # so that lies with such claims fail for what they say


def test_the_dimension_is_rounded_outwards() -> None:
    rng = np.random.default_rng(3)
    ends = [
        *np.exp(rng.uniform(-745, 709, 3000)),
        *rng.uniform(0.5, 2.0, 3000),
        *(2.0 ** np.arange(-1074, 1024)),
    ]
    for end in map(float, [*ends, 5e-324, 1e154, 1.4e154, 1e-154, 7.5e-155, checker.LARGEST]):
        low, high = checker.dimension(end, end)
        exact = 1 / Fraction(end) ** 2
        assert Fraction(low) <= exact
        assert high == math.inf or exact <= Fraction(high)
        if 1e-150 < end < 1e150:
            assert high <= low * (1.0 + 2.0**-48)
    assert checker.dimension(0.0, 0.0) == (math.inf, math.inf)
    assert checker.dimension(0.0, 0.5)[1] == math.inf
    assert checker.dimension(0.5, 0.5)[0] == pytest.approx(4.0)


def of_two_points(
    lower: int, upper: int, unit: int, claim: list[float], d_max: float = 1.0
) -> dict[str, Any]:
    """A certificate by hand: Phi(2) of one feature, not normalised."""
    return {
        "format": checker.FORMAT, "n_points": 2, "n_features": 1, "normalized": False, "d_max": d_max,
        "hops": 0, "operator": None, "unit": unit, "sizes": [2], "lower": [[lower]], "upper": [[upper]],
        "by": [[0]], "starts": [[], [], []], "claims": [claim],
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
    with pytest.raises(checker.RefutedError, match="Delta"):
        check(of_two_points(0, units, -53, [0.0, 0.5 * (1.0 - ulp)], 1.0 - ulp), X)
    check(of_two_points(0, units, -53, [0.0, 0.5 * (1.0 + 4.0 * ulp)], 1.0 - ulp), X)


def test_a_window_is_too_wide_by_the_least_that_can_be_said() -> None:
    X = np.array([[0.0], [1.0]])
    with pytest.raises(checker.RefutedError, match=r"at most 0\.9999999999999999"):
        check(of_two_points(0, 2**53 - 1, -53, [0.0, 9.0]), X)
    check(of_two_points(0, 2**52, -52, [0.0, 9.0]), X)


def test_bounds_beyond_all_floats() -> None:
    X = np.array([[0.0], [0.5]])
    certificate = of_two_points(0, 2**53 - 1, 971, [0.0, 9.0], 0.5) | {"normalized": True}
    with pytest.raises(checker.RefutedError, match=r"Delta after 0 hops: .* proved \[0.0, 1.797"):
        check(certificate, X)
    # Nothing to divide by.
    check(of_two_points(0, 0, 0, [0.0, 0.0], 0.0) | {"normalized": True}, np.zeros((2, 1)))


@pytest.mark.parametrize("operator", ["sym", "rw"])
@pytest.mark.parametrize("scale", [1.0, 2.0**-1070, 1e300])
def test_how_far_hops_are_off(operator: str, scale: float) -> None:
    """Computed values against 60 digits, on graphs with long and short sums.

    Also on a star, where A^m 1 is sqrt(D).
    """
    rng = np.random.default_rng(13)
    star = np.array([np.zeros(29, int), np.arange(1, 30)])
    for n, edges in (
        (30, rng.integers(0, 30, (2, 400))),
        (30, rng.integers(0, 30, (2, 20))),
        (30, star),
        (1, star[:, :0]),
    ):
        x = rng.normal(size=n) * scale
        hop, degree = checker.hop_function(edges, n, operator)
        exact = exact_hops(x[:, np.newaxis], edges.T.tolist(), 4, operator)
        magnitude, computed = float(np.abs(x).max()), x
        assert checker.hop_error(0, degree, magnitude) == 0.0
        for m, (values,) in enumerate(exact):
            computed = hop(computed) if m else computed
            error = checker.hop_error(m, degree, magnitude)
            off = max(abs(Fraction(a) - Fraction(b)) for a, b in zip(values, computed.tolist(), strict=True))
            assert off <= Fraction(error) + GRANTED * Fraction(scale)
            assert error <= 1e-12 * scale + 2.0**-1050


def test_how_large_ones_can_grow() -> None:
    """A^m 1 <= sqrt(D), on which the bound on rounding rests.

    It is nearly attained in the middle of a star.
    """
    rng = np.random.default_rng(14)
    for n in (5, 40, 300):
        star = np.array([np.zeros(n - 1, int), np.arange(1, n)])
        for edges in (star, rng.integers(0, n, (2, n)), np.concatenate([star, star[:, :1] + 1], axis=1) % n):
            hop, degree = checker.hop_function(edges, n, "sym")
            reach = np.ones(n)
            for _ in range(10):
                reach = hop(reach)
                assert reach.max() <= math.sqrt(degree) * (1.0 + 1e-12)
            for m in (1, 2, 10):  # every term of A^m 1 is rounded m (D + 5) times
                reach = functools.reduce(lambda x, _: hop(x), range(m), np.ones(n))
                assert checker.hop_error(m, degree, 3.0) >= m * (degree + 5) * 2.0**-53 * 3.0 * reach.max()


def moved(X: Any, row: int, column: int, value: float) -> Any:
    other = X.copy()
    other[row, column] = value
    return other


OTHER_DATA: dict[str, tuple[Any, str]] = {
    "stretched": (lambda X: X[::-1] * 1.01, "at most"),
    "columns turned round": (lambda X: X[:, ::-1].copy(), "named for feature|by feature"),
    "columns exchanged": (lambda X: X[:, [1, 0, 2]], "named for feature|by feature"),
    "fewer points": (lambda X: X[:-1], r"the data has the shape \(299, 3\)"),
    "fewer features": (lambda X: X[:, :2], r"the data has the shape \(300, 2\)"),
    "a vector": (lambda X: X[:, 0], r"the data has the shape \(300,\)"),
    "a point far away": (lambda X: moved(X, 0, 0, 100.0), "at most"),
    "a point that is none": (lambda X: moved(X, 0, 0, np.nan), "column 0 is not finite"),
    "a point at infinity": (lambda X: moved(X, 5, 2, -np.inf), "column 2 is not finite"),
    "complex": (lambda X: X.astype(complex), "column 0 .* complex128"),
    "text": (lambda X: X.astype(str), "column 0 .* <U32"),
    "objects": (lambda X: X.astype(object), "column 0 .* object"),
    "records": (lambda X: np.zeros(X.shape, "f8,f8"), "column 0 "),
    "dates": (lambda X: X.astype("M8[s]"), "column 0 .* datetime"),
    "long integers": (lambda X: (X * 2**54).astype(np.int64), "float64 tells apart"),
    "2^53 + 1": (lambda X: np.full(X.shape, 2**53 + 1), "float64 tells apart"),
    "the largest integers": (lambda X: np.full(X.shape, 2**64 - 1, np.uint64), "float64 tells apart"),
    "long floats": (lambda X: X.astype(np.longdouble), "column 0 .* real numbers that float64"),
}  # fmt: skip


@pytest.mark.parametrize("other", OTHER_DATA)
def test_other_data(other: str) -> None:
    certificate, X, _ = plain()
    change, reason = OTHER_DATA[other]
    with pytest.raises(checker.RefutedError, match=reason):
        check(certificate, change(X))


def test_the_same_data_in_other_ways() -> None:
    certificate, X, _ = plain()
    check(certificate, X[::-1])  # the order of the points does not count
    text = json.dumps(recomputed(certificate))
    for columns, reason in (
        (X[:-1].T, r"float64 of shape \(299,\)"),
        (X.T[:2], "there are 2 columns"),
        (X.T[:0], "are 0"),
    ):
        with pytest.raises(checker.RefutedError, match=reason):
            checker.verify(text, iter(columns), X.shape)
    with pytest.raises(checker.RefutedError, match=r"Phi|there are 4"):
        checker.verify(text, iter([*X.T, X[:, 0]]), X.shape)


def test_other_graphs() -> None:
    certificate, X, edges = hopped()
    for other, reason in (
        (None, "hops need edges"),
        (edges[:, :30], "Phi|Delta"),
        (np.concatenate([edges, [[1], [2]]], axis=1), "Phi|Delta"),
        (edges[:1], "hops need edges"),
        (edges.T, "hops need edges"),
        (edges + 0.0, "hops need edges"),
        (np.array([[0], [40]]), "an edge leads to a node that is not one of 0, ..., 39"),
        (np.array([[-1], [3]]), "an edge leads to a node"),
        (np.array([[2**64 - 1], [3]], np.uint64), "an edge leads to a node"),
    ):
        with pytest.raises(checker.RefutedError, match=reason):
            check(certificate, X, other)
    twice = np.concatenate([edges, edges[::-1], np.tile(np.arange(40), (2, 1))], axis=1)
    check(certificate, X, twice)  # directions, repetitions and loops do not count


def test_the_work_is_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of all features together."""
    counted = []
    narrow = checker.too_narrow
    monkeypatch.setattr(checker, "too_narrow", lambda *given: counted.append(narrow(*given)) or counted[-1])
    check(*plain())
    assert sum(one > 0 for one in counted) > 1
    total = sum(counted)
    monkeypatch.setattr(checker, "MOST_COMPARISONS", total)
    check(*plain())
    monkeypatch.setattr(checker, "MOST_COMPARISONS", total - 1)
    with pytest.raises(checker.RefutedError, match=r"more than \d+ comparisons"):
        check(*plain())


def test_many_ranges_are_compared_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that a certificate cannot ask for more memory than some arrays of sizes."""
    certificate, *data = plain()
    whole = check(certificate, *data)
    most, stacked = [0], np.hstack
    monkeypatch.setattr(np, "hstack", lambda halves: most.append(2 * halves[0].shape[1]) or stacked(halves))
    monkeypatch.setattr(checker, "TOGETHER", 4)
    assert check(certificate, *data) == whole
    assert 0 < max(most) <= 8
    with pytest.raises(checker.RefutedError, match="at least"):
        check(changed(certificate, put("lower", 0, 7, to=lambda value: value + 3000)), *data)


TEXT = json.dumps(plain()[0])
HOSTILE = {
    "empty": "",
    "cut short": TEXT[:-1],
    "half": TEXT[: len(TEXT) // 2],
    "not UTF-8": b"\xff\xfe\xff",
    "deep": "[" * 100_000,
    "deep within": TEXT.replace('"by": [[', '"by": [[' + "[" * 900).replace("]]", "]]" + "]" * 900, 1),
    "a number of 5000 digits": '{"n_points": ' + "9" * 5000 + "}",
    "a list": "[1]",
    "a list of the pairs": json.dumps([list(pair) for pair in plain()[0].items()]),
    "null": "null",
    "a number": "7",
    "text": '"format"',
    "a name twice": TEXT.replace('"unit":', '"unit": 900, "unit":'),
    "a name twice, and another one gone": TEXT.replace('"operator": null', '"unit": 900'),
    "NaN": re.sub(r'"d_max": [\d.]+', '"d_max": NaN', TEXT),
    "Infinity": re.sub(r'"d_max": [\d.]+', '"d_max": Infinity', TEXT),
    "1e400": re.sub(r'"d_max": [\d.]+', '"d_max": 1e400', TEXT),
    "1e400 as a whole number": re.sub(r'"unit": -\d+', '"unit": 1e400', TEXT),
    "1e30 as a whole number": re.sub(r'"unit": -\d+', '"unit": 1e30', TEXT),
    "text as long as numbers": TEXT.replace('"sizes": [', '"sizes": ["' + 100_000 * "9" + '", '),
    "objects in tables": TEXT.replace('"starts": [[', '"starts": [{}, ['),
    "null for a table": re.sub(r'"claims": \[.*\]\]', '"claims": null', TEXT),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_files(name: str) -> None:
    X = plain()[1]
    check(json.loads(TEXT), X)
    assert HOSTILE[name] != TEXT
    with pytest.raises(checker.RefutedError):
        checker.verify(HOSTILE[name], checker.columns_of(X), X.shape)


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


def test_as_a_program(tmp_path: Path) -> None:
    files = {}
    for name, (certificate, *arrays) in (("plain", plain()), ("hopped", hopped())):
        files[name] = [tmp_path / f"{name}.json"]
        files[name][0].write_text(json.dumps(certificate))
        for number, array in enumerate(array for array in arrays if array is not None):
            files[name].append(tmp_path / f"{name}{number}.npy")
            np.save(files[name][-1], array)
    code, out, err = run(*files["plain"])
    low, high = checker.dimension(*plain()[0]["claims"][0])
    assert (code, err) == (0, "")
    assert out == f"VERIFIED: the intrinsic dimension after 0 hops lies in [{low!r}, {high!r}]\n"
    code, out, err = run(*files["hopped"])
    assert (code, err, out.count("VERIFIED")) == (0, "", 3)
    code, out, err = run(files["plain"][0], files["hopped"][1])
    assert (code, err) == (1, "")
    assert out == "REFUTED: it is about 300 points and 3 features, the data has the shape (40, 2)\n"
    np.savez(tmp_path / "archive.npz", plain()[1])
    for arguments in (
        [],
        files["plain"][:1],
        [tmp_path / "gone", files["plain"][1]],
        [files["plain"][0], tmp_path / "gone"],
        [files["plain"][0], files["plain"][0]],
        [files["plain"][0], tmp_path / "archive.npz"],
        [*files["hopped"], files["hopped"][2]],
    ):
        code, out, err = run(*arguments)
        assert (code, out) == (2, "")
        assert "usage" in err
        assert "Traceback" not in err


def test_too_long_files_are_cut(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    (tmp_path / "c.json").write_text(TEXT)
    np.save(tmp_path / "x.npy", plain()[1])
    for length, code in ((len(TEXT), 0), (len(TEXT) - 1, 1)):
        monkeypatch.setattr(checker, "MOST_BYTES", length)
        assert checker.main([str(tmp_path / "c.json"), str(tmp_path / "x.npy")]) == code
    assert "malformed" in capsys.readouterr().out


def test_it_stands_alone() -> None:
    """It imports numpy and the standard library alone."""
    modules = {
        (node.module or "") if isinstance(node, ast.ImportFrom) else alias.name
        for node in ast.walk(ast.parse(SOURCE))
        if isinstance(node, ast.Import | ast.ImportFrom)
        for alias in node.names
    }
    tops = {module.partition(".")[0] for module in modules}
    assert tops <= {"numpy", *sys.stdlib_module_names}


def lines_of_code(source: str) -> int:
    """Lines that are not blank, comments or docstrings."""
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef)
    strings = [
        node.body[0]
        for node in ast.walk(ast.parse(source))
        if isinstance(node, documented) and ast.get_docstring(node)
    ]
    described = {line for text in strings for line in range(text.lineno, (text.end_lineno or 0) + 1)}
    nothing = {
        tokenize.COMMENT,
        tokenize.NL,
        tokenize.NEWLINE,
        tokenize.INDENT,
        tokenize.DEDENT,
        tokenize.ENDMARKER,
    }
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    return len(
        {line for one in tokens if one.type not in nothing for line in range(one.start[0], one.end[0] + 1)}
        - described
    )


def test_it_is_as_short_as_is_said() -> None:
    """Whoever trusts a certificate has to read these lines; docs say how many there are."""
    said = re.search(r"(\d+) lines of code", (ROOT / "docs" / "certificates.md").read_text(encoding="utf-8"))
    assert said is not None
    assert lines_of_code(SOURCE) <= int(said[1]) <= 160
    assert lines_of_code('"""A\ntext."""\n\n# why\nx = [\n    1,  # one\n]\n') == 3


def test_knots_of_any_kind_name_windows_within_the_data() -> None:
    """So that what is measured is a window of so many points, whatever a certificate says."""
    rng = np.random.default_rng(15)
    for _ in range(300):
        n = int(rng.integers(2, 50))
        sizes = np.unique(np.append(rng.integers(2, n + 1, 5), n))
        knots = rng.choice([0, 1, n // 2, n - 1, n, n + 1, 2**30, 2**31], (2, int(rng.integers(0, 5))))
        first = checker.starts_at(sizes, knots, n)
        assert np.all((first >= 0) & (first + sizes <= n))
