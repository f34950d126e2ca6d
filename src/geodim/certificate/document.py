"""`Certificate`: what a certificate claims, to be written, read and verified."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from geodim import checker
from geodim.data.boundary import boundary
from geodim.errors import CertificateError
from geodim.text import html_table
from geodim.words import counted

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from matplotlib.axes import Axes


class Certificate:
    """Bounds on an intrinsic dimension, and what is needed to prove them from the data.

    Made by ``result.certificate()``; the format is described in ``docs/certificates.md``.  Nothing in it is
    taken on trust: `verify` and the stand-alone program ``geodim/checker.py`` derive the bounds from the data
    again.

    Parameters
    ----------
    text : str or bytes
        The JSON document; the format is checked, the claims are not.

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

    def __init__(self, text: str | bytes) -> None:
        try:
            self._values = checker.parsed(text)
        except checker.RefutedError as error:
            raise CertificateError(str(error)) from error
        self._text = text if isinstance(text, str) else text.decode(json.detect_encoding(text))

    @property
    def n_points(self) -> int:
        """The number of points."""
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
        """Intervals for the intrinsic dimension, for 0, 1, ... hops, that follow from the claims."""
        return [checker.dimension(low, high) for low, high in self._values["claims"]]

    @property
    def discriminabilities(self) -> list[tuple[float, float]]:
        """The interval claimed for Delta, for 0, 1, ... hops."""
        return [(low, high) for low, high in self._values["claims"]]

    def verify(self, data: object, graph: object = None) -> list[tuple[float, float]]:
        """Derive the claims from the data; raise `CertificateError`, naming what is wrong, if they fail.

        Parameters
        ----------
        data
            Points by features, in any form that `geodim.intrinsic_dimension` takes.  From data on a cluster,
            a few columns at a time are fetched.
        graph
            The graph, for hops, in any form that `geodim.khop_dimensions` takes.

        Returns
        -------
        list of tuple
            The intervals proved for the dimension, for 0, 1, ... hops.
        """
        columns: Iterable[Any]
        # For these, no code of geodim comes in between.
        if isinstance(data, np.ndarray) and type(data) in (np.ndarray, np.memmap):
            columns, shape = checker.columns_of(data), data.shape
        else:
            from geodim.certificate.columns import Columns  # noqa: PLC0415

            columns = Columns(data)
            shape = columns.shape
        edges = None if graph is None or not self.hops else edges_of(graph, shape[0])
        try:
            return [checker.dimension(*delta) for delta in checker.verify(self._text, columns, shape, edges)]
        except checker.RefutedError as error:
            raise CertificateError(str(error)) from error

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON."""
        return dict(json.loads(self._text))

    def to_json(self, path: str | Path | None = None) -> str:
        """Return the JSON document, also written to ``path`` (whole or not at all) if given.

        It is as it was read, or has a line for every field.
        """
        if path is not None:
            self.save(path)
        return self._text

    def save(self, path: str | Path) -> None:
        """Write the JSON document, whole or not at all."""
        from geodim.output import write_text  # noqa: PLC0415

        _check_length(len(self._text))
        write_text(path, self._text)

    @classmethod
    def from_dict(cls, values: Mapping[str, object]) -> Certificate:
        """Rebuild a certificate from `to_dict`; the format is checked, the claims are not."""
        try:
            lines = [f"{_short(name)}: {_short(value)}" for name, value in dict(values).items()]
        except (TypeError, ValueError, RecursionError) as error:
            msg = f"this is not the dictionary of a certificate: {error}"
            raise CertificateError(msg) from error
        return cls("{" + ",\n ".join(lines) + "}\n")

    @classmethod
    def from_json(cls, source: str | Path) -> Certificate:
        """Read a certificate from JSON text or a file; the format is checked, the claims are not."""
        if isinstance(source, str) and source.lstrip().startswith("{"):
            return cls(source)
        with boundary(source, "certificate"), Path(source).open("rb") as stream:
            text = stream.read(checker.MOST_BYTES + 1)
        _check_length(len(text))
        try:
            return cls(text)
        except CertificateError as error:
            raise CertificateError(f"{source}: {error}") from error

    def plot(self, ax: Axes | None = None, **options: Any) -> Axes:  # noqa: ANN401 - handed on
        """Plot the claimed intervals for the dimension, a row for every number of hops."""
        from geodim.display.certificate import plot_certificate  # noqa: PLC0415

        return plot_certificate(self, ax=ax, **options)

    def _repr_html_(self) -> str:
        rows = [
            (f"after {counted(k, 'hop')}" if self.hops else "all features", f"{low:.7g}", f"{high:.7g}")
            for k, (low, high) in enumerate(self.dimensions)
        ]
        return html_table(self._claim(), rows, ("intrinsic dimension", "at least", "at most"))

    def _claim(self) -> str:
        size = f"{counted(self.n_points, 'point')} with {counted(self.n_features, 'feature')}"
        return f"certificate for {size}: verify(data) proves these bounds"

    def __repr__(self) -> str:
        claims = ", ".join(f"[{low:.7g}, {high:.7g}]" for low, high in self.dimensions)
        sizes, starts = self._values["sizes"].size, np.unique(self._values["starts"][0]).size
        low, high = self.dimensions[-1]
        width = "" if low == 0.0 or high == math.inf else f", relative width {high / low - 1.0:.2g}"
        return (
            f"Certificate(dimension in {claims}{width}; {self.n_points:,} points x {self.n_features:,} "
            f"features, {sizes:,} sizes, windows of {starts:,} features)"
        )


def edges_of(graph: object, n_nodes: int) -> tuple[Any, Any]:
    """Return both ends of every edge of a graph in any form."""
    from geodim.data.graphs import as_graph  # noqa: PLC0415

    simple = as_graph(graph, n_nodes)
    return np.repeat(np.arange(n_nodes), np.diff(simple.indptr)), simple.indices


def _check_length(length: int) -> None:
    if length > checker.MOST_BYTES:
        msg = (
            f"the certificate has more than {checker.MOST_BYTES >> 20} MiB, which is more than is read: "
            "ask for a larger rtol"
        )
        raise CertificateError(msg)


def _short(value: object) -> str:
    return json.dumps(value, separators=(",", ":"), allow_nan=False)
