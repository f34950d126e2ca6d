"""What was predicted and what happened, side by side."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from geodim.engine.ways import Way

if TYPE_CHECKING:
    from geodim.planning.problem import Plan


@dataclass(frozen=True)
class Cost:
    """What a computation takes.

    Attributes
    ----------
    memory : int or None
        Peak bytes: on one machine those beyond what the process held before, on a GPU those on the device,
        on a cluster those of the worker that takes most.  None if unknown, as when the process
        took more before.
    seconds : float or None
        From the call to the result.
    passes : int
        How often the data is read, or for hops how often the graph is walked through.
    """

    memory: int | None
    seconds: float | None
    passes: int


@dataclass(frozen=True)
class PlanRecord:
    """The plan of a computation, and what happened.

    Attributes
    ----------
    backend, method : str
        Where it was computed, and how, in words.
    way : Way
        How in detail, as executed.
    predicted, happened : Cost
        Time is predicted by rates of the machine of the benchmarks; `geodim.plans.calibrate` measures those
        of another one.
    """

    backend: str
    method: str
    way: Way
    predicted: Cost
    happened: Cost

    @classmethod
    def of(cls, plan: Plan, *, memory: int | None, seconds: float, attempts: int) -> PlanRecord:
        """Return the record of a plan that was carried out, this many times with ever finer steps."""
        first = 1 if plan.hops is None else 0  # the first pass over the data is made once
        passes = first + attempts * (plan.passes - first)
        return cls(
            plan.backend,
            plan.method,
            plan.way,
            Cost(plan.memory_added, plan.seconds, plan.passes),
            Cost(memory, seconds, passes),
        )

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON."""
        return asdict(self)

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> PlanRecord:
        """Rebuild a record from `to_dict`."""
        return cls(
            **{
                **values,
                "way": Way(**values["way"]),
                "predicted": Cost(**values["predicted"]),
                "happened": Cost(**values["happened"]),
            }
        )
