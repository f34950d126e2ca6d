"""Checkpoints of a pass over many columns: whole or not at all, and only ever continued for the same job."""

from __future__ import annotations

import json
import os
import tempfile
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from geodim.errors import DataFileError

if TYPE_CHECKING:
    from collections.abc import Callable

    from geodim.engine.layers import Layers

T = TypeVar("T")

NAME = "layers.npz"


class Checkpoint:
    """A folder that holds the state of one pass.

    Parameters
    ----------
    folder
        Made if it does not exist.
    job
        What is being computed; a checkpoint of another job is refused.
    """

    def __init__(self, folder: str | Path, job: dict[str, Any]) -> None:
        self.folder = Path(folder)
        self.job = json.dumps(job, sort_keys=True)
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            msg = f"cannot make the checkpoint folder {self.folder}: {error.strerror or error}"
            raise DataFileError(msg) from error

    def clear(self) -> None:
        """Forget what was saved."""
        (self.folder / NAME).unlink(missing_ok=True)

    def save(self, layers: Layers) -> None:
        """Write the state to a temporary file and rename it: a kill at any moment leaves the old or the new one."""
        arrays: dict[str, Any] = {"job": np.frombuffer(self.job.encode(), np.uint8)}
        for k, profile in enumerate(layers.profiles):
            arrays |= {f"phi{k}": profile.phi, f"owner{k}": profile.owner, f"work{k}": profile.work}
        arrays |= {"done": layers.profiles[0].done, "step": np.float64(layers.profiles[0].step)}
        handle, name = tempfile.mkstemp(dir=self.folder, prefix=".layers.")
        try:
            with os.fdopen(handle, "wb") as stream:
                np.savez(stream, **arrays)
                stream.flush()
                os.fsync(stream.fileno())
            Path(name).replace(self.folder / NAME)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise

    def saved_step(self, otherwise: float) -> float:
        """The resolution of what was saved, or the given one if nothing was."""
        return self._read(lambda saved: float(saved["step"]), otherwise)

    def load(self, layers: Layers) -> bool:
        """Fill ``layers`` with what was saved; False if nothing was."""
        for leftover in self.folder.glob(".layers.*"):
            leftover.unlink(missing_ok=True)

        def fill(saved: Any) -> bool:
            if float(saved["step"]) != layers.profiles[0].step:
                return False
            for k, profile in enumerate(layers.profiles):
                profile.phi[:], profile.owner[:] = saved[f"phi{k}"], saved[f"owner{k}"]
                profile.work[:] = saved[f"work{k}"]
            layers.finish(np.flatnonzero(saved["done"]).tolist())
            return True

        return self._read(fill, False)

    def _read(self, use: Callable[[Any], T], otherwise: T) -> T:
        path = self.folder / NAME
        try:
            with path.open("rb") as stream, np.load(stream, allow_pickle=False) as saved:
                if bytes(saved["job"]).decode() != self.job:
                    msg = f"{path} belongs to another computation: choose another folder, or delete this one"
                    raise DataFileError(msg)
                return use(saved)
        except FileNotFoundError:
            return otherwise
        except DataFileError:
            raise
        except (OSError, EOFError, TypeError, ValueError, KeyError, IndexError, zipfile.BadZipFile) as error:
            msg = f"the checkpoint {path} cannot be read ({error}): delete it to start anew"
            raise DataFileError(msg) from error
