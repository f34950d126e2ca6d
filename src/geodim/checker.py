"""Check a certificate of an intrinsic dimension against its data, without trusting the program that made it.

    python checker.py CERTIFICATE.json DATA.npy [EDGES.npy]

This file stands alone: Python and numpy, nothing of geodim.  Exit code 0: verified; 1: refuted, with the
reason; 2: usage, or a file that cannot be read.

**What is claimed.**  Sort each feature (column) of the n points: x[0] <= ... <= x[n-1].  The width of its
narrowest window of k points is phi_k = min_a (x[a+k-1] - x[a]); Phi(k) is the largest phi_k of all features.
The discriminability is Delta = (Phi(2) + ... + Phi(n)) / n, divided by d_max, the largest range of a feature,
if the data is normalised (and d_max > 0), and the intrinsic dimension is 1 / Delta^2.  The certificate claims
an interval for both.

With hops, layer h claims the same for the columns of X, AX, ..., A^h X together, with the d_max of X.  A_ij
is 1 / sqrt(deg_i deg_j) ("sym") or 1 / deg_i ("rw") if i = j or i and j are neighbours in the graph of the
edges, which is undirected and simple, and deg_i counts the neighbours of i and i itself.  Feature m *
n_features + j is column j of A^m X.

**How it is proved.**  The certificate lists sizes k_1 < ... < k_m = n and says, with whole numbers l_i, u_i
and a unit 2^e, that l_i 2^e <= Phi(k_i) <= u_i 2^e.  All of that is checked; the rest only tells where to
look and cannot deceive.

1. *Upper side* (`too_wide`).  Any window of k points is at least phi_k wide.  For every feature and size the
   certificate names one by the rank of its first point; it must be no wider than u_i 2^e.
2. *Lower side* (`too_narrow`).  At each size the certificate names a feature all of whose windows are at
   least l_i 2^e wide.  A window that starts at a rank from p to q ends at x[p+k-1] or beyond, and starts at
   x[q] or before.  So if x[p+k-1] - x[q] >= l_i 2^e, none of them is narrower.  If not, both halves of the
   range [p, q] are looked at; a single start that fails is a window that is narrower than was said.
3. *Between the sizes* (`proved`).  Phi(k) grows with k, as a window of k + 1 points contains one of k.  So
   for k_{i-1} < k < k_i, Phi(k_{i-1}) <= Phi(k) <= Phi(k_i).  The sums are whole numbers, added and compared
   exactly.
4. *Rounding.*  A difference of two float64 numbers is off by at most 2^-53 of itself.  This holds for the
   widths that are compared and for d_max; the interval is widened by 2^-51 on either side.
5. *Hops* (`hop_errors`) are computed in float64.  With D the largest degree, a term of a sum goes through at
   most D + 5 operations in one hop, each of which multiplies by 1 + t, |t| <= 2^-53.  So with c = 1.02 (D +
   8) 2^-53 (and c < 0.01) a hop is off by at most c |A||x|, and m hops by ((1 + c)^m - 1) |A|^m |x| (by
   induction on m), which is at most 1.01 m c max|X| max(|A|^m 1) if m c < 0.01.  Where numbers underflow, an
   operation is off by at most 2^-1074 besides. A width is the difference of two such values, and off by twice
   that.

The cost is that of sorting every column once, of one window per feature and size, and on the lower side of
some hundred to some thousand comparisons per size.
"""

from __future__ import annotations

import json
import math
import sys
import time
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from numpy.typing import NDArray

    Ints = NDArray[np.int64]
    Floats = NDArray[np.float64]
    Knots = tuple[Ints, Ints]
    Interval = tuple[float, float]

FORMAT = "geodim.Certificate/1"
FIELDS = {
    "format", "n_points", "n_features", "normalized", "d_max",
    "hops", "operator", "unit", "sizes", "starts", "layers",
}  # fmt: skip
LAYER_FIELDS = {"discriminability", "dimension", "lower", "upper", "by"}
MOST_POINTS = 2**31  # products of two ranks fit an int64
MOST_WHOLE = 2**53  # whole numbers up to here are float64 numbers
MOST_BYTES = 2**28  # of a certificate; honest ones have a few hundred thousand
MOST_COMPARISONS = 2**33  # on the lower side: some minutes; honest certificates need far fewer
TOGETHER = 2**14  # ranges of starts that are compared at a time: they stay in the cache


class RefutedError(ValueError):
    """The certificate is not valid, or says something that the data contradicts."""


# The proof.


@np.errstate(over="ignore", invalid="ignore")  # infinite widths are found wrong like others
def verify(
    certificate: Any, columns: Iterable[NDArray[Any]], shape: tuple[int, int], edges: Any = None
) -> list[tuple[Interval, Interval]]:
    """Check everything; return the claims, which follow: discriminability and dimension for 0, 1, ... hops.

    ``columns`` gives the columns of the data in order, ``edges`` is a pair of arrays of nodes.
    """
    n, d, hops, sizes, layers, starts = parsed(certificate)
    if (n, d) != shape:
        refute(f"it is about {n} points and {d} features, the data has {shape[0]} and {shape[1]}")
    lower, upper = (np.ldexp(layers[:, side].astype(np.float64), certificate["unit"]) for side in (0, 1))
    by = layers[:, 2].copy()
    by[lower == 0.0] = -1  # says nothing
    by[1:][lower[1:] <= lower[:-1]] = -1  # already said of fewer hops
    one_hop, largest_degree = hop_function(edges, n, certificate["operator"]) if hops else (None, 0)
    nowhere, d_max, magnitude = (np.empty(0, np.int64),) * 2, 0.0, 0.0
    seen = work = 0
    for j, column in enumerate(columns):
        values = checked_column(column, n, j)
        seen, magnitude = seen + 1, max(magnitude, float(np.abs(values).max()))
        for m in range(hops + 1):
            values = one_hop(values) if one_hop and m else values
            if not np.isfinite(values).all():
                refute(f"column {j} is not finite after {m} hops")
            f, x = m * d + j, np.sort(values).astype(np.float64)
            d_max = max(d_max, float(x[-1] - x[0])) if m == 0 else d_max
            too_wide(f, x, sizes, starts.get(f, nowhere), upper[m])
            for h in range(m, hops + 1):
                here = np.flatnonzero(by[h] == f)
                work += too_narrow(f, x, sizes[here], lower[h, here], MOST_COMPARISONS - work)
    if seen != d or certificate["d_max"] != d_max:
        refute(f"said are {d} columns and d_max {certificate['d_max']!r}, found are {seen} and {d_max!r}")
    scale = Fraction(d_max) if certificate["normalized"] and d_max > 0.0 else Fraction(1)
    errors = hop_errors(one_hop, n, hops, largest_degree, magnitude)
    unit = Fraction(2) ** certificate["unit"] / scale
    return [
        followed(claim, h, *proved(layers[h], sizes, n, unit, Fraction(errors[h]) / scale))
        for h, claim in enumerate(certificate["layers"])
    ]


def too_wide(feature: int, x: Floats, sizes: Ints, knots: Knots, most: Floats) -> None:
    """Upper side: refute unless at every size the feature's window is no wider than ``most``."""
    first = starts_at(sizes, knots, x.size)
    widths = x[first + sizes - 1] - x[first]
    for i in np.flatnonzero(widths > most)[:1]:
        refute(
            f"Phi({sizes[i]}) is said to be at most {float(most[i])!r}, but the window named for feature "
            f"{feature}, from rank {first[i]} on, is {float(widths[i])!r} wide"
        )


def starts_at(sizes: Ints, knots: Knots, n: int) -> Ints:
    """Ranks where windows begin: on lines between knots, the last one (n, 0); before the first as there."""
    k, rank = np.append(knots[0], n), np.append(knots[1], 0)
    right = np.searchsorted(k, sizes)
    left = np.maximum(right - 1, 0)
    line: Ints = rank[left] + (rank[right] - rank[left]) * (sizes - k[left]) // np.maximum(
        k[right] - k[left], 1
    )
    return line


def too_narrow(feature: int, x: Floats, sizes: Ints, least: Floats, allowed: int) -> int:
    """Lower side: refute unless at every size all windows are at least ``least`` wide; count comparisons."""
    todo, work = [(np.zeros_like(sizes), x.size - sizes, sizes, least)], 0
    while todo:
        p, q, k, bound = todo.pop()
        work += p.size
        if work > allowed:
            refute(f"the lower bounds take more than {MOST_COMPARISONS} comparisons: too close to Phi")
        still = np.flatnonzero(x[p + k - 1] - x[q] < bound)
        p, q, k, bound = p[still], q[still], k[still], bound[still]
        for i in np.flatnonzero(p == q)[:1]:
            refute(
                f"Phi({k[i]}) is said to be at least {float(bound[i])!r} by feature {feature}, but its "
                f"window from rank {p[i]} on is {float(x[p[i] + k[i] - 1] - x[p[i]])!r} wide"
            )
        middle = (p + q) // 2
        if p.size > TOGETHER:
            todo += [(p, middle, k, bound), (middle + 1, q, k, bound)]
        elif p.size:
            both = np.concatenate([p, middle + 1]), np.concatenate([middle, q])
            todo.append((*both, np.concatenate([k, k]), np.concatenate([bound, bound])))
    return work


def proved(layer: Ints, sizes: Ints, n: int, unit: Fraction, error: Fraction) -> tuple[Fraction, Fraction]:
    """The interval for Delta that follows from bounds on Phi at some sizes."""
    gaps, lower, upper = np.diff(sizes, prepend=1).tolist(), layer[0].tolist(), layer[1].tolist()
    least = sum(
        before * (gap - 1) + here for before, gap, here in zip([0, *lower], gaps, lower, strict=False)
    )
    most = sum(gap * here for gap, here in zip(gaps, upper, strict=True))
    low = max((least * unit - 2 * error * (n - 1)) / n, Fraction(0)) * (1 - Fraction(1, 2**51))
    return low, (most * unit + 2 * error * (n - 1)) / n * (1 + Fraction(1, 2**51))


def followed(claim: Any, hops: int, low: Fraction, high: Fraction) -> tuple[Interval, Interval]:
    """Return the claim if it follows from the proved interval for Delta."""

    def times_square(value: float, bound: Fraction) -> Fraction:
        return Fraction(value) * bound**2 if value < math.inf else Fraction(2 if bound else 1)

    delta, dimension = interval(claim["discriminability"]), interval(claim["dimension"])
    if not delta[0] <= low <= high <= delta[1]:
        refute(
            f"after {hops} hops Delta is said to lie in {list(delta)}, proved is {[float(low), float(high)]}"
        )
    if not times_square(dimension[0], high) <= 1 <= times_square(dimension[1], low):
        refute(f"after {hops} hops the dimension is said to lie in {list(dimension)}, more than is proved")
    return delta, dimension


def hop_function(edges: Any, n: int, operator: str) -> tuple[Callable[[Floats], Floats], int]:
    """One hop as a function of a column, and the largest degree."""
    pairs = np.asarray(() if edges is None else edges)
    if pairs.ndim != 2 or len(pairs) != 2 or pairs.dtype.kind not in "iu":
        refute("hops need the edges of a graph: two equally long arrays of whole numbers")
    a, b = pairs.astype(np.int64)
    if np.any((a < 0) | (b < 0) | (a >= n) | (b >= n)):
        refute(f"an edge leads to a node that is not one of 0, ..., {n - 1}")
    numbers = np.unique((np.minimum(a, b) * n + np.maximum(a, b))[a != b])  # every edge once, and no loops
    a, b = np.divmod(numbers, n)
    source, target = np.concatenate([a, b, np.arange(n)]), np.concatenate([b, a, np.arange(n)])
    degree = np.bincount(target, minlength=n).astype(np.float64)
    if operator == "rw":
        return lambda x: np.bincount(target, x[source], n) / degree, int(degree.max())
    scale = 1.0 / np.sqrt(degree)
    return lambda x: np.bincount(target, (x * scale)[source], n) * scale, int(degree.max())


def hop_errors(
    one_hop: Callable[[Floats], Floats] | None, n: int, hops: int, largest_degree: int, magnitude: float
) -> list[float]:
    """How far values computed after 0, 1, ... hops may be off, at most: see 5. above."""
    errors, reach, most, c = [0.0], np.ones(n), 1.0, 1.02 * (largest_degree + 8) * 2.0**-53
    if hops * c >= 0.01:
        refute("so many hops and neighbours cannot be added up in float64")
    for m in range(1, hops + 1):
        reach = one_hop(reach) if one_hop else reach
        most = max(most, 1.01 * float(reach.max()))  # itself rounded
        errors.append(1.01 * m * most * (c * magnitude + (largest_degree + 8) * 5e-324))
    return errors


# Reading: what is malformed is refused.  Beyond that, nothing below decides what is true.


def checked_column(column: Any, n: int, j: int) -> NDArray[Any]:
    """A column of real numbers that float64 holds exactly."""
    values = np.asarray(column)
    if values.shape != (n,) or values.dtype.kind not in "biuf" or values.dtype.itemsize > 8:
        refute(f"column {j} is {values.dtype} of shape {values.shape}, not {n} numbers of 64 bits or less")
    if values.dtype.kind in "iu" and not -MOST_WHOLE <= int(values.min()) <= int(values.max()) <= MOST_WHOLE:
        refute(f"column {j} has whole numbers beyond 2^53, which float64 does not hold exactly")
    return values if values.dtype.kind == "f" else values.astype(np.float64)


def parsed(c: Any) -> tuple[int, int, int, Ints, Ints, dict[int, Knots]]:
    """Points, features, hops, sizes; lower, upper and by of every layer; knots: all of it valid."""
    if not isinstance(c, dict) or c.get("format") != FORMAT or set(c) != FIELDS:
        refute(
            f"this is not a certificate of the format {FORMAT} with the fields {', '.join(sorted(FIELDS))}"
        )
    counts = whole_numbers(
        [c["n_points"], c["n_features"], c["hops"]], 3, 0, MOST_POINTS, "n_points, n_features or hops"
    )
    n, d, hops = counts.tolist()
    if not (n and d and hops <= 1000 and isinstance(c["normalized"], bool) and type(c["d_max"]) is float):
        refute("n_points, n_features, hops, normalized or d_max is not possible")
    if c["operator"] not in (["sym", "rw"] if hops else [None]):
        refute(f"the operator {c['operator']!r:.50} is not known")
    whole_numbers([c["unit"]], 1, -1074, 971, "unit")  # 2^53 - 1 units do not overflow
    sizes = whole_numbers(c["sizes"], None, 2, n, "sizes")
    if np.any(np.diff(sizes) <= 0) or [1, *sizes.tolist()][-1] != n:
        refute(f"sizes do not ascend to n = {n}")
    if not isinstance(c["layers"], list) or not isinstance(c["starts"], list) or len(c["layers"]) != hops + 1:
        refute("layers is not a list with a layer for every number of hops, or starts is not a list")
    layers = []
    for h, one in enumerate(c["layers"]):
        if not isinstance(one, dict) or set(one) != LAYER_FIELDS:
            refute(f"layer {h} does not have the fields {', '.join(sorted(LAYER_FIELDS))}")
        most = {"lower": MOST_WHOLE - 1, "upper": MOST_WHOLE - 1, "by": d * (h + 1) - 1}
        layers.append(
            [whole_numbers(one[name], sizes.size, 0, most[name], f"{name} of layer {h}") for name in most]
        )
    table = np.array(layers)
    if np.any(np.diff(table[:, 1], axis=0) < 0):
        refute("upper falls from one layer to the next, but Phi cannot")
    starts = {}
    for one in c["starts"]:
        f, *knots = whole_numbers(one, None, 0, max(n, d * (hops + 1) - 1), "starts").tolist() or [-1]
        k, rank = np.array(knots[0::2], np.int64), np.array(knots[1::2], np.int64)
        if not 0 <= f < d * (hops + 1) or f in starts or k.size != rank.size:
            refute(f"starts do not give a feature once, with pairs of sizes and ranks: {one!r:.50}")
        if np.any(np.diff(k, prepend=0, append=n) <= 0) or np.any(rank > n - k):
            refute(f"starts of feature {f} do not ascend to n, or leave no room for so many points")
        starts[f] = k, rank
    return n, d, hops, sizes, table, starts


def whole_numbers(values: Any, size: int | None, least: int, most: int, what: str) -> Ints:
    """A list of whole numbers within limits, of a given length if any, as an array."""
    if not isinstance(values, list) or (size is not None and len(values) != size):
        refute(f"{what}: not a list{'' if size is None else f' of {size} numbers'}")
    for value in values:
        if type(value) is not int or not least <= value <= most:
            refute(f"{what}: {value!r:.50} is not a whole number from {least} to {most}")
    return np.array(values, np.int64)


def interval(value: Any) -> Interval:
    """Two numbers >= 0; infinity is written "inf"."""
    if isinstance(value, list) and len(value) == 2:
        low, high = (math.inf if one == "inf" else one for one in value)
        if type(low) is float and type(high) is float and 0.0 <= low <= high:
            return low, high
    return refute(f"{value!r:.100} is not an interval of numbers >= 0")


def refute(reason: str) -> NoReturn:
    """Say what is wrong."""
    raise RefutedError(reason)


def read(path: str | Path) -> Any:
    """The certificate in a file."""
    with Path(path).open("rb") as stream:
        return decoded(stream.read(MOST_BYTES + 1))


def decoded(text: bytes) -> Any:
    """The certificate in a JSON document."""
    if len(text) > MOST_BYTES:
        refute(f"the certificate has more than {MOST_BYTES} bytes")
    try:
        return json.loads(text, parse_constant=refute, object_pairs_hook=without_repeats)
    except (ValueError, RecursionError) as error:
        refute(f"the certificate is not valid JSON: {error}")


def without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A JSON object that names nothing twice: a reader and this program might take different ones."""
    table = dict(pairs)
    return table if len(table) == len(pairs) else refute("a name occurs twice in one object")


def columns_of(array: NDArray[Any]) -> Iterator[NDArray[Any]]:
    """The columns of an array, which may be a mapped file, read by blocks."""
    step = max(1, min(8, 2**28 // max(array.itemsize * array.shape[0], 1)))
    for j in range(0, array.shape[1], step):
        yield from np.ascontiguousarray(array[:, j : j + step].T)


def main(arguments: list[str]) -> int:
    """Check files; return the exit code."""
    if len(arguments) not in (2, 3):
        sys.stderr.write("usage: python checker.py CERTIFICATE.json DATA.npy [EDGES.npy]\n")
        return 2
    try:
        data = np.load(arguments[1], mmap_mode="r", allow_pickle=False)
        edges = (
            np.load(arguments[2], allow_pickle=False) if len(arguments) == 3 else np.empty((2, 0), np.int64)
        )
        if data.ndim != 2 or edges.ndim != 2 or 2 not in edges.shape:
            sys.stderr.write(
                "the data must be points by features, the edges two rows or two columns of nodes\n"
            )
            return 2
        started = time.perf_counter()
        pairs = None if len(arguments) == 2 else edges if edges.shape[0] == 2 else edges.T
        claims = verify(read(arguments[0]), columns_of(data), data.shape, pairs)
    except RefutedError as error:
        sys.stdout.write(f"REFUTED: {error}\n")
        return 1
    except (OSError, ValueError) as error:
        sys.stderr.write(f"a file cannot be read: {error}\n")
        return 2
    for h, (_, (low, high)) in enumerate(claims):
        after = f" after {h} hops" if len(claims) > 1 else ""
        sys.stdout.write(f"VERIFIED: the intrinsic dimension{after} lies in [{low!r}, {high!r}]\n")
    sys.stdout.write(f"{data.size} values in {time.perf_counter() - started:.3g} s\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
