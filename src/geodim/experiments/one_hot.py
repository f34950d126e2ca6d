"""One-hot encoded graphs: 100 nodes, the identity as attributes.

All 4,950 edges are added one by one in random order.  The paper's figure shows the dimension of the k-hop
data sets against the number of edges, with a second plot beside the first that leaves out k = 0.
"""

from __future__ import annotations

import time
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from geodim.errors import InterruptedWarning
from geodim.experiments.experiment import Context, Cost, Experiment, Options, StoppedError, Unit
from geodim.experiments.machine import slowness
from geodim.experiments.verdicts import Claim

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from geodim.experiments.experiment import Rows

__all__ = ["EDGES", "EXPERIMENT", "NODES", "compute", "edge_order"]

NAME = "one-hot"
NODES, HOPS, SEED = 100, 5, 0
EDGES = NODES * (NODES - 1) // 2
STEP_SECONDS = 0.022
QUICK_STEP, PER_UNIT = 25, 200
# Edges and dimension up to which the right plot goes: beyond, the curves of k >= 1 are one.
ZOOM = (
    2000,
    2500,
)


def edge_order(nodes: int = NODES, seed: int = SEED) -> NDArray[np.int64]:
    """Return all edges in random order, one per row.

    Examples
    --------
    >>> edge_order().shape
    (4950, 2)
    """
    pairs = np.stack(np.triu_indices(nodes, 1), axis=1).astype(np.int64)
    return np.random.default_rng(seed).permutation(pairs)


def units(options: Options) -> list[Unit]:
    """Return units of some hundred numbers of edges each."""
    step = QUICK_STEP if options.quick else 1
    counts = list(range(0, EDGES + 1, step))
    return [_unit(counts[at : at + PER_UNIT], step) for at in range(0, len(counts), PER_UNIT)]


def _unit(counts: list[int], step: int) -> Unit:
    return Unit(
        key={"first": counts[0], "last": counts[-1], "step": step, "seed": SEED},
        cost=Cost(STEP_SECONDS * len(counts) * slowness(), 1 << 26),
        work=lambda context: compute(counts, context),
    )


def compute(counts: list[int], context: Context) -> Rows:
    """Return the dimensions for k = 0, ..., 5 after this many edges, one row per number of edges."""
    from geodim.khop import khop_dimensions  # noqa: PLC0415

    attributes, edges = np.eye(NODES), edge_order()
    rows = []
    for done, count in enumerate(counts):
        if context.deadline is not None and time.monotonic() > context.deadline:
            raise StoppedError("stopped (time limit) between two numbers of edges")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", InterruptedWarning)  # said by the error below
            result = khop_dimensions(attributes, edges[:count], HOPS, n_threads=context.options.threads)
        if result[0].stopped:
            raise StoppedError(f"stopped ({result[0].stopped}) between two numbers of edges")
        # Ten digits are more than a figure shows, and half the size in the files.
        rounded = {f"k{k}": float(f"{value:.10g}") for k, value in enumerate(result.dimensions)}
        rows.append({"edges": count, **rounded})
        context.progress(done + 1, len(counts))
    return rows


def curves(rows: Rows) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return numbers of edges, and the dimensions, one row per k."""
    by_count = {row["edges"]: [row[f"k{k}"] for k in range(HOPS + 1)] for row in rows}
    counts = np.array(sorted(by_count), np.int64)
    return counts, np.array([by_count[count] for count in counts.tolist()]).reshape(-1, HOPS + 1).T


def claims(rows: Rows) -> list[Claim]:
    """Return the paper's conclusions from the figure."""
    counts, ids = curves(rows)
    texts = (
        "One-hot graphs: the 0-hop data set has a dimension which does not depend on the number of edges.",
        "One-hot graphs: for all other k, the dimension first sharply decreases and then increases.",
        "One-hot graphs: rounds of aggregation beyond the first can further lower the dimension.",
        "One-hot graphs: for many edges, the difference between different k vanishes.",
    )
    if counts.size == 0 or counts[-1] < EDGES:
        return [Claim(text, None, "") for text in texts]
    lowest = ids.argmin(axis=1)
    falls = [
        0 < lowest[k] < counts.size - 1 and ids[k, lowest[k]] < 0.5 * min(ids[k, 0], ids[k, -1])
        for k in range(1, HOPS + 1)
    ]
    minima = ", ".join(f"k = {k}: {ids[k, lowest[k]]:.1f} at {counts[lowest[k]]}" for k in range(1, HOPS + 1))
    gaps = ids[1] / ids[HOPS]
    half = counts >= EDGES // 2
    return [
        Claim(texts[0], bool(np.all(ids[0] == NODES**2)), f"it is {NODES}² = {NODES**2:,} at every step"),
        Claim(texts[1], all(falls), f"lowest dimension and number of edges: {minima}"),
        Claim(
            texts[2],
            bool(gaps.max() > 1.01),
            f"k = 1 has up to {gaps.max():.2f} times the dimension of k = 5",
        ),
        Claim(
            texts[3],
            bool(gaps[half].max() < 1.05),
            f"with half of all edges or more, k = 1 has at most {gaps[half].max():.4f} "
            "times the dimension of k = 5",
        ),
    ]


def draw(rows: Rows) -> dict[str, Any]:
    """Plot all k on the left; on the right the part framed on the left, without k = 0."""
    from geodim.display.style import GREY, PALETTE, finish, new_figure  # noqa: PLC0415
    from geodim.optional import require  # noqa: PLC0415

    counts, ids = curves(rows)
    if counts.size < 2:
        return {}
    thousands = require("matplotlib.ticker", "plot", "drawing figures").StrMethodFormatter("{x:,.0f}")
    figure = new_figure(8.2, 3.2)
    left, right = figure.subplots(1, 2)
    for k in range(HOPS + 1):
        # Larger k have lower curves; drawn last and thinner, they leave what they cover visible.
        style = {
            "color": GREY if k == 0 else PALETTE[k - 1],
            "linewidth": 1.9 - 0.22 * k,
            "label": f"$k = {k}$",
        }
        left.plot(counts, ids[k], **style)
        if k > 0:
            right.plot(counts, ids[k], **style)
    for ax, title in ((left, "all edges"), (right, "zoom, without $k = 0$")):
        ax.set_xlabel("number of edges")
        ax.set_title(title, fontsize="medium", loc="left")
        ax.xaxis.set_major_formatter(thousands)
        ax.yaxis.set_major_formatter(thousands)
        finish(ax, None)
    left.set_ylabel("intrinsic dimension")
    left.set_xlim(-0.02 * EDGES, 1.02 * EDGES)
    left.set_ylim(0, 1.08 * NODES**2)
    right.set_xlim(-0.02 * ZOOM[0], ZOOM[0])
    right.set_ylim(0, ZOOM[1])
    frame = {"fill": False, "edgecolor": GREY, "linewidth": 0.8, "linestyle": ":"}
    left.add_patch(require("matplotlib.patches", "plot", "drawing figures").Rectangle((0, 0), *ZOOM, **frame))
    handles, labels = left.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside right center", frameon=False)
    return {"one-hot": figure}


EXPERIMENT = Experiment(
    name=NAME,
    title="One-hot encoded synthetic graphs, edge by edge",
    source="Section 5.3, figure of one-hot encoded features",
    recipe=1,
    units=units,
    compare=lambda _rows: [],
    draw=draw,
    claims=claims,
)
