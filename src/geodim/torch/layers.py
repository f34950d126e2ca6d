"""`LayerDimension`: the intrinsic dimension of a network's layers, watched while it trains.

Forward hooks copy what chosen modules put out, whenever the model runs in evaluation mode, and a call
of `measure` turns that into one row per layer.  Needs PyTorch; importing this module without it
raises `MissingExtraError`.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from geodim.arguments import whole_number
from geodim.dimension import check_arguments, intrinsic_dimension
from geodim.errors import (
    DegenerateDataWarning,
    InputTypeError,
    InputValueError,
    NonFiniteError,
    RangeOverflowError,
    ShapeError,
)
from geodim.optional import require

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType
    from typing import Self

    import torch
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from geodim.result import IDResult
else:
    torch = require("torch", "gnn", "geodim.torch")

__all__ = ["LayerDimension"]

MAX_POINTS = 4096


class LayerDimension:
    r"""Watch the intrinsic dimension of a network's layers.

    The points of a layer's data set are the inputs the model was evaluated on, its features are the layer's
    units: :math:`F = \{ x \mapsto h_j(x) \}`, divided by :math:`d_{\max}`, the largest range of a unit.  A
    loop that validates after each epoch needs two more lines, the ``with`` and the call of `measure`:

    .. code-block:: python

        with LayerDimension(model, ["0", "2"]) as watch:
            for epoch in range(10):
                train(model)
                validate(model)  # in evaluation mode: what passes through the layers is kept
                watch.measure(epoch)
        watch.plot()

    The model stays as it is: nothing is recorded in training mode, no gradient and no graph is held, neither
    mode is switched, and at the end of the block the hooks are gone.  Copies of the model are not watched.
    (To save the model inside the block, save its ``state_dict``; a whole model with hooks cannot be pickled.)

    What a module returns is read as follows.  In a tuple, list or mapping the first tensor counts.  Its first
    axis is the batch; all others are flattened, so that an image of 8 channels, 5 by 5, has 200 features.  A
    module that runs several times in a pass adds points each time.

    Parameters
    ----------
    model : torch.nn.Module
        The network.
    layers : iterable of str, optional
        Names of modules as in ``model.named_modules()``, "" for the model itself.  By default all modules
        that have no submodules; those of them that never run are left out.
    every : int, default 1
        Measure only at the first of this many calls of `measure`; in between nothing is recorded.
    max_points : int, default 4096
        Points to keep of each layer.  If there are more, a random sample, the same for all layers and all
        steps (so that the same points are compared, if batches come in the same order).  Memory: as
        many rows as this for each layer.
    rtol : float, default 1e-3
        Certified tolerance of each dimension; 0 for exact values.
    scale, normalize, n_threads
        As for `geodim.intrinsic_dimension`.
    training : bool, default False
        Record in training mode, too.
    seed : int, default 0
        The seed of the sample.

    Attributes
    ----------
    layers : list of str
        Names of the layers that are watched.
    rows : list of dict
        One for each step and layer, see `measure`; ``pandas.DataFrame(watch.rows)`` makes a table.
    results : dict
        The `IDResult` of each layer at the last step, which shows which units carry the dimension.

    Examples
    --------
    >>> import torch
    >>> from geodim.torch import LayerDimension
    >>> model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Linear(8, 2)).eval()
    >>> with LayerDimension(model, ["0", "2"]) as watch:
    ...     output = model(torch.randn(100, 4))
    ...     rows = watch.measure(step=0)
    >>> [(row["layer"], row["n_points"], row["n_features"]) for row in rows]
    [('0', 100, 8), ('2', 100, 2)]
    """

    def __init__(
        self,
        model: torch.nn.Module,
        layers: Iterable[str] | None = None,
        *,
        every: int = 1,
        max_points: int = MAX_POINTS,
        rtol: float = 1e-3,
        scale: object = None,
        normalize: bool | None = None,
        n_threads: int | None = None,
        training: bool = False,
        seed: int = 0,
    ) -> None:
        check_arguments(rtol, n_threads, None)
        self.model = _checked(model)
        self.every = whole_number(every, "every", 1)
        self.max_points = whole_number(max_points, "max_points", 2)
        self.training = bool(training)
        self.seed = whole_number(seed, "seed", 0)
        self.options: dict[str, Any] = {
            "rtol": rtol,
            "scale": scale,
            "normalize": normalize,
            "n_threads": n_threads,
        }
        self._all = layers is None
        self._modules = _choose(self.model, layers)
        self.layers = list(self._modules)
        self.rows: list[dict[str, Any]] = []
        self.results: dict[str, IDResult] = {}
        self._calls = 0
        self._samples: dict[str, _Sample] = {}
        self._handles: list[Any] = []

    def attach(self) -> Self:
        """Begin to watch, as ``with`` does; for notebooks, where a block cannot span cells."""
        if not self._handles:
            self._handles = [
                module.register_forward_hook(self._hook(name, module))
                for name, module in self._modules.items()
            ]
        return self

    def detach(self) -> None:
        """Remove the hooks and free what they recorded; rows and results are kept.

        The end of ``with`` does the same.
        """
        for handle in self._handles:
            handle.remove()
        self._handles = []
        self._samples = {}

    def __enter__(self) -> Self:
        return self.attach()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.detach()

    def measure(self, step: object = None) -> list[dict[str, Any]]:
        """Compute the dimension of the layers' outputs since the last call, and discard these.

        Parameters
        ----------
        step : int or other, optional
            What to call this step, such as the epoch; by default how often `measure` was called before.

        Returns
        -------
        list of dict
            One row per layer with ``step, layer, dimension, lower, upper, error, n_points, n_features``; the
            bounds are certified.  A layer whose units are all constant has the dimension infinity.  Empty
            between two of ``every`` calls.

        Raises
        ------
        InputValueError
            Nothing was recorded.
        NonFiniteError
            A layer put out NaN or infinity.
        """
        call, self._calls = self._calls, self._calls + 1
        if call % self.every:
            return []
        samples, self._samples = self._samples, {}
        silent = [name for name in self.layers if name not in samples]
        if not samples or (silent and not self._all):
            raise InputValueError(self._why_nothing(silent))
        step = call if step is None else step
        results = {
            name: self._dimension(name, samples[name].points()) for name in self.layers if name in samples
        }
        rows = [
            {
                "step": step,
                "layer": name,
                "dimension": result.dimension,
                "lower": result.lower,
                "upper": result.upper,
                "error": result.error,
                "n_points": result.n_points,
                "n_features": result.n_features,
            }
            for name, result in results.items()
        ]
        self.results = results
        self.rows += rows
        return rows

    def plot(self, ax: Axes | None = None, *, title: str | None = None, log: bool | None = None) -> Axes:
        """Draw the dimension of each layer against the steps, which must be numbers.

        Infinite ones are left out.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Where to draw; a new figure by default.
        title : str, optional
            Title.
        log : bool, optional
            Whether the dimension has a logarithmic axis; by default if the values
            span a factor of 20 or more.

        Returns
        -------
        matplotlib.axes.Axes
        """
        from geodim.display.style import (  # noqa: PLC0415 - drawing is optional
            MARKERS,
            PALETTE,
            add_legend,
            finish,
            new_axes,
            plain,
            wants_log,
        )

        ax = new_axes(ax)
        for at, layer in enumerate(self.layers):
            rows = [row for row in self.rows if row["layer"] == layer and row["dimension"] < np.inf]
            steps = [row["step"] for row in rows]
            color = PALETTE[at % len(PALETTE)]
            ax.plot(
                steps,
                [row["dimension"] for row in rows],
                color=color,
                linestyle=("-", "--", ":")[at // len(PALETTE) % 3],
                marker=MARKERS[at % len(MARKERS)],
                markersize=4,
                linewidth=1.4,
                label=plain(f"{layer} {type(self._modules[layer]).__name__}".lstrip()),
            )
            lower, upper = ([row[end] for row in rows] for end in ("lower", "upper"))
            ax.fill_between(steps, lower, upper, color=color, alpha=0.25, linewidth=0, label="_bounds")
        values = [row["dimension"] for row in self.rows]
        ax.set_yscale("log" if (wants_log(values) if log is None else log) else "linear")
        ax.set_xlabel("step")
        ax.set_ylabel("intrinsic dimension")
        finish(ax, title)
        add_legend(ax, fontsize="small")
        return ax

    def __repr__(self) -> str:
        state = "watching" if self._handles else "not attached"
        return (
            f"LayerDimension({type(self.model).__name__}, layers={self.layers}, "
            f"{len(self.rows)} rows, {state})"
        )

    def _hook(self, name: str, watched: torch.nn.Module) -> Callable[[torch.nn.Module, object, object], None]:
        """Make a hook that is a plain function, not a method.

        Copying a model copies its hooks, and would copy what they are bound to.
        """

        def hook(module: torch.nn.Module, _inputs: object, output: object) -> None:
            idle = self._calls % self.every or (self.model.training and not self.training)
            if module is watched and not idle:
                self._record(name, output)

        return hook

    def _record(self, name: str, output: object) -> None:
        tensor = _first_tensor(output)
        if tensor is None:
            msg = f"layer {name!r} returns a {type(output).__name__}, not a tensor: leave it out of layers"
            raise InputTypeError(msg)
        if tensor.is_complex() or tensor.layout is not torch.strided:
            msg = (
                f"layer {name!r} returns a {tensor.layout} tensor of {tensor.dtype}: its "
                "values must be real and dense"
            )
            raise InputTypeError(msg)
        if tensor.ndim == 0:
            msg = f"layer {name!r} returns a single number, not one row per point"
            raise ShapeError(msg)
        rows = tensor.detach().unsqueeze(1).flatten(1)
        if name not in self._samples:
            self._samples[name] = _Sample(self.max_points, self.seed)
        sample = self._samples[name]
        if sample.width not in (None, rows.shape[1]):
            msg = (
                f"layer {name!r} returns {rows.shape[1]} values per point after {sample.width} before: "
                "give batches of the same shape, or watch a later layer"
            )
            raise ShapeError(msg)
        sample.add(rows)

    def _dimension(self, name: str, points: NDArray[Any]) -> IDResult:
        with warnings.catch_warnings():  # dead layers are part of training: the row says inf
            warnings.simplefilter("ignore", DegenerateDataWarning)
            try:
                result = intrinsic_dimension(points, **self.options)
            except (NonFiniteError, RangeOverflowError) as error:
                raise type(error)(f"layer {name!r}: {error}") from error
        if result.stopped:  # Ctrl-C is meant for the training
            raise KeyboardInterrupt
        return result

    def _why_nothing(self, silent: list[str]) -> str:
        if not self._handles:
            return "nothing was recorded: call measure inside the with block"
        which = f"layers {', '.join(map(repr, silent[:5]))}" + (" and others" if len(silent) > 5 else "")
        return (
            f"{which} produced nothing since the last call: run the model in evaluation mode (model.eval()) "
            "before measure, or record in training mode with training=True"
        )


class _Sample:
    """A limited number of rows of a stream, drawn at random.

    They are those with the smallest keys of a seeded generator.
    """

    def __init__(self, most: int, seed: int) -> None:
        self.most = most
        self.random = np.random.default_rng(seed)
        self.keys = np.empty(0)
        self.rows: NDArray[Any] = np.empty(0)

    @property
    def width(self) -> int | None:
        """Values per row, once known."""
        return int(self.rows.shape[1]) if self.rows.ndim == 2 else None

    def add(self, rows: torch.Tensor) -> None:
        """Add a batch; only rows that are kept leave its device."""
        before = self.keys.size
        keys = np.concatenate([self.keys, self.random.random(len(rows))])
        kept = np.sort(np.argsort(keys, kind="stable")[: self.most])
        new = kept[kept >= before]
        picked = rows if new.size == len(rows) else rows[torch.from_numpy(new - before).to(rows.device)]
        from geodim.backends.cuda.tensors import tensor_type  # noqa: PLC0415 - asks for PyTorch in words of its own

        values = picked.to("cpu", tensor_type(rows)).numpy()
        # Of rows that must go, then at the end.
        free = np.setdiff1d(np.arange(kept.size), kept[kept < before])
        self._reserve(kept.size, values)
        self.rows[free] = values
        self.keys = np.concatenate([self.keys, np.empty(kept.size - before)])
        self.keys[free] = keys[new]

    def _reserve(self, size: int, like: NDArray[Any]) -> None:
        """Make room by doubling, so that memory follows what has arrived, not what might."""
        if self.width is None:
            self.rows = np.empty((0, like.shape[1]), like.dtype)
        if size > len(self.rows):
            larger = np.empty((min(self.most, max(size, 2 * len(self.rows))), like.shape[1]), like.dtype)
            larger[: len(self.rows)] = self.rows
            self.rows = larger

    def points(self) -> NDArray[Any]:
        """Return the rows that were kept."""
        return self.rows[: self.keys.size]


def _checked(model: object) -> torch.nn.Module:
    if not isinstance(model, torch.nn.Module):
        msg = f"model must be a torch.nn.Module, not {type(model).__name__}"
        raise InputTypeError(msg)
    return model


def _choose(model: torch.nn.Module, layers: Iterable[str] | None) -> dict[str, torch.nn.Module]:
    """Return the modules to watch, by name."""
    known = dict(model.named_modules())
    if layers is None:
        return {name: module for name, module in known.items() if next(module.children(), None) is None}
    if isinstance(layers, str) or not isinstance(layers, Iterable):
        msg = f"layers must be a list of names such as ['0', '2'], not {layers!r}"
        raise InputTypeError(msg)
    wanted = list(dict.fromkeys(layers))
    if not wanted:
        msg = "layers is empty: name at least one, or leave it out for all"
        raise InputValueError(msg)
    for name in wanted:
        if name not in known:
            names = [each for each in known if each]
            more = f" and {len(names) - 20} more" if len(names) > 20 else ""
            msg = (
                f"the model has no layer {name!r}: it has "
                f"{', '.join(map(repr, names[:20])) or 'none of its own'}{more}"
            )
            raise InputValueError(msg)
    return {name: known[name] for name in wanted}


def _first_tensor(output: object) -> torch.Tensor | None:
    """Return the first tensor in what a module returns."""
    if isinstance(output, torch.Tensor):
        return output
    if isinstance(output, Mapping):
        output = output.values()
    elif not isinstance(output, tuple | list):
        return None
    return next((tensor for tensor in map(_first_tensor, output) if tensor is not None), None)
