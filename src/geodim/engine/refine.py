"""Passes with ever finer steps until a tolerance is met: the one policy for columns and for hops.

A pilot estimates Delta, which gives the step that a tolerance needs.  If the estimate was too large, another
pass is made with a finer step; if finer steps lead nowhere, an exact one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from geodim.engine.steps import resolution, unless_too_fine, within

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from geodim.engine.profile import Profile
    from geodim.result import IDResult

MOST_PASSES = 6  # with ever finer steps, before the exact one


@dataclass(frozen=True)
class Attempt:
    """What one pass found.

    Attributes
    ----------
    results : sequence of IDResult
        One result, or one for every number of hops.
    delta, off : float
        The least Delta among the results, unscaled, as the pass found it, and how far it may be off.
    stopped : bool
        Whether the time limit or the user ended the pass: then no other follows.
    resumes : bool
        Whether the next pass starts from what this one found, so its step need not be finer.
    """

    results: Sequence[IDResult]
    delta: float
    off: float
    stopped: bool = False
    resumes: bool = False

    @classmethod
    def of(cls, profile: Profile, results: Sequence[IDResult], n_threads: int) -> Attempt:
        """Describe a pass by its results and the profile that has the least Delta."""
        delta, off = profile.rounded_mean(n_threads) if profile.step > 0.0 else (0.0, 0.0)
        return cls(results, delta, off, profile.stopped is not None, profile.goes_on)


def refine(
    attempt: Callable[[float], Attempt],
    step: float,
    rtol: float,
    magnitude: float,
    *,
    exactly: bool = True,
) -> Attempt:
    """Return the first attempt that is close enough, was stopped, or is exact.

    Parameters
    ----------
    attempt
        Makes a pass with a given step; 0 is exact.
    step
        The step to begin with.
    rtol
        The tolerance of the dimensions.
    magnitude
        The largest absolute value.
    exactly
        Whether an exact pass is possible; if not, finer steps are tried until the tolerance is met.
    """
    left = MOST_PASSES
    while True:
        made = attempt(step)
        if step == 0.0 or made.stopped or all(close(one, step, rtol) for one in made.results):
            return made
        left -= 1
        needed = resolution(rtol, made.delta, magnitude)
        if exactly and (left == 0 or within(made.delta, made.off, rtol)):
            # Phi is close enough but 1 / Delta^2 lies where floats are sparse, or no end is in sight.
            step = 0.0
        elif made.resumes and made.off > step:
            step = needed
        else:
            step = unless_too_fine(min(0.5 * step, needed), magnitude)


def close(result: IDResult, step: float, rtol: float) -> bool:
    """Return whether a result is as close as requested, or would be but for the rounding of its features."""
    if 0.0 <= result.error <= rtol or result.feature_error == 0.0:
        return 0.0 <= result.error <= rtol
    return within(result.discriminability, step / result.scale, rtol)
