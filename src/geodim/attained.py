"""Which feature attains Phi(k), as runs of neighbouring k: few numbers, whatever the number of points.

Where features take turns at almost every k there may be as many runs as points; then the range of k is cut
into parts and each is given to the feature that attains most of it, which is all that a plot could show.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from geodim.engine.parts import in_parts

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from geodim.engine.profile import Profile, Steps

    Runs = tuple[NDArray[Any], NDArray[np.int64]]

MOST_RUNS = 2048
TOGETHER = 1 << 22  # parts times columns that are added up at once


def attained_runs(
    profile: Profile, steps: Steps | None = None, most: int = MOST_RUNS, n_threads: int = 1
) -> Runs:
    """Return the first k of each run and the column that attains Phi there, -1 where none is known.

    Parameters
    ----------
    profile : Profile
        A finished profile.  A stopped one has no runs: the columns not seen might attain more.
    steps : tuple of arrays, optional
        The return value of `Profile.steps`, if it is already known.
    most : int
        The most runs to return.
    n_threads : int
        Threads to use.
    """
    if profile.stopped is not None or profile.n_points < 2:
        return np.empty(0, np.int64), np.empty(0, np.int64)
    if profile.counted:
        sizes, columns, _ = steps or profile.steps()
        longer = np.append(sizes[1:] > sizes[:-1], True)  # masses may be equal in float64
        sizes, columns = sizes[longer], columns[longer]
        first = np.flatnonzero(np.append(True, columns[1:] != columns[:-1]))
        starts, owners = sizes[first], columns[first]
    else:
        starts, owners = _runs(profile.owner, 1, n_threads)
        starts = starts + 1  # index d is k - 1
    if starts.size > most:
        starts, owners = shortened(starts, owners, profile.end, most)
    return starts, owners


def _runs(owner: NDArray[np.int32], first: int, n_threads: int) -> Runs:
    """Return where each run of equal values begins, from index ``first`` on, and the values."""
    later, earlier = owner[first + 1 :], owner[first:-1]

    def changes(part: slice) -> NDArray[np.int64]:
        places: NDArray[np.int64] = np.flatnonzero(later[part] != earlier[part]) + (first + 1 + part.start)
        return places

    starts = np.concatenate([np.array([first], np.int64), *in_parts(changes, later.size, n_threads)])
    return starts, owner[starts].astype(np.int64)


def _numbered(owners: NDArray[np.int64]) -> Runs:
    """Return the columns that own runs, ascending, and the position of each run's owner among them."""
    there = np.zeros(int(owners.max()) + 2, np.bool_)
    there[owners + 1] = True  # -1 where no column is known
    positions = np.cumsum(there) - 1
    return np.flatnonzero(there) - 1, positions[owners + 1]


def shortened(starts: NDArray[Any], owners: NDArray[np.int64], end: float, most: int) -> Runs:
    """Return at most ``most`` runs: equal parts, each given to the column that attains most of it.

    Parameters
    ----------
    starts, owners : array
        Where runs begin, in k or in mass, and their columns.
    end : float
        Where the last run ends: n + 1, or the mass of all points.
    most : int
        The most runs to return.
    """
    edges = np.unique(np.linspace(starts[0], end, most + 1).astype(starts.dtype))
    ends = np.append(starts[1:], end)
    first = np.searchsorted(ends, edges[:-1], side="right")  # the first run that reaches into each part
    stop = np.searchsorted(starts, edges[1:], side="left")
    winners = owners[first]  # right for the many parts that lie within one run
    columns, numbers = _numbered(owners)
    several = np.flatnonzero(stop - first > 1)
    for chosen in np.array_split(several, 1 + several.size * columns.size // TOGETHER):
        if not chosen.size:
            continue
        counts = stop[chosen] - first[chosen]
        part = np.repeat(np.arange(chosen.size), counts)
        run = np.arange(part.size) + np.repeat(first[chosen] - (np.cumsum(counts) - counts), counts)
        lengths = np.minimum(ends[run], edges[chosen + 1][part]) - np.maximum(
            starts[run], edges[chosen][part]
        )
        places = part * columns.size + numbers[run]
        attained = np.bincount(places, lengths, chosen.size * columns.size).reshape(chosen.size, columns.size)
        winners[chosen] = columns[attained.argmax(axis=1)]
    changed = np.append(True, winners[1:] != winners[:-1])
    return edges[:-1][changed], winners[changed]
