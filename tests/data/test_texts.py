"""Strings, lines and token sets as they come in."""

from __future__ import annotations

import itertools
import re

import numpy as np
import pytest

from geodim.data.texts import names_of_texts, numbered_sets, sets_of, texts_of, token_sets
from geodim.errors import DataFileError, InputTypeError, ShapeError


def members(found):
    indptr, indices, _ = found
    return [set(indices[a:b].tolist()) for a, b in itertools.pairwise(indptr)]


def jaccard(a: set, b: set) -> float:
    return len(a ^ b) / len(a | b) if a | b else 0.0


@pytest.mark.parametrize("wrap", [list, tuple, np.array, lambda words: np.array(words, object), iter])
def test_lists_of_strings(wrap):
    words = ["one", "", "größe", "two words"]
    assert texts_of(wrap(words)) == words


def test_columns_of_frames():
    words = ["one", "", "two"]
    for module, make in (("pandas", "Series"), ("polars", "Series"), ("pyarrow", "array")):
        package = pytest.importorskip(module)
        assert texts_of(getattr(package, make)(words)) == words


@pytest.mark.parametrize(
    ("data", "error", "said"),
    [
        (["a", 3, "b"], InputTypeError, r"item 1 is a int \(3\), not a string"),
        (["a", "b", None], InputTypeError, "item 2 is a NoneType"),
        (["a", float("nan")], InputTypeError, "item 1 is a float"),
        ([b"a"], InputTypeError, "item 0 is a bytes"),
        ([], ShapeError, "no points"),
        (np.array([["a", "b"]]), InputTypeError, r"shape \(1, 2\)"),
        ({"a": 1}, InputTypeError, "not a dict"),
        ({"a", "b"}, InputTypeError, "not a set"),
        (7, InputTypeError, "not a int"),
        ("no such file", DataFileError, "as a list of strings"),
    ],
)
def test_what_is_no_list_of_strings(data, error, said):
    with pytest.raises(error, match=said):
        texts_of(data)


def test_files_of_lines(tmp_path):
    path = tmp_path / "lines.txt"
    path.write_bytes("\ufeffone\r\n\ntwo words\nlast: größe\u2028here".encode())
    expected = ["one", "", "two words", "last: größe\u2028here"]
    assert texts_of(path) == texts_of(str(path)) == expected
    path.write_bytes(b"one\ntwo\n")
    assert texts_of(path) == ["one", "two"]
    path.write_bytes(b"\n")
    assert texts_of(path) == [""]


def test_files_that_are_no_lines(tmp_path):
    path = tmp_path / "lines.txt"
    path.write_bytes(b"fine\nso so \xff\n")
    with pytest.raises(DataFileError, match=r"lines\.txt, line 2: invalid UTF-8 at byte 6"):
        texts_of(path)
    path.write_bytes(b"")
    with pytest.raises(DataFileError, match="is empty"):
        texts_of(path)
    with pytest.raises(DataFileError, match="there is no file"):
        texts_of(tmp_path / "none.txt")
    with pytest.raises(DataFileError):
        texts_of(tmp_path)


def test_names():
    assert names_of_texts(["a", "", "x" * 61]) == ["a", "(empty)", "x" * 57 + "..."]


def test_tokens_are_runs_of_word_characters_in_lower_case():
    texts = ["Don't panic, DON'T!", "", "a_1 Größe größe", "...", "日本 ΣΑΣ"]
    found = members(token_sets(texts))
    plain = [set(re.findall(r"\w+", text.lower())) for text in texts]
    assert [len(one) for one in found] == [len(one) for one in plain] == [3, 0, 2, 0, 2]
    for i, j in np.ndindex(5, 5):
        assert jaccard(found[i], found[j]) == jaccard(plain[i], plain[j])


def test_tokens_are_the_terms_of_texts():
    from geodim.families import Terms

    texts = ["Don't panic, DON'T!", "", "a_1 Größe größe İI", "日本 ΣΑΣ"]
    terms = Terms(weighting="binary").source(texts)
    _, indices, n_members = token_sets(texts)
    assert terms.n_features == n_members
    assert terms.csc.nnz == len(indices)


def test_sets_of_anything():
    sets = [{1, "a"}, [2, 2, (3,)], (), frozenset("a"), ["a", 1]]
    found = members(sets_of(sets)[0])
    plain = [set(one) for one in sets]
    for i, j in np.ndindex(5, 5):
        assert jaccard(found[i], found[j]) == jaccard(plain[i], plain[j])
    assert members(sets_of(["a b", "b"])[0]) == members(numbered_sets([["a", "b"], ["b"]]))
    assert sets_of(["a b", ""])[1] == ["a b", "(empty)"]


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ([{1}, 5], "item 1 is a int"),
        ([{1}, "word"], "item 1 is a str"),
        (["word", "b", {1}], "item 2 is a set"),
        ([[1], [[2]]], "set 1 has a member that cannot be in a set"),
        ([[0, 1, 1], [1, 0, 0]], "nothing but 0 and 1"),
        ({"a": {1}}, "not a dict"),
    ],
)
def test_what_are_no_sets(data, said):
    with pytest.raises(InputTypeError, match=said):
        sets_of(data)
