"""What a grid costs before it runs: models, seconds, memory, disk.  Needs neither the data nor PyTorch.

Seconds are by a rough model: epochs x (arithmetic of one epoch / rate + parameters x time of an optimizer
step), with constants measured on 2 cores of an AMD EPYC (Zen 4).  The epochs are those that early stopping
took on the Planetoid graphs; they cannot be known beforehand.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from geodim.data.datasets.registry import get_spec
from geodim.gnn.inputs import hop_inputs_bytes
from geodim.gnn.settings import MEMORY, paper_settings, paper_task
from geodim.planning.words import duration, size as size_text
from geodim.saved.document import SavedResult, rebuilt
from geodim.text import html_table

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from matplotlib.axes import Axes

    from geodim.gnn.settings import SignSettings

__all__ = ["SignCost", "estimate_cost"]

FORMAT = "geodim.SignCost/1"
EPOCHS = 45  # of an average run
OPERATIONS_PER_SECOND = 6e10  # float32 products and sums of one training
SECONDS_PER_PARAMETER = 2e-8  # of one optimizer step
SECONDS_PER_EPOCH = 2e-3  # calls, whatever the size


@dataclass(frozen=True)
class SignCost(SavedResult):
    """The cost of a grid.

    Attributes
    ----------
    runs : int
        Models to train.
    seconds : float
        Wall time on the CPU, by the model above; good to a factor of about two.
    memory : int
        Peak bytes of hop features held, for the largest data set.
    disk : int
        Bytes of hop features in files, where they are larger than the memory they may take.
    parts : dict
        Seconds of each data set.

    Examples
    --------
    >>> from geodim.gnn import estimate_cost
    >>> cost = estimate_cost(["cora", "pubmed"], hops=[0, 1, 2], repetitions=10)
    >>> cost.runs, list(cost.parts)
    (60, ['cora', 'pubmed'])
    """

    runs: int
    seconds: float
    memory: int
    disk: int
    parts: dict[str, float] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return {"format": FORMAT, **asdict(self)}

    @classmethod
    def from_dict(cls, values: object) -> SignCost:
        """Rebuild an estimate from `to_dict`."""
        from geodim.saved.sign import COST  # noqa: PLC0415

        made: SignCost = rebuilt(values, FORMAT, COST, (), lambda known: cls(**known))
        return made

    def plot(self, ax: Axes | None = None, **options: Any) -> Axes:  # noqa: ANN401 - handed on
        """Plot the estimated time of each data set, a bar for each."""
        from geodim.display.plan import plot_times  # noqa: PLC0415

        title = f"{self.runs:,} trainings: about {duration(self.seconds)}"
        return plot_times(self.parts, ax, **{"title": title, **options})

    def _repr_html_(self) -> str:
        rows = [
            ("trainings", f"{self.runs:,}"),
            ("time", f"about {duration(self.seconds)}"),
            ("peak memory of hop features", size_text(self.memory)),
            ("hop features in files", size_text(self.disk)),
        ]
        return html_table("SIGN, estimated cost", rows)


def estimate_cost(
    datasets: str | Sequence[str],
    hops: Iterable[int] = range(6),
    repetitions: int = 10,
    *,
    settings: SignSettings | None = None,
    memory: int = MEMORY,
) -> SignCost:
    """Estimate what `run_grid` would take with the same arguments.

    Examples
    --------
    >>> estimate_cost(["cora", "citeseer", "pubmed"]).runs
    180
    >>> estimate_cost("ogbn-products").disk  # streamed
    5877669600
    """
    names = [datasets] if isinstance(datasets, str) else list(datasets)
    ks = list(hops)
    runs, held, disk = 0, 0, 0
    parts = dict.fromkeys(names, 0.0)
    for name in names:
        statistics, task = get_spec(name).statistics, paper_task(name)
        assert statistics is not None  # every data set with a task has them
        chosen = settings or paper_settings(name)
        rows = task.train + task.valid + task.test
        size = hop_inputs_bytes(rows, statistics.attributes, max(ks))
        disk += size * (size > memory)
        held = max(held, min(2 * size, 2 * memory))
        for k in ks:
            weights = (k + 1) * chosen.hidden * (statistics.attributes + task.classes)
            steps = -(-task.train // chosen.batch_size)
            # Forward and twice as much backward for training nodes, forward alone for the others.
            per_epoch = (
                2 * weights * (3 * task.train + task.valid) / OPERATIONS_PER_SECOND
                + weights * steps * SECONDS_PER_PARAMETER
                + SECONDS_PER_EPOCH
            )
            parts[name] += repetitions * (
                EPOCHS * per_epoch + 2 * weights * task.test / OPERATIONS_PER_SECOND
            )
        runs += len(ks) * repetitions
    return SignCost(runs, sum(parts.values()), held, disk, parts)
