"""Grids of runs: rows, resuming, and what is kept."""

from __future__ import annotations

import csv
import json
import signal
from dataclasses import asdict, replace

import pytest

from gnn.gnn_cases import SMALL, block_graph

torch = pytest.importorskip("torch", reason="SIGN needs PyTorch")

from geodim.errors import DataFileError, GeodimWarning, InputTypeError, InputValueError, InterruptedWarning
from geodim.gnn import SignRun, fit_sign, hop_inputs, load_model, run_grid, summarise_runs, write_runs
from geodim.gnn.records import RunStore
from geodim.gnn.runs import data_digest, run_seed
from geodim.locks import FolderLock

DATA = block_graph(nodes=150)
SHORT = replace(SMALL, max_epochs=6)


def grid(**options):
    return run_grid(DATA, **{"hops": [0, 2], "repetitions": 2, "settings": SHORT} | options)


def rows(runs):
    """Everything but the clock."""
    return [{**run.to_dict(), "seconds": 0} for run in runs]


@pytest.fixture(scope="module")
def whole():
    return grid()


def test_every_cell_is_a_training_of_its_own(whole):
    assert [(run.dataset, run.k, run.repetition) for run in whole] == [
        ("sbm", k, repetition) for k in (0, 2) for repetition in (0, 1)
    ]
    assert len({run.seed for run in whole}) == 4
    inputs = hop_inputs(DATA.x, DATA.edge_index, 2)
    for run in whole:
        alone = fit_sign(inputs, DATA.y, DATA.splits, run.k, settings=SHORT, seed=run.seed)
        assert run.seed == run_seed(0, run.k, run.repetition)
        assert (run.test_accuracy, run.valid_accuracy) == (alone.test_accuracy, alone.valid_accuracy)
        assert (run.epochs, run.best_epoch) == (alone.epochs, alone.best_epoch)
        assert run.n_parameters == alone.model.n_parameters
        assert run.torch == torch.__version__


def test_other_seeds_other_runs(whole):
    assert rows(grid(seed=1)) != rows(whole)
    assert rows(grid(hops=[2])) == rows(whole)[2:]  # a run does not depend on what else is in the grid


def test_streamed_the_same_rows(whole, tmp_path):
    assert rows(grid(memory=1)) == rows(whole)
    assert rows(grid(memory=1, checkpoint=tmp_path)) == rows(whole)
    assert (tmp_path / "hops" / "sbm" / "hop2.npy").is_file()


def interrupt_after(count, how):
    pressed = []

    def progress(done, total):
        assert total == 4
        if done == count and not pressed:
            pressed.append(done)
            how()

    return progress


def raise_interrupt():
    raise KeyboardInterrupt


@pytest.fixture
def ctrl_c():
    """Ctrl-C as in a terminal; a shell's background jobs ignore it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.parametrize("how", [raise_interrupt, lambda: signal.raise_signal(signal.SIGINT)])
def test_interrupted_and_resumed(whole, tmp_path, how, ctrl_c):
    with pytest.warns(
        InterruptedWarning, match="interrupted: 1 of 4 runs are finished; the same call continues"
    ):
        first = grid(checkpoint=tmp_path, progress=interrupt_after(1, how))
    assert rows(first) == rows(whole)[:1]
    assert [path.name for path in tmp_path.glob("*.json")] == ["sbm-k0-000.json"]
    again = grid(checkpoint=tmp_path)
    assert again[0] == first[0]  # to the last digit of its seconds: taken, not trained again
    assert rows(again) == rows(whole)
    assert grid(checkpoint=tmp_path) == again
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_more_repetitions_later(whole, tmp_path):
    one = grid(checkpoint=tmp_path, repetitions=1)
    two = grid(checkpoint=tmp_path)
    assert [two[0], two[2]] == one
    assert rows(two) == rows(whole)


def test_time_limit():
    with pytest.warns(InterruptedWarning, match="time limit: 0 of 4 runs are finished$"):
        assert grid(time_limit=0.0) == []


def test_another_job_is_refused(tmp_path):
    grid(checkpoint=tmp_path, hops=[0], repetitions=1)
    for options, what in (({"settings": SMALL}, "settings"), ({"seed": 3}, "seed")):
        with pytest.raises(DataFileError, match=f"trained with another {what}: choose another folder"):
            grid(checkpoint=tmp_path, **options)
    other = replace(DATA, y=DATA.y[::-1].copy())
    with pytest.raises(DataFileError, match="another data"):
        run_grid(other, [0], 1, settings=SHORT, checkpoint=tmp_path)


@pytest.mark.parametrize("content", ["", "{}", "[1]", '{"format": "other/1"}'])
def test_damaged_files_are_named(tmp_path, content):
    (tmp_path / "sbm-k0-000.json").write_text(content)
    with pytest.raises(DataFileError, match="sbm-k0-000"):
        grid(checkpoint=tmp_path)


def test_progress():
    seen = []
    runs = grid(progress=lambda *values: seen.append(values))
    assert {total for _, total in seen} == {4}
    done = [done for done, _ in seen]
    assert done == sorted(done)
    assert done[-1] == 4
    assert len(seen) == 1 + sum(run.epochs for run in runs) + 4


def test_models_are_kept_if_asked_for(tmp_path):
    runs = grid(checkpoint=tmp_path, keep_models=True, repetitions=1)
    inputs = hop_inputs(DATA.x, DATA.edge_index, 2)
    for run in runs:
        model = load_model(tmp_path / f"sbm-k{run.k}-000.npz")
        blocks = [torch.from_numpy(layer) for layer in inputs.layers[: run.k + 1]]
        right = model(blocks).argmax(1).numpy() == DATA.y
        assert right[DATA.splits["test"]].mean() == run.test_accuracy
    with pytest.raises(InputValueError, match="checkpoint"):
        grid(keep_models=True)


def test_tables(whole, tmp_path):
    write_runs(whole, tmp_path / "runs.json")
    write_runs(whole, tmp_path / "runs.csv")
    assert [SignRun.from_dict(row) for row in json.loads((tmp_path / "runs.json").read_text())] == whole
    with (tmp_path / "runs.csv").open(newline="") as stream:
        table = list(csv.DictReader(stream))
    assert [float(row["test_accuracy"]) for row in table] == [run.test_accuracy for run in whole]
    assert list(table[0]) == list(asdict(whole[0]))
    with pytest.raises(InputValueError, match=r"\.csv or \.json"):
        write_runs(whole, tmp_path / "runs.txt")
    for row, pair in zip(summarise_runs(whole), (whole[:2], whole[2:]), strict=True):
        one, two = (run.test_accuracy for run in pair)
        assert row["mean"] == pytest.approx((one + two) / 2)
        assert row["std"] == pytest.approx(abs(one - two) / 2**0.5)
    assert summarise_runs(whole[:1])[0]["std"] is None


def test_digest_sees_everything():
    digests = {
        data_digest(data)
        for data in (
            DATA,
            replace(DATA, x=DATA.x + 1),
            replace(DATA, y=DATA.y[::-1].copy()),
            replace(DATA, edge_index=DATA.edge_index[:, :-2]),
            replace(DATA, splits={**DATA.splits, "test": DATA.splits["test"][1:]}),
        )
    }
    assert len(digests) == 5


def test_bad_arguments():
    for options, message in (
        ({"hops": 3}, "range"),
        ({"hops": []}, "hops"),
        ({"hops": [1, 1]}, "different"),
        ({"hops": [-1]}, "hops"),
        ({"repetitions": 0}, "repetitions"),
        ({"device": "tpu"}, "device"),
    ):
        with pytest.raises(InputValueError, match=message):
            grid(**options)
    with pytest.raises(InputTypeError, match=r"hops must be a whole number, got 1\.5"):
        grid(hops=[0, 1.5])
    with pytest.raises(InputValueError, match="give settings yourself"):
        run_grid(DATA)
    with pytest.raises(InputValueError, match="no data set is called"):
        run_grid(["cora", "corra"])
    with pytest.raises(InputValueError, match="no labels or no splits"):
        run_grid(replace(DATA, splits={}), settings=SHORT)


# ---------------------------------------------------------------- runs that were edited, and folders in use


RUN = SignRun("cora", 1, 0, 7, 0.5, 0.6, 20, 5, 9, 1.0, "cpu", 2, "2.13")


@pytest.mark.parametrize(
    "change",
    [
        {"test_accuracy": 1.5}, {"test_accuracy": -0.1}, {"valid_accuracy": "0.5"}, {"test_accuracy": None},
        {"epochs": 2.5}, {"epochs": -1}, {"k": 2}, {"seed": 8}, {"dataset": "pubmed"}, {"threads": True},
        {"device": 3},
    ],
    ids=str,
)  # fmt: skip
def test_an_edited_run_is_refused(tmp_path, change):
    store, job = RunStore(tmp_path), {"seed": 7}
    store.save(RUN, job)
    path = store.path("cora", 1, 0)
    document = json.loads(path.read_text())
    assert store.load("cora", 1, 0, job) == RUN
    document["run"] |= change
    path.write_text(json.dumps(document))
    with pytest.raises(DataFileError, match=r"is damaged .*: delete it"):
        store.load("cora", 1, 0, job)


def test_a_run_of_another_version_is_done_again(tmp_path, monkeypatch):
    store, job = RunStore(tmp_path), {"seed": 7}
    store.save(RUN, job)
    monkeypatch.setattr("geodim.gnn.records.__version__", "99.0")
    with pytest.warns(GeodimWarning, match="was trained by geodim .*: trained again"):
        assert store.load("cora", 1, 0, job) is None


def test_a_folder_in_use(tmp_path):
    with (
        FolderLock(tmp_path, "test"),
        pytest.raises(DataFileError, match=r"folder of runs .* is in use by process"),
    ):
        grid(checkpoint=tmp_path)
