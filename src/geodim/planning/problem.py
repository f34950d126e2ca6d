"""`Problem`, what is to be computed, by its sizes; and `Plan`, how, and at what cost."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, field
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

from geodim.arguments import whole_number
from geodim.engine.steps import resolution, tolerance, worth_counting
from geodim.engine.ways import MOST_COLUMNS, Way, few_windows
from geodim.errors import InputValueError
from geodim.saved.document import SavedResult, rebuilt, to_json_value

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FORMAT = "geodim.Plan/1"
PROCESS_BYTES = 180 << 20  # Python with NumPy, Numba and the compiled kernels


@dataclass(frozen=True)
class Problem:
    """Points by features, exactly or to a tolerance, plain or through the hops of a graph.

    Attributes
    ----------
    n_points, n_features : int
        For a graph, nodes and attributes.
    itemsize : int
        4 for float32, 8 for float64.
    rtol : float
        0 is exact, and so is a tolerance too small for floats to express.
    hops : int or None
        None for plain columns.
    stored_entries, products, scratch_itemsize, weighted
        For the operator of a graph: entries of the compressed rows, products per hop,
        bytes of scratch per value.
    row_major, by_rows : bool
        Whether the points lie one after the other, as in most files, or the columns; and whether some rows
        can be read apart from the others.
    at_once : int
        How many columns are read together at best.
    held : bool
        Whether the whole data lies in this process, as what is read from CSV does; a .npy file is mapped.
    apart : bool
        Whether a cluster's workers can read the data themselves, in chunks of rows.
    chunks : int or None
        Into how many rows of chunks it is cut there.
    n_rows : int or None
        Stored rows, where points have weights.
    runs : int or None
        The most values that a column stores, where it is read as values with multiplicities: sparse, or of
        points that have weights.
    made_from : int or None
        If columns are computed from points at every reading (distances, directions): bytes that are kept
        to compute them, besides the points as given; None if columns are stored.
    points : int
        Bytes of these points as they were given.
    fresh : bool
        Whether the columns, though stored, are computed only when they are measured.
    part : int or None
        Where these columns are a part of a larger family, for which bounds are found: bytes that this takes,
        besides some numbers per point.
    masses : bool
        Whether points have masses: weights that are not whole, or stand for many points.
    resident : bool or None
        Whether a cluster holds all columns; None where that is yet to be decided.
    on_device, graph_on_device : bool
        Whether the data, or the graph, lies on the GPU already.
    spread : float or None
        The widest range over Delta, which decides how many steps a tolerance needs; None
        stands for normal columns.
    known_steps : float or None
        Steps of the widest column, once the data was examined; infinity if steps are of no use, 0 if no
        column has any width.
    far : bool
        Whether the values are so far from 0, in steps, that float32 does not hold the numbers of the steps.
    again : bool
        Whether a pass with a coarser step came before.
    negligible : int
        How many of the smallest sizes hardly matter at this tolerance, judging by a sample.
    removal : bool
        Whether the two best columns of every size are kept, for what the removal of a feature costs.
    last_bit : bool
        Whether widths of hard columns must not be off by a few roundings.
    kernels : bool
        Whether compiled code is loaded already, as it is in a process that solved something larger before;
        otherwise a few windows are examined without it.

    Examples
    --------
    >>> from geodim import Problem, plan
    >>> problem = Problem(10**9, 64, 4)
    >>> plan(problem, "cpu", n_threads=16).backend
    'cpu'
    """

    n_points: int
    n_features: int
    itemsize: int = 4
    rtol: float = 0.0
    hops: int | None = None
    stored_entries: int = 0
    products: int = 1
    scratch_itemsize: int = 0
    weighted: bool = False
    row_major: bool = True
    by_rows: bool = True
    at_once: int = MOST_COLUMNS
    held: bool = False
    apart: bool = True
    chunks: int | None = None
    n_rows: int | None = None
    runs: int | None = None
    made_from: int | None = None
    points: int = 0
    fresh: bool = False
    part: int | None = None
    masses: bool = False
    resident: bool | None = None
    on_device: bool = False
    graph_on_device: bool = False
    spread: float | None = None
    known_steps: float | None = None
    far: bool = False
    again: bool = False
    negligible: int = 0
    removal: bool = False
    last_bit: bool = False
    kernels: bool = False

    def __post_init__(self) -> None:
        for name, least in (("n_points", 1), ("n_features", 1), ("stored_entries", 0)):
            whole_number(getattr(self, name), name, least)
        if self.itemsize not in (4, 8):
            raise InputValueError(f"itemsize must be 4 (float32) or 8 (float64), not {self.itemsize!r}")
        object.__setattr__(self, "rtol", tolerance(self.rtol))

    @property
    def asked(self) -> dict[str, Any]:
        """The fields of a problem that every `Plan` repeats."""
        entries = None if self.hops is None else self.stored_entries
        names = ("n_points", "n_features", "itemsize", "rtol", "hops")
        return {name: getattr(self, name) for name in names} | {"stored_entries": entries}

    @property
    def nbytes(self) -> int:
        """Bytes of the data."""
        return self.n_features * self.bytes_per_column if self.made_from is None else self.points

    @property
    def made_once(self) -> bool:
        """Whether columns are computed, and solved without a first pass over them."""
        return self.made_from is not None and self.rtol == 0.0 and self.n_rows is None

    @property
    def every_window(self) -> bool:
        """Whether NumPy examines every window, and nothing compiled is loaded.

        This is only for plain columns that are solved exactly.
        """
        plain = self.hops is None and self.made_from is None and self.part is None and not self.masses
        return plain and self.rtol == 0.0 and not self.kernels and few_windows(self.n_points, self.n_features)

    @property
    def bytes_per_column(self) -> int:
        """Bytes of a column as it is stored."""
        return (self.n_points if self.n_rows is None else self.n_rows) * self.itemsize

    @property
    def values(self) -> int:
        """How many values are sorted: every hop has columns of its own."""
        return self.n_points * self.n_features * (1 + (self.hops or 0))

    @property
    def range_over_delta(self) -> float:
        """The ratio of the widest range to Delta, as given or that of normal columns."""
        return normal_spread(self.n_points, self.n_features) if self.spread is None else self.spread

    @property
    def steps(self) -> float:
        """Steps of the widest column at the tolerance, known or expected; infinite if exact."""
        if self.known_steps is not None:
            return self.known_steps
        width = self.range_over_delta
        step = resolution(self.rtol, 1.0, width) if self.rtol > 0.0 else 0.0
        return math.ceil(width / step) + 1.0 if step > 0.0 else math.inf

    @property
    def counted(self) -> bool:
        """Whether one machine would count steps instead of sorting."""
        return self.hops is None and not self.far and worth_counting(self.steps, self.n_points)


def normal_spread(n_points: int, n_features: int) -> float:
    """Return the ratio of range to Delta of standard normal columns.

    Delta is the mean width of the central intervals, 2 E|x| = 4 / sqrt(2 pi); the largest of n d values lies
    about at the quantile 1 - 1 / (n d), on either side.

    Examples
    --------
    >>> round(normal_spread(10**7, 128), 1)  # measured: 7.3
    7.6
    """
    outside = 1.0 / max(n_points * n_features, 4)  # by symmetry; 1 less so little would be 1
    return -2.0 * NormalDist().inv_cdf(outside) / (4.0 / math.sqrt(math.tau))


def reachable_rtol(steps: float, spread: float) -> float:
    """Return the smallest tolerance that this many steps are sure to certify.

    A step is a power of two, so half of it may do.

    >>> reachable_rtol(2**21, 7.5) < 1e-4
    True
    """
    return 2.0 * spread / (0.23 * steps)


@dataclass(frozen=True)
class Plan(SavedResult):
    """How a problem is solved on one backend, and what that should take.

    Attributes
    ----------
    backend : str
        "cpu", "cuda" or "dask".
    way : Way
        What executors follow.
    method : str
        How columns are solved, in words.
    memory : int
        Peak bytes: of this process, of the device for CUDA, of every worker for Dask.
    memory_added : int
        On one machine, how much of ``memory`` comes on top of Python and the data; elsewhere all of it.
    host_memory : int
        For CUDA and Dask, peak bytes of the process that asks; for the CPU the same as ``memory``.
    budget : int or None
        The limit for ``memory``.
    columns : int
        Columns in flight: in a block, in a task.
    passes : int
        How often the data is read, the first look included; for hops, how often the graph is walked through.
    bytes_read : int
        From files or from memory, all passes together.
    bytes_moved : int
        To the device, or between the machines of a cluster.
    tasks : int
        Tasks of the cluster.
    seconds : float or None
        Estimated wall time.
    parts : dict
        Its parts; those that run at the same time add up to more than the whole.
    basis : str
        Where the rates come from.
    why_not : str or None
        Why it does not fit, and what would.
    notes : tuple of str
        What else there is to know.

    Examples
    --------
    >>> from geodim import Problem, plan
    >>> planned = plan(Problem(10**6, 32, 4), "cpu", n_threads=2)
    >>> planned.backend, planned.memory > 10**6 * 4
    ('cpu', True)
    """

    backend: str
    way: Way
    method: str
    n_points: int
    n_features: int
    itemsize: int
    rtol: float
    threads: int
    memory: int
    host_memory: int
    columns: int
    passes: int
    bytes_read: int
    memory_added: int = 0
    workers: int = 1
    hops: int | None = None
    stored_entries: int | None = None
    budget: int | None = None
    bytes_moved: int = 0
    tasks: int = 0
    steps: int | None = None
    seconds: float | None = None
    parts: dict[str, float] = field(default_factory=dict)
    basis: str = ""
    why_not: str | None = None
    notes: tuple[str, ...] = ()

    @property
    def fits(self) -> bool | None:
        """Whether it can be run within the budget; None if there is none."""
        if self.why_not is not None:
            return False
        return None if self.budget is None else self.memory <= self.budget

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON."""
        values = {"format": FORMAT} | asdict(self) | {"fits": self.fits, "notes": list(self.notes)}
        values["seconds"] = to_json_value(self.seconds)
        values["parts"] = {name: to_json_value(seconds) for name, seconds in self.parts.items()}
        if self.hops is None:
            return values
        return values | {"n_nodes": self.n_points, "attributes": self.n_features}

    @classmethod
    def from_dict(cls, values: object) -> Plan:
        """Rebuild a plan from `to_dict`."""
        from geodim.saved.plans import PLAN, PLAN_DERIVED, related_in_plan  # noqa: PLC0415

        def make(known: dict[str, Any]) -> Plan:
            related_in_plan(known)
            return cls(**{**known, "way": Way(**known["way"])})

        made: Plan = rebuilt(values, FORMAT, PLAN, PLAN_DERIVED, make)
        return made

    def plot(self, ax: Axes | None = None, **options: Any) -> Axes:  # noqa: ANN401 - handed on
        """Plot the parts of the estimated time, a bar for each."""
        from geodim.display.plan import plot_plan  # noqa: PLC0415

        return plot_plan(self, ax=ax, **options)

    def _repr_html_(self) -> str:
        from geodim.planning.words import plan_rows  # noqa: PLC0415
        from geodim.text import html_table  # noqa: PLC0415

        return html_table("plan", plan_rows(self))
