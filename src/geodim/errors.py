"""Typed errors and warnings: each names what is wrong, where, and the way out.

Every error geodim raises on purpose derives from :class:`GeodimError`, and from the built-in exception a
caller would expect (``ValueError``, ``TypeError``, ``ImportError``), so that both styles of handling work.

>>> import geodim
>>> try:
...     geodim.intrinsic_dimension([["a"], ["b"]])
... except geodim.errors.GeodimError as error:
...     print(type(error).__name__)
InputTypeError
"""

from __future__ import annotations

from geodim.text import visible

__all__ = [
    "BackendError",
    "CertificateError",
    "ClusterError",
    "DataChangedError",
    "DataFileError",
    "DegenerateDataWarning",
    "DeviceMemoryError",
    "GeodimError",
    "GeodimWarning",
    "InputTypeError",
    "InputValueError",
    "InternalError",
    "InterruptedWarning",
    "MachineMemoryError",
    "MissingExtraError",
    "NonFiniteError",
    "QuadraticCostWarning",
    "RangeOverflowError",
    "ShapeError",
    "TimeLimitError",
]


class GeodimError(Exception):
    """Base of all errors raised by geodim; names of files and columns in the message are safe to print.

    Examples
    --------
    >>> import geodim
    >>> try:
    ...     geodim.intrinsic_dimension([[0.0, float("nan")], [1.0, 2.0]])
    ... except geodim.errors.GeodimError as error:
    ...     print(type(error).__name__)
    NonFiniteError
    """

    def __str__(self) -> str:
        return visible(super().__str__())


class InputValueError(GeodimError, ValueError):
    """An argument or a value in the data is not acceptable.

    Examples
    --------
    >>> import geodim
    >>> geodim.intrinsic_dimension([[0.0], [1.0]], rtol=-1.0)
    Traceback (most recent call last):
        ...
    geodim.errors.InputValueError: ...
    """


class InputTypeError(GeodimError, TypeError):
    """The data or an argument has a type that cannot be used (complex numbers, objects, strings).

    Examples
    --------
    >>> import geodim
    >>> geodim.intrinsic_dimension([[1j], [2j]])
    Traceback (most recent call last):
        ...
    geodim.errors.InputTypeError: ...
    """


class ShapeError(InputValueError):
    """The data has the wrong number of axes, no rows or no columns, or sizes that do not match.

    Examples
    --------
    >>> import numpy as np
    >>> import geodim
    >>> geodim.intrinsic_dimension(np.zeros((0, 3)))
    Traceback (most recent call last):
        ...
    geodim.errors.ShapeError: ...
    """


class NonFiniteError(InputValueError):
    """The data holds NaN or infinity; the message names the first row and column.

    Examples
    --------
    >>> import geodim
    >>> geodim.intrinsic_dimension([[0.0, 1.0], [float("nan"), 2.0]])
    Traceback (most recent call last):
        ...
    geodim.errors.NonFiniteError: ...
    """


class RangeOverflowError(InputValueError):
    """The range (max - min) of a column is too large for a float64.

    Examples
    --------
    >>> import geodim
    >>> geodim.intrinsic_dimension([[-1.7e308], [1.7e308]])
    Traceback (most recent call last):
        ...
    geodim.errors.RangeOverflowError: ...
    """


class DataFileError(GeodimError, OSError):
    """A file is missing, unreadable, truncated, or not in the layout its name promises.

    Examples
    --------
    >>> import geodim
    >>> geodim.IDResult.from_json("no such file.json")
    Traceback (most recent call last):
        ...
    geodim.errors.DataFileError: ...
    """


class DataChangedError(DataFileError):
    """The data changed while it was read: two passes over it saw different values, so there is no answer.

    Examples
    --------
    >>> from geodim.errors import DataChangedError, DataFileError
    >>> issubclass(DataChangedError, DataFileError)  # so handlers of file errors see it, too
    True
    """


class InternalError(GeodimError, RuntimeError):
    """Compiled code was handed arrays that do not fit together, and refused to run: a bug in geodim.

    Examples
    --------
    >>> from geodim.errors import InternalError
    >>> print(InternalError("sizes 3 and 4"))
    sizes 3 and 4: this is a bug in geodim, please report it; nothing was computed
    """

    def __str__(self) -> str:
        return f"{super().__str__()}: this is a bug in geodim, please report it; nothing was computed"


class BackendError(GeodimError, RuntimeError):
    """The place to compute on is not there: no GPU, no cluster, or it was lost on the way.

    Examples
    --------
    >>> from geodim.errors import BackendError, ClusterError, DeviceMemoryError
    >>> issubclass(ClusterError, BackendError), issubclass(DeviceMemoryError, BackendError)
    (True, True)
    """


class ClusterError(BackendError, ConnectionError):
    """The Dask cluster cannot be reached, was lost during a run, or has no worker that could do the work.

    Examples
    --------
    >>> from geodim.errors import BackendError, ClusterError
    >>> issubclass(ClusterError, BackendError), issubclass(ClusterError, ConnectionError)
    (True, True)
    """


class CertificateError(GeodimError, ValueError):
    """A certificate cannot be made, or is not valid, or says something that the data contradicts.

    Examples
    --------
    >>> import geodim
    >>> geodim.Certificate.from_json("{}")
    Traceback (most recent call last):
        ...
    geodim.errors.CertificateError: ...
    """


class MissingExtraError(GeodimError, ImportError):
    """An optional package is needed; the message names the extra that installs it.

    Examples
    --------
    >>> from geodim.errors import MissingExtraError
    >>> print(MissingExtraError("plotly", "report", "the report"))
    the report needs the package 'plotly': install it with  pip install 'geodim[report]'
    """

    def __init__(self, package: str, extra: str, purpose: str) -> None:
        super().__init__(
            f"{purpose} needs the package {package!r}: install it with  pip install 'geodim[{extra}]'"
        )
        self.package = package
        self.extra = extra


class MachineMemoryError(InputValueError, MemoryError):
    """The data, or the points that weights stand for, do not fit the memory of this machine.

    The message says what would help.

    Examples
    --------
    >>> from geodim.errors import MachineMemoryError
    >>> issubclass(MachineMemoryError, MemoryError)
    True
    """


class DeviceMemoryError(BackendError, MemoryError):
    """The data does not fit the memory of the device, even in the smallest blocks.

    The message says what would fit.

    Examples
    --------
    >>> from geodim.errors import BackendError, DeviceMemoryError
    >>> issubclass(DeviceMemoryError, BackendError), issubclass(DeviceMemoryError, MemoryError)
    (True, True)
    """


class TimeLimitError(GeodimError, RuntimeError):
    """The time limit was over before there were any bounds to give.

    Not a `TimeoutError`, which is an OSError: code that reads files would take it for a damaged file.

    Examples
    --------
    >>> from geodim.errors import TimeLimitError
    >>> issubclass(TimeLimitError, OSError)
    False
    """


class GeodimWarning(UserWarning):
    """Base of all warnings given by geodim; names in the message are safe to print.

    Examples
    --------
    >>> import warnings
    >>> from geodim.errors import GeodimWarning
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore", GeodimWarning)  # none of them, here
    """

    def __str__(self) -> str:
        return visible(super().__str__())


class DegenerateDataWarning(GeodimWarning):
    """No feature tells any two points apart.

    The discriminability is 0 and the intrinsic dimension infinite.

    Examples
    --------
    >>> import warnings
    >>> import geodim
    >>> with warnings.catch_warnings(record=True) as given:
    ...     warnings.simplefilter("always")
    ...     geodim.intrinsic_dimension([[1.0], [1.0]]).dimension
    inf
    >>> given[0].category.__name__
    'DegenerateDataWarning'
    """


class QuadraticCostWarning(GeodimWarning):
    """What was called takes a time that grows with the square of the number of points.

    Functions of `geodim.paper` on many points do, of which the engine has the same bits in near-linear time;
    and explanations and gradients of columns whose windows are all nearly equally wide.

    Examples
    --------
    >>> from geodim.errors import GeodimWarning, QuadraticCostWarning
    >>> issubclass(QuadraticCostWarning, GeodimWarning)
    True
    """


class InterruptedWarning(GeodimWarning):
    """The computation was stopped early; the result holds valid but wider bounds.

    Examples
    --------
    >>> import warnings
    >>> import numpy as np
    >>> import geodim
    >>> with warnings.catch_warnings(record=True) as given:
    ...     warnings.simplefilter("always")
    ...     result = geodim.intrinsic_dimension(np.eye(300), time_limit=1e-9)
    >>> given[0].category.__name__, result.stopped
    ('InterruptedWarning', 'time limit')
    """
