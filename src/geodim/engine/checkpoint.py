"""Checkpoints of a pass over many columns.

They are written completely or not at all, by one run at a time, and continued only for the same job.
"""

from __future__ import annotations

import json
import math
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from geodim._version import __version__
from geodim.engine.profile import LOOSE
from geodim.engine.state import FAULTS, StateError, read_array, read_text
from geodim.errors import DataFileError
from geodim.locks import FolderLock
from geodim.output import make_folder, writing

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from types import TracebackType
    from typing import Self

    from numpy.lib.npyio import NpzFile

    from geodim.engine.profile import Profile

T = TypeVar("T")

NAME = "layers.npz"
MOST_HALVINGS = 64  # of the step; far fewer are ever needed
ANEW = "delete it to start over"
SAVE_EVERY = 30.0  # seconds between two checkpoints, unless asked for otherwise


@contextmanager
def checkpoint_for(
    folder: str | Path | None, job: Callable[[], dict[str, Any]]
) -> Iterator[Checkpoint | None]:
    """Open a checkpoint in ``folder`` for this run alone; without a folder, yield None.

    The job is described only if there is a folder.
    """
    if folder is None:
        yield None
    else:
        with Checkpoint(folder, job()) as store:
            yield store


class Checkpoint:
    """A folder that holds the state of one pass.

    Parameters
    ----------
    folder
        Created if it does not exist.  As a context manager, a checkpoint locks it against other runs.
    job
        Describes what is computed; a checkpoint of another job or another version of geodim is refused.
    """

    def __init__(self, folder: str | Path, job: dict[str, Any]) -> None:
        self.folder = Path(folder)
        self.job = json.dumps({**job, "version": __version__}, sort_keys=True)
        make_folder(self.folder, "choose another for the checkpoint")
        self._lock = FolderLock(self.folder, "checkpoint folder")

    def __enter__(self) -> Self:
        self._lock.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._lock.__exit__(kind, error, trace)

    def save(self, profiles: Sequence[Profile]) -> None:
        """Write the state; if the process is killed at any moment, the old or the new state is left.

        There is one profile for columns, or one for every number of hops.
        """
        # Copied first: a column that is finished while profiles are saved might be missing from some of them.
        done = profiles[0].done.copy()
        arrays: dict[str, Any] = {"job": np.frombuffer(self.job.encode(), np.uint8)}
        for k, profile in enumerate(profiles):
            arrays |= profile.state(str(k))
        arrays |= {f"note {name}": noted for name, noted in profiles[0].notes.items()}
        arrays |= {"done": done, "step": np.float64(profiles[0].step)}
        with writing(self.folder / NAME) as stream:
            np.savez(stream, **arrays)

    def saved_step(self, first: float) -> float:
        """Return the resolution of the saved state, or ``first`` if there is none.

        Passes begin with ``first``; what was saved must be that or some halving of it, or exact.
        """

        def read(saved: NpzFile) -> float:
            step = float(read_array(saved, "step", (), np.float64))
            halvings = math.log2(first / step) if first > 0.0 and 0.0 < step < math.inf else math.nan
            if step not in (first, 0.0) and not (halvings.is_integer() and 0 <= halvings <= MOST_HALVINGS):
                msg = f"the step is {step:g}, which {first:g} halved some times never is"
                raise StateError(msg)
            return step

        return self._read(read, first)

    def load(self, profiles: Sequence[Profile]) -> bool:
        """Fill empty profiles with the saved state; return False if there is none."""

        def fill(saved: NpzFile) -> bool:
            if float(read_array(saved, "step", (), np.float64)) != profiles[0].step:
                return False
            done = read_array(saved, "done", profiles[0].done.shape, np.bool_)
            _read_notes(saved, profiles)
            for k, profile in enumerate(profiles):
                profile.restore(saved, str(k))
                profile.done[:] = np.tile(done, k + 1)  # an attribute is done at all hops or at none
            return True

        return self._read(fill, False)

    def _read(self, use: Callable[[NpzFile], T], otherwise: T) -> T:
        path = self.folder / NAME
        try:
            if path.exists() and not path.is_file():  # reading from a pipe could wait forever
                raise StateError("it is not a file")
            with path.open("rb") as stream, np.load(stream, allow_pickle=False) as saved:
                self._check_job(read_text(saved, "job"))
                return use(saved)
        except FileNotFoundError:
            return otherwise
        except DataFileError:
            raise
        except StateError as error:
            msg = f"the checkpoint {path} was edited or damaged ({error}): {ANEW}"
            raise DataFileError(msg) from error
        except FAULTS as error:
            msg = f"the checkpoint {path} cannot be read ({error}): {ANEW}"
            raise DataFileError(msg) from error

    def _check_job(self, saved: str) -> None:
        if saved == self.job:
            return
        path = self.folder / NAME
        version = json.loads(saved).get("version", "an earlier version")
        if version != __version__:
            msg = (
                f"{path} was saved by geodim {version}, and this is {__version__}: "
                f"continue with that version, or {ANEW}"
            )
            raise DataFileError(msg)
        msg = f"{path} belongs to another computation: choose another folder, or delete this one"
        raise DataFileError(msg)


def _read_notes(saved: NpzFile, profiles: Sequence[Profile]) -> None:
    """Read what a pass noted about its columns.

    How far widths may be off may have been saved elsewhere: a cluster may be more exact.  What was saved
    without this note is exact; and it counts even if nothing is added to it any more.
    """
    for name, noted in profiles[0].notes.items():
        if name != LOOSE:
            noted[:] = read_array(saved, f"note {name}", noted.shape, noted.dtype)
    name = f"note {LOOSE}"
    if name not in saved.files:
        return
    noted = read_array(saved, name, profiles[-1].done.shape, np.float64)
    if not (noted.min() >= 0.0 and noted.max() < np.inf):
        msg = f"{name} holds what is not a width"
        raise StateError(msg)
    for profile in profiles:
        profile.notes[LOOSE] = noted
