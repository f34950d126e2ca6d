"""Terms of texts: counts by hand, weights by their formula."""

from __future__ import annotations

import math
import re
from collections import Counter

import numpy as np
import pytest
from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer

import geodim
from geodim import paper
from geodim.errors import DataFileError, InputTypeError, InputValueError, ShapeError
from geodim.families import Terms, terms

TEXTS = [
    "The cat sat on the mat.", "the CAT", "", "A dog!", "a dog and a cat", "größe zählt", "...",
    "x_1 x_2 x_1", "the mat, the mat, the mat",
] * 3  # fmt: skip


def counted(texts):
    found = [Counter(re.findall(r"\w+", text.lower())) for text in texts]
    names = sorted(set().union(*found))
    return np.array([[one[name] for name in names] for one in found], float), names


def weighted(texts):
    counts, _ = counted(texts)
    having = (counts > 0).sum(axis=0)
    values = counts * (np.log((1 + len(texts)) / (1 + having)) + 1)
    lengths = np.array([math.sqrt(math.fsum(row**2)) for row in values])
    return values / np.where(lengths > 0, lengths, 1)[:, None]


EXPECTED = {
    "count": lambda: counted(TEXTS)[0],
    "binary": lambda: (counted(TEXTS)[0] > 0).astype(float),
    "tfidf": lambda: weighted(TEXTS),
}


@pytest.mark.parametrize("weighting", EXPECTED)
def test_is_the_definition(weighting):
    matrix = terms(TEXTS, weighting=weighting)
    np.testing.assert_allclose(matrix.toarray(), EXPECTED[weighting](), rtol=1e-14)
    source = Terms(weighting=weighting).source(TEXTS)
    assert source.names == counted(TEXTS)[1]
    result = geodim.intrinsic_dimension(TEXTS, features=Terms(weighting=weighting))
    dense = np.asarray(matrix.toarray(), float)
    np.testing.assert_array_equal(result.phi, paper.phi_all(dense))
    assert result.exact
    assert set(result.shares) <= set(source.names)
    assert result.parameters["features"] == {
        "family": "terms", "terms": len(source.names), "weighting": weighting, "words": 1, "least": 1,
    }  # fmt: skip


def test_by_name_and_from_a_file(tmp_path):
    path = tmp_path / "lines.txt"
    path.write_text("\n".join(TEXTS) + "\n", encoding="utf-8")
    expected = geodim.intrinsic_dimension(TEXTS, features=Terms()).dimension
    assert geodim.intrinsic_dimension(TEXTS, features="terms").dimension == expected
    assert geodim.intrinsic_dimension(path, features="terms").dimension == expected


def test_pairs_of_words_and_rare_terms():
    source = Terms(weighting="count", words=2).source(["a cat sat", "a cat"])
    assert source.names == ["a", "a cat", "cat", "cat sat", "sat"]
    assert Terms(least=2).source(["a cat sat", "a cat"]).names == ["a", "cat"]


def test_what_changes_nothing():
    texts = ["one two three", "two two one", "four", "", "one four"]
    for weighting in ("tfidf", "count", "binary"):
        expected = geodim.intrinsic_dimension(texts, features=Terms(weighting=weighting)).dimension
        turned = [" ".join(reversed(text.upper().split())) for text in reversed(texts)]
        found = geodim.intrinsic_dimension(turned, features=Terms(weighting=weighting)).dimension
        assert found == expected
    twice = [f"{text} {text}" for text in texts]
    expected = geodim.intrinsic_dimension(texts, features="terms").dimension
    assert geodim.intrinsic_dimension(twice, features="terms").dimension == pytest.approx(expected, rel=1e-13)


def test_vectorisers_of_one_s_own():
    own = CountVectorizer(analyzer="char")
    result = geodim.intrinsic_dimension(TEXTS, features=Terms(vectorizer=own))
    assert not hasattr(own, "vocabulary_")
    assert result.parameters["features"]["vectorizer"] == "CountVectorizer"
    assert "t" in Terms(vectorizer=own).source(TEXTS).names
    assert Terms(vectorizer=HashingVectorizer(n_features=8)).source(TEXTS).n_features == 8


class Broken:
    def __init__(self, result):
        self.result = result

    def fit_transform(self, _texts):
        if isinstance(self.result, Exception):
            raise self.result
        return self.result


@pytest.mark.parametrize(
    ("texts", "family", "error", "said"),
    [
        (["a", 5], Terms(), InputTypeError, "item 1 is a int"),
        (["", "..."], Terms(), ShapeError, "no terms are left"),
        (["a", "b"], Terms(least=2), ShapeError, "no terms are left.* 2 texts"),
        (["a", "b"], Terms(weighting="idf"), InputValueError, "weighting must be one of tfidf"),
        (["a", "b"], Terms(words=0), InputValueError, "words must be at least 1"),
        (["a", "b"], Terms(vectorizer=CountVectorizer), InputTypeError, "fit_transform"),
        (["a", "b"], Terms(vectorizer="tfidf"), InputTypeError, "fit_transform"),
        (["a", "b"], Terms(vectorizer=Broken(np.eye(3))), ShapeError, "made 3 rows of 2 texts"),
        (["a", "b"], Terms(vectorizer=Broken(ValueError("no"))), InputValueError, "Broken refused .*: no"),
        ("no such file.txt", Terms(), DataFileError, "no such file"),
    ],
)
def test_bad_input(texts, family, error, said):
    with pytest.raises(error, match=said):
        geodim.intrinsic_dimension(texts, features=family)


def test_terms_have_names_of_their_own():
    with pytest.raises(InputValueError, match="names of their own"):
        geodim.intrinsic_dimension(["a", "b"], features="terms", feature_names=["x", "y"])


def test_estimator():
    for features, X in (
        ("terms", TEXTS),
        (geodim.Distances(metric="jaccard"), TEXTS),
        ("pixels", np.arange(24.0).reshape(4, 2, 3)),
        (geodim.Distances(metric="shortest_path"), [(0, 1), (1, 2), (2, 3)]),
    ):
        found = geodim.IntrinsicDimension(features=features).fit(X)
        assert found.dimension_ == geodim.intrinsic_dimension(X, features=features).dimension
    assert geodim.IntrinsicDimension(features="distances").fit(np.eye(4)).n_features_in_ == 4
