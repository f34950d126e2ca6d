"""Runs the units of work that are not done yet.

The rows of each are saved at once, and if one fails the others go on.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from geodim.errors import GeodimError, MissingExtraError
from geodim.experiments import NAMES, get_experiment
from geodim.experiments.experiment import Context, Options, StoppedError
from geodim.experiments.store import FAILED, MISSING, Store

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from geodim.experiments.experiment import Experiment, Unit

    Watch = Callable[[Experiment, Unit, float], None]

__all__ = ["Outcome", "Schedule", "make_plan", "merge_results", "run_plan"]

STATE = ".state"  # folder within the results for what lets unfinished units go on


@dataclass
class Schedule:
    """What is to be done for one experiment."""

    experiment: Experiment
    store: Store
    todo: list[Unit]
    done: list[Unit]
    missing: list[Unit]

    @property
    def seconds(self) -> float:
        """The estimated time of the units to do."""
        return sum(unit.cost.seconds for unit in self.todo)

    @property
    def memory(self) -> int:
        """The largest peak of a unit to do."""
        return max((unit.cost.memory for unit in self.todo), default=0)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON."""
        return {
            "experiment": self.experiment.name,
            "title": self.experiment.title,
            "units": len(self.todo) + len(self.done) + len(self.missing),
            "done": len(self.done),
            "to_do": [
                {"unit": unit.key, "seconds": unit.cost.seconds, "memory": unit.cost.memory}
                for unit in self.todo
            ],
            "missing": [{"unit": unit.key, "why": unit.missing} for unit in self.missing],
            "seconds": self.seconds,
            "memory": self.memory,
        }


@dataclass
class Outcome:
    """The outcome of a run."""

    computed: int = 0
    kept: int = 0
    missing: list[tuple[str, str, str]] = field(default_factory=list)  # experiment, unit, why
    failed: list[tuple[str, str, str]] = field(default_factory=list)
    stopped: str | None = None


def make_plan(names: Sequence[str], options: Options, folder: Path, *, fresh: bool = False) -> list[Schedule]:
    """Find out what is done and what is not; nothing is computed.

    Parameters
    ----------
    names : sequence of str
        Experiments, in this order.
    options : Options
        What the user asked for.
    folder : Path
        The results.
    fresh : bool
        Do again what is done already.
    """
    plans = []
    for name in names:
        experiment = get_experiment(name)
        plan = Schedule(experiment, Store(folder, experiment), [], [], [])
        for unit in experiment.units(options):
            if plan.store.is_done(unit) and not fresh:
                plan.done.append(unit)
            elif unit.missing is not None:
                plan.missing.append(unit)
            else:
                plan.todo.append(unit)
        plans.append(plan)
    return plans


def merge_results(sources: Sequence[Path], folder: Path) -> int:
    """Take over the finished units of other folders, as from a larger machine; return how many there were.

    All of them are read and tried before any is written.

    Parameters
    ----------
    sources : sequence of Path
        Where to look.
    folder : Path
        The results to complete; what is done there stays.
    """
    total, changed = 0, []
    for name in NAMES:
        store = Store(folder, get_experiment(name))
        found = [Store(source, store.experiment) for source in sources if (source / f"{name}.json").exists()]
        new = sum(store.adopt(other) for other in found)
        if new:
            total += new
            changed.append(store)
    for store in changed:
        store.write()
    return total


def run_plan(
    plans: Sequence[Schedule],
    options: Options,
    folder: Path,
    *,
    deadline: float | None = None,
    watch: Watch | None = None,
) -> Outcome:
    """Run the units to do; rows are written after every unit.

    Parameters
    ----------
    plans : sequence of Schedule
        From `make_plan`.
    options : Options
        The same as there.
    folder : Path
        The results.
    deadline : float, optional
        `time.monotonic` value after which no unit is begun, and the current one is ended if it can be.
    watch : callable, optional
        Called as ``watch(experiment, unit, share_done)``.

    Returns
    -------
    Outcome
        ``stopped`` is "time limit" or "interrupted" if it ended early; finished units are kept.
    """
    outcome = Outcome(kept=sum(len(plan.done) for plan in plans))
    for plan in plans:
        for unit in plan.missing:
            assert unit.missing is not None
            plan.store.put(unit, [], status=MISSING, note=unit.missing)
            outcome.missing.append((plan.experiment.name, unit.label, unit.missing))
    try:
        for plan in plans:
            for unit in plan.todo:
                if deadline is not None and time.monotonic() > deadline:
                    outcome.stopped = "time limit"
                    return outcome
                _do(plan, unit, Context(options, folder / STATE, deadline), watch, outcome)
    except StoppedError:
        late = deadline is not None and time.monotonic() > deadline
        outcome.stopped = "time limit" if late else "interrupted"
    except KeyboardInterrupt:
        outcome.stopped = "interrupted"
    return outcome


def _do(plan: Schedule, unit: Unit, context: Context, watch: Watch | None, outcome: Outcome) -> None:
    def progress(done: float, total: float) -> None:
        if watch is not None:
            watch(plan.experiment, unit, done / total if total else 0.0)

    progress(0, 1)
    started = time.monotonic()
    try:
        rows = unit.work(Context(context.options, context.state, context.deadline, progress))
    except StoppedError:
        raise
    except MissingExtraError as error:
        plan.store.put(unit, [], status=MISSING, note=str(error))
        outcome.missing.append((plan.experiment.name, unit.label, str(error)))
    except (GeodimError, OSError, MemoryError) as error:  # only this unit failed; the rest goes on
        reason = str(error) or type(error).__name__
        plan.store.put(unit, [], status=FAILED, note=reason)
        outcome.failed.append((plan.experiment.name, unit.label, reason))
    else:
        plan.store.put(unit, rows, seconds=time.monotonic() - started)
        outcome.computed += 1
    progress(1, 1)
