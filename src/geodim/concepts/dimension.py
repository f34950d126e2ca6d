"""`binary_dimension`: the intrinsic dimension of the attributes of binary data, by its formal concepts."""

from __future__ import annotations

import math
import time
import warnings
from importlib import import_module
from typing import TYPE_CHECKING

import numpy as np

from geodim.arguments import real_number, whole_number
from geodim.attained import MOST_RUNS, shortened
from geodim.concepts.contexts import as_context
from geodim.concepts.mining import mine
from geodim.data.scales import Scale
from geodim.engine.driver import Driver
from geodim.engine.parts import mean
from geodim.errors import DegenerateDataWarning, InputValueError, InterruptedWarning
from geodim.progress import showing
from geodim.result import IDResult, versions

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from geodim.concepts.contexts import Context
    from geodim.concepts.mining import Front
    from geodim.progress import Progress

NAMED = 8  # attributes of a concept that are listed in its name


def binary_dimension(
    X: object,
    *,
    min_support: float = 0.0,
    scale: object = None,
    normalize: bool | None = None,
    attribute_names: Sequence[str] | None = None,
    time_limit: float | None = None,
    progress: Progress = None,
) -> IDResult:
    r"""Compute the intrinsic dimension of binary data, by the concept features of Hanika and Hille.

    The points are the m attributes.  Every formal concept (A, B), a set of objects with the attributes that
    they share, gives the feature that is :math:`|A|/|G|` on B and 0 elsewhere.  With these

    .. math:: \Phi(k) = \max\{|A|/|G| : \max(|B|, m - |B|) < k\}, \qquad
              \Delta = \frac1m \sum_{k=2}^m \Phi(k), \qquad \mathrm{ID} = \frac1{\Delta^2}.

    At most m/2 of these are not 0, so the dimension is 4 or more, whatever the data.

    Parameters
    ----------
    X : array-like, sparse matrix, frame, path or Context
        Objects in rows, attributes in columns: booleans, or numbers that are all 0 or 1; or a file of
        transactions (FIMI, ``.dat``) or a context (Burmeister, ``.cxt``), also with ``.gz``.
    min_support : float or int, default 0.0
        Concepts with fewer objects are not searched for.  A float is a share of the objects, from 0 to 1; an
        int is a number of objects.  Bounds hold for all concepts, whatever is left out.
    scale : {"none", "global"}
        Take shares of objects as they are, or divide all features by the largest range, the share of the most
        frequent attribute.
    normalize : bool, optional
        Older alias: False is scale="none", True is scale="global".
    attribute_names : sequence of str, optional
        Names of the attributes, where the data has none.
    time_limit : float, optional
        Seconds after which the bounds known by then are returned, with a warning.  Reading X is not
        interrupted.
    progress : bool or callable, optional
        True shows a bar; a function is called as ``progress(sizes_done, sizes)``, in the calling thread.

    Returns
    -------
    IDResult
        ``n_points`` counts attributes and ``n_features`` the concepts that attain Phi: all others could be
        left out.  ``shares`` names these by their attributes.

    Warns
    -----
    DegenerateDataWarning
        No concept tells any two attributes apart: Delta is 0 and the dimension infinite.
    InterruptedWarning
        Ctrl-C or the time limit ended the search; the bounds are valid but wider.

    Notes
    -----
    `geodim.concepts.mining` proves how few of the concepts must be examined, and the bounds.

    Examples
    --------
    >>> import numpy as np
    >>> import geodim
    >>> round(geodim.binary_dimension(np.eye(10, dtype=bool)).dimension)  # n^4
    10000
    >>> result = geodim.binary_dimension(~np.eye(2000, dtype=bool))  # of 2^2000 concepts
    >>> round(result.dimension, 4), result.exact
    (7.1159, True)
    """
    started = time.monotonic()
    limit = None if time_limit is None else real_number(time_limit, "time_limit", least=0.0, hint="seconds")
    check_min_support(min_support)
    chosen = Scale.of("none" if scale is None and normalize is None else scale, normalize)
    if chosen.own:
        raise InputValueError("shares of objects have one unit: scale must be 'none' or 'global'")
    context = as_context(X, attribute_names=attribute_names)
    least = least_support(min_support, context.n_objects)
    import_module("geodim.concepts._lists")  # Numba, before an interrupt could leave it half imported
    with showing(progress, "sizes") as told:
        driver = Driver(None if limit is None else started + limit, told)
        with driver.heeding():
            front = mine(context, least, driver)
    result = _summarise(context, front, least, driver, normalize=chosen.normalize, started=started)
    _warn(result)
    return result


def check_min_support(min_support: object) -> None:
    """Check that the minimum support is a share or a number of objects."""
    if isinstance(min_support, float | np.floating):
        hint = "a share of the objects; a whole number is a number of objects"
        real_number(min_support, "min_support", least=0.0, most=1.0, hint=hint)
    else:
        whole_number(min_support, "min_support", 0)


def least_support(min_support: float, n_objects: int) -> int:
    """Return the minimum support as a number of objects, 1 or more, from a share or a number.

    Examples
    --------
    >>> least_support(0.25, 8), least_support(0.3, 10), least_support(3, 10), least_support(0.0, 10)
    (2, 3, 3, 1)
    """
    if isinstance(min_support, int | np.integer):
        return max(1, int(min_support))
    count = math.floor(float(min_support) * n_objects)
    while count / n_objects < min_support:  # as shares are rounded, too
        count += 1
    return max(1, count)


def _summarise(
    context: Context, front: Front, least: int, driver: Driver, *, normalize: bool, started: float
) -> IDResult:
    """Turn supports by size into Phi by k = m - t + 1, and a result."""
    m, objects = context.n_attributes, context.n_objects
    stopped = driver.stopped if front.unseen(least) else None
    lower, upper = _by_size(front.lower, m), _by_size(front.upper, m)
    scale = front.largest if normalize and front.largest else objects
    delta_lower, delta_upper = delta_bounds(front.lower, front.upper, m, scale)
    closed = delta_lower == delta_upper
    delta = delta_lower + 0.5 * (delta_upper - delta_lower)
    phi_lower = lower / objects
    shares, starts, owners = _carried(context, front, stopped)
    return IDResult(
        n_points=m,
        n_features=max(1, len(shares)),
        normalized=bool(normalize),
        d_max=front.largest / objects,
        discriminability=delta,
        discriminability_lower=delta_lower,
        discriminability_upper=delta_upper,
        support=np.arange(2, m + 1),
        phi_lower=phi_lower,
        phi_upper=phi_lower if closed else upper / objects,
        shares=shares,
        exact=closed,
        stopped=stopped,
        evaluations=front.work,
        bytes_read=int(context.rows.indices.nbytes + context.rows.indptr.nbytes),
        seconds=time.monotonic() - started,
        parameters={
            "features": "concepts",
            "n_objects": objects,
            "min_support": least,
            "scale": "global" if normalize else "none",
            "normalize": bool(normalize),
            "n_threads": 1,
        },
        versions=versions(),
        attained_from=starts,
        attained_by=owners,
    )


def delta_bounds(
    lower: NDArray[np.int64], upper: NDArray[np.int64], m: int, scale: int
) -> tuple[float, float]:
    """Return bounds on Delta of m attributes, from supports at t = 1, 2, ...; index 0 is not used.

    Whole numbers are added up, and rounded once: where both agree, this is the float64 nearest to the
    definition's Delta.
    """
    low, high = (mean(values[1:].astype(np.float64), m, float(scale)) for values in (lower, upper))
    if np.array_equal(lower[1:], upper[1:]):
        return low, low
    return max(math.nextafter(low, -math.inf), 0.0), math.nextafter(high, math.inf)


def _by_size(by_least_size: NDArray[np.int64], m: int) -> NDArray[np.int64]:
    """Return values at k = 2, ..., m from values at t = m - k + 1; 0 beyond the last t."""
    values = np.zeros(max(m - 1, 0), np.int64)
    half = by_least_size.size - 1
    values[values.size - half :] = by_least_size[:0:-1]
    return values


def _carried(
    context: Context, front: Front, stopped: str | None
) -> tuple[dict[str, float], NDArray[np.int64], NDArray[np.int64]]:
    """Return shares by concept, and runs of k: where several attain Phi(k), the largest intent counts."""
    m, half = front.n_attributes, front.half
    owner = front.owner.copy()
    for t in range(half - 1, 0, -1):
        if front.lower[t] == front.lower[t + 1]:
            owner[t] = owner[t + 1]
    there = owner[1:][owner[1:] >= 0]
    sums = np.bincount(there, weights=front.lower[1:][owner[1:] >= 0], minlength=len(front.intents))
    order = [int(at) for at in np.argsort(-sums, kind="stable") if sums[at] > 0.0]
    total = float(sums.sum())
    shares: dict[str, float] = {}
    for at in order:
        name = _name(context, front.intents[at], front.supports[at])
        again = 1
        while name in shares:  # names of attributes may contain braces and commas
            again += 1
            name = f"{_name(context, front.intents[at], front.supports[at])} ({again})"
        shares[name] = float(sums[at] / total)
    if stopped is not None or m < 2:
        return shares, np.empty(0, np.int64), np.empty(0, np.int64)
    position = np.full(len(front.intents) + 1, -1, np.int64)  # the last for none
    position[order] = np.arange(len(order))
    by_size = np.full(m - 1, -1, np.int64)
    by_size[by_size.size - half :] = position[owner[:0:-1]]
    first = np.flatnonzero(np.append(True, by_size[1:] != by_size[:-1]))
    starts, owners = first + 2, by_size[first]
    if starts.size > MOST_RUNS:
        starts, owners = shortened(starts, owners, m + 1, MOST_RUNS)
    return shares, starts, owners


def _name(context: Context, intent: NDArray[np.int64], support: int) -> str:
    """Return the name of a concept: its attributes, as many as fit, and how many objects have them."""
    named = [context.attribute_name(int(number)) for number in intent[:NAMED]]
    more = intent.size - len(named)
    ending = f" and {more} more" if more else ""
    return f"{{{', '.join(named)}{ending}}} in {support:,}"


def _warn(result: IDResult) -> None:
    if result.stopped:
        warnings.warn(
            f"stopped early ({result.stopped}): the dimension lies between {result.lower:.6g} and "
            f"{result.upper:.6g}; a larger min_support or more time brings these closer",
            InterruptedWarning,
            stacklevel=3,
        )
    elif result.exact and result.discriminability == 0.0:
        warnings.warn(
            "no concept tells any two attributes apart: the discriminability is 0 and the intrinsic "
            "dimension infinite",
            DegenerateDataWarning,
            stacklevel=3,
        )
