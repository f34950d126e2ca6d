"""Trained models in files: plain arrays and JSON in an ``.npz``, no pickle, written whole or not at all."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import numpy as np

from geodim.errors import DataFileError
from geodim.gnn._torch import torch
from geodim.gnn.sign import SIGN
from geodim.output import writing

__all__ = ["load_model", "save_model"]

CONFIG = "config"


def save_model(model: SIGN, path: str | Path) -> None:
    """Write the parameters and statistics of a model.

    Parameters
    ----------
    model : SIGN
        Trained or not.
    path : path
        An ``.npz`` file.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from geodim.gnn import SIGN, save_model
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_model(SIGN(4, 2, hops=1, hidden=8), pathlib.Path(folder) / "model.npz")
    ...     [path.name for path in pathlib.Path(folder).iterdir()]
    ['model.npz']
    """
    arrays = {name: tensor.detach().cpu().numpy() for name, tensor in model.state_dict().items()}
    arrays[CONFIG] = np.frombuffer(json.dumps(model.config).encode(), np.uint8)
    with writing(path) as stream:
        np.savez(stream, **arrays)


def load_model(path: str | Path) -> SIGN:
    """Read a model, on the CPU and ready for inference.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from geodim.gnn import SIGN, load_model, save_model
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_model(SIGN(4, 2, hops=1, hidden=8), pathlib.Path(folder) / "model.npz")
    ...     load_model(pathlib.Path(folder) / "model.npz").config["hidden"]
    8
    """
    try:
        with Path(path).open("rb") as stream, np.load(stream, allow_pickle=False) as saved:
            model = SIGN(**json.loads(bytes(saved[CONFIG])))
            state = {name: torch.from_numpy(saved[name]) for name in saved.files if name != CONFIG}
        model.load_state_dict(state)
    except (OSError, EOFError, TypeError, ValueError, KeyError, RuntimeError, zipfile.BadZipFile) as error:
        raise DataFileError(f"{path} is not a saved SIGN model: {error}") from error
    return model.eval()
