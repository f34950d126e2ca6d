"""``geodim compute`` on texts, images and graphs: the numbers of Python, and errors that name the file."""

from __future__ import annotations

import json

import numpy as np
import pytest

import geodim
from cli.running import called
from geodim.families import Distances, Patches, Pixels, Terms

WORDS = ["cat", "cart", "", "art", "dog", "dig", "carts", "do", "a dog and a cat"]


@pytest.fixture
def lines(tmp_path):
    path = tmp_path / "lines.txt"
    path.write_text("\n".join(WORDS) + "\n", encoding="utf-8")
    return path


@pytest.fixture
def folder(tmp_path):
    pillow = pytest.importorskip("PIL.Image", reason="needs Pillow: pip install 'geodim[images]'")
    place = tmp_path / "images"
    place.mkdir()
    for i, image in enumerate(np.random.default_rng(0).integers(0, 256, (12, 4, 5), np.uint8)):
        pillow.fromarray(image).save(place / f"{i:02}.png")
    return place


@pytest.fixture
def edges(tmp_path):
    path = tmp_path / "edges.csv"
    path.write_text("0,1,2\n1,2,3\n2,3,1\n3,0,1\n4,5,7\n", encoding="utf-8")
    return path


def document(*words):
    ended = called("compute", *words)
    assert ended.code == 0, ended.err
    return json.loads(ended.out)


@pytest.mark.parametrize(
    ("options", "family"),
    [
        (["--features", "terms"], Terms()),
        (["--features", "terms", "--weighting", "count"], Terms(weighting="count")),
        (["--features", "distances", "--metric", "jaccard"], Distances(metric="jaccard")),
    ],
)
def test_lines(lines, options, family):
    expected = geodim.intrinsic_dimension(WORDS, features=family)
    assert document(lines, *options)["dimension"] == expected.dimension


def test_edit(lines, tmp_path):
    pytest.importorskip("rapidfuzz", reason="needs rapidfuzz: pip install 'geodim[text]'")
    saved = tmp_path / "r.json"
    found = document(lines, "--features", "distances", "--metric", "edit", "--json", saved)
    expected = geodim.intrinsic_dimension(WORDS, features="distances", metric="edit")
    assert found["dimension"] == expected.dimension
    assert found["shares"] == expected.shares
    assert geodim.IDResult.from_json(saved).parameters["data"] == str(lines)


def test_sets_in_a_table(tmp_path):
    X = np.random.default_rng(0).random((20, 6)) < 0.4
    np.save(tmp_path / "sets.npy", X)
    found = document(tmp_path / "sets.npy", "--features", "distances", "--metric", "jaccard")
    expected = geodim.intrinsic_dimension(X, features="distances", metric="jaccard")
    assert found["dimension"] == expected.dimension


@pytest.mark.parametrize(
    ("options", "family"),
    [
        (["--features", "pixels"], Pixels()),
        (["--features", "pixels", "--blur", "2"], Pixels(blur=2)),
        (["--features", "patches"], Patches()),
        (["--features", "patches", "--patch-size", "2"], Patches(size=2)),
    ],
)
def test_images(folder, options, family):
    found = document(folder, *options)
    assert found["dimension"] == geodim.intrinsic_dimension(folder, features=family).dimension
    assert found["n_points"] == 12


@pytest.mark.parametrize(
    ("options", "choices"),
    [
        (["--disconnected", "component"], {"disconnected": "component"}),
        (["--disconnected", "9.5"], {"disconnected": 9.5}),
        (
            ["--disconnected", "beyond", "--edge-weights", "2"],
            {"disconnected": "beyond", "edge_weights": True},
        ),
    ],
)
def test_graphs(edges, options, choices):
    found = document(edges, "--features", "distances", "--metric", "shortest_path", *options)
    expected = geodim.intrinsic_dimension(edges, features=Distances(metric="shortest_path", **choices))
    assert found["dimension"] == expected.dimension


def test_unions(lines, folder):
    words = document(lines, "--features", "terms,distances", "--metric", "jaccard", "--weighting", "count")
    union = [Terms(weighting="count"), Distances(metric="jaccard")]
    assert words["dimension"] == geodim.intrinsic_dimension(WORDS, features=union).dimension
    found = document(folder, "--features", "pixels,patches", "--blur", "1", "--by", "diameter")
    both = geodim.Union([Pixels(blur=1), Patches()], "diameter")
    assert found["dimension"] == geodim.intrinsic_dimension(folder, features=both).dimension


def test_named_graphs():
    options = ("--features", "distances", "--metric", "shortest_path", "--landmarks", "5")
    found = document("sbm", *options, "--disconnected", "component")
    assert found["parameters"]["features"]["landmarks"] == 5


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--features", "distances", "--metric", "shortest_path"], "2 components, the largest of them"),
        (["--features", "terms", "--blur", "2"], "only --features pixels takes it"),
        (["--features", "pixels", "--weighting", "count"], "only --features terms takes it"),
        (["--features", "pixels", "--patch-size", "3"], "only --features patches takes it"),
        (["--features", "distances", "--disconnected", "beyond"], "only --metric shortest_path takes it"),
        (["--metric", "shortest_path"], "--metric is for --features distances"),
        (["--metric", "shortest_path", "--disconnected", "beyond"], "--metric is for --features distances"),
        (["--features", "terms", "--columns", "0"], "for tables of numbers only"),
        (["--features", "terms", "--certificate", "c.json"], "only columns and hops can be certified"),
        (["--features", "pixels,terms", "--patch-size", "3"], "only --features patches takes it"),
        (["--features", "terms", "--count-duplicates"], "equal points are counted by their coordinates"),
        (["--features", "terms", "--weighting", "much"], "weighting must be one of"),
        (["--features", "pixels"], "is a file: name the folder"),
    ],
)
def test_errors(edges, options, said):
    ended = called("compute", edges, *options)
    assert ended.code not in (0, 1)
    assert said in " ".join(ended.err.replace("│", " ").split())


def test_errors_name_the_file(folder, tmp_path):
    (folder / "05.png").write_bytes(b"no image")
    ended = called("compute", folder, "--features", "pixels")
    assert "05.png" in ended.err
    path = tmp_path / "latin.txt"
    path.write_bytes(b"ok\n\xe4\n")
    ended = called("compute", path, "--features", "terms")
    assert "latin.txt, line 2" in " ".join(ended.err.split())
    path.write_bytes(b"...\n?\n")
    ended = called("compute", path, "--features", "terms")
    assert "no terms are left" in " ".join(ended.err.split())
    assert "latin.txt" in ended.err
