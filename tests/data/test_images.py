"""Images as they come in: arrays, lists and files, all of one size."""

from __future__ import annotations

import numpy as np
import pytest

from geodim.data.images import images_of
from geodim.errors import (
    DataFileError,
    GeodimError,
    InputTypeError,
    MissingExtraError,
    ShapeError,
)

GREY = np.random.default_rng(0).integers(0, 256, (5, 4, 6), np.uint8)
COLOUR = np.random.default_rng(1).integers(0, 256, (3, 4, 6, 3), np.uint8)


@pytest.mark.parametrize("images", [GREY, GREY.astype(float), GREY > 100, list(GREY), GREY.tolist()])
def test_arrays_and_lists_in_grey(images):
    found = images_of(images)
    np.testing.assert_array_equal(found.array[..., 0], np.asarray(images))
    assert found.channels == ()
    assert found.size == (4, 6)


def test_arrays_in_colour():
    for images in (COLOUR, list(COLOUR)):
        found = images_of(images)
        np.testing.assert_array_equal(found.array, COLOUR)
        assert found.channels == ("channel 0", "channel 1", "channel 2")
    torch = pytest.importorskip("torch")
    np.testing.assert_array_equal(images_of(torch.tensor(COLOUR)).array, COLOUR)


def test_memory_maps_are_not_copied(tmp_path):
    np.save(tmp_path / "images.npy", GREY)
    mapped = np.load(tmp_path / "images.npy", mmap_mode="r")
    assert np.shares_memory(images_of(mapped).array, mapped)


@pytest.mark.parametrize(
    ("images", "error", "said"),
    [
        ([GREY[0], GREY[1], GREY[2, :, :5]], ShapeError, "image 2 has size 4 x 5 and image 0 has 4 x 6"),
        ([GREY[0], COLOUR[0]], ShapeError, "image 1 has size 4 x 6 x 3 and image 0 has 4 x 6"),
        ([GREY[0], "not an image"], InputTypeError, "image 1 is not an array of pixels"),
        ([GREY[0], None], InputTypeError, "image 1 is not an array"),
        ([COLOUR], ShapeError, "image 0 has 4 axes"),
        ([1.0, 2.0], ShapeError, "image 0 has 0 axes"),
        ([], ShapeError, "no images"),
        (np.ones((3, 4)), ShapeError, r"not of shape \(3, 4\); a table of pixels"),
        (np.ones(3), ShapeError, "3 axes"),
        (np.ones((0, 4, 4)), ShapeError, "no images"),
        (np.ones((2, 0, 4)), ShapeError, "no pixels"),
        (np.ones((2, 3, 9, 9)), ShapeError, "channels before rows"),
        (np.ones((2, 3, 4), complex), InputTypeError, "complex"),
        (np.array([["a"]]), InputTypeError, "array of images"),
        (5, InputTypeError, "not 5"),
    ],
)
def test_bad_arrays(images, error, said):
    with pytest.raises(error, match=said):
        images_of(images)


def test_files_need_pillow(tmp_path, monkeypatch):
    (tmp_path / "a.png").write_bytes(b"")
    for name in ("PIL", "PIL.Image"):
        monkeypatch.setitem(__import__("sys").modules, name, None)
    with pytest.raises(MissingExtraError, match=r"pip install 'geodim\[images\]'"):
        images_of(tmp_path)


class TestFiles:
    @pytest.fixture
    def pillow(self):
        return pytest.importorskip("PIL.Image", reason="needs Pillow: pip install 'geodim[images]'")

    @pytest.fixture
    def folder(self, pillow, tmp_path):
        place = tmp_path / "images"
        place.mkdir()
        for i in (2, 0, 1):
            pillow.fromarray(GREY[i]).save(place / f"{i}.png")
        (place / "labels.csv").write_text("no image")
        (place / "within").mkdir()
        return place

    def test_a_folder(self, folder):
        for given in (folder, str(folder)):
            found = images_of(given)
            np.testing.assert_array_equal(found.array[..., 0], GREY[:3])
            assert found.channels == ()

    def test_a_list_of_files(self, folder):
        found = images_of([folder / "2.png", str(folder / "0.png")])
        np.testing.assert_array_equal(found.array[..., 0], GREY[[2, 0]])

    def test_pillow_s_images(self, pillow):
        found = images_of([pillow.fromarray(image) for image in COLOUR])
        np.testing.assert_array_equal(found.array, COLOUR)

    @pytest.mark.parametrize(
        ("mode", "suffix", "channels"),
        [
            ("1", "png", ()), ("L", "BMP", ()), ("P", "gif", ("red", "green", "blue")), ("I;16", "tif", ()),
            ("F", "tiff", ()), ("RGB", "ppm", ("red", "green", "blue")), ("LA", "png", ("grey", "alpha")),
            ("RGBA", "png", ("red", "green", "blue", "alpha")), ("CMYK", "tif", ("red", "green", "blue")),
        ],
    )  # fmt: skip
    def test_kinds_of_pixels(self, pillow, tmp_path, mode, suffix, channels):
        image = pillow.fromarray(COLOUR[0] if mode not in ("I;16", "F") else GREY[0].astype(np.uint16))
        image = image.convert("F") if mode == "F" else image if mode == "I;16" else image.convert(mode)
        image.save(tmp_path / f"x.{suffix}")
        found = images_of(tmp_path)
        assert found.channels == channels
        plain = {"1": "L", "P": "RGB", "CMYK": "RGB"}.get(mode, mode)
        expected = np.asarray(image if plain == mode else image.convert(plain))
        np.testing.assert_array_equal(found.array[0].squeeze(), expected)

    def test_other_sizes(self, pillow, folder):
        pillow.fromarray(GREY[0, :3]).save(folder / "3.png")
        with pytest.raises(ShapeError, match=r"3\.png has 3 x 6 pixels, L, and .*0\.png has 4 x 6 pixels"):
            images_of(folder)

    def test_other_colours(self, pillow, folder):
        pillow.fromarray(COLOUR[0]).save(folder / "3.png")
        with pytest.raises(ShapeError, match=r"3\.png has 4 x 6 pixels, RGB, and .*0\.png has .* L"):
            images_of(folder)

    def test_damaged_files(self, folder):
        whole = (folder / "1.png").read_bytes()
        for content in (b"", b"no image at all", whole[:40], whole[: len(whole) // 2]):
            (folder / "1.png").write_bytes(content)
            with pytest.raises(DataFileError, match=r"1\.png"):
                images_of(folder)

    def test_several_pictures_in_a_file(self, pillow, tmp_path):
        frames = [pillow.fromarray(image) for image in GREY]
        frames[0].save(tmp_path / "x.gif", save_all=True, append_images=frames[1:])
        with pytest.raises(DataFileError, match=r"x\.gif holds \d pictures"):
            images_of(tmp_path)

    def test_more_pixels_than_fit(self, pillow, tmp_path, monkeypatch):
        pillow.fromarray(GREY[0]).save(tmp_path / "x.png")
        monkeypatch.setattr(pillow, "MAX_IMAGE_PIXELS", 10)
        with pytest.raises(GeodimError, match=r"x\.png"):
            images_of(tmp_path)

    def test_no_folder(self, tmp_path):
        with pytest.raises(DataFileError, match="no file"):
            images_of(tmp_path / "none")
        with pytest.raises(DataFileError, match="no images in"):
            images_of(tmp_path)
        (tmp_path / "x.png").write_bytes(b"")
        with pytest.raises(DataFileError, match="is a file: name the folder"):
            images_of(tmp_path / "x.png")
