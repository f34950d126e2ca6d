"""Samples of the points of an existing result, computed in the same way as the result."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypedDict

from geodim.certificate.remembered import is_weighted, recall
from geodim.errors import InputValueError
from geodim.sampling.curve import subsampled_dimensions

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Unpack

    from geodim.progress import Progress
    from geodim.result import IDResult
    from geodim.sampling.curve import SampleCurve

__all__ = ["Subsampling", "subsampled"]


class Subsampling(TypedDict, total=False):
    """How samples are drawn."""

    sizes: Sequence[int] | None
    repeats: int
    seed: int
    n_threads: int | None
    progress: Progress


def subsampled(result: IDResult, data: object = None, **options: Unpack[Subsampling]) -> SampleCurve:
    """See `geodim.IDResult.subsampled`."""
    parameters = result.parameters
    if "features" in parameters:
        raise InputValueError(
            "the features of this result are not columns: call geodim.subsampled_dimensions with the same "
            "features= instead"
        )
    if is_weighted(result) or result.stepwise:
        raise InputValueError("points with weights are not drawn from: repeat them, or leave the weights out")
    data = recall(result, "data") if data is None else data
    if data is None:
        raise InputValueError("the data of this result is not available: pass it, result.subsampled(data)")
    scale = parameters.get("scale", "global" if result.normalized else "none")
    if isinstance(scale, list) and len(scale) not in (1, result.n_features):
        raise InputValueError(
            "the units of this result are too many to be kept: give them to subsampled_dimensions"
        )
    rtol = float(parameters.get("rtol", 0.0))
    return subsampled_dimensions(data, whole=result, scale=scale, rtol=rtol, **options)
