"""Edit distances and token sets: the definition, and what changes nothing."""

from __future__ import annotations

import random
import sys

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import geodim
from families.cases import assert_exact, edit_distance, matrix_of
from geodim import paper
from geodim.errors import InputTypeError, MissingExtraError
from geodim.families import Distances
from geodim.families.solve import family_profile

WORDS = ["", "cat", "cart", "art", "dog", "dig", "", "carts", "do", "grö", "gro\u0308", "日本語", "\ud800"]


def edit_matrix(words):
    return np.array([[edit_distance(a, b) for b in words] for a in words], float)


def some_words(n, letters="abc", longest=9, seed=0):
    rng = random.Random(seed)
    return ["".join(rng.choices(letters, k=rng.randint(0, longest))) for _ in range(n)]


class TestEdit:
    @pytest.fixture(autouse=True)
    def _rapidfuzz(self):
        pytest.importorskip("rapidfuzz", reason="edit distances need rapidfuzz: pip install 'geodim[text]'")

    @pytest.mark.turns(3)
    @pytest.mark.parametrize(
        "words",
        [
            WORDS,
            some_words(90),
            some_words(70, "ab", 3),
            some_words(12, "abcdefgh", 200),  # longer than a machine word
            ["a" * i for i in range(40)],
            ["same"] * 5,
            [""],
        ],
        ids=["words", "many", "ties", "long", "line", "equal", "one"],
    )
    def test_is_the_definition(self, words):
        matrix = edit_matrix(words)
        source = Distances(metric="edit").source(words)
        np.testing.assert_array_equal(matrix_of(source), matrix)
        assert source.error(9.0) == 0.0
        rows, columns = np.array([len(words) - 1, 0]), np.array([0])
        np.testing.assert_array_equal(source.sample(columns, rows), matrix[np.ix_(rows, columns)])
        if len(words) > 1:
            assert_exact(family_profile(source, n_threads=2), matrix)

    def test_result(self, tmp_path):
        words = some_words(90)
        result = geodim.intrinsic_dimension(words, features="distances", metric="edit")
        matrix = edit_matrix(words)
        assert result.exact
        expected = paper.intrinsic_dimension(paper.algorithm_1(matrix / matrix.max()))
        assert result.dimension == pytest.approx(expected, rel=1e-14)
        assert {name.split(" (column")[0] for name in result.shares} <= {*words, "(empty)"}
        result.to_json(tmp_path / "r.json")
        assert geodim.IDResult.from_json(tmp_path / "r.json").parameters["features"]["metric"] == "edit"
        path = tmp_path / "lines.txt"
        path.write_text("\n".join(words) + "\n", encoding="utf-8")
        again = geodim.intrinsic_dimension(path, features="distances", metric="edit", n_threads=1)
        assert again.dimension == result.dimension
        assert again.shares == result.shares

    @settings(max_examples=25)
    @given(st.lists(st.text("ab\u00e4", max_size=6), min_size=2, max_size=12), st.randoms())
    def test_invariance(self, words, rng):
        """Order of the points, reversal of all strings and another alphabet change no bit."""

        def phi(strings):
            return family_profile(Distances(metric="edit").source(strings), n_threads=1).profile.phi

        expected = phi(words)
        shuffled = rng.sample(words, len(words))
        np.testing.assert_array_equal(phi(shuffled), expected)
        np.testing.assert_array_equal(phi([word[::-1] for word in words]), expected)
        table = str.maketrans("ab\u00e4", "x\U0001f600y")
        np.testing.assert_array_equal(phi([word.translate(table) for word in words]), expected)

    def test_landmarks(self):
        words = some_words(80)
        matrix = edit_matrix(words)
        some = Distances(metric="edit", landmarks=[3, 9]).source(words)
        np.testing.assert_array_equal(matrix_of(some), matrix[:, [3, 9]])
        assert some.names == [words[3] or "(empty)", words[9] or "(empty)"]
        others = Distances(metric="edit", landmarks=["abc", ""]).source(words)
        np.testing.assert_array_equal(matrix_of(others), [[edit_distance(w, "abc"), len(w)] for w in words])
        everything = geodim.intrinsic_dimension(words, features="distances", metric="edit")
        part = geodim.intrinsic_dimension(words, features="distances", metric="edit", landmarks=10)
        assert part.lower <= everything.dimension <= part.upper
        with pytest.raises(InputTypeError, match="item 1 is a float"):
            Distances(metric="edit", landmarks=np.array(["abc", 1.5], object)).source(words)

    def test_weights_and_tolerance(self):
        words = some_words(40)
        weights = np.arange(40) % 4
        found = geodim.intrinsic_dimension(words, features="distances", metric="edit", weights=weights)
        matrix = np.repeat(edit_matrix(words), weights, axis=0)
        d_max = np.ptp(matrix, axis=0).max()
        expected = paper.intrinsic_dimension(paper.algorithm_1(matrix / d_max))
        assert found.dimension == pytest.approx(expected, rel=1e-13)
        rough = geodim.intrinsic_dimension(words, features="distances", metric="edit", rtol=0.01)
        exact = geodim.intrinsic_dimension(words, features="distances", metric="edit")
        assert rough.lower <= exact.dimension <= rough.upper


def test_without_rapidfuzz(monkeypatch):
    monkeypatch.setitem(sys.modules, "rapidfuzz", None)
    monkeypatch.setitem(sys.modules, "rapidfuzz.process", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'geodim\[text\]'"):
        Distances(metric="edit").source(["a", "b"])


def test_strings_are_checked_before_the_package(monkeypatch):
    monkeypatch.setitem(sys.modules, "rapidfuzz", None)
    with pytest.raises(InputTypeError, match="item 1 is a int"):
        Distances(metric="edit").source(["a", 1])


def jaccard(a, b):
    return len(a ^ b) / len(a | b) if a | b else 0.0


TEXTS = ["The cat sat.", "the cat", "A dog", "", "a dog, a dog!", "...", "cat", "sat the cat"] * 9


def test_token_sets():
    sets = [set(text.lower().replace(".", "").replace(",", "").replace("!", "").split()) for text in TEXTS]
    matrix = np.array([[jaccard(a, b) for b in sets] for a in sets])
    assert matrix[3, 5] == 0.0  # two texts without a token are the same
    assert matrix[3, 0] == 1.0
    for data in (TEXTS, sets, [list(one) for one in sets]):
        source = Distances(metric="jaccard").source(data)
        np.testing.assert_array_equal(matrix_of(source), matrix)
        assert_exact(family_profile(source, n_threads=2), matrix)
    result = geodim.intrinsic_dimension(TEXTS, features="distances", metric="jaccard")
    expected = paper.intrinsic_dimension(paper.algorithm_1(matrix))
    assert result.dimension == pytest.approx(expected, rel=1e-14)


def test_token_sets_of_a_file(tmp_path):
    path = tmp_path / "lines.txt"
    path.write_text("\n".join(TEXTS), encoding="utf-8")
    expected = geodim.intrinsic_dimension(TEXTS, features="distances", metric="jaccard").dimension
    assert geodim.intrinsic_dimension(path, features="distances", metric="jaccard").dimension == expected


def test_nothing_but_empty_sets():
    for data in (["", "?"], [set(), []]):
        assert not matrix_of(Distances(metric="jaccard").source(data)).any()


@settings(max_examples=25)
@given(st.lists(st.frozensets(st.integers(0, 6)), min_size=2, max_size=12), st.randoms())
def test_names_of_members_do_not_matter(sets, rng):
    def phi(given_sets):
        return family_profile(Distances(metric="jaccard").source(given_sets), n_threads=1).profile.phi

    names = rng.sample("abcdefg", 7)
    renamed = [{names[i] for i in one} for one in rng.sample(sets, len(sets))]
    np.testing.assert_array_equal(phi(renamed), phi(sets))
