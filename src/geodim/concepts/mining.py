"""The concepts that matter, found without mining all of them.

Let g objects have some of m attributes.  A concept is a set A of objects with the set B of attributes that
they share, both as large as possible; its support is |A|.  Its feature, |A|/g on B and 0 elsewhere, has
phi_k = |A|/g if k > max(|B|, m - |B|), and 0 otherwise.  With t = m - k + 1 this reads t <= |B| <= m - t, so

    g Phi(m - t + 1) = Q(t) := max { |A| : t <= |B| <= m - t }   for t = 1, ..., m // 2,

and Phi(k) = 0 for all other k.  Q falls as t grows.  Of all concepts only one for each t is needed, the one
of largest support.  That is what is searched for, for t = 1, 2, ... in turn, and it decides what is left out:

**Skipped.**  A concept (A, B) that is found counts for all t <= min(|B|, m - |B|).  Q(t) <= Q(t - 1), so that
where a larger set is known with as many objects as Q(t - 1), nothing needs to be searched.

**Cut down.**  Let f be the support that is already known for t, and (A, B) a concept that would raise it:
|A| > f and |B| >= t.  All attributes of B are in more than f rows, all rows of A have at least t attributes.
So attributes of at most f rows can be dropped, then rows with fewer than t attributes, and so on in turn:
neither A nor B loses anything.  The same holds within a branch of the search, where A lies among the rows R
that have the attributes S chosen so far, and B - S among the candidates C: rows of R with fewer than t - |S|
of the candidates go, candidates in at most f rows of R go.  A set of t attributes or more that is found
within such rows has its true support (each row that has all of its attributes was kept), and its true
closure (an attribute that was dropped is in at most f < |A| rows of A).

**Pairs.**  Where crosses are few, branches of one attribute are made from lists, and pairs of candidates are
counted in one pass over the rows.  A set of t - |S| candidates in more than f rows has every two of them in
so many, so that candidates that go with fewer than t - |S| - 1 others are dropped, repeatedly.

**Each closed set once.**  Children of a node add its candidates one after the other; a later one must not
use an earlier one, whose branch has gone through all sets with it.  If all rows of a child have an attribute
that it must not use, so has every concept below it, and the child is left out.

**Bounded.**  Candidates are tried by falling count in R.  A concept below the j-th candidate or a later one
has t - |S| of these, so that its support is at most the count of the (j + t - |S| - 1)-th.  Where that is at
most f, this candidate and all after it are left out.  If the search is stopped, the greatest of these counts
over the nodes that are open bounds what was not seen.

**Ended early.**  As soon as |S| >= t there is nothing better below, since support falls as sets grow.

With a minimum support s, f is at least s - 1.  What is not found then has fewer than s objects: with Q_s(t)
what was found and U(t) what is possible by counts alone,

    Q_s(t) <= Q(t) <= max(Q_s(t), min(s - 1, U(t), Q(t - 1))).

U(t) is the least of: the t-th largest support of an attribute (each attribute of B is in all of A), the
number of objects with at least t attributes, and, where zeros are few, what `geodim.concepts.hull` proves.
Since every concept that is met counts, Q_s may be more than what concepts of support s alone would give.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from geodim.memory import check_bytes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray
    from scipy.sparse import csc_array

    from geodim.concepts.contexts import Context
    from geodim.engine.driver import Driver

    Ints = NDArray[np.int64]

BUDGET = 20_000_000  # words between two checks of the clock: some hundredths of a second
MOST_PEELS = 8  # rounds of cutting down before a search
SPARSE = 1 / 8  # share of crosses below which a search begins with lists
MOST_PAIRED = 1024  # attributes up to which pairs are counted
PACK_BYTES = 1 << 26  # bytes of the columns that are packed at a time
ENOUGH = "raise min_support, which leaves out attributes of few objects, or take fewer attributes"


class Front:
    """For every least size t of an intent: the largest support known, the largest possible, and by which set.

    Attributes
    ----------
    lower, upper : array of int
        At index t, from 1 on, in objects.
    owner : array of int
        Position in ``intents`` and ``supports`` of what attains ``lower``; -1 where that is 0.
    intents : list of array of int
        Attributes of the concepts found.
    supports : list of int
        How many objects each has.
    """

    def __init__(self, context: Context) -> None:
        self.n_attributes = context.n_attributes
        self.half = context.n_attributes // 2
        self.lower = np.zeros(self.half + 1, np.int64)
        self.owner = np.full(self.half + 1, -1, np.int64)
        self.intents: list[Ints] = []
        self.supports: list[int] = []
        self.upper = _possible(context, self.half)
        self.work = 0

    def found(self, intent: Ints, support: int) -> None:
        """Record a concept."""
        counts_up_to = min(intent.size, self.n_attributes - intent.size)
        raised = np.flatnonzero(self.lower[1 : counts_up_to + 1] < support) + 1
        if raised.size:
            self.lower[raised] = support
            self.owner[raised] = len(self.intents)
            self.intents.append(np.sort(intent))
            self.supports.append(support)

    def cap(self, t: int, most: int) -> None:
        """Record that no support at t, or beyond, is more than this."""
        np.minimum(self.upper[t:], max(most, int(self.lower[t])), out=self.upper[t:])
        np.maximum(self.upper, self.lower, out=self.upper)

    def closed(self, t: int) -> bool:
        """Return whether everything about t is known."""
        return bool(self.lower[t] == self.upper[t])

    def unseen(self, least: int) -> bool:
        """Return whether a concept of this many objects may be missing because the search ended early."""
        return bool(np.any(self.upper[1:] > np.maximum(self.lower[1:], least - 1)))

    @property
    def largest(self) -> int:
        """The largest support of all: t = 1 is settled by one attribute, before all searches."""
        return int(self.lower[1]) if self.half else 0


def _possible(context: Context, half: int) -> Ints:
    """Bound the size by counts alone: U(t)."""
    counts, lengths = context.attribute_counts, context.object_lengths
    by_count = np.sort(counts)[::-1]
    long = np.cumsum(np.bincount(lengths, minlength=context.n_attributes + 1)[::-1])[::-1]
    upper = np.full(half + 1, context.n_objects, np.int64)
    upper[1:] = np.minimum(by_count[:half], long[1 : half + 1])
    if by_count[0] == long[-1]:  # objects have all attributes or none: no concept tells two of them apart
        upper[1:] = 0
    return upper


def mine(context: Context, least: int, driver: Driver) -> Front:
    """Search for the largest support at every size.

    Parameters
    ----------
    context : Context
        Objects and their attributes.
    least : int
        Supports below this are not looked for.
    driver : Driver
        Decides whether to go on.
    """
    *_, front = descend(context, [least], driver)
    return front


def descend(context: Context, supports: Sequence[int], driver: Driver) -> Iterator[Front]:
    """Search with falling minimum supports, each from where the one before ended.

    What was found stays, and so does what was proved impossible: of a size that a larger support has settled
    nothing is searched again.

    Parameters
    ----------
    context : Context
        Objects and their attributes.
    supports : sequence of int
        Falling numbers of objects.
    driver : Driver
        Decides whether to go on.

    Yields
    ------
    Front
        What is known after each, always the same object.
    """
    from geodim.concepts.hull import cap_by_hull  # noqa: PLC0415 - it needs what is defined here

    front = Front(context)
    searched = front.half > 0 and bool(front.upper[1])
    if searched:
        climb_down(context, front)
        cap_by_hull(context, front, supports[-1], driver)
    for turn, least in enumerate(supports):
        for t in range(1, front.half + 1 if searched else 1):
            front.cap(t, int(front.upper[t - 1]))
            if front.upper[t] > max(int(front.lower[t]), least - 1):
                if driver.late():
                    break
                _Search(context, front, t, least).run(driver)
            driver.report(turn * front.half + t, len(supports) * front.half)
        yield front


def climb_down(context: Context, front: Front) -> None:
    """Find first supports: from the empty set on, add the attribute that most remaining objects have.

    Each object leaves once, so that all counts together take one pass over the data.  The first attribute has
    the largest support of all, which settles t = 1.
    """
    rows, columns = context.rows, context.columns
    left = np.ones(context.n_objects, bool)
    counts = context.attribute_counts.copy()
    inside = np.zeros(context.n_attributes, bool)
    support, best = context.n_objects, -1
    while True:
        if best >= 0:
            stays = np.zeros_like(left)
            stays[columns.indices[columns.indptr[best] : columns.indptr[best + 1]]] = True
            leaving = np.flatnonzero(left & ~stays)
            counts -= np.bincount(rows[leaving].indices, minlength=counts.size)
            left[leaving] = False
            support -= leaving.size
        inside |= counts == support
        size = int(inside.sum())
        if size == inside.size:
            return
        if size:
            front.found(np.flatnonzero(inside), support)
        best = int(np.argmax(np.where(inside, -1, counts)))
        if size > front.half or counts[best] == 0:
            return


class _Search:
    """The search for one t, on a context that was cut down."""

    def __init__(self, context: Context, front: Front, t: int, least: int) -> None:
        self.context, self.front, self.t, self.least = context, front, t, least

    @property
    def floor(self) -> int:
        """The support that a concept must exceed to be of interest."""
        return max(int(self.front.lower[self.t]), self.least - 1)

    def run(self, driver: Driver) -> None:
        """Search until everything is covered, or until it is time to stop."""
        rows, columns = self._cut_down()
        if rows.size <= self.floor or columns.size < self.t:
            self.front.cap(self.t, self.floor)
            return
        cut = self.context.rows[rows].tocsc()[:, columns]
        self._make_room(columns.size)
        if cut.nnz < SPARSE * rows.size * columns.size:
            unseen = self._by_branches(cut, columns, driver)
        else:
            unseen = self._at_once(cut, columns, driver)
        self.front.cap(self.t, max(self.floor, unseen))
        self.front.work += int(self.state[3])

    def _cut_down(self) -> tuple[Ints, Ints]:
        """Return rows and columns that a concept of interest may lie in."""
        from geodim.concepts._lists import cut_down  # noqa: PLC0415 - imports Numba

        rows = self.context.object_lengths >= self.t
        columns = self.context.attribute_counts > self.floor
        cut_down(*self.context.lists, rows, columns, self.t, self.floor, MOST_PEELS)
        return np.flatnonzero(rows), np.flatnonzero(columns)

    def _by_branches(self, cut: csc_array, columns: Ints, driver: Driver) -> int:
        """Search from each first attribute, by falling count; return what is possible beyond the found."""
        from geodim.concepts._lists import enter_branch  # noqa: PLC0415 - imports Numba

        counts = np.diff(cut.indptr)
        order = np.argsort(-counts, kind="stable")
        cut, columns, counts = cut[:, order], columns[order], counts[order]
        by_rows = cut.tocsr()
        lists = (by_rows.indptr, by_rows.indices, cut.indptr, cut.indices)
        lists = tuple(one.astype(np.int64 if at % 2 == 0 else np.int32) for at, one in enumerate(lists))
        for first in range(columns.size - self.t + 1):
            most = int(counts[first + self.t - 1])
            if most <= self.floor:
                return 0
            if self.front.closed(self.t):
                return 0
            if driver.late():
                return most

            def enter(first: int = first) -> int:
                return int(enter_branch(*self._arrays, self.pairs, *lists, first, self.t, self.floor))

            unseen = self._go(enter, columns, driver)
            if unseen:
                return max(unseen, most)
        return 0

    def _at_once(self, cut: csc_array, columns: Ints, driver: Driver) -> int:
        """Search once with all rows as bits of the columns; return what is possible beyond what was seen."""
        from geodim.concepts._kernels import enter_root  # noqa: PLC0415 - imports Numba

        n_rows, n_columns = cut.shape
        words = (n_rows + 63) // 64
        size = 2 * (n_columns + 64) * words + 1024
        check_bytes(8 * size, f"a search among {n_rows:,} objects and {n_columns:,} attributes", ENOUGH)
        self.bits = np.zeros(size, np.uint64)
        into = self.bits[: n_columns * words].view(np.uint8).reshape(n_columns, 8 * words)
        step = max(1, PACK_BYTES // n_rows)
        for at in range(0, n_columns, step):
            some = np.packbits(cut[:, at : at + step].toarray().T, axis=1, bitorder="little")
            into[at : at + step, : some.shape[1]] = some
        self.ints[:n_columns] = np.arange(n_columns)

        def enter() -> int:
            return int(enter_root(*self._arrays, n_rows, n_columns, self.t, self.floor))

        return self._go(enter, columns, driver)

    def _go(self, enter: Callable[[], int], columns: Ints, driver: Driver) -> int:
        """Run a search from its beginning; return what is possible beyond what was seen, 0 if nothing is."""
        from geodim.concepts import _kernels as kernels  # noqa: PLC0415 - imports Numba

        front, t = self.front, self.t
        most, entered = front.n_attributes - t, False
        while True:
            if entered:
                status = kernels.search(*self._arrays, self.pairs, t, most, self.floor, BUDGET)
            else:
                status = enter()
                entered = status != kernels.FULL
            if status == kernels.FULL:
                self._grow()
            elif status == kernels.FOUND:
                front.found(columns[self.found[: self.state[1]]], int(self.state[2]))
                if front.closed(t):  # as much as for t - 1: there cannot be more
                    return 0
            elif status == kernels.DONE:
                return 0
            elif driver.late():
                return self._unseen()

    @property
    def _arrays(self) -> tuple[Any, Any, Any, Any, Any]:
        return self.bits, self.ints, self.nodes, self.state, self.found

    def _make_room(self, n_columns: int) -> None:
        """Stacks for a search, which grow as needed."""
        from geodim.concepts._kernels import FIELDS  # noqa: PLC0415 - imports Numba

        self.bits = np.zeros(1 << 16, np.uint64)
        self.ints = np.zeros(16 * n_columns + 64, np.int64)
        self.nodes = np.zeros((64, FIELDS), np.int64)
        self.state = np.zeros(4, np.int64)
        self.found = np.zeros(n_columns, np.int64)
        self.pairs = np.zeros(min(n_columns, MOST_PAIRED) ** 2, np.int32)

    def _grow(self) -> None:
        """Double the length of the array that was too short."""
        from geodim.concepts._kernels import BITS, INTS, NODES  # noqa: PLC0415 - imports Numba

        name = {BITS: "bits", INTS: "ints", NODES: "nodes"}[int(self.state[1])]
        old = getattr(self, name)
        check_bytes(2 * old.nbytes, "the search for concepts", ENOUGH)
        new = np.zeros((max(1, 2 * old.shape[0]), *old.shape[1:]), old.dtype)
        new[: old.shape[0]] = old
        setattr(self, name, new)

    def _unseen(self) -> int:
        """Return the largest support that open nodes leave possible."""
        from geodim.concepts._kernels import COUNTS, N_CANDIDATES, NEXT, SIZE  # noqa: PLC0415

        most = 0
        for node in self.nodes[: self.state[0] + 1]:
            last = node[NEXT] + self.t - node[SIZE] - 1
            if last < node[N_CANDIDATES]:
                most = max(most, int(self.ints[node[COUNTS] + last]))
        return most
