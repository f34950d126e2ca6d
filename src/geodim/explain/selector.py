"""`DiscriminabilitySelector`: feature selection by discriminability as a scikit-learn transformer."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.validation import check_is_fitted

from geodim.arguments import one_of, real_number
from geodim.errors import InputValueError
from geodim.estimator import DataEstimator
from geodim.explain.select import MEMORY, FeatureSelection, select_features
from geodim.explain.top import TopFeatures, top_features

if TYPE_CHECKING:
    from typing import Self

    from numpy.typing import NDArray

METHODS = ("greedy", "resilience", "uniform")


class DiscriminabilitySelector(SelectorMixin, DataEstimator):  # type: ignore[misc] # scikit-learn has no types
    """Keep a few features that tell the points apart almost as well as all of them.

    A thin wrapper around `geodim.select_features` and, for other methods than "greedy",
    `geodim.top_features`, which document what is computed.  Labels are not examined: the selection asks which
    features spread the points, not which ones predict anything.

    Parameters
    ----------
    n_features_to_select : int, optional
        How many features to keep.  If fewer already reach the discriminability of all, the others are those
        with the largest discriminability of their own.
    method : {"greedy", "resilience", "uniform"}, default "greedy"
        How to choose.  "greedy": features that reach most together, with a guarantee
        (`geodim.select_features`).  "resilience", the method of Stubbemann, Hille and Hanika (2023), and
        "uniform": the features with the highest scores of their own (`geodim.top_features`), a tenth of them
        unless a number is given.
    drop_correlated : float, default 0
        Which part of all features to drop first, as for `geodim.top_features`; not for "greedy", which
        passes over features that add nothing anyway.
    fraction : float, optional
        Instead of a number, for "greedy": keep enough for this part of the discriminability; 0.95 if neither
        is given.
    n_threads : int, optional
        Threads to use; all available cores by default.  The result does not depend on it.
    memory : int, default 256 MiB
        Bytes that may be kept about all features together; for "greedy".
    last_bit : bool, default False
        As for `geodim.select_features`: whether columns whose windows are all nearly equally wide are solved
        exactly, too.

    Attributes
    ----------
    selection_ : FeatureSelection or TopFeatures
        Everything that is known, in the order of choice.
    support_ : ndarray of bool of shape (n_features,)
        Which features are kept.
    ranking_ : ndarray of int of shape (n_features,)
        1 for the feature chosen first, 2 for the next, ...; all features that were left
        out share the last rank.
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : ndarray of str
        Names of the features, where X has names that are all strings.

    Examples
    --------
    >>> import numpy as np
    >>> from geodim import DiscriminabilitySelector
    >>> x = np.arange(100.0)
    >>> X = np.stack([x, 3 * x, x % 7], axis=1)
    >>> DiscriminabilitySelector(1).fit_transform(X)[:3].tolist()
    [[0.0], [3.0], [6.0]]
    >>> DiscriminabilitySelector(1, method="resilience", drop_correlated=1 / 3).fit(X).selection_.dropped
    ['0']
    """

    def __init__(
        self,
        n_features_to_select: int | None = None,
        *,
        method: str = "greedy",
        drop_correlated: float = 0.0,
        fraction: float | None = None,
        scale: object = None,
        n_threads: int | None = None,
        memory: int = MEMORY,
        last_bit: bool = False,
    ) -> None:
        self.n_features_to_select = n_features_to_select
        self.method = method
        self.drop_correlated = drop_correlated
        self.fraction = fraction
        self.scale = scale
        self.n_threads = n_threads
        self.memory = memory
        self.last_bit = last_bit

    def fit(self, X: object, y: object = None, sample_weight: object = None) -> Self:  # noqa: ARG002
        """Choose the features.

        Parameters
        ----------
        X : array-like, sparse matrix or frame of shape (n_points, n_features)
            The data.
        y : ignored
            Present by convention.
        sample_weight : array-like of int of shape (n_points,), optional
            Multiplicity of each point: whole numbers, the same as repeating the points.

        Returns
        -------
        DiscriminabilitySelector
            The transformer itself.
        """
        selection = self._select(X, sample_weight)
        self.selection_ = selection
        self.support_ = np.zeros(self.n_features_in_, np.bool_)
        self.support_[selection.columns] = True
        self.ranking_ = np.full(self.n_features_in_, len(selection.columns) + 1)
        self.ranking_[selection.columns] = np.arange(len(selection.columns)) + 1
        return self

    def _select(self, X: object, sample_weight: object) -> FeatureSelection | TopFeatures:
        method = one_of(self.method, "method", METHODS)
        if method == "greedy":
            if real_number(self.drop_correlated, "drop_correlated", least=0.0, below=1.0) > 0.0:
                raise InputValueError(
                    "drop_correlated is for method='resilience' and 'uniform': the greedy choice passes over "
                    "features that add nothing to those chosen before"
                )
            return select_features(
                self._validated(X), self.n_features_to_select, fraction=self.fraction, scale=self.scale,
                weights=sample_weight, n_threads=self.n_threads, memory=self.memory, last_bit=self.last_bit,
            )  # fmt: skip
        if self.fraction is not None:
            raise InputValueError(
                f"fraction, a part of the discriminability, is for method='greedy': with method={method!r} "
                "give n_features_to_select"
            )
        return top_features(
            self._validated(X), self.n_features_to_select, weighting=method, scale=self.scale,
            drop_correlated=self.drop_correlated, weights=sample_weight, n_threads=self.n_threads,
            last_bit=self.last_bit,
        )  # fmt: skip

    def _get_support_mask(self) -> NDArray[np.bool_]:
        check_is_fitted(self)
        mask: NDArray[np.bool_] = self.support_
        return mask
