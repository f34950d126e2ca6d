"""Typed errors and warnings: each names what is wrong, where, and the way out.

Every error geodim raises on purpose derives from :class:`GeodimError`, and from the built-in exception a
caller would expect (``ValueError``, ``TypeError``, ``ImportError``), so that both styles of handling work.
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
    """Base of all errors raised by geodim; names of files and columns in the message are safe to print."""

    def __str__(self) -> str:
        return visible(super().__str__())


class InputValueError(GeodimError, ValueError):
    """An argument or a value in the data is not acceptable."""


class InputTypeError(GeodimError, TypeError):
    """The data or an argument has a type that cannot be used (complex numbers, objects, strings)."""


class ShapeError(InputValueError):
    """The data has the wrong number of axes, no rows or no columns, or sizes that do not match."""


class NonFiniteError(InputValueError):
    """The data holds NaN or infinity; the message names the first row and column."""


class RangeOverflowError(InputValueError):
    """The range (max - min) of a column is too large for a float64."""


class DataFileError(GeodimError, OSError):
    """A file is missing, unreadable, truncated, or not in the layout its name promises."""


class DataChangedError(DataFileError):
    """The data changed while it was read: two passes over it did not see the same, so there is no answer."""


class InternalError(GeodimError, RuntimeError):
    """Compiled code was handed arrays that do not fit together, and refused to run: a bug in geodim."""

    def __str__(self) -> str:
        return f"{super().__str__()}: this is a bug in geodim, please report it; nothing was computed"


class BackendError(GeodimError, RuntimeError):
    """The place to compute on is not there: no GPU, no cluster, or it was lost on the way."""


class ClusterError(BackendError, ConnectionError):
    """The Dask cluster cannot be reached, was lost in mid-run, or has no worker that could do the work."""


class CertificateError(GeodimError, ValueError):
    """A certificate cannot be made, or is not valid, or says something that the data contradicts."""


class MissingExtraError(GeodimError, ImportError):
    """An optional package is needed; the message names the extra that installs it."""

    def __init__(self, package: str, extra: str, purpose: str) -> None:
        super().__init__(
            f"{purpose} needs the package {package!r}: install it with  pip install 'geodim[{extra}]'"
        )
        self.package = package
        self.extra = extra


class MachineMemoryError(InputValueError, MemoryError):
    """The data, or so many points (weights counted), do not fit the memory of this machine.

    The message says what would help.
    """


class DeviceMemoryError(BackendError, MemoryError):
    """The data does not fit the memory of the device, even in the smallest blocks.

    The message names what would.
    """


class TimeLimitError(GeodimError, RuntimeError):
    """The time limit was over before there were any bounds to give.

    No `TimeoutError`, which is an error of the system: readers of files take those for damaged files.
    """


class GeodimWarning(UserWarning):
    """Base of all warnings given by geodim; names in the message are safe to print."""

    def __str__(self) -> str:
        return visible(super().__str__())


class DegenerateDataWarning(GeodimWarning):
    """No feature tells any two points apart.

    The discriminability is 0 and the intrinsic dimension infinite.
    """


class QuadraticCostWarning(GeodimWarning):
    """A quadratic reference function was called on many points.

    The engine gives the same bits in near-linear time.
    """


class InterruptedWarning(GeodimWarning):
    """The computation was stopped early; the result holds valid but wider bounds."""
