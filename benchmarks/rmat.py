"""Hops on a GPU at the size of ogbn-papers100M.

An R-MAT graph is drawn, built and multiplied with on the device.

    python benchmarks/rmat.py [--nodes 111059956 --edges 1615685872 --widths 16 32 64 --streamed]

The graph has the probabilities of `geodim.data.datasets.iter_rmat_edges`, those of Graph500.  Ids are
permuted, so that a node's degree has nothing to do with its id.  Edges are drawn in excess; what is left
without loops and repetitions is thinned to the number wanted, up to its standard deviation (some 1e-5 of it).
The same seed gives the same graph on any device.
"""

from __future__ import annotations

import argparse
import json
import time
from itertools import pairwise
from typing import Any

import numpy as np
import torch
import triton
import triton.language as tl

from geodim.backends.cuda.graphs import DeviceGraph, build_device_graph
from geodim.backends.cuda.operators import device_operator, to_device

NODES, EDGES = 111_059_956, 1_615_685_872
A, B, C = 0.57, 0.19, 0.19
CHUNK = 1 << 26
GOLDEN = 0x9E3779B97F4A7C15


@triton.jit
def mixed(z):
    """The finalizer of SplitMix64: a hash of 64 bits."""
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB
    return z ^ (z >> 31)


@triton.jit
def draw_edges(
    source, target, count, seed, nodes, A: tl.constexpr, AB: tl.constexpr, ABC: tl.constexpr,
    LEVELS: tl.constexpr, SIZE: tl.constexpr,
):  # fmt: skip
    """Draw edges; those that fall outside of the nodes become a self-loop at node 0, which no graph keeps."""
    at = tl.program_id(0).to(tl.int64) * SIZE + tl.arange(0, SIZE)
    state = mixed(mixed(at.to(tl.uint64)) + seed.to(tl.uint64))
    i = at * 0
    j = at * 0
    bits = state
    for level in tl.static_range(LEVELS):
        if level % 2 == 0:
            state += 0x9E3779B97F4A7C15
            bits = mixed(state)
        else:
            bits = bits << 32
        draw = (bits >> 40).to(tl.int64)  # 24 bits, as many as a float32 has
        low = (draw >= AB).to(tl.int64)
        i = 2 * i + low
        # Quadrants in the order of the draw: left, right, left, right; each bound passed flips the side.
        j = 2 * j + (low ^ (draw >= A).to(tl.int64) ^ (draw >= ABC).to(tl.int64))
    ok = (i < nodes) & (j < nodes)
    tl.store(source + at, tl.where(ok, i, 0).to(tl.int32), mask=at < count)
    tl.store(target + at, tl.where(ok, j, 0).to(tl.int32), mask=at < count)


def _signed(value: int) -> int:
    return value - (1 << 64) if value >= 1 << 63 else value


def hashed(z: torch.Tensor) -> torch.Tensor:
    """`mixed` in PyTorch, which has no unsigned numbers: products wrap, shifted-in signs are masked."""
    z = (z ^ ((z >> 30) & ((1 << 34) - 1))) * _signed(0xBF58476D1CE4E5B9)
    z = (z ^ ((z >> 27) & ((1 << 37) - 1))) * _signed(0x94D049BB133111EB)
    return z ^ ((z >> 31) & ((1 << 33) - 1))


def rmat_edges(nodes: int, count: int, *, seed: int = 0, device: Any = "cuda") -> torch.Tensor:
    """Draw `count` edges as an int32 tensor of shape (2, count); repetitions and self-loops occur."""
    edges = torch.empty((2, count), dtype=torch.int32, device=device)
    bounds = {name: round(value * 2**24) for name, value in (("A", A), ("AB", A + B), ("ABC", A + B + C))}
    draw_edges[(-(-count // 1024),)](
        edges[0], edges[1], count, (seed + 1) * (GOLDEN >> 8) % (1 << 62), nodes, **bounds,
        LEVELS=(nodes - 1).bit_length(), SIZE=1024, num_warps=4,
    )  # fmt: skip
    ids = torch.arange(nodes, dtype=torch.int64, device=device)
    ids = torch.argsort(hashed(ids + _signed((seed + 1) * GOLDEN % (1 << 64))), stable=True).to(torch.int32)
    for first in range(0, count, CHUNK):
        for ends in edges:
            part = ends[first : first + CHUNK]
            part.copy_(ids[part.long()])
    return edges


def thinned(graph: DeviceGraph, edges: int, seed: int = 0) -> DeviceGraph:
    """Keep each undirected edge with the probability that leaves `edges` on average.

    The graph's own memory is reused.
    """
    n, indptr, indices = graph.n_nodes, graph.indptr, graph.indices
    bound = round(edges / graph.n_edges * 2**53)
    lengths = torch.zeros(n, dtype=torch.int64, device=indptr.device)
    starts = torch.arange(0, indices.numel(), CHUNK, device=indptr.device)
    cuts = [*torch.searchsorted(indptr, starts).unique().tolist(), n]
    written = 0
    for first, last in pairwise(cuts):
        low, high = int(indptr[first]), int(indptr[last])
        row = torch.repeat_interleave(
            torch.arange(first, last, device=indptr.device),
            indptr[first + 1 : last + 1] - indptr[first:last],
            output_size=high - low,
        )
        column = indices[low:high].long()
        pair = (
            torch.minimum(row, column) * n
            + torch.maximum(row, column)
            + _signed((seed + 7) * GOLDEN % (1 << 64))
        )
        keep = ((hashed(pair) >> 11) & ((1 << 53) - 1)) < bound
        lengths[first:last] = torch.bincount(row[keep] - first, minlength=last - first)
        kept = column[keep]
        indices[written : written + kept.numel()] = kept.to(torch.int32)
        written += kept.numel()
    indptr[1:] = torch.cumsum(lengths, 0)
    isolated = int((lengths == 0).sum())
    return DeviceGraph(n, indptr, indices[:written], isolated, graph.notes)


def rmat_graph(
    nodes: int = NODES, edges: int = EDGES, *, seed: int = 0, device: Any = "cuda", surplus: float = 1.08
) -> DeviceGraph:
    """A simple R-MAT graph with about `edges` undirected edges.

    Draws more when `surplus` times as many were not enough.
    """
    while True:
        graph = build_device_graph(rmat_edges(nodes, int(edges * surplus), seed=seed, device=device), nodes)
        if graph.n_edges >= edges:
            return thinned(graph, edges, seed)
        surplus *= 1.25


def clock(device: Any) -> float:
    if torch.device(device).type == "cuda":
        torch.cuda.synchronize()
    return time.perf_counter()


def peak(device: Any) -> float:
    """Most bytes so far, in GB, from now on counted anew."""
    if torch.device(device).type != "cuda":
        return 0.0
    most = torch.cuda.max_memory_allocated() / 1e9
    torch.cuda.reset_peak_memory_stats()
    return round(most, 2)


def time_hops(operator: Any, width: int, repeats: int) -> dict[str, Any]:
    """Seconds of a product, and the rate at which rows of values, scales and ids are asked for."""
    n, device = operator.n_nodes, operator.device
    block = torch.empty((n, width), dtype=torch.float32, device=device)
    for part in block.split(1 << 22):
        part.normal_()
    out = torch.empty_like(block)
    operator.apply_device(block, out)
    peak(device)
    seconds = []
    for _ in range(repeats):
        started = clock(device)
        operator.apply_device(block, out)
        seconds.append(clock(device) - started)
    entries = operator.stored_entries + n
    asked = entries * (4 * width + 8 + 4) + n * (4 * width + 16)
    best = min(seconds)
    return {"width": width, "seconds": seconds, "GB/s asked for": round(asked / best / 1e9, 1),
            "GB/s of rows": round(entries * 4 * width / best / 1e9, 1), "peak GB": peak(device)}  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--nodes", type=int, default=NODES)
    parser.add_argument("--edges", type=int, default=EDGES)
    parser.add_argument("--widths", type=int, nargs="+", default=[16, 32, 64])
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--surplus", type=float, default=1.08)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--streamed", action="store_true", help="also with the graph in host memory")
    given = parser.parse_args()
    device = given.device
    rmat_edges(1000, 1000, device=device)  # compiles
    started = clock(device)
    drawn = rmat_edges(given.nodes, int(given.edges * given.surplus), device=device)
    ready = clock(device)
    print(
        json.dumps({"drawing": ready - started, "drawn": drawn.shape[1], "peak GB": peak(device)}), flush=True
    )
    graph = build_device_graph(drawn, given.nodes)
    built = clock(device)
    line = {"building": built - ready, "n_edges": graph.n_edges, "peak GB": peak(device), **graph.to_dict()}
    print(json.dumps(line), flush=True)
    del drawn
    graph = thinned(graph, given.edges)
    said = {
        "thinning": clock(device) - built, "n_edges": graph.n_edges, "n_isolated": graph.n_isolated,
        "largest degree": int(graph.degrees().max()), "peak GB": peak(device),
    }  # fmt: skip
    print(json.dumps(said), flush=True)
    started = clock(device)
    operator = device_operator(graph)
    print(json.dumps({"operator": clock(device) - started, "GB": operator.nbytes / 1e9}), flush=True)
    for width in given.widths:
        print(json.dumps(time_hops(operator, width, given.repeats)), flush=True)
    if given.streamed:
        time_streamed(graph, operator, given.widths, given.repeats)


def time_streamed(graph: DeviceGraph, resident: Any, widths: list[int], repeats: int) -> None:
    """The same products with the graph in host memory."""
    from geodim.features.aggregate import Rows
    from geodim.features.operators import MatrixOperator

    device = graph.indptr.device
    host, degrees = graph.to_host(), resident.degrees.cpu().numpy()
    rows = Rows(host.indptr, host.indices, add_loops=True, degrees=degrees, roots=True)
    times = {}
    for name, stays in (("copying to the device", True), ("preparing to stream", False)):
        started = clock(device)
        operator = to_device(MatrixOperator("sym", rows), device, resident=stays)
        times[name] = clock(device) - started
    print(json.dumps({**times, "same bits as resident": compare(resident, operator, 8)}), flush=True)
    for width in widths:
        print(json.dumps({"streamed": time_hops(operator, width, repeats)}), flush=True)


def compare(one: Any, other: Any, width: int) -> bool:
    block = torch.as_tensor(np.random.default_rng(0).random((1, width), dtype=np.float32), device=one.device)
    block = block + torch.arange(one.n_nodes, device=one.device)[:, None].sin().float()
    first, second = torch.empty_like(block), torch.empty_like(block)
    one.apply_device(block, first)
    other.apply_device(block, second)
    return bool(torch.equal(first, second))


if __name__ == "__main__":
    main()
