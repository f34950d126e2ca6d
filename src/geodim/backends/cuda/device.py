"""The device in use: Triton launches kernels on PyTorch's current device, wherever the tensors are."""

from __future__ import annotations

import threading
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any

from geodim.engine.parts import in_parts
from geodim.optional import require

if TYPE_CHECKING:
    import torch
    from numpy.typing import NDArray
else:
    torch = require("torch", "gpu", "the CUDA backend")


MUCH = 1 << 25  # values
PINNED = 1 << 20  # values of a buffer
FETCHING = 4  # threads, each with a pinned buffer: one empties its buffer while the device fills others


def current(device: torch.device) -> AbstractContextManager[object]:
    """Make a GPU the current one within the context; does nothing where Triton interprets the kernels."""
    return torch.cuda.device(device) if device.type == "cuda" else nullcontext()


def free_memory(device: torch.device) -> int:
    """Return the bytes that can be allocated on the device; plenty where Triton interprets the kernels."""
    if device.type != "cuda":
        return 1 << 40
    held = torch.cuda.memory_reserved(device) - torch.cuda.memory_allocated(device)
    return int(torch.cuda.mem_get_info(device)[0]) + held


def resident(device: torch.device, each: int) -> int:
    """Return how many programs run at a time, given those per multiprocessor; 2 if Triton interprets them."""
    if device.type != "cuda":
        return 2
    return each * int(torch.cuda.get_device_properties(device).multi_processor_count)


def sent(array: NDArray[Any], device: torch.device) -> torch.Tensor:
    """Return a few numbers on the device, without waiting for its other work."""
    tensor = torch.from_numpy(array)
    return tensor.pin_memory().to(device, non_blocking=True) if device.type == "cuda" else tensor


def release(device: torch.device) -> None:
    """Release the memory that PyTorch keeps for later."""
    if device.type == "cuda":
        torch.cuda.empty_cache()


def fetch(values: torch.Tensor, out: NDArray[Any], n_threads: int) -> None:
    """Copy a tensor to the host; a large one through pinned buffers, in a third of the time."""
    target = torch.from_numpy(out)
    if values.device.type != "cuda" or values.numel() <= MUCH:
        target.copy_(values)
        return
    own = threading.local()

    def copy(part: slice) -> None:
        if not hasattr(own, "buffer"):
            own.buffer = torch.empty(PINNED, dtype=values.dtype, pin_memory=True)
        buffer = own.buffer[: part.stop - part.start]
        buffer.copy_(values[part])
        target[part] = buffer

    in_parts(copy, values.numel(), min(n_threads, FETCHING), PINNED)
