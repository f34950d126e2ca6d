"""Training: learns, stops when it should, tests the weights it says, and leaves PyTorch as it was."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, strategies as st

from gnn.gnn_cases import SMALL, block_graph

torch = pytest.importorskip("torch", reason="SIGN needs PyTorch")

from geodim.errors import InputTypeError, InputValueError, ShapeError
from geodim.gnn import SIGN, EarlyStopping, HopInputs, fit_sign, hop_inputs, load_model, save_model
from geodim.gnn.training import choose_device

DATA = block_graph()
INPUTS = hop_inputs(DATA.x, DATA.edge_index, 2)


def fit(inputs=INPUTS, **options):
    return fit_sign(inputs, DATA.y, DATA.splits, **{"settings": SMALL} | options)


@given(st.lists(st.integers(0, 6), min_size=1, max_size=40), st.integers(1, 5))
def test_early_stopping_is_what_it_says(values, patience):
    """Stop after `patience` values in a row of which none exceeds all before them."""
    stopping, stopped_at = EarlyStopping(patience), None
    for t, value in enumerate(values, 1):
        stopping.update(value)
        if stopping.stopped:
            stopped_at = t
            break
    expected = next(
        (
            t
            for t in range(patience + 1, len(values) + 1)
            if max(values[t - patience : t]) <= max(values[: t - patience])
        ),
        None,
    )
    assert stopped_at == expected
    assert stopping.best == max(values[:stopped_at])


def test_learns_blocks():
    made = fit(seed=1)
    assert made.test_accuracy > 0.9
    assert made.losses[-1] < made.losses[0]
    assert 0.0 <= made.valid_accuracy <= 1.0


def test_hops_help_where_attributes_overlap():
    assert fit(hops=2).test_accuracy > fit(hops=0).test_accuracy + 0.1


def test_stops_by_patience_and_by_epochs():
    made = fit(settings=replace(SMALL, patience=4))
    assert made.best_epoch == np.argmax(made.valid_accuracies) + 1  # the first of equal ones
    assert made.valid_accuracy == max(made.valid_accuracies)
    assert made.epochs == made.best_epoch + 4 == len(made.losses) == len(made.valid_accuracies)
    assert fit(settings=replace(SMALL, max_epochs=3)).epochs == 3


def test_the_test_nodes_have_no_say():
    """Other labels and other features of the test nodes change the test accuracy, and nothing before it."""
    plain = fit()
    y = DATA.y.copy()
    y[DATA.splits["test"]] = (y[DATA.splits["test"]] + 1) % 3
    other = fit_sign(INPUTS, y, DATA.splits, settings=SMALL)
    assert weights(other) == weights(plain)
    assert other.valid_accuracies == plain.valid_accuracies
    assert other.test_accuracy < 0.1
    assert plain.test_accuracy > 0.9
    layers = [layer.copy() for layer in INPUTS.layers]
    for layer in layers:
        layer[DATA.splits["test"]] = 0.0
    assert weights(fit(HopInputs(layers, INPUTS.nodes, INPUTS.n_nodes))) == weights(plain)


def test_the_validation_nodes_only_end_the_training():
    y = DATA.y.copy()
    y[DATA.splits["valid"]] = (y[DATA.splits["valid"]] + 1) % 3
    plain, other = fit(), fit_sign(INPUTS, y, DATA.splits, settings=SMALL)
    common = min(plain.epochs, other.epochs)
    assert plain.losses[:common] == other.losses[:common]
    assert max(other.valid_accuracies[-5:]) < 0.1
    assert plain.valid_accuracy > 0.9


def test_last_and_best_weights():
    """The best weights are those of a training that ends with the best epoch."""
    best = fit(settings=replace(SMALL, tested="best"))
    last = fit()
    cut = fit(settings=replace(SMALL, max_epochs=best.best_epoch))
    assert last.losses == best.losses
    assert weights(best) == weights(cut) != weights(last)
    assert best.test_accuracy == cut.test_accuracy


def weights(made):
    return [tensor.tolist() for tensor in made.model.state_dict().values()]


def test_same_seed_same_bits_and_another_seed_another_model():
    one, two, other = fit(seed=7), fit(seed=7), fit(seed=8)
    assert weights(one) == weights(two) != weights(other)
    assert (one.losses, one.test_accuracy) == (two.losses, two.test_accuracy)
    assert one.losses != other.losses


def test_streamed_the_same_bits(tmp_path):
    streamed = hop_inputs(DATA.x, DATA.edge_index, 2, folder=tmp_path / "hops")
    one, other = fit(), fit(streamed, memory=0)
    assert weights(one) == weights(other)
    assert one.test_accuracy == other.test_accuracy


def test_pytorch_is_left_as_it_was():
    before, threads = torch.get_rng_state(), torch.get_num_threads()
    assert fit(n_threads=threads + 1).threads == threads + 1
    assert torch.equal(torch.get_rng_state(), before)
    assert torch.get_num_threads() == threads

    def give_up(epoch, loss, accuracy):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fit(on_epoch=give_up)
    assert torch.equal(torch.get_rng_state(), before)
    assert torch.get_num_threads() == threads
    torch.rand(3)  # a draw in between changes nothing either
    assert fit().losses == fit().losses


def test_every_setting_changes_the_training():
    plain = fit(settings=replace(SMALL, max_epochs=4)).losses
    for change in (
        {"hidden": 9},
        {"input_dropout": 0.2},
        {"dropout": 0.2},
        {"learning_rate": 0.02},
        {"weight_decay": 0.1},
        {"batch_size": 31},
    ):
        assert fit(settings=replace(SMALL, max_epochs=4, **change)).losses != plain, change


def test_adam_and_adamw():
    """They differ in the weight decay, and in nothing else."""
    short = replace(SMALL, max_epochs=4)
    assert fit(settings=short).losses != fit(settings=replace(short, optimizer="adamw")).losses
    none = replace(short, weight_decay=0.0)
    assert fit(settings=none).losses == fit(settings=replace(none, optimizer="adamw")).losses


def test_one_step_of_adam_by_hand():
    """One batch, no dropout.

    The first step of Adam moves every weight by the learning rate, against its gradient.
    """
    short = replace(SMALL, max_epochs=1, batch_size=100, input_dropout=0.0, dropout=0.0, weight_decay=0.0)
    made = fit(settings=short, seed=3)
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(3)
        model = SIGN(6, 3, 2, hidden=8, input_dropout=0.0, dropout=0.0)
    nodes = DATA.splits["train"]
    output = model([torch.from_numpy(layer[nodes]) for layer in INPUTS.layers])
    loss = torch.nn.functional.cross_entropy(output, torch.from_numpy(DATA.y[nodes]))
    loss.backward()
    assert made.losses == [pytest.approx(loss.item(), rel=1e-6)]
    checked = 0
    for before, after in zip(model.parameters(), made.model.parameters(), strict=True):
        # Batch norm makes the gradient of the biases before it 0, but for rounding.
        clear = before.grad.abs() > 1e-5
        step = -0.01 * before.grad[clear].sign()
        assert torch.allclose(after[clear] - before[clear], step, atol=2e-5)
        checked += int(clear.sum())
    assert checked > 200


def test_progress_of_the_epochs():
    seen = []
    made = fit(on_epoch=lambda *values: seen.append(values))
    assert seen == list(zip(range(1, made.epochs + 1), made.losses, made.valid_accuracies, strict=True))


def test_saved_and_loaded(tmp_path):
    made = fit()
    save_model(made.model, tmp_path / "model.npz")
    again = load_model(tmp_path / "model.npz")
    assert not again.training
    blocks = [torch.from_numpy(layer) for layer in INPUTS.layers]
    with torch.no_grad():
        assert torch.equal(again(blocks), made.model(blocks))
    right = again(blocks).argmax(1).numpy()[DATA.splits["test"]] == DATA.y[DATA.splits["test"]]
    assert right.mean() == made.test_accuracy
    assert list(tmp_path.iterdir()) == [tmp_path / "model.npz"]


@pytest.mark.parametrize("content", [b"", b"nothing of the kind", None])
def test_no_model_in_the_file(tmp_path, content):
    from geodim.errors import DataFileError

    if content is not None:
        (tmp_path / "model.npz").write_bytes(content)
    with pytest.raises(DataFileError, match=r"model\.npz"):
        load_model(tmp_path / "model.npz")


def test_devices():
    assert choose_device("cpu").type == "cpu"
    assert choose_device("auto").type == ("cuda" if torch.cuda.is_available() else "cpu")
    for wrong in ("gpu", "cuda:", "cuda:x", "cpu:1", ""):
        with pytest.raises(InputValueError, match="device must be"):
            choose_device(wrong)
    with pytest.raises(InputTypeError, match="device"):
        choose_device(0)


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a CUDA device")
def test_cuda_asked_for_and_absent():
    with pytest.raises(InputValueError, match="finds no CUDA device; use 'cpu' or 'auto'"):
        fit(device="cuda")


@pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no CUDA device")
def test_on_cuda():
    before = torch.cuda.get_rng_state()
    one, two = fit(device="cuda"), fit(device="auto")
    assert weights(one) == weights(two)
    assert torch.equal(torch.cuda.get_rng_state(), before)
    assert one.model.activation.weight.device.type == "cuda"
    assert one.test_accuracy > 0.85
    assert weights(fit(device="cuda", memory=0)) == weights(one)
    with pytest.raises(InputValueError, match="CUDA devices, from 0 on"):
        fit(device="cuda:99")


def test_bad_arguments():
    with pytest.raises(InputValueError, match="hops must be at most 2"):
        fit(hops=3)
    with pytest.raises(ShapeError, match="labels have shape"):
        fit_sign(INPUTS, DATA.y[:-1], DATA.splits)
    with pytest.raises(InputTypeError, match="whole numbers"):
        fit_sign(INPUTS, DATA.y * 0.5, DATA.splits)
    with pytest.raises(InputValueError, match="no node has a label"):
        fit_sign(INPUTS, DATA.y * 0 - 1, DATA.splits)
