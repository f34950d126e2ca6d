"""What a fresh process loads for a small answer: neither the compiler nor anything else that is slow."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import pytest

SLOW = {
    "dask", "llvmlite", "matplotlib", "narwhals", "numba", "pandas", "plotly", "polars", "pyarrow", "scipy",
    "sklearn", "torch",
}  # fmt: skip
SMALL = "import numpy as np; X = np.random.default_rng(0).normal(size=(1000, 16)); import geodim\n"
THREE_CALLS = """
geodim.intrinsic_dimension(X).dimension
geodim.intrinsic_dimension(X, removal=True).to_dict()
repr(geodim.intrinsic_dimension(X)); geodim.intrinsic_dimension(X).gauge
"""
TELL = "\nimport json, sys; print(json.dumps(sorted({name.partition('.')[0] for name in sys.modules})))"


def loaded(code: str) -> set[str]:
    """The packages that a process of its own has loaded by the end."""
    done = subprocess.run([sys.executable, "-c", code + TELL], capture_output=True, text=True, check=True)
    return set(json.loads(done.stdout.splitlines()[-1]))


@pytest.mark.parametrize(
    ("call", "needed"),
    [
        (THREE_CALLS, set()),
        ("geodim.IntrinsicDimension().fit(X).dimension_", {"scipy", "sklearn"}),
    ],
)
def test_a_small_call(call, needed):
    found = loaded(SMALL + call)
    assert "geodim" in found
    if needed:  # and with them whatever they import themselves
        assert found >= needed
        assert not found & {"numba", "llvmlite", "matplotlib"}
    else:
        assert not found & SLOW


@pytest.mark.parametrize("options", [[], ["--dry-run"]], ids=str)
def test_a_small_command(tmp_path, options):
    file = tmp_path / "x.npy"
    np.save(file, np.random.default_rng(0).normal(size=(1000, 16)))
    code = f"import sys; sys.argv = {['geodim', 'compute', str(file), *options]!r}\n"
    code += (
        "from geodim.cli import main\ntry:\n    main()\nexcept SystemExit as end:\n    assert not end.code"
    )
    assert not loaded(code) & SLOW


def test_a_larger_call_loads_the_compiler():
    assert "numba" in loaded(SMALL + "geodim.intrinsic_dimension(np.tile(X, (40, 1))).dimension")
