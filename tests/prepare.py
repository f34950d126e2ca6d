"""Make what is kept on disk for all workers, before several of them would make it at the same time.

Not necessary: whoever finds nothing makes it.  But in a fresh clone that is a minute of every worker: the
machine code of the kernels that most tests call; the byte-code of large packages and of the tests, and the
list of fonts.  Two processes make the machine code, and a third one the rest.
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


def compile_kernels(*, backwards: bool = False) -> None:
    """Call what reaches most of them, on data too large for the ways without compiled code.

    One process begins at the first call, another at the last: what one has compiled, the other finds, until
    they meet.  Neighbours share kernels; the two ends share as few as there can be.
    """
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 20))
    edges = rng.integers(0, 3000, (2, 9000))
    even = np.arange(60_000.0)[:, np.newaxis]
    narrow, wide = X.astype(np.float32), rng.normal(size=(3000, 70)).astype(np.float32)
    calls = [
        *(partial(geodim.intrinsic_dimension, data, rtol=0.05) for data in (X, narrow)),
        *(partial(geodim.khop_dimensions, data, edges, 1) for data in (X, narrow)),
        partial(geodim.khop_dimensions, narrow[:, :3], edges, 1, edge_weights=rng.random(9000)),
        partial(geodim.intrinsic_dimension, sp.random(3000, 20, 0.1, format="csr", random_state=0)),
        partial(geodim.intrinsic_dimension, wide),  # enough columns to drop some
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
        partial(geodim.binary_dimension, X[:, :12] > 0.5),
        partial(geodim.binary_dimension, rng.random((3000, 40)) < 0.02),  # few ones are searched as lists
        kernel_calls.calls,
    ]
    for call in reversed(calls) if backwards else calls:
        call()


def compile_modules() -> None:
    """Import what is imported anywhere; tests among it, whose assertions are rewritten first.

    What they compute while they are imported is interpreted: the kernels are compiled beside it.
    """
    pytest.main(["--collect-only", "-qq"])  # first: what is imported by then is not rewritten
    for package in PACKAGES:
        with suppress(ImportError):  # then its tests are skipped
            importlib.import_module(package)


PARTS = {
    "kernels": compile_kernels,
    "kernels backwards": partial(compile_kernels, backwards=True),
    "modules": compile_modules,
}


if __name__ == "__main__":
    if sys.argv[1:]:
        gc.disable()  # of what a compiler makes, next to nothing is garbage
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
