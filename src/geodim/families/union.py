r"""Several families as one: their functions together, as they are or each family divided by its diameter.

Phi of a union is the maximum over its members, :math:`\Phi(k) = \max_m \Phi_m(k)`, and d_max the largest
range of all features.  Families in different units (metres and radians) are of no use to each other
unless each is divided by its diameter, its own d_max, first: by="diameter".  Then every member has d_max 1.

**Rounding.** A value v of a member is off by e at most, its diameter D is off by 2 e, and v / D is rounded
once, by u |v| / D with u = 2^-53, and by 2^-1075 among the smallest numbers.  A width w, at most D, is
therefore off by 2 e / D' + 2 u |v| / D from its values and by 2 e / D' from the diameter, where D' = D - 2 e;
as much as if every value were off by 2 e / D' + u |v| / D.

**Parts.** If a member is a part of a larger family, so is the union.  Above, every member has a bound; the
greatest counts.  Below, the bound is that of the member whose feature attains Phi of the union: it is Phi of
that member.  A member was divided by the diameter D of its computed features, but should be divided by d_max
of its whole family, which lies between d and d': Phi / d' and Phi / d then bound it.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from geodim.data.checks import Ranges, scan_ranges
from geodim.data.describe import digest_of
from geodim.data.integers import measured_exactly
from geodim.engine.parts import divisor, thread_count
from geodim.errors import InputTypeError, InputValueError, ShapeError
from geodim.families.bounds import Part, Whole, all_of_it, down, up
from geodim.families.covering import covering
from geodim.families.protocol import described, error_of, is_made, label_of, opened, part_of
from geodim.families.sizes import Sizes, sizes_of
from geodim.families.sources import AT_ONCE, MadeColumns, digest_of_parts

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from geodim.data.sources import ColumnSource
    from geodim.families.protocol import Family

UNIT = 2.0**-53
SMALLEST = 2.0**-1074
BY = (None, "diameter")


@dataclass(frozen=True)
class Union:
    """Several families of features as one.

    Parameters
    ----------
    members : sequence of families or names
        Such as ``["coordinates", Distances(metric="cosine")]``.
    by : {None, "diameter"}
        Take features as they are, or divide those of each member by its diameter, the largest range of
        its features; that takes one more pass over each member.

    Examples
    --------
    >>> import numpy as np
    >>> import geodim
    >>> X = np.array([[0.0, 0.0], [3.0, 4.0], [0.0, 0.0]])
    >>> both = geodim.intrinsic_dimension(X, features=Union(["coordinates", "distances"]))
    >>> both.d_max, list(both.shares)
    (5.0, ['distances: 0'])
    """

    members: Any
    by: str | None = None

    label = "union"

    @property
    def takes_tables(self) -> bool:
        """Whether points are rows of numbers for all members."""
        return all(getattr(family, "takes_tables", True) for family in self.families())

    def families(self) -> list[Family]:
        """Return the members, members of members included where nothing is divided."""
        from geodim.families.choose import member_of  # noqa: PLC0415 - they know each other

        if self.by not in BY:
            raise InputValueError(f"by must be None or 'diameter', got {self.by!r}")
        if isinstance(self.members, str) or not isinstance(self.members, Sequence):
            raise InputTypeError(f"the members of a union are a list of families, not {self.members!r:.60}")
        if not self.members:
            raise InputValueError("a union has members: name at least one family")
        found: list[Family] = []
        for one in self.members:
            member = Union(one) if isinstance(one, list | tuple) else member_of(one)
            if isinstance(member, Union) and member.by == self.by is None:
                found += member.families()
            else:
                found.append(member)
        return found

    def source(
        self, X: object, *, names: Sequence[str] | None = None, n_threads: int | None = None
    ) -> ColumnSource:
        """Return the columns of all members, one member after the other.

        Parameters
        ----------
        X
            The points, which every member takes.
        names : sequence of str, optional
            Names of the points, for members whose functions belong to points.
        n_threads : int, optional
            Threads to use.
        """
        threads = thread_count(n_threads)
        families = self.families()
        labels = _labels([label_of(family) for family in families])
        takes = [getattr(family, "names_points", False) for family in families]
        if names is not None and not any(takes):
            raise InputValueError(
                "feature_names of a union name the points that distances are from: leave them out"
            )
        found = []
        for family, label, named in zip(families, labels, takes, strict=True):
            source = covering(opened(family, X, names if named else None, threads))
            found.append(Member.of(label, family, source, threads, divided=self.by == "diameter"))
        for member in found:
            if member.source.n_points != found[0].source.n_points:
                raise ShapeError(
                    f"{member.label} has {member.source.n_points:,} points and {found[0].label} "
                    f"{found[0].source.n_points:,}: members of a union must have the same points"
                )
        return UnionSource(found, by=self.by)

    def planned(self, n_points: int, n_coordinates: int) -> Sizes:
        """Return the sizes for a plan, for this many points."""
        found = [sizes_of(family, n_points, n_coordinates) for family in self.families()]
        made = [one.made_from for one in found if one.made_from is not None]
        parts = [one.part for one in found if one.part is not None]
        return Sizes(
            sum(one.n_features for one in found), sum(made) if made else None, max(parts, default=None)
        )

    def described(self, source: ColumnSource) -> dict[str, Any]:
        """Return what a result says about these features."""
        assert isinstance(source, UnionSource)
        said: dict[str, Any] = {"family": "union", "members": [member.said for member in source.members]}
        return said if self.by is None else said | {"by": self.by}


@dataclass(frozen=True)
class Member:
    """A member of a union.

    Attributes
    ----------
    label : str
        Its name, different from that of any other member.
    source : ColumnSource
        Its columns.
    said : dict
        What a result says about it.
    ranges : Ranges or None
        Ranges of the columns, where a first pass was made.
    off : float
        How far values are off beyond what the source states, as for integers beyond 2^53.
    divided : bool
        Whether values are divided by the diameter.
    scale : float
        That diameter, if it is not 0.
    """

    label: str
    source: ColumnSource
    said: dict[str, Any]
    ranges: Ranges | None = None
    off: float = 0.0
    divided: bool = False
    scale: float = 1.0

    @classmethod
    def of(cls, label: str, family: Family, source: ColumnSource, threads: int, *, divided: bool) -> Member:
        """Make a first pass over columns that exist anyway, or that are needed to find the diameter."""
        said = described(family, source)
        if is_made(source) and not divided:
            return cls(label, source, said)
        ranges = scan_ranges(source, threads)
        source, ranges, off = measured_exactly(source, ranges, lambda other: scan_ranges(other, threads))
        return cls(label, source, said, ranges, off, divided, divisor(ranges.d_max, divided))

    def stated(self, ranges: Ranges) -> float:
        """Return how far values are off before they are divided, given their ranges."""
        return self.off + error_of(self.source, ranges)

    def error(self, ranges: Ranges) -> float:
        """Return how far values may be off, see the top of this module; ranges are of the divided values."""
        if not self.divided:
            return self.stated(ranges)
        assert self.ranges is not None
        e = self.stated(self.ranges)
        least = down(self.scale - 2.0 * e)
        if least == 0.0:
            return math.inf
        return up(2.0 * e / least + self._rounding() / self.scale) if e > 0.0 or self.scale != 1.0 else 0.0

    def _rounding(self) -> float:
        """Return the error of dividing, in the units of the member; dividing by 1 has none."""
        if self.scale == 1.0:
            return 0.0
        assert self.ranges is not None
        return UNIT * self.ranges.magnitude + SMALLEST * self.scale

    def read(
        self, columns: NDArray[np.intp], out: NDArray[np.floating], rows: NDArray[np.intp] | None
    ) -> None:
        """Write some columns, whole or at some points, shape (columns, points)."""
        if rows is not None:
            out[:] = self.source.sample(columns, rows).T
        elif self.source.dtype == out.dtype:
            self.source.read(columns.tolist(), out)
        else:
            values = np.empty(out.shape, self.source.dtype)
            self.source.read(columns.tolist(), values)
            out[:] = values
        if self.scale != 1.0:
            np.divide(out, self.scale, out=out)

    def whole(self, part: Part) -> Whole:
        """Return bounds for the whole family, in the units of the union.

        ``part`` holds the widths of the union, which are those of this member only where it attains them.
        """
        if self.divided:
            assert self.ranges is not None
            more, less = self.scale * (1.0 + 2.0**-50), self.scale * (1.0 - 2.0**-50)
            part = replace(
                part, lower=part.lower * less, upper=part.upper * more, ranges=self.ranges, made=None,
                error=up(self.stated(self.ranges) + self._rounding()),
            )  # fmt: skip
        else:
            part = replace(part, error=self.stated(part.ranges))
        if part_of(self.source) is None:
            whole = all_of_it(part)
        else:
            alone = None if part.solve is None else part.solve(self.source)
            if alone is not None:  # mostly less than the union reached
                part = replace(part, lower=alone, upper=np.minimum(part.upper, alone))
            whole = self.source.whole(part)  # type: ignore[attr-defined]
        return self._divided(whole) if self.divided else whole

    def _divided(self, whole: Whole) -> Whole:
        """Return the bounds in units of d_max of the whole family."""
        there = float(whole.d_upper > 0.0)
        lower, upper = np.zeros_like(whole.lower), np.full_like(whole.upper, there)
        if whole.d_upper > 0.0:
            lower = whole.lower / whole.d_upper * (1.0 - 2.0**-50)
        if whole.d_lower > 0.0:
            upper = np.minimum(whole.upper / whole.d_lower * (1.0 + 2.0**-50), 1.0)
        return Whole(lower, upper, there, there)


class UnionSource(MadeColumns):
    """The columns of several members, one after the other.

    Parameters
    ----------
    members : list of Member
        The members, all on the same points.
    by : {None, "diameter"}
        How they were made comparable.
    """

    covers = False

    def __init__(self, members: list[Member], by: str | None) -> None:
        first, *_ = members
        self.members, self.by = members, by
        self.first = np.cumsum([0, *(member.source.n_features for member in members)])
        super().__init__(first.source.n_points, int(self.first[-1]), None, "union", None)
        self.names: Any = Prefixed(members)
        self.made = any(is_made(member.source) for member in members)
        self.at_once = min(
            (getattr(member.source, "at_once", AT_ONCE) for member in members if is_made(member.source)),
            default=AT_ONCE,
        )
        self.notes = {
            f"{at}.{name}": noted
            for at, member in enumerate(members)
            for name, noted in getattr(member.source, "notes", {}).items()
        }

    @property
    def part_of(self) -> str | None:
        """The larger families that members are parts of, if any."""
        parts = [part for member in self.members if (part := part_of(member.source)) is not None]
        return " and ".join(dict.fromkeys(parts)) or None

    @property
    def held(self) -> int:
        """Bytes that the members hold."""
        return sum(getattr(member.source, "held", 0) for member in self.members)

    @property
    def held_for_bounds(self) -> int:
        """Bytes that members need for bounds, one after the other."""
        return max(getattr(member.source, "held_for_bounds", 0) for member in self.members)

    def fill(
        self, columns: Sequence[int], out: NDArray[np.floating], rows: NDArray[np.intp] | None = None
    ) -> None:
        """Let every member compute its own columns."""
        wanted = np.asarray(columns, np.intp)
        whose = np.searchsorted(self.first, wanted, side="right") - 1
        turns = np.flatnonzero(np.diff(whose, prepend=-1, append=-1)).tolist()
        for start, stop in pairwise(turns):  # neighbours of one member
            at = int(whose[start])
            self.members[at].read(wanted[start:stop] - self.first[at], out[start:stop], rows)

    def error(self, greatest: float) -> float:
        """Return the greatest error of a member, if no value of any exceeds ``greatest``."""
        ends = np.full(self.n_features, greatest)
        return self.error_within(Ranges(-ends, ends, np.zeros_like(ends), np.zeros_like(ends), self.n_points))

    def error_within(self, ranges: Ranges) -> float:
        """Return the greatest error of a member, each by the magnitude of its own values."""
        return max(member.error(own) for member, own in self._ranges(ranges))

    def _ranges(self, ranges: Ranges) -> list[tuple[Member, Ranges]]:
        names = ("least", "greatest", "spreads", "energies")
        return [
            (member, replace(ranges, **{name: getattr(ranges, name)[own] for name in names}))
            for member, own in self._own()
        ]

    def _own(self) -> list[tuple[Member, slice]]:
        """Return every member with its columns."""
        return list(zip(self.members, map(slice, self.first[:-1], self.first[1:]), strict=True))

    def extents(self) -> NDArray[np.float64]:
        """Return the extents of every member: found by a first pass, or stated by its source."""
        found = []
        for member in self.members:
            if member.ranges is not None:
                ends = np.column_stack([member.ranges.least, member.ranges.greatest])
            else:
                ends = member.source.extents()  # type: ignore[attr-defined]
            found.append(ends / member.scale if member.scale != 1.0 else ends)
        return np.concatenate(found)

    def digest(self) -> bytes:
        """Return a digest of all members, and of how they were made comparable."""
        return digest_of_parts(
            self.by, *([member.label, member.said, digest_of(member.source)] for member in self.members)
        )

    def whole(self, part: Part) -> Whole:
        """Return bounds for the union of the whole families; see the top of this module."""
        upper, lower = np.zeros_like(part.upper), np.full_like(part.lower, np.inf)
        ends = []
        for (member, own), (_, at) in zip(self._ranges(part.ranges), self._own(), strict=True):
            made = None if part.made is None else part.made[at]
            one = member.whole(replace(part, ranges=own, made=made, owners=None))
            np.maximum(upper, one.upper, out=upper)
            if part.owners is None:  # it is Phi of one of them
                np.minimum(lower, one.lower, out=lower)
            else:
                np.copyto(lower, one.lower, where=(part.owners >= at.start) & (part.owners < at.stop))
            ends.append((one.d_lower, one.d_upper))
        lower[lower == np.inf] = 0.0  # where Phi is 0
        np.maximum.accumulate(lower, out=lower)
        return Whole(lower, upper, max(end[0] for end in ends), max(end[1] for end in ends))


def is_divided(source: ColumnSource) -> bool:
    """Return whether some of these columns were divided by the diameter of their family."""
    if not isinstance(source, UnionSource):
        return False
    return source.by is not None or any(is_divided(member.source) for member in source.members)


class Prefixed(Sequence[str]):
    """Names of all columns, each with its member's; made on lookup, since there may be many."""

    def __init__(self, members: list[Member]) -> None:
        self.members = members
        self.first = np.cumsum([0, *(member.source.n_features for member in members)])

    def __len__(self) -> int:
        return int(self.first[-1])

    @overload
    def __getitem__(self, column: int) -> str: ...

    @overload
    def __getitem__(self, column: slice) -> list[str]: ...

    def __getitem__(self, column: int | slice) -> str | list[str]:
        if isinstance(column, slice):
            return [self[at] for at in range(*column.indices(len(self)))]
        if not -len(self) <= column < len(self):
            raise IndexError(column)
        at = int(np.searchsorted(self.first, column % len(self), side="right")) - 1
        member, own = self.members[at], int(column % len(self) - self.first[at])
        names = member.source.names
        return f"{member.label}: {own if names is None else names[own]}"


def _labels(labels: list[str]) -> list[str]:
    """Return names of members, numbered from 1 where several have the same."""
    often, seen = Counter(labels), Counter[str]()
    found = []
    for label in labels:
        seen[label] += 1
        found.append(label if often[label] == 1 else f"{label} {seen[label]}")
    return found
