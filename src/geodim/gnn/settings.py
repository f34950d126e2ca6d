"""Parameters of a training, and those of the paper for each of its data sets.

They are from the paper's appendix "Setup of SIGN classifiers".  Where it says nothing, docs/sign.md states
what was chosen and what the choice was measured against.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any, Literal

from geodim.arguments import one_of, real_number, whole_number
from geodim.data.datasets.registry import get_spec
from geodim.errors import InputValueError

__all__ = ["MEMORY", "SignSettings", "Task", "paper_settings", "paper_task"]

MEMORY = 2 << 30  # bytes of hop features that are held rather than gathered batch by batch


@dataclass(frozen=True)
class SignSettings:
    """How a SIGN model is built and trained.

    Attributes
    ----------
    hidden : int
        Size of the inception layer, for each hop.
    input_dropout, dropout : float
        Dropout probabilities of the hop features and of the hidden layer.
    learning_rate, weight_decay : float
        Parameters of the optimizer.
    optimizer : {"adam", "adamw"}
        Adam, whose weight decay is an L2 penalty, or AdamW, whose weight decay is
        decoupled from the gradient.
    batch_size : int
        Training nodes per step.
    max_epochs : int
        The most epochs.
    patience : int
        End after this many epochs in a row without a better validation accuracy.
    tested : {"last", "best"}
        Test with the weights of the last epoch, or with those of the epoch of the best validation accuracy.

    Examples
    --------
    >>> SignSettings(hidden=16).batch_size
    256
    """

    hidden: int = 64
    input_dropout: float = 0.5
    dropout: float = 0.5
    learning_rate: float = 0.01
    weight_decay: float = 1e-4
    optimizer: Literal["adam", "adamw"] = "adam"
    batch_size: int = 256
    max_epochs: int = 1000
    patience: int = 15
    tested: Literal["last", "best"] = "last"

    def __post_init__(self) -> None:
        for name, least in (
            ("hidden", 1),
            ("batch_size", 2),
            ("max_epochs", 1),
            ("patience", 1),
        ):  # batch norm needs two nodes
            whole_number(getattr(self, name), name, least)
        for name, below in (("input_dropout", 1.0), ("dropout", 1.0), ("weight_decay", math.inf)):
            real_number(getattr(self, name), name, least=0.0, below=below)
        real_number(self.learning_rate, "learning_rate", above=0.0, below=math.inf)
        one_of(self.optimizer, "optimizer", ("adam", "adamw"))
        one_of(self.tested, "tested", ("last", "best"))

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON."""
        return asdict(self)


@dataclass(frozen=True)
class Task:
    """Sizes of a classification task, known without opening its files."""

    classes: int
    train: int
    valid: int
    test: int


_PLANETOID = SignSettings()
_OGB: dict[str, Any] = {"hidden": 512, "learning_rate": 0.001, "batch_size": 50_000}

_PAPER: dict[str, tuple[SignSettings, Task]] = {
    "cora": (_PLANETOID, Task(7, 140, 500, 1000)),
    "citeseer": (_PLANETOID, Task(6, 120, 500, 1000)),
    "pubmed": (_PLANETOID, Task(3, 60, 500, 1000)),
    "ogbn-arxiv": (
        SignSettings(input_dropout=0.1, dropout=0.5, **_OGB),
        Task(40, 90_941, 29_799, 48_603),
    ),
    "ogbn-products": (
        SignSettings(input_dropout=0.3, dropout=0.4, **_OGB),
        Task(47, 196_615, 39_323, 2_213_091),
    ),
    "ogbn-mag": (
        SignSettings(input_dropout=0.0, dropout=0.5, **_OGB),
        Task(349, 629_571, 64_879, 41_939),
    ),
}


def paper_settings(dataset: str) -> SignSettings:
    """Return the paper's parameters for one of the six data sets it trains on.

    Parameters
    ----------
    dataset : str
        A registered name; case does not matter.

    Examples
    --------
    >>> paper_settings("ogbn-products")  # doctest: +ELLIPSIS
    SignSettings(hidden=512, input_dropout=0.3, dropout=0.4, learning_rate=0.001, ...)
    """
    return _entry(dataset)[0]


def paper_task(dataset: str) -> Task:
    """Return the sizes of the classification task of one of the six data sets.

    Examples
    --------
    >>> paper_task("cora").train
    140
    """
    return _entry(dataset)[1]


def _entry(dataset: str) -> tuple[SignSettings, Task]:
    name = get_spec(dataset).name
    if name not in _PAPER:
        raise InputValueError(
            f"the paper trains no SIGN model on {name}, only on {', '.join(_PAPER)}: give settings yourself"
        )
    return _PAPER[name]
