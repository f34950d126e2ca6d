"""Numbers on the command line that nobody means: refused by their size, at once."""

from __future__ import annotations

import time

import numpy as np
import pytest

import geodim
from cli.running import called
from geodim.baselines import khop_points
from geodim.cli.hop_inputs import parse_memory
from geodim.data.datasets import load_dataset
from geodim.errors import GeodimError, MachineMemoryError

LONG = "9" * 400


@pytest.fixture(autouse=True, scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("numbers")
    rng = np.random.default_rng(0)
    np.save(folder / "x.npy", rng.normal(size=(40, 3)))
    np.save(folder / "e.npy", rng.integers(0, 40, (2, 80)))
    return folder


HOPS = "hops --features x.npy --edges e.npy"
WRONG = [
    "reproduce random --dry-run --points 9^999999999",
    "reproduce random --dry-run --points 1e999999999",
    "reproduce random --dry-run --points " + "1," * 1000 + "1",
    f"reproduce random --dry-run --features {LONG}",
    "reproduce random --dry-run --repetitions 1000000000",
    "reproduce random --dry-run --threads 1000000000",
    f"reproduce random --dry-run --memory {LONG}GB",
    "compute --dry-run --points inf --features 3",
    "compute --dry-run --points 1e308 --features 3",
    "compute --dry-run --points 10 --features 1e400",
    "compute x.npy --dry-run --workers 1000000000 --worker-memory 1GB",
    f"compute x.npy --dry-run --workers 2 --worker-memory {LONG}",
    f"compute x.npy --dry-run --memory {LONG}",
    "compute x.npy --threads 1000000000",
    f"compute x.npy --threads {LONG}",
    f"compute x.npy --columns 0-{LONG}",
    "compute x.npy --rtol nan",
    "compute x.npy --time-limit nan",
    "select x.npy -m 1000000000",
    "select x.npy --fraction nan",
    f"{HOPS} --hops 100000000",
    "HOPS --hops 1000000000000".replace("HOPS", HOPS),
    f"{HOPS} --threads 1000000000",
    f"{HOPS} --operator heat --order 1000000000",
    f"{HOPS} --operator ppr --order {LONG}",
    f"{HOPS} --operator ppr --alpha 1e-320",
    f"{HOPS} --operator heat --t 1e308",
    "compare x.npy --edges e.npy --hops 1000000000",
    "compare x.npy --threads 1000000000",
]


@pytest.mark.parametrize("line", WRONG, ids=lambda line: line[:70])
def test_a_number_that_nobody_means(files, monkeypatch, line):
    monkeypatch.chdir(files)
    began = time.monotonic()
    ended = called(*line.split())
    assert ended.code in (2, 3), ended.err
    assert "unexpected" not in ended.err
    assert time.monotonic() - began < 30.0


def test_sizes_of_plans_may_be_large(files):
    ended = called("compute", "--dry-run", "--points", "1e9", "--features", "1e9", "--memory", "16GB")
    assert ended.code == 3  # does not fit
    assert ended.json["n_points"] == 10**9


def test_as_many_hops_as_fit(files):
    X, edges = np.load(files / "x.npy"), np.load(files / "e.npy")
    with pytest.raises(MachineMemoryError, match="999,999 hops over 40 nodes needs"):
        khop_points(np.tile(X, 1000), edges, 999_999)
    with pytest.raises(GeodimError, match="at most 1,000,000"):
        geodim.khop_dimensions(X, edges, 10**5000)
    with pytest.raises(GeodimError, match="n_threads must be at most"):
        geodim.khop_dimensions(X, edges, 1, n_threads=10**9)


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("rmat", {"nodes": 10**15}),
        ("rmat", {"edges": 10**15}),
        ("sbm", {"nodes": 10**15}),
        ("sbm", {"attributes": 10**15}),
    ],
)
def test_generated_graphs_beyond_the_memory(name, options):
    with pytest.raises(MachineMemoryError):
        load_dataset(name, **options)


def test_a_size_in_words_has_an_end():
    assert parse_memory("1.5 GiB") == 1610612736
    for text in (LONG, f"{LONG}TiB", "0", "0.1"):
        with pytest.raises(Exception, match="not a size"):
            parse_memory(text)
