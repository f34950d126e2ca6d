"""docs/objects.md."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import geodim

if TYPE_CHECKING:
    from prose.pages import Page


def message() -> str:
    """What a frame with a category and a gap is told."""
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(
        {
            "age": [1.0, None, 3.0],
            "size": [1.0, 2.0, 3.0],
            "weight": [1.0, 2.0, 3.0],
            "city": pd.Categorical(["x", "y", None]),
        }
    )
    with pytest.raises(geodim.errors.InputTypeError) as caught:
        geodim.intrinsic_dimension(frame)
    return str(caught.value)


def check(page: Page) -> None:
    assert message() in " ".join(page.text.split())
    page.allows("1 of 4 columns holds no numbers: 'city' (Categorical, 2 values, 1 missing)", "an example")
    page.allows("values are missing, too: 'age' 1 (", "the same example")
    page.allows("| 0 and 1, or transactions |", "what binary data are")
    page.allows("`1,5` is one and a half", "how it is written")
    page.allows("`1,234` alone may be", "how it is written")
