"""Every example runs as it stands, without warnings, makes its figure, and says what its text claims.

Numbers that are compared come from the paper, from its definitions, or from the theory; the rest are
relations that the examples' prose relies on.
"""

from __future__ import annotations

import contextlib
import re
import runpy
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from sklearn.datasets import load_digits

from geodim import paper

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

pytest.importorskip("matplotlib", reason="the examples draw: matplotlib is not installed")
# What plt.show says where there is no screen.
pytestmark = pytest.mark.filterwarnings("ignore:.*non-interactive")

ROOT = Path(__file__).parents[1]
EXAMPLES = sorted((ROOT / "examples").glob("plot_*.py"))
NEEDS_TORCH = {
    "plot_choose_hops", "plot_dimension_regulariser", "plot_feature_weights", "plot_hop_coefficients",
    "plot_layer_dimension", "plot_projection_pursuit",
}  # fmt: skip
NEEDS = {"plot_strings": ("rapidfuzz", "edit distances need rapidfuzz: pip install 'geodim[text]'")}
CORA = [6.2523, 3.8324, 3.6689, 3.6627, 3.6624]  # paper.tex, tab:k_hop_ids
NUMBER = r"-?[\d,]*\d(?:\.\d+)?"


@contextlib.contextmanager
def threads_restored() -> Iterator[None]:
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    before = torch.get_num_threads()
    yield
    torch.set_num_threads(before)


@pytest.fixture
def run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Iterator[Callable[..., str]]:
    """What an example prints; it makes figures, all of them with something on them, and no files.

    It runs in this process, which has imported and compiled what most examples need.
    """
    plt = pytest.importorskip("matplotlib.pyplot")
    plt.switch_backend("agg")
    folder = tmp_path / "empty"
    folder.mkdir()

    def run_here(example: Path, *shorter: tuple[str, str]) -> str:
        if shorter:
            source = example.read_text(encoding="utf-8")
            for before, after in shorter:
                assert source.count(before) == 1, before
                source = source.replace(before, after)
            example = tmp_path / example.name
            example.write_text(source, encoding="utf-8")
        monkeypatch.chdir(folder)
        monkeypatch.setenv("GEODIM_DATA", str(folder))
        monkeypatch.setenv("GEODIM_OFFLINE", "1")
        with threads_restored() if example.stem in NEEDS_TORCH else contextlib.nullcontext():
            runpy.run_path(str(example), run_name="__main__")
        assert plt.get_fignums()
        for number in plt.get_fignums():
            figure = plt.figure(number)
            figure.canvas.draw()
            assert np.asarray(figure.canvas.buffer_rgba())[..., :3].std() > 2.5, f"figure {number} is empty"
        assert not list(folder.iterdir())
        return capsys.readouterr().out

    yield run_here
    plt.close("all")


def numbers(pattern: str, text: str) -> list[float]:
    """The numbers in the one line that begins with the pattern."""
    (line,) = re.findall(rf"^{pattern}(.*)$", text, re.MULTILINE)
    return [float(found.replace(",", "")) for found in re.findall(NUMBER, line)]


def check_digits_graph(text: str) -> None:
    pixels = load_digits().data
    by_definition = paper.intrinsic_dimension(paper.algorithm_1(pixels / 16.0))
    assert numbers("intrinsic dimension", text)[0] == round(by_definition, 4)
    dimension = numbers("the core alone has the dimension", text)[0]
    by_hops = [numbers(f"k = {k}:", text)[0] for k in range(6)]
    assert by_hops[0] == dimension < 4.0
    assert all(after <= before for before, after in pairwise(by_hops))
    assert by_hops[1] < 0.9 * by_hops[0]
    assert "Consider 1 hop:" in text
    assert "Caveats:" in text
    assert numbers("without row . column .:", text) == [dimension, dimension]
    assert numbers("with one value of 1000", text)[-2] > 1000 * dimension
    assert numbers("clipped to the 16 levels of grey:", text) == [dimension]


def check_choose_hops(text: str) -> None:
    rows = [
        list(map(float, re.findall(r"[\d.]+", line)))
        for line in re.findall(r"^ \d .*±.*$", text, re.MULTILINE)
    ]
    advised = int(numbers("Consider", text)[0])
    assert [row[0] for row in rows] == list(range(advised + 3))
    if "GraphDataset('cora'" in text:
        assert [row[1] for row in rows] == pytest.approx(CORA, abs=1e-4)
        assert advised == 2
        assert numbers("part of the whole gain", text)[0] > 80
    else:
        assert advised == 1
    assert "largest drop of the dimension: hop 1; largest gain of accuracy: hop 1" in text


def check_layer_dimension(text: str) -> None:
    for layer in ("second hidden layer", "output"):
        true, shuffled = numbers(f"{layer}:", text)
        assert 1.3 * true < shuffled
    accuracies = re.findall(
        r"^(\w+) labels, seed \d: accuracy ([\d.]+) in training, ([\d.]+)", text, re.MULTILINE
    )
    assert [name for name, *_ in accuracies] == ["true"] * 3 + ["shuffled"] * 3
    assert all(float(tested) > 0.9 for name, _, tested in accuracies if name == "true")
    assert all(float(learned) > 0.6 for name, learned, _ in accuracies if name == "shuffled")
    assert all(float(tested) < 0.2 for name, _, tested in accuracies if name == "shuffled")


def check_word_vectors(text: str) -> None:
    sizes = np.array(numbers("components kept", text))
    as_they_are = numbers("vectors, as they are", text)
    # The dimension is antitone in the features.
    assert all(after <= before for before, after in pairwise(as_they_are))
    words, random = numbers("word directions ", text), numbers("random directions ", text)
    weighted = numbers("word directions, weighted by frequency", text)
    # One coordinate of a random direction in m dimensions spreads as 1 / sqrt(m).
    growth = np.polyfit(np.log(sizes[-4:]), np.log(random[-4:]), 1)[0]
    assert growth == pytest.approx(1.0, abs=0.1)
    assert words[-1] < 0.8 * random[-1]
    assert weighted[0] > words[0]
    assert weighted[-1] < words[-1]
    rotated, before, _ = numbers("rotated at random:", text)
    assert before == words[-1]
    assert rotated == pytest.approx(random[-1], rel=0.15)


def check_select_features(text: str) -> None:
    kept = [float(part) for part in re.findall(r"^\d\. pixel +\d+: ([\d.]+)%", text, re.MULTILINE)]
    assert kept == sorted(kept)
    assert kept[-1] == 100.0
    greedy, variance = numbers("discriminability, greedy", text), numbers("variance", text)
    assert greedy[3] > variance[3]


def check_strings(text: str) -> None:
    whole = numbers(r"[\d,]+ words:", text)[0]
    at_random, by_length = numbers("as long, of random letters:", text)
    assert whole == pytest.approx(at_random, rel=0.25)
    assert 0.6 * whole < by_length < whole
    rows = re.findall(r"^(\d) letters, \d+ words: ([\d.]+), random letters ([\d.]+);", text, re.MULTILINE)
    assert [int(size) for size, *_ in rows] == [5, 6, 7, 8, 9]
    assert all(float(own) < 0.9 * float(other) for _, own, other in rows)


def check_texts(text: str) -> None:
    binary, count, tfidf, jaccard, angles = (
        numbers(name, text)[:3]
        for name in ("terms, binary", "terms, count", "terms, tfidf", "token sets, Jaccard", "tf-idf, angles")
    )
    assert binary[0] == pytest.approx(4.0, rel=0.1)  # a word that half of the texts have
    assert count[1] < count[0]
    assert tfidf[1] < tfidf[0]
    assert jaccard[1] > 1.3 * jaccard[0]
    assert angles[1] > angles[0]
    assert text.count("led by the ") == 2


def check_images(text: str) -> None:
    rows = {
        name: numbers(name, text)
        for name in ("pixels  ", "patches of 1 x 1", "patches of 3 x 3", "distances of pixels")
    }
    by_definition = paper.intrinsic_dimension(paper.algorithm_1(load_digits().data[:1000] / 16.0))
    digits, moved, alike, anew, noise = rows["pixels  "]
    assert digits == alike == round(by_definition, 3)
    assert moved > digits
    assert anew > 5 * digits
    assert noise == pytest.approx(digits, rel=0.05)
    single, patches = (rows[f"patches of {size} x {size}"] for size in (1, 3))
    assert single[0] == single[1] == single[2] == single[3] != single[4]
    assert patches[0] == patches[1] != patches[2]
    digits, _, alike, _, noise = rows["distances of pixels"]
    assert digits == alike
    assert noise > 1.5 * digits


def check_graph_distances(text: str) -> None:
    through, flat, paths, _ = numbers("noise 0.0:", text)
    assert paths == pytest.approx(flat, rel=0.1)
    assert through > 1.3 * flat
    _, flat, paths, _ = numbers("noise 1.2:", text)
    assert paths > 1.3 * flat
    world = [numbers(f" +{count} shortcuts:", text)[0] for count in (0, 10, 30, 100, 300)]
    assert world == sorted(world)
    page = (ROOT / "docs" / "examples.md").read_text(encoding="utf-8")
    assert re.search(rf"a ring of dimension 4 into a small world of\s+dimension {world[-1]:.0f}\.", page)
    # The distances from a node of a ring: 0 once, each of 1, ..., 149 four times, 150 three times.
    ring = np.repeat([0.0, *np.arange(1.0, 150.0), 150.0], [1, *[4] * 149, 3])[:, np.newaxis]
    by_definition = paper.intrinsic_dimension(paper.algorithm_1(ring / 150.0))
    assert world[0] == numbers("component:", text)[0] == round(by_definition, 2)
    assert "the graph has 2 components" in text


def check_feature_weights(text: str) -> None:
    assert text.count("each of them up: True") == 3
    corner = numbers("sum 1: the best corner is alcohol, Delta", text)[0]
    for budget in ("sum 1", "squares 1"):
        end = numbers(f"{budget}: Delta from", text)[1]
        assert end == pytest.approx(corner, rel=2e-3)
        assert numbers(f"{budget}: Delta from", text)[-1] == 1  # weight
    plain, equal = numbers("largest range: dimension", text)[:2]
    assert equal < numbers("largest range: descent reached", text)[0] < plain
    names = "equal weights", "sum 1", "squares 1"
    before, *after = (numbers(f"accuracy with {name}:", text)[0] for name in names)
    assert all(one < before - 0.1 for one in after)


def check_projection_pursuit(text: str) -> None:
    hidden = numbers("Delta along the hidden direction:", text)[0]
    begun, ended = (numbers(f"Delta {what}:", text) for what in ("along random directions", "reached"))
    assert hidden < ended[1]
    assert ended[0] > begun[0]
    assert begun[1] < hidden
    assert numbers("cosine with the hidden direction", text)[1] >= 1
    plain, own, given = (
        numbers(f"{name}: dimension", text)[0]
        for name in ("axes and random ones", "with its own ascent", "with these, too")
    )
    assert given < own <= plain


def check_hop_coefficients(text: str) -> None:
    curve = numbers("dimension of these words, step by step:", text)
    assert curve == sorted(curve, reverse=True)
    chosen = numbers("coefficients chosen by the dimension:", text)
    assert sum(chosen) == pytest.approx(1.0, abs=0.01)
    if "GraphDataset('cora'" in text:
        assert chosen[0] == max(chosen)
        names = "X alone", "chosen by the", "equal coefficients", "personalised PageRank", "last hop"
        rows = [numbers(name, text) for name in names]
        assert rows[0][0] == 6.252  # paper.tex, tab:k_hop_ids
        assert [row[0] for row in rows] == sorted(row[0] for row in rows)
        assert rows[0][1] < rows[1][1] < min(row[1] for row in rows[2:])
        assert numbers("all hops, as in SIGN", text)[0] == 3.662


def check_dimension_regulariser(text: str) -> None:
    rows = [numbers(rf"strength \{sign}:", text) for sign in ("+0.00", "+0.10", "-0.10")]
    assert all(row[2] < 0.0 for row in rows[1:])  # no gain
    assert rows[2][1] > 1.05 * rows[0][1]


CHECKS: dict[str, Callable[[str], None]] = {
    "plot_choose_hops": check_choose_hops,
    "plot_dimension_regulariser": check_dimension_regulariser,
    "plot_digits_graph": check_digits_graph,
    "plot_feature_weights": check_feature_weights,
    "plot_graph_distances": check_graph_distances,
    "plot_hop_coefficients": check_hop_coefficients,
    "plot_images": check_images,
    "plot_layer_dimension": check_layer_dimension,
    "plot_projection_pursuit": check_projection_pursuit,
    "plot_select_features": check_select_features,
    "plot_strings": check_strings,
    "plot_texts": check_texts,
    "plot_word_vectors": check_word_vectors,
}


# Those that train for long, and how they are done sooner: then they run, but do not show what they claim.
SHORTER = {
    "plot_choose_hops": (
        ("repetitions=3", "repetitions=2"),
        ("settings=SignSettings()", "settings=SignSettings(max_epochs=2)"),
    ),
    "plot_layer_dimension": (("EPOCHS = 45", "EPOCHS = 5"),),
    "plot_select_features": (
        ("load_digits(return_X_y=True)", "load_digits(n_class=3, return_X_y=True)"),
        ("SIZES = (1, 2, 4, 8, 16, 32)", "SIZES = (1, 2, 4, 8)"),
    ),
}


@pytest.mark.turns(2)
@pytest.mark.parametrize("name", SHORTER)
def test_runs_if_it_is_shorter(name: str, run: Callable[..., str]) -> None:
    assert run(ROOT / "examples" / f"{name}.py", *SHORTER[name])


@pytest.mark.turns(6)
@pytest.mark.parametrize(
    "example",
    [
        pytest.param(path, marks=[pytest.mark.slow] if path.stem in SHORTER else [], id=path.stem)
        for path in EXAMPLES
    ],
)
def test_runs_and_says_what_it_claims(example: Path, run: Callable[..., str]) -> None:
    if example.stem in NEEDS:
        package, reason = NEEDS[example.stem]
        pytest.importorskip(package, reason=reason)
    CHECKS[example.stem](run(example))


def test_every_example_is_listed() -> None:
    names = {path.stem for path in EXAMPLES}
    assert names == set(CHECKS)
    for page in ("examples/README.md", "docs/examples.md"):
        assert set(re.findall(r"plot_\w+(?=\.py)", (ROOT / page).read_text(encoding="utf-8"))) == names, page


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_form_of_a_gallery(example: Path) -> None:
    """A title underlined in the docstring, sections, and a figure shown at the end."""
    source = example.read_text(encoding="utf-8")
    _, title, rule, *_ = source.splitlines()
    assert rule == "=" * len(rule)
    assert len(rule) >= len(title)
    assert source.count("\n# %%\n") >= 3
    assert source.rstrip().endswith("plt.show()")
