"""From a profile to a result: the only place where widths are added up and divided by d_max."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, cast

import numpy as np

from geodim.attained import attained_runs
from geodim.engine.parts import divisor, mean, sums_by_owner
from geodim.lookup import inverse_square
from geodim.removal import Removal
from geodim.result import IDResult, unique_names, versions
from geodim.share_bounds import share_bounds
from geodim.support_field import written_out

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from geodim.data.checks import Ranges
    from geodim.engine.profile import Profile, Steps
    from geodim.engine.toptwo import TopTwo


def _above(delta: float, widths: NDArray[np.float64]) -> float:
    """Return an upper bound on the sum of widths that was rounded to this.

    The smallest floats have no 2^-50th part, so they are raised to the next float.
    """
    if delta == 0.0 and not widths.any():
        return 0.0
    return math.nextafter(delta * (1.0 + 2.0**-50), math.inf)


def _below(delta: float) -> float:
    """Return a lower bound on the sum that was rounded to this, and not below 0."""
    return max(math.nextafter(delta * (1.0 - 2.0**-50), -math.inf), 0.0)


def part_off(delta: float, loose: float, weight: float, scale: float) -> float:
    """Return the largest part of itself by which a sum of widths may exceed the true one, at most 1.

    Parameters
    ----------
    delta : float
        The sum, each width times a weight, over the scale; rounded.
    loose : float
        By how much each width may exceed the true one; 0 is exact.
    weight : float
        The sum of the weights.
    scale : float
        What widths are divided by.
    """
    if loose == 0.0 or delta == 0.0:
        return 0.0
    off = loose * weight / scale
    return min(off / delta * (1.0 + 2.0**-50), 1.0) if off < math.inf else 1.0


def summarise(
    profile: Profile,
    ranges: Ranges,
    *,
    normalize: bool,
    names: list[str] | None,
    rtol: float,
    seconds: float,
    n_threads: int,
    d_max: float | None = None,
    n_indistinguishable: int | None = None,
    feature_error: float = 0.0,
    delta_error: Callable[[float], float] | None = None,
    d_max_error: float = 0.0,
) -> IDResult:
    """Turn a profile into a result: the only place where widths are added up and divided by d_max.

    ``feature_error`` is how far values may be from those of the data, and ``d_max_error`` how far d_max may
    be.  ``delta_error`` bounds the error of the unscaled Delta of such features, where that is less than
    twice the error of the features.
    """
    n = profile.n_points
    solved = profile.step == 0.0 and profile.stopped is None
    widest = ranges.d_max
    # No width exceeds d_max where that is the largest range of the features themselves.
    largest_delta = 1.0 if d_max is None else math.inf
    d_max = ranges.d_max if d_max is None else d_max
    scale = divisor(d_max, normalize)
    if solved:
        support, lower = profile.everywhere()
        upper = lower
        delta = delta_lower = delta_upper = profile.mean(support, lower, scale, n_threads)
    else:
        support, lower, upper = profile.bounds(ranges, n_threads)
        # The sums round by an ulp or so.
        delta_upper = _above(profile.mean(support, upper, scale, n_threads), upper)
        delta_lower = _below(profile.mean(support, lower, scale, n_threads))
        delta = delta_lower + 0.5 * (delta_upper - delta_lower) if delta_upper < math.inf else delta_lower
    off_by_mass = profile.off_by_mass(widest)
    if off_by_mass > 0.0:
        off_by_mass = math.nextafter(off_by_mass / scale, math.inf)
        delta_lower, delta_upper = _below(delta_lower - off_by_mass), _above(delta_upper + off_by_mass, upper)
    support, lower, upper = profile.shown(support, lower, upper, widest)
    if feature_error > 0.0:  # each of the n - 1 widths is the difference of two values
        off = 2.0 * feature_error * ((n - 1) / n)
        if delta_error is not None:
            off = min(off, delta_error(delta_upper * scale))
        off = off / scale * (1.0 + 2.0**-50)
        delta_lower = max((delta_lower - off) * (1.0 - 2.0**-50), 0.0)
        delta_upper = (delta_upper + off) * (1.0 + 2.0**-50)
    if d_max_error > 0.0 and normalize:
        least, most = d_max - d_max_error, d_max + d_max_error
        delta_lower *= d_max / most * (1.0 - 2.0**-50)
        stretched = delta_upper * (scale / least) * (1.0 + 2.0**-50) if least > 0.0 else math.inf
        delta_upper = min(stretched, largest_delta)
    steps = profile.steps() if profile.counted else None
    order, shares = _shares(profile, steps, names, n_threads)
    starts, owners = attained_runs(profile, steps, n_threads=n_threads)
    within: dict[str, tuple[float, float]] = {}
    # Rounding of features is left aside here: it is far less than any tolerance.  They count points.
    if not solved and profile.mass == ranges.n_points:
        shared = share_bounds(written_out(support), lower, upper, ranges, order)
        within = dict(zip(shares, shared, strict=True))
    return IDResult(
        n_points=n,
        n_features=int(profile.done.size),
        normalized=bool(normalize),
        d_max=d_max,
        discriminability=delta,
        discriminability_lower=delta_lower,
        discriminability_upper=delta_upper,
        support=cast("NDArray[np.int64]", support),  # a range becomes one, see `geodim.support_field`
        phi_lower=lower,
        phi_upper=upper,
        shares=shares,
        exact=solved and feature_error == 0.0 and off_by_mass == 0.0,
        stopped=profile.stopped,
        n_indistinguishable=n_indistinguishable,
        evaluations=int(profile.work[0] + profile.work[1]),
        bytes_read=profile.bytes_read,
        seconds=seconds,
        parameters={
            "rtol": float(rtol),
            "scale": "global" if normalize else "none",
            "normalize": bool(normalize),
            "n_threads": int(n_threads),
        },
        versions=versions(),
        attained_from=starts,
        attained_by=_positions(owners, order),
        feature_error=feature_error,
        mass=profile.mass,
        stepwise=profile.counted,
        share_bounds=within,
    )


def removal_of(
    two: TopTwo, names: list[str] | None, *, normalize: bool, scale: float | None = None, n_threads: int = 1
) -> Removal:
    """Return what the removal of each feature costs, given the two best columns at every size.

    Parameters
    ----------
    two : TopTwo
        The two best columns at every size; all columns were merged into it.
    names : list of str, optional
        Their names.
    normalize : bool
        Whether features are divided by the largest range among those that are there.
    scale : float, optional
        What they are divided by instead, whatever features remain.
    n_threads : int
        Threads to use.
    """
    best = two.winner()
    order, shares = _shares(best, None, names, n_threads)
    by = divisor(float(best.phi[-1]), normalize) if scale is None else scale  # Phi(n) is the largest range
    deltas, alone = two.deltas(normalize=normalize, scale=scale), two.alone()
    return Removal(
        dimension=inverse_square(mean(best.phi[1:], best.n_points, by, n_threads)),
        without={name: inverse_square(deltas[column]) for name, column in zip(shares, order, strict=True)},
        alone={name: alone[column] for name, column in zip(shares, order, strict=True)},
        tied=two.tied_part(),
        ties=two.tied[1:],
    )


def _shares(
    profile: Profile, steps: Steps | None, names: list[str] | None, n_threads: int
) -> tuple[list[int], dict[str, float]]:
    """Return the columns that attain Phi somewhere, the largest share first, and the shares by name.

    A share may be too small for a float.
    """
    if steps is not None:  # the same sums over k, grouped by steps of equal width
        sizes, owners, widths = steps
        known = (owners >= 0) & (widths > 0.0)
        owned = owners[known]
        # In units of the largest, so that nothing overflows.
        parts = (profile.lengths(sizes) / profile.end) * (widths / (widths.max(initial=0.0) or 1.0))
        sums = np.bincount(owned, parts[known], profile.done.size).astype(np.float64, copy=False)
        attains = np.bincount(owned, minlength=profile.done.size) > 0
    else:
        sums, attains = sums_by_owner(profile.phi, profile.owner, profile.done.size, n_threads)
    total = float(sums.sum())
    if total == 0.0:
        return [], {}
    ranked = np.argsort(-sums, kind="stable")
    order = ranked[attains[ranked]].tolist()
    labels = unique_names(names, order)
    return order, {label: float(sums[i] / total) for label, i in zip(labels, order, strict=True)}


def _positions(columns: NDArray[np.int64], order: list[int]) -> NDArray[np.int64]:
    """Return the position of each column in ``order``, -1 if it has none."""
    places = np.full(max([*order, *columns.tolist()], default=0) + 2, -1)  # the last for column -1
    places[order] = np.arange(len(order))
    return places[columns].astype(np.int64)
