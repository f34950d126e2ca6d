"""Conversion of tensors, frames and other arrays into something that can be measured.

Data that cannot be converted is refused, and the error says what to do.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from geodim.data.objects import explain_other_objects
from geodim.errors import GeodimError, InputTypeError, InputValueError
from geodim.lists import as_array
from geodim.optional import require

if TYPE_CHECKING:
    from types import ModuleType

    from narwhals.stable.v2 import DataFrame
    from numpy.typing import NDArray


def plain_array(array: NDArray[Any]) -> NDArray[Any]:
    """Return the plain numpy array behind subclasses that compute differently.

    Such are masked arrays, and matrices, which always have two axes.
    """
    if type(array) in (np.ndarray, np.memmap):
        return array
    if isinstance(array, np.ma.MaskedArray):
        if np.ma.is_masked(array):
            msg = (
                "the data is a masked array with masked entries: fill them in or drop those points first; "
                "geodim.drop_missing(X) leaves them out"
            )
            raise InputTypeError(msg)
        return np.asarray(array.data)
    return array.view(np.ndarray)


def read_only(array: NDArray[Any]) -> NDArray[Any]:
    """Return a plain view that cannot be written to: Numba compiles once more for one that can."""
    view = array.view(np.ndarray)
    view.flags.writeable = False
    return view


def array_of(data: object) -> NDArray[Any]:
    """Convert lists and everything else that numpy accepts as an array."""
    explain_other_objects(data)
    try:
        return as_array(data)
    except GeodimError:
        raise
    except MemoryError:
        raise
    except Exception as error:  # `__array__` and the like may run any code
        said = next(iter(str(error).strip().splitlines()), type(error).__name__)
        msg = f"the data is not a table of numbers: {said}"
        raise InputValueError(msg) from error


def array_of_tensor(tensor: object) -> NDArray[Any]:
    """Return the values of a torch tensor, without a copy if they lie in memory as numpy needs them."""
    torch = require("torch", "gnn", "reading tensors")
    if not isinstance(tensor, torch.Tensor):
        msg = f"the data is a {_kind(tensor)}, not a tensor of points by features"
        raise InputTypeError(msg)
    if tensor.layout != torch.strided or tensor.is_nested:
        msg = (
            f"the data is a tensor of layout {tensor.layout}: use tensor.to_dense(), or a scipy.sparse matrix"
        )
        raise InputTypeError(msg)
    if tensor.is_quantized:
        msg = f"the data is quantized ({tensor.dtype}): use tensor.dequantize()"
        raise InputTypeError(msg)
    if tensor.is_meta:
        msg = "the data is a meta tensor, which has no values: give a tensor that has them"
        raise InputTypeError(msg)
    plain = tensor.detach().cpu().resolve_conj().resolve_neg()
    if plain.dtype.is_floating_point and plain.dtype not in (torch.float16, torch.float32, torch.float64):
        plain = plain.float()  # bfloat16 and 8-bit types: float32 holds all of their values
    try:
        values: NDArray[Any] = plain.numpy()
    except (TypeError, RuntimeError) as error:
        msg = (
            f"the data is a tensor of type {plain.dtype}: convert it to float32, "
            "float64, integers or booleans first"
        )
        raise InputTypeError(msg) from error
    return values


def narwhals() -> ModuleType:
    """Return narwhals, the package that handles all kinds of frames."""
    return require("narwhals.stable.v2", "frames", "reading data frames")


def eager_frame(data: object) -> DataFrame[Any]:
    """Return a pandas, polars or pyarrow frame, or one column, as narwhals sees it."""
    nw = narwhals()
    if type(data).__name__ == "RecordBatch":
        data = require("pyarrow", "frames", "reading data frames").Table.from_batches([data])
    try:
        native = nw.from_native(data, allow_series=True)
    except nw.exceptions.DuplicateError as error:
        msg = f"two columns have the same name: {' '.join(str(error).split())}; rename one of them"
        raise InputValueError(msg) from error
    except TypeError as error:
        msg = (
            f"the data is a {_kind(data)}, not a frame of points by features: "
            "convert it to one, or to an array"
        )
        raise InputTypeError(msg) from error
    frame: DataFrame[Any] = native
    if isinstance(native, nw.Series):
        frame = native.to_frame()
    elif isinstance(native, nw.LazyFrame):
        try:
            frame = native.collect()
        except MemoryError:
            raise
        except Exception as error:  # a query that fails, with the library's own error
            said = next(iter(str(error).strip().splitlines()), type(error).__name__)
            msg = f"the lazy frame cannot be collected: {said}"
            raise InputValueError(msg) from error
    return frame


def _kind(thing: object) -> str:
    return f"{type(thing).__module__.partition('.')[0]}.{type(thing).__name__}"
