"""Records of finished runs: a row, kept in a small file of its own, and tables made from rows."""

from __future__ import annotations

import dataclasses
import warnings
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from geodim._version import __version__
from geodim.data.files import csv_text, read_json
from geodim.errors import DataFileError, GeodimWarning, InputValueError
from geodim.output import json_text, make_folder, write_text
from geodim.saved.document import SavedResult, rebuilt
from geodim.text import html_table

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence

    from matplotlib.axes import Axes

__all__ = ["RunStore", "SignRun", "summarise_runs", "write_runs"]

FORMAT = "geodim-sign-run/1"  # of the files of a store
RUN_FORMAT = "geodim.SignRun/1"


@dataclass(frozen=True)
class SignRun(SavedResult):
    """One model, trained and tested.

    Attributes
    ----------
    dataset : str
        Name of the data set.
    k : int
        Hops.
    repetition : int
        The repetition, from 0 on.
    seed : int
        The seed of this run, see `geodim.gnn.runs.run_seed`.
    test_accuracy, valid_accuracy, epochs, best_epoch, seconds
        See `geodim.gnn.SignFit`.
    n_parameters : int
        Numbers that were trained.
    device, threads, torch
        Where it ran, and the version of PyTorch.

    Examples
    --------
    >>> from geodim.gnn import SignRun
    >>> [name for name in SignRun.__dataclass_fields__][:4]
    ['dataset', 'k', 'repetition', 'seed']
    """

    dataset: str
    k: int
    repetition: int
    seed: int
    test_accuracy: float
    valid_accuracy: float
    epochs: int
    best_epoch: int
    n_parameters: int
    seconds: float
    device: str
    threads: int
    torch: str

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return {"format": RUN_FORMAT, **asdict(self)}

    @classmethod
    def from_dict(cls, values: object) -> SignRun:
        """Rebuild a run from `to_dict`; raise for values that no run could have."""
        from geodim.saved.sign import RUN, related_in_training  # noqa: PLC0415

        def make(known: dict[str, Any]) -> SignRun:
            related_in_training(known)
            return cls(**known)

        made: SignRun = rebuilt(values, RUN_FORMAT, RUN, (), make)
        return made

    @property
    def name(self) -> str:
        """The run in a few words."""
        return f"{self.dataset}, k = {self.k}, run {self.repetition}"

    def plot(self, ax: Axes | None = None, **options: Any) -> Axes:  # noqa: ANN401 - handed on
        """Plot the test accuracy on a line, also several runs in the same axes."""
        from geodim.display.sampling import plot_numbers  # noqa: PLC0415

        row = (self.name, self.test_accuracy, self.test_accuracy, self.test_accuracy)
        return plot_numbers([row], ax=ax, **{"label": "test accuracy", **options})

    def _repr_html_(self) -> str:
        rows = [
            ("test accuracy", f"{self.test_accuracy:.4f}"),
            ("validation accuracy", f"{self.valid_accuracy:.4f}"),
            ("epochs", f"{self.epochs:,}, best {self.best_epoch:,}"),
            ("parameters", f"{self.n_parameters:,}"),
            ("seed", f"{self.seed}"),
            ("trained on", f"{self.device}, PyTorch {self.torch}"),
        ]
        return html_table(f"SIGN, {self.name}", rows)


class RunStore:
    """A folder with one file per finished run; a run of another job is never mistaken for one of this job.

    Parameters
    ----------
    folder
        Made if it does not exist.
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = Path(folder)
        make_folder(self.folder)

    def path(self, dataset: str, k: int, repetition: int) -> Path:
        """Return the file that holds a run."""
        return self.folder / f"{dataset}-k{k}-{repetition:03d}.json"

    def load(self, dataset: str, k: int, repetition: int, job: dict[str, Any]) -> SignRun | None:
        """Return a finished run, None if there is none."""
        path = self.path(dataset, k, repetition)
        if not path.exists():
            return None
        values: Any = read_json(path)  # anything but a record raises below
        try:
            if values["format"] != FORMAT:
                raise DataFileError(f"{path} has format {values['format']!r}, expected {FORMAT!r}: delete it")
            if values["job"] != job:
                other = [name for name in job if values["job"].get(name) != job[name]]
                raise DataFileError(
                    f"{path} was trained with another {' and '.join(other) or 'job'}: "
                    "choose another folder, or delete this one"
                )
            if values.get("version") != __version__:
                made = values.get("version", "an earlier version")
                warnings.warn(
                    f"{path} was trained by geodim {made}: trained again", GeodimWarning, stacklevel=2
                )
                return None
            run = self._run(values["run"])
            asked = (dataset, k, repetition, job.get("seed", run.seed))
            if (run.dataset, run.k, run.repetition, run.seed) != asked:
                raise ValueError("it is another run")
            return run
        except (KeyError, TypeError, AttributeError, ValueError) as error:
            raise DataFileError(
                f"{path} is damaged ({error!r}): delete it to train that model again"
            ) from error

    @staticmethod
    def _run(values: Any) -> SignRun:  # noqa: ANN401 - as it was read
        try:
            return SignRun.from_dict({"format": RUN_FORMAT, **values})
        except DataFileError as error:
            raise ValueError(str(error)) from error

    def save(self, run: SignRun, job: dict[str, Any]) -> None:
        """Write a finished run to its file."""
        values = {"format": FORMAT, "version": __version__, "job": job, "run": run.to_dict()}
        json_text(values, self.path(run.dataset, run.k, run.repetition))


def summarise_runs(runs: Sequence[SignRun]) -> list[dict[str, Any]]:
    """Return one row per data set and k: mean and standard deviation of the test accuracy.

    Both are taken over the repetitions.  The deviation is that of a sample (divided by the number of runs
    less one); None for a single run.

    Examples
    --------
    >>> one = SignRun("cora", 0, 0, 1, 0.50, 0.6, 20, 5, 9, 1.0, "cpu", 2, "2.13")
    >>> two = dataclasses.replace(one, repetition=1, test_accuracy=0.54)
    >>> [(row["mean"], round(row["std"], 4)) for row in summarise_runs([one, two])]
    [(0.52, 0.0283)]
    """
    groups: dict[tuple[str, int], list[SignRun]] = {}
    for run in runs:
        groups.setdefault((run.dataset, run.k), []).append(run)
    rows = []
    for (dataset, k), group in groups.items():
        accuracies = np.array([run.test_accuracy for run in group])
        rows.append(
            {
                "dataset": dataset,
                "k": k,
                "runs": len(group),
                "mean": float(accuracies.mean()),
                "std": float(accuracies.std(ddof=1)) if len(group) > 1 else None,
                "valid_mean": float(np.mean([run.valid_accuracy for run in group])),
                "epochs_mean": float(np.mean([run.epochs for run in group])),
                "seconds": float(sum(run.seconds for run in group)),
            }
        )
    return rows


def write_runs(runs: Sequence[SignRun], path: str | Path) -> None:
    r"""Write one row per run to a ``.csv`` or ``.json`` file, whole or not at all.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from geodim.gnn import write_runs
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_runs([], pathlib.Path(folder) / "runs.json")
    ...     (pathlib.Path(folder) / "runs.json").read_text()
    '[]\n'
    """
    target = Path(path)
    rows = [run.to_dict() for run in runs]
    if target.suffix == ".json":
        json_text(rows, target)
    elif target.suffix == ".csv":
        write_text(target, csv_text([each.name for each in dataclasses.fields(SignRun)], rows))
    else:
        raise InputValueError(f"{target}: runs are written as .csv or .json")
