"""Grids of runs: data set by k by repetition.

Every finished run is kept, and a stopped grid can be continued.
"""

from __future__ import annotations

import hashlib
import tempfile
import time
import warnings
from contextlib import ExitStack, nullcontext, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from geodim.arguments import whole_number
from geodim.data.datasets import GraphDataset, load_dataset
from geodim.engine.driver import Driver
from geodim.errors import GeodimError, InputValueError, InterruptedWarning
from geodim.gnn._torch import torch
from geodim.gnn.inputs import hop_inputs, hop_inputs_bytes
from geodim.gnn.models import save_model
from geodim.gnn.records import RunStore, SignRun
from geodim.gnn.settings import MEMORY, SignSettings, paper_settings
from geodim.gnn.training import choose_device, fit_sign
from geodim.locks import FolderLock
from geodim.progress import showing
from geodim.temporary import temporary_folder

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterable, Sequence

    from geodim.gnn.inputs import HopInputs
    from geodim.progress import Progress

__all__ = ["run_grid", "run_seed"]

WHOLE_BYTES = 64 << 20  # up to this size an array is hashed whole, beyond it in pieces
PIECES, PIECE_BYTES = 64, 64 << 10


class _StoppedError(GeodimError):
    """Raised to end the grid early; never leaves this module."""


def run_seed(seed: int, k: int, repetition: int) -> int:
    """Return the seed of one run: different for every run of a grid, the same whatever else is in the grid.

    Examples
    --------
    >>> run_seed(0, 1, 2) == run_seed(0, 1, 2) != run_seed(0, 2, 1)
    True
    """
    return int(np.random.SeedSequence([seed, k, repetition]).generate_state(1, np.uint32)[0])


def run_grid(
    datasets: str | GraphDataset | Sequence[str | GraphDataset],
    hops: Iterable[int] = range(6),
    repetitions: int = 10,
    *,
    settings: SignSettings | None = None,
    root: str | os.PathLike[str] | None = None,
    offline: bool = False,
    checkpoint: str | os.PathLike[str] | None = None,
    device: str = "cpu",
    n_threads: int | None = None,
    memory: int = MEMORY,
    seed: int = 0,
    time_limit: float | None = None,
    keep_models: bool = False,
    progress: Progress = None,
) -> list[SignRun]:
    """Train and test SIGN models for every data set, every k and every repetition.

    Hop features are computed once per data set, for the largest k.  If they are larger than ``memory``, they
    are written to files and gathered batch by batch; the accuracies are the same.

    Parameters
    ----------
    datasets : str, GraphDataset or a sequence of them
        Names as for `geodim.load_dataset`, or loaded data sets.
    hops : iterable of int
        The values of k.
    repetitions : int
        Runs for each data set and k, with seeds of their own.
    settings : SignSettings, optional
        The paper's for each data set by default, see `paper_settings`.
    root, offline
        As for `geodim.load_dataset`.
    checkpoint : path, optional
        Folder with one small file per finished run (and large hop features).  A later call with
        the same arguments takes finished runs from there; one with other settings is refused.
        Nothing is kept by default.
    device : {"cpu", "cuda", "cuda:0", ..., "auto"}
        Where to train.  CUDA only if asked for.
    n_threads : int, optional
        Threads to compute hops and to train with.  By default all cores for the hops and for large models,
        one for small models, see `fit_sign`.
    memory : int
        Bytes of hop features that may be held.
    seed : int
        Base of the seeds of all runs, see `run_seed`.
    time_limit : float, optional
        Seconds after which to stop; the run under way is given up.
    keep_models : bool
        Also keep each trained model in the folder, for `load_model`.
    progress : bool or callable, optional
        True shows a bar; a function is called as ``progress(runs_done, runs)``, in the calling thread.

    Returns
    -------
    list of SignRun
        In the order of the arguments; fewer than asked for, with an `InterruptedWarning`, after
        Ctrl-C or the time limit.

    Examples
    --------
    >>> from dataclasses import replace
    >>> import numpy as np
    >>> from geodim.data.datasets import load_dataset
    >>> from geodim.gnn import SignSettings, run_grid
    >>> data = load_dataset("sbm", nodes=90, blocks=3, attributes=4)
    >>> splits = {"train": np.arange(30), "valid": np.arange(30, 60), "test": np.arange(60, 90)}
    >>> data, small = replace(data, splits=splits), SignSettings(hidden=8)
    >>> runs = run_grid(data, hops=[0, 1], repetitions=2, settings=small)
    >>> [(run.k, run.repetition) for run in runs]
    [(0, 0), (0, 1), (1, 0), (1, 1)]
    """
    chosen = [datasets] if isinstance(datasets, str | GraphDataset) else list(datasets)
    ks = _ks(hops)
    repetitions = whole_number(repetitions, "repetitions", 1)
    if keep_models and checkpoint is None:
        raise InputValueError("models can only be kept in a folder: give checkpoint")
    where = choose_device(device)
    grid = _Grid(
        ks=ks,
        repetitions=repetitions,
        device=f"{where.type}:{where.index}" if where.type == "cuda" else "cpu",
        threads=n_threads,
        memory=whole_number(memory, "memory (bytes)", 0),
        seed=whole_number(seed, "seed", 0),
        store=None if checkpoint is None else RunStore(checkpoint),
        keep_models=keep_models,
        driver=Driver(None if time_limit is None else time.monotonic() + time_limit),
        told=lambda _done, _total: None,
        total=len(chosen) * len(ks) * repetitions,
        runs=[],
    )
    # Before anything is trained: a wrong name, or a data set without labels, should not show up after hours.
    plans = [(one, settings or paper_settings(one if isinstance(one, str) else one.name)) for one in chosen]
    lock = nullcontext() if grid.store is None else FolderLock(grid.store.folder, "folder of runs")
    with (
        lock,
        showing(progress, "runs") as told,
        grid.driver.heeding(),
        suppress(_StoppedError),
    ):
        grid.told = told or grid.told
        for one, how in plans:
            grid.check()
            data = load_dataset(one, root, offline=offline) if isinstance(one, str) else one
            grid.train_all(data, how)
    if grid.driver.stopped:
        more = "" if checkpoint is None else "; the same call continues from there"
        warnings.warn(
            f"{grid.driver.stopped}: {len(grid.runs)} of {grid.total} runs are finished{more}",
            InterruptedWarning,
            stacklevel=2,
        )
    return grid.runs


@dataclass
class _Grid:
    """The state of a running grid."""

    ks: list[int]
    repetitions: int
    device: str
    threads: int | None
    memory: int
    seed: int
    store: RunStore | None
    keep_models: bool
    driver: Driver
    told: Callable[[int, int], None]
    total: int
    runs: list[SignRun]

    def check(self) -> None:
        """Raise an error if the run should stop."""
        if self.driver.late():
            raise _StoppedError

    def report(self) -> None:
        """Say how far it is; raise if it is time to stop."""
        self.told(len(self.runs), self.total)
        self.check()

    def train_all(self, data: GraphDataset, settings: SignSettings) -> None:
        """Do all runs of one data set, or take them from the store."""
        if data.y is None or not {"train", "valid", "test"} <= set(data.splits):
            raise InputValueError(f"{data.name} has no labels or no splits train, valid and test")
        job = {
            "data": data_digest(data) if self.store is not None else "",
            "settings": settings.to_dict(),
            "device": self.device.partition(":")[0],
        }
        inputs: HopInputs | None = None
        with ExitStack() as stack:
            for k in self.ks:
                for repetition in range(self.repetitions):
                    number = run_seed(self.seed, k, repetition)
                    own = {**job, "seed": number}
                    run = None if self.store is None else self.store.load(data.name, k, repetition, own)
                    if run is None:
                        if inputs is None:
                            self.report()
                            inputs = self._inputs(data, stack)
                        run = self._train(data, inputs, settings, k, repetition, number)
                        if self.store is not None:
                            self.store.save(run, own)
                    self.runs.append(run)
                    self.report()

    def _inputs(self, data: GraphDataset, stack: ExitStack) -> HopInputs:
        nodes = np.unique(np.concatenate([data.splits[part] for part in ("train", "valid", "test")]))
        folder = None
        if hop_inputs_bytes(len(nodes), data.n_attributes, max(self.ks)) > self.memory:
            base = (
                stack.enter_context(temporary_folder(Path(tempfile.gettempdir()), 0o700))
                if self.store is None
                else self.store.folder
            )
            folder = base / "hops" / data.name
        return hop_inputs(
            data.x,
            data.edge_index,
            max(self.ks),
            nodes=nodes,
            folder=folder,
            n_threads=self.threads,
            stop=self.check,
        )

    def _train(
        self,
        data: GraphDataset,
        inputs: HopInputs,
        settings: SignSettings,
        k: int,
        repetition: int,
        seed: int,
    ) -> SignRun:
        fit = fit_sign(
            inputs,
            data.y,
            data.splits,
            k,
            settings=settings,
            seed=seed,
            device=self.device,
            n_threads=self.threads,
            memory=self.memory,
            on_epoch=lambda _epoch, _loss, _valid: self.report(),
        )
        assert fit.model is not None  # it was trained just now
        if self.keep_models and self.store is not None:
            save_model(fit.model, self.store.path(data.name, k, repetition).with_suffix(".npz"))
        return SignRun(
            dataset=data.name,
            k=k,
            repetition=repetition,
            seed=seed,
            test_accuracy=fit.test_accuracy,
            valid_accuracy=fit.valid_accuracy,
            epochs=fit.epochs,
            best_epoch=fit.best_epoch,
            n_parameters=fit.model.n_parameters,
            seconds=round(fit.seconds, 3),
            device=self.device,
            threads=fit.threads,
            torch=torch.__version__,
        )


def data_digest(data: GraphDataset) -> str:
    """Return a digest of a data set.

    For arrays beyond 64 MiB it covers the sizes and 64 evenly spaced pieces.
    """
    x: Any = data.x
    parts = [x.data, x.indices, x.indptr] if hasattr(x, "indptr") else [x]
    parts += [data.edge_index, data.y, *(data.splits[name] for name in sorted(data.splits))]
    digest = hashlib.blake2b(digest_size=16)
    for part in parts:
        array = np.asarray(part)
        digest.update(f"{array.shape} {array.dtype.str}".encode())
        flat = array.reshape(-1)
        if array.nbytes <= WHOLE_BYTES:
            digest.update(np.ascontiguousarray(flat).tobytes())
            continue
        length = PIECE_BYTES // array.itemsize
        for start in np.linspace(0, len(flat) - length, PIECES).astype(np.int64):
            digest.update(flat[start : start + length].tobytes())
    return digest.hexdigest()


def _ks(hops: Iterable[int]) -> list[int]:
    if isinstance(hops, int):
        raise InputValueError(f"hops are the values of k, such as range({hops + 1}), not one number")
    ks = [whole_number(k, "hops", 0) for k in hops]
    if not ks or len(set(ks)) < len(ks):
        raise InputValueError(f"hops must be different values of k, at least one, not {ks!r}")
    return ks
