"""The model against literal computations of its formula."""

from __future__ import annotations

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="SIGN needs PyTorch")

from geodim.errors import InputValueError, ShapeError
from geodim.gnn import SIGN

D, H, C, K, N = 5, 4, 3, 2, 11


@pytest.fixture
def model():
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(3)
        model = SIGN(D, C, K, hidden=H, input_dropout=0.3, dropout=0.6)
        for norm in model.norms:  # as after a training, so that nothing hides behind ones and zeros
            for tensor in (norm.weight.data, norm.bias.data, norm.running_mean):
                tensor.normal_()
            norm.running_var.uniform_(0.5, 2.0)
        model.activation.weight.data.fill_(0.1)
    return model


@pytest.fixture
def features():
    return list(np.random.default_rng(4).normal(size=(K + 1, N, D)).astype(np.float32))


def literal(model, features, *, of_batch):
    """The formula in float64, with numpy and loops.

    Batch norm has the batch's own or the running statistics.
    """
    state = {name: value.double().numpy() for name, value in model.state_dict().items()}
    hidden = []
    for r in range(K + 1):
        z = features[r].astype(float) @ state[f"inception.{r}.weight"].T + state[f"inception.{r}.bias"]
        mean = z.mean(axis=0) if of_batch else state[f"norms.{r}.running_mean"]
        variance = z.var(axis=0) if of_batch else state[f"norms.{r}.running_var"]
        z = (z - mean) / np.sqrt(variance + 1e-5) * state[f"norms.{r}.weight"] + state[f"norms.{r}.bias"]
        hidden.append(z)
    z = np.concatenate(hidden, axis=1)
    z = np.where(z >= 0, z, state["activation.weight"] * z)
    return z @ state["classification.weight"].T + state["classification.bias"]


def test_inference_is_the_formula(model, features):
    with torch.no_grad():
        logits = model.eval()([torch.from_numpy(block) for block in features])
    np.testing.assert_allclose(logits.numpy(), literal(model, features, of_batch=False), atol=1e-5)


def test_training_uses_the_statistics_of_the_batch(model, features):
    model.input_dropout.p = model.dropout.p = 0.0
    with torch.no_grad():
        logits = model.train()([torch.from_numpy(block) for block in features])
    np.testing.assert_allclose(logits.numpy(), literal(model, features, of_batch=True), atol=1e-5)


def test_dropout_at_the_input_and_at_the_hidden_layer(model, features):
    """The same random numbers through plain functions, in the order of the formula."""
    F = torch.nn.functional
    blocks = [torch.from_numpy(block) for block in features]
    with torch.no_grad(), torch.random.fork_rng(devices=[]):
        torch.manual_seed(8)
        hidden = []
        for r, block in enumerate(blocks):
            z = F.linear(F.dropout(block, 0.3), model.inception[r].weight, model.inception[r].bias)
            hidden.append(
                F.batch_norm(z, None, None, model.norms[r].weight, model.norms[r].bias, training=True)
            )
        z = F.dropout(F.prelu(torch.cat(hidden, 1), model.activation.weight), 0.6)
        expected = F.linear(z, model.classification.weight, model.classification.bias)
        torch.manual_seed(8)
        assert torch.equal(model.train()(blocks), expected)


@pytest.mark.parametrize(("d", "c", "k", "h"), [(1433, 7, 0, 64), (5, 3, 2, 4), (128, 349, 5, 512)])
def test_number_of_parameters(d, c, k, h):
    by_hand = (k + 1) * (d * h + h + 2 * h) + 1 + (k + 1) * h * c + c
    assert SIGN(d, c, k, hidden=h).n_parameters == by_hand


def test_bad_arguments(model, features):
    with pytest.raises(ShapeError, match="2 hops takes 3 blocks, got 1"):
        model([torch.from_numpy(features[0])])
    with pytest.raises(InputValueError, match="hops must be at least 0"):
        SIGN(4, 2, -1)
    with pytest.raises(InputValueError, match="n_attributes must be at least 1"):
        SIGN(0, 2, 1)
