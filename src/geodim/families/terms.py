"""Terms of texts as features: how often each occurs, or its tf-idf weight, by scikit-learn's vectorisers.

A feature is a term, its value in a text a count, 1 or 0, or tf-idf: the count times ln((1 + n) / (1 + m)) +
1, where m of n texts have the term, divided by the Euclidean length of the text's values.  Tokens are those
of `geodim.data.texts`.  The order of words does not matter, nor do capitals; with tf-idf neither does writing
a text twice over.  Counts are exact; weights are what scikit-learn computes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from geodim.arguments import one_of, whole_number
from geodim.data.sources import as_source
from geodim.data.texts import TOKEN, texts_of
from geodim.errors import InputTypeError, InputValueError, ShapeError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sklearn.feature_extraction.text import CountVectorizer

    from geodim.data.sources import ColumnSource

WEIGHTINGS = ("tfidf", "count", "binary")
MOST_WORDS = 100  # the most words of a term


@dataclass(frozen=True, kw_only=True)
class Terms:
    """Terms of texts as features: a sparse matrix, never made dense.

    Parameters
    ----------
    weighting : {"tfidf", "count", "binary"}
        How the value of a term in a text is computed.
    words : int, default 1
        The most words of a term: 2 adds pairs of neighbouring words to single ones.
    least : int, default 1
        Leave out terms that occur in fewer texts.
    vectorizer : optional
        A vectoriser of scikit-learn, or anything with its ``fit_transform``, instead of all this; a copy of
        it is fitted.

    Examples
    --------
    >>> terms(["a cat", "A dog and a cat"], weighting="count").toarray().tolist()
    [[1, 0, 1, 0], [2, 1, 1, 1]]
    """

    weighting: str = "tfidf"
    words: int = 1
    least: int = 1
    vectorizer: Any = None

    label = "terms"
    takes_tables = False

    def source(
        self,
        X: object,
        *,
        names: Sequence[str] | None = None,
        n_threads: int | None = None,  # noqa: ARG002
    ) -> ColumnSource:
        """Return the values as columns, named by their terms.

        Parameters
        ----------
        X : list of str, or path
            The texts, or a file with a text on every line.
        names
            Not used: terms have names of their own.
        n_threads
            Not used: one thread is enough.
        """
        if names is not None:
            raise InputValueError("terms have names of their own: leave feature_names out")
        texts = texts_of(X)
        vectorizer = self._vectorizer()
        called = type(vectorizer).__name__
        try:
            matrix = vectorizer.fit_transform(texts)
        except ValueError as error:
            if "vocabulary" in str(error) or "no terms remain" in str(error):
                raise ShapeError(
                    f"no terms are left: each needs at least one word character and {self.least} texts that "
                    f"have it ({error})"
                ) from error
            raise InputValueError(f"the vectoriser {called} refused the texts: {error}") from error
        found = getattr(vectorizer, "get_feature_names_out", None)
        source = as_source(matrix, names=None if found is None else [str(name) for name in found()])
        if source.n_points != len(texts):
            raise ShapeError(f"the vectoriser {called} made {source.n_points:,} rows of {len(texts):,} texts")
        return source

    def described(self, source: ColumnSource) -> dict[str, Any]:
        """Return what a result says about these features."""
        said: dict[str, Any] = {"family": "terms", "terms": source.n_features}
        if self.vectorizer is not None:
            return said | {"vectorizer": type(self.vectorizer).__name__}
        return said | {"weighting": self.weighting, "words": int(self.words), "least": int(self.least)}

    def _vectorizer(self) -> CountVectorizer:
        from sklearn.base import clone  # noqa: PLC0415 - takes long to import
        from sklearn.feature_extraction import text  # noqa: PLC0415

        if self.vectorizer is not None:
            if not hasattr(self.vectorizer, "fit_transform") or isinstance(self.vectorizer, type):
                raise InputTypeError(
                    f"vectorizer must have a method fit_transform, as TfidfVectorizer() has, not "
                    f"{self.vectorizer!r:.60}"
                )
            return clone(self.vectorizer, safe=False)
        one_of(self.weighting, "weighting", WEIGHTINGS)
        options = {
            "token_pattern": TOKEN,
            "ngram_range": (1, whole_number(self.words, "words", 1, MOST_WORDS)),
            "min_df": whole_number(self.least, "least", 1),
        }
        if self.weighting == "tfidf":
            return text.TfidfVectorizer(**options)
        return text.CountVectorizer(binary=self.weighting == "binary", **options)


def terms(texts: object, *, weighting: str = "tfidf", words: int = 1, least: int = 1) -> object:
    """Return terms of texts as a sparse matrix, texts by terms, see `Terms`."""
    source: Any = Terms(weighting=weighting, words=words, least=least).source(texts)
    return source.csc.tocsr()
