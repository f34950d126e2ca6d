"""Edit distances between strings.

The distance of Levenshtein: the least number of characters to insert, delete or replace.  It is a metric,
characters are those of Unicode (code points: e with a combining accent is two of them), and the distance from
the empty string is the length.  Counts are exact.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from geodim.data.texts import check_strings, items_of, names_of_texts, texts_of
from geodim.families.sources import MadeColumns, digest_of_parts
from geodim.families.spaces import Space
from geodim.optional import require

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray


def string_space(data: object) -> Space:
    """Return the strings of a list, or the lines of a file, with their edit distances."""
    texts = texts_of(data)

    def others(landmarks: object) -> MadeColumns:
        strings = items_of(landmarks, "a list of strings as landmarks")
        check_strings(strings)
        return EditDistances(texts, strings, None)

    return Space(len(texts), lambda points: EditDistances(texts, points, None), others, names_of_texts(texts))


class EditDistances(MadeColumns):
    """Edit distances by rapidfuzz, which computes 64 of them, or rows of 64 characters, at a time.

    Parameters
    ----------
    texts : list of str
        The points.
    centres : array of int or list of str
        Which of them to measure from, or others.
    names : list of str, optional
        Names of the centres.
    """

    def __init__(
        self, texts: list[str], centres: NDArray[np.intp] | list[str], names: list[str] | None
    ) -> None:
        points = centres if isinstance(centres, np.ndarray) else None
        super().__init__(len(texts), len(centres), points, "edit", names)
        self.texts = texts
        self.centres = [texts[int(i)] for i in centres] if points is not None else list(centres)
        require("rapidfuzz.process", "text", "the edit distance")

    def fill(
        self, columns: Sequence[int], out: NDArray[np.floating], rows: NDArray[np.intp] | None = None
    ) -> None:
        """Compute one block of pairs; rapidfuzz lets other threads run meanwhile."""
        from rapidfuzz import process  # noqa: PLC0415 - an extra
        from rapidfuzz.distance import Levenshtein  # noqa: PLC0415

        some = [self.centres[column] for column in columns]
        texts = self.texts if rows is None else [self.texts[row] for row in rows.tolist()]
        out[:] = process.cdist(some, texts, scorer=Levenshtein.distance, dtype=np.int64, workers=1)

    def error(self, greatest: float) -> float:  # noqa: ARG002
        """Return 0: edit distances are whole numbers, which are exact."""
        return 0.0

    @property
    def held(self) -> int:
        """0 bytes: the strings are held by the caller."""
        return 0

    def digest(self) -> bytes:
        """Return a digest of the strings and the centres."""
        return digest_of_parts("edit", self.texts, self.centres)
