"""The whole test matrix of the exact engine, against the paper's definitions, with every column solved on the GPU."""

from __future__ import annotations

from engine.test_exact import *
