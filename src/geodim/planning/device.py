"""The memory that a device needs, as formulas without PyTorch: plans use them where there is no GPU.

`geodim.planning.cuda` decides with them how many columns make a batch and a block, before anything is
allocated.
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

from geodim.errors import DeviceMemoryError

BASE = 32  # values of the finest block of a pyramid
BATCH = 16  # columns that are solved together
WIDEST = 32  # columns that are copied to the device together: two of the host's cache lines per row
ENTRY = 26  # bytes that the search takes per entry of the lists that it has room for
ENTRIES = 8  # columns for which there is room for as many entries as points;
FEWEST = 4  # for fewer columns than this there is as much room as for these
SORTING = 24  # bytes per point that PyTorch's sort takes in addition to its input
USABLE = 0.95  # of the memory that is free: the rest goes to the allocator's rounding
RESIDENT = 0.5  # the graph stays on the device if its entries take no more than this part of it
# Many short columns are dropped by counts, see `geodim.backends.cuda.dominated`.
SHORT_FROM, SHORT_POINTS = 128, (256, 1 << 21)  # columns and points
SHORT_BATCH = 64  # columns that are solved together,
SHORT_BLOCK = 1 << 31  # bytes of the columns that are counted together,
SHORT_FIRST = 128  # columns in the first block,
SHORT_MOST = 1 << 15  # and this many at most: they are one side of a grid of programs
SHORT_CELLS = 1 << 13  # at most
DENSE = 4  # the densest quarter of the values is sorted before all of them are
SORTED_AT_ONCE = 1 << 26  # values of several rows that are sorted together:
SORTING_ROWS = {4: 32, 8: 40}  # bytes needed per value then, by the bytes of a value
STAGE = 1 << 26  # bytes of a pinned buffer for rows
BLOCK_ENTRIES = 1 << 26  # entries of a block of rows that is streamed: 256 MiB of ids
COEFFICIENTS = 1 << 24  # entries of a block of rows whose coefficients are formed together: 128 MiB


class Widths(NamedTuple):
    """Columns that are solved together, and columns that are brought to the device together."""

    batch: int
    width: int


def solver_bytes(n_points: int, layers: int, batch: int) -> int:
    """Return the memory of a solver, without columns and waves."""
    pyramid = n_points // BASE * 2 * 40
    return 12 * n_points * layers + (8 * n_points + pyramid) * batch + pyramid


def wave_entries(n_points: int, batch: int) -> int:
    """Return how many list entries of a wave there is room for; for longer waves the host has to wait."""
    return n_points * max(batch, FEWEST) // ENTRIES


def bytes_for(n_points: int, itemsize: int, layers: int, batch: int) -> int:
    """Return the peak bytes with a batch of this many columns.

    They comprise the solver, the sorted columns, sorting, the search, and two blocks of input.
    """
    solver = solver_bytes(n_points, layers, batch)
    waves = ENTRY * wave_entries(n_points, batch)
    return int(solver + waves + n_points * (3 * batch * itemsize + SORTING))


def batch_for(n_points: int, itemsize: int, layers: int, budget: int, most: int = BATCH) -> int:
    """Return how many columns fit into a batch, with as much memory again for the blocks they come from.

    It is at least 1; raises an error if not even one column fits.
    """
    batch = most
    while batch > 1 and bytes_for(n_points, itemsize, layers, batch) > budget:
        batch //= 2
    need = bytes_for(n_points, itemsize, layers, batch)
    if need > budget:
        fitting = int(n_points * (budget / need))
        msg = (
            f"{n_points:,} points need {need / 1e9:.3g} GB on the device, one column at a time, but "
            f"{budget / 1e9:.3g} GB are free: up to about {fitting:,} points would fit; use backend='cpu', "
            "or free memory on the device"
        )
        raise DeviceMemoryError(msg)
    return batch


def widths_for(n_points: int, itemsize: int, n_features: int, budget: int, *, on_device: bool) -> Widths:
    """Return the numbers of columns in a batch and in a block, for a pass over plain columns.

    Blocks are wider than batches where they come from the host.
    """
    batch = batch_for(n_points, itemsize, 1, budget, min(BATCH, n_features))
    spare = budget - bytes_for(n_points, itemsize, 1, batch)
    if on_device:
        return Widths(batch, batch)
    return Widths(batch, max(batch, min(WIDEST, batch + spare // (2 * n_points * itemsize))))


def short_cells(n_points: int) -> int:
    """Return the number of cells in which values of a short column are counted, a power of two."""
    return min(max(1 << max(n_points.bit_length() - 2, 0), 64), SHORT_CELLS)


def dense_room(n_points: int) -> int:
    """Return how many values of a short column are sorted first, with a margin for crowded cells."""
    return n_points // DENSE + n_points // (4 * DENSE)


def is_short(n_points: int, n_features: int) -> bool:
    """Return whether columns are many and short enough to be dropped by counts."""
    return n_features >= SHORT_FROM and SHORT_POINTS[0] <= n_points <= SHORT_POINTS[1]


def short_blocks(n_features: int, width: int) -> list[int]:
    """Return sizes of blocks, small ones first: what their best columns reach lets more be dropped."""
    sizes, size, left = [], min(SHORT_FIRST, width), n_features
    while left > 0:
        sizes.append(min(size, left))
        left -= size
        size = min(2 * size, width)
    return sizes


def short_widths(n_points: int, itemsize: int, n_features: int, budget: int, *, on_device: bool) -> Widths:
    """Return how many of many short columns are solved together, and counted together."""
    width = max(min(SHORT_BLOCK // (n_points * itemsize), SHORT_MOST, n_features), 1)
    widths = Widths(min(SHORT_BATCH, n_features), width)
    while widths.width > 1:
        if peak_of_short(n_points, n_features, itemsize, widths, on_device=on_device) <= budget:
            break
        width = -(-widths.width // 2)
        widths = Widths(min(widths.batch, width), width)
    return widths


def peak_of_short(n_points: int, n_features: int, itemsize: int, widths: Widths, *, on_device: bool) -> int:
    """Return the peak bytes of a pass over many short columns.

    These are a block of columns, and the next one if they come from the host; its counts, twice; the densest
    values and the memory to sort them; and the solver with its columns.
    """
    sizes = [*short_blocks(n_features, widths.width), 0]
    counts, dense = 8 * (short_cells(n_points) + 3), dense_room(n_points)
    solver = solver_bytes(n_points, 1, widths.batch) + 2 * widths.batch * n_points * itemsize
    solver += ENTRY * wave_entries(n_points, widths.batch)
    most = 0
    for size, following in pairwise(sizes):
        held = (size + (0 if on_device else following)) * n_points * itemsize
        sorting = SORTING_ROWS[itemsize] * min(max(size * dense, n_points), SORTED_AT_ONCE)
        most = max(most, held + size * (dense * itemsize + counts) + max(sorting, solver))
    return most


def hop_widths(
    n_nodes: int, itemsize: int, attributes: int, hops: int, budget: int, scratch_itemsize: int = 0
) -> Widths:
    """Return the batch and the columns in flight of a pass over hops, given the memory besides the graph."""
    layers = hops + 1
    batch = batch_for(n_nodes, itemsize, layers, budget, min(BATCH, attributes))
    per_column = n_nodes * (4 * itemsize + scratch_itemsize)  # this block, two hops, the next block
    width = WIDEST
    while width > 1 and bytes_for(n_nodes, itemsize, layers, batch) + width * per_column > budget:
        width //= 2
        batch = min(batch, width)
    if bytes_for(n_nodes, itemsize, layers, batch) + width * per_column > budget:
        need = bytes_for(n_nodes, itemsize, layers, 1) + per_column
        msg = (
            f"{n_nodes:,} nodes and {hops} hops need {need / 1e9:.3g} GB on the device beside the graph, but "
            f"{max(budget, 0) / 1e9:.3g} GB are left: use backend='cpu'"
        )
        raise DeviceMemoryError(msg)
    return Widths(batch, min(width, attributes))


def graph_bytes(n_nodes: int, entries: int, budget: int, *, weighted: bool = False) -> tuple[int, bool]:
    """Return the bytes of a graph on the device, and whether its entries stay there.

    Entries that do not stay are streamed, in two blocks.  Pointers and degrees take 8 bytes per node each,
    and the order in which rows are worked on takes 4.  An entry takes 4 bytes, 8 more with weights, and 8
    more for its coefficient while its block is in work.
    """
    per_entry = 12 if weighted else 4
    resident = entries * per_entry <= budget
    held = entries if resident else min(2 * BLOCK_ENTRIES, 2 * entries)
    held = held * per_entry + 8 * min(entries, COEFFICIENTS if resident else BLOCK_ENTRIES)
    return 8 * (n_nodes + 1) + 8 * n_nodes * (2 if weighted else 1) + 4 * n_nodes + held, resident


def peak_of_columns(
    n_points: int, n_features: int, itemsize: int, widths: Widths, *, on_device: bool = False
) -> int:
    """Return about what a pass over plain columns takes if there is room, which is more than it needs.

    There are two batches of sorted columns, since one is freed only when the next has arrived, unless one
    batch holds all columns; and two blocks if they come from the host.
    """
    batch, width = widths
    blocks = batch if on_device else min(2 * width, n_features)
    batches = 2 if n_features > batch else 1
    solver = solver_bytes(n_points, 1, batch)
    waves = ENTRY * wave_entries(n_points, batch)
    return int(solver + waves + n_points * ((batches * batch + blocks) * itemsize + SORTING))


def peak_of_hops(
    n_nodes: int, itemsize: int, hops: int, widths: Widths, graph: int, scratch_itemsize: int = 0
) -> int:
    """Return what a pass over hops takes, the graph included."""
    per_column = n_nodes * (4 * itemsize + scratch_itemsize)
    return graph + bytes_for(n_nodes, itemsize, hops + 1, widths.batch) + widths.width * per_column
