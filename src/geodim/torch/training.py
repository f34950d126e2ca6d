"""Integration into training frameworks: a callback for Lightning, and a metric for torchmetrics.

Neither package is required: the callback and the metric derive from their classes if installed, and otherwise
are plain classes with the same methods, to be called by hand.
"""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from geodim.arguments import one_of
from geodim.optional import require
from geodim.streaming import StreamingDimension
from geodim.torch.hops import check_tensor, on_this_machine
from geodim.torch.layers import LayerDimension

if TYPE_CHECKING:
    from collections.abc import Iterable

    import torch

    from geodim.result import IDResult
else:
    torch = require("torch", "gnn", "geodim.torch")

__all__ = ["DimensionCallback", "DimensionMetric"]


def _class_of(name: str, *modules: str) -> Any:  # noqa: ANN401 - of a package that may not be there
    """Return the class of that name in the first of the modules whose package is installed, or `object`."""
    for module in modules:
        if find_spec(module.partition(".")[0]) is not None:
            return getattr(import_module(module), name)
    return object


class DimensionCallback(_class_of("Callback", "lightning.pytorch", "pytorch_lightning")):  # type: ignore[misc]
    """The dimension of layers after every validation, logged as ``dimension/<layer>``.

    For the ``callbacks`` of Lightning's trainer.  What passes through the layers in a validation is kept, a
    sample of it, and measured at its end; the sanity check before the training is left out.

    Parameters
    ----------
    layers : iterable of str, optional
        Names of modules, see `LayerDimension`.
    prefix : str, default "dimension"
        The beginning of the names of logged values.
    **options
        Options of `LayerDimension`.

    Attributes
    ----------
    watch : LayerDimension or None
        What was measured: its ``rows`` and ``results``, once the training has begun.

    Examples
    --------
    >>> from geodim.torch import DimensionCallback
    >>> callback = DimensionCallback(["0", "2"], max_points=1000)
    >>> # trainer = lightning.Trainer(callbacks=[callback])
    """

    def __init__(
        self,
        layers: Iterable[str] | None = None,
        *,
        prefix: str = "dimension",
        **options: Any,  # noqa: ANN401
    ) -> None:
        super().__init__()
        self.layers = layers
        self.prefix = prefix
        self.options = options
        self.watch: LayerDimension | None = None

    def on_validation_epoch_start(self, trainer: Any, pl_module: torch.nn.Module) -> None:  # noqa: ANN401
        """Begin to record."""
        if getattr(trainer, "sanity_checking", False):
            return
        if self.watch is None or self.watch.model is not pl_module:
            self.watch = LayerDimension(pl_module, self.layers, **self.options)
        self.watch.attach()

    def on_validation_epoch_end(self, trainer: Any, pl_module: Any) -> None:  # noqa: ANN401
        """Measure what was recorded, and log it."""
        if self.watch is None or getattr(trainer, "sanity_checking", False):
            return
        rows = self.watch.measure(getattr(trainer, "current_epoch", None))
        self.watch.detach()
        for row in rows:
            pl_module.log(f"{self.prefix}/{row['layer']}", row["dimension"])

    def on_exception(self, trainer: Any, pl_module: Any, exception: BaseException) -> None:  # noqa: ANN401, ARG002
        """Remove the hooks."""
        if self.watch is not None:
            self.watch.detach()


class DimensionMetric(_class_of("Metric", "torchmetrics")):  # type: ignore[misc]
    """The intrinsic dimension of all batches since the last reset, within certified bounds, as a metric.

    With torchmetrics it is one of its metrics, for Lightning's ``self.log`` as well.  Every process of a
    distributed training measures the batches that it has seen; their ``stream`` can be merged.

    Parameters
    ----------
    of : {"dimension", "discriminability"}
        What `compute` returns.
    rtol, memory, scale
        Parameters of `geodim.StreamingDimension`.
    **options
        Options of ``torchmetrics.Metric``, if it is installed.

    Attributes
    ----------
    stream : StreamingDimension
        What is known about the batches.

    Examples
    --------
    >>> import torch
    >>> metric = DimensionMetric()
    >>> for batch in torch.eye(100, dtype=torch.float64).split(10):
    ...     metric.update(batch)
    >>> metric.result.lower <= 10000.0 <= metric.result.upper
    True
    """

    is_differentiable = False
    higher_is_better = None
    full_state_update = False

    def __init__(
        self,
        of: str = "dimension",
        *,
        rtol: float = 1e-3,
        memory: int = 2 * 10**9,
        scale: str = "global",
        **options: Any,  # noqa: ANN401
    ) -> None:
        super().__init__(**options)
        self.of = one_of(of, "of", ("dimension", "discriminability"))
        self.stream = StreamingDimension(rtol, memory, scale=scale)

    def update(self, X: torch.Tensor) -> None:
        """Add a batch of points by features."""
        check_tensor(X)
        self.stream.partial_fit(on_this_machine(X))

    def compute(self) -> torch.Tensor:
        """Return the requested value, between the bounds, for all batches since the last reset."""
        return torch.tensor(getattr(self.result, self.of), dtype=torch.float64)

    @property
    def result(self) -> IDResult:
        """The result for all of them."""
        return self.stream.result_

    def reset(self) -> None:
        """Forget all batches."""
        if hasattr(super(), "reset"):
            super().reset()
        stream = self.stream
        self.stream = StreamingDimension(stream.rtol, stream.memory, scale=stream.scale)
