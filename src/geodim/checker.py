"""Check a certificate of an intrinsic dimension against its data, without trusting the program that made it.

    python checker.py CERTIFICATE.json DATA.npy [EDGES.npy]

This file stands alone: Python and numpy, nothing of geodim.  DATA has a row per point, EDGES two rows of
nodes.  Exit code 0: verified; 1: refuted, with the reason; 2: usage, or a file that cannot be read.

**What is claimed.**  Sort each feature (column) of the n points: x[0] <= ... <= x[n-1].  The width of its
narrowest window of k points is phi_k = min_a (x[a+k-1] - x[a]); Phi(k) is the largest phi_k of all features.
The discriminability is Delta = (Phi(2) + ... + Phi(n)) / n, divided by d_max, the largest range of a feature,
if the data is normalised (and d_max > 0).  The certificate claims an interval for Delta; one for the
intrinsic dimension, 1 / Delta^2, follows (`dimension`).

With hops, layer h (row h of the tables) claims the same for the columns of X, AX, ..., A^h X together, with
the d_max of X.  A_ij is 1 / sqrt(deg_i deg_j) ("sym") or 1 / deg_i ("rw") if i = j or i and j are neighbours
in the graph of the edges, which is undirected and simple, and deg_i counts the neighbours of i and i itself.
Feature m * n_features + j is column j of A^m X.

**How it is proved.**  The certificate lists sizes k_1 < ... < k_s = n and says, with whole numbers l_i, u_i
and a unit 2^e, that l_i 2^e <= Phi(k_i) <= u_i 2^e.  All of that is checked; the rest only says where to
look and cannot deceive.

1. *Upper side* (`too_wide`).  Any window of k points is at least phi_k wide.  For every feature and size the
   certificate names one by the rank of its first point; it must be no wider than u_i 2^e.  A feature of hop m
   belongs to all layers from m on, and is compared with the least of their bounds.
2. *Lower side* (`too_narrow`).  At each size the certificate names a feature of the layer, all of whose
   windows are at least l_i 2^e wide.  A window that starts at a rank from p to q ends at x[p+k-1] or beyond,
   and starts at x[q] or before.  So if x[p+k-1] - x[q] >= l_i 2^e, none of them is narrower.  If not, both
   halves of the range [p, q] are examined; a single start that fails is a window that is narrower than was
   said.  A bound that is no higher than that of the layer before, or than 0, needs no proof.
3. *Between the sizes* (`proved`).  Phi(k) grows with k, as a window of k + 1 points contains one of k.  So
   l_i counts for the sizes from k_i to k_{i+1} - 1, and u_i for those from k_{i-1} + 1 to k_i.  The sums are
   whole numbers, added and compared exactly.
4. *Rounding.*  A difference of two float64 numbers is off by at most 2^-53 of itself.  This holds for the
   widths that are compared and for d_max; the interval is widened by 2^-51 on either side.
5. *Hops* (`hop_error`) are computed in float64.  With D the largest degree, a term of a sum goes through at
   most D + 5 operations in one hop, each of which multiplies by 1 + t, |t| <= 2^-53.  So with c = 1.02 (D +
   8) 2^-53 a hop is off by at most c A|x|, and m hops by ((1 + c)^m - 1) A^m |x| (by induction on m), which
   is at most 1.01 m c max|X| max(A^m 1), as m <= 1000 and D <= 2^31 make m c < 0.01.  Rows of the "rw" matrix
   P add up to 1; the other one is deg^(1/2) P deg^(-1/2), so that A^m 1 <= sqrt(D).  Where numbers underflow,
   an operation is off by at most 2^-1074 besides.  A width is the difference of two such values, and off by
   twice that.

The cost is that of sorting every column once, of one window per feature and size, and on the lower side of
some hundred to some thousand comparisons per size.
"""

import json
import math
import sys
from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Bounds = tuple[float, float]
FORMAT = "geodim.Certificate/2"
MOST_POINTS = 2**31  # products of two ranks fit an int64
MOST_WHOLE = 2**53  # whole numbers up to here are float64 numbers
LARGEST = sys.float_info.max
MOST_BYTES = 2**26  # of a certificate; honest ones have a few hundred thousand
MOST_COMPARISONS = 2**33  # on the lower side: some minutes; honest certificates need far fewer
TOGETHER = 2**14  # ranges of starts that are compared at a time: they stay in the cache


class RefutedError(Exception):
    """The certificate is not valid, or says something that the data contradicts."""


def require(condition: object, otherwise: str) -> None:
    """Raise an error that says what is wrong unless a condition holds."""
    if not condition:
        raise RefutedError(otherwise)


# The proof.


@np.errstate(over="ignore", invalid="ignore")  # infinite widths are refuted like others
def verify(text: bytes | str, columns: Iterable[Array], shape: object, edges: object = None) -> list[Bounds]:
    """Check everything; return the proved claims: intervals for Delta after 0, 1, ... hops.

    ``text`` is the JSON document, ``columns`` are those of the data in order, ``edges`` two rows of nodes.
    """
    c = parsed(text)
    n, d, hops, sizes, starts = (c[name] for name in ("n_points", "n_features", "hops", "sizes", "starts"))
    require((n, d) == shape, f"it is about {n} points and {d} features, the data has the shape {shape}")
    lower, upper = (np.ldexp(c[side].astype(np.float64), c["unit"]) for side in ("lower", "upper"))
    by = np.where(lower > np.vstack([np.zeros(sizes.size), lower[:-1]]), c["by"], -1)  # -1: nothing new
    one_hop, degree = hop_function(edges, n, c["operator"]) if hops else (np.asarray, 0)
    seen, work, d_max, magnitude = 0, 0, 0.0, 0.0
    for j, column in enumerate(columns):
        values = checked_column(column, n, j)
        seen, magnitude = seen + 1, max(magnitude, float(np.abs(values).max()))
        for m in range(hops + 1):
            values = one_hop(values) if m else values
            feature, x = m * d + j, np.sort(values).astype(np.float64)
            require(np.isfinite(x[[0, -1]]).all(), f"column {j} is not finite after {m} hops")  # NaN is last
            d_max = d_max if m else max(d_max, float(x[-1] - x[0]))
            knots = starts[1:, slice(*np.searchsorted(starts[0], [feature, feature + 1]))]
            too_wide(feature, x, sizes, starts_at(sizes, knots, n), upper[m:].min(axis=0))
            layer, at = np.nonzero(by == feature)
            work += too_narrow(feature, x, sizes[at], lower[layer, at], MOST_COMPARISONS - work)
    require(seen == d, f"it is about {d} features, but there are {seen} columns")
    require(c["d_max"] == d_max, f"d_max is said to be {c['d_max']!r}, but the largest range is {d_max!r}")
    scale = Fraction(d_max) if c["normalized"] and d_max > 0.0 else Fraction(1)
    for h, (least, most) in enumerate(c["claims"]):
        low, high = proved(c, h, Fraction(hop_error(h, degree, magnitude)), scale)
        ends = [float(min(end, Fraction(LARGEST))) for end in (low, high)]
        require(least <= low <= high <= most, f"Delta after {h} hops: claimed {[least, most]}, proved {ends}")
    return [(least, most) for least, most in c["claims"]]


def too_wide(feature: int, x: Array, sizes: Array, first: Array, most: Array) -> None:
    """Upper side: raise unless the windows that start at the ranks ``first`` are no wider than ``most``."""
    widths = x[first + sizes - 1] - x[first]
    for i in np.flatnonzero(widths > most)[:1]:
        said = f"Phi({sizes[i]}) is said to be at most {most[i]}, but the window named for feature {feature}"
        raise RefutedError(f"{said}, from rank {first[i]} on, is {widths[i]} wide")


def starts_at(sizes: Array, knots: Array, n: int) -> Array:
    """Return ranks where windows begin: linear between knots, the last one (n, 0); constant before all."""
    k, rank = np.append(knots[0], n), np.append(knots[1], 0)
    right = np.searchsorted(k, sizes)
    left = np.maximum(right - 1, 0)
    rise = (rank[right] - rank[left]) * (sizes - k[left]) // np.maximum(k[right] - k[left], 1)
    return np.asarray(np.clip(rank[left] + rise, 0, n - sizes))  # a valid window, whatever the knots are


def too_narrow(feature: int, x: Array, sizes: Array, least: Array, allowed: int) -> int:
    """Lower side: raise unless at every size all windows are at least ``least`` wide; count comparisons."""
    todo, work = [np.array([np.zeros_like(sizes), x.size - sizes, np.arange(sizes.size)])], 0
    while todo:
        p, q, i = ranges = todo.pop()  # windows of sizes[i] points that start at the ranks p to q
        work += p.size
        require(work <= allowed, f"the lower bounds take more than {MOST_COMPARISONS} comparisons")
        p, q, i = ranges[:, x[p + sizes[i] - 1] - x[q] < least[i]]
        for a, k, bound in zip(p[p == q][:1], sizes[i[p == q]], least[i[p == q]], strict=False):
            said = f"Phi({k}) is said to be at least {bound} by feature {feature}, but its window"
            raise RefutedError(f"{said} from rank {a} on is {x[a + k - 1] - x[a]} wide")
        halves = [np.array([p, (p + q) // 2, i]), np.array([(p + q) // 2 + 1, q, i])]
        todo += halves if p.size > TOGETHER else [np.hstack(halves)] if p.size else []
    return work


def proved(c: dict[str, Any], h: int, error: Fraction, scale: Fraction) -> tuple[Fraction, Fraction]:
    """Return the interval for Delta proved by bounds on Phi at some sizes, if values are off by ``error``."""
    n, unit, sizes = c["n_points"], Fraction(2) ** c["unit"], c["sizes"]
    least = sum(map(int.__mul__, c["lower"][h].tolist(), np.diff(sizes, append=n + 1).tolist())) * unit
    most = sum(map(int.__mul__, c["upper"][h].tolist(), np.diff(sizes, prepend=1).tolist())) * unit
    low, high = max(least - 2 * error * (n - 1), Fraction(0)), most + 2 * error * (n - 1)
    return low / n / scale * (1 - Fraction(1, 2**51)), high / n / scale * (1 + Fraction(1, 2**51))


def dimension(low: float, high: float) -> Bounds:
    """Return an interval that holds 1 / Delta^2 if [low, high] holds Delta, also if numbers underflow."""
    least = math.nextafter(min(1.0 / high / high, LARGEST) * (1.0 - 2.0**-51), 0.0) if high else math.inf
    return least, math.nextafter(1.0 / low / low * (1.0 + 2.0**-51), math.inf) if low else math.inf


def hop_function(edges: object, n: int, operator: str) -> tuple[Callable[[Array], Array], int]:
    """Return one hop as a function of a column, and the largest degree."""
    pairs = np.asarray(edges)
    require(pairs.shape[:-1] == (2,) and pairs.dtype.kind in "iu", "hops need edges: two rows of nodes")
    require(np.all((pairs >= 0) & (pairs < n)), f"an edge leads to a node that is not one of 0, ..., {n - 1}")
    a, b = np.sort(pairs.astype(np.int64), axis=0)
    a, b = np.divmod(np.unique((a * n + b)[a != b]), n)  # every edge once, and no loops
    source, target = np.concatenate([a, b, np.arange(n)]), np.concatenate([b, a, np.arange(n)])
    degree = np.bincount(target, minlength=n).astype(np.float64)
    before, after = (np.sqrt(degree), np.sqrt(degree)) if operator == "sym" else (np.ones(n), degree)
    return lambda x: np.bincount(target, (x / before)[source], n) / after, int(degree.max())


def hop_error(hops: int, degree: int, magnitude: float) -> float:
    """Return a bound on the error of values computed after this many hops: see 5. above."""
    return 1.02 * hops * math.sqrt(degree) * (degree + 8) * (1.02 * 2.0**-53 * magnitude + 5e-324)


# Reading: malformed input is refused.  Beyond that, nothing below decides what is true.


def checked_column(column: object, n: int, j: int) -> Array:
    """Return a column, checked to consist of real numbers that float64 holds exactly."""
    values = np.asarray(column)
    floats = values.astype(np.float64) if values.dtype.kind in "biu" else values
    exact = floats.dtype.char in "efd" and (floats is values or np.abs(floats).max(initial=0) < MOST_WHOLE)
    known = f"{n} real numbers that float64 tells apart, but {values.dtype} of shape {values.shape}"
    require(values.shape == (n,) and exact, f"column {j} does not consist of {known}")
    return floats


def parsed(text: bytes | str) -> dict[str, Any]:
    """Return the certificate in a JSON document, tables as arrays of the right shape and within limits."""
    try:
        pairs = json.loads(text, object_pairs_hook=tuple)  # not a dict, in which every name occurs once
        c = dict(pairs) if ("format", FORMAT) in pairs else {}
        require(len(pairs) == len(c) == 14, f"not a {FORMAT} with its fourteen fields, each of them once")
        n, d = (int(checked(c, name, (), 1, MOST_POINTS)) for name in ("n_points", "n_features"))
        layers, table = int(checked(c, "hops", (), 0, 1000)) + 1, (c["hops"] + 1, len(c["sizes"]))
        sizes = checked(c, "sizes", table[1:], 2, n)
        require([1, *sizes] == sorted({1, *sizes, n}), f"sizes do not ascend to n = {n}")
        checked(c, "unit", (), -1074, 971)  # 2^53 - 1 units do not overflow
        checked(c, "lower", table, 0, MOST_WHOLE - 1)
        checked(c, "upper", table, 0, MOST_WHOLE - 1)
        checked(c, "by", table, 0, d * np.arange(1, layers + 1)[:, np.newaxis] - 1)  # features of the layer
        checked(c, "starts", (3, len(c["starts"][0])), 0, MOST_POINTS)
        checked(c, "d_max", (), 0.0, LARGEST)
        checked(c, "claims", (layers, 2), 0.0, LARGEST)
        require(c["operator"] in (("sym", "rw") if c["hops"] else (None,)), "operator is not a known one")
        require(isinstance(c["normalized"], bool), "normalized is neither true nor false")
    except (LookupError, TypeError, ValueError, OverflowError, RecursionError) as error:
        raise RefutedError(f"the certificate is malformed: {error!r:.200}") from error
    return c


def checked(c: dict[str, Any], name: str, shape: tuple[int, ...], least: float, most: float | Array) -> Array:
    """Replace what was read by a valid number or table, int64 or float64 as ``least`` is, and return it."""
    values = np.array(c[name], np.int64 if isinstance(least, int) else np.float64)
    fits = values.shape == shape and np.all((values >= least) & (values <= most))
    as_written = repr(values.tolist()) == repr(c[name])  # and not made from 1.5, true, null or "1"
    require(fits and as_written, f"{name} is not a {shape} of numbers from {least} to {np.max(most)}")
    c[name] = values if shape and isinstance(least, int) else values.tolist()
    return values


def columns_of(array: Array) -> Iterator[Array]:
    """Yield the columns of an array, which may be a mapped file, read by blocks."""
    step = max(1, min(8, 2**28 // max(array.itemsize * array.shape[0], 1)))
    for j in range(0, array.shape[1], step):
        yield from np.ascontiguousarray(array[:, j : j + step].T)


def main(arguments: list[str]) -> int:
    """Check files; return the exit code."""
    try:
        data, *edges = (np.lib.format.open_memmap(path, mode="r") for path in arguments[1:])
        text = np.fromfile(arguments[0], np.uint8, MOST_BYTES).tobytes()  # what is cut off is no JSON
        claims = verify(text, columns_of(data), data.shape, *edges)
    except RefutedError as error:
        sys.stdout.write(f"REFUTED: {error}\n")
        return 1
    except (OSError, TypeError, ValueError) as error:
        sys.stderr.write(f"{error}\nusage: python checker.py CERTIFICATE.json DATA.npy [EDGES.npy]\n")
        return 2
    for h, (low, high) in enumerate(dimension(*claim) for claim in claims):
        sys.stdout.write(f"VERIFIED: the intrinsic dimension after {h} hops lies in [{low!r}, {high!r}]\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
