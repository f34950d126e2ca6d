"""Make what is kept on disk for all workers, before several of them would make it at the same time.

Not necessary: whoever finds nothing makes it.  But in a fresh clone that is a minute of every worker: the
machine code of the kernels that most tests call; the byte-code of large packages and of the tests, and the
list of fonts.  The longest of three processes makes most of the machine code, and has a core to itself: the
others step back.
"""

from __future__ import annotations

import gc
import importlib
import os
import subprocess
import sys
from contextlib import suppress
from functools import partial

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
    """Call what reaches most of them, on data too large for the ways without compiled code.

    In one process: two of them, that begin at the two ends, compile for half as long again in all, since both
    need much of what kernels are made of; and linters and byte-code keep another core busy meanwhile.
    """
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 20))
    edges = rng.integers(0, 3000, (2, 9000))
    even = np.arange(60_000.0)[:, np.newaxis]
    narrow, wide = X.astype(np.float32), rng.normal(size=(3000, 70)).astype(np.float32)
    calls = [
        *(partial(geodim.intrinsic_dimension, data, rtol=0.05) for data in (X, narrow)),
        *(partial(geodim.khop_dimensions, data, edges, 1) for data in (X, narrow)),
        *(
            partial(geodim.khop_dimensions, data[:, :3], edges, 1, edge_weights=rng.random(9000))
            for data in (X, narrow)
        ),
        partial(geodim.intrinsic_dimension, sp.random(3000, 20, 0.1, format="csr", random_state=0)),
        partial(geodim.intrinsic_dimension, wide, n_threads=2),  # enough columns to drop some, and to sweep
        lambda: geodim.intrinsic_dimension(X, count_indistinguishable=True).certificate().verify(X),
        partial(geodim.explain_dimension, X),
        *(
            partial(geodim.intrinsic_dimension, X, weights=w)
            for w in (rng.integers(0, 4, 3000), rng.random(3000))
        ),
        partial(geodim.intrinsic_dimension, X[:300], features="distances"),
        # windows that are all alike
        *(
            partial(geodim.intrinsic_dimension, data)
            for data in (even / 60_000.0, even + 0.3 * rng.normal(size=even.shape))
        ),
        kernel_calls.calls,
    ]
    for call in calls:
        call()


def compile_kernels_of_binary_data() -> None:
    """Those share next to nothing with the others."""
    rng = np.random.default_rng(0)
    geodim.binary_dimension(rng.normal(size=(3000, 12)) > 0.5)
    geodim.binary_dimension(rng.random((3000, 40)) < 0.02)  # few ones are searched as lists


class OnlyModules:
    """A plugin that finds no tests in modules, which are imported nevertheless: there are many thousands."""

    def pytest_pycollect_makeitem(self) -> list[pytest.Item]:
        return []


def compile_modules() -> None:
    """Import what is imported anywhere; tests among it, whose assertions are rewritten first.

    What they compute while they are imported is interpreted: the kernels are compiled beside it.
    """
    # First: what is imported by then is not rewritten.
    pytest.main(["--collect-only", "-qq"], [OnlyModules()])
    for package in PACKAGES:
        with suppress(ImportError):  # then its tests are skipped
            importlib.import_module(package)


PARTS = {
    "kernels": compile_kernels,
    "kernels of binary data": compile_kernels_of_binary_data,
    "modules": compile_modules,
}


if __name__ == "__main__":
    if sys.argv[1:]:
        gc.disable()  # of what a compiler makes, next to nothing is garbage
        if sys.argv[1] != "kernels" and hasattr(os, "nice"):
            os.nice(10)  # all wait for the kernels
        PARTS[sys.argv[1]]()
    else:
        parts = [
            subprocess.Popen(
                [sys.executable, __file__, part],
                stdout=subprocess.DEVNULL,
                env={**os.environ, "NUMBA_DISABLE_JIT": "1"} if part == "modules" else None,
            )
            for part in PARTS
        ]
        codes = [part.wait() for part in parts]
        sys.exit(any(codes))
