"""Checkpoints of a pass over many columns: whole or not at all, and only ever continued for the same job."""

from __future__ import annotations

import json
import os
import tempfile
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from geodim.errors import DataFileError

if TYPE_CHECKING:
    from geodim.engine.layers import Layers

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
        arrays["done"] = layers.profiles[0].done
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

    def load(self, layers: Layers) -> bool:
        """Fill ``layers`` with what was saved; False if nothing was."""
        for leftover in self.folder.glob(".layers.*"):
            leftover.unlink(missing_ok=True)
        path = self.folder / NAME
        if not path.exists():
            return False
        try:
            with np.load(path, allow_pickle=False) as saved:
                if bytes(saved["job"]).decode() != self.job:
                    msg = f"{path} belongs to another computation: choose another folder, or delete this one"
                    raise DataFileError(msg)
                for k, profile in enumerate(layers.profiles):
                    profile.phi[:], profile.owner[:], profile.work[:] = (
                        saved[f"phi{k}"],
                        saved[f"owner{k}"],
                        saved[f"work{k}"],
                    )
                layers.finish(np.flatnonzero(saved["done"]).tolist())
        except (OSError, ValueError, KeyError, zipfile.BadZipFile) as error:
            if isinstance(error, DataFileError):
                raise
            msg = f"the checkpoint {path} cannot be read ({error}): delete it to start anew"
            raise DataFileError(msg) from error
        return True
