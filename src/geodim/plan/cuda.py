"""The plan for one GPU, by the backend's own formulas (`geodim.backends.cuda.memory`).

The rates were measured on an H200.
"""

from __future__ import annotations

from geodim.backends.cuda import memory as device
from geodim.errors import DeviceMemoryError
from geodim.plan.problem import PROCESS_BYTES, Plan, Problem
from geodim.plan.rates import H200, DeviceRates

H200_BYTES = 139 << 30  # what an H200 offers
PINNED = 2 * device.STAGE
TORCH_BYTES = 2 << 30  # PyTorch and the CUDA context, in the memory of the host
MUCH = 32 << 30  # bytes that not every host holds
DISK = 1e9  # bytes per second
FINISH = 28  # bytes per point on the host, per layer


def plan_cuda(
    problem: Problem, *, budget: int = H200_BYTES, rates: DeviceRates = H200, on_device: bool = False
) -> Plan:
    """Plan for a GPU with so much free memory.

    Data comes from the host unless it lies ``on_device`` already.
    """
    layers = 1 + (problem.hops or 0)
    usable = int(device.USABLE * budget)
    graph, why_not = 0, None
    resident = True
    if problem.hops is not None:
        graph, resident = device.graph_bytes(
            problem.n_points,
            problem.stored_entries,
            int(device.RESIDENT * usable),
            weighted=problem.weighted,
        )
    try:
        widths = _widths(problem, usable - graph, on_device=on_device)
    except DeviceMemoryError as error:
        widths, why_not = device.Widths(1, 1), str(error)
    if problem.hops is None:
        memory = device.peak_of_columns(problem.n_points, problem.itemsize, widths, on_device=on_device)
        memory += problem.nbytes if on_device else 0
    else:
        memory = device.peak_of_hops(
            problem.n_points, problem.itemsize, problem.hops, widths, graph, problem.scratch_itemsize
        )
    if why_not is None:  # the allocator gives back what it keeps once that is needed
        memory = min(memory, usable)
    moved = 0 if on_device else problem.nbytes
    blocks = -(-problem.n_features // widths.width)
    passes = 1
    notes = []
    if problem.hops is not None:
        passes = blocks * problem.hops * problem.products
        moved += problem.stored_entries * (12 if problem.weighted else 4) * (1 if resident else passes)
        if not resident:
            notes.append("the graph does not fit beside the columns: it is copied to the device at every hop")
    if moved > MUCH:
        slower = 2 * problem.nbytes / DISK
        notes.append(f"from host memory; from a disk of {DISK / 1e9:g} GB/s it takes {slower:,.0f} s more")
    if problem.rtol > 0.0:
        notes.append("a tolerance saves little here: columns are sorted all the same")
    parts = _seconds(problem, rates, widths, moved, layers, on_device=on_device)
    work = sum(parts[name] for name in ("sorting", "windows", "products"))
    # Nothing can be done before the first block is there.
    ahead = parts["copies"] / blocks + max(parts["copies"], work)
    held = problem.nbytes if problem.held and not on_device else 0
    host = PROCESS_BYTES + TORCH_BYTES + PINNED + FINISH * problem.n_points * layers + held
    return Plan(
        backend="cuda",
        method="sorted",
        **problem.asked,
        threads=1,
        memory=memory,
        host_memory=host,
        columns=widths.width,
        passes=passes,
        bytes_read=0 if on_device else 2 * problem.nbytes,
        budget=budget,
        bytes_moved=moved,
        seconds=ahead + parts["first pass"] + parts["results"],
        parts=parts,
        basis=rates.basis,
        why_not=why_not,
        notes=tuple(notes),
    )


def _widths(problem: Problem, usable: int, *, on_device: bool) -> device.Widths:
    n, d, itemsize = problem.n_points, problem.n_features, problem.itemsize
    if problem.hops is None:
        left = usable - (problem.nbytes if on_device else 0)
        return device.widths_for(n, itemsize, d, left, on_device=on_device)
    return device.hop_widths(n, itemsize, d, problem.hops, usable, problem.scratch_itemsize)


def _seconds(
    problem: Problem, rates: DeviceRates, widths: device.Widths, moved: int, layers: int, *, on_device: bool
) -> dict[str, float]:
    """By parts; copies run while the device works."""
    n, values, itemsize = problem.n_points, problem.values, problem.itemsize
    batches = layers * (_batches(problem.n_features, widths.batch))
    products = problem.stored_entries + n
    attributes = 0 if on_device else problem.nbytes
    feed = rates.copy if problem.hops is not None or not problem.row_major else rates.feed
    return {
        "first pass": 0.0 if on_device else problem.nbytes / rates.scan,
        "copies": attributes / feed + (moved - attributes) / rates.copy,
        "sorting": values * rates.sort[itemsize],
        "windows": values * rates.window[itemsize] + batches * rates.batch,
        "products": products * problem.n_features * (problem.hops or 0) * problem.products * rates.product,
        "results": n * max(rates.finish, rates.finish_layer * layers),
    }


def _batches(columns: int, most: int) -> int:
    """Batches: 1, 1, 2, 4, ..., and then as many columns as fit."""
    count, size, done = 0, 1, 0
    while done < columns:
        size = max(1, min(done, most))
        if size == most:
            return count + -(-(columns - done) // most)
        done += size
        count += 1
    return count
