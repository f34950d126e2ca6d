"""What was typed wrong exits with 2 before any data is read, and messages name options as they are typed."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np
import pytest

from cli.running import called
from geodim.cli.wording import OPTIONS, as_typed

if TYPE_CHECKING:
    from pathlib import Path

ABSENT = ["absent.npy"]
GRAPH = ["--features", "absent.npy", "--edges", "absent.csv"]


def shown(text: str) -> str:
    """A message without the frame that typer draws around it."""
    return " ".join(re.sub(r"[│╭╮╰╯─]", " ", text).split())


@pytest.mark.parametrize(
    ("words", "option"),
    [
        (["compute", *ABSENT, "--metric", "cosine"], "--metric is for --features distances"),
        (["compute", *ABSENT, "--features", "distances", "--metric", "bogus"], "unknown metric 'bogus'"),
        (
            ["compute", *ABSENT, "--features", "distances", "--metric", "minkowski"],
            "--metric minkowski is for",
        ),
        (["compute", *ABSENT, "--landmarks", "3"], "--landmarks is for"),
        (["compute", *ABSENT, "--features", "bogus"], "--features"),
        (["compute", *ABSENT, "--scale", "bogus"], "--scale must be one of"),
        (["compute", *ABSENT, "--features", "distances", "--scale", "range"], "--scale"),
        (["compute", *ABSENT, "--features", "distances", "--count-duplicates"], "--count-duplicates"),
        (["compute", *ABSENT, "--features", "terms", "--weighting", "x"], "--weighting must be one of"),
        (
            [
                "compute",
                *ABSENT,
                "--features",
                "distances",
                "--metric",
                "shortest_path",
                "--disconnected",
                "x",
            ],
            "--disconnected must be one of",
        ),
        (["compute", *ABSENT, "--plot", "x.xyz"], "must end in .png"),
        (["compute", *ABSENT, "--report", "x.pdf"], "must end in .html"),
        (["compute", *ABSENT, "--rtol", "inf"], "--rtol"),
        (["hops", *GRAPH, "--operator", "ppr", "--alpha", "5"], "--alpha must be above 0"),
        (["hops", *GRAPH, "--operator", "heat", "--t", "-1"], "--t must be at least 0"),
        (["hops", *GRAPH, "--count-duplicates", "--checkpoint", "state"], "--count-duplicates"),
        (["select", *ABSENT, "--features", "bogus"], "-m"),
        (["select", *ABSENT, "--features", "distances", "--scale", "range"], "--scale"),
        (["binary", "absent.dat", "--scale", "range"], "--scale must be one of none, global"),
        (["binary", "absent.dat", "--min-support", "2.5"], "--min-support must be at least 0"),
        (["compare", "a.npy", "b.npy", "--features", "bogus"], "--features"),
        (["compare", "a.npy", "b.npy", "--metric", "cosine"], "--metric is for --features distances"),
        (["compare", "a.npy", "b.npy", "--features", "terms"], "geodim compute"),
        (["subsample", *ABSENT, "--sizes", "1"], "--sizes"),
        (["subsample", *ABSENT, "--features", "distances", "--metric", "bogus"], "unknown metric"),
        (["estimators", "nope"], "there is no file of this name, and no data set is called 'nope'"),
        (["report", "absent.json", "-o", "x.txt"], "must end in .html"),
    ],
)
def test_wrong_words_exit_with_2(words: list[str], option: str) -> None:
    ended = called(*words)
    assert (ended.code, ended.out) == (2, "")
    assert option in shown(ended.err)
    assert not re.search(r"\b\w+='", ended.err)  # arguments of Python


def test_messages_about_data_name_options(tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", np.random.default_rng(0).random((80, 3)))
    (tmp_path / "t.csv").write_text("a,b,name\n1,2,x\n3,4,y\n")
    (tmp_path / "count.csv").write_text("0,1\n2,3\n5,5\n")
    for words, message in (
        (["compute", "t.csv"], "what is not a feature (--exclude), encode"),
        (["compute", "count.csv"], "may be names or a point; say which: --header or --no-header"),
        (["compute", "x.npy", "--scale", "1,2"], "there are 3 features but 2 units in --scale"),
        (["compute", "x.npy", "--backend", "dask"], "--scheduler"),
        (["select", "x.npy", "-m", "9"], "-m must be at most 3"),
        (["compare", "x.npy", "x.npy", "--points", "500"], "--points must be at most 80"),
        (["subsample", "x.npy", "--sizes", "500"], "--sizes must be at most 79"),
    ):
        ended = called(*(tmp_path / word if word.endswith((".npy", ".csv")) else word for word in words))
        assert ended.code in (2, 3, 4)
        assert message in shown(ended.err)


def test_unions_are_compared(tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", np.random.default_rng(0).random((40, 2)))
    ended = called(
        "compare",
        tmp_path / "x.npy",
        tmp_path / "x.npy",
        "--repeats",
        "1",
        "--features",
        "coordinates,distances",
    )
    assert (ended.code, ended.err) == (0, "")


@pytest.mark.parametrize(
    ("said", "typed"),
    [
        ("use backend='cpu', which gives the same", "use --backend cpu, which gives the same"),
        ("with rtol=0.01 points are only counted", "with --rtol 0.01 points are only counted"),
        ("take scale='range', 'std' or 'rank'", "take --scale range, 'std' or 'rank'"),
        ("a larger min_support or more time", "a larger --min-support or more time"),
        ("draw more of them (repeats), and", "draw more of them (--repeats), and"),
        ("leave it out (exclude 0)", "leave it out (--exclude 0)"),
        ("dtype='float64', or rescale them", "--dtype float64, or rescale them"),
        ("leave them out (drop_missing=True)", "leave them out (--drop-missing)"),
        ('each by its own range: scale="range" (--scale range).', "each by its own range: --scale range."),
        ("Ask for a smaller rtol; with landmarks", "Ask for a smaller --rtol; with landmarks"),
        ("column 3 ('scale') is nan", "column 3 ('scale') is nan"),
        ("the features must be numbers", "the features must be numbers"),
        ("", ""),
    ],
)
def test_as_typed(said: str, typed: str) -> None:
    assert as_typed(said) == typed


def test_options_exist() -> None:
    """Every option that messages may name is one of a command."""
    pages = "".join(
        called(command, "--help", COLUMNS="200", TERMINAL_WIDTH="200").out
        for command in ("compute", "hops", "select", "binary", "compare", "subsample")
    )
    for option in OPTIONS.values():
        assert re.search(rf"{option}\b", pages)
