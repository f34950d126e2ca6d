"""What all tests share: reproducible Hypothesis runs, and the folder with the real Planetoid files."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# The first call of a kernel compiles it, so single examples may take seconds. The default is the same on every run;
# HYPOTHESIS_PROFILE=explore looks for new examples, and longer.
_SHARED = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow, HealthCheck.data_too_large]}
settings.register_profile("geodim", derandomize=True, max_examples=100, **_SHARED)
settings.register_profile("explore", max_examples=1000, print_blob=True, **_SHARED)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "geodim"))

# Without a GPU Triton interprets the kernels, which it must know before anything imports it.
if not Path("/dev/nvidia0").exists():
    os.environ.setdefault("TRITON_INTERPRET", "1")

_PLANETOID = Path(
    os.environ.get("GEODIM_DATA") or Path(__file__).parents[1].parent / "shared" / "data" / "planetoid"
)


@pytest.fixture(scope="session")
def planetoid_root() -> Path:
    """The folder with the real Planetoid files."""
    if not (_PLANETOID / "Cora" / "raw" / "ind.cora.graph").is_file():
        pytest.skip(f"the real Planetoid files are not at {_PLANETOID} (set GEODIM_DATA)")
    return _PLANETOID
