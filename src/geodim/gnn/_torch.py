"""PyTorch, imported here and nowhere else, so that its absence is one clear error."""

from __future__ import annotations

from typing import TYPE_CHECKING

from geodim.optional import require

if TYPE_CHECKING:
    import torch
else:
    torch = require("torch", "gnn", "training SIGN models")

__all__ = ["torch"]
