"""`StreamingDimension`: batches in, certified bounds on the dimension of all of them out."""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import BaseEstimator

from geodim.arguments import real_number, whole_number
from geodim.data.checks import scan_ranges
from geodim.data.sources import as_source
from geodim.engine.parts import thread_count
from geodim.errors import InputTypeError, InputValueError, ShapeError
from geodim.memory import in_bytes
from geodim.streaming.saved import read_state, state_text
from geodim.streaming.sketch import CELL_BYTES, Sketch
from geodim.summary import summarise

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path
    from typing import Self

    from geodim.data.sources import ColumnSource
    from geodim.result import IDResult

CELLS = 512  # per 1 / rtol: enough for 10^8 values of any distribution, see docs/streaming.md
FEWEST = 64
SHARE = 0.5  # part of the memory for the cells; the rest is for incoming batches
LARGEST_WHOLE = 2.0**53


class StreamingDimension(BaseEstimator):  # type: ignore[misc] # scikit-learn has no types
    """The intrinsic dimension of data that comes in batches, in bounded memory, with certified bounds.

    Values are counted in cells; no batch is kept.  Cells depend on the values alone, so that batches may come
    in any order, and parts of a stream may be measured separately and merged: the state is the same, bit for
    bit. While a column has no more different values than cells, each has a cell of its own.

    Parameters
    ----------
    rtol : float, default 1e-3
        How close the bounds should be, (upper - lower) / lower.  It decides how many cells a column has, and
        is not a guarantee: ``error_`` is what was reached.
    memory : int, default 2 * 10**9
        Bytes for all of it.  With many columns there are fewer cells for each.
    scale : {"global", "none"}
        What features are divided by: the largest range of a column so far, or nothing.
    n_threads : int, optional
        Threads that read batches; all available cores by default.

    Attributes
    ----------
    n_points_ : int
        Points so far.
    n_features_in_ : int
        Columns.
    dimension_, lower_, upper_ : float
        The intrinsic dimension of all points so far, and certified bounds on it.
    error_ : float
        ``(upper_ - lower_) / lower_``.
    discriminability_ : float
        Delta.
    result_ : IDResult
        Everything that is known, computed when it is asked for.

    Examples
    --------
    >>> import numpy as np
    >>> from geodim import StreamingDimension
    >>> stream = StreamingDimension()
    >>> for start in range(0, 1000, 100):
    ...     stream = stream.partial_fit(np.arange(start, start + 100.0)[:, np.newaxis])
    >>> stream.n_points_
    1000
    >>> stream.lower_ <= 4.0 <= stream.upper_
    True
    """

    n_points_: int
    n_features_in_: int
    _result: IDResult | None

    def __init__(
        self,
        rtol: float = 1e-3,
        memory: int = 2 * 10**9,
        *,
        scale: str = "global",
        n_threads: int | None = None,
    ) -> None:
        self.rtol = rtol
        self.memory = memory
        self.scale = scale
        self.n_threads = n_threads

    def fit(self, X: object, y: object = None) -> Self:  # noqa: ARG002
        """Start over with a batch."""
        for name in ("_sketches", "n_points_", "n_features_in_", "_names", "_result"):
            self.__dict__.pop(name, None)
        return self.partial_fit(X)

    def partial_fit(self, X: object, y: object = None) -> Self:  # noqa: ARG002
        """Add a batch of points; if it is refused, none of it is added.

        Parameters
        ----------
        X : array-like of shape (n_points, n_features)
            Numbers in any form that `geodim.intrinsic_dimension` takes and that lies on this machine.
        y : ignored
            Present by convention.
        """
        threads = thread_count(self.n_threads)
        source = as_source(X)
        ranges = scan_ranges(source, threads)
        if _whole_type(X) and ranges.magnitude >= LARGEST_WHOLE:
            msg = (
                "the batch holds whole numbers of 2^53 and more, which float64 does not tell apart: "
                "subtract a constant first"
            )
            raise InputValueError(msg)
        if not hasattr(self, "_sketches"):
            self._begin(source.n_features, source.names)
        elif source.n_features != self.n_features_in_:
            msg = f"the batch has {source.n_features} columns, and the ones before had {self.n_features_in_}"
            raise ShapeError(msg)
        for column in range(source.n_features):
            _take(source, column, self._sketches[column])
        self.n_points_ += source.n_points
        self._result = None
        return self

    def merge(self, other: object) -> StreamingDimension:
        """Return the dimension of all points of both, as a new object; both stay as they are.

        In any order of merging, the state is that of one object that has seen all batches.

        Parameters
        ----------
        other : StreamingDimension
            With the same rtol, memory and scale, and the same columns.
        """
        if not isinstance(other, StreamingDimension):
            msg = f"a StreamingDimension is merged with another one, not with {type(other).__name__}"
            raise InputTypeError(msg)
        for name in ("rtol", "memory", "scale"):
            mine, its = getattr(self, name), getattr(other, name)
            if mine != its:
                msg = f"both must have the same {name}, which decides on the cells, not {mine!r} and {its!r}"
                raise InputValueError(msg)
        parts = [part for part in (self, other) if hasattr(part, "_sketches")]
        merged = StreamingDimension(**self.get_params(deep=False))
        if not parts:
            return merged
        if len({part.n_features_in_ for part in parts}) > 1:
            msg = f"one has {self.n_features_in_} columns, the other {other.n_features_in_}"
            raise ShapeError(msg)
        merged._begin(parts[0].n_features_in_, parts[0]._names)
        merged.n_points_ = sum(part.n_points_ for part in parts)
        if len(parts) == 1:
            merged._sketches = [sketch.merged(Sketch(sketch.most)) for sketch in parts[0]._sketches]
        else:
            both = zip(parts[0]._sketches, parts[1]._sketches, strict=True)
            merged._sketches = [one.merged(two) for one, two in both]
        return merged

    @property
    def result_(self) -> IDResult:
        """The result for all points so far."""
        if not hasattr(self, "_sketches"):
            msg = "there is no result yet: give a batch to partial_fit first"
            raise InputValueError(msg)
        if self._result is None:
            self._result = self._computed()
        return self._result

    @property
    def dimension_(self) -> float:
        """The intrinsic dimension, between the bounds."""
        return self.result_.dimension

    @property
    def lower_(self) -> float:
        """Certified lower bound."""
        return self.result_.lower

    @property
    def upper_(self) -> float:
        """Certified upper bound."""
        return self.result_.upper

    @property
    def error_(self) -> float:
        """The relative distance of the bounds, ``(upper_ - lower_) / lower_``."""
        return self.result_.error

    @property
    def discriminability_(self) -> float:
        """Delta."""
        return self.result_.discriminability

    @property
    def nbytes(self) -> int:
        """Bytes of the cells, and of values that wait to be counted."""
        return sum(sketch.nbytes for sketch in getattr(self, "_sketches", []))

    def to_json(self, path: str | Path | None = None) -> str:
        """Return the state as JSON, and write it to ``path`` (whole or not at all) if given, for `from_json`.

        For bounds and profile only, use ``result_.to_json()``.
        """
        return state_text(self._state(), path)

    @classmethod
    def from_json(cls, source: str | Path) -> StreamingDimension:
        """Continue where `to_json` was called: from its text, or from the file."""
        state = read_state(source)
        stream = cls(state["rtol"], state["memory"], scale=state["scale"])
        if state["columns"]:
            stream._begin(len(state["columns"]), state["names"])
            stream.n_points_ = state["n_points"]
            for sketch, (level, least, greatest, counts) in zip(
                stream._sketches, state["columns"], strict=True
            ):
                sketch.level, sketch.least, sketch.greatest, sketch.counts = level, least, greatest, counts
        return stream

    def _state(self) -> dict[str, Any]:
        begun = hasattr(self, "_sketches")
        return {
            "rtol": float(self.rtol),
            "memory": int(self.memory),
            "scale": self.scale,
            "n_points": self.n_points_ if begun else 0,
            "names": self._names if begun else None,
            "columns": [sketch.to_dict() for sketch in self._sketches] if begun else [],
        }

    def _begin(self, n_features: int, names: Sequence[str] | None) -> None:
        most = cells_for(n_features, self.rtol, self.memory)
        if self.scale not in ("global", "none"):
            msg = f"a stream never has whole columns: scale is 'global' or 'none', not {self.scale!r:.60}"
            raise InputValueError(msg)
        self.n_points_, self.n_features_in_ = 0, n_features
        self._names = None if names is None else list(names)
        self._sketches = [Sketch(most) for _ in range(n_features)]
        self._result = None

    def _computed(self) -> IDResult:
        from geodim.streaming.bounds import phi_bounds  # noqa: PLC0415 - imports Numba

        started = time.monotonic()
        profile, ranges = phi_bounds([sketch.settle() for sketch in self._sketches], float(self.rtol))
        return summarise(
            profile, ranges, normalize=self.scale == "global", names=self._names, rtol=float(self.rtol),
            seconds=time.monotonic() - started, n_threads=thread_count(self.n_threads),
        )  # fmt: skip


def cells_for(n_features: int, rtol: object, memory: object) -> int:
    """Return how many cells each column has: as many as rtol needs, as far as memory allows.

    Examples
    --------
    >>> cells_for(1, 1e-3, 2 * 10**9), cells_for(1000, 1e-3, 2 * 10**9)
    (512000, 31250)
    """
    tolerance = real_number(rtol, "rtol", above=0.0, below=math.inf)
    budget = whole_number(memory, "memory (bytes)", 1)
    room = int(SHARE * budget / (CELL_BYTES * n_features))
    if room < FEWEST:
        need = in_bytes(int(FEWEST * CELL_BYTES * n_features / SHARE))
        msg = f"{n_features} columns need at least {need} of memory, not {in_bytes(budget)}"
        raise InputValueError(msg)
    return max(min(room, math.ceil(CELLS / tolerance)), FEWEST)


def _take(source: ColumnSource, column: int, sketch: Sketch) -> None:
    """Add one column of a batch."""
    if source.runs:
        sketch.add(*source.read_runs(column))
        return
    values = np.empty((1, source.n_points), source.dtype)
    source.read([column], values)
    sketch.add(values[0])


def _whole_type(X: object) -> bool:
    """Return whether the values may be integers that float64 does not hold."""
    kind = str(getattr(X, "dtype", "")).rpartition(".")[2]
    return kind in ("int64", "uint64") or not hasattr(X, "dtype")
