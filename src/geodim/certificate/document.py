"""`Certificate`: what a certificate claims, to be written, read and verified."""

from __future__ import annotations

import copy
import json
import math
from typing import TYPE_CHECKING, Any

import numpy as np

from geodim import checker
from geodim.errors import CertificateError, DataFileError

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path


class Certificate:
    """Bounds on an intrinsic dimension, with what proves them from the data.

    Made by ``result.certificate()``; the format is described in ``docs/certificates.md``.  Nothing in it is
    believed: `verify` and the stand-alone program ``geodim/checker.py`` derive the bounds from the data
    again.

    Parameters
    ----------
    values : dict
        The plain values of the JSON document.

    Examples
    --------
    >>> import numpy as np
    >>> import geodim
    >>> X = np.random.default_rng(0).normal(size=(500, 4))
    >>> result = geodim.intrinsic_dimension(X)
    >>> certificate = result.certificate()
    >>> (low, high), = certificate.verify(X)
    >>> low <= result.dimension <= high <= 1.001 * low
    True
    """

    def __init__(self, values: dict[str, Any]) -> None:
        try:
            checker.parsed(values)
            self._claims = [
                (checker.interval(layer["discriminability"]), checker.interval(layer["dimension"]))
                for layer in values["layers"]
            ]
        except checker.RefutedError as error:
            raise CertificateError(str(error)) from error
        self._values = values

    @property
    def n_points(self) -> int:
        """The number of points it is about."""
        return int(self._values["n_points"])

    @property
    def n_features(self) -> int:
        """The number of features, or of attributes of the nodes."""
        return int(self._values["n_features"])

    @property
    def d_max(self) -> float:
        """The largest range of a feature."""
        return float(self._values["d_max"])

    @property
    def hops(self) -> int:
        """The largest number of hops; 0 for plain data."""
        return int(self._values["hops"])

    @property
    def dimensions(self) -> list[tuple[float, float]]:
        """The interval claimed for the intrinsic dimension, for 0, 1, ... hops."""
        return [dimension for _, dimension in self._claims]

    @property
    def discriminabilities(self) -> list[tuple[float, float]]:
        """The interval claimed for Delta, for 0, 1, ... hops."""
        return [delta for delta, _ in self._claims]

    def verify(self, data: Any, graph: Any = None) -> list[tuple[float, float]]:
        """Derive the claims from the data; raise `CertificateError`, naming what is wrong, if they fail.

        Parameters
        ----------
        data
            Points by features, in any form that `geodim.intrinsic_dimension` takes.
        graph
            The graph, for hops, in any form that `geodim.khop_dimensions` takes.

        Returns
        -------
        list of tuple
            The intervals proved for the dimension, for 0, 1, ... hops.
        """
        columns: Iterable[Any]
        if type(data) in (np.ndarray, np.memmap):  # nothing of geodim in between
            columns, shape = checker.columns_of(data), data.shape
        else:
            from geodim.certificate.columns import Columns  # noqa: PLC0415

            columns = Columns(data)
            shape = columns.shape
        edges = None if graph is None or not self.hops else edges_of(graph, shape[0])
        try:
            return [one for _, one in checker.verify(self._values, columns, shape, edges)]
        except checker.RefutedError as error:
            raise CertificateError(str(error)) from error

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return copy.deepcopy(self._values)

    def to_json(self) -> str:
        """JSON text, one line per list."""
        return _text(self._values) + "\n"

    def save(self, path: str | Path) -> None:
        """Write the JSON document, whole or not at all."""
        from geodim.output import write_text  # noqa: PLC0415

        write_text(path, self.to_json())

    @classmethod
    def from_dict(cls, values: Any) -> Certificate:
        """Rebuild a certificate from `to_dict`; the format is checked, the claims are not."""
        return cls(values)

    @classmethod
    def from_json(cls, source: str | Path) -> Certificate:
        """Read a certificate from JSON text or a file; the format is checked, the claims are not."""
        try:
            if isinstance(source, str) and source.lstrip().startswith("{"):
                return cls(checker.decoded(source.encode()))
            return cls(checker.read(source))
        except checker.RefutedError as error:
            raise CertificateError(str(error)) from error
        except OSError as error:
            msg = f"cannot read {source}: {error.strerror or error}"
            raise DataFileError(msg) from error

    def __repr__(self) -> str:
        claims = ", ".join(f"[{low:.7g}, {high:.7g}]" for low, high in self.dimensions)
        sizes, starts = len(self._values["sizes"]), len(self._values["starts"])
        low, high = self.dimensions[-1]
        width = "" if low == 0.0 or high == math.inf else f", relative width {high / low - 1.0:.2g}"
        return (
            f"Certificate(dimension in {claims}{width}; {self.n_points:,} points x {self.n_features:,} "
            f"features, {sizes:,} sizes, windows of {starts:,} features)"
        )


def edges_of(graph: Any, n_nodes: int) -> tuple[Any, Any]:
    """Both ends of every edge of a graph in any form."""
    from geodim.data.graphs import as_graph  # noqa: PLC0415

    simple = as_graph(graph, n_nodes)
    return np.repeat(np.arange(n_nodes), np.diff(simple.indptr)), simple.indices


def _text(values: dict[str, Any]) -> str:
    """Short JSON in which every field, and every layer, has a line of its own."""

    def short(value: Any) -> str:
        return json.dumps(value, separators=(",", ":"), allow_nan=False)

    layers = ",\n".join(
        "  {" + ",\n   ".join(f"{short(name)}: {short(value)}" for name, value in layer.items()) + "}"
        for layer in values["layers"]
    )
    lines = [f"{short(name)}: {short(value)}" for name, value in values.items() if name != "layers"]
    return "{" + ",\n ".join([*lines, f'"layers": [\n{layers}\n ]']) + "}"
