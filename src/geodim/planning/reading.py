"""The memory and time to start a command and to read a file, before anything is computed.

A file of text, or of packed columns, is held beside the table that is made from it, whole or in parts.  The
constants below are peaks measured with pyarrow on files of 10 to 500 MB, rounded up; the time is measured by
the caller, on the file itself.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from geodim.planning.problem import PROCESS_BYTES

if TYPE_CHECKING:
    from geodim.planning.problem import Plan

STARTING = 0.8  # seconds: Python and libraries 0.3, compiled code 0.5, on a core of an AMD EPYC (Zen 5)
BUFFERS = 16 << 20  # of a reader
TEXT = 1.6  # bytes per byte of text: blocks wait to be parsed
PACKED, TABLE = 1.3, 1.5  # bytes per byte of a group of rows in Parquet, and of the table


@dataclass(frozen=True)
class Reading:
    """What reading a file takes.

    Attributes
    ----------
    seconds : float
        Seconds on this machine.
    memory : int
        Peak bytes, besides those of the process; 0 where the plan counts them already.
    note : str
        What else there is to know.
    """

    seconds: float
    memory: int
    note: str = ""


def text_memory(text: float, table: float) -> int:
    """Return the peak bytes of reading this much text, unpacked, into a table.

    >>> text_memory(490_784_392, 200_000_000) // 10**6  # measured: 985
    1002
    """
    return int(TEXT * text + table + BUFFERS)


def parquet_memory(group: float, table: float) -> int:
    """Return the peak bytes of reading a Parquet file, given the bytes of its largest group of rows.

    >>> parquet_memory(206_884_690, 203_125_000) // 10**6  # one group; measured: 464
    590
    """
    return int(PACKED * group + TABLE * table + BUFFERS)


def with_starting(plan: Plan) -> Plan:
    """Return the plan with the time that a command takes to start; with kernels compiled earlier."""
    return replace(plan, seconds=(plan.seconds or 0.0) + STARTING, parts={"starting": STARTING, **plan.parts})


def with_reading(plan: Plan, reading: Reading | None) -> Plan:
    """Return the plan with the cost of reading added; none is added where the workers of a cluster read."""
    if reading is None or plan.backend == "dask":
        return plan
    here = PROCESS_BYTES + reading.memory if reading.memory else 0
    found = replace(
        plan,
        seconds=(plan.seconds or 0.0) + reading.seconds,
        parts={"reading the file": reading.seconds, **plan.parts},
        host_memory=max(plan.host_memory, here),
        notes=(*plan.notes, *([reading.note] if reading.note else [])),
    )
    if plan.backend != "cpu":
        return found
    memory, why_not = max(plan.memory, here), plan.why_not
    if why_not is None and plan.budget is not None and memory > plan.budget:
        why_not = (
            f"reading the file takes {memory / 1e9:.3g} GB, and there are {plan.budget / 1e9:.3g} GB: save "
            "the points as .npy, which is read from disk as needed, or choose fewer columns"
        )
    return replace(found, memory=memory, why_not=why_not)
