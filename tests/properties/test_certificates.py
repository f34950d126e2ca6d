"""Soundness: whatever is done to a certificate or to its data, what is still accepted is still true.

The oracle adds up rationals, so that not even a rounding error can hide.
"""

from __future__ import annotations

import copy
import json
import warnings
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import geodim
from certified import recomputed
from distributions import random_matrix
from exact_delta import GRANTED, exact_deltas, holds
from geodim import checker
from geodim.errors import DegenerateDataWarning, InputValueError

VALUES: list[Any] = [0, 1, -1, 2, 7, 2**31, 2**53, True, None, "inf", "1", 0.0, 0.5, 1e308, [], {}, [0, 1]]


def certified(rng: np.random.Generator, hops: int, operator: str) -> tuple[dict[str, Any], Any, Any] | None:
    """A random certificate, its data and edges; None where the data has no result."""
    n, d = int(rng.integers(1, 13)), int(rng.integers(1, 4))
    X = random_matrix(rng, n, d) if rng.random() < 0.6 else rng.integers(0, 4, (n, d)).astype(float)
    edges = rng.integers(0, n, (2, int(rng.integers(0, 2 * n))))
    options: dict[str, Any] = {"normalize": bool(rng.integers(2))}
    rtol = float(10.0 ** rng.uniform(-7, -1))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DegenerateDataWarning)
        try:
            if hops == 0:
                return geodim.intrinsic_dimension(X, **options).certificate(rtol=rtol).to_dict(), X, None
            result = geodim.khop_dimensions(X, edges, hops, operator=operator, **options)
        except InputValueError:  # infinite after hops
            return None
        return result.certificate(X, edges, rtol=rtol).to_dict(), X, edges


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Paths to everything within a JSON document."""
    found = [path] if path else []
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return found + [place for key, inner in items for place in places(inner, (*path, key))]


def tampered(rng: np.random.Generator, certificate: dict[str, Any]) -> dict[str, Any]:
    """One value changed a little or a lot, left out, repeated or exchanged."""
    certificate = copy.deepcopy(certificate)
    *outer, last = (choices := places(certificate))[rng.integers(len(choices))]
    at: Any = certificate
    for step in outer:
        at = at[step]
    value = at[last]
    how = rng.integers(7)
    if how == 0:
        at[last] = VALUES[rng.integers(len(VALUES))]
    elif how == 1 and isinstance(at, list):
        del at[last]
    elif how == 2 and isinstance(at, list):
        at.insert(last, value)
    elif how == 3 and isinstance(at, list):
        other = int(rng.integers(len(at)))
        at[last], at[other] = at[other], at[last]
    elif isinstance(value, int):
        at[last] = value + int(rng.choice([-1000, -7, -2, -1, 1, 2, 7, 1000]))
    elif isinstance(value, float):
        at[last] = value * float(rng.choice([0.5, 0.999, 1 - 2.0**-52, 1 + 2.0**-52, 1.001, 2.0]))
    elif how == 4 and isinstance(at, dict):
        del at[last]
    return certificate


def with_claims_to_match(certificate: dict[str, Any]) -> dict[str, Any]:
    """The narrowest claims that its tables would prove: nothing but the tables can be found wrong then."""
    try:
        checker.parsed(json.dumps(certificate))
        return recomputed(certificate, Fraction(1, 2**40) if certificate["hops"] else Fraction(1, 2**52))
    except (checker.RefutedError, OverflowError):
        return certificate


def accepted(certificate: Any, X: Any, edges: Any) -> Any:
    try:
        return checker.verify(json.dumps(certificate), iter(X.T), X.shape, edges)
    except checker.RefutedError:
        return None


def assert_true(claims: Any, certificate: dict[str, Any], X: Any, edges: Any) -> None:
    hops, operator = certificate["hops"], certificate["operator"] or "sym"
    pairs = [] if edges is None else edges.T.tolist()
    deltas = exact_deltas(X, pairs, hops, operator, normalize=certificate["normalized"])
    for delta, exact in zip(claims, deltas, strict=True):
        granted = GRANTED * (1 + exact) if hops and operator == "sym" else Fraction(0)
        assert holds(exact, delta, granted)
        if exact > granted:
            assert holds(1 / exact**2, checker.dimension(*delta), granted * (1 + 1 / exact**3))


@pytest.mark.turns(2)
@pytest.mark.parametrize(("hops", "operator", "turns"), [(0, "sym", 40), (2, "sym", 12), (2, "rw", 12)])
def test_what_is_accepted_is_true(hops: int, operator: str, turns: int) -> None:
    rng = np.random.default_rng([3, hops, len(operator)])
    passed = refused = 0
    for _ in range(turns):
        made = certified(rng, hops, operator)
        if made is None:
            continue
        certificate, X, edges = made
        claims = accepted(certificate, X, edges)
        assert claims is not None
        assert_true(claims, certificate, X, edges)
        for _ in range(40 if hops == 0 else 15):
            other = tampered(rng, certificate)
            if rng.random() < 0.3:
                other = tampered(rng, other)
            if rng.random() < 0.6:
                other = with_claims_to_match(other)
            claims = accepted(other, X, edges)
            refused += claims is None
            if claims is not None:
                passed += 1
                assert_true(claims, other, X, edges)
    assert refused > passed > 20  # both happen


def test_a_certificate_for_other_data() -> None:
    """Values of the data change: the certificate still holds, or is refused."""
    rng = np.random.default_rng(4)
    passed = refused = 0
    for _ in range(60):
        made = certified(rng, 0, "sym")
        assert made is not None
        certificate, X, _ = made
        for _ in range(15):
            other = X.copy()
            i, j = rng.integers(X.shape[0]), rng.integers(X.shape[1])
            other[i, j] = rng.choice(
                [np.nextafter(other[i, j], 9.0), other[i, j] * 1.0001, rng.normal(), X[0, 0]]
            )
            claims = accepted(certificate, other, None)
            refused += claims is None
            if claims is not None:
                passed += 1
                assert_true(claims, certificate, other, None)
    assert refused > 20
    assert passed > 20
