"""
Paragraphs of text: a word, or what texts are about?
=====================================================

The data are some hundred paragraphs of the language reference behind Python's ``help()``.  What are the
features of a text?  They can be its terms, by count or by weight, or its distances from other texts.  Does
the intrinsic dimension notice that the paragraphs are about something?  To find out, we redistribute all
words at random: every paragraph keeps its length, and the collection keeps its words.  We do this three
times, because once might be chance.
"""

# %%
# The texts, and the same words redistributed
# --------------------------------------------

import random
import re
from pydoc_data.topics import topics

import matplotlib.pyplot as plt

import geodim

paragraphs = [" ".join(part.split()) for text in topics.values() for part in re.split(r"\n\s*\n", text)]
long = [text for text in dict.fromkeys(paragraphs) if len(re.findall(r"\w+", text)) >= 20]
texts = long[::2]  # half of them, to be done in seconds
split = [re.findall(r"\w+", text.lower()) for text in texts]


def dealt(seed: int) -> list[str]:
    deck = [word for words in split for word in words]
    random.Random(seed).shuffle(deck)
    return [" ".join(deck.pop() for _ in words) for words in split]


shuffled = [dealt(seed) for seed in range(3)]
print(
    f"{len(texts):,} paragraphs, {sum(map(len, split)):,} words, {len(set().union(*split)):,} different ones"
)

# %%
# Terms
# -----
# With any weighting, one or two words carry the dimension, because only the most frequent terms tell many
# texts apart.  With 0 and 1, this is a word that half of the texts have.  A single feature that puts half of
# the points at each end has the dimension 4, and the texts come close to it.  With counts and with tf-idf,
# "the" decides.  The size of the number then depends on the one text that has the word most often, because
# all values are divided by its value.
#
# After the words are redistributed, the number may be larger or smaller.  Nothing shows that the sense was
# lost: columns are considered one by one, and which words occur together is not seen.

found: dict[str, tuple[float, list[float]]] = {}


def told(name: str, own: geodim.IDResult, others: list[geodim.IDResult], more: str) -> None:
    found[name] = own.dimension, sorted(other.dimension for other in others)
    low, _, high = found[name][1]
    print(f"{name:22s}{own.dimension:8.2f}   shuffled {low:.2f} to {high:.2f}   {more}")


for weighting in ("binary", "count", "tfidf"):
    family = geodim.Terms(weighting=weighting)
    own, *others = (geodim.intrinsic_dimension(some, features=family) for some in (texts, *shuffled))
    leading = ", ".join(f"{term} {share:.0%}" for term, share in list(own.shares.items())[:3])
    told(f"terms, {weighting}", own, others, f"led by {leading}")

# %%
# Distances between texts
# -----------------------
# Two distances look at all words of a text together: the share of the words of two texts that only one of
# them has, and the angle between their weights.  After the words are redistributed, all texts are about
# equally far from each other, and the dimension is larger every time.  Here the number does notice that the
# paragraphs were about something.

for name, prepared, metric in (
    ("token sets, Jaccard", list, "jaccard"),
    ("tf-idf, angles", lambda some: geodim.features.terms(some, least=5), "cosine"),
):
    own, *others = (
        geodim.intrinsic_dimension(prepared(some), features="distances", metric=metric)
        for some in (texts, *shuffled)
    )
    leading = next(iter(own.shares))
    told(name, own, others, f'led by "{leading}"' if metric == "jaccard" else "")

# %%
# The picture
# -----------
# With terms, the number is about the most frequent word.  With distances between texts, it is about the
# texts.  To compare collections of texts, use distances between sets of words or between vectors of a model
# (``metric="cosine"``), and use the same distance for all collections.

figure, ax = plt.subplots(figsize=(8, 3.2), layout="constrained")
for at, (own, others) in enumerate(found.values()):
    ax.plot([own, *others], [at] * 4, "-", color="0.8", zorder=0)
    ax.plot(others, [at] * 3, "k.", label="words shuffled" if at == 0 else None)
    ax.plot(own, at, "C0o", label="paragraphs" if at == 0 else None)
ax.set_yticks(range(len(found)), list(found))
ax.invert_yaxis()
ax.set(xscale="log", xlabel="intrinsic dimension")
ax.legend(frameon=False)
ax.spines[["top", "right"]].set_visible(False)
plt.show()
