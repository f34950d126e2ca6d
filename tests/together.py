"""Threads that all take part, however busy the machine is.

A thread that gets no processor in time gets no column either, and never asks for the memory that was
predicted for it: what a run of several threads takes would depend on what else the machine does.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from geodim.engine import solve

if TYPE_CHECKING:
    import pytest

PATIENCE = 60.0  # seconds


def every_thread_takes_a_column(monkeypatch: pytest.MonkeyPatch, threads: int) -> None:
    """Let no thread solve its first column before each of ``threads`` threads has one."""
    all_here = threading.Barrier(threads, timeout=PATIENCE)
    made = solve._Run._solver

    def waiting(run: solve._Run) -> object:
        first = not hasattr(run.local, "solver")
        solver = made(run)
        if first:
            all_here.wait()
        return solver

    monkeypatch.setattr(solve._Run, "_solver", waiting)
