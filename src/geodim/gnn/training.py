"""Train one SIGN model: epochs with early stopping on the validation accuracy, then the test nodes once."""

from __future__ import annotations

import time
from contextlib import contextmanager
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any

import numpy as np

from geodim.arguments import whole_number
from geodim.engine.parts import available_threads
from geodim.errors import InputTypeError, InputValueError, ShapeError
from geodim.gnn._torch import torch
from geodim.gnn.batches import make_batches
from geodim.gnn.settings import MEMORY, SignSettings
from geodim.gnn.sign import SIGN
from geodim.saved.document import SavedResult, rebuilt, to_json_value
from geodim.text import html_table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from matplotlib.axes import Axes

    from geodim.gnn.batches import Batches
    from geodim.gnn.inputs import HopInputs

__all__ = ["EarlyStopping", "SignFit", "choose_device", "fit_sign", "torch_state"]

FORMAT = "geodim.SignFit/1"
SMALL_STEP = 1e9  # operations of a forward pass below which one thread is used


@dataclass
class EarlyStopping:
    """Notices when a value that should grow has not done so for a while.

    As in PyTorch Lightning, with ``min_delta`` 0.

    Attributes
    ----------
    patience : int
        Updates in a row without a new maximum after which to stop; an equal value is no new maximum.
    best : float
        The maximum so far.
    waited : int
        Updates since.

    Examples
    --------
    >>> stopping = EarlyStopping(patience=2)
    >>> [stopping.update(value) for value in (0.5, 0.7, 0.7, 0.6)], stopping.stopped
    ([True, True, False, False], True)
    """

    patience: int
    best: float = float("-inf")
    waited: int = 0

    def update(self, value: float) -> bool:
        """Take the next value; True if it is a new maximum."""
        if value > self.best:
            self.best, self.waited = value, 0
            return True
        self.waited += 1
        return False

    @property
    def stopped(self) -> bool:
        """Whether the patience is used up."""
        return self.waited >= self.patience


@dataclass(frozen=True)
class SignFit(SavedResult):
    """A trained model and how it was trained.

    Attributes
    ----------
    model : SIGN or None
        With the weights that were tested; on the device it was trained on, ready for inference.  It is not
        part of the JSON: `save_model` keeps it in a file of its own, and what is read from JSON has None.
    test_accuracy : float
        Share of the test nodes that are classified correctly.
    valid_accuracy : float
        The best on the validation nodes, reached in `best_epoch`.
    epochs, best_epoch : int
        Epochs trained, counted from 1.
    losses, valid_accuracies : list of float
        Of each epoch: mean training loss of its batches, weighted by their sizes, and accuracy after it.
    seconds : float
        Wall time.
    threads : int
        Threads of PyTorch that were used.

    Examples
    --------
    >>> import numpy as np
    >>> from geodim.gnn import SignSettings, fit_sign, hop_inputs
    >>> y = np.arange(60) % 2
    >>> X = np.random.default_rng(0).normal(size=(60, 4)) + 3 * y[:, None]
    >>> inputs = hop_inputs(X, [(i, i + 2) for i in range(58)], 1)
    >>> splits = {"train": np.arange(20), "valid": np.arange(20, 40), "test": np.arange(40, 60)}
    >>> fit = fit_sign(inputs, y, splits, settings=SignSettings(hidden=8), seed=1)
    >>> len(fit.losses) == fit.epochs >= fit.best_epoch
    True
    """

    model: SIGN | None = field(repr=False, compare=False)
    test_accuracy: float
    valid_accuracy: float
    epochs: int
    best_epoch: int
    losses: list[float] = field(repr=False)
    valid_accuracies: list[float] = field(repr=False)
    seconds: float
    threads: int

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON: everything but the model."""
        values = {each.name: getattr(self, each.name) for each in fields(self) if each.name != "model"}
        values["losses"] = [to_json_value(loss) for loss in self.losses]  # some trainings diverge
        return {"format": FORMAT, **values}

    @classmethod
    def from_dict(cls, values: object) -> SignFit:
        """Rebuild what was recorded of a training from `to_dict`, without the model."""
        from geodim.saved.sign import FIT, related_in_fit  # noqa: PLC0415

        def make(known: dict[str, Any]) -> SignFit:
            related_in_fit(known)
            return cls(model=None, **known)

        made: SignFit = rebuilt(values, FORMAT, FIT, (), make)
        return made

    def plot(self, ax: Axes | None = None, **options: Any) -> Axes:  # noqa: ANN401 - handed on
        """Plot the validation accuracy after each epoch, the best one marked, and the test accuracy."""
        from geodim.display.training import plot_training  # noqa: PLC0415

        return plot_training(self.valid_accuracies, self.best_epoch, self.test_accuracy, ax, **options)

    def _repr_html_(self) -> str:
        rows = [
            ("test accuracy", f"{self.test_accuracy:.4f}"),
            ("validation accuracy", f"{self.valid_accuracy:.4f}"),
            ("epochs", f"{self.epochs:,}, best {self.best_epoch:,}"),
            ("last loss", f"{self.losses[-1]:.4g}"),
            ("time", f"{self.seconds:.3g} s with {self.threads} thread{'' if self.threads == 1 else 's'}"),
        ]
        return html_table("SIGN, trained", rows)


def choose_device(device: str) -> torch.device:
    """Return the device for ``"cpu"``, ``"cuda"``, ``"cuda:1"``, or ``"auto"``: CUDA where there is some.

    CUDA is not touched unless the name asks for it.

    Examples
    --------
    >>> choose_device("cpu")
    device(type='cpu')
    """
    if not isinstance(device, str):
        raise InputTypeError(f"device must be a name such as 'cpu' or 'cuda', not {device!r}")
    if device == "auto":
        return torch.device("cuda", 0) if torch.cuda.is_available() else torch.device("cpu")
    kind, _, number = device.partition(":")
    if kind == "cpu" and not number:
        return torch.device("cpu")
    if kind != "cuda" or (number and not number.isdecimal()) or device.endswith(":"):
        raise InputValueError(
            f"device must be 'cpu', 'cuda', 'cuda:0' (or another number) or 'auto', not {device!r}"
        )
    if not torch.cuda.is_available():
        raise InputValueError(
            f"device {device!r}: this PyTorch ({torch.__version__}) finds no CUDA device; use 'cpu' or 'auto'"
        )
    index = int(number or 0)
    if index >= torch.cuda.device_count():
        raise InputValueError(
            f"device {device!r}: there are {torch.cuda.device_count()} CUDA devices, from 0 on"
        )
    return torch.device("cuda", index)


@contextmanager
def torch_state(seed: int, device: torch.device, threads: int) -> Iterator[None]:
    """Seed the generators in use and set the threads; afterwards everything is as it was before.

    `torch.manual_seed` would also seed every CUDA device behind the caller's back, so each
    generator is seeded by itself.
    """
    before = torch.get_num_threads()
    cuda = [device.index] if device.type == "cuda" else []
    with torch.random.fork_rng(devices=cuda):
        torch.default_generator.manual_seed(seed)
        for index in cuda:
            torch.cuda.default_generators[index].manual_seed(seed)
        try:
            torch.set_num_threads(threads)
            yield
        finally:
            torch.set_num_threads(before)


def fit_sign(
    inputs: HopInputs,
    y: object,
    splits: Mapping[str, object],
    hops: int | None = None,
    *,
    settings: SignSettings | None = None,
    seed: int = 0,
    device: str = "cpu",
    n_threads: int | None = None,
    memory: int = MEMORY,
    on_epoch: Callable[[int, float, float], None] | None = None,
) -> SignFit:
    """Train a SIGN model and test it.

    The same seed, device and number of threads give the same bits; the random state and the threads of
    PyTorch are left as they were.

    Parameters
    ----------
    inputs : HopInputs
        Hop features of all nodes of the splits, from `hop_inputs`.
    y : array of int, shape (n_nodes,)
        Class of each node of the graph, from 0 on; negative where there is none.
    splits : mapping
        Node numbers (or masks) under ``train``, ``valid`` and ``test``.
    hops : int, optional
        k; all hops of the inputs by default.
    settings : SignSettings, optional
        The paper's for the Planetoid graphs by default; see `paper_settings`.
    seed : int
        Decides the initial weights, dropout, and the order of the batches.
    device : {"cpu", "cuda", "cuda:0", ..., "auto"}
        Where to train.  CUDA only if asked for; "auto" takes it where there is some.
    n_threads : int, optional
        Threads of PyTorch for this training.  By default one where a step takes less than 10^9 operations
        (threads that wait for each other are slow on busy cores, and so the bits do not depend on the
        number of cores), else all.
    memory : int
        Bytes of hop features to hold on the device; beyond that they are gathered batch by
        batch, with the same result.
    on_epoch : callable, optional
        Called as ``on_epoch(epoch, loss, valid_accuracy)``; may raise to give up.

    Returns
    -------
    SignFit

    Examples
    --------
    >>> import numpy as np
    >>> from geodim.gnn import SignSettings, fit_sign, hop_inputs
    >>> y = np.arange(60) % 2
    >>> X = np.random.default_rng(0).normal(size=(60, 4)) + 3 * y[:, None]
    >>> edges = [(i, i + 2) for i in range(58)]
    >>> splits = {"train": np.arange(20), "valid": np.arange(20, 40), "test": np.arange(40, 60)}
    >>> fit = fit_sign(hop_inputs(X, edges, 1), y, splits, settings=SignSettings(hidden=8), seed=1)
    >>> fit.test_accuracy > 0.8
    True
    """
    started = time.monotonic()
    settings = settings or SignSettings()
    hops = inputs.hops if hops is None else whole_number(hops, "hops", 0, inputs.hops)
    labels = _labels(y, inputs.n_nodes)
    where = choose_device(device)
    batches = make_batches(
        inputs, labels, splits, hops, batch_size=settings.batch_size, device=where, memory=memory
    )
    classes = int(labels.max()) + 1
    if n_threads is None:
        weights = (hops + 1) * settings.hidden * (inputs.n_attributes + classes)
        step = 2.0 * weights * min(settings.batch_size, len(batches["train"]))
        n_threads = 1 if step < SMALL_STEP else available_threads()
    with torch_state(seed, where, n_threads):
        # The weights are drawn on the CPU, so that every device starts with the same ones.
        model = SIGN(
            inputs.n_attributes,
            classes,
            hops,
            hidden=settings.hidden,
            input_dropout=settings.input_dropout,
            dropout=settings.dropout,
        ).to(where)
        losses, accuracies, best_epoch = _train(model, batches, settings, seed, on_epoch)
        test_accuracy = _accuracy(model, batches["test"])
    return SignFit(
        model=model,
        test_accuracy=test_accuracy,
        valid_accuracy=accuracies[best_epoch - 1],
        epochs=len(losses),
        best_epoch=best_epoch,
        losses=losses,
        valid_accuracies=accuracies,
        seconds=time.monotonic() - started,
        threads=n_threads,
    )


def _labels(y: object, n_nodes: int) -> np.ndarray[Any, np.dtype[np.int64]]:
    labels = np.asarray(y)
    if labels.shape != (n_nodes,):
        raise ShapeError(f"the graph has {n_nodes} nodes, but labels have shape {labels.shape}")
    if labels.dtype.kind not in "iu":
        raise InputTypeError(f"labels must be whole numbers, not {labels.dtype}")
    if labels.max() < 0:
        raise InputValueError("no node has a label")
    return labels.astype(np.int64, copy=False)


def _train(
    model: SIGN,
    batches: Mapping[str, Batches],
    settings: SignSettings,
    seed: int,
    on_epoch: Callable[[int, float, float], None] | None,
) -> tuple[list[float], list[float], int]:
    """Return the loss and validation accuracy of every epoch, and the best epoch.

    The model keeps the weights to test.
    """
    kind = {"adam": torch.optim.Adam, "adamw": torch.optim.AdamW}[settings.optimizer]
    optimizer = kind(model.parameters(), lr=settings.learning_rate, weight_decay=settings.weight_decay)
    shuffling = torch.Generator().manual_seed(seed)
    stopping = EarlyStopping(settings.patience)
    losses: list[float] = []
    accuracies: list[float] = []
    best_epoch, best_state = 0, None
    for epoch in range(1, settings.max_epochs + 1):
        losses.append(_one_epoch(model, batches["train"], optimizer, shuffling))
        accuracies.append(_accuracy(model, batches["valid"]))
        if stopping.update(accuracies[-1]):
            best_epoch = epoch
            if settings.tested == "best":
                best_state = {name: tensor.clone() for name, tensor in model.state_dict().items()}
        if on_epoch is not None:
            on_epoch(epoch, losses[-1], accuracies[-1])
        if stopping.stopped:
            break
    if best_state is not None:
        model.load_state_dict(best_state)
    return losses, accuracies, best_epoch


def _one_epoch(
    model: SIGN, train: Batches, optimizer: torch.optim.Optimizer, shuffling: torch.Generator
) -> float:
    model.train()
    total = 0.0
    for features, targets in train.epoch(shuffling):
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(features), targets)
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
        total += loss.item() * len(targets)
    return total / len(train)


def _accuracy(model: SIGN, batches: Batches) -> float:
    model.eval()
    with torch.inference_mode():
        right = [(model(features).argmax(dim=1) == targets).sum() for features, targets in batches.epoch()]
        return int(torch.stack(right).sum()) / len(batches)
