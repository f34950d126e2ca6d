"""Which features carry the discriminability (`explain_dimension`, `explain_hops`)."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from geodim.data.scales import Scale
from geodim.data.sources import as_source
from geodim.dimension import intrinsic_dimension
from geodim.engine.parts import thread_count
from geodim.engine.toptwo import TopTwo
from geodim.errors import InputValueError
from geodim.explain.core import CoreFinder
from geodim.explain.passes import ColumnPass, exact_source
from geodim.families.choose import Ready
from geodim.families.opening import open_features
from geodim.removal import TIE_RULE
from geodim.result import IDResult, unique_names
from geodim.saved.document import SavedResult, rebuilt, to_json_value
from geodim.summary import removal_of
from geodim.support_field import altered
from geodim.text import html_table, visible

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from geodim.data.sources import ColumnSource
    from geodim.removal import Removal

FORMAT = "geodim.Explanation/3"
HTML_NAMES = 10


@dataclass(frozen=True, repr=False)
class Explanation(SavedResult):
    """What every feature contributes, and which of them suffice.

    Attributes
    ----------
    result : IDResult
        The intrinsic dimension itself, without a tolerance unless windows of a column are all nearly equally
        wide, see its ``last_bit``.
    without : dict
        For every feature, in the order of the columns, the dimension of all others together, bit for bit as
        it would be computed from them.
    costs : dict
        By how much the dimension rises without a feature, largest changes first; features whose removal
        changes nothing are left out.
    ties : array of int
        How many features attain Phi(k), for k = 2, ..., n.
    alone : dict
        For every feature with a share, the part of it that no other feature attains, too.
    shares : dict
        For every feature that attains Phi(k) somewhere, the sum of Phi over those k over the sum of all,
        largest first.  Where several attain it, the lowest column counts, so that the shares add up to 1;
        all other features have 0.
    hop_shares : dict
        The shares of each hop together, for the features of a graph; for other data all belongs to hop 0.
    core : list of str
        A minimal set of features: together they have the same dimension to the bit, and without any
        one of them it is different.
    core_columns : list of int
        Their columns; column j after m hops is m * n_attributes + j.
    core_shares : dict
        Shares among the core alone, largest first: what they are once features that tie with the core are
        gone.

    Examples
    --------
    >>> import numpy as np
    >>> import geodim
    >>> X = np.array([[0, 8], [1, 0], [3, 4], [6, 8], [10, 0]])
    >>> why = geodim.explain_dimension(X, feature_names=["f", "g"])
    >>> {name: round(share, 3) for name, share in why.shares.items()}, why.core
    ({'g': 0.522, 'f': 0.478}, ['f', 'g'])
    """

    result: IDResult
    removal: Removal
    without: dict[str, float]
    core: list[str]
    core_columns: list[int]
    core_shares: dict[str, float] = field(default_factory=dict)
    hop_shares: dict[int, float] = field(default_factory=dict)

    @property
    def shares(self) -> dict[str, float]:
        """Shares of the discriminability, largest first."""
        return self.result.shares

    @property
    def costs(self) -> dict[str, float]:
        """By how much the dimension rises without a feature, largest changes first."""
        return self.removal.costs

    @property
    def ties(self) -> NDArray[np.int32]:
        """How many features attain Phi(k), for k = 2, ..., n."""
        return self.removal.ties

    @property
    def alone(self) -> dict[str, float]:
        """The part of every share that no other feature attains."""
        return self.removal.alone

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON; ``without`` names the features with a share."""
        return {
            "format": FORMAT,
            "dimension": to_json_value(self.result.dimension),
            "discriminability": self.result.discriminability,
            "n_points": self.result.n_points,
            "n_features": self.result.n_features,
            "features": self.result.parameters.get("features", {"family": "coordinates"}),
            **{name: value for name, value in self.removal.to_dict().items() if name != "dimension"},
            "removal": self.removal.to_dict(),
            "shares": self.shares,
            "hop_shares": {str(hop): share for hop, share in self.hop_shares.items()},
            "core": self.core,
            "core_columns": self.core_columns,
            "core_shares": self.core_shares,
            "result": self.result.to_dict(),
        }

    @classmethod
    def from_dict(cls, values: object) -> Explanation:
        """Rebuild an explanation from `to_dict`; ``without`` names the features with a share."""
        from geodim.saved.others import EXPLANATION, EXPLANATION_DERIVED  # noqa: PLC0415

        def make(known: dict[str, Any]) -> Explanation:
            return cls(**{**known, "result": IDResult.from_dict(known["result"])})

        made: Explanation = rebuilt(values, FORMAT, EXPLANATION, EXPLANATION_DERIVED, make)
        return made

    def plot(self, ax: Axes | None = None, **options: Any) -> Axes:  # noqa: ANN401 - handed on
        """Plot the shares of the features, and the dimension without each, see `geodim.display.shares`."""
        from geodim.display.shares import plot_shares  # noqa: PLC0415

        return plot_shares(altered(self.result, removal=self.removal), ax=ax, **options)

    def __repr__(self) -> str:
        leading = ", ".join(f"{visible(name)} {share:.1%}" for name, share in list(self.shares.items())[:3])
        return (
            f"Explanation(dimension={self.result.dimension:.6g}; {self.removal.sentence()}; carried by "
            f"{len(self.shares)} of {self.result.n_features} features: {leading} ({TIE_RULE}); core of "
            f"{len(self.core)})"
        )

    def _repr_html_(self) -> str:
        def listed(shares: dict[str, float]) -> str:
            leading = [f"{name} {share:.1%}" for name, share in list(shares.items())[:HTML_NAMES]]
            more = len(shares) - len(leading)
            return ", ".join(leading) + (f" and {more:,} more" if more else "")

        features = f"{len(self.shares):,} of {self.result.n_features:,} features"
        rows = [
            ("intrinsic dimension", f"{self.result.dimension:.6g}"),
            ("without a feature", self.removal.sentence(HTML_NAMES)),
            (f"carried by {features}", f"{listed(self.shares)} ({TIE_RULE})"),
            (f"core of {len(self.core):,}", listed(self.core_shares)),
        ]
        if len(self.hop_shares) > 1:
            rows.append(("by hops", listed({f"hop {hop}": share for hop, share in self.hop_shares.items()})))
        return html_table("geodim, explanation", rows)


def explain_dimension(
    X: object,
    *,
    features: object = "coordinates",
    metric: object = None,
    landmarks: object = None,
    scale: object = None,
    normalize: bool | None = None,
    weights: object = None,
    feature_names: Sequence[str] | None = None,
    n_threads: int | None = None,
    last_bit: bool = False,
) -> Explanation:
    """Explain what every feature contributes, and find a minimal set with the same dimension.

    What the removal of a feature costs, exactly and for all features at once; which features carry the
    discriminability, where the lowest column counts among those that tie; and a minimal set of features that
    has the same dimension to the bit.

    Parameters
    ----------
    X : array-like of shape (n_points, n_features)
        Numbers in any form that `geodim.intrinsic_dimension` takes.
    features, metric, landmarks, scale, normalize, weights, feature_names, n_threads
        As for `geodim.intrinsic_dimension`.  For distances this names the points that carry the dimension,
        for directions the directions. A part of a larger family is explained as it is: which of these
        landmarks carry what all of them reach.
    last_bit
        As for `geodim.intrinsic_dimension`; what is explained is the result for these widths.

    Returns
    -------
    Explanation

    Examples
    --------
    >>> import numpy as np
    >>> import geodim
    >>> x = np.arange(10.0)
    >>> X = np.stack([x, x**2 / 5, x**2 / 5, x / 2], axis=1)
    >>> explanation = geodim.explain_dimension(X, feature_names="abcd")
    >>> explanation.core
    ['a', 'b']
    >>> explanation.costs  # b and c are equal: either may go
    {'a': 0.8847510044914442}
    """
    threads = thread_count(n_threads)
    chosen = Scale.of(scale, normalize)
    opened = open_features(
        X, features, metric, landmarks, weights=weights, names=feature_names, n_threads=threads, scale=chosen
    )
    source = opened.source
    names = _distinct(source)
    how: dict[str, Any] = {"feature_names": names}
    if opened.said is not None and not chosen.own:  # the same columns, even if some were drawn at random
        opened.plain.names = source.names = names
        how = {"features": Ready(opened.plain, opened.said)}
    result = intrinsic_dimension(
        X,
        scale=_again(scale, normalize),
        weights=weights,
        n_threads=n_threads,
        last_bit=last_bit,
        removal=True,
        **how,
    )
    if np.any(getattr(source, "long_integers", False)):
        source, _ = exact_source(source, threads)
    relaxed = opened.said is None and result.plan is not None and result.plan.way.relaxed
    finder = CoreFinder(ColumnPass(source, threads, relaxed=relaxed), normalize=chosen.normalize)
    return _explanation(result, result.removal, source, names, finder, source.n_features)


def explain_hops(
    X: object,
    graph: object = None,
    hops: int = 5,
    *,
    operator: object = "sym",
    operator_parameters: dict[str, Any] | None = None,
    scale: object = None,
    normalize: bool | None = None,
    edge_weights: object = None,
    feature_names: Sequence[str] | None = None,
    n_threads: int | None = None,
    last_bit: bool = False,
) -> Explanation:
    """Explain which attributes, after which hops, carry the discriminability of a graph's k-hop data set.

    Features are divided by d_max of the raw attributes, whatever features belong to the core.

    Parameters
    ----------
    X, graph, hops, operator, operator_parameters, scale, normalize, edge_weights, feature_names, n_threads
        As for `geodim.khop_dimensions`.
    last_bit
        As for `geodim.khop_dimensions`; what is explained is the result for these widths.

    Returns
    -------
    Explanation
        For the data set of ``hops`` hops; attribute ``a`` after two hops is called ``hop 2: a``.

    Examples
    --------
    >>> import geodim
    >>> explanation = geodim.explain_hops([[0.0], [0.0], [1.0]], [(0, 1), (1, 2)], hops=1)
    >>> explanation.core
    ['0', 'hop 1: 0']
    """
    from geodim.data.graphs import as_graph  # noqa: PLC0415
    from geodim.data.graphs.attributes import attributes_and_graph  # noqa: PLC0415
    from geodim.explain.hop_source import HopSource, hop_label  # noqa: PLC0415
    from geodim.features import make_operator  # noqa: PLC0415
    from geodim.khop import khop_dimensions  # noqa: PLC0415

    if Scale.of(scale, normalize).own:
        raise InputValueError(
            f"scale={scale!r:.60} is not for explanations of hops: divide the attributes first, and explain "
            "the quotients; scale='global' and 'none' are"
        )
    X, graph = attributes_and_graph(X, graph, operator)
    attributes = as_source(X, names=feature_names)
    names = _distinct(attributes)
    whole = khop_dimensions(
        X,
        graph,
        hops,
        operator=operator,
        operator_parameters=operator_parameters,
        scale=scale,
        normalize=normalize,
        edge_weights=edge_weights,
        feature_names=names,
        n_threads=n_threads,
        last_bit=last_bit,
    )
    result = whole[whole.hops]
    threads = thread_count(n_threads)
    if graph is not None:
        graph = as_graph(graph, attributes.n_points, edge_weights=edge_weights, n_threads=threads)
    plain = {  # as plain Python numbers
        name: getattr(value, "item", lambda value=value: value)()
        for name, value in (operator_parameters or {}).items()
    }
    one_hop = make_operator(graph, operator, **plain)
    source = HopSource(X, one_hop, whole.hops, names)
    relaxed = whole.plan is not None and whole.plan.way.relaxed
    columns = ColumnPass(source, threads, relaxed=relaxed, n_features=1)  # hops are sorted, however many
    finder = CoreFinder(columns, normalize=result.normalized, scale=result.scale)
    labels = [hop_label(name, hop) for hop in range(whole.hops + 1) for name in names]
    removal = None if result.stopped else _hop_removal(result, columns, labels)
    return _explanation(result, removal, source, labels, finder, attributes.n_features)


def _again(scale: object, normalize: bool | None) -> object:
    """Return the same scale by its newer name."""
    return scale if normalize is None else "global" if normalize else "none"


def _distinct(source: ColumnSource) -> list[str]:
    """Return names by which columns can be found again."""
    return unique_names(source.names, list(range(source.n_features)))


def _hop_removal(result: IDResult, columns: ColumnPass, labels: list[str]) -> Removal:
    """Return what removals cost after hops: the columns are computed once more, those with a share first."""
    column_of = {name: column for column, name in enumerate(labels)}
    leaders = [column_of[name] for name in result.shares]
    source = columns.source
    two = TopTwo.of(source.n_points, source.n_features)
    two.relax(columns.relaxed)
    columns.merge_into(two, leaders)
    columns.merge_into(two, sorted(set(range(source.n_features)).difference(leaders)))
    return removal_of(two, labels, normalize=False, scale=result.scale, n_threads=columns.threads)


def _explanation(
    result: IDResult,
    removal: Removal | None,
    source: ColumnSource,
    names: list[str],
    finder: CoreFinder,
    n_attributes: int,
) -> Explanation:
    if result.stopped or removal is None:  # a stopped run has bounds on the dimension, but no core
        raise KeyboardInterrupt
    column_of = {name: column for column, name in enumerate(names)}
    owners = {column_of[name]: share for name, share in result.shares.items()}
    by_hop: dict[int, list[float]] = {hop: [] for hop in range(source.n_features // n_attributes)}
    for column, share in owners.items():
        by_hop[column // n_attributes].append(share)
    # Shares are rounded, and may add up to a little more than all of it.
    hop_shares = {hop: min(math.fsum(shares), 1.0) for hop, shares in by_hop.items()}
    core = finder.find(owners)
    order = sorted(core, key=lambda column: -core[column])
    return Explanation(
        result=result,
        removal=removal,
        without={name: removal.without.get(name, removal.dimension) for name in names},
        core=[names[column] for column in core],
        core_columns=list(core),
        core_shares={names[column]: core[column] for column in order},
        hop_shares=hop_shares,
    )
