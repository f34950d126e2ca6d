"""Certificates to tamper with: a plain one and one of hops, and the ways to change and to check them."""

from __future__ import annotations

import copy
import functools
import json
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

import geodim
from geodim import checker

if TYPE_CHECKING:
    from collections.abc import Callable

    Change = Callable[[Any], object]


@functools.cache
def plain() -> tuple[dict[str, Any], Any, Any]:
    """A certificate, its data, no edges."""
    X = np.random.default_rng(1).normal(size=(300, 3)) * [1.0, 0.9, 0.2]
    return geodim.intrinsic_dimension(X).certificate().to_dict(), X, None


@functools.cache
def hopped() -> tuple[dict[str, Any], Any, Any]:
    """One of two hops, its attributes, its edges."""
    rng = np.random.default_rng(2)
    X = np.where(rng.random((40, 2)) < 0.2, rng.random((40, 2)), 0.0)
    edges = np.random.default_rng(7).integers(0, 40, (2, 60))
    return geodim.khop_dimensions(X, edges, 2).certificate().to_dict(), X, edges


def check(certificate: Any, X: Any, edges: Any = None) -> Any:
    """What the checker proves of plain values."""
    return checker.verify(json.dumps(certificate), checker.columns_of(X), X.shape, edges)


def changed(certificate: dict[str, Any], change: Change) -> dict[str, Any]:
    """A copy that was tampered with."""
    other = copy.deepcopy(certificate)
    change(other)
    return other


def put(*path: Any, to: Any) -> Change:
    """Set the value at a path to ``to``, or to what ``to`` makes of it."""

    def change(certificate: Any) -> None:
        at = certificate
        for step in path[:-1]:
            at = at[step]
        at[path[-1]] = to(at[path[-1]]) if callable(to) else to

    return change


def every(*path: Any, add: int = 0, to: int | None = None) -> Change:
    """Change all numbers of a row."""
    return put(*path, to=lambda row: [value + add if to is None else to for value in row])


def all_of(*changes: Change) -> Change:
    """One change after the other."""

    def change(certificate: Any) -> None:
        for one in changes:
            one(certificate)

    return change


def recomputed(certificate: dict[str, Any], slack: Fraction = Fraction(1, 2**51)) -> dict[str, Any]:
    """With the claims that its tables would prove if they were true: the best of lies.

    It claims no rounding of hops.
    """
    d_max = certificate["d_max"]
    scale = Fraction(d_max) if certificate["normalized"] and d_max else Fraction(1)
    tables = certificate | {name: np.array(certificate[name]) for name in ("sizes", "lower", "upper")}
    claims = []
    for h in range(certificate["hops"] + 1):
        low, high = checker.proved(tables, h, Fraction(0), scale)
        claims.append([float(low * (1 - slack)), float(high * (1 + slack))])
    return certificate | {"claims": claims}
