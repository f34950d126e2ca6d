"""All tests of the exact engine against the paper's definitions, solved on the GPU."""

from __future__ import annotations

from engine.test_exact import *
