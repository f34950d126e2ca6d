r"""Diffusion operators: the matrix whose powers make the hops.

With :math:`\tilde A = A + I` (every self-loop once) and :math:`D = \operatorname{diag}(\deg)`,
:math:`\deg(v) = |N(v)|`:

========  ====================================================================  ========================
name      operator                                                              parameters
========  ====================================================================  ========================
``sym``   :math:`\hat A = D^{-1/2} \tilde A D^{-1/2}`, the paper's             none
``rw``    :math:`D^{-1} \tilde A`, the mean over the neighbourhood             none
``ppr``   :math:`\sum_{k \le K} \alpha (1-\alpha)^k T^k`                       alpha, order, transition
``heat``  :math:`e^{-t} \sum_{k \le K} \frac{t^k}{k!} T^k`                     t, order, transition
========  ====================================================================  ========================

:math:`T` is ``sym`` or ``rw``. A scipy sparse matrix can be given instead of a name; it is used as it is.

Edge weights are not negative (:func:`geodim.data.graphs.as_graph` refuses others), and the weighted degrees
:math:`\deg(v) = \sum_{w \in N(v)} \tilde A_{vw}` are 0 or lie between 1e-150 and 1e150. A node of degree 0,
all of whose weights are 0, its own loop's included, has a row of zeros.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from geodim.arguments import MOST_ORDER, one_of, real_number, whole_number
from geodim.data.graphs import as_graph
from geodim.data.graphs.parallel import equal_ranges, run_tasks
from geodim.data.sparse import checked_sparse
from geodim.engine.parts import thread_count
from geodim.errors import InputTypeError, InputValueError, NonFiniteError, RangeOverflowError, ShapeError
from geodim.features.aggregate import (
    MIN_WIDTH,
    Rows,
    aggregate,
    aligned_empty,
    raise_overflow,
    useful_threads,
)
from geodim.features.rounding import Arithmetic

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from geodim.data.graphs import Graph
    from geodim.data.sparse import SparseMatrix

__all__ = ["MatrixOperator", "Operator", "SeriesOperator", "make_operator"]

NAMES = ("sym", "rw", "ppr", "heat")
MAX_ORDER = 10_000
CHUNK = 1 << 20  # rows whose lengths are examined together
LEAST_DEGREE, LARGEST_DEGREE = 1e-150, 1e150  # products of two of them neither overflow nor lose digits


class Operator(ABC):
    """A linear map on columns over the nodes of a graph. Made by :func:`make_operator`.

    Attributes
    ----------
    n_nodes : int
        Number of rows and columns.
    products : int
        Sparse products that one application takes.
    scratch_itemsize : int
        Bytes of working memory per node and column that one application takes.

    Examples
    --------
    >>> from geodim.features import Operator, make_operator
    >>> operator = make_operator([(0, 1), (1, 2)], "rw")
    >>> isinstance(operator, Operator), operator.n_nodes, operator.products
    (True, 3, 1)
    """

    n_nodes: int
    products: int = 1
    scratch_itemsize: int = 0

    @abstractmethod
    def describe(self) -> dict[str, Any]:
        """Return name, parameters and sizes as plain values, ready for JSON."""

    @abstractmethod
    def apply(
        self, block: NDArray[np.floating], out: NDArray[np.floating], *, n_threads: int | None = None
    ) -> None:
        """Write the operator times `block` into `out`.

        These are two different C-contiguous (n, c) arrays of one float type. Columns do not influence each
        other, and `n_threads` does not influence any bit. See :mod:`geodim.features.hops` for what is
        guaranteed about rounding.
        """

    def arithmetic(self) -> Arithmetic | None:
        """Return what the rounding of an application depends on.

        None if the result of `apply` is correct by definition.
        """
        return None

    def absolute(self) -> Operator:
        """Return the operator whose entries are the absolute values of those of this one."""
        return self

    def largest_sums(
        self, hops: int, kind: np.dtype[np.floating], n_threads: int | None = None
    ) -> Iterator[float]:
        """Yield the largest row sum of each power of `absolute`, while it is finite."""
        operator = self.absolute()
        block, out = (aligned_empty((self.n_nodes, MIN_WIDTH), kind) for _ in range(2))
        block[...] = 1.0
        for _ in range(hops):
            try:
                operator.apply(block, out, n_threads=n_threads)
            except RangeOverflowError:
                return
            yield float(out.max())
            block, out = out, block

    def to_dict(self) -> dict[str, Any]:
        """Return the same as :meth:`describe`."""
        return self.describe()

    def __repr__(self) -> str:
        inside = ", ".join(f"{key}={value!r}" for key, value in self.describe().items() if key != "operator")
        return f"{type(self).__name__}({self.describe()['operator']!r}, {inside})"


class MatrixOperator(Operator):
    """One sparse matrix, held as compressed rows and the scales around them.

    Examples
    --------
    >>> from geodim.features import make_operator
    >>> type(make_operator([(0, 1), (1, 2)], "sym")).__name__
    'MatrixOperator'
    """

    def __init__(self, name: str, rows: Rows) -> None:
        self.name = name
        self.rows = rows
        self.n_nodes = rows.n_nodes

    def describe(self) -> dict[str, Any]:
        """Return name and sizes."""
        return {
            "operator": self.name,
            "n_nodes": self.n_nodes,
            "stored_entries": len(self.rows.indices),
            "weighted": self.rows.weights is not None,
        }

    def apply(
        self, block: NDArray[np.floating], out: NDArray[np.floating], *, n_threads: int | None = None
    ) -> None:
        """Write the matrix times `block` into `out`."""
        aggregate(self.rows, block, out, thread_count(n_threads, "threads"))

    def arithmetic(self) -> Arithmetic:
        """Return what the rounding of a product depends on."""
        rows = self.rows
        parts = (rows.indptr[at : at + CHUNK + 1] for at in range(0, self.n_nodes, CHUNK))
        longest = max(int(np.diff(part).max()) for part in parts)
        return Arithmetic(
            terms=longest + rows.add_loops,
            least_degree=1.0 if rows.degrees is None else float(rows.degrees.min()),
            means=rows.degrees is not None and not rows.roots,
            contracts=rows.roots,
        )

    def absolute(self) -> MatrixOperator:
        """Return the matrix of absolute values: for a graph itself, since its weights are not negative."""
        weights = self.rows.weights
        if weights is None or self.rows.degrees is not None:
            return self
        return MatrixOperator(self.name, replace(self.rows, weights=np.abs(weights)))


class SeriesOperator(Operator):
    r"""A truncated power series :math:`\sum_{k \le K} \theta_k T^k`.

    Its coefficients are :math:`\theta_k \ge 0, \sum_k \theta_k = 1`. It is evaluated by Horner's rule in
    float64 throughout; only the result is rounded to the type of the features.

    Attributes
    ----------
    order : int
        The last power K kept.
    truncation_error : float
        :math:`\sum_{k > K} \theta_k`, a bound on the norm of what was cut off, since :math:`\|T\| \le 1`: in
        the spectral norm for ``sym``, in the maximum norm (of each column) for ``rw``. Bounds on a dimension
        are about the series as truncated: this error is not among them.

    Examples
    --------
    >>> from geodim.features import make_operator
    >>> operator = make_operator([(0, 1), (1, 2)], "ppr")
    >>> operator.order, operator.truncation_error < 1e-3
    (56, True)
    """

    scratch_itemsize = 16

    def __init__(
        self,
        name: str,
        transition: MatrixOperator,
        parameters: dict[str, float],
        steps: list[float],
        base: tuple[float, float],
        truncation_error: float,
    ) -> None:
        self.name = name
        self.transition = transition
        self.parameters = parameters
        self.order = self.products = len(steps)
        self.truncation_error = truncation_error
        self.n_nodes = transition.n_nodes
        # y <- first * x;  then for each step g:  y <- g * T y + first * x;  result: last * y.
        self._steps = steps
        self._first, self._last = base

    def arithmetic(self) -> Arithmetic:
        """Return what the rounding of the series depends on."""
        return replace(self.transition.arithmetic(), order=self.order, first=self._first)

    def describe(self) -> dict[str, Any]:
        """Return name, parameters, truncation and sizes."""
        return {
            "operator": self.name,
            **self.parameters,
            "order": self.order,
            "transition": self.transition.name,
            "truncation_error": self.truncation_error,
            "truncation_norm": "spectral" if self.transition.name == "sym" else "maximum",
            "n_nodes": self.n_nodes,
        }

    def apply(
        self, block: NDArray[np.floating], out: NDArray[np.floating], *, n_threads: int | None = None
    ) -> None:
        """Write the series applied to `block` into `out`."""
        from geodim.features._kernels import blend  # noqa: PLC0415

        count = thread_count(n_threads, "threads")
        helpers = useful_threads(count, block.size)
        ranges = equal_ranges(self.n_nodes, helpers)
        shape, double = block.shape, np.dtype(np.float64)
        y, z = aligned_empty(shape, double), aligned_empty(shape, double)
        np.multiply(block, self._first, out=y, dtype=np.float64)
        for step in self._steps:
            self.transition.apply(y, z, n_threads=count)
            y, z = z, y

            def task(rows: tuple[int, int], y: NDArray[np.floating] = y, step: float = step) -> None:
                blend(y, self._first, block, step, rows[0], rows[1])

            run_tasks(task, ranges, helpers)
        y *= self._last
        with np.errstate(over="ignore"):
            out[...] = y
        _require_finite(out)


def _require_finite(out: NDArray[np.floating]) -> None:
    if not np.isfinite(out.sum(dtype=np.float64)) and not np.isfinite(out).all():
        raise_overflow(out)


def make_operator(graph: object, operator: object = "sym", **parameters: object) -> Operator:
    """Make a diffusion operator on a graph.

    Parameters
    ----------
    graph : Graph, or anything that :func:`geodim.data.graphs.as_graph` takes
        The graph. With a matrix as operator it may be None.
    operator : {"sym", "rw", "ppr", "heat"}, scipy sparse matrix or Operator
        Which operator; see the module's table. A matrix is used as it is: no self-loops, no normalisation. An
        operator is returned as it is.
    **parameters
        For ``ppr``: ``alpha`` (0.15), the probability to return. For ``heat``: ``t`` (3.0), the time. For
        both: ``order``, the last power kept; ``tolerance`` (1e-4), which chooses the smallest order whose
        truncation error is no larger, when no order is given; ``transition`` ("sym" or "rw").

    Returns
    -------
    Operator

    Examples
    --------
    >>> import numpy as np
    >>> triangle = make_operator([(0, 1), (1, 2), (2, 0)], "rw")
    >>> out = np.empty((3, 1))
    >>> triangle.apply(np.array([[0.0], [3.0], [6.0]]), out)
    >>> out.tolist()
    [[3.0], [3.0], [3.0]]
    """
    if not isinstance(operator, str):
        if parameters:
            raise InputValueError(f"a matrix used as it is takes no parameters, but got {sorted(parameters)}")
        if isinstance(operator, Operator):
            return operator
        return _from_matrix(operator, graph)
    if operator not in NAMES:
        raise InputValueError(
            f"unknown operator {operator!r}: choose one of {', '.join(NAMES)} or pass a sparse matrix"
        )
    graph = as_graph(graph)
    if operator in ("sym", "rw"):
        _refuse_unknown(operator, parameters, ())
        return _normalised(graph, operator)
    known = ("alpha" if operator == "ppr" else "t", "order", "tolerance", "transition")
    _refuse_unknown(operator, parameters, known)
    transition = one_of(parameters.get("transition", "sym"), "transition", ("sym", "rw"))
    order = parameters.get("order")
    if order is not None:
        order = whole_number(order, "order", 0, MOST_ORDER)
    tolerance = real_number(parameters.get("tolerance", 1e-4), "tolerance", above=0.0, below=1.0)
    make = _ppr if operator == "ppr" else _heat
    return make(_normalised(graph, transition), parameters.get(known[0]), order, tolerance)


def _refuse_unknown(operator: str, parameters: dict[str, object], known: tuple[str, ...]) -> None:
    unknown = sorted(set(parameters) - set(known))
    if unknown:
        takes = f"takes {', '.join(known)}" if known else "takes no parameters"
        raise InputValueError(f"operator {operator!r} {takes}, but got {', '.join(unknown)}")


def _degrees(graph: Graph) -> NDArray[np.float64]:
    """Return the degrees, the self-loop counted.

    Sums of weights are compensated, so their order does not matter.
    """
    if graph.weights is None:
        return graph.degrees().astype(np.float64)
    from geodim.features._kernels import row_sums  # noqa: PLC0415

    degrees = np.ones(graph.n_nodes) if graph.loop_weights is None else graph.loop_weights.copy()
    with np.errstate(over="ignore", invalid="ignore"):
        row_sums(graph.indptr, graph.weights, 0, graph.n_nodes, degrees)
    outside = ~((degrees >= LEAST_DEGREE) & (degrees <= LARGEST_DEGREE) | (degrees == 0.0))
    if outside.any():
        node = int(np.argmax(outside))
        raise RangeOverflowError(
            f"the edge weights of node {node} add up to {_sum_of(graph, node):.6g}: degrees must be 0 "
            f"or lie between {LEAST_DEGREE:.0e} and {LARGEST_DEGREE:.0e}, so that their products can "
            "be divided by; multiply all weights by a constant, those of self-loops included (a loop "
            "that is not listed has weight 1)"
        )
    return degrees


def _sum_of(graph: Graph, node: int) -> float:
    """Return the degree of one node, infinite where float64 does not hold it."""
    assert graph.weights is not None
    own = 1.0 if graph.loop_weights is None else float(graph.loop_weights[node])
    try:
        return math.fsum([own, *graph.weights[graph.indptr[node] : graph.indptr[node + 1]].tolist()])
    except OverflowError:
        return math.inf


def _normalised(graph: Graph, name: str) -> MatrixOperator:
    """Return ``sym`` or ``rw``."""
    degrees = _degrees(graph)
    # A degree is 0 only if all weights of the row are 0: the row then is 0 whatever it is divided by.
    np.copyto(degrees, 1.0, where=degrees == 0.0)
    rows = Rows(
        indptr=graph.indptr,
        indices=graph.indices,
        weights=graph.weights,
        add_loops=True,
        loops=graph.loop_weights,
        degrees=degrees,
        roots=name == "sym",
    )
    return MatrixOperator(name, rows)


def _from_matrix(matrix: SparseMatrix, graph: object) -> MatrixOperator:
    """Return a scipy sparse matrix as operator, after looking at its shape and values."""
    if not hasattr(matrix, "tocsr"):
        raise InputTypeError(
            f"an operator is one of {', '.join(NAMES)} or a scipy sparse matrix, not {type(matrix).__name__}"
        )
    n_rows, n_columns = matrix.shape
    if n_rows != n_columns or n_rows == 0:
        raise ShapeError(f"an operator is a square matrix, not {n_rows} x {n_columns}")
    nodes = n_rows if graph is None else as_graph(graph).n_nodes
    if nodes != n_rows:
        raise ShapeError(f"the operator has {n_rows} rows, but the graph has {nodes} nodes")
    try:
        rows = checked_sparse(matrix).tocsr()  # compiled code reads wherever the indices say
    except InputValueError as error:
        raise InputValueError(f"the operator is not a valid sparse matrix: {error}") from error
    if rows.dtype.kind not in "biuf":
        raise InputTypeError(f"an operator has real entries, not {rows.dtype}")
    data = rows.data if rows.dtype in (np.float32, np.float64) else rows.data.astype(np.float64)
    if not np.isfinite(data).all():
        k = int(np.argmin(np.isfinite(data)))
        i = int(np.searchsorted(rows.indptr, k, side="right")) - 1
        raise NonFiniteError(f"the operator's entry ({i}, {rows.indices[k]}) is {data[k]}")
    return MatrixOperator("matrix", Rows(rows.indptr.astype(np.int64), rows.indices, data))


def _ppr(transition: MatrixOperator, alpha: object, order: int | None, tolerance: float) -> SeriesOperator:
    r"""Return personalised PageRank; what is cut off weighs :math:`(1-\alpha)^{K+1}`."""
    alpha = real_number(0.15 if alpha is None else alpha, "alpha", above=0.0, most=1.0)
    if order is None:
        keep = 1.0 - alpha
        if keep == 1.0:  # alpha is too small for 1 - alpha to differ from 1 in float64
            _check_order(math.inf)
        order = 0 if keep == 0.0 else max(math.ceil(math.log(tolerance) / math.log(keep)) - 1, 0)
        _check_order(order)
    error = (1.0 - alpha) ** (order + 1)
    return SeriesOperator("ppr", transition, {"alpha": alpha}, [1.0 - alpha] * order, (alpha, 1.0), error)


def _heat(transition: MatrixOperator, t: object, order: int | None, tolerance: float) -> SeriesOperator:
    r"""Return the heat kernel; what is cut off weighs :math:`P(\text{Poisson}(t) > K)`."""
    from scipy.special import pdtrc  # noqa: PLC0415

    longer = "for longer times apply the operator repeatedly"
    t = real_number(3.0 if t is None else t, "t", least=0.0, most=500.0, hint=longer)
    if order is None:
        order = 0
        while float(pdtrc(order, t)) > tolerance:
            order += 1
    # Horner: x + t/1 T (x + t/2 T (x + ... t/K T x)), so the steps run from K down to 1.
    steps = [t / k for k in range(order, 0, -1)]
    return SeriesOperator("heat", transition, {"t": t}, steps, (1.0, math.exp(-t)), float(pdtrc(order, t)))


def _check_order(order: float) -> None:
    if order > MAX_ORDER:
        raise InputValueError(
            f"this needs {order:,} products per hop: choose a larger alpha or "
            "tolerance, or give the order yourself"
        )
