r"""Hops of a graph's attributes as differentiable functions: :math:`X, TX, T^2X, \dots`.

The values are those of `geodim.features.hop_features`, to the bit; the backward pass uses the transpose of
the operator, which is known for all of them: ``sym`` is symmetric, :math:`T^\top = D T D^{-1}` for ``rw``,
polynomials of either follow from these, and a matrix given by the user is transposed.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from geodim.arguments import whole_number
from geodim.errors import InputTypeError, ShapeError
from geodim.features.operators import MatrixOperator, Operator, SeriesOperator, make_operator
from geodim.optional import require

if TYPE_CHECKING:
    import torch
    from numpy.typing import NDArray

    from geodim.features.aggregate import Rows
else:
    torch = require("torch", "gnn", "geodim.torch")

__all__ = ["hop_features"]


def hop_features(
    X: torch.Tensor,
    graph: object = None,
    hops: int = 1,
    *,
    operator: object = "sym",
    n_threads: int | None = None,
    **parameters: object,
) -> list[torch.Tensor]:
    r"""Compute the hops :math:`X, TX, \dots, T^K X` of a graph's attributes, differentiably.

    Parameters
    ----------
    X : torch.Tensor of shape (n_nodes, n_attributes)
        Attributes, float32 or float64; of others the hops are float32.  Tensors on a device are aggregated on
        this machine's cores, and the hops go back to the device.
    graph
        Anything that `geodim.as_graph` takes.
    hops : int, default 1
        The largest K.
    operator : {"sym", "rw", "ppr", "heat"}, sparse matrix or Operator
        What one hop does, see `geodim.features.make_operator`.
    n_threads : int, optional
        Threads to use; all available cores by default.
    **parameters
        Parameters of the operator.

    Returns
    -------
    list of torch.Tensor
        K + 1 of them; the first is X.

    Examples
    --------
    >>> import torch
    >>> X = torch.tensor([[0.0], [2.0]], requires_grad=True)
    >>> mean = hop_features(X, [(0, 1)], 1, operator="rw")[1]
    >>> mean.squeeze().tolist()
    [1.0, 1.0]
    >>> mean[0, 0].backward()
    >>> X.grad.squeeze().tolist()
    [0.5, 0.5]
    """
    check_tensor(X)
    hops = whole_number(hops, "hops", 0)
    made = make_operator(graph, operator, **parameters)
    if made.n_nodes != len(X):
        msg = f"X has {len(X)} rows, but the graph has {made.n_nodes} nodes"
        raise ShapeError(msg)
    found = [X]
    for _ in range(hops):
        found.append(_Hop.apply(found[-1], made, n_threads))  # type: ignore[no-untyped-call]
    return found


def check_tensor(X: object) -> None:
    """Raise unless X is a table of real floating-point numbers."""
    if not isinstance(X, torch.Tensor) or not X.is_floating_point() or X.layout is not torch.strided:
        kind = f"a {X.layout} tensor of {X.dtype}" if isinstance(X, torch.Tensor) else type(X).__name__
        msg = f"gradients are of dense tensors of real floating-point numbers, not of {kind}"
        raise InputTypeError(msg)
    if X.ndim != 2:
        msg = f"X has the shape {tuple(X.shape)}: give points by features"
        raise ShapeError(msg)


def on_this_machine(X: torch.Tensor) -> NDArray[np.floating]:
    """Return the values as an array, float32 or float64, without a copy if they are on this machine."""
    from geodim.backends.cuda.tensors import tensor_type  # noqa: PLC0415 - asks for PyTorch in words of its own

    array: NDArray[np.floating] = X.detach().to("cpu", tensor_type(X)).numpy()
    return array


class _Hop(torch.autograd.Function):
    """One application of an operator."""

    @staticmethod
    def forward(ctx: Any, X: torch.Tensor, operator: Operator, threads: int | None) -> torch.Tensor:  # noqa: ANN401
        """Apply it."""
        ctx.operator, ctx.threads = operator, threads
        return _applied(operator, X, threads)

    @staticmethod
    def backward(ctx: Any, *grads: torch.Tensor) -> tuple[torch.Tensor, None, None]:  # noqa: ANN401
        """Apply its transpose."""
        operator, degrees = transposed(ctx.operator)
        (grad,) = grads
        if degrees is None:
            return _applied(operator, grad, ctx.threads), None, None
        scale = torch.tensor(degrees, dtype=grad.dtype, device=grad.device).unsqueeze(1)
        return _applied(operator, grad / scale, ctx.threads) * scale, None, None


def transposed(operator: Operator) -> tuple[Operator, NDArray[np.float64] | None]:
    """Return the transpose: an operator, and what to divide by before and multiply with after it, if any."""
    if isinstance(operator, SeriesOperator):
        degrees = None if operator.transition.name == "sym" else operator.transition.rows.degrees
        return operator, degrees
    if not isinstance(operator, MatrixOperator):
        msg = f"no transpose is known for operators of class {type(operator).__name__}: give a sparse matrix"
        raise InputTypeError(msg)
    rows = operator.rows
    if rows.degrees is not None:
        return operator, None if rows.roots else rows.degrees
    return MatrixOperator(operator.name, _turned(rows)), None


def _turned(rows: Rows) -> Rows:
    from scipy.sparse import csr_array  # noqa: PLC0415

    weights = np.ones(len(rows.indices)) if rows.weights is None else rows.weights
    shape = (rows.n_nodes, rows.n_nodes)
    matrix = csr_array((weights, rows.indices, rows.indptr), shape=shape).T.tocsr()
    return replace(rows, indptr=matrix.indptr.astype(np.int64), indices=matrix.indices, weights=matrix.data)


def _applied(operator: Operator, X: torch.Tensor, threads: int | None) -> torch.Tensor:
    block = np.ascontiguousarray(on_this_machine(X))
    out = np.empty_like(block)
    operator.apply(block, out, n_threads=threads)
    return torch.from_numpy(out).to(X.device, X.dtype)
