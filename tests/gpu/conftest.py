"""Tests that need an NVIDIA GPU.

Elsewhere they are skipped, and Triton interprets the kernels in tests/backends.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from engine import oracle


def pytest_collection_modifyitems(items):
    torch = pytest.importorskip("torch", reason="the CUDA backend needs PyTorch")
    if not torch.cuda.is_available():
        here = Path(__file__).parent
        for item in items:
            if item.path.parent == here:
                item.add_marker(pytest.mark.skip(reason="needs an NVIDIA GPU"))


@pytest.fixture(autouse=True)
def _on_the_gpu(monkeypatch):
    """The engine's own tests, on the device."""
    monkeypatch.setitem(oracle.OPTIONS, "backend", "cuda")
