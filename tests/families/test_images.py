"""Pixels, blurred pixels and patches: the definition, written out, and what changes nothing."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from sklearn.datasets import load_digits

import geodim
from geodim import paper
from geodim.errors import InputTypeError, InputValueError, NonFiniteError, RangeOverflowError, ShapeError
from geodim.families import Patches, Pixels, patches, pixels

DIGITS = load_digits().images[:150]
COLOUR = np.random.default_rng(0).integers(0, 256, (40, 3, 5, 3), np.uint8)


def blurred(image, hops):
    """Means over a pixel and its neighbours, in rational numbers."""
    rows, columns = len(image), len(image[0])
    for _ in range(hops):
        near = [
            [
                [
                    image[i][j]
                    for i, j in ((r, c), (r - 1, c), (r + 1, c), (r, c - 1), (r, c + 1))
                    if 0 <= i < rows and 0 <= j < columns
                ]
                for c in range(columns)
            ]
            for r in range(rows)
        ]
        image = [[sum(values) / len(values) for values in row] for row in near]
    return image


def patch_means(image, size, *, wrap):
    """Means over all squares that meet the image, descending, in rational numbers."""
    rows, columns = len(image), len(image[0])
    first = 0 if wrap else 1 - size
    means = []
    for r in range(first, rows):
        for c in range(first, columns):
            values = [
                image[i % rows][j % columns]
                for i in range(r, r + size)
                for j in range(c, c + size)
                if wrap or (0 <= i < rows and 0 <= j < columns)
            ]
            means.append(sum(values) / Fraction(size**2))
    return sorted(means, reverse=True)


def rational(image):
    return [[Fraction(float(value)) for value in row] for row in image]


def dimension_of(matrix):
    """By the paper's algorithm on the matrix, divided by its largest range."""
    return paper.intrinsic_dimension(paper.algorithm_1(matrix / np.ptp(matrix, axis=0).max()))


def test_pixels():
    result = geodim.intrinsic_dimension(DIGITS, features="pixels")
    table = DIGITS.reshape(150, 64)
    np.testing.assert_array_equal(pixels(DIGITS), table)
    plain = geodim.intrinsic_dimension(table)
    assert result.exact
    assert result.dimension == plain.dimension == pytest.approx(dimension_of(table), rel=1e-13)
    np.testing.assert_array_equal(result.phi, paper.phi_all(table))
    assert result.parameters["features"] == {"family": "pixels", "blur": 0, "features": 64}
    assert all(name.startswith("row ") for name in result.shares)
    names = Pixels().source(DIGITS).names
    assert names[3 * 8 + 5] == "row 3, column 5"


def test_pixels_in_colour():
    source = Pixels().source(COLOUR)
    assert source.names[:4] == [
        "row 0, column 0, channel 0", "row 0, column 0, channel 1", "row 0, column 0, channel 2",
        "row 0, column 1, channel 0",
    ]  # fmt: skip
    at = source.names.index("row 2, column 4, channel 1")
    np.testing.assert_array_equal(pixels(COLOUR)[:, at], COLOUR[:, 2, 4, 1])
    at = Pixels(blur=2).source(COLOUR).names.index("row 1, column 3, channel 2")
    np.testing.assert_allclose(
        pixels(COLOUR, blur=2)[:, at], pixels(COLOUR[..., 2], blur=2)[:, 1 * 5 + 3], rtol=1e-14
    )


def test_memory_maps(tmp_path):
    np.save(tmp_path / "images.npy", DIGITS)
    mapped = np.load(tmp_path / "images.npy", mmap_mode="r")
    expected = geodim.intrinsic_dimension(DIGITS, features="pixels").dimension
    assert geodim.intrinsic_dimension(mapped, features="pixels").dimension == expected


@pytest.mark.parametrize("hops", [1, 2, 5])
def test_blur_is_the_definition(hops):
    images = np.concatenate([DIGITS[:6], np.random.default_rng(0).standard_normal((4, 8, 8))])
    source = Pixels(blur=hops).source(images)
    error = Fraction(source.error(0.0))
    assert 0 < error < Fraction(1, 10**12)
    for image, row in zip(images, source.array, strict=True):
        expected = [value for line in blurred(rational(image), hops) for value in line]
        for value, exact in zip(row.tolist(), expected, strict=True):
            assert abs(Fraction(value) - exact) <= error


def test_blurred_result():
    result = geodim.intrinsic_dimension(DIGITS, features=Pixels(blur=2), n_threads=2)
    matrix = pixels(DIGITS, blur=2)
    np.testing.assert_array_equal(result.phi, paper.phi_all(matrix))
    assert result.feature_error > 0.0
    assert not result.exact
    assert result.lower < dimension_of(matrix) < result.upper
    assert result.one_number
    again = geodim.intrinsic_dimension(DIGITS, features=Pixels(blur=2), n_threads=1)
    assert again.dimension == result.dimension
    weighted = geodim.intrinsic_dimension(DIGITS, features=Pixels(blur=2), weights=np.full(150, 3))
    thrice = np.repeat(matrix, 3, axis=0)
    assert weighted.dimension == pytest.approx(dimension_of(thrice), rel=1e-12)
    assert weighted.feature_error == result.feature_error


def test_blur_leaves_constant_images_and_shrinks_differences():
    flat = np.full((3, 4, 5), 0.1)
    np.testing.assert_array_equal(pixels(flat, blur=7), 0.1)
    one, other = np.random.default_rng(0).random((2, 1, 6, 6))
    for hops in (1, 3):
        assert np.abs(pixels(one, blur=hops) - pixels(other, blur=hops)).max() <= np.abs(one - other).max()
    single = np.array([[[3.0]], [[5.0]]])
    np.testing.assert_array_equal(pixels(single, blur=2), [[3.0], [5.0]])


def test_pixels_do_not_see_neighbourhood_and_blurred_ones_do():
    order = np.random.default_rng(0).permutation(64)
    shuffled = DIGITS.reshape(150, 64)[:, order].reshape(150, 8, 8)

    def dimension(images, **options):
        return geodim.intrinsic_dimension(images, features=Pixels(**options)).dimension

    assert dimension(shuffled) == dimension(DIGITS)
    assert dimension(shuffled, blur=2) != pytest.approx(dimension(DIGITS, blur=2), rel=0.01)
    mirrored = DIGITS[:, ::-1]
    assert dimension(mirrored, blur=2) == pytest.approx(dimension(DIGITS, blur=2), rel=1e-12)


@pytest.mark.parametrize("wrap", [False, True])
@pytest.mark.parametrize("size", [1, 2, 3, 8])
def test_patches_are_the_definition(size, wrap):
    images = np.concatenate([DIGITS[:4], np.random.default_rng(0).standard_normal((3, 8, 8))])
    source = Patches(size=size, wrap=wrap).source(images)
    error = Fraction(source.error(0.0))
    assert (error == 0) == (size == 1)
    for image, row in zip(images, source.array, strict=True):
        expected = patch_means(rational(image), size, wrap=wrap)
        assert len(expected) == len(row)
        for value, exact in zip(row.tolist(), expected, strict=True):
            assert abs(Fraction(value) - exact) <= error


def test_patches_result():
    result = geodim.intrinsic_dimension(DIGITS, features="patches")
    matrix = patches(DIGITS)
    assert matrix.shape == (150, 100)
    np.testing.assert_array_equal(result.phi, paper.phi_all(matrix))
    assert result.dimension == pytest.approx(dimension_of(matrix), rel=1e-13)
    assert result.parameters["features"] == {"family": "patches", "size": 3, "wrap": False, "features": 100}
    assert all(name.startswith("patch mean ") for name in result.shares)


def test_patches_in_colour():
    source = Patches(size=2).source(COLOUR)
    green = patches(COLOUR[..., 1], size=2)
    at = source.names.index("patch mean 3, channel 1")
    np.testing.assert_array_equal(source.array[:, at], green[:, 3])


@settings(max_examples=20)
@given(st.integers(1, 3), st.integers(0, 5), st.integers(0, 5), st.integers(0, 2**31))
def test_shifts_and_symmetries_of_patches(size, down, right, seed):
    small = np.random.default_rng(seed).standard_normal((3, 4, 4))
    framed = np.zeros((3, 9, 9))
    framed[:, :4, :4] = small
    moved = np.zeros((3, 9, 9))
    moved[:, down : down + 4, right : right + 4] = small
    np.testing.assert_array_equal(patches(moved, size=size), patches(framed, size=size))
    rolled = np.roll(framed, (down, -right), (1, 2))
    around = {"size": size, "wrap": True}
    np.testing.assert_array_equal(patches(rolled, **around), patches(framed, **around))
    whole = np.round(10 * framed)
    for turned in (whole[:, ::-1], whole[:, :, ::-1], whole.transpose(0, 2, 1), np.rot90(whole, axes=(1, 2))):
        np.testing.assert_array_equal(patches(turned, size=size), patches(whole, size=size))


def test_other_order_of_the_images():
    order = np.random.default_rng(0).permutation(150)
    for family in (Pixels(blur=1), Patches(size=2)):
        one = geodim.intrinsic_dimension(DIGITS, features=family)
        other = geodim.intrinsic_dimension(DIGITS[order], features=family)
        assert other.dimension == one.dimension


def test_names_of_one_s_own():
    names = [f"p{i}" for i in range(64)]
    result = geodim.intrinsic_dimension(DIGITS, features="pixels", feature_names=names)
    assert set(result.shares) <= set(names)
    with pytest.raises(ShapeError, match="64 features but 3"):
        Pixels().source(DIGITS, names=["a", "b", "c"])


def not_finite(image, row, column):
    images = DIGITS.copy()
    images[image, row, column] = np.nan
    return images


@pytest.mark.parametrize(
    ("images", "family", "error", "said"),
    [
        (DIGITS, Pixels(blur=-1), InputValueError, "blur must be at least 0"),
        (DIGITS, Pixels(blur=1.5), InputTypeError, "blur must be a whole number"),
        (DIGITS, Patches(size=0), InputValueError, "size must be at least 1"),
        (DIGITS, Patches(size=9), InputValueError, "9 x 9 pixels do not fit images of 8 x 8"),
        (DIGITS, Patches(wrap="yes"), InputTypeError, "wrap must be"),
        (not_finite(7, 2, 3), Pixels(), NonFiniteError, "row 7, column 'row 2, column 3'|row 2, column 3"),
        (not_finite(7, 2, 3), Pixels(blur=1), NonFiniteError, "image 7, row 2, column 3"),
        (not_finite(7, 2, 3), Patches(), NonFiniteError, "image 7, row 2, column 3"),
        (np.full((2, 4, 4), 1e308), Patches(), RangeOverflowError, "overflow"),
        (np.full((2, 2, 2), 2**60 + 1), Pixels(blur=1), InputValueError, "beyond 2.53"),
        ([DIGITS[0], DIGITS[1, :5]], Pixels(), ShapeError, "image 1 has size 5 x 8 and image 0 has 8 x 8"),
    ],
)
def test_bad_input(images, family, error, said):
    with pytest.raises(error, match=said):
        geodim.intrinsic_dimension(images, features=family)


def test_options_that_belong_to_distances():
    with pytest.raises(InputValueError, match="metric is for features='distances'"):
        geodim.intrinsic_dimension(DIGITS, features="pixels", metric="euclidean")
    with pytest.raises(InputValueError, match="its own options"):
        geodim.intrinsic_dimension(DIGITS, features=Patches(), landmarks=3)
