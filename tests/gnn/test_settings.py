"""The paper's parameters, as its appendix states them."""

from __future__ import annotations

import subprocess
import sys

import pytest

from geodim.data.datasets import list_datasets
from geodim.errors import InputTypeError, InputValueError
from geodim.gnn import SignSettings, estimate_cost, paper_settings
from geodim.gnn.settings import paper_task
from published import published, root_of

# Appendix "Setup of SIGN classifiers": hidden, dropout at the input, dropout at the hidden layer,
# learning rate, batch size.
APPENDIX = {
    "Cora": (64, 0.5, 0.5, 0.01, 256),
    "CiteSeer": (64, 0.5, 0.5, 0.01, 256),
    "PubMed": (64, 0.5, 0.5, 0.01, 256),
    "ogbn-arxiv": (512, 0.1, 0.5, 0.001, 50_000),
    "ogbn-mag": (512, 0.0, 0.5, 0.001, 50_000),
    "ogbn-products": (512, 0.3, 0.4, 0.001, 50_000),
}


@pytest.mark.parametrize("name", APPENDIX)
def test_as_in_the_appendix(name):
    made = paper_settings(name)
    stated = (made.hidden, made.input_dropout, made.dropout, made.learning_rate, made.batch_size)
    assert stated == APPENDIX[name]
    assert (made.weight_decay, made.max_epochs, made.patience) == (0.0001, 1000, 15)


@pytest.mark.parametrize("name", ["cora", "citeseer", published("pubmed")])
def test_sizes_of_the_tasks(name):
    from geodim.data.datasets import load_dataset

    data, task = load_dataset(name, root=root_of(name), offline=True), paper_task(name)
    assert task.classes == data.y.max() + 1
    assert {part: len(nodes) for part, nodes in data.splits.items()} == {
        "train": task.train,
        "valid": task.valid,
        "test": task.test,
    }


def test_other_data_sets_have_none():
    others = {info.name for info in list_datasets()} - {name.lower() for name in APPENDIX}
    assert "ogbn-papers100M" in others
    for name in others:
        with pytest.raises(InputValueError, match="give settings yourself"):
            paper_settings(name)


@pytest.mark.parametrize(
    "wrong",
    [
        {"hidden": 0},
        {"batch_size": 1},
        {"max_epochs": 0},
        {"dropout": 1.0},
        {"input_dropout": -0.1},
        {"weight_decay": float("nan")},
        {"learning_rate": 0.0},
        {"optimizer": "sgd"},
        {"tested": "first"},
    ],
)
def test_bad_settings(wrong):
    with pytest.raises(InputValueError, match=next(iter(wrong))):
        SignSettings(**wrong)


@pytest.mark.parametrize(
    "wrong", [{"hidden": 2.5}, {"patience": True}, {"dropout": "0.5"}, {"learning_rate": None}]
)
def test_settings_of_another_kind(wrong):
    with pytest.raises(InputTypeError, match=next(iter(wrong))):
        SignSettings(**wrong)


def test_cost():
    small = estimate_cost("cora", [1], 1)
    assert small.runs == 1
    assert 0 < small.seconds < estimate_cost("cora", [1, 2], 1).seconds < estimate_cost("cora").seconds
    assert small.disk == 0
    # 2 x 2640 rows of 1433 float32 for hops 0 and 1: the layers, and what is held on the device.
    assert small.memory == 2 * (140 + 500 + 1000) * 1433 * 2 * 4
    streamed = estimate_cost("ogbn-products", memory=1 << 30)
    assert streamed.disk == 2_449_029 * 100 * 6 * 4
    assert streamed.memory == 2 << 30


LAZY = """
import sys
import geodim
geodim.gnn.estimate_cost("cora"), geodim.gnn.paper_settings("cora")
geodim.gnn.hop_inputs, geodim.gnn.summarise_runs
assert "torch" not in sys.modules
sys.modules["torch"] = None
for name in ("SIGN", "fit_sign", "run_grid", "load_model"):
    try:
        getattr(geodim.gnn, name)
    except geodim.errors.MissingExtraError as error:
        assert "geodim[gnn]" in str(error), error
    else:
        raise SystemExit(name + " came without PyTorch")
print(len(set(dir(geodim.gnn)) ^ set(geodim.gnn.__all__)))
"""


def test_pytorch_only_when_needed_and_a_clear_word_without_it():
    ended = subprocess.run([sys.executable, "-c", LAZY], check=True, capture_output=True, text=True)
    assert ended.stdout.strip() == "0"
