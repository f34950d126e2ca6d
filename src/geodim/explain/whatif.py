"""`WhatIf`: the dimension if features were removed, rescaled, clipped or replaced.

The rest is not computed again.  Phi is a maximum over features, so it is enough to know the two best at every
k (`geodim.engine.toptwo`, 28 bytes per point): without any one feature Phi is the second best where that
feature was best, and a changed feature is merged into that.  Where several features are removed that hold
both places at some k, the features that could take the third are solved again, at those k; coarse profiles,
made once, show which these are.
"""

from __future__ import annotations

import math
import time
from importlib import import_module
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np

from geodim.arguments import real_number
from geodim.data.checks import scan_ranges
from geodim.data.integers import measured_exactly
from geodim.data.scales import Scale
from geodim.data.sources import WeightedSource, as_source
from geodim.engine.parts import thread_count
from geodim.engine.pilot import look_ahead
from geodim.engine.profile import Profile
from geodim.engine.toptwo import TopTwo
from geodim.errors import InputValueError, ShapeError
from geodim.explain.coarse import CoarseProfiles
from geodim.explain.passes import Column, ColumnPass, Slot
from geodim.families.opening import open_features
from geodim.families.protocol import error_of, part_of
from geodim.families.union import is_divided
from geodim.lists import as_array
from geodim.summary import summarise
from geodim.support_field import altered
from geodim.text import html_table
from geodim.words import number

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from geodim.data.checks import Ranges
    from geodim.data.sources import ColumnSource
    from geodim.families.opening import Opened
    from geodim.result import IDResult

SHOWN = 10  # removals that are shown: those of the features with the largest shares
NOBODY = np.iinfo(np.int32).max  # an owner that every column comes before


class WhatIf:
    r"""Answers to what-if questions about a data set that is measured once.

    Every answer is the `IDResult` of the changed data, bit for bit what `geodim.intrinsic_dimension`
    gives for it in float64, except that features keep the numbers of their columns: exact, unless windows of
    a column are all nearly equally wide, see its ``last_bit``.  With ``normalize``,
    d_max is that of the changed data.  There is no file of it, since it asks the data; answers have files.

    Parameters
    ----------
    X : array-like of shape (n_points, n_features)
        Numbers in any form that `geodim.intrinsic_dimension` takes; it must not change
        while questions are asked.
    features, metric, landmarks, scale, normalize, weights, feature_names, n_threads
        As for `geodim.intrinsic_dimension`.  Removing a distance feature means no longer measuring from that
        point; the point itself stays. The features must be complete: landmarks and directions stand for
        others, and members of a union that are divided by their diameters change with each other.

    Attributes
    ----------
    result : IDResult
        The result for the unchanged data.

    Examples
    --------
    >>> import numpy as np
    >>> import geodim
    >>> x = np.arange(5.0)
    >>> what_if = geodim.WhatIf(np.stack([x, x**2], axis=1), feature_names=["x", "square"], normalize=False)
    >>> what_if.result.discriminability
    6.0
    >>> what_if.remove("square").discriminability
    2.0
    >>> what_if.clip("square", high=4.0).discriminability
    2.0
    """

    def __init__(
        self,
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
    ) -> None:
        started = time.monotonic()
        self.threads = thread_count(n_threads)
        import_module("geodim.engine.column")  # Numba, before an interrupt could leave it half imported
        chosen = Scale.of(scale, normalize)
        if chosen.own:  # a changed feature would have another unit
            raise InputValueError(
                "what-if questions change columns, and with them units of their own: scale the data first, "
                "and leave out scale, or take 'global' or 'none'"
            )
        opened = open_features(
            X, features, metric, landmarks, weights=weights, names=feature_names, n_threads=self.threads
        )
        _check_whole(opened)
        self.original, self.said = opened.source, opened.said
        self.normalize = chosen.normalize
        self.weights = weights
        self.source, self.ranges, off = self._measured(self.original)
        self.off = off + error_of(opened.plain, self.ranges)
        self.columns = ColumnPass(self.source, self.threads, self.ranges, relaxed=opened.said is None)
        self.two = TopTwo.of(self.source.n_points, self.source.n_features)
        self.two.relax(self.columns.relaxed)
        self._coarse: CoarseProfiles | None = None
        leaders = look_ahead(self.source, self.ranges).leaders
        self.columns.merge_into(self.two, leaders)
        others = sorted(set(range(self.source.n_features)).difference(leaders))
        self.columns.merge_into(self.two, others)
        whole = self._profile(self.two.best, self.two.holder)
        self.result = self._summary(whole, self.ranges.d_max, started)

    def remove(self, *features: str | int) -> IDResult:
        """Return the result without some features, given by name or column.

        This is immediate for one feature; for several, features that could take their place are
        solved again where needed.
        """
        started = time.monotonic()
        gone = sorted({self.column(feature) for feature in features})
        if len(gone) >= self.source.n_features:
            msg = f"all {self.source.n_features} features would be removed: leave at least one"
            raise InputValueError(msg)
        found = self._profile(*self.two.without(gone[0])) if len(gone) == 1 else self._without(gone)
        result = self._summary(found, self._range_without(gone), started)
        return altered(result, n_features=self.source.n_features - len(gone))

    def rescale(self, feature: str | int, factor: float) -> IDResult:
        """Return the result if one feature were multiplied by a number."""
        number = real_number(factor, "factor", above=-math.inf, below=math.inf)
        with np.errstate(over="ignore"):  # reported with row and column
            values = self.values(feature) * number
        return self.replace(feature, values)

    def clip(self, feature: str | int, low: float | None = None, high: float | None = None) -> IDResult:
        """Return the result if the values of one feature were clipped to [``low``, ``high``]."""
        bottom = -math.inf if low is None else real_number(low, "low")
        top = math.inf if high is None else real_number(high, "high")
        if not bottom <= top:
            msg = f"low must not exceed high, got {low!r} and {high!r}"
            raise InputValueError(msg)
        return self.replace(feature, np.clip(self.values(feature), bottom, top))

    def replace(self, feature: str | int, values: object) -> IDResult:
        """Return the result if one feature had other values, one per point."""
        started = time.monotonic()
        column = self.column(feature)
        array = as_array(values)
        rows = self._rows()
        if array.shape != (rows,):
            msg = f"the feature needs one value per point ({rows}), got shape {array.shape}"
            raise ShapeError(msg)
        source = as_source(array[:, np.newaxis], weights=self.weights, names=[self._name(column)])
        source, ranges, off = self._measured(source)
        phi, owner = self.two.without(column)
        changed = self._profile(phi, owner)
        for noted in changed.notes.values():  # of the column as it was
            noted[column] = 0.0
        slot = Slot(source, relaxed=self.columns.relaxed, n_features=self.source.n_features)
        for new in slot.read([0]):
            slot.solve(Column(column, new.values, new.counts), changed)
        d_max = max(self._range_without([column]), ranges.d_max)
        return self._summary(changed, d_max, started, off)

    def values(self, feature: str | int) -> NDArray[np.float64]:
        """Return the values of one feature, in float64."""
        source = self.original.source if isinstance(self.original, WeightedSource) else self.original
        out = np.empty((1, source.n_points), source.dtype)
        source.read([self.column(feature)], out)
        values: NDArray[np.float64] = out[0].astype(np.float64)
        return values

    def column(self, feature: str | int) -> int:
        """Return the column of a feature given by name or column."""
        return _find(feature, self.source.names, self.source.n_features)

    def removals(self, most: int = SHOWN) -> dict[str, float]:
        """Return the dimension without each of the features with the largest shares, at most ``most``.

        >>> import numpy as np
        >>> import geodim
        >>> geodim.WhatIf(np.diag([1.0, 2.0, 3.0])).removals(1)
        {'2': 9.0}
        """
        if self.source.n_features == 1:
            return {}
        found = {}
        for at, name in enumerate(list(self.result.shares)[:most]):
            # Where it attains Phi first: several columns may have one name.
            size = int(self.result.attained_from[self.result.attained_by == at][0])
            found[name] = self.remove(int(self.two.holder[size - 1])).dimension
        return found

    def plot(self, ax: Axes | None = None, **options: Any) -> Axes:  # noqa: ANN401 - handed on
        """Plot the dimension as it is, and without each of the features with the largest shares."""
        from geodim.display.sampling import plot_numbers  # noqa: PLC0415

        there = self.result
        rows = [("as it is", there.lower, there.dimension, there.upper)]
        rows += [(f"without {name}", value, value, value) for name, value in self.removals().items()]
        return plot_numbers(rows, ax, **options)

    def __repr__(self) -> str:
        return (
            f"WhatIf(dimension {number(self.result.dimension)} as it is; "
            f"{self.result.n_points:,} points x {self.result.n_features:,} features)"
        )

    def _repr_html_(self) -> str:
        rows = [("as it is", number(self.result.dimension))]
        rows += [(f"without {name}", number(value)) for name, value in self.removals().items()]
        return html_table("intrinsic dimension", rows)

    def _rows(self) -> int:
        return (
            self.source.source.n_points if isinstance(self.source, WeightedSource) else self.source.n_points
        )

    def _name(self, column: int) -> str:
        return str(column) if self.source.names is None else self.source.names[column]

    def _range_without(self, gone: list[int]) -> float:
        return float(np.delete(self.ranges.widths, gone).max(initial=0.0))

    def _without(self, gone: list[int]) -> Profile:
        """Return Phi and its owners without several features."""
        two = self.two
        best_gone, second_gone = np.isin(two.holder, gone), np.isin(two.runner, gone)
        phi = np.where(best_gone, two.second, two.best)
        owner = np.where(best_gone, two.runner, two.holder)
        unknown = best_gone & second_gone
        if not unknown.any():
            return self._profile(phi, owner)
        # What smaller k reached is reached here, too; and its column takes precedence over no other.
        phi = np.maximum.accumulate(np.where(unknown, 0.0, phi))
        owner = np.where(unknown, NOBODY, owner).astype(np.int32)
        profile = self._profile(phi, owner)
        sizes = np.arange(phi.size)
        following = np.minimum.accumulate(np.where(unknown, sizes, phi.size)[::-1])[::-1]
        if self._coarse is None:
            self._coarse = CoarseProfiles(self.columns, self.ranges)
        before = phi.copy()  # a bar that does not move: ties must be found in any order
        coarse = self._coarse
        some = [
            f
            for f in range(self.source.n_features)
            if f not in gone and coarse.may_attain(f, before, following)
        ]
        self.columns.run(some, lambda slot, column: slot.solve(column, profile))
        profile.owner[profile.owner == NOBODY] = -1
        return profile

    def _profile(self, phi: NDArray[np.float64], owner: NDArray[np.int32]) -> Profile:
        profile = Profile.empty(self.source.n_points, self.source.n_features)
        profile.phi[:], profile.owner[:] = phi, owner
        profile.notes = {name: noted.copy() for name, noted in self.two.notes.items()}
        return profile

    def _summary(
        self,
        profile: Profile,
        d_max: float,
        started: float,
        off: float = 0.0,
    ) -> IDResult:
        profile.never_fall()
        result = summarise(
            profile,
            self.ranges,
            d_max=d_max,
            normalize=self.normalize,
            names=self.source.names,
            rtol=0.0,
            seconds=time.monotonic() - started,
            n_threads=self.threads,
            feature_error=max(self.off, off) + 0.5 * profile.loose,  # each width is that of two values
            d_max_error=2.0 * max(self.off, off),
        )
        if self.said is None:
            return result
        return altered(result, parameters=result.parameters | {"features": self.said})

    def _measured(self, source: ColumnSource) -> tuple[ColumnSource, Ranges, float]:
        """Return the source to solve, its ranges, and how far it is off."""
        ranges = scan_ranges(source, self.threads)
        return measured_exactly(source, ranges, lambda other: scan_ranges(other, self.threads))


def _check_whole(opened: Opened) -> None:
    """Refuse features that cannot be changed one at a time, or that stand for others."""
    part = part_of(opened.plain)
    if part is not None:
        raise InputValueError(
            f"these features stand for {part}, and a change of one says nothing about those: take all "
            "distances, or ask select_features which of them matter"
        )
    if is_divided(opened.plain):
        raise InputValueError(
            "a change of one feature may change what its whole family is divided by: take the union as it "
            "is, without by='diameter'"
        )


def _find(feature: object, names: list[str] | None, n_features: int) -> int:
    if not isinstance(feature, bool) and isinstance(feature, Integral):
        if not 0 <= int(feature) < n_features:
            msg = f"there is no column {feature}: they are numbered 0 to {n_features - 1}"
            raise InputValueError(msg)
        return int(feature)
    known = [str(column) for column in range(n_features)] if names is None else names
    if not isinstance(feature, str) or known.count(feature) != 1:
        how = "several features are" if feature in known else "no feature is"
        msg = f"{how} called {feature!r}: give the number of a column from 0 to {n_features - 1}"
        raise InputValueError(msg)
    return known.index(feature)
