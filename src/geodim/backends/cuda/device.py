"""The device in use: Triton launches its kernels on PyTorch's current one, wherever the tensors are."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING

from geodim.optional import require

if TYPE_CHECKING:
    import torch
else:
    torch = require("torch", "gpu", "the CUDA backend")


def current(device: torch.device) -> AbstractContextManager[object]:
    """Make a GPU the current one for a while; does nothing where Triton interprets the kernels."""
    return torch.cuda.device(device) if device.type == "cuda" else nullcontext()


def free_memory(device: torch.device) -> int:
    """Bytes that can be allocated on the device; plenty where Triton interprets the kernels."""
    if device.type != "cuda":
        return 1 << 40
    held = torch.cuda.memory_reserved(device) - torch.cuda.memory_allocated(device)
    return int(torch.cuda.mem_get_info(device)[0]) + held


def release(device: torch.device) -> None:
    """Give back what PyTorch keeps for later."""
    if device.type == "cuda":
        torch.cuda.empty_cache()
