"""Gradients of tensors on the device: value and gradient are those of the processor, and stay there."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch", reason="gradients need PyTorch")

from geodim.torch import discriminability, hop_features, intrinsic_dimension_loss

GRAPH = torch.stack([torch.arange(300), (torch.arange(300) + 1) % 300])  # a circle
OPTIONS = {
    "coordinates": {},
    "in units of its own": {"scale": "none"},
    "distances": {"features": "distances"},
    "landmarks": {"features": "distances", "metric": "manhattan", "landmarks": [0, 3]},
    "hops": {"features": "hops", "graph": GRAPH, "hops": 2},
}


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
def test_same_as_on_the_processor(options, dtype):
    X = torch.randn(300, 6, dtype=dtype, generator=torch.Generator().manual_seed(0))
    here, there = X.clone().requires_grad_(), X.cuda().requires_grad_()
    value = discriminability(there, **options)
    expected = discriminability(here, **options)
    value.backward()
    expected.backward()
    assert value.is_cuda
    assert there.grad.is_cuda
    assert value.item() == expected.item()
    assert torch.equal(there.grad.cpu(), here.grad)


def test_a_step_of_training():
    """A layer on the device learns to lower the dimension of what it makes."""
    torch.manual_seed(0)
    layer = torch.nn.Linear(6, 4, bias=False).cuda()
    X = torch.randn(400, 6, device="cuda")
    optimiser = torch.optim.SGD(layer.parameters(), lr=1e-3)
    losses = []
    for _ in range(8):
        optimiser.zero_grad()
        loss = intrinsic_dimension_loss(layer(X))
        loss.backward()
        optimiser.step()
        losses.append(loss.item())
    assert losses[-1] < losses[0]


def test_coefficients_of_hops():
    coefficients = torch.ones(3, device="cuda", dtype=torch.float64, requires_grad=True)
    X = torch.randn(300, 5, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    hops = hop_features(X, GRAPH, 2)
    made = sum(a * one.cuda() for a, one in zip(coefficients, hops, strict=True))
    discriminability(made, scale="none").backward()
    assert coefficients.grad.is_cuda
    assert torch.all(torch.isfinite(coefficients.grad))
