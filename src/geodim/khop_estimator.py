"""`KHopIntrinsicDimension`: the dimensions of k-hop geometric data sets as a scikit-learn estimator."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from geodim.data.graphs.attributes import attributes_and_graph
from geodim.estimator import DataEstimator
from geodim.khop import khop_dimensions

if TYPE_CHECKING:
    from typing import Self

    from numpy.typing import DTypeLike


class KHopIntrinsicDimension(DataEstimator):
    """Intrinsic dimension of a graph's attributes after k = 0, ..., hops rounds of aggregation.

    A thin wrapper around `geodim.khop_dimensions`, which documents what is computed.  The
    graph is a parameter, since `fit` takes nothing but X and y by convention: searches compare
    graphs like any other setting.

    Parameters
    ----------
    graph
        Anything that `geodim.as_graph` takes, over the rows of X.  None only if the operator is a matrix, or
        what is fitted holds the graph as well.
    hops : int, default 5
        Largest k.
    operator : {"sym", "rw", "ppr", "heat"} or sparse matrix
        What one hop does; "sym" is the paper's.
    operator_parameters : dict, optional
        Parameters of the operator.
    rtol : float, default 0.0
        0 gives exact values; a positive value bounds the error of every k.
    scale : str, number or sequence, default "global"
        What attributes are divided by before the first hop; see `geodim.intrinsic_dimension`.
    normalize : bool, optional
        Older alias: True is scale="global", False is scale="none".
    edge_weights : array, True or str, optional
        Use edge weights; unweighted by default, as in the paper.
    n_threads : int, optional
        Threads to use; all available cores by default.  The result does not depend on it.
    memory : int, optional
        Bytes that may be used.
    time_limit : float, optional
        Seconds after which the bounds known by then are taken, with a warning.
    dtype : {"float32", "float64"}, optional
        Type that features are rounded to after every hop.
    last_bit : bool, default False
        Whether hard features are solved to the last bit, see `geodim.khop_dimensions`.

    Attributes
    ----------
    result_ : KHopResult
        The full result.
    dimensions_ : ndarray of shape (hops + 1,)
        The intrinsic dimension for k = 0, ..., hops.
    drops_ : ndarray of shape (hops,)
        By which share each hop k = 1, ... lowers the dimension of k - 1.
    n_features_in_ : int
        Number of attributes seen in `fit`.
    feature_names_in_ : ndarray of str
        Names of the attributes, where X has names that are all strings.

    Examples
    --------
    >>> import numpy as np
    >>> from geodim.khop_estimator import KHopIntrinsicDimension
    >>> ring = [(0, 1), (1, 2), (2, 3), (3, 0)]
    >>> KHopIntrinsicDimension(ring, hops=1).fit(np.eye(4)).dimensions_[0].item()
    16.0
    """

    def __init__(
        self,
        graph: object = None,
        *,
        hops: int = 5,
        operator: object = "sym",
        operator_parameters: dict[str, Any] | None = None,
        rtol: float = 0.0,
        scale: object = None,
        normalize: bool | None = None,
        edge_weights: object = None,
        n_threads: int | None = None,
        memory: int | None = None,
        time_limit: float | None = None,
        dtype: DTypeLike | None = None,
        last_bit: bool = False,
    ) -> None:
        self.graph = graph
        self.hops = hops
        self.operator = operator
        self.operator_parameters = operator_parameters
        self.rtol = rtol
        self.scale = scale
        self.normalize = normalize
        self.edge_weights = edge_weights
        self.n_threads = n_threads
        self.memory = memory
        self.time_limit = time_limit
        self.dtype = dtype
        self.last_bit = last_bit

    def fit(self, X: object, y: object = None) -> Self:  # noqa: ARG002
        """Measure the attributes on the graph.

        Parameters
        ----------
        X : array-like, sparse matrix or frame of shape (n_nodes, n_attributes)
            The attributes; row i belongs to node i.  Without a graph, an object that holds both, see
            `geodim.khop_dimensions`.
        y : ignored
            Present by convention.

        Returns
        -------
        KHopIntrinsicDimension
            The estimator itself.
        """
        given = self.get_params(deep=False)
        X, given["graph"] = attributes_and_graph(X, self.graph, self.operator)
        result = khop_dimensions(self._validated(X), **given)
        self.result_ = result
        self.dimensions_, self.drops_ = np.array(result.dimensions), np.array(result.drops)
        return self
