"""`IntrinsicDimension`: the intrinsic dimension as a scikit-learn estimator."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data

from geodim.data.objects import explain_other_objects
from geodim.data.shapes import check_shape
from geodim.dimension import intrinsic_dimension
from geodim.families.choose import family_of
from geodim.lists import is_dask

if TYPE_CHECKING:
    from typing import Self

    from sklearn.utils import Tags

FRAMES = ("pandas", "polars", "pyarrow", "torch")  # read in place, column by column


class DataEstimator(BaseEstimator):  # type: ignore[misc] # scikit-learn has no types
    """How all estimators of geodim check their data."""

    def _validated(self, X: object) -> object:
        """Let scikit-learn check the form and note names, but hand on what geodim reads without a copy."""
        if type(X).__module__.partition(".")[0] in FRAMES or is_dask(X):
            return validate_data(self, X, skip_check_array=True)
        explain_other_objects(X)
        if len(getattr(X, "shape", ())) > 2:
            check_shape(X.shape)  # type: ignore[attr-defined] # it has the way out
        checked = validate_data(self, X, accept_sparse=True, ensure_all_finite=False)  # geodim names the row
        mapped = isinstance(X, np.memmap) and X.dtype == checked.dtype
        return X if mapped else checked

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def _is_table(X: object) -> bool:
    """Return whether the data has rows and columns of numbers; features may also be of other things."""
    if hasattr(X, "shape"):
        return len(X.shape) == 2
    try:
        array = np.asarray(X)
    except ValueError:  # lists of different lengths
        return False
    return array.ndim == 2 and array.dtype.kind in "fiub"


class IntrinsicDimension(DataEstimator):
    """Intrinsic dimension of a geometric data set, for pipelines and searches.

    A thin wrapper around `geodim.intrinsic_dimension`, which documents what is computed.  Memory maps
    are not copied and sparse matrices not densified.

    Parameters
    ----------
    features : str, family, or list of these
        Which functions on the points, as for `geodim.intrinsic_dimension`.
    metric, landmarks : optional
        For distances, see `Distances`.
    rtol : float, default 0.0
        0 gives the exact value; a positive value stops as soon as (upper - lower) / lower <= rtol.
    scale : str, number or sequence, default "global"
        What features are divided by, see `geodim.intrinsic_dimension`.
    normalize : bool, optional
        Older alias: True is scale="global", False is scale="none".
    n_threads : int, optional
        Threads to use; all available cores by default.  The result does not depend on it.
    time_limit : float, optional
        Seconds after which the bounds known by then are taken, with a warning.
    last_bit : bool, default False
        Whether hard columns are solved to the last bit, see `intrinsic_dimension`.

    Attributes
    ----------
    result_ : IDResult
        The full result.
    dimension_, lower_, upper_ : float
        The intrinsic dimension and certified bounds on it.
    error_ : float
        ``(upper_ - lower_) / lower_``.
    discriminability_ : float
        Delta; the dimension is its inverse square.
    n_features_in_ : int
        Number of columns seen in `fit`, where X is a table; a list of words has none.
    feature_names_in_ : ndarray of str
        Names of the columns, where X has names that are all strings.

    Examples
    --------
    >>> import numpy as np
    >>> from geodim import IntrinsicDimension
    >>> IntrinsicDimension().fit(np.eye(10)).dimension_
    100.0
    """

    def __init__(
        self,
        *,
        features: object = "coordinates",
        metric: object = None,
        landmarks: object = None,
        rtol: float = 0.0,
        scale: object = None,
        normalize: bool | None = None,
        n_threads: int | None = None,
        time_limit: float | None = None,
        last_bit: bool = False,
    ) -> None:
        self.features = features
        self.metric = metric
        self.landmarks = landmarks
        self.rtol = rtol
        self.scale = scale
        self.normalize = normalize
        self.n_threads = n_threads
        self.time_limit = time_limit
        self.last_bit = last_bit

    def fit(self, X: object, y: object = None, sample_weight: object = None) -> Self:  # noqa: ARG002
        """Measure the data.

        Parameters
        ----------
        X : array-like, sparse matrix or frame of shape (n_points, n_features)
            The data; where the features are those of texts, images or graphs, what these take.
        y : ignored
            Present by convention.
        sample_weight : array-like of numbers of shape (n_points,), optional
            The weight of each point; whole numbers are the same as repeating the points.

        Returns
        -------
        IntrinsicDimension
            The estimator itself.
        """
        family = family_of(self.features, self.metric, self.landmarks)
        # scikit-learn cannot check the form of texts, images and graphs.
        data = X if family is not None and not _is_table(X) else self._validated(X)
        result = intrinsic_dimension(data, weights=sample_weight, **self.get_params(deep=False))
        self.result_ = result
        self.dimension_, self.lower_, self.upper_ = result.dimension, result.lower, result.upper
        self.error_, self.discriminability_ = result.error, result.discriminability
        return self
