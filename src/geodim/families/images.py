r"""Features of images: their pixels, pixels after blurring, and means over patches.

**Pixels.**  One feature for each pixel (and channel): its value.  Exchanging pixels in the same way in all
images exchanges columns and changes nothing: these features ignore which pixels are neighbours.  A shift,
rotation or reflection of single images does change them.

**Blurred.**  One hop on the pixel grid replaces each value by the mean over the pixel and its neighbours
above, below, left and right, as far as they are in the image: the operator :math:`D^{-1}(A + I)` of the grid
graph, "rw" in `geodim.features.make_operator`, applied ``blur`` times.  Neighbourhoods now matter,
and fine detail is lost.  Weights are not negative and sum to 1, so constant images stay what they are and
no difference between images grows.  The rounding is bounded in `geodim.features.rounding`.

**Patches.**  The means over all squares of ``size`` x ``size`` pixels, in descending order: feature r is the
r-th largest.  Which squares have which means is forgotten, so that nothing changes under any operation that
exchanges the squares of an image:

* shifts that move nothing but zeros out of the frame: the image lies on a background of zeros, and all
  squares that meet it count (with ``wrap`` it continues at the opposite side instead, and every cyclic shift
  will do);
* reflections, and rotations by a right angle if rows and columns are as many.

Means and order statistics are 1-Lipschitz for the largest difference of two pixels.  ``size`` 1 gives the
pixels in descending order, a histogram.  Sums run over columns, then over rows, in every square, so
that shifts change no bit; other symmetries change none if pixels are whole numbers.  Sums of whole numbers
below 2^53 are exact, others are off by 2 (size - 1) roundings; the quotient rounds once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from geodim.arguments import MOST_HOPS, whole_number
from geodim.data.graphs import as_graph
from geodim.data.images import as_floats, images_of, whole_below
from geodim.data.sources import ArraySource, set_names
from geodim.errors import InputTypeError, InputValueError, NonFiniteError, RangeOverflowError
from geodim.features.hops import iter_hop_blocks
from geodim.features.operators import make_operator
from geodim.features.rounding import feature_errors, growth
from geodim.memory import check_bytes

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from geodim.data.images import Images
    from geodim.data.sources import ColumnSource
    from geodim.features.operators import Operator

UNIT = 2.0**-53
WHOLE = 2.0**53
BLOCK_VALUES = 1 << 20  # pixels that are blurred, or averaged, together


class ImageColumns(ArraySource):
    """A matrix of values, images by features.

    Parameters
    ----------
    values : array of shape (n_images, n_features)
        The values.
    names : list of str
        Names of the features.
    off : float
        How far any value may lie from its definition.
    """

    def __init__(self, values: NDArray[Any], names: list[str], off: float = 0.0) -> None:
        super().__init__(values)
        self.names, self.off = names, off

    def error(self, greatest: float) -> float:  # noqa: ARG002
        """Return how far any value may be off."""
        return self.off


@dataclass(frozen=True, kw_only=True)
class Pixels:
    """The pixels of images as features, blurred or not.

    Parameters
    ----------
    blur : int, default 0
        How many hops on the pixel grid: each replaces values by means over a pixel and its (up to four)
        neighbours.

    Examples
    --------
    >>> import numpy as np
    >>> images = np.zeros((1, 1, 3))
    >>> images[0, 0] = 0, 6, 0
    >>> pixels(images, blur=1).tolist()
    [[3.0, 2.0, 3.0]]
    """

    blur: int = 0

    label = "pixels"
    takes_tables = False

    def source(
        self, X: object, *, names: Sequence[str] | None = None, n_threads: int | None = None
    ) -> ColumnSource:
        """Return the values as columns.

        Parameters
        ----------
        X : array, list or path
            The images, see `geodim.data.images.images_of`.
        names : sequence of str, optional
            Names of the features, instead of "row 0, column 0".
        n_threads : int, optional
            Threads to blur with.
        """
        hops = whole_number(self.blur, "blur", 0, MOST_HOPS)
        images = images_of(X)
        rows, columns = images.size
        called = [
            _with_channel(f"row {row}, column {column}", channel)
            for row in range(rows)
            for column in range(columns)
            for channel in images.channels or ("",)
        ]
        if hops == 0:
            source = ImageColumns(images.array.reshape(len(images.array), -1), called)
        else:
            source = ImageColumns(*_blurred(images, hops, n_threads, called))
        set_names(source, names)
        return source

    def described(self, source: ColumnSource) -> dict[str, Any]:
        """Return what a result says about these features."""
        return {"family": "pixels", "blur": int(self.blur), "features": source.n_features}


@dataclass(frozen=True, kw_only=True)
class Patches:
    """Means over all square patches of an image, in descending order, as features.

    Parameters
    ----------
    size : int, default 3
        Rows and columns of a patch.
    wrap : bool, default False
        Let images continue at the opposite side, rather than lie on a background of zeros.

    Examples
    --------
    >>> import numpy as np
    >>> images = np.zeros((2, 4, 4))
    >>> images[0, 0, 0] = images[1, 2, 1] = 4.0
    >>> patches(images, size=2)[:, :5].tolist()
    [[1.0, 1.0, 1.0, 1.0, 0.0], [1.0, 1.0, 1.0, 1.0, 0.0]]
    """

    size: int = 3
    wrap: bool = False

    label = "patches"
    takes_tables = False

    def source(
        self,
        X: object,
        *,
        names: Sequence[str] | None = None,
        n_threads: int | None = None,  # noqa: ARG002
    ) -> ColumnSource:
        """Return the values as columns.

        Parameters
        ----------
        X : array, list or path
            The images, see `geodim.data.images.images_of`.
        names : sequence of str, optional
            Names of the features, instead of "patch mean 0", which is the largest.
        n_threads
            Not used: one thread is enough.
        """
        if not isinstance(self.wrap, bool):
            raise InputTypeError(f"wrap must be True or False, got {self.wrap!r}")
        images = images_of(X)
        size = whole_number(self.size, "size", 1)
        if size > min(images.size):
            raise InputValueError(
                f"patches of {size} x {size} pixels do not fit images of {images.size[0]} x {images.size[1]}"
            )
        source = ImageColumns(*_patch_means(images, size, wrap=self.wrap))
        set_names(source, names)
        return source

    def described(self, source: ColumnSource) -> dict[str, Any]:
        """Return what a result says about these features."""
        return {
            "family": "patches", "size": int(self.size), "wrap": self.wrap, "features": source.n_features,
        }  # fmt: skip


def pixels(images: object, *, blur: int = 0) -> NDArray[Any]:
    """Return the pixels of images as a matrix, images by features, see `Pixels`."""
    values: NDArray[Any] = Pixels(blur=blur).source(images).array  # type: ignore[attr-defined]
    return values


def patches(images: object, *, size: int = 3, wrap: bool = False) -> NDArray[np.float64]:
    """Return means over patches, in descending order, as a matrix, images by features, see `Patches`."""
    values: NDArray[np.float64] = Patches(size=size, wrap=wrap).source(images).array  # type: ignore[attr-defined]
    return values


def _with_channel(place: str, channel: str) -> str:
    return f"{place}, {channel}" if channel else place


def _blocks(array: NDArray[Any]) -> Iterator[tuple[slice, NDArray[np.float64]]]:
    """Yield some images at a time, in float64."""
    step = max(BLOCK_VALUES // array[0].size, 1)
    for first in range(0, len(array), step):
        some = slice(first, min(first + step, len(array)))
        block = as_floats(array[some])
        if not np.all(np.isfinite(block)):
            image, row, column, _ = (int(i) for i in np.argwhere(~np.isfinite(block))[0])
            raise NonFiniteError(
                f"image {first + image}, row {row}, column {column} is not finite: fill in such pixels, or "
                "drop the image"
            )
        yield some, block


def lattice(rows: int, columns: int) -> Operator:
    """Return the mean over a pixel and its neighbours above, below, left and right."""
    number = np.arange(rows * columns).reshape(rows, columns)
    beside = np.stack([number[:, :-1].ravel(), number[:, 1:].ravel()])
    below = np.stack([number[:-1].ravel(), number[1:].ravel()])
    return make_operator(as_graph(np.concatenate([beside, below], axis=1), number.size), "rw")


def _blurred(
    images: Images, hops: int, n_threads: int | None, names: list[str]
) -> tuple[NDArray[np.float64], list[str], float]:
    """Apply hops on the pixel grid: pixels are the nodes, and every channel of every image is a column."""
    n, (rows, columns), channels = len(images.array), images.size, images.array.shape[3]
    check_bytes(8 * images.array.size, f"{n:,} blurred images", "blur fewer at a time")
    operator, kind = lattice(rows, columns), np.dtype(np.float64)
    values, magnitude = np.empty((n, rows * columns, channels)), 0.0
    for some, block in _blocks(images.array):
        nodes = block.reshape(len(block), -1, channels).transpose(1, 0, 2).reshape(rows * columns, -1)
        for last in iter_hop_blocks(nodes, operator, hops, slice(None), dtype=kind, n_threads=n_threads):
            final = last
        values[some] = final.reshape(rows * columns, len(block), channels).transpose(1, 0, 2)
        magnitude = max(magnitude, float(np.abs(block).max()))
    error = feature_errors(operator, growth(operator, hops, kind), magnitude, kind)[hops].largest
    return values.reshape(n, -1), names, error


def _patch_means(images: Images, size: int, *, wrap: bool) -> tuple[NDArray[np.float64], list[str], float]:
    """Return means over all patches, those of a channel in descending order."""
    n, (rows, columns), channels = len(images.array), images.size, images.array.shape[3]
    if not wrap:
        rows, columns = rows + size - 1, columns + size - 1
    check_bytes(8 * n * rows * columns * channels, f"patches of {n:,} images", "take fewer images at a time")
    around = (0, size - 1) if wrap else (size - 1, size - 1)
    values, magnitude = np.empty((n, channels, rows * columns)), 0.0
    for some, block in _blocks(images.array):
        padded = np.pad(block, ((0, 0), around, around, (0, 0)), "wrap" if wrap else "constant")
        with np.errstate(over="ignore", invalid="ignore"):
            along: Any = sum(padded[:, :, at : at + columns] for at in range(size))
            sums: Any = sum(along[:, at : at + rows] for at in range(size))
        if not np.all(np.isfinite(sums)):
            raise RangeOverflowError("sums over patches overflow float64: divide the images by a constant")
        means = sums.transpose(0, 3, 1, 2).reshape(len(block), channels, -1) / size**2
        values[some] = np.sort(means, axis=2)[..., ::-1]
        magnitude = max(magnitude, float(np.abs(block).max()))
    names = [
        _with_channel(f"patch mean {rank}", channel)
        for channel in images.channels or ("",)
        for rank in range(rows * columns)
    ]
    roundings = 0.0
    if size > 1:
        roundings = 1.0 if whole_below(images.array, WHOLE / size**2) else 2.0 * size
    return values.reshape(n, -1), names, roundings * UNIT * magnitude * (1.0 + 2.0**-20)
