"""Images from anywhere, all of one size: arrays, lists of arrays, folders and lists of files through Pillow.

Rows come before columns and channels last, as in Pillow and scikit-image.  Values are as stored in the files:
nothing is scaled, rotated by its EXIF orientation, or converted, except for palettes and the colour spaces of
print and television, which become red, green and blue.
"""

from __future__ import annotations

import os
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from geodim.data.boundary import boundary, check_regular
from geodim.data.convert import array_of, array_of_tensor, plain_array
from geodim.data.shapes import check_type
from geodim.data.unchanged import Watch
from geodim.errors import DataFileError, GeodimError, InputTypeError, InputValueError, ShapeError
from geodim.lists import refuse_dask
from geodim.memory import check_bytes
from geodim.optional import require
from geodim.waiting import report

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray
    from PIL.Image import Image

SUFFIXES = (
    ".png", ".jpg", ".jpeg", ".bmp", ".gif", ".tif", ".tiff", ".webp", ".ppm", ".pgm", ".pbm",
)  # fmt: skip
# Formats that Pillow may try: it knows many others, whose readers are hardly needed or maintained.
FORMATS = ("PNG", "JPEG", "BMP", "GIF", "TIFF", "WEBP", "PPM")
READ_AS = {"1": "L", "P": "RGB", "PA": "RGBA", "CMYK": "RGB", "YCbCr": "RGB", "LAB": "RGB", "HSV": "RGB"}
CHANNELS = {
    "L": (), "I": (), "F": (), "I;16": (), "LA": ("grey", "alpha"), "RGB": ("red", "green", "blue"),
    "RGBA": ("red", "green", "blue", "alpha"),
}  # fmt: skip
MOST_COLOURS = 4


@dataclass(frozen=True, eq=False)
class Images:
    """Images of one size.

    Attributes
    ----------
    array : array of shape (n, rows, columns, channels)
        The values of all pixels.
    channels : tuple of str
        Names of the channels; empty for images in grey.
    """

    array: NDArray[Any]
    channels: tuple[str, ...] = ()

    @property
    def size(self) -> tuple[int, int]:
        """Rows and columns."""
        return int(self.array.shape[1]), int(self.array.shape[2])


def images_of(data: object) -> Images:
    """Return images as one array.

    Parameters
    ----------
    data : array of shape (n, rows, columns) or (n, rows, columns, channels), list, or path
        Memory maps are not copied.  A list holds arrays, Pillow's images or paths; a path is that of a
        folder, all of whose files with the name of an image are read, in the order of their names, but not
        those in folders within it.
    """
    refuse_dask(data, "the array of images")
    if isinstance(data, str | os.PathLike):
        return read_images(files_of(data))
    if type(data).__module__.partition(".")[0] == "torch":
        return _of_array(array_of_tensor(data))
    if isinstance(data, np.ndarray) and data.dtype != object:
        return _of_array(plain_array(data))
    try:
        items = list(data)  # type: ignore[call-overload]
    except TypeError as error:
        raise InputTypeError(f"give images as an array, a list or a folder, not {data!r:.60}") from error
    if not items:
        raise ShapeError("there are no images: the list is empty")
    if all(isinstance(item, str | os.PathLike) for item in items):
        return read_images([Path(item) for item in items])
    return _of_list(items)


def files_of(folder: str | os.PathLike[str]) -> list[Path]:
    """Return the images in a folder, in the order of their names."""
    place = Path(folder)
    with boundary(place, "folder of images"):
        if place.is_file():
            raise DataFileError(f"{place} is a file: name the folder that the images are in")
        files = sorted(file for file in place.iterdir() if file.suffix.lower() in SUFFIXES and file.is_file())
    if not files:
        raise DataFileError(f"there are no images in {place}: files named {', '.join(SUFFIXES)} are read")
    return files


def read_images(files: Sequence[Path]) -> Images:
    """Return images from files, all of one size and kind; errors name the file."""
    pillow = require("PIL.Image", "images", "reading images from files")
    stack: NDArray[Any] | None = None
    first = ""
    with Watch.of(*files):
        for i, file in enumerate(files):
            check_regular(file)
            with boundary(file, "image"), warnings.catch_warnings():
                warnings.simplefilter("error", pillow.DecompressionBombWarning)
                with pillow.open(file, formats=FORMATS) as image:
                    pixels, mode = _pixels(image, file)
            kind = f"{pixels.shape[0]} x {pixels.shape[1]} pixels, {mode}"
            if stack is None:
                first = kind
                check_bytes(len(files) * pixels.nbytes, f"{len(files):,} images like {file}", "take fewer")
                stack = np.empty((len(files), *pixels.shape), pixels.dtype)
                names = CHANNELS[mode]
            if kind != first:
                raise ShapeError(
                    f"{file} has {kind}, and {files[0]} has {first} (rows x columns): all images need the "
                    "same size and kind; resize or convert them first"
                )
            stack[i] = pixels
            report(f"reading {file.parent}", i + 1, len(files))
    assert stack is not None
    return Images(stack.reshape(len(files), *stack.shape[1:3], -1), names)


def _pixels(image: Image, file: Path) -> tuple[NDArray[Any], str]:
    """Return the pixels of an image that was opened, and what kind they are."""
    pictures = getattr(image, "n_frames", 1)
    if pictures > 1:
        raise DataFileError(f"{file} holds {pictures} pictures: give each a file of its own")
    mode = "I;16" if image.mode.startswith("I;16") else image.mode
    if mode == "P" and "transparency" in image.info:
        mode = "RGBA"
    mode = READ_AS.get(mode, mode)
    if mode not in CHANNELS:
        raise DataFileError(f"{file} has pixels of an unknown kind, {image.mode!r}: convert it to RGB")
    width, height = image.size
    check_bytes(width * height * 4 * max(len(CHANNELS[mode]), 1), f"the image {file}", "take a smaller one")
    converted = image if mode in (image.mode, "I;16") else image.convert(mode)
    return np.array(converted), mode


def _of_array(array: NDArray[Any]) -> Images:
    check_type(array.dtype, "the array of images")
    shape = array.shape
    if len(shape) not in (3, 4):
        raise ShapeError(
            f"images are an array of 3 axes (images, rows, columns), or 4 with channels last, not of shape "
            f"{tuple(shape)}" + ("; a table of pixels needs no features=" if len(shape) == 2 else "")
        )
    if 0 in shape:
        raise ShapeError(f"there are no images, or no pixels: the shape is {tuple(shape)}")
    if len(shape) == 3:
        return Images(array[..., np.newaxis])
    if shape[3] > MOST_COLOURS >= shape[1]:
        raise ShapeError(
            f"an array of shape {tuple(shape)} seems to have channels before rows: they come last here, use "
            "images.transpose(0, 2, 3, 1)"
        )
    return Images(array, tuple(f"channel {i}" for i in range(shape[3])) if shape[3] > 1 else ())


def _of_list(items: list[Any]) -> Images:
    arrays: list[NDArray[Any]] = []
    for i, item in enumerate(items):
        try:
            array = plain_array(array_of(item))
            check_type(array.dtype, f"image {i}")
        except GeodimError as error:
            raise InputTypeError(f"image {i} is not an array of pixels: {error}") from error
        if array.ndim not in (2, 3):
            raise ShapeError(
                f"image {i} has {array.ndim} axes: give rows x columns, or rows x columns x channels"
            )
        if arrays and array.shape != arrays[0].shape:
            raise ShapeError(
                f"image {i} has size {_size(array)} and image 0 has {_size(arrays[0])}: all images need the "
                "same size; resize or crop them first"
            )
        arrays.append(array)
    check_bytes(len(arrays) * arrays[0].nbytes, f"{len(arrays):,} images", "give them as one array")
    return _of_array(np.stack(arrays))


def _size(array: NDArray[Any]) -> str:
    return " x ".join(map(str, array.shape))


def whole_below(array: NDArray[Any], most: float) -> bool:
    """Return whether all values are whole numbers of magnitude at most ``most``."""
    if array.dtype.kind == "b" or (array.dtype.kind in "iu" and array.dtype.itemsize < 4):
        return most >= 2.0**16
    least, greatest = array.min(), array.max()
    if not -most <= float(least) <= float(greatest) <= most:
        return False
    return array.dtype.kind in "iu" or bool(np.all(array == np.rint(array)))


def as_floats(array: NDArray[Any]) -> NDArray[np.float64]:
    """Return the same values in float64; raise if it does not hold them."""
    if array.dtype.kind in "iu" and array.dtype.itemsize == 8 and not whole_below(array, 2.0**53):
        raise InputValueError("some pixels are integers beyond 2^53, which float64 rounds: divide them")
    return np.asarray(array, np.float64)
