"""The experiments of the paper, one module per table or figure.

Each can be resumed, and its cost is known beforehand.

>>> from geodim.experiments import NAMES, get_experiment
>>> get_experiment("random").title
'Error on randomly generated data'
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from geodim.errors import InputValueError

if TYPE_CHECKING:
    from geodim.experiments.experiment import Experiment

__all__ = ["NAMES", "get_experiment"]

_MODULES = {
    "statistics": "statistics",
    "support": "support_study",
    "khop": "khop_ids",
    "mle": "mle",
    "sign": "sign",
    "one-hot": "one_hot",
    "papers100m": "papers100m",
    "random": "random_data",
    "study": "study",
    "selection": "selection",
    "binary": "binary_study",
}
NAMES = tuple(_MODULES)  # in the paper's order, then what goes beyond it


def get_experiment(name: str) -> Experiment:
    """Return the experiment of a name."""
    if name not in _MODULES:
        raise InputValueError(f"no experiment is called {name!r}; there are {', '.join(NAMES)}")
    experiment: Experiment = import_module(f"geodim.experiments.{_MODULES[name]}").EXPERIMENT
    return experiment
