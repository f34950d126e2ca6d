"""SIGN classifiers on the hop features of a graph, trained and tested as in the paper.

>>> from geodim.gnn import paper_settings
>>> paper_settings("cora").hidden
64

Names are imported when first used: what trains needs PyTorch
(``pip install 'geodim[gnn]'``), what plans does not.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

_WHERE = {
    "SIGN": "sign",
    "EarlyStopping": "training",
    "HopInputs": "inputs",
    "SignCost": "cost",
    "SignFit": "training",
    "SignRun": "records",
    "SignSettings": "settings",
    "estimate_cost": "cost",
    "fit_sign": "training",
    "hop_inputs": "inputs",
    "load_model": "models",
    "paper_settings": "settings",
    "run_grid": "runs",
    "save_model": "models",
    "summarise_runs": "records",
    "write_runs": "records",
}
_FORMERLY = {"summarise": "summarise_runs"}  # old names still work

__all__ = [
    "SIGN",
    "EarlyStopping",
    "HopInputs",
    "SignCost",
    "SignFit",
    "SignRun",
    "SignSettings",
    "estimate_cost",
    "fit_sign",
    "hop_inputs",
    "load_model",
    "paper_settings",
    "run_grid",
    "save_model",
    "summarise_runs",
    "write_runs",
]

if TYPE_CHECKING:
    from geodim.gnn.cost import SignCost, estimate_cost
    from geodim.gnn.inputs import HopInputs, hop_inputs
    from geodim.gnn.models import load_model, save_model
    from geodim.gnn.records import SignRun, summarise_runs, write_runs
    from geodim.gnn.runs import run_grid
    from geodim.gnn.settings import SignSettings, paper_settings
    from geodim.gnn.sign import SIGN
    from geodim.gnn.training import EarlyStopping, SignFit, fit_sign


def __getattr__(name: str) -> object:
    name = _FORMERLY.get(name, name)
    if name in _WHERE:
        return getattr(import_module(f"geodim.gnn.{_WHERE[name]}"), name)
    msg = f"module 'geodim.gnn' has no attribute {name!r}"
    raise AttributeError(msg)


def __dir__() -> list[str]:
    return sorted(__all__)
