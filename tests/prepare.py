"""Make what is kept on disk for all workers, before several of them would make it at the same time.

Not necessary: whoever finds nothing makes it.  But in a fresh clone that is a minute of every worker: the
machine code of the kernels that most tests call; the byte-code of large packages and of the tests, and the
list of fonts.  Another process makes the latter meanwhile.
"""

from __future__ import annotations

import gc
import importlib
import os
import subprocess
import sys
from contextlib import suppress

import numpy as np
import pytest
import scipy.sparse as sp

import geodim
from engine import kernel_calls

PACKAGES = (
    "dask.array",
    "dask.dataframe",
    "distributed",
    "matplotlib.font_manager",
    "pandas",
    "plotly.graph_objects",
    "polars",
    "sklearn.datasets",
    "torch_geometric.data",
    "zarr",
)


def compile_kernels() -> None:
    """Call what reaches most of them, on data too large for the ways without compiled code."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 20))
    edges = rng.integers(0, 3000, (2, 9000))
    for data in (X, X.astype(np.float32)):
        geodim.intrinsic_dimension(data, rtol=0.05)
        geodim.khop_dimensions(data, edges, 1)
    geodim.khop_dimensions(X.astype(np.float32)[:, :3], edges, 1, edge_weights=rng.random(9000))
    geodim.intrinsic_dimension(sp.random(3000, 20, 0.1, format="csr", random_state=0))
    for weights in (rng.integers(0, 4, 3000), rng.random(3000)):
        geodim.intrinsic_dimension(X, weights=weights)
    geodim.intrinsic_dimension(X, count_indistinguishable=True).certificate().verify(X)
    geodim.intrinsic_dimension(X[:300], features="distances")
    geodim.intrinsic_dimension(rng.normal(size=(3000, 70)).astype(np.float32))  # enough columns to drop some
    geodim.explain_dimension(X)
    even = np.arange(60_000.0)
    for column in (even / 60_000.0, even + 0.3 * rng.normal(size=60_000)):  # windows that are all alike
        geodim.intrinsic_dimension(column[:, np.newaxis])
    geodim.binary_dimension(X[:, :12] > 0.5)
    geodim.binary_dimension(rng.random((3000, 40)) < 0.02)  # few ones are searched as lists
    kernel_calls.calls()


def compile_modules() -> None:
    """Import what is imported anywhere; tests among it, whose assertions are rewritten first.

    What they compute while they are imported is interpreted: the kernels are compiled beside it.
    """
    pytest.main(["--collect-only", "-qq"])  # first: what is imported by then is not rewritten
    for package in PACKAGES:
        with suppress(ImportError):  # then its tests are skipped
            importlib.import_module(package)


if __name__ == "__main__":
    if sys.argv[1:] == ["modules"]:
        compile_modules()
    else:
        modules = subprocess.Popen(
            [sys.executable, __file__, "modules"],
            stdout=subprocess.DEVNULL,
            env={**os.environ, "NUMBA_DISABLE_JIT": "1"},
        )
        gc.disable()  # of what a compiler makes, next to nothing is garbage
        compile_kernels()
        modules.wait()
