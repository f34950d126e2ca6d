"""The plan for one GPU, by the formulas of `geodim.planning.device`.

The rates were measured on an H200.
"""

from __future__ import annotations

from typing import NamedTuple

from geodim.engine.ways import Way
from geodim.errors import DeviceMemoryError
from geodim.planning import device
from geodim.planning.problem import PROCESS_BYTES, Plan, Problem
from geodim.planning.rates import H200, DeviceRates

H200_BYTES = 139 << 30  # what an H200 offers
PINNED = 2 * device.STAGE
TORCH_BYTES = 2 << 30  # PyTorch and the CUDA context, in the memory of the host
MUCH = 32 << 30  # bytes that not every host holds
DISK = 1e9  # bytes per second
FINISH = 20  # bytes per point on the host, per layer


class _OnDevice(NamedTuple):
    """A way, the bytes that the graph takes on the device, and why it does not fit."""

    way: Way
    graph: int
    why_not: str | None


def _on_device(problem: Problem, budget: int, memory: int | None) -> _OnDevice:
    n, d, itemsize = problem.n_points, problem.n_features, problem.itemsize
    usable = int(device.USABLE * (budget - _kept(problem)))
    if memory is not None:
        usable = min(usable, memory)
    plain = problem.hops is None and problem.runs is None and problem.made_from is None
    drops = problem.made_once or (problem.hops is None and problem.rtol == 0.0 and device.is_short(n, d))
    graph, resident, why_not = 0, problem.graph_on_device, None
    if problem.hops is not None and not problem.graph_on_device:
        graph, resident = device.graph_bytes(
            n, problem.stored_entries, int(device.RESIDENT * usable), weighted=problem.weighted
        )
    try:
        if drops:
            widths = device.short_widths(n, itemsize, d, usable, on_device=problem.on_device)
        elif problem.hops is None:
            widths = device.widths_for(n, itemsize, d, usable, on_device=problem.on_device)
        else:
            scratch = problem.scratch_itemsize
            widths = device.hop_widths(n, itemsize, d, problem.hops, usable - graph, scratch)
    except DeviceMemoryError as error:
        widths, why_not = device.Widths(1, 1), str(error)
    passes = 1
    if problem.hops is not None:
        passes = -(-d // widths.width) * problem.hops * problem.products
    way = Way(
        width=widths.width, solvers=widths.batch, passes=passes, resident=resident, drops=drops,
        relaxed=plain and not problem.last_bit and problem.rtol == 0.0,
    )  # fmt: skip
    return _OnDevice(way, graph, why_not)


def _kept(problem: Problem) -> int:
    """Return bytes of data on the device: what lies there, and points that columns are computed from."""
    if not problem.on_device:
        return 0
    return problem.nbytes if problem.made_from is None else problem.made_from


def plan_cuda(
    problem: Problem, *, budget: int = H200_BYTES, memory: int | None = None, rates: DeviceRates = H200
) -> Plan:
    """Plan for a GPU.

    ``budget`` is its free memory, including the data if that already lies there; of this ``memory`` bytes
    may be used, or nearly all of them.
    """
    on_device = problem.on_device
    layers = 1 + (problem.hops or 0)
    usable = int(device.USABLE * budget)
    way, graph, why_not = _on_device(problem, budget, memory)
    widths = device.Widths(way.solvers, way.width)
    if way.drops:
        peak = device.peak_of_short(
            problem.n_points, problem.n_features, problem.itemsize, widths, on_device=on_device
        )
    elif problem.hops is None:
        peak = device.peak_of_columns(
            problem.n_points, problem.n_features, problem.itemsize, widths, on_device=on_device
        )
    else:
        peak = device.peak_of_hops(
            problem.n_points, problem.itemsize, problem.hops, widths, graph, problem.scratch_itemsize
        )
    peak += _kept(problem)
    if why_not is None:  # the allocator returns cached memory when it is needed
        peak = min(peak, usable)
    moved = 0 if on_device else problem.nbytes
    if problem.made_from is not None:
        moved = problem.made_from if on_device else problem.values * problem.itemsize
    blocks = -(-problem.n_features // way.width)
    notes = []
    if problem.hops is not None:
        times = 1 if way.resident else way.passes
        moved += problem.stored_entries * (12 if problem.weighted else 4) * times
        if not way.resident:
            notes.append("the graph does not fit beside the columns: it is copied to the device at every hop")
    if moved > MUCH:
        slower = 2 * problem.nbytes / DISK
        notes.append(f"from host memory; from a disk of {DISK / 1e9:g} GB/s it takes {slower:,.0f} s more")
    if problem.rtol > 0.0:
        notes.append("a tolerance saves little here: columns are sorted anyway")
    parts = _seconds(problem, rates, widths, moved, layers, drops=way.drops)
    work = sum(parts[name] for name in ("counts", "sorting", "windows", "products"))
    # Nothing can start before the first block has arrived.
    ahead = parts["copies"] / blocks + max(parts["copies"], work)
    held = problem.nbytes if problem.held and not on_device else 0
    host = PROCESS_BYTES + TORCH_BYTES + PINNED + FINISH * problem.n_points * layers + held
    return Plan(
        backend="cuda",
        way=way,
        method="sorted",
        **problem.asked,
        threads=1,
        memory=peak,
        memory_added=peak,
        host_memory=host,
        columns=way.width,
        passes=way.passes,
        bytes_read=0 if on_device else 2 * problem.nbytes,
        budget=budget,
        bytes_moved=moved,
        seconds=ahead + parts["first pass"] + parts["results"],
        parts=parts,
        basis=rates.basis,
        why_not=why_not,
        notes=tuple(notes),
    )


def _seconds(
    problem: Problem, rates: DeviceRates, widths: device.Widths, moved: int, layers: int, *, drops: bool
) -> dict[str, float]:
    """Return the seconds by parts; copies run while the device works."""
    n, values, itemsize = problem.n_points, problem.values, problem.itemsize
    solved = 0 if drops else values
    batches = layers * (_batches(problem.n_features, widths.batch))
    products = problem.stored_entries + n
    attributes = moved if problem.made_from is not None else 0 if problem.on_device else problem.nbytes
    feed = rates.copy if problem.hops is not None or not problem.row_major else rates.feed
    return {
        "first pass": 0.0 if problem.on_device else problem.nbytes / rates.scan,
        "copies": attributes / feed + (moved - attributes) / rates.copy,
        "counts": (values - solved) * rates.counts,
        "sorting": solved * rates.sort[itemsize],
        "windows": solved * rates.window[itemsize] + (0 if drops else batches) * rates.batch,
        "products": products * problem.n_features * (problem.hops or 0) * problem.products * rates.product,
        "results": n * max(rates.finish, rates.finish_layer * layers),
    }


def _batches(columns: int, most: int) -> int:
    """Return the number of batches that the rates were fitted to: of 1, 1, 2, 4, ..., ``most`` columns."""
    count, size, done = 0, 1, 0
    while done < columns:
        size = max(1, min(done, most))
        if size == most:
            return count + -(-(columns - done) // most)
        done += size
        count += 1
    return count
