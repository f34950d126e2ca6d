"""
Words and their edit distances: mostly length
==============================================

Strings have no coordinates, but they have a metric: how many letters must be inserted, deleted or replaced to
turn one into the other.  The words come from the language reference behind Python's ``help()``.  What does
the intrinsic dimension by edit distances say about them, and what would it say about strings of random
letters?
"""

# %%
# One number
# ----------
# Every word gives a feature: the distance from it.  Few of them matter.  The words that tell the others apart
# best are the shortest: to turn a word of two letters into another word, nearly all letters must be inserted,
# so the distance is little more than the length of the other word.

import random
import re
from collections import Counter
from pydoc_data.topics import topics

import matplotlib.pyplot as plt
import numpy as np

import geodim

counts = Counter(word for text in topics.values() for word in re.findall(r"[a-z]+", text.lower()))
words = [word for word, count in counts.items() if count >= 8 and len(word) > 1]
result = geodim.intrinsic_dimension(words, features="distances", metric="edit")
print(f"{len(words):,} words: {result.dimension:.1f}, exact, in {result.seconds:.1f} s")
print(f"carried by {', '.join(list(result.shares)[:5])}")

# %%
# What length alone would say
# ---------------------------
# We draw strings of random letters that have the lengths of the words and the same frequencies of letters.
# They have nearly the same dimension, and the lengths alone come close to it.  So this number is about
# lengths.

rng = random.Random(0)
letters = "".join(words)


def scrambled(some: list[str]) -> list[str]:
    return ["".join(rng.choices(letters, k=len(word))) for word in some]


lengths = np.array([[len(word)] for word in words])
by_length = geodim.intrinsic_dimension(lengths, features="distances", metric="manhattan").dimension
at_random = geodim.intrinsic_dimension(scrambled(words), features="distances", metric="edit").dimension
print(f"as long, of random letters: {at_random:.1f}; lengths alone: {by_length:.1f}")

# %%
# Words of equal length
# ---------------------
# Among words of the same length, only spelling is left, and there words differ from random letters.  Strings
# of random letters are all about equally far from each other, so their dimension is large.  Words share
# beginnings and endings, and the leading words have just these endings, such as -ing and -ed.

SIZES = range(5, 10)
by_size: dict[int, tuple[float, float]] = {}
for size in SIZES:
    some = [word for word in counts if len(word) == size]
    own = geodim.intrinsic_dimension(some, features="distances", metric="edit")
    other = geodim.intrinsic_dimension(scrambled(some), features="distances", metric="edit")
    by_size[size] = own.dimension, other.dimension
    print(
        f"{size} letters, {len(some)} words: {own.dimension:.1f}, random letters {other.dimension:.1f}; "
        f"led by {', '.join(list(own.shares)[:4])}"
    )

# %%
# The picture
# -----------
# The left side shows how the distances from three words spread: a word of two letters sees lengths.  The
# right side shows what is left at equal length.  By edit distance, these words differ first in their length
# and then in their endings.  If you want to see neither, measure something other than letters.

figure, (left, right) = plt.subplots(1, 2, figsize=(10, 3.8), layout="constrained")
matrix = np.empty((3, len(words)))
chosen = [words.index(word) for word in ("of", "string", "implementation")]
geodim.Distances(metric="edit", landmarks=chosen).source(words).read(range(3), matrix)
for row, at in zip(matrix, chosen, strict=True):
    left.plot(*np.unique(row, return_counts=True), "o-", markersize=3, label=words[at])
left.set(xlabel="edit distance from the word", ylabel="words")
right.plot(SIZES, [own for own, _ in by_size.values()], "C0o-", label="words")
right.plot(SIZES, [other for _, other in by_size.values()], "k.:", label="random letters")
right.set_xticks(SIZES)
right.set(xlabel="letters", ylabel="intrinsic dimension", ylim=(0, None))
for ax in (left, right):
    ax.legend(frameon=False)
    ax.spines[["top", "right"]].set_visible(False)
plt.show()
