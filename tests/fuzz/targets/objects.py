"""Files that are no tables: lines of text, and folders of images."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

import numpy as np

from fuzz.harness import Target
from geodim.data.images import images_of
from geodim.data.texts import sets_of, texts_of

if TYPE_CHECKING:
    from pathlib import Path

PIXELS = np.random.default_rng(3).integers(0, 256, (9, 7, 3), np.uint8)
FILES = {
    "png": ("x.png", "RGB", {}),
    "palette": ("x.png", "P", {}),
    "grey": ("x.png", "L", {}),
    "jpeg": ("x.jpg", "RGB", {}),
    "gif": ("x.gif", "P", {}),
    "bmp": ("x.bmp", "RGB", {}),
    "tiff": ("x.tif", "RGB", {"compression": "tiff_lzw"}),
    "plain-tiff": ("x.tif", "L", {}),
    "webp": ("x.webp", "RGB", {"lossless": True}),
    "ppm": ("x.ppm", "RGB", {}),
}


def make_lines(folder: Path) -> None:
    (folder / "lines.txt").write_text("\ufeffone two\r\n\nzwei Größen\n日本\n", encoding="utf-8")


def read_lines(path: Path) -> None:
    texts_of(path)
    sets_of(path)


def make_images(folder: Path) -> None:
    from PIL import Image

    for name, (file, mode, options) in FILES.items():
        content = io.BytesIO()
        image = Image.fromarray(PIXELS).convert(mode)
        image.save(content, Image.registered_extensions()[f".{file.partition('.')[2]}"], **options)
        (folder / name).mkdir()
        (folder / name / file).write_bytes(content.getvalue())


TARGETS = [
    Target("lines", make_lines, read_lines, share=0.25),
    Target("images", make_images, images_of, needs=("PIL",)),
]
