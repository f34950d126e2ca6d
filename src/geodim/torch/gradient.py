r"""Delta and the dimension as functions that PyTorch can differentiate.

The forward value is exact, as `geodim.intrinsic_dimension` finds it.  The backward pass returns the gradient
of one of the linear pieces of Delta: at each size k the value at the right end of the window that attains
Phi(k) counts 1/n, the one at its left end -1/n (see `geodim.engine.subgradient`, which states the rule at
ties).  Columns that attain Phi nowhere do not contribute, and are not sorted a second time.
"""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from geodim.arguments import one_of, real_number
from geodim.data.checks import scan_ranges
from geodim.data.sources import as_source
from geodim.engine.parts import divisor, mean, thread_count
from geodim.engine.pilot import widest_columns
from geodim.engine.solve import compute_profile
from geodim.engine.subgradient import all_counts
from geodim.errors import DegenerateDataWarning, InputValueError
from geodim.families.distances import Distances
from geodim.families.solve import family_profile
from geodim.optional import require
from geodim.torch.hops import check_tensor, hop_features, on_this_machine

if TYPE_CHECKING:
    from collections.abc import Iterator

    import torch
    from numpy.typing import NDArray

    from geodim.data.sources import ColumnSource
    from geodim.engine.profile import Profile
else:
    torch = require("torch", "gnn", "geodim.torch")

__all__ = ["discriminability", "intrinsic_dimension_loss"]

FEATURES = ("coordinates", "distances", "hops")
NORMS = {"euclidean": 2.0, "manhattan": 1.0, "chebyshev": math.inf}


def discriminability(
    X: torch.Tensor,
    *,
    features: str = "coordinates",
    metric: str = "euclidean",
    landmarks: object = None,
    graph: object = None,
    hops: int = 1,
    operator: object = "sym",
    scale: object = "global",
    n_threads: int | None = None,
) -> torch.Tensor:
    r"""Compute the discriminability of points, :math:`\Delta = \frac1n \sum_{k=2}^n \Phi(k)`, differentiably.

    Parameters
    ----------
    X : torch.Tensor of shape (n_points, n_features)
        The points.  Data on a device is copied to this machine, solved here, and its gradient copied
        back: value and gradient are the same everywhere.
    features : {"coordinates", "distances", "hops"}
        The columns, the distances from every point (or from landmarks), or the columns of X, TX, ... with the
        operator T of a graph.  Other features can be computed by PyTorch, as columns for "coordinates".
    metric : {"euclidean", "manhattan", "chebyshev"}
        For distances.
    landmarks : int or sequence of int, optional
        For distances: how many points to measure from, or which.  The value is that of these features alone,
        which is at most that of all.
    graph, hops, operator
        For hops, see `hop_features`.
    scale : {"global", "none"} or float
        What features are divided by: "global" is the largest range of a feature (of an attribute, for hops),
        through which the gradient goes, too; a number is a unit that is known.
    n_threads : int, optional
        Threads to use; all available cores by default.

    Returns
    -------
    torch.Tensor
        One number in float64, on the device of X.

    Examples
    --------
    >>> import torch
    >>> X = torch.eye(5, dtype=torch.float64, requires_grad=True)
    >>> discriminability(X).item()
    0.2
    """
    check_tensor(X)
    one_of(features, "features", FEATURES)
    normalize, unit = _unit(scale)
    threads = thread_count(n_threads)
    if features == "distances":
        one_of(metric, "metric", tuple(NORMS))
        delta: torch.Tensor = _OfDistances.apply(X, metric, landmarks, normalize, threads)  # type: ignore[no-untyped-call]
    elif features == "hops":
        if graph is None and isinstance(operator, str):
            msg = "features='hops' needs a graph, or an operator"
            raise InputValueError(msg)
        columns = torch.cat(hop_features(X, graph, hops, operator=operator, n_threads=threads), dim=1)
        delta = _OfColumns.apply(columns, X.shape[1], normalize, threads)  # type: ignore[no-untyped-call]
    else:
        delta = _OfColumns.apply(X, X.shape[1], normalize, threads)  # type: ignore[no-untyped-call]
    return delta if unit == 1.0 else delta / unit


def intrinsic_dimension_loss(X: torch.Tensor, *, log: bool = False, **options: Any) -> torch.Tensor:  # noqa: ANN401
    r"""Compute the intrinsic dimension, :math:`1/\Delta^2`, as a loss: minimising it tells points apart.

    Parameters
    ----------
    X : torch.Tensor of shape (n_points, n_features)
        The points.
    log : bool, default False
        Return its logarithm, :math:`-2 \log \Delta`, whose gradient does not grow with the dimension.
    **options
        Options of `discriminability`.

    Returns
    -------
    torch.Tensor
        One number in float64; infinite, with the gradient 0, where no feature tells any two points apart.

    Warns
    -----
    DegenerateDataWarning
        No feature tells any two points apart.

    Examples
    --------
    >>> import torch
    >>> intrinsic_dimension_loss(torch.eye(4, dtype=torch.float64)).item()
    16.0
    """
    delta = discriminability(X, **options)
    if float(delta.detach()) == 0.0:
        message = "no feature tells any two points apart: the dimension is infinite, its gradient taken as 0"
        warnings.warn(message, DegenerateDataWarning, stacklevel=2)
        return delta + math.inf
    return -2.0 * delta.log() if log else delta.pow(-2)


def _unit(scale: object) -> tuple[bool, float]:
    """Return whether to divide by the largest range, and what else to divide by."""
    if isinstance(scale, str):
        return one_of(scale, "scale", ("global", "none")) == "global", 1.0
    hint = "'global', 'none' or a positive number; divide columns by units of their own before"
    return False, real_number(scale, "scale", above=0.0, below=math.inf, hint=hint)


@dataclass(frozen=True)
class _Solved:
    """A profile, and what else its gradient needs.

    Attributes
    ----------
    source, profile
        The columns and their Phi.
    delta : float
        The value of Delta, divided by ``by``.
    by : float
        What widths are divided by.
    widest : int or None
        The column whose range that is, if any.
    off : float
        How far columns may differ when they are computed again.
    threads : int
        Threads to use.
    """

    source: ColumnSource
    profile: Profile
    delta: float
    by: float
    widest: int | None
    off: float
    threads: int

    def gradients(self) -> Iterator[tuple[int, NDArray[np.float64]]]:
        """Yield the derivatives of Delta by the values of each column that contributes."""
        n, widest = self.profile.n_points, self.widest
        for column, counts in all_counts(self.source, self.profile, off=self.off, n_threads=self.threads):
            gradient = counts / n / self.by
            if column == self.widest:
                widest = None
                self._add_range(gradient)
            yield column, gradient
        if widest is not None:
            gradient = np.zeros(n)
            self._add_range(gradient)
            yield widest, gradient

    def _add_range(self, gradient: NDArray[np.float64]) -> None:
        """Apply the quotient rule: Delta falls as the range of the widest column grows."""
        values = np.empty((1, gradient.size), self.source.dtype)
        self.source.read([self.widest], values)  # type: ignore[list-item]
        last = gradient.size - 1 - int(np.argmax(values[0, ::-1]))  # equal values are ranked by row
        gradient[last] -= self.delta / self.by
        gradient[int(np.argmin(values[0]))] += self.delta / self.by


class _OfColumns(torch.autograd.Function):
    """Delta of the columns of a tensor, the first ``own`` of which determine the largest range."""

    @staticmethod
    def forward(ctx: Any, X: torch.Tensor, own: int, normalize: bool, threads: int) -> torch.Tensor:  # noqa: ANN401
        """Solve all columns."""
        source = as_source(on_this_machine(X))
        ranges = scan_ranges(source, threads)
        profile = compute_profile(source, ranges=ranges, leaders=widest_columns(ranges), n_threads=threads)
        _raise_if_stopped(profile)
        widest = int(np.argmax(ranges.widths[:own]))
        by = divisor(float(ranges.widths[widest]), normalize)
        delta = mean(profile.phi[1:], profile.n_points, by, threads)
        divided = normalize and ranges.widths[widest] > 0.0
        ctx.solved = _Solved(source, profile, delta, by, widest if divided else None, 0.0, threads)
        ctx.save_for_backward(X)
        return _number(delta, X)

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, *grads: torch.Tensor) -> tuple[torch.Tensor, None, None, None]:  # noqa: ANN401
        """Distribute the gradient over the ends of the windows."""
        (X,) = ctx.saved_tensors  # raises if X was changed in place since
        gradient = torch.zeros(X.shape, dtype=torch.float64 if X.dtype == torch.float64 else torch.float32)
        for column, by_point in ctx.solved.gradients():
            gradient[:, column] = torch.from_numpy(by_point)
        return (gradient.to(X.device) * grads[0].to(gradient.dtype)).to(X.dtype), None, None, None


class _OfDistances(torch.autograd.Function):
    """Delta of the distances between points; only those that attain Phi are computed again."""

    @staticmethod
    def forward(
        ctx: Any,  # noqa: ANN401
        X: torch.Tensor,
        metric: str,
        landmarks: object,
        normalize: bool,
        threads: int,
    ) -> torch.Tensor:
        """Solve the distances from all points, block by block."""
        made = Distances(metric=metric, landmarks=landmarks).source(on_this_machine(X), n_threads=threads)
        if made.points is None:
            msg = "landmarks are a number of points, or which of them: others have no part in the gradient"
            raise InputValueError(msg)
        solved = family_profile(made, n_threads=threads)
        _raise_if_stopped(solved.profile)
        by = divisor(solved.d_max, normalize)
        delta = mean(solved.profile.phi[1:], solved.profile.n_points, by, threads)
        widest = int(solved.profile.owner[-1]) if normalize and solved.d_max > 0.0 else None
        ctx.solved = _Solved(solved.source, solved.profile, delta, by, widest, solved.feature_error, threads)
        ctx.norm = NORMS[metric]
        ctx.save_for_backward(X)
        return _number(delta, X)

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, *grads: torch.Tensor) -> tuple[torch.Tensor, None, None, None, None]:  # noqa: ANN401
        """Propagate the gradient through the ends of the windows, and then through the distances."""
        (X,) = ctx.saved_tensors
        kind = torch.float64 if X.dtype == torch.float64 else torch.float32
        points = X.detach().to("cpu", kind).requires_grad_()
        gradient = torch.zeros_like(points)
        centres = ctx.solved.source.points
        for column, by_point in ctx.solved.gradients():
            with torch.enable_grad():
                lengths = torch.linalg.vector_norm(points - points[int(centres[column])], ctx.norm, dim=1)
            (part,) = torch.autograd.grad(lengths, points, torch.from_numpy(by_point).to(kind))
            gradient += part
        return (gradient.to(X.device) * grads[0].to(kind)).to(X.dtype), None, None, None, None


def _number(delta: float, like: torch.Tensor) -> torch.Tensor:
    kind = torch.float32 if like.device.type == "mps" else torch.float64  # MPS has no float64
    return torch.tensor(delta, dtype=kind, device=like.device)


def _raise_if_stopped(profile: Profile) -> None:
    if profile.stopped is not None:  # Ctrl-C is meant for the training
        raise KeyboardInterrupt
